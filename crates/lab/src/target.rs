//! What an experiment is pointed at.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::str::FromStr;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

/// A target as the user names it.
#[derive(Debug, Clone)]
pub enum Target {
    /// Our own server as a child process.
    Embedded,
    /// A private server, started for the experiment and ended afterwards.
    Spawn(Vec<String>),
    /// A server that runs already.
    Redis(Box<RedisUrl>),
}

/// The URL of a server that speaks RESP.
#[derive(Debug, Clone)]
pub struct RedisUrl {
    url: String,
    info: ConnectionInfo,
}

/// Why a text is no target.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    /// A store that this version cannot read from.
    #[error(
        "memcached targets are not supported yet: use a redis:// URL, or nothing for the embedded server"
    )]
    Memcached,
    /// A topology that this experiment cannot read from.
    #[error(
        "{scheme}:// is not supported by this experiment: point it at one node with redis://HOST:PORT"
    )]
    Topology {
        /// The scheme of the URL.
        scheme: String,
    },
    /// Not a URL of ours.
    #[error(
        "{text:?} is no target: use redis://HOST:PORT, rediss://HOST:PORT, redis+unix:///PATH, \
         \"spawn:COMMAND LINE\", or nothing for the embedded server"
    )]
    Unknown {
        /// What was given.
        text: String,
    },
    /// A URL of ours with a fault in it.
    #[error("{url}: {cause}")]
    Malformed {
        /// What was given, password masked.
        url: String,
        /// The fault.
        cause: String,
    },
    /// `spawn:` without a usable command line.
    #[error("spawn: {0}; write for example \"spawn:redis-server --io-threads 2\"")]
    SpawnCommand(String),
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        if text.is_empty() || text == "embedded" {
            return Ok(Target::Embedded);
        }
        if let Some(command) = text.strip_prefix("spawn:") {
            let words = shell_words::split(command)
                .map_err(|error| TargetError::SpawnCommand(error.to_string()))?;
            return match words.first() {
                None => Err(TargetError::SpawnCommand(
                    "the command line is empty".into(),
                )),
                Some(program) if program_name(program) == "memcached" => {
                    Err(TargetError::Memcached)
                }
                Some(_) if let Some(word) = set_by_us(&words) => {
                    Err(TargetError::SpawnCommand(format!(
                        "leave out {word}: a private server listens on a port that hotcopy picks, \
                         on loopback, and needs no password"
                    )))
                }
                Some(_) => Ok(Target::Spawn(words)),
            };
        }
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some("redis" | "rediss" | "redis+unix" | "unix") => {
                Ok(Target::Redis(Box::new(text.parse()?)))
            }
            Some("memcached" | "memcache") => Err(TargetError::Memcached),
            Some(scheme @ ("redis-cluster" | "redis-sentinel")) => Err(TargetError::Topology {
                scheme: scheme.into(),
            }),
            _ => Err(TargetError::Unknown {
                text: mask_password(text),
            }),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Embedded => f.write_str("embedded"),
            Target::Spawn(words) => write!(f, "spawn:{}", shell_words::join(words)),
            Target::Redis(url) => url.fmt(f),
        }
    }
}

/// A word of a server's command line that would contradict what hotcopy sets.
fn set_by_us(words: &[String]) -> Option<&'static str> {
    const SET_BY_US: [&str; 5] = ["--port", "--bind", "--requirepass", "--password", "--user"];
    let option = |word: &String| word.split('=').next().unwrap_or_default().to_lowercase();
    words
        .iter()
        .map(option)
        .find_map(|word| SET_BY_US.into_iter().find(|option| *option == word))
}

/// The last component of a program's path: what it is, wherever it is installed.
pub(crate) fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

impl FromStr for RedisUrl {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let info = text
            .into_connection_info()
            .map_err(|error| TargetError::Malformed {
                url: mask_password(text),
                cause: error
                    .detail()
                    .map_or_else(|| error.to_string(), str::to_owned),
            })?;
        Ok(RedisUrl {
            url: text.into(),
            info,
        })
    }
}

impl RedisUrl {
    /// Everything a client needs to connect.
    pub fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    /// The URL with the password in it: never to be printed.
    pub(crate) fn secret(&self) -> &str {
        &self.url
    }

    /// Whether no network lies between: a Unix socket, or a name all of whose addresses are
    /// loopback. A name that does not resolve counts as remote.
    pub fn is_local(&self) -> bool {
        match self.info.addr() {
            ConnectionAddr::Unix(_) => true,
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                let Ok(addresses) = (host.as_str(), *port).to_socket_addrs() else {
                    return false;
                };
                let mut addresses = addresses.peekable();
                addresses.peek().is_some() && addresses.all(|a| is_loopback(a.ip()))
            }
            _ => false,
        }
    }
}

/// `127.0.0.0/8`, `::1`, and the former written as an IPv6 address.
fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&mask_password(&self.url))
    }
}

/// The text with the password of a URL in it replaced by `***`; text without one unchanged.
///
/// Works on text that is no valid URL too, because error messages quote what the user typed.
pub fn mask_password(text: &str) -> String {
    // A URL whose scheme was forgotten holds the password all the same.
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    // A password may hold an unescaped '/' or '@': everything up to the last '@' may be of it.
    let rest = match rest
        .rfind('@')
        .and_then(|at| Some((rest[..at].find(':')?, at)))
    {
        Some((colon, at)) => format!("{}:***{}", &rest[..colon], &rest[at..]),
        None => rest.into(),
    };
    // Unix socket URLs carry the password as a query parameter.
    let rest = match rest.find("pass=") {
        Some(start) => {
            let value = start + "pass=".len();
            let end = rest[value..]
                .find('&')
                .map_or(rest.len(), |len| value + len);
            format!("{}***{}", &rest[..value], &rest[end..])
        }
        None => rest,
    };
    format!("{scheme}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Target, TargetError> {
        text.parse()
    }

    #[test]
    fn nothing_means_the_embedded_server() {
        assert!(matches!(parse(""), Ok(Target::Embedded)));
        assert!(matches!(parse("embedded"), Ok(Target::Embedded)));
    }

    #[test]
    fn a_spawn_command_line_keeps_quoted_words_together() {
        let Ok(Target::Spawn(words)) = parse("spawn:redis-server --save '' --io-threads 2") else {
            panic!("not a spawn target")
        };
        assert_eq!(words, ["redis-server", "--save", "", "--io-threads", "2"]);
    }

    #[test]
    fn targets_of_later_experiments_are_refused_by_name() {
        assert_eq!(
            parse("memcached://h:1").unwrap_err(),
            TargetError::Memcached
        );
        assert_eq!(
            parse("spawn:/usr/bin/memcached -t 4").unwrap_err(),
            TargetError::Memcached
        );
        assert!(
            parse("redis-cluster://h:1")
                .unwrap_err()
                .to_string()
                .contains("one node")
        );
        for word in ["--requirepass x", "--port=1", "--BIND 0.0.0.0"] {
            let error = parse(&format!("spawn:redis-server {word}")).unwrap_err();
            assert!(matches!(error, TargetError::SpawnCommand(_)), "{word}");
            assert!(!error.to_string().contains(" x"), "{error}");
        }
        assert!(matches!(
            parse("spawn:").unwrap_err(),
            TargetError::SpawnCommand(_)
        ));
    }

    #[test]
    fn a_text_without_scheme_is_answered_with_the_choices() {
        let message = parse("localhost:6379").unwrap_err().to_string();
        assert!(message.contains("redis://HOST:PORT"), "{message}");
    }

    #[test]
    fn passwords_never_reach_a_message() {
        for (given, shown) in [
            ("redis://:s3cret@h:1/2", "redis://:***@h:1/2"),
            ("rediss://user:s3cret@h", "rediss://user:***@h"),
            ("redis://u:a/b@h/0", "redis://u:***@h/0"),
            ("redis://:p@ss/w@h:7998", "redis://:***@h:7998"),
            (
                "unix:///tmp/s?db=1&pass=s3cret&user=u",
                "unix:///tmp/s?db=1&pass=***&user=u",
            ),
            ("redis://h:6379", "redis://h:6379"),
            ("spawn:redis-server", "spawn:redis-server"),
            ("user:s3cret@h:6379", "user:***@h:6379"),
            ("--value=a:b", "--value=a:b"),
        ] {
            assert_eq!(mask_password(given), shown);
        }
        let error = parse("redis://u:s3cret@h:notaport")
            .unwrap_err()
            .to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[test]
    fn loopback_is_recognized_in_all_its_forms() {
        for (url, local) in [
            ("redis://127.0.0.1:1", true),
            ("redis://127.8.9.10:1", true),
            ("redis://[::1]:1", true),
            ("redis+unix:///tmp/s", true),
            ("redis://192.0.2.1:1", false),
        ] {
            let Ok(Target::Redis(url)) = parse(url) else {
                panic!("{url}")
            };
            assert_eq!(url.is_local(), local, "{url}");
        }
    }
}

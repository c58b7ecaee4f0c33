//! A case and the reading of case files.

use std::fmt::Debug;
use std::fs;
use std::time::Duration;

use super::scanner::{Scanner, SyntaxError, arguments};
use crate::locate;

/// The connection that a line without a name means.
const DEFAULT_CONNECTION: &str = "";

/// How the commands and replies of a protocol are written in cases.
pub trait Notation {
    /// What a line behind `>` says.
    type Command: Debug;
    /// What a line that is a reply says.
    type Reply: Debug;

    /// The folder of the cases, in `tests/conformance`.
    const FOLDER: &'static str;

    /// Reads what stands behind `>`.
    ///
    /// # Errors
    ///
    /// [`SyntaxError::End`] when the text stops too early, another when it is wrong.
    fn command(text: &str) -> Result<Self::Command, SyntaxError>;

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// As for a command.
    fn reply(text: &str) -> Result<Self::Reply, SyntaxError>;
}

/// Steps on fresh connections to an empty server.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Case<N: Notation> {
    pub title: String,
    pub file: String,
    pub steps: Vec<Step<N>>,
    servers: Servers,
}

/// The servers that a case is for.
#[derive(Debug)]
enum Servers {
    All,
    Not(Vec<String>),
    Only(Vec<String>),
}

/// One line of a case.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Step<N: Notation> {
    pub line: usize,
    pub connection: String,
    pub action: Action<N>,
}

/// What a step does.
#[derive(Debug)]
pub enum Action<N: Notation> {
    /// `> GET k`
    Command(N::Command),
    /// `>> "*1\r\n"`
    Raw(Vec<u8>),
    /// A line that is a reply.
    Expect(N::Reply),
    /// `closed`: the server has closed the connection.
    Closed,
    /// `silent`: nothing arrives.
    Silent,
    /// `sleep 20ms`
    Sleep(Duration),
}

impl<N: Notation> Case<N> {
    /// Whether the case holds for the server with this label, such as `redis-7.0.15`.
    #[must_use]
    pub fn is_for(&self, server: &str) -> bool {
        let names = |labels: &[String]| labels.iter().any(|label| server.starts_with(label));
        match &self.servers {
            Servers::All => true,
            Servers::Not(labels) => !names(labels),
            Servers::Only(labels) => names(labels),
        }
    }
}

/// All cases in a notation. `HOTCOPY_CASES` keeps those whose file or title contains it.
///
/// # Panics
///
/// When a file cannot be read or is not well-formed.
#[must_use]
pub fn cases<N: Notation>() -> Vec<Case<N>> {
    let conformance = locate::repository().join("tests/conformance");
    let folder = conformance.join(N::FOLDER);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the cases are in the repository")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let wanted = std::env::var("HOTCOPY_CASES").unwrap_or_default();
    files
        .iter()
        .flat_map(|path| {
            let name = path.file_name().expect("a file has a name").display();
            let text = fs::read_to_string(path).expect("a case file is text");
            parse(&name.to_string(), &text)
                .unwrap_or_else(|(line, error)| panic!("{name}:{line}: {error}"))
        })
        .filter(|case| case.file.contains(&wanted) || case.title.contains(&wanted))
        .collect()
}

/// Reads the cases of one file.
///
/// # Errors
///
/// The line and what is wrong with it.
pub fn parse<N: Notation>(file: &str, text: &str) -> Result<Vec<Case<N>>, (usize, SyntaxError)> {
    let mut cases: Vec<Case<N>> = Vec::new();
    let mut connection = DEFAULT_CONNECTION.to_owned();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix("== ") {
            DEFAULT_CONNECTION.clone_into(&mut connection);
            cases.push(Case {
                title: title.to_owned(),
                file: file.to_owned(),
                steps: Vec::new(),
                servers: Servers::All,
            });
            continue;
        }
        let at = |error| (number, error);
        let case = cases
            .last_mut()
            .ok_or_else(|| at(Scanner::new(line).expected("a title (`== …`)")))?;
        if line.starts_with('@') {
            case.servers = parse_servers(line).map_err(at)?;
            continue;
        }
        let (name, rest) = split_connection(line);
        if let Some(name) = name {
            name.clone_into(&mut connection);
        }
        let mut text = rest.to_owned();
        let action = loop {
            match parse_action(&text) {
                Err(SyntaxError::End) => {
                    let (_, next) = lines.next().ok_or_else(|| at(SyntaxError::End))?;
                    text += "\n";
                    text += next;
                }
                parsed => break parsed.map_err(at)?,
            }
        };
        if let Some(action) = action {
            case.steps.push(Step {
                line: number,
                connection: connection.clone(),
                action,
            });
        }
    }
    Ok(cases)
}

/// `@not redis-7, valkey: reason` or `@only hotcopy: reason`.
fn parse_servers(line: &str) -> Result<Servers, SyntaxError> {
    let malformed = || Scanner::new(line).expected("`@not SERVERS: REASON` or `@only …`");
    let (servers, reason) = line.split_once(':').ok_or_else(malformed)?;
    let (kind, labels) = servers.split_once(' ').ok_or_else(malformed)?;
    let labels = labels.split(',').map(|label| label.trim().to_owned());
    match kind {
        "@not" if !reason.trim().is_empty() => Ok(Servers::Not(labels.collect())),
        "@only" if !reason.trim().is_empty() => Ok(Servers::Only(labels.collect())),
        _ => Err(malformed()),
    }
}

/// Splits `b> GET k` into the name of a connection and the rest; `b<` only switches to it.
fn split_connection(line: &str) -> (Option<&str>, &str) {
    let end = line
        .find(|c: char| !c.is_ascii_lowercase())
        .unwrap_or(line.len());
    match line.as_bytes().get(end) {
        Some(b'>') => (Some(&line[..end]), &line[end..]),
        Some(b'<') => (Some(&line[..end]), &line[end + 1..]),
        _ => (None, line),
    }
}

/// `None` for a line that only switches to a connection.
fn parse_action<N: Notation>(text: &str) -> Result<Option<Action<N>>, SyntaxError> {
    if let Some(raw) = text.strip_prefix(">>") {
        return Ok(Some(Action::Raw(arguments(raw)?.concat())));
    }
    if let Some(command) = text.strip_prefix('>') {
        return Ok(Some(Action::Command(N::command(command)?)));
    }
    if let Some(duration) = text.strip_prefix("sleep ") {
        let milliseconds = duration.strip_suffix("ms").and_then(|n| n.parse().ok());
        let milliseconds = milliseconds
            .ok_or_else(|| Scanner::new(text).expected("`sleep` and a time such as `20ms`"))?;
        return Ok(Some(Action::Sleep(Duration::from_millis(milliseconds))));
    }
    Ok(match text {
        "" => None,
        "closed" => Some(Action::Closed),
        "silent" => Some(Action::Silent),
        _ => Some(Action::Expect(N::reply(text)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Resp;

    #[test]
    fn a_case_has_a_title_servers_and_steps_on_connections() {
        let cases = parse::<Resp>(
            "x.txt",
            "# heading\n== one\n@not redis-7: it says so\n> GET k\nnil\nb> PING\n+PONG\n== two\n> MGET a b\n[nil,\n \"x\"]\n",
        )
        .expect("well-formed");
        assert_eq!(cases.len(), 2);
        assert!(!cases[0].is_for("redis-7.0.15"));
        assert!(cases[0].is_for("redis-8.2.3"));
        let connections: Vec<&str> = cases[0]
            .steps
            .iter()
            .map(|step| step.connection.as_str())
            .collect();
        assert_eq!(connections, ["", "", "b", "b"]);
        // The pattern over two lines is one step.
        assert_eq!(cases[1].steps.len(), 2);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        let (line, _) = parse::<Resp>("x.txt", "== one\n> PING\n+PONG\n[\"a\" \"b\"]\n")
            .expect_err("the list lacks a comma");
        assert_eq!(line, 4);
        assert!(parse::<Resp>("x.txt", "== one\n@not redis-7\n").is_err());
    }
}

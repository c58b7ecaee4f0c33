//! Cases in the memcached text protocol: how they are written, and running them against one server.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use super::case::{Action, Case, Notation, Step, cases};
use super::pattern::Glob;
use super::runner::Transport;
use super::scanner::{Scanner, SyntaxError, arguments};
use crate::resp::{Address, Client, ClientError, Protocol};
use crate::servers::Server;

/// How long a connection must stay quiet to count as `silent`.
const SILENCE: Duration = Duration::from_millis(50);

/// Cases with lines as they are sent and received.
#[derive(Debug)]
pub struct Text;

/// A line of a reply.
#[derive(Debug)]
pub enum ReplyLine {
    /// `STORED`, or in quotes for other bytes. `{name}` in it is the text that it stands for, or
    /// if it stands for none yet, any text, which it stands for then.
    Exact(Vec<u8>),
    /// `like "STAT pid *"`
    Like(Glob),
}

impl Notation for Text {
    /// A line without its end.
    type Command = Vec<u8>;
    type Reply = ReplyLine;

    const FOLDER: &'static str = "memcached";

    fn command(text: &str) -> Result<Vec<u8>, SyntaxError> {
        Ok(text.trim_start().as_bytes().to_vec())
    }

    fn reply(text: &str) -> Result<ReplyLine, SyntaxError> {
        if let Some(pattern) = text.strip_prefix("like ") {
            let mut scanner = Scanner::new(pattern);
            return Ok(ReplyLine::Like(Glob::new(scanner.string()?)));
        }
        if text.starts_with('"') {
            return Ok(ReplyLine::Exact(arguments(text)?.concat()));
        }
        Ok(ReplyLine::Exact(text.as_bytes().to_vec()))
    }
}

/// Runs every case that is for this server, which `label` names.
///
/// # Panics
///
/// With a list of all cases that failed.
pub fn run_on(server: &Server, label: &str, transport: Transport) {
    let address = transport.address(server);
    let mut keeper = Client::connect(&address, Protocol::Resp2).expect("the server accepts");
    let cases: Vec<Case<Text>> = cases()
        .into_iter()
        .filter(|case| case.is_for(label))
        .collect();
    assert!(!cases.is_empty(), "no case is for {label}");
    let mut failures = Vec::new();
    for case in &cases {
        keeper.send_raw(b"flush_all\r\n").expect("it is alive");
        let flushed = keeper.read_line().expect("it answers");
        assert_eq!(flushed, b"OK", "{label} empties itself");
        let mut connections = Connections {
            address: &address,
            open: HashMap::new(),
            names: HashMap::new(),
        };
        if let Err((step, mismatch)) = connections.run(case) {
            failures.push(format!(
                "{}:{} {}\n    {mismatch}",
                case.file, step.line, case.title
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{label}: {} of {} cases failed\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    eprintln!("{label}: {} cases passed", cases.len());
}

/// The connections of one case, opened when they are first named.
struct Connections<'a> {
    address: &'a Address,
    open: HashMap<&'a str, Client>,
    /// What `{name}` stands for.
    names: HashMap<String, Vec<u8>>,
}

impl<'a> Connections<'a> {
    fn run(&mut self, case: &'a Case<Text>) -> Result<(), (&'a Step<Text>, String)> {
        for step in &case.steps {
            self.step(step).map_err(|mismatch| (step, mismatch))?;
        }
        let Some(last) = case.steps.last() else {
            return Ok(());
        };
        for client in self.open.values_mut() {
            // What a closed connection or a line too many would say belongs to no step of the next case.
            if let Ok(false) = client.is_silent(Duration::from_millis(1)) {
                let line = client.read_line().map(|line| shown(&line));
                return Err((last, format!("a line that nobody asked for: {line:?}")));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &'a Step<Text>) -> Result<(), String> {
        let client = match self.open.entry(&step.connection) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let client = Client::connect(self.address, Protocol::Resp2);
                entry.insert(client.map_err(text)?)
            }
        };
        match &step.action {
            Action::Command(line) => {
                let line = filled_in(line, &self.names)?;
                client
                    .send_raw(&[&line, &b"\r\n"[..]].concat())
                    .map_err(text)
            }
            Action::Raw(bytes) => client.send_raw(bytes).map_err(text),
            Action::Sleep(duration) => {
                std::thread::sleep(*duration);
                Ok(())
            }
            Action::Expect(ReplyLine::Like(glob)) => match client.read_line().map_err(text)? {
                line if glob.matches(&line) => Ok(()),
                line => Err(format!("got {}", shown(&line))),
            },
            Action::Expect(ReplyLine::Exact(expected)) => {
                let mut line = client.read_line().map_err(text)?;
                // Data may have line ends in it.
                while line.len() < expected.len()
                    && expected.starts_with(&[&line[..], b"\r\n"].concat())
                {
                    line.extend_from_slice(b"\r\n");
                    line.extend(client.read_line().map_err(text)?);
                }
                if matches(expected, &line, &mut self.names) {
                    Ok(())
                } else {
                    Err(format!("got {}", shown(&line)))
                }
            }
            Action::Closed => match client.read_line() {
                Err(ClientError::Closed) => Ok(()),
                Err(error) => Err(text(error)),
                Ok(line) => Err(format!("not closed, but got {}", shown(&line))),
            },
            Action::Silent => match client.is_silent(SILENCE) {
                Ok(true) => Ok(()),
                Ok(false) => Err(format!("got {:?}", client.read_line().map(|it| shown(&it)))),
                Err(error) => Err(text(error)),
            },
        }
    }
}

/// The first `{name}` in a line, with what stands before and behind it.
fn split_name(line: &[u8]) -> Option<(&[u8], &str, &[u8])> {
    let start = line.iter().position(|byte| *byte == b'{')?;
    let len = line[start..].iter().position(|byte| *byte == b'}')?;
    let name = str::from_utf8(&line[start + 1..start + len]).ok()?;
    Some((&line[..start], name, &line[start + len + 1..]))
}

fn filled_in(line: &[u8], names: &HashMap<String, Vec<u8>>) -> Result<Vec<u8>, String> {
    let Some((before, name, behind)) = split_name(line) else {
        return Ok(line.to_vec());
    };
    let meaning = names
        .get(name)
        .ok_or(format!("{{{name}}} stands for nothing"))?;
    Ok([before, meaning, behind].concat())
}

/// Whether a line is as expected; notes what a new name stands for.
fn matches(expected: &[u8], line: &[u8], names: &mut HashMap<String, Vec<u8>>) -> bool {
    let Some((before, name, behind)) = split_name(expected) else {
        return expected == line;
    };
    let meaning = line
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(behind));
    match (meaning, names.get(name)) {
        (Some(meaning), Some(known)) => meaning == known,
        (Some(meaning), None) => {
            names.insert(name.to_owned(), meaning.to_vec());
            !meaning.is_empty()
        }
        (None, _) => false,
    }
}

/// The beginning of a line, and how long it is if that is not all.
fn shown(line: &[u8]) -> String {
    const SHOWN: usize = 120;
    let start = line[..line.len().min(SHOWN)].escape_ascii();
    if line.len() > SHOWN {
        format!("`{start}…` ({} bytes)", line.len())
    } else {
        format!("`{start}`")
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as a function for `map_err`"
)]
fn text(error: ClientError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::case::parse;
    use super::*;

    #[test]
    fn commands_and_replies_are_lines_as_they_are() {
        let file = "== one\n> set k 0 0 3\n> abc\nSTORED\n\"9 \"\nlike \"STAT pid *\"\n";
        let cases = parse::<Text>("x.txt", file).expect("well-formed");
        let actions = cases[0].steps.iter().map(|step| &step.action);
        assert_eq!(
            actions
                .map(|action| format!("{action:?}"))
                .collect::<Vec<_>>(),
            [
                format!("Command({:?})", b"set k 0 0 3"),
                format!("Command({:?})", b"abc"),
                format!("Expect(Exact({:?}))", b"STORED"),
                format!("Expect(Exact({:?}))", b"9 "),
                format!("Expect(Like(Glob({:?})))", b"STAT pid *"),
            ]
        );
    }

    #[test]
    fn a_name_stands_for_what_it_first_stood_for() {
        let mut names = HashMap::new();
        assert!(matches(b"VALUE k 0 1 {it}", b"VALUE k 0 1 57", &mut names));
        assert_eq!(
            filled_in(b"cas k 0 0 1 {it}", &names).unwrap(),
            b"cas k 0 0 1 57"
        );
        assert!(!matches(b"VALUE k 0 1 {it}", b"VALUE k 0 1 58", &mut names));
        assert!(!matches(
            b"VALUE k 0 1 {other}",
            b"VALUE j 0 1 58",
            &mut names
        ));
        assert!(filled_in(b"{other}", &names).is_err());
    }
}

//! The tables of commands in `docs/protocol.md` are what the server itself tells, and what it understands.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use hotcopy_tests::resp::{Client, Protocol, Reply};
use hotcopy_tests::servers::Server;
use hotcopy_wire::memcached::VERBS;

const BEGIN: &str = "<!-- commands:begin -->\n";
const END: &str = "<!-- commands:end -->";

/// The fields of a map that was sent as RESP3.
fn fields(reply: &Reply) -> BTreeMap<String, &Reply> {
    let Reply::Map(pairs) = reply else {
        panic!("{reply:?} is no map");
    };
    pairs
        .iter()
        .map(|(name, value)| (text(name), value))
        .collect()
}

fn text(reply: &Reply) -> String {
    let bytes = reply
        .bytes()
        .unwrap_or_else(|| panic!("{reply:?} is no text"));
    String::from_utf8_lossy(bytes).into_owned()
}

/// One row for each command, by group; subcommands stand with their command.
fn table() -> String {
    let server = Server::hotcopy(&[]);
    let mut client = Client::connect(&server.tcp(), Protocol::Resp3).unwrap();
    let reply = client.command(&["COMMAND", "DOCS"]).unwrap();
    let mut rows = Vec::new();
    for (name, docs) in fields(&reply) {
        let docs = fields(docs);
        let mut name = name.to_uppercase();
        if let Some(subcommands) = docs.get("subcommands") {
            let names = fields(subcommands).into_keys().map(|sub| {
                let (_, sub) = sub
                    .split_once('|')
                    .expect("a subcommand is named after its command");
                sub.to_uppercase()
            });
            write!(name, " ({})", names.collect::<Vec<_>>().join(", ")).unwrap();
        }
        rows.push((
            text(docs["group"]),
            name,
            text(docs["summary"]),
            text(docs["complexity"]),
        ));
    }
    rows.sort();
    let mut table = "| group | command | what it does | cost |\n|---|---|---|---|\n".to_owned();
    for (group, name, summary, complexity) in rows {
        let [summary, complexity] = [summary, complexity].map(|text| text.replace('|', "\\|"));
        writeln!(table, "| {group} | `{name}` | {summary} | {complexity} |").unwrap();
    }
    table
}

#[test]
fn the_documented_commands_are_those_that_the_server_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("a place for the table");
    let (documented, after) = rest.split_once(END).expect("an end of the table");
    let told = table();
    if std::env::var_os("UPDATE_PROTOCOL").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{told}{END}{after}")).unwrap();
    } else {
        assert_eq!(documented, told, "run this test with UPDATE_PROTOCOL=1");
    }
}

#[test]
fn the_documented_verbs_of_memcached_are_those_that_the_server_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md");
    let document = fs::read_to_string(&path).unwrap();
    let (_, table) = document.split_once("<!-- memcached:begin -->").unwrap();
    let (table, _) = table.split_once("<!-- memcached:end -->").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(documented, VERBS);
}

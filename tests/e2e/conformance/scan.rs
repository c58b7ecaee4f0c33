//! SCAN while the key space changes: what a table of single replies cannot say.

use std::collections::HashSet;

use hotcopy_tests::conformance::Configuration;
use hotcopy_tests::resp::Reply;

/// Keys that come and go between two calls must not hide a key that is there from the first call to the last.
pub(super) fn returns_every_key_that_stays(configuration: Configuration) {
    const STAYING: usize = 500;
    let Some(server) = configuration.start() else {
        return;
    };
    let mut client = configuration.connect(&server).expect("a connection");
    let staying: HashSet<Vec<u8>> = (0..STAYING)
        .map(|index| format!("staying:{index}").into_bytes())
        .collect();
    for key in &staying {
        client
            .command(&[b"SET".as_slice(), key, b"v"])
            .expect("a reply");
    }
    let mut seen = HashSet::new();
    let mut cursor = b"0".to_vec();
    let mut calls = 0;
    loop {
        let reply = client
            .command(&[b"SCAN".as_slice(), &cursor, b"COUNT", b"20"])
            .expect("a reply");
        let (next, keys) = page(&reply);
        seen.extend(keys);
        // Grows the key space during the first half of the walk and shrinks it again in the second.
        let key = format!("passing:{}", calls % 40);
        let command = if calls % 80 < 40 { "SET" } else { "DEL" };
        let arguments = [command, key.as_str(), "v"];
        let used = if command == "SET" { 3 } else { 2 };
        client.command(&arguments[..used]).expect("a reply");
        calls += 1;
        assert!(calls < 10_000, "the walk does not end");
        cursor = next;
        if cursor == b"0" {
            break;
        }
    }
    assert!(calls > 5, "COUNT 20 returned all keys in {calls} calls");
    let missed: Vec<_> = staying.difference(&seen).collect();
    assert!(missed.is_empty(), "missed {} keys", missed.len());
}

/// The next cursor and the keys of a reply to SCAN.
fn page(reply: &Reply) -> (Vec<u8>, Vec<Vec<u8>>) {
    let Reply::Array(parts) = reply else {
        panic!("not a reply to SCAN: {reply}");
    };
    let [Reply::Bulk(cursor), Reply::Array(keys)] = parts.as_slice() else {
        panic!("not a reply to SCAN: {reply}");
    };
    let keys = keys.iter().map(|key| match key {
        Reply::Bulk(key) => key.clone(),
        other => panic!("not a key: {other}"),
    });
    (cursor.clone(), keys.collect())
}

//! Bytes that are no protocol.

use std::time::Duration;

use hotcopy_tests::resp::ClientError;
use hotcopy_tests::servers::Server;

use super::{MIB, assert_answers, assert_grew_at_most, assert_serves, growth_during};

/// Each would make a careless parser panic, allocate or loop.
const HOSTILE: &[&[u8]] = &[
    b"\0",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"*1048577\r\n",
    b"*9223372036854775807\r\n",
    b"*-9223372036854775808\r\n",
    b"*18446744073709551617\r\n",
    b"*1\r\n$9223372036854775807\r\n",
    b"*1\r\n$-9223372036854775808\r\n",
    b"*1\r\n$536870913\r\n",
    b"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
    b"*1\r\n*1\r\n*1\r\n*1\r\n",
    b"*+1\r\n$4\r\nPING\r\n",
    b"* 1\r\n$4\r\nPING\r\n",
    b"*1\n$4\nPING\n",
    b"*\r\n$\r\n",
    b"*1\r\n$\r\n\r\n",
    b"*2\r\n$4\r\nECHO\r\n+x\r\n",
    b"%1\r\n$1\r\na\r\n$1\r\nb\r\n",
    b"\"\\x\r\n",
    b"'\r\n",
    b"\"a\"b\r\n",
    b"\r\r\r\n",
    b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$-0\r\n\r\n",
];

#[test]
fn malformed_bytes_disturb_nobody_else() {
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut witness = server.connect();
    for bytes in HOSTILE {
        let mut hostile = server.connect();
        // The server may close while we still write; that is its right.
        let _ = hostile.send_raw(bytes);
        let _ = hostile.is_silent(Duration::from_millis(5));
        assert_answers(&mut witness);
    }
    assert_serves(&server);
}

#[test]
fn a_well_formed_request_cut_anywhere_does_nothing_and_disturbs_nobody() {
    let server = Server::hotcopy(&[]);
    let mut witness = server.connect();
    let whole = b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$10\r\n0123456789\r\n";
    for cut in 1..whole.len() {
        let mut client = server.connect();
        client.send_raw(&whole[..cut]).expect("the server reads");
    }
    assert_answers(&mut witness);
    let reply = witness.command(&["EXISTS", "key"]).expect("a reply");
    assert_eq!(reply.to_string(), ":0", "half a request did something");
}

#[test]
fn random_bytes_disturb_nobody_else() {
    // The seed is fixed, so that a failure comes again.
    let mut random = fastrand::Rng::with_seed(7);
    let alphabet = b"*$+-:_%~>\r\n\r\n 0123456789\"'\\xGETSETab\0\xff";
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut witness = server.connect();
    let growth = growth_during(&server, || {
        for round in 0..1_000 {
            let length = random.usize(1..600);
            let bytes: Vec<u8> = (0..length)
                .map(|_| alphabet[random.usize(0..alphabet.len())])
                .collect();
            let mut hostile = server.connect();
            let _ = hostile.send_raw(&bytes);
            if round % 50 == 0 {
                assert_answers(&mut witness);
            }
        }
    });
    assert_serves(&server);
    assert_grew_at_most(growth, 32 * MIB);
}

#[test]
fn an_endless_line_is_refused_before_it_takes_memory() {
    let server = Server::hotcopy(&[]);
    let growth = growth_during(&server, || {
        let mut hostile = server.connect();
        let megabyte = vec![b'x'; 1 << 20];
        let refused = (0..64).find_map(|_| hostile.send_raw(&megabyte).err());
        assert!(
            matches!(refused, Some(ClientError::Closed)),
            "64 MiB of one line were taken: {refused:?}"
        );
    });
    assert_serves(&server);
    assert_grew_at_most(growth, 8 * MIB);
}

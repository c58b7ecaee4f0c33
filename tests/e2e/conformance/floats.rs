//! `INCRBYFLOAT` on numbers of many sizes, against a real server.

use hotcopy_tests::resp::{Client, Reply};
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

/// A number as people write them: with and without sign, places and exponent.
fn number(random: &mut fastrand::Rng) -> String {
    let sign = random.choice(["", "-", "+"]).unwrap_or("");
    let digits = |random: &mut fastrand::Rng, max: usize| -> String {
        let len = random.usize(1..=max);
        (0..len).map(|_| random.digit(10)).collect()
    };
    let whole = digits(random, 12);
    match random.u32(..4) {
        0 => format!("{sign}{whole}"),
        1 => format!("{sign}{}.{}", random.u32(..100), digits(random, 19)),
        2 => format!("{sign}{whole}.{}", digits(random, 9)),
        _ => format!(
            "{sign}{}.{}e{}",
            random.u32(..10),
            digits(random, 6),
            random.i32(-30..30)
        ),
    }
}

fn sum(client: &mut Client, one: &str, another: &str) -> Reply {
    client.command(&["SET", "sum", one]).expect("a reply");
    let sum = client.command(&["INCRBYFLOAT", "sum", another]);
    sum.expect("a reply")
}

#[cfg(target_arch = "x86_64")]
#[test]
fn sums_are_those_of_redis_to_the_last_place() {
    let Some(redis) = require(Server::redis(&[])) else {
        return;
    };
    let ours = Server::hotcopy(&[]);
    let (mut redis, mut ours) = (redis.connect(), ours.connect());
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..3_000 {
        let (one, another) = (number(&mut random), number(&mut random));
        let expected = sum(&mut redis, &one, &another);
        assert_eq!(
            sum(&mut ours, &one, &another),
            expected,
            "{one} + {another}"
        );
    }
}

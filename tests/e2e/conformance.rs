//! One list of cases against every server, protocol and transport: what Redis and Valkey do is the measure of what hotcopy does.

use hotcopy_tests::conformance::{Configuration, Transport, run};
use hotcopy_tests::resp::Protocol::{Resp2, Resp3};
use hotcopy_tests::servers::Kind;

mod floats;
mod memcached;
mod scan;

/// Each configuration runs the cases in `tests/conformance`, and those that are programs.
macro_rules! configurations {
    ($($name:ident: $server:expr, $protocol:expr, $transport:expr;)*) => {$(
        mod $name {
            use super::*;

            const CONFIGURATION: Configuration = Configuration {
                server: $server,
                protocol: $protocol,
                transport: $transport,
            };

            #[test]
            fn answers_every_case_as_expected() {
                run(CONFIGURATION);
            }

            #[test]
            fn scan_returns_every_key_that_stays() {
                scan::returns_every_key_that_stays(CONFIGURATION);
            }
        }
    )*};
}

const ONE_LOOP: Kind = Kind::Hotcopy { threads: 1 };
const FOUR_LOOPS: Kind = Kind::Hotcopy { threads: 4 };

configurations! {
    redis_resp2: Kind::Redis, Resp2, Transport::Tcp;
    redis_resp3: Kind::Redis, Resp3, Transport::Tcp;
    redis8_resp2: Kind::Redis8, Resp2, Transport::Tcp;
    redis8_resp3: Kind::Redis8, Resp3, Transport::Tcp;
    valkey9_resp2: Kind::Valkey9, Resp2, Transport::Tcp;
    valkey9_resp3: Kind::Valkey9, Resp3, Transport::Tcp;
    hotcopy_resp2_tcp_one_loop: ONE_LOOP, Resp2, Transport::Tcp;
    hotcopy_resp3_tcp_one_loop: ONE_LOOP, Resp3, Transport::Tcp;
    hotcopy_resp2_unix_one_loop: ONE_LOOP, Resp2, Transport::Unix;
    hotcopy_resp3_unix_one_loop: ONE_LOOP, Resp3, Transport::Unix;
    hotcopy_resp2_tcp_four_loops: FOUR_LOOPS, Resp2, Transport::Tcp;
    hotcopy_resp3_tcp_four_loops: FOUR_LOOPS, Resp3, Transport::Tcp;
    hotcopy_resp2_unix_four_loops: FOUR_LOOPS, Resp2, Transport::Unix;
    hotcopy_resp3_unix_four_loops: FOUR_LOOPS, Resp3, Transport::Unix;
}

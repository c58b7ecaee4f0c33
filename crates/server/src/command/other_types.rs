//! Commands of Redis that have no meaning here, so that whoever uses one is told why.

/// What a command works on, in words that fit behind "works on".
const KINDS: &[(&str, &[&str])] = &[
    (
        "lists",
        &[
            "blmove",
            "blmpop",
            "blpop",
            "brpop",
            "brpoplpush",
            "lindex",
            "linsert",
            "llen",
            "lmove",
            "lmpop",
            "lpop",
            "lpos",
            "lpush",
            "lpushx",
            "lrange",
            "lrem",
            "lset",
            "ltrim",
            "rpop",
            "rpoplpush",
            "rpush",
            "rpushx",
            "sort",
            "sort_ro",
        ],
    ),
    (
        "hashes",
        &[
            "hdel",
            "hexists",
            "hexpire",
            "hexpireat",
            "hexpiretime",
            "hget",
            "hgetall",
            "hgetdel",
            "hgetex",
            "hincrby",
            "hincrbyfloat",
            "hkeys",
            "hlen",
            "hmget",
            "hmset",
            "hpersist",
            "hpexpire",
            "hpexpireat",
            "hpexpiretime",
            "hpttl",
            "hrandfield",
            "hscan",
            "hset",
            "hsetex",
            "hsetnx",
            "hstrlen",
            "httl",
            "hvals",
        ],
    ),
    (
        "sets",
        &[
            "sadd",
            "scard",
            "sdiff",
            "sdiffstore",
            "sinter",
            "sintercard",
            "sinterstore",
            "sismember",
            "smembers",
            "smismember",
            "smove",
            "spop",
            "srandmember",
            "srem",
            "sscan",
            "sunion",
            "sunionstore",
        ],
    ),
    (
        "sorted sets",
        &[
            "bzmpop",
            "bzpopmax",
            "bzpopmin",
            "geoadd",
            "geodist",
            "geohash",
            "geopos",
            "georadius",
            "georadius_ro",
            "georadiusbymember",
            "georadiusbymember_ro",
            "geosearch",
            "geosearchstore",
            "zadd",
            "zcard",
            "zcount",
            "zdiff",
            "zdiffstore",
            "zincrby",
            "zinter",
            "zintercard",
            "zinterstore",
            "zlexcount",
            "zmpop",
            "zmscore",
            "zpopmax",
            "zpopmin",
            "zrandmember",
            "zrange",
            "zrangebylex",
            "zrangebyscore",
            "zrangestore",
            "zrank",
            "zrem",
            "zremrangebylex",
            "zremrangebyrank",
            "zremrangebyscore",
            "zrevrange",
            "zrevrangebylex",
            "zrevrangebyscore",
            "zrevrank",
            "zscan",
            "zscore",
            "zunion",
            "zunionstore",
        ],
    ),
    (
        "streams",
        &[
            "xack",
            "xackdel",
            "xadd",
            "xautoclaim",
            "xclaim",
            "xdel",
            "xdelex",
            "xgroup",
            "xinfo",
            "xlen",
            "xpending",
            "xrange",
            "xread",
            "xreadgroup",
            "xrevrange",
            "xsetid",
            "xtrim",
        ],
    ),
    (
        "bitmaps",
        &[
            "bitcount",
            "bitfield",
            "bitfield_ro",
            "bitop",
            "bitpos",
            "getbit",
            "setbit",
        ],
    ),
    (
        "HyperLogLogs",
        &["pfadd", "pfcount", "pfdebug", "pfmerge", "pfselftest"],
    ),
    (
        "vector sets",
        &[
            "vadd",
            "vcard",
            "vdim",
            "vemb",
            "vgetattr",
            "vinfo",
            "vlinks",
            "vrandmember",
            "vrem",
            "vsetattr",
            "vsim",
        ],
    ),
];

/// What a command works on that works on no strings.
pub(super) fn kind(name: &[u8]) -> Option<&'static str> {
    let has = |names: &[&str]| {
        names
            .iter()
            .any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
    };
    let mut kinds = KINDS.iter();
    kinds.find_map(|(kind, names)| has(names).then_some(*kind))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::table::TABLE;
    use super::*;

    #[test]
    fn commands_of_other_types_are_known_by_what_they_work_on() {
        assert_eq!(kind(b"LPush"), Some("lists"));
        assert_eq!(kind(b"geoadd"), Some("sorted sets"));
        assert_eq!(kind(b"get"), None);
        assert_eq!(kind(b"lpushy"), None);
    }

    #[test]
    fn no_command_is_listed_twice_or_is_one_that_there_is() {
        let mut seen = HashSet::new();
        for name in KINDS.iter().flat_map(|(_, names)| *names) {
            assert!(seen.insert(name), "{name}");
            assert!(TABLE.find(name.as_bytes()).is_none(), "{name}");
        }
    }
}

//! Expiry times as memcached understands them.

use hotcopy_engine::bytes::UnixMillis;

/// Up to here an expiry time counts from now; beyond, it is a Unix time. That is 30 days.
const LONGEST_RELATIVE_SECONDS: u64 = 60 * 60 * 24 * 30;

/// When an entry shall expire, if ever. A time that has passed lets it expire at once.
pub(super) fn deadline(exptime: i64, now: UnixMillis) -> Option<UnixMillis> {
    let Ok(seconds) = u64::try_from(exptime) else {
        return Some(now);
    };
    let millis = seconds.saturating_mul(1000);
    match seconds {
        0 => None,
        1..=LONGEST_RELATIVE_SECONDS => Some(UnixMillis(now.0.saturating_add(millis))),
        _ => Some(UnixMillis(millis)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_time_is_relative_up_to_thirty_days() {
        let now = UnixMillis(1_700_000_000_123);
        let deadline = |exptime| deadline(exptime, now).map(|at| at.0);
        assert_eq!(deadline(0), None);
        assert_eq!(deadline(1), Some(now.0 + 1000));
        assert_eq!(deadline(2_592_000), Some(now.0 + 2_592_000_000));
        assert_eq!(deadline(2_592_001), Some(2_592_001_000));
        assert_eq!(deadline(1_900_000_000), Some(1_900_000_000_000));
        assert_eq!(deadline(i64::MAX), Some(u64::MAX));
        assert_eq!(deadline(-1), Some(now.0));
        assert_eq!(deadline(i64::MIN), Some(now.0));
    }
}

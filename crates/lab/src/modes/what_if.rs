//! The seed's question: so many requests a second with so many reads each, what does the cache cost,
//! and what would another one save?

use crate::results::modes::{Access, Configuration, Family, Object, Row, WhatIf};

/// One line for each contender that was measured with this number of keys and small values. Empty
/// where ours is not among them, since the savings are against it.
pub(super) fn what_if(
    rows: &[Row],
    keys: usize,
    operations_per_request: f64,
    requests_per_s: f64,
) -> Vec<WhatIf> {
    let asked = |row: &&Row| {
        row.object == Object::Small && row.keys == keys as u64 && row.family != Family::Nothing
    };
    let is_ours = |row: &&Row| {
        (row.family, row.configuration, row.access)
            == (Family::Ours, Configuration::AllOn, Access::Borrowed)
    };
    let get_ns = |row: &Row| row.get.map(|get| get.median_ns);
    let Some(ours_ns) = rows.iter().filter(asked).find(is_ours).and_then(get_ns) else {
        return Vec::new();
    };
    let reads_per_s = operations_per_request * requests_per_s;
    let ms_per_s = |ns: f64| ns * reads_per_s / 1e6;
    rows.iter()
        .filter(asked)
        .filter_map(|row| {
            let get_ns = get_ns(row)?;
            let saved_ms_per_s = ms_per_s(get_ns - ours_ns);
            Some(WhatIf {
                contender: row.contender.clone(),
                configuration: row.configuration,
                access: row.access,
                get_ns,
                reads_ms_per_s: ms_per_s(get_ns),
                saved_ms_per_s,
                more_requests_per_s: saved_ms_per_s / 1e3 * requests_per_s,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::PerOperation;

    fn row(contender: &str, family: Family, keys: u64, ns: f64) -> Row {
        Row {
            contender: contender.into(),
            family,
            configuration: Configuration::AllOn,
            access: Access::Borrowed,
            object: Object::Small,
            keys,
            get: Some(PerOperation {
                median_ns: ns,
                min_ns: ns,
                max_ns: ns,
            }),
            set: None,
        }
    }

    #[test]
    fn the_arithmetic_is_that_of_the_seed() {
        // 10,000 requests a second with 10 reads each; 12.37 ns against 3.90 ns are about 850 µs.
        let rows = [
            row("hotcopy", Family::Ours, 1_000, 3.90),
            row("lru-cache", Family::JavaScript, 1_000, 12.37),
            row("lru-cache", Family::JavaScript, 1, 99.0),
            row("no-op", Family::Nothing, 1_000, 1.0),
        ];
        let lines = what_if(&rows, 1_000, 10.0, 10_000.0);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].saved_ms_per_s, 0.0);
        assert!((lines[1].reads_ms_per_s - 1.237).abs() < 1e-9);
        assert!((lines[1].saved_ms_per_s - 0.847).abs() < 1e-9);
        assert!((lines[1].more_requests_per_s - 8.47).abs() < 1e-9);
    }

    #[test]
    fn without_ours_nothing_is_compared() {
        let rows = [row("lru-cache", Family::JavaScript, 1_000, 12.37)];
        assert_eq!(what_if(&rows, 1_000, 10.0, 10_000.0), []);
    }
}

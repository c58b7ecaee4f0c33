//! Records are read back as they were written.

use super::super::pool::Pool;
use super::*;

fn new_record<'a>(key: &'a [u8], value: &'a [u8], flags: u32, deadline: u64) -> NewRecord<'a> {
    let part = |tail| NewPart { chain: None, tail };
    NewRecord {
        table: 3,
        mark: 1,
        version: 77,
        flags,
        deadline,
        hash: 0,
        key: part(key),
        value: part(value),
    }
}

#[test]
fn records_of_any_lengths_are_read_back_one_after_another() {
    let pool = Pool::new(u64::MAX, 1);
    let mut segment = Segment::new(&pool, 64 * 1024, 1);
    let mut expected = Vec::new();
    for len in 0..40 {
        let (key, value) = (vec![b'k'; len], vec![b'v'; len * 7 % 30]);
        let (flags, deadline) = match len % 3 {
            0 => (0, NEVER),
            1 => (u32::MAX, NEVER),
            _ => (0, 5),
        };
        let at = segment.append(new_record(&key, &value, flags, deadline));
        expected.push((at, key, value, flags, deadline));
    }
    let mut at = 0;
    for (expected_at, key, value, flags, deadline) in expected {
        assert_eq!(at, expected_at);
        let record = segment.record(at);
        assert_eq!(segment.key_tail(&record), key);
        let slice = segment.value_slice(&record);
        assert_eq!(slice.as_slice(), value);
        assert_eq!((record.flags(), record.deadline()), (flags, deadline));
        let rest = (record.table(), record.mark(), record.version());
        assert_eq!(rest, (3, 1, 77));
        at = record.end();
    }
    assert_eq!(at, segment.written());
}

#[test]
fn a_small_entry_costs_twelve_bytes_and_the_rounding_to_eight() {
    assert_eq!(new_record(&[0; 12], &[0; 96], 0, NEVER).len(), 120);
    assert_eq!(new_record(&[0; 12], &[0; 96], 0, 1).len(), 136);
    assert_eq!(new_record(b"", b"", 0, NEVER).len(), 16);
}

#[test]
fn a_dead_record_is_ended_once_and_its_slices_stay_readable() {
    let pool = Pool::new(u64::MAX, 1);
    let mut segment = Segment::new(&pool, 1024, 1);
    let at = segment.append(new_record(b"k", b"value", 0, NEVER));
    let slice = segment.value_slice(&segment.record(at));
    assert!(segment.kill(at).is_some());
    assert!(segment.kill(at).is_none());
    assert_eq!(
        (segment.live_records(), segment.dead_bytes()),
        (0, segment.written())
    );
    drop(segment);
    assert!(pool.used_bytes() > 0);
    assert_eq!(slice.as_slice(), b"value");
    drop(slice);
    assert_eq!(pool.used_bytes(), 0);
}

#[test]
fn a_deadline_is_changed_in_place_where_there_is_room_for_it() {
    let pool = Pool::new(u64::MAX, 1);
    let mut segment = Segment::new(&pool, 1024, 1);
    let without = segment.append(new_record(b"a", b"", 0, NEVER));
    let with = segment.append(new_record(b"b", b"", 0, 9));
    let record = segment.record(without);
    assert!(segment.set_deadline(&record, NEVER) && !segment.set_deadline(&record, 4));
    let record = segment.record(with);
    assert!(segment.set_deadline(&record, 4));
    assert_eq!(segment.record(with).deadline(), 4);
    assert_eq!(segment.earliest_deadline, 4);
}

#[test]
fn a_segment_that_is_dropped_gives_back_what_lives_in_it() {
    let pool = Pool::new(u64::MAX, 1);
    let mut segment = Segment::new(&pool, 1024, 1);
    let chain = Chain::new(&pool, vec![pool.allocate_block()]);
    let mut new = new_record(b"k", b"rest", 0, NEVER);
    new.value.chain = Some(chain);
    let at = segment.append(new);
    let record = segment.record(at);
    assert_eq!(record.value_len(), super::super::BLOCK_VALUE_BYTES + 4);
    let shared = segment.value_chain(&record).unwrap();
    drop(segment);
    assert!(pool.used_bytes() > 16_384);
    drop(shared);
    assert_eq!(pool.used_bytes(), 0);
}

#[test]
fn a_value_is_written_in_place_only_where_it_fits_exactly_and_nobody_reads() {
    let pool = Pool::new(u64::MAX, 1);
    let mut segment = Segment::new(&pool, 1024, 1);
    let at = segment.append(new_record(b"key", &[1; 21], 0, NEVER));
    let next = segment.append(new_record(b"next", &[2; 21], 7, 9));
    let record = |segment: &Segment| segment.record(at);
    let fits = new_record(b"key", &[3; 20], 0, NEVER);
    let slice = segment.value_slice(&record(&segment));
    assert!(!segment.overwrite(&record(&segment), &fits), "it is read");
    assert_eq!(slice.as_slice(), [1; 21]);
    drop(slice);
    for unfit in [
        new_record(b"key", &[3; 26], 0, NEVER),
        new_record(b"key", &[3; 13], 0, NEVER),
        new_record(b"key", &[3; 20], 1, NEVER),
        new_record(b"key", &[3; 20], 0, 5),
    ] {
        assert!(!segment.overwrite(&record(&segment), &unfit));
    }
    assert!(segment.overwrite(&record(&segment), &fits));
    let after = record(&segment);
    assert_eq!(segment.value_slice(&after).as_slice(), [3; 20]);
    assert_eq!((after.mark(), after.end()), (2, next), "a write is a use");
    let cleared = new_record(b"next", &[4; 21], 0, NEVER);
    assert!(segment.overwrite(&segment.record(next), &cleared));
    let after = segment.record(next);
    assert_eq!((after.flags(), after.deadline()), (0, NEVER));
    assert_eq!(segment.value_slice(&after).as_slice(), [4; 21]);
    assert_eq!(segment.dead_bytes(), 0);
}

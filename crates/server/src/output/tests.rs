use super::*;
use hotcopy_engine::bytes::{
    BLOCK_VALUE_BYTES, ByteStore, Database, SetOptions, StoreConfig, UnixMillis,
};

const PIECE_BYTES: usize = 32 * 1024;

/// A value as a store gives it out.
fn value(byte: u8, len: usize) -> Value {
    let store = ByteStore::new(&StoreConfig::default());
    let (database, now) = (Database::default(), UnixMillis::default());
    let bytes = vec![byte; len];
    let written = store.set(database, b"k", &bytes[..], SetOptions::default(), now);
    written.expect("there is no limit");
    store.get(database, b"k", now).expect("it was written")
}

/// Takes a limited number of bytes per call, then says that it is full.
struct Narrow {
    taken: Vec<u8>,
    width: usize,
}

impl Write for Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let step = bytes.len().min(self.width);
        self.taken.extend_from_slice(&bytes[..step]);
        Ok(step)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let offered: usize = slices.iter().map(|slice| slice.len()).sum();
        assert!(offered <= PIECE_BYTES);
        let mut left = self.width;
        for slice in slices {
            let step = slice.len().min(left);
            self.taken.extend_from_slice(&slice[..step]);
            left -= step;
        }
        Ok(self.width - left)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn any_mix_of_small_and_large_replies_arrives_in_order_whatever_the_kernel_takes() {
    for width in [1, 7, 1_000, 20_000, 1 << 20] {
        let mut output = Output::default();
        let mut expected = Vec::new();
        for (nth, len) in [0, 3, 40_000, 5, 16_384, 16_383, 100_000]
            .iter()
            .enumerate()
        {
            let value = value(b'a' + nth as u8, *len);
            output.value(&value, Version::Resp3);
            Encoder::new(&mut expected, Version::Resp3).bulk(&value.to_vec());
        }
        let mut spare = Vec::new();
        output.take_back(&mut spare);
        output.encoder(Version::Resp3).simple("end");
        Encoder::new(&mut expected, Version::Resp3).simple("end");
        assert_eq!(output.len(), expected.len());
        let mut narrow = Narrow {
            taken: Vec::new(),
            width,
        };
        while !output.is_empty() {
            output.write_piece(&mut narrow, PIECE_BYTES).unwrap();
        }
        assert!(narrow.taken == expected, "width {width}");
    }
}

#[test]
fn any_part_of_a_value_is_written_whole() {
    for len in [10, 16_376, 16_377, 70_000, 131_008] {
        let store = ByteStore::new(&StoreConfig::default());
        let (database, now) = (Database::default(), UnixMillis::default());
        let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        let written = store.set(database, b"k", &bytes[..], SetOptions::default(), now);
        written.expect("there is no limit");
        let value = store.get(database, b"k", now).expect("it was written");
        for start in [0, 1, 9, 16_375, 16_376, 40_000] {
            for end in [1, 10, 16_376, 16_377, 65_504, 69_999, len] {
                if start >= end || end > len {
                    continue;
                }
                let mut output = Output::default();
                output.value_range(&value, start..end, Version::Resp2);
                let mut expected = Vec::new();
                Encoder::new(&mut expected, Version::Resp2).bulk(&bytes[start..end]);
                assert_eq!(output.len(), expected.len());
                let mut written = Vec::new();
                while !output.is_empty() {
                    output.write_piece(&mut written, PIECE_BYTES).unwrap();
                }
                assert!(written == expected, "{start}..{end} of {len}");
            }
        }
    }
}

#[test]
fn the_blocks_of_a_value_are_not_copied() {
    let value = value(b'x', 100_000);
    let mut output = Output::default();
    output.value(&value, Version::Resp2);
    let pieces: Vec<_> = output.slices.iter().flat_map(Slice::pieces).collect();
    let blocks = value.len() / BLOCK_VALUE_BYTES;
    assert_eq!(pieces.len(), 1 + blocks);
    for (piece, block) in pieces[1..].iter().zip(value.slices()) {
        assert_eq!(piece.as_ptr_range(), block.as_ptr_range());
    }
}

#[test]
fn replies_since_a_mark_can_be_taken_back() {
    let large = value(b'x', SHARED_FROM_BYTES);
    for with_large in [false, true] {
        let mut output = Output::default();
        output.value(&large, Version::Resp2);
        output.encoder(Version::Resp2).simple("kept");
        let (mark, before) = (output.mark(), output.len());
        output.encoder(Version::Resp2).simple("lost");
        if with_large {
            output.value(&large, Version::Resp2);
        }
        output.roll_back(mark);
        assert_eq!(output.len(), before);
        let mut written = Vec::new();
        while !output.is_empty() {
            output.write_piece(&mut written, PIECE_BYTES).unwrap();
        }
        assert!(written.ends_with(b"xx\r\n+kept\r\n"));
    }
}

#[test]
fn a_short_reply_that_waits_does_not_hold_a_long_buffer() {
    let mut output = Output::default();
    let mut spare = Vec::with_capacity(1 << 16);
    output.lend(&mut spare);
    output.encoder(Version::Resp2).simple("OK");
    output.take_back(&mut spare);
    assert!(spare.capacity() >= 1 << 16);
    assert_eq!(output.tail.capacity(), 0);
    assert_eq!(output.len(), 5);
}

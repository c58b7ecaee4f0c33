//! What the targets share: ways of cutting an input, because a parser must not care how the network
//! did it.

pub mod cache_model;
pub mod fused;

use hotcopy_wire::resp::Limits;

/// Bounds so small that short inputs reach them.
pub const SMALL: Limits = Limits {
    max_inline: 32,
    max_args: 12,
    max_bulk: 24,
    max_depth: 3,
};

/// The input cut into single bytes, into halves, and into pieces of uneven length.
pub fn cuttings(input: &[u8]) -> [Vec<&[u8]>; 3] {
    let (front, back) = input.split_at(input.len() / 2);
    [input.chunks(1).collect(), vec![front, back], uneven(input)]
}

/// Pieces of 1 to 16 bytes; the same input always gets the same cuts, so that a finding can be
/// replayed.
fn uneven(mut input: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut seed = input.len();
    while !input.is_empty() {
        seed = seed
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(usize::from(input[0]) + 1);
        let (piece, rest) = input.split_at(input.len().min(1 + (seed >> 20) % 16));
        pieces.push(piece);
        input = rest;
    }
    pieces
}

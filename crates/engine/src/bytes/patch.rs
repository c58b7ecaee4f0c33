//! A value made of another one by writing to a part of it.

use super::Value;
use super::block::PAYLOAD_BYTES;
use super::builder::Blocks;
use super::chain::Chain;
use super::limit::StoreError;
use super::store::ByteStore;

impl ByteStore {
    /// `value` with `bytes` at `offset`; longer if they reach beyond its end, with zeros in between if
    /// they begin there. Blocks in which nothing changes are shared, the others are copied, and
    /// entries are evicted for them. `value` stays as it is.
    ///
    /// Not for use inside of [`update`](Self::update), where a shard is locked: read the value, make the new one,
    /// and store it if the [version](super::Current::version) is still the same.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if the limit could not hold the new value.
    pub fn patched(&self, value: &Value, offset: usize, bytes: &[u8]) -> Result<Value, StoreError> {
        let end = offset.saturating_add(bytes.len());
        let len = if bytes.is_empty() { 0 } else { end }.max(value.len());
        self.check_entry(0, len)?;
        let own_chain = value.chain().filter(|chain| chain.is_of(&self.pool));
        let shared = own_chain.map_or(&[][..], Chain::blocks);
        let fill = |start: usize, part: &mut [u8]| {
            let mut filled = 0;
            for slice in value.slices_from(start) {
                let count = slice.len().min(part.len() - filled);
                part[filled..][..count].copy_from_slice(&slice[..count]);
                filled += count;
            }
            part[filled..].fill(0);
            let (from, to) = (offset.max(start), end.min(start + part.len()));
            if from < to {
                part[from - start..to - start].copy_from_slice(&bytes[from - offset..to - offset]);
            }
        };
        let mut blocks = Blocks::new(&self.pool);
        // One block of zeros stands for all, so that a write far behind the end makes few of them.
        let mut zeros: Option<usize> = None;
        for index in 0..len / PAYLOAD_BYTES {
            let start = index * PAYLOAD_BYTES;
            let is_changed = offset < start + PAYLOAD_BYTES && end > start;
            let is_zeros = !is_changed && start >= value.len();
            match (shared.get(index), zeros) {
                (Some(block), _) if !is_changed => blocks.add_shared(block),
                (_, Some(zeros)) if is_zeros => blocks.add_again(zeros),
                _ => {
                    self.make_room_for_block();
                    blocks.add();
                    fill(start, blocks.last_mut());
                    zeros = zeros.or(is_zeros.then_some(index));
                }
            }
        }
        let mut rest = vec![0; len % PAYLOAD_BYTES];
        fill(len - rest.len(), &mut rest);
        Ok(Value::built(blocks.into_chain(), rest))
    }
}

//! `MGET`. One of many keys is answered in steps: each produces as much of the reply as may wait for
//! the client, and the next one follows when the client has read. So what a reply takes does not
//! depend on how many keys a request names, and no step keeps other clients waiting for long.

use bytes::Bytes;
use hotcopy_engine::bytes::{ATOMIC_GET_KEYS, ByteStore, Database, UnixMillis};
use hotcopy_wire::resp::{Args, Version};

use super::{Context, Handled};
use crate::output::Output;

/// Keys that one step reads, and bytes of reply after which it ends.
const STEP_KEYS: usize = 512;
const STEP_BYTES: usize = 64 * 1024;

pub(super) fn mget(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let keys = args.skip(1);
    context.reply().array(keys.len());
    if keys.len() > ATOMIC_GET_KEYS {
        let unfinished = UnfinishedMget::new(context.database(), keys);
        context.session.unfinished_mget = Some(Box::new(unfinished));
        return Ok(());
    }
    let values = context
        .store()
        .get_many(context.database(), keys.iter(), context.now);
    for value in &values {
        context.reply_value(value.as_ref());
    }
    Ok(())
}

/// An `MGET` whose reply has begun.
#[derive(Debug)]
pub(crate) struct UnfinishedMget {
    database: Database,
    /// The keys one after another, and where each ends.
    keys: Vec<u8>,
    ends: Vec<usize>,
    /// Keys that are answered, and where the next one starts.
    answered: usize,
    start: usize,
    /// Published messages that came meanwhile: they may not stand in the middle of a reply.
    messages: Vec<Bytes>,
    message_bytes: usize,
}

impl UnfinishedMget {
    fn new(database: Database, args: Args<'_>) -> Self {
        let mut keys = Vec::with_capacity(args.iter().map(<[u8]>::len).sum());
        let mut ends = Vec::with_capacity(args.len());
        for key in args {
            keys.extend_from_slice(key);
            ends.push(keys.len());
        }
        UnfinishedMget {
            database,
            keys,
            ends,
            answered: 0,
            start: 0,
            messages: Vec::new(),
            message_bytes: 0,
        }
    }

    /// Memory held for the keys.
    pub(crate) fn request_bytes(&self) -> usize {
        self.keys.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// Bytes of the messages that wait for the reply's end.
    pub(crate) fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// Keeps a message until the reply has ended.
    pub(crate) fn defer(&mut self, message: &Bytes) {
        self.message_bytes += message.len();
        self.messages.push(message.clone());
    }

    /// Goes on until the step is full, or `output` holds `allowance` bytes. Returns whether the reply
    /// is complete.
    pub(crate) fn step(
        &mut self,
        store: &ByteStore,
        output: &mut Output,
        version: Version,
        allowance: usize,
        now: UnixMillis,
    ) -> bool {
        let full = allowance.min(output.len() + STEP_BYTES);
        for &end in self.ends[self.answered..].iter().take(STEP_KEYS) {
            if output.len() >= full {
                return false;
            }
            let key = &self.keys[self.start..end];
            match store.get(self.database, key, now) {
                Some(value) => output.value(&value, version),
                None => output.encoder(version).null(),
            }
            self.start = end;
            self.answered += 1;
        }
        let is_complete = self.answered == self.ends.len();
        if is_complete {
            for message in self.messages.drain(..) {
                output.encoded(&message);
            }
        }
        is_complete
    }
}

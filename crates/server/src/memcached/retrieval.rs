//! `get`, `gets`, `gat` and `gats`. One of many keys is answered in steps, as `MGET`; each key by itself, as memcached
//! does.

use hotcopy_engine::bytes::{Change, Current, UnixMillis, Value};
use hotcopy_wire::memcached::{Get, Keys};

use super::counts::Count;
use super::expiry::deadline;
use super::{DATABASE, reply};
use crate::command::Context;
use crate::command::error::CommandError;
use crate::command::work::{Progress, STEP_BYTES, STEP_KEYS, Step, Unfinished, Work};

pub(super) fn get(context: &mut Context<'_>, get: Get<'_>) {
    let reading = Reading {
        with_cas: get.with_cas,
        deadline: get.exptime.map(|exptime| deadline(exptime, context.now)),
    };
    let mut keys = get.keys;
    let mut step = Step {
        shared: context.shared,
        counts: context.counts,
        output: context.output,
        version: context.session.version,
        now: context.now,
    };
    if reading.answer_some(&mut keys, &mut step) == Progress::Unfinished {
        context.session.unfinished = Some(Unfinished::new(RestOfKeys {
            reading,
            line: keys.as_line().into(),
            taken: 0,
        }));
    }
}

/// What is done with each key.
#[derive(Debug, Clone, Copy)]
struct Reading {
    with_cas: bool,
    /// The deadline that its entry shall have, if that is to change.
    deadline: Option<Option<UnixMillis>>,
}

struct Found {
    value: Value,
    flags: u32,
    version: u64,
}

impl Found {
    fn new(entry: Current<'_>) -> Self {
        Found {
            value: entry.value(),
            flags: entry.flags(),
            version: entry.version(),
        }
    }
}

impl Reading {
    /// Answers as many keys as one step may.
    fn answer_some(self, keys: &mut Keys<'_>, step: &mut Step<'_>) -> Progress {
        let allowance = step.shared.output_allowance();
        let full = allowance.min(step.output.len() + STEP_BYTES);
        for _ in 0..STEP_KEYS {
            if step.output.len() >= full {
                return Progress::Unfinished;
            }
            let Some(key) = keys.take_next() else {
                reply(step.output, "END");
                return Progress::Done;
            };
            self.answer(key, step);
        }
        Progress::Unfinished
    }

    fn answer(self, key: &[u8], step: &mut Step<'_>) {
        let found = self.read(key, step);
        let counts = &step.counts.memcached;
        counts.add(Count::CmdGet);
        if self.deadline.is_some() {
            counts.add(Count::CmdTouch);
            counts.add(match found {
                Some(_) => Count::TouchHits,
                None => Count::TouchMisses,
            });
        }
        let Some(found) = found else {
            counts.add(Count::GetMisses);
            return;
        };
        counts.add(Count::GetHits);
        let text = step.output.text();
        text.extend_from_slice(b"VALUE ");
        text.extend_from_slice(key);
        push_number(text, u64::from(found.flags));
        push_number(text, found.value.len() as u64);
        if self.with_cas {
            push_number(text, found.version);
        }
        text.extend_from_slice(b"\r\n");
        step.output.bytes_of(&found.value);
        step.output.text().extend_from_slice(b"\r\n");
    }

    fn read(self, key: &[u8], step: &Step<'_>) -> Option<Found> {
        let (store, now) = (&step.shared.store, step.now);
        let Some(deadline) = self.deadline else {
            return store.inspect(DATABASE, key, now, |current| current.map(Found::new));
        };
        let found = store.read_and_update(DATABASE, key, now, |current| {
            (Change::SetDeadline(deadline), current.map(Found::new))
        });
        // A deadline fits into any entry.
        found.ok().flatten()
    }
}

fn push_number(text: &mut Vec<u8>, number: u64) {
    text.push(b' ');
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Keys that are answered later.
#[derive(Debug)]
struct RestOfKeys {
    reading: Reading,
    line: Box<[u8]>,
    /// Bytes of the line that are answered already.
    taken: usize,
}

impl Work for RestOfKeys {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        let mut keys = Keys::of(&self.line[self.taken..]);
        let progress = self.reading.answer_some(&mut keys, step);
        self.taken = self.line.len() - keys.as_line().len();
        Ok(progress)
    }

    fn request_bytes(&self) -> usize {
        self.line.len()
    }
}

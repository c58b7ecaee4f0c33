//! `MGET`. One of many keys is answered in steps: each produces as much of the reply as may wait for
//! the client, and the next one follows when the client has read. So what a reply takes does not
//! depend on how many keys a request names.

use hotcopy_engine::bytes::{ATOMIC_GET_KEYS, Database};
use hotcopy_wire::resp::Args;

use super::arguments::Arguments;
use super::error::CommandError;
use super::work::{Progress, STEP_BYTES, STEP_KEYS, Step, Unfinished, Work};
use super::{Context, Handled};

pub(super) fn mget(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let keys = args.skip(1);
    if keys.len() > ATOMIC_GET_KEYS {
        context.session.unfinished = Some(Unfinished::new(Mget {
            database: context.database(),
            header: Some(keys.len()),
            keys: Arguments::copy_of(keys),
        }));
        return Ok(());
    }
    context.reply().array(keys.len());
    let values = context
        .store()
        .get_many(context.database(), keys.iter(), context.now);
    for value in &values {
        context.reply_value(value.as_ref());
    }
    Ok(())
}

#[derive(Debug)]
struct Mget {
    database: Database,
    /// The reply's length, until that is written.
    header: Option<usize>,
    keys: Arguments,
}

impl Work for Mget {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        if let Some(len) = self.header.take() {
            step.reply().array(len);
        }
        let allowance = step.shared.output_allowance();
        let full = allowance.min(step.output.len() + STEP_BYTES);
        for _ in 0..STEP_KEYS {
            if step.output.len() >= full {
                return Ok(Progress::Unfinished);
            }
            let Some(key) = self.keys.next() else {
                break;
            };
            match step.store().get(self.database, key, step.now) {
                Some(value) => step.output.value(&value, step.version),
                None => step.reply().null(),
            }
        }
        Ok(Progress::done_if(self.keys.is_empty()))
    }

    fn request_bytes(&self) -> usize {
        self.keys.heap_bytes()
    }
}

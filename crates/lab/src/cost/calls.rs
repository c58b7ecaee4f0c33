//! The first table: one call at a time on one connection, split in its steps.
//!
//! The steps take turns, so that a noisy second of the machine falls on all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use redis::Value as Reply;
use redis::aio::MultiplexedConnection;

use super::options::Encoding;
use super::reading::{Decoding, ReadError, Reading, payload};
use crate::results::cost::{Call, Step};
use crate::results::{Histogram, Recorder};
use crate::value::config::Config;

/// Calls that are made before any is counted.
const WARM_UP: usize = 50;

/// Measures for about `time`; a pace spaces the calls that reach the store.
pub(super) async fn measure(
    mut connection: MultiplexedConnection,
    reading: &Reading,
    time: Duration,
    at_most_per_s: Option<f64>,
) -> Result<Vec<Call>, ReadError> {
    let warm_up = if at_most_per_s.is_some() { 1 } else { WARM_UP };
    let mut reply = reading.fetch(&mut connection).await?;
    for _ in 1..warm_up {
        reply = reading.fetch(&mut connection).await?;
    }
    let mut steps: Vec<(Step, Object, Recorder)> = steps_of(reading.decode)
        .into_iter()
        .map(|(step, object)| (step, object, Recorder::new()))
        .collect();
    let started = Instant::now();
    let mut calls = 0_u32;
    while started.elapsed() < time {
        for (step, object, times) in &mut steps {
            if let Some(per_s) = at_most_per_s
                && step.reaches_store()
            {
                let due = started + Duration::from_secs_f64(f64::from(calls) / per_s);
                tokio::time::sleep_until(due.into()).await;
                calls += 1;
            }
            times.record(step.run(*object, &mut connection, reading, &reply).await?);
        }
    }
    let measured = |(step, _, times)| Call {
        step,
        time: Histogram::from_recorder(&times),
    };
    Ok(steps.into_iter().map(measured).collect())
}

/// What is made of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    None,
    /// As every row makes it.
    AsRead,
    Typed(Encoding),
}

fn steps_of(decode: Decoding) -> Vec<(Step, Object)> {
    let mut steps = vec![(Step::Get, Object::None)];
    if decode != Decoding::Bytes {
        steps.extend([Step::GetAndDecode, Step::Decode].map(|step| (step, Object::AsRead)));
    }
    if let Decoding::Config(encoding) = decode {
        let typed = Object::Typed(encoding);
        steps.extend([Step::GetAndDecodeTyped, Step::DecodeTyped].map(|step| (step, typed)));
    }
    steps
}

impl Step {
    fn reaches_store(self) -> bool {
        matches!(
            self,
            Step::Get | Step::GetAndDecode | Step::GetAndDecodeTyped
        )
    }

    /// The time of one call. The object is dropped after it: the article's runtime, too, collects
    /// its garbage later.
    async fn run(
        self,
        object: Object,
        connection: &mut MultiplexedConnection,
        reading: &Reading,
        reply: &Reply,
    ) -> Result<Duration, ReadError> {
        // Decoding alone needs a reply of its own each time, made outside the timed part.
        let own_reply = (!self.reaches_store()).then(|| reply.clone());
        let started = Instant::now();
        let reply = match own_reply {
            Some(reply) => reply,
            None => reading.fetch(connection).await?,
        };
        match object {
            Object::None => {
                let time = started.elapsed();
                drop(black_box(reply));
                Ok(time)
            }
            Object::AsRead => {
                let decoded = reading.decode(reply)?;
                let time = started.elapsed();
                decoded.observe();
                Ok(time)
            }
            Object::Typed(encoding) => {
                let config: Config = encoding.decode(&payload(reply)?)?;
                let time = started.elapsed();
                black_box(&config);
                Ok(time)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(decode: Option<Encoding>, generated: bool) -> Vec<Step> {
        let reading = Reading::get("k", decode, generated);
        let steps = steps_of(reading.decode);
        steps.into_iter().map(|(step, _)| step).collect()
    }

    #[test]
    fn what_is_not_decoded_has_no_decoding_steps_typed_or_not() {
        for generated in [false, true] {
            assert_eq!(steps(None, generated), [Step::Get]);
        }
        let document = [Step::Get, Step::GetAndDecode, Step::Decode];
        assert_eq!(steps(Some(Encoding::Json), false), document);
        assert_eq!(steps(Some(Encoding::Msgpack), true).len(), 5);
    }
}

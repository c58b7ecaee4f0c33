//! The first table: one call at a time on one connection, split in its steps.
//!
//! The steps take turns, so that a noisy second of the machine falls on all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use redis::Value as Reply;
use redis::aio::MultiplexedConnection;

use super::reading::{Decoded, ReadError, Reading, payload};
use crate::results::cost::{Call, Decode, Step};
use crate::results::{Histogram, Recorder};

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
    let mut steps: Vec<(Step, Recorder)> = steps_of(reading)
        .into_iter()
        .map(|step| (step, Recorder::new()))
        .collect();
    let started = Instant::now();
    let mut calls = 0_u32;
    while started.elapsed() < time {
        for (step, times) in &mut steps {
            if let Some(per_s) = at_most_per_s
                && step.reaches_store()
            {
                let due = started + Duration::from_secs_f64(f64::from(calls) / per_s);
                tokio::time::sleep_until(due.into()).await;
                calls += 1;
            }
            times.record(step.run(&mut connection, reading, &reply).await?);
        }
    }
    let measured = |(step, times)| Call {
        step,
        time: Histogram::from_recorder(&times),
    };
    Ok(steps.into_iter().map(measured).collect())
}

fn steps_of(reading: &Reading) -> Vec<Step> {
    let mut steps = vec![Step::Get];
    if reading.decode != Decode::None {
        steps.extend([Step::GetAndDecode, Step::Decode]);
    }
    if reading.typed {
        steps.extend([Step::GetAndDecodeTyped, Step::DecodeTyped]);
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
        match self {
            Step::Get => {
                let time = started.elapsed();
                drop(black_box(reply));
                Ok(time)
            }
            Step::GetAndDecode | Step::Decode => {
                let decoded: Decoded = reading.decode(reply)?;
                let time = started.elapsed();
                decoded.observe();
                Ok(time)
            }
            Step::GetAndDecodeTyped | Step::DecodeTyped => {
                let config = reading.decode_typed(&payload(reply)?)?;
                let time = started.elapsed();
                black_box(&config);
                Ok(time)
            }
        }
    }
}

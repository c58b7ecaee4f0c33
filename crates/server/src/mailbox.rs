//! Messages to an event loop from other threads.

use std::io;
use std::sync::Arc;

use mio::Waker;
use parking_lot::Mutex;

use crate::pubsub::{Delivery, Receiver};
use crate::socket::Socket;

/// Published bytes that may wait for a loop. A loop that falls so far behind loses subscribers, not
/// the process's memory.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(crate) enum Message {
    /// Serve this connection.
    Adopt(Socket),
    /// Pass a published message on.
    Deliver(Delivery),
    /// Disconnect these subscribers: they missed a message.
    Overflowed(Vec<Receiver>),
    /// Finish: deliver what is computed, then end.
    Stop,
}

#[derive(Debug)]
pub(crate) struct Mailbox {
    waiting: Mutex<Waiting>,
    waker: Arc<Waker>,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: Vec<Message>,
    published_bytes: usize,
}

impl Mailbox {
    pub(crate) fn new(waker: Arc<Waker>) -> Self {
        Mailbox {
            waiting: Mutex::default(),
            waker,
        }
    }

    pub(crate) fn post(&self, message: Message) -> io::Result<()> {
        let mut waiting = self.waiting.lock();
        waiting.messages.push(message);
        let is_first = waiting.messages.len() == 1;
        drop(waiting);
        // Only the first message needs a wake-up: the loop takes all at once.
        if is_first { self.waker.wake() } else { Ok(()) }
    }

    /// Posts a published message; false if too much waits already, and then the receivers are told
    /// that they missed it.
    pub(crate) fn deliver(&self, delivery: Delivery) -> io::Result<bool> {
        let bytes = delivery.channel.len() + delivery.payload.len();
        let mut waiting = self.waiting.lock();
        let fits = waiting.published_bytes + bytes <= MAX_WAITING_BYTES;
        let message = if fits {
            waiting.published_bytes += bytes;
            Message::Deliver(delivery)
        } else {
            Message::Overflowed(delivery.receivers)
        };
        drop(waiting);
        self.post(message)?;
        Ok(fits)
    }

    pub(crate) fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.waiting.lock()).messages
    }
}

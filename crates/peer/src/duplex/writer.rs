//! The one task that writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::SendError;

/// Bytes that may wait to be written.
const MOST_BYTES: usize = 64 << 20;

pub(super) struct Writer {
    queue: mpsc::Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
    /// Told whenever something has left the queue.
    room: Arc<Notify>,
    /// How long one write may take, and how long an answer waits for room.
    timeout: Duration,
    /// Cancelled when the task has ended.
    done: CancellationToken,
}

impl Writer {
    pub(super) fn start<W>(writer: W, queue: usize, timeout: Duration, closed: CancellationToken) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, receiver) = mpsc::channel(queue.max(1));
        let waiting = Arc::new(AtomicUsize::new(0));
        let room = Arc::new(Notify::new());
        let done = CancellationToken::new();
        let queue = Queue { receiver, waiting: waiting.clone(), room: room.clone() };
        let (writing, end) = (write_all(writer, queue, timeout, closed), done.clone().drop_guard());
        tokio::spawn(async move {
            let _end = end;
            writing.await;
        });
        Self { queue: sender, waiting, room, timeout, done }
    }

    /// Waits until nothing more is written.
    pub(super) async fn done(&self) {
        self.done.cancelled().await;
    }

    /// Bytes that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Sends, and waits for room as long as one write may take. For answers: unlike notifications they cannot be left
    /// out, and a far side that is behind is not one that has stopped reading.
    pub(super) async fn send_in_time(&self, message: Bytes) -> Result<(), SendError> {
        let sending = async {
            loop {
                // Asked for before the queue is looked at: room that is made in between counts.
                let mut room = std::pin::pin!(self.room.notified());
                room.as_mut().enable();
                match self.send(message.clone()) {
                    Err(SendError::Full) => tokio::select! {
                        () = room => {}
                        () = self.done.cancelled() => return Err(SendError::Closed),
                    },
                    outcome => return outcome,
                }
            }
        };
        tokio::time::timeout(self.timeout, sending).await.unwrap_or(Err(SendError::Full))
    }

    pub(super) fn send(&self, message: Bytes) -> Result<(), SendError> {
        let size = message.len();
        if self.waiting.fetch_add(size, Ordering::Relaxed) + size > MOST_BYTES {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
            return Err(SendError::Full);
        }
        self.queue.try_send(message).map_err(|error| {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
            match error {
                mpsc::error::TrySendError::Full(_) => SendError::Full,
                mpsc::error::TrySendError::Closed(_) => SendError::Closed,
            }
        })
    }
}

/// What waits to be written, from the end of the task that writes.
struct Queue {
    receiver: mpsc::Receiver<Bytes>,
    waiting: Arc<AtomicUsize>,
    room: Arc<Notify>,
}

impl Queue {
    async fn next(&mut self) -> Option<Bytes> {
        let message = self.receiver.recv().await?;
        Some(self.taken(message))
    }

    fn next_now(&mut self) -> Option<Bytes> {
        let message = self.receiver.try_recv().ok()?;
        Some(self.taken(message))
    }

    fn taken(&self, message: Bytes) -> Bytes {
        self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        self.room.notify_waiters();
        message
    }
}

async fn write_all<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut queue: Queue,
    timeout: Duration,
    closed: CancellationToken,
) {
    let mut buffer = Vec::new();
    let mut ending = false;
    while !ending {
        let message = tokio::select! {
            biased;
            message = queue.next() => message,
            () = closed.cancelled() => { ending = true; queue.next_now() }
        };
        let Some(message) = message else { break };
        // What waits already goes out with it: one write for many small messages.
        let mut next = Some(message);
        while let Some(message) = next {
            append_line(&mut buffer, &message);
            next = if ending || buffer.len() < 64 << 10 { queue.next_now() } else { None };
        }
        let written = tokio::time::timeout(timeout, async {
            writer.write_all(&buffer).await?;
            writer.flush().await
        })
        .await;
        buffer.clear();
        buffer.shrink_to(256 << 10);
        if !matches!(written, Ok(Ok(()))) {
            break;
        }
    }
    closed.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(1), writer.shutdown()).await;
}

/// Appends one message as one line. Raw parts may have come spread over lines (an HTTP body may); line ends outside
/// strings are white space, and inside strings they cannot stand, so a space does as well.
fn append_line(buffer: &mut Vec<u8>, message: &[u8]) {
    let start = buffer.len();
    buffer.extend_from_slice(message);
    if message.iter().any(|&byte| byte == b'\n' || byte == b'\r') {
        for byte in &mut buffer[start..] {
            if *byte == b'\n' || *byte == b'\r' {
                *byte = b' ';
            }
        }
    }
    buffer.push(b'\n');
}

//! Messages about a call that come by another way than its own response.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_wire::Message;
use tokio::sync::mpsc;

/// Messages that may wait for one call.
const MAILBOX: usize = 64;
/// Early answers that are kept.
const EARLY: usize = 16;

/// Calls that can be reached by the server's own stream, by their id, which is their progress token as well.
#[derive(Default)]
pub(super) struct Mailboxes(Mutex<Sorted>);

#[derive(Default)]
struct Sorted {
    open: HashMap<u64, mpsc::Sender<Message>>,
    /// Answers that overtook the head of their call's own response. Most calls never look here.
    early: VecDeque<(u64, Message)>,
}

impl Mailboxes {
    /// Hands a message to the call it is about; gives it back where there is none, or none that keeps up.
    pub(super) fn post(&self, id: u64, message: Message) -> Option<Message> {
        let mut sorted = self.0.lock();
        match sorted.open.get(&id) {
            Some(sender) => sender.try_send(message).err().map(mpsc::error::TrySendError::into_inner),
            None => {
                if matches!(message, Message::Response(_)) {
                    if sorted.early.len() >= EARLY {
                        sorted.early.pop_front();
                    }
                    sorted.early.push_back((id, message.clone()));
                }
                Some(message)
            }
        }
    }

    /// A mailbox for a call, with the answer in it if that came early.
    pub(super) fn open(self: &Arc<Self>, id: u64) -> (Mailbox, bool) {
        let (sender, receiver) = mpsc::channel(MAILBOX);
        let mut sorted = self.0.lock();
        let early = sorted.early.iter().position(|(of, _)| *of == id).and_then(|at| sorted.early.remove(at));
        let was_early = early.is_some_and(|(_, message)| sender.try_send(message).is_ok());
        sorted.open.insert(id, sender);
        (Mailbox { receiver, id, all: self.clone() }, was_early)
    }
}

/// The receiving end, which takes its entry away when the call ends.
pub(super) struct Mailbox {
    receiver: mpsc::Receiver<Message>,
    id: u64,
    all: Arc<Mailboxes>,
}

impl Mailbox {
    pub(super) async fn next(&mut self) -> Option<Message> {
        self.receiver.recv().await
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.all.0.lock().open.remove(&self.id);
    }
}

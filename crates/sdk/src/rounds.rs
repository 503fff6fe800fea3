//! How a handler that is written as if it could ask and wait works where the client must be answered first.
//!
//! A modern server may not send requests. When a handler asks for something that is not answered yet, the question is
//! noted and the handler waits; [`drive`] sees that it waits, drops it, and the request is answered with what was
//! asked. The client sends the request again with the answers, the handler runs again from its beginning, and this
//! time its questions are answered from what came along. Questions are told apart by their keys: those the author
//! gave, or the method with a running number, which is the same in every run of a handler that takes the same path.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use indexmap::IndexMap;
use parking_lot::Mutex;
use switchboard_peer::BoxFuture;
use switchboard_protocol::mcp::InputRequest;
use switchboard_wire::Raw;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::seal::Remembered;

/// The questions and answers of one run of a handler.
#[derive(Debug, Default)]
pub(crate) struct Rounds(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// From the signed state: what earlier runs were answered, and what they kept.
    remembered: Remembered,
    /// From this request. Only what a question asks for is used.
    offered: IndexMap<String, Raw>,
    /// What this run has used, in its order.
    used: Remembered,
    asked: IndexMap<String, InputRequest>,
    names: Names,
    /// Whether the rest of the handler may run in the background.
    deferrable: bool,
    background: bool,
    waker: Option<Waker>,
}

/// Keys for questions: unique within one request.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, u32>);

impl Names {
    /// The key of the next question: the wanted one, or the stem with a number.
    pub(crate) fn next(&mut self, wanted: Option<&str>, stem: &str) -> String {
        let count = self.0.entry(wanted.unwrap_or(stem).to_owned()).or_default();
        *count += 1;
        match (wanted, *count) {
            (Some(key), 1) => key.to_owned(),
            (Some(key), count) => format!("{key}-{count}"),
            (None, count) => format!("{stem}-{count}"),
        }
    }
}

impl Rounds {
    pub(crate) fn new(remembered: Remembered, offered: IndexMap<String, Raw>, deferrable: bool) -> Self {
        Self(Mutex::new(Inner { remembered, offered, deferrable, ..Inner::default() }))
    }

    /// The answer to a question, which is noted where there is none yet.
    pub(crate) fn ask(&self, wanted: Option<&str>, stem: &str, request: InputRequest) -> Option<Raw> {
        let mut inner = self.0.lock();
        let key = inner.names.next(wanted, stem);
        // An answer that was used once stays the answer, whatever a later round offers under its key.
        let answer = inner.remembered.answers.get(&key).or_else(|| inner.offered.get(&key)).cloned();
        match &answer {
            Some(answer) => {
                inner.used.answers.insert(key, answer.clone());
            }
            None => {
                inner.asked.insert(key, request);
                if let Some(waker) = &inner.waker {
                    waker.wake_by_ref();
                }
            }
        }
        answer
    }

    /// The value that an earlier run kept under `key`.
    pub(crate) fn kept(&self, key: &str) -> Option<Raw> {
        let mut inner = self.0.lock();
        let value = inner.remembered.once.get(key).cloned()?;
        inner.used.once.insert(key.to_owned(), value.clone());
        Some(value)
    }

    /// Keeps a value for later runs.
    pub(crate) fn keep(&self, key: &str, value: Raw) {
        self.0.lock().used.once.insert(key.to_owned(), value);
    }

    /// Asks for the rest of the handler to run in the background. Whether that will be.
    pub(crate) fn go_to_background(&self) -> bool {
        let mut inner = self.0.lock();
        inner.background = inner.deferrable;
        if let Some(waker) = &inner.waker {
            waker.wake_by_ref();
        }
        inner.background
    }

    /// The open questions, and what has to be remembered until they are answered.
    pub(crate) fn take(&self) -> (IndexMap<String, InputRequest>, Remembered) {
        let mut inner = self.0.lock();
        let asked = std::mem::take(&mut inner.asked);
        let mut remembered = std::mem::take(&mut inner.used);
        // A run that was cut short may not have come to everything that is remembered.
        for (key, value) in &inner.remembered.answers {
            remembered.answers.entry(key.clone()).or_insert_with(|| value.clone());
        }
        for (key, value) in &inner.remembered.once {
            remembered.once.entry(key.clone()).or_insert_with(|| value.clone());
        }
        remembered.round = inner.remembered.round.saturating_add(1);
        (asked, remembered)
    }
}

/// How a run of a handler ended.
pub(crate) enum Ran {
    /// With a result.
    Done(Result<Raw, Error>),
    /// It waits for answers.
    Asks,
    /// The rest of it is to run in the background.
    Background(BoxFuture<'static, Result<Raw, Error>>),
    /// Nobody waits for it any more.
    Cancelled,
}

/// Runs a handler until it is done, waits for answers, or is given up.
pub(crate) async fn drive(
    mut future: BoxFuture<'static, Result<Raw, Error>>,
    rounds: Option<&Arc<Rounds>>,
    cancel: &CancellationToken,
) -> Ran {
    enum Stop {
        Done(Result<Raw, Error>),
        Asks,
        Background,
        Cancelled,
    }
    let mut cancelled = std::pin::pin!(cancel.cancelled());
    let stop = std::future::poll_fn(|context| {
        if let Some(rounds) = rounds {
            rounds.0.lock().waker = Some(context.waker().clone());
        }
        // The handler goes first, so that it can see its own cancellation and tidy up.
        if let Poll::Ready(result) = Pin::new(&mut future).poll(context) {
            return Poll::Ready(Stop::Done(result));
        }
        if let Some(rounds) = rounds {
            let inner = rounds.0.lock();
            if !inner.asked.is_empty() {
                return Poll::Ready(Stop::Asks);
            }
            if inner.background {
                return Poll::Ready(Stop::Background);
            }
        }
        cancelled.as_mut().poll(context).map(|()| Stop::Cancelled)
    })
    .await;
    match stop {
        Stop::Done(result) => Ran::Done(result),
        Stop::Asks => Ran::Asks,
        Stop::Background => Ran::Background(future),
        Stop::Cancelled => Ran::Cancelled,
    }
}

//! One connection, moved on by whoever uses it.
//!
//! A connection in a task of its own would cost every request two changes of task, often to another processor. Here the
//! request polls the connection itself. While nobody uses it, nobody polls it: what it has missed is seen when it is taken
//! again ([`Line::is_open`]).

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;

/// How often connection and request may wake each other before others have their turn.
const ROUNDS: usize = 16;

pub(super) type Sender = SendRequest<Full<Bytes>>;
type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// A connection and what moves it on.
pub(super) struct Line {
    pub(super) sender: Sender,
    /// None once it has ended.
    driver: Option<Driver>,
    bell: Arc<Bell>,
    waker: Waker,
}

/// Wakes the task, but not while it is awake: then connection and request only wake each other.
#[derive(Default)]
struct Bell {
    task: AtomicWaker,
    rung: AtomicBool,
    awake: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        // In this order: whoever is awake looks once more after it has said that it no longer is.
        if !self.awake.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

impl Line {
    pub(super) fn new(sender: Sender, connection: impl Future<Output = hyper::Result<()>> + Send + 'static) -> Self {
        let bell = Arc::new(Bell::default());
        Self { sender, driver: Some(Box::pin(connection)), waker: bell.clone().into(), bell }
    }

    /// Sends a request and waits for the head of the answer.
    ///
    /// # Errors
    /// With the request, where not a byte of it was written.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        let work = self.sender.try_send_request(request);
        Self::drive(&mut self.driver, &self.bell, &self.waker, work).await
    }

    /// Waits until it can take a request.
    ///
    /// # Errors
    /// It is closed.
    pub(super) async fn ready(&mut self) -> hyper::Result<()> {
        let work = self.sender.ready();
        Self::drive(&mut self.driver, &self.bell, &self.waker, work).await
    }

    /// Waits for something that the connection brings about.
    pub(super) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> T {
        Self::drive(&mut self.driver, &self.bell, &self.waker, work).await
    }

    async fn drive<T>(driver: &mut Option<Driver>, bell: &Bell, waker: &Waker, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            bell.task.register(context.waker());
            bell.awake.store(true, Ordering::SeqCst);
            let mut inner = Context::from_waker(waker);
            let mut outcome = Poll::Pending;
            for _ in 0..ROUNDS {
                bell.rung.store(false, Ordering::SeqCst);
                outcome = work.as_mut().poll(&mut inner);
                if outcome.is_pending() {
                    advance(driver, &mut inner);
                    outcome = work.as_mut().poll(&mut inner);
                }
                if outcome.is_ready() || !bell.rung.load(Ordering::SeqCst) {
                    break;
                }
            }
            bell.awake.store(false, Ordering::SeqCst);
            if outcome.is_pending() && bell.rung.load(Ordering::SeqCst) {
                context.waker().wake_by_ref();
            }
            outcome
        })
        .await
    }

    /// Whether the far side has not closed it. Sees what came while nobody used it.
    pub(super) fn is_open(&mut self) -> bool {
        advance(&mut self.driver, &mut Context::from_waker(Waker::noop()));
        self.driver.is_some() && !self.sender.is_closed()
    }
}

/// Moves a connection on, as far as it goes.
fn advance(driver: &mut Option<Driver>, context: &mut Context<'_>) {
    if let Some(connection) = driver
        && let Poll::Ready(ended) = connection.as_mut().poll(context)
    {
        *driver = None;
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection to a server ended badly");
        }
    }
}

//! What a client that asked for progress is told of a call that has not begun or of which nothing is heard, and how that and the server's own go together.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_peer::{BoxFuture, Call, CallError, Context, Remote, Reply, SendError};
use switchboard_protocol::mcp::method;
use switchboard_protocol::spoken::NAME;
use switchboard_wire::{Edit, Notification, Raw};
use tokio::time::Instant;

/// Stands in `_meta` of what the kernel itself says to a client, with the kernel's name. No server can write it: it is taken out of
/// what they send.
pub const SAID_BY: &str = "dev.switchboard/said_by";
/// How often a client that asked for progress is told that its call still waits.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// Progress of a call that has not begun grows by one in so many: what a server counts, shares or whole steps, goes beyond it at once.
const STEPS_IN_ONE: f64 = 10_000.0;

/// That a call has not begun, or that nothing is heard of it. Progress has to grow: [`RisingProgress`] sees to it.
#[must_use]
pub fn still_waits(token: &Raw, message: &str) -> Notification {
    let params = Edit::empty()
        .set("progressToken", token.clone())
        .set("progress", Raw::number(0))
        .set("message", Raw::string(message))
        .set("_meta", Edit::empty().set(SAID_BY, Raw::string(NAME)).finish());
    Notification::new(method::PROGRESS, Some(params.finish()))
}

/// Tells a client how far one call is. From the first notice of ours on each value lies above the one before, as MCP wants it:
/// what a call waits for comes one after the other, and then the server begins at nought.
pub struct RisingProgress {
    remote: Arc<dyn Remote>,
    token: Raw,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// The largest value.
    last: Option<f64>,
    /// Whether any was ours.
    ours: bool,
    /// When it was last told any.
    at: Option<Instant>,
}

impl RisingProgress {
    /// Puts itself between the kernel and a client that asked for progress of this request.
    pub fn enter(context: &mut Context, params: Option<&Raw>) {
        const TOKEN: &[u8] = b"progressToken";
        let Some(params) = params.filter(|params| memchr::memmem::find(params.as_bytes(), TOKEN).is_some()) else {
            return;
        };
        if let Some(token) = params.at(&["_meta", "progressToken"]) {
            context.remote = Arc::new(Self { remote: context.remote.clone(), token, told: Mutex::default() });
        }
    }

    fn raised(&self, told: &mut Told, notification: Notification) -> Notification {
        if &*notification.method != method::PROGRESS {
            return notification;
        }
        let Some(params) = &notification.params else { return notification };
        let value =
            params.member("progress").and_then(|value| value.view::<f64>().ok()).filter(|value| value.is_finite());
        let (Some(value), Some(token)) = (value, params.member("progressToken")) else { return notification };
        if token.as_str() != self.token.as_str() {
            return notification;
        }
        told.ours |= params.at(&["_meta", SAID_BY]).and_then(|who| who.as_text()).as_deref() == Some(NAME);
        let last = told.last.filter(|last| told.ours && value <= *last);
        told.at = Some(Instant::now());
        let next = last.map_or(value, |last| ((last * STEPS_IN_ONE).round() + 1.0) / STEPS_IN_ONE);
        told.last = Some(told.last.map_or(next, |last| last.max(next)));
        let raised =
            last.and_then(|_| Edit::of(params).ok()?.set("progress", Raw::from_value(&next).ok()?).finish().into());
        match raised {
            Some(params) => Notification { params: Some(params), ..notification },
            None => notification,
        }
    }
}

impl Remote for RisingProgress {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        self.remote.request(call)
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        // The order in which values are raised is that in which they are told.
        let mut told = self.told.lock();
        let notification = self.raised(&mut told, notification);
        self.remote.notify(notification)
    }

    fn can_request(&self) -> bool {
        self.remote.can_request()
    }

    fn backlog(&self) -> usize {
        self.remote.backlog()
    }

    fn abandoned(&self) -> Option<Vec<u64>> {
        self.remote.abandoned()
    }

    fn last_progress(&self) -> Option<Instant> {
        self.told.lock().at
    }

    fn close_stream(&self) {
        self.remote.close_stream();
    }
}

impl std::fmt::Debug for RisingProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RisingProgress").field("told", &self.told).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    /// Takes what it is told.
    #[derive(Default)]
    struct Taking(Mutex<Vec<Notification>>);

    impl Remote for Taking {
        fn request(&self, _: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
            Box::pin(async { Err(CallError::Cancelled) })
        }

        fn notify(&self, notification: Notification) -> Result<(), SendError> {
            self.0.lock().push(notification);
            Ok(())
        }
    }

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned().into_bytes(), &Limits::default()).unwrap()
    }

    /// What the client reads of these values; `None` is a notice of ours.
    fn told(values: &[Option<&str>]) -> Vec<String> {
        let (taking, token) = (Arc::new(Taking::default()), raw(r#""t""#));
        let rising = RisingProgress { remote: taking.clone(), token: token.clone(), told: Mutex::default() };
        for value in values {
            let params = value.map(|value| raw(&format!(r#"{{"progressToken":"t","progress":{value},"total":9}}"#)));
            let notification = match params {
                Some(params) => Notification::new(method::PROGRESS, Some(params)),
                None => still_waits(&token, "waiting"),
            };
            rising.notify(notification).unwrap();
        }
        let value =
            |notification: &Notification| notification.params.as_ref()?.member("progress")?.as_str().to_owned().into();
        taking.0.lock().iter().filter_map(value).collect()
    }

    #[test]
    fn progress_begins_at_nought_and_grows_whatever_a_call_waits_for() {
        assert_eq!(told(&[None, None, None]), ["0", "0.0001", "0.0002"]);
        assert_eq!(told(&[None, None, Some("0"), Some("1"), Some("2.50")]), ["0", "0.0001", "0.0002", "1", "2.50"]);
        assert_eq!(
            told(&[None, Some("0"), Some("0.00005"), Some("0.5"), None]),
            ["0", "0.0001", "0.0002", "0.5", "0.5001"]
        );
        let values: Vec<f64> = told(&[None; 1_000]).iter().map(|value| value.parse().unwrap()).collect();
        assert!(values.is_sorted_by(|one, next| one < next), "{values:?}");
        // What a server says of a call that never waited is its own.
        assert_eq!(told(&[Some("3"), Some("3"), Some("-1"), Some("1e3")]), ["3", "3", "-1", "1e3"]);
        let other = raw(r#"{"progressToken":"u","progress":0}"#);
        let taking = Arc::new(Taking::default());
        let rising = RisingProgress { remote: taking.clone(), token: raw("7"), told: Mutex::default() };
        rising.notify(Notification::new(method::PROGRESS, Some(other.clone()))).unwrap();
        assert_eq!(taking.0.lock()[0].params.as_ref().unwrap().as_str(), other.as_str());
    }
}

//! What the client of a command answers when a server asks or tells it something in the middle of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use switchboard_kernel::SAID_BY;
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::mcp::method;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};

use super::questions;
use crate::local::{object, raw};
use crate::screen;

/// Answers for one call.
#[derive(Debug)]
pub(crate) struct Answers {
    /// Whether a person sits there.
    ask: bool,
    /// Whether progress and log messages are shown.
    tell: bool,
    /// Whether a person is being asked something at the moment.
    asking: Arc<AtomicBool>,
}

impl Answers {
    /// For a call: a person is asked where there is one.
    pub(crate) fn new(tell: bool) -> Self {
        Self { ask: screen::can_ask(), tell, asking: Arc::default() }
    }

    /// Answers nothing and shows nothing.
    pub(crate) fn none() -> Self {
        Self { ask: false, tell: false, asking: Arc::default() }
    }

    /// Whether a person is being asked something, from moment to moment.
    pub(crate) fn asking(&self) -> Arc<AtomicBool> {
        self.asking.clone()
    }

    /// What can be asked.
    pub(crate) fn capabilities(&self) -> Raw {
        let nothing = Raw::empty_object;
        if self.ask {
            object(&[("elicitation", object(&[("form", nothing()), ("url", nothing())]))])
        } else {
            nothing()
        }
    }
}

impl Handler for Answers {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            match &*request.method {
                method::PING => Ok(Raw::empty_object()).into(),
                method::ELICIT if self.ask => {
                    let params: Value =
                        request.params.as_ref().and_then(|params| params.view().ok()).unwrap_or_default();
                    let asking = tokio::task::spawn_blocking(move || {
                        screen::forget_typed();
                        questions::ask(&params, &mut std::io::stdin().lock(), &mut std::io::stderr().lock())
                    });
                    self.asking.store(true, Ordering::Relaxed);
                    let answer = asking.await.unwrap_or_else(|_| serde_json::json!({"action": "cancel"}));
                    self.asking.store(false, Ordering::Relaxed);
                    Ok(raw(&answer)).into()
                }
                other => {
                    Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("`{other}` cannot be answered here"))).into()
                }
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        let params: Value = notification.params.as_ref().and_then(|params| params.view().ok()).unwrap_or_default();
        // What the kernel says of a call that waits for a person is told to everybody who waits for the call.
        if &*notification.method == method::LOG_MESSAGE && params["_meta"][SAID_BY] == "switchboard" {
            screen::note(screen::plain_line(params["data"].as_str().unwrap_or_default()));
        } else if self.tell
            && let Some(line) = line(&notification.method, &params)
        {
            screen::note(screen::plain_line(&line));
        }
        Box::pin(std::future::ready(()))
    }
}

/// A notification for a person.
fn line(asked: &str, params: &Value) -> Option<String> {
    let text = |key: &str| params.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    match asked {
        method::PROGRESS => {
            let total = text("total").map_or_else(String::new, |total| format!("/{total}"));
            Some(format!("progress {}{total} {}", text("progress")?, text("message").unwrap_or_default()))
        }
        method::LOG_MESSAGE => Some(format!("{}: {}", text("level").unwrap_or_default(), text("data")?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines() {
        for (asked, params, expected) in [
            (method::PROGRESS, json!({"progress": 1, "total": 4, "message": "half"}), Some("progress 1/4 half")),
            (method::PROGRESS, json!({"progress": 0.5}), Some("progress 0.5 ")),
            (method::PROGRESS, json!({}), None),
            (method::LOG_MESSAGE, json!({"level": "info", "data": {"a": 1}}), Some("info: {\"a\":1}")),
            ("notifications/other", json!({}), None),
        ] {
            assert_eq!(line(asked, &params).as_deref(), expected);
        }
    }
}

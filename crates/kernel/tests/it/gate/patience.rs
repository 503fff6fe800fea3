//! How long a call waits for a server that says nothing: less than a client that hears nothing, and longer for one that hears of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, ServerPolicy};
use switchboard_peer::{BoxFuture, Context, Handler, Identity, Method, Reply};
use switchboard_protocol::Era;
use switchboard_wire::{ErrorObject, Notification, Request};
use tokio::time::Instant;

use super::world::{Client, ERAS, Script, open_house, raw, spec, tool_with, writing};

const SILENCE: Duration = Duration::from_secs(55);
const PATIENCE: Duration = Duration::from_mins(10);

async fn ann(kernel: &Kernel, era: Era) -> Client {
    Client::called(kernel, Identity::new("ann", Method::Token).into(), era, json!({}), None).await
}

fn kernel(patience: Option<Duration>) -> Kernel {
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    let policy = ServerPolicy { patience, ..ServerPolicy::default() };
    let mut silent = spec("s", Script::new(Era::Legacy, vec![writing("hang")]), policy);
    silent.call_timeout = SILENCE;
    kernel.apply(vec![silent]);
    kernel
}

/// How long a call lasts, and what was told of it.
async fn lasts(ann: &Client, meta: Value) -> (u64, Vec<Value>) {
    let began = Instant::now();
    let params = json!({"name": "hang", "arguments": {}, "_meta": meta});
    let error = ann.request("tools/call", params).await.unwrap_err();
    assert!(error.message.contains("server `s` gave no answer within"), "{error:?}");
    let told = ann.ear.told.lock();
    let told = told.iter().filter(|(name, _)| name == "notifications/progress").map(|(_, params)| params.clone());
    (began.elapsed().as_secs(), told.collect())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hears_of_its_call_waits_longer_for_it() {
    for era in ERAS {
        let kernel = kernel(Some(PATIENCE));
        let ann = ann(&kernel, era).await;
        assert_eq!(lasts(&ann, json!({})).await, (55, Vec::new()), "{era:?}: before the client gives up by itself");
        let (seconds, told) = lasts(&ann, json!({"progressToken": "t"})).await;
        assert_eq!(seconds, 600, "{era:?}");
        assert!(told.len() > 100, "{era:?}: {}", told.len());
        assert!(told.iter().all(|one| one["progressToken"] == "t"));
        assert!(told[2]["message"].as_str().unwrap().contains("server `s` works on it (15 s)"), "{}", told[2]);
        let steps: Vec<f64> = told.iter().map(|one| one["progress"].as_f64().unwrap()).collect();
        assert!(steps.is_sorted_by(|one, next| one < next), "{steps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_operator_said_holds_for_every_call() {
    let kernel = kernel(None);
    let ann = ann(&kernel, Era::Legacy).await;
    let (seconds, told) = lasts(&ann, json!({"progressToken": "t"})).await;
    assert_eq!(seconds, 55);
    assert_eq!(told.len(), 10, "every five seconds, as long as it waits");
}

/// A server that counts to three, and fails the first time.
struct Counting {
    script: Arc<Script>,
    calls: AtomicUsize,
}

impl Handler for Counting {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let token = request.params.as_ref().and_then(|params| params.at(&["_meta", "progressToken"]));
            let Some(token) = token else { return self.script.request(context, request).await };
            for step in 1..=3 {
                let progress = json!({"progressToken": token.view::<Value>().unwrap(), "progress": step, "total": 4});
                context.remote.notify(Notification::new("notifications/progress", Some(raw(&progress)))).unwrap();
            }
            if self.calls.fetch_add(1, Ordering::Relaxed) == 0 {
                let mut error = ErrorObject::new(5001, "upstream is slow");
                error.data = Some(raw(&json!({"_mgp": {"retryable": true, "retry_strategy": "immediate"}})));
                return Err(error).into();
            }
            self.script.request(context, request).await
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        self.script.notification(context, notification)
    }
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_call_that_is_made_again_goes_on_above_what_was_told() {
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    let reading = tool_with("read", &json!({"annotations": {"readOnlyHint": true}}));
    let counting = Counting { script: Script::new(Era::Legacy, vec![reading]), calls: AtomicUsize::new(0) };
    kernel.apply(vec![spec("s", Arc::new(counting), ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    let ann = ann(&kernel, Era::Legacy).await;
    let params = json!({"name": "read", "arguments": {}, "_meta": {"progressToken": "t"}});
    ann.request("tools/call", params).await.unwrap();
    let told = ann.ear.told.lock();
    let told = told.iter().filter(|(name, _)| name == "notifications/progress");
    let steps: Vec<f64> = told.map(|(_, params)| params["progress"].as_f64().unwrap()).collect();
    assert!(steps.len() >= 7 && steps.is_sorted_by(|one, next| one < next), "{steps:?}");
}

//! A server that speaks MGP's streams, events and callbacks, as its tools are named.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, ServerPolicy, ServerSpec, Sharing};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Reply, SendError, Session};
use switchboard_protocol::Era;
use switchboard_store::Store;
use switchboard_wire::{ErrorObject, Id, Notification, Raw, Request};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::gate::world::{Client, open, open_house, raw, spec, tool_with};

/// A server with a tool for each way of streaming.
pub(crate) struct Streamer {
    era: Era,
    mgp: bool,
    /// What it says that it speaks of MGP.
    pub(crate) extensions: Mutex<Vec<&'static str>>,
    /// What it says that it speaks of the proposals.
    pub(crate) proposals: Mutex<Vec<&'static str>>,
    pub(crate) heard: Mutex<Vec<(String, Value)>>,
    pub(crate) sessions: Mutex<Vec<Arc<Session>>>,
    /// The next step of a call of `steps`.
    pub(crate) step: Semaphore,
    /// Lets `afterwards` say what it says after its answer.
    pub(crate) late: Semaphore,
    /// A call of `steps` has done its step.
    pub(crate) stepped: Semaphore,
    pub(crate) running: AtomicUsize,
    pub(crate) began: std::time::Instant,
    /// Answers to its questions.
    pub(crate) answers: tokio::sync::watch::Sender<Vec<(Arc<str>, Value)>>,
    me: Weak<Self>,
}

impl Streamer {
    pub(crate) fn new(era: Era, mgp: bool) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            era,
            mgp,
            extensions: Mutex::new(vec!["streaming", "progress", "bidirectional"]),
            proposals: Mutex::default(),
            heard: Mutex::default(),
            sessions: Mutex::default(),
            step: Semaphore::new(0),
            late: Semaphore::new(0),
            stepped: Semaphore::new(0),
            running: AtomicUsize::new(0),
            began: std::time::Instant::now(),
            answers: tokio::sync::watch::Sender::new(Vec::new()),
        })
    }

    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().iter().filter(|(heard, _)| heard == method).map(|(_, params)| params.clone()).collect()
    }

    fn answer(&self, mut value: Value) -> Reply {
        if self.era == Era::Modern && value.get("resultType").is_none() {
            value["resultType"] = "complete".into();
        }
        Ok(raw(&value)).into()
    }

    fn greeting(&self) -> Value {
        let mut capabilities = json!({"tools": {}});
        if self.mgp {
            let mgp = json!({"version": "0.3.0", "extensions": *self.extensions.lock()});
            match self.era {
                Era::Legacy => capabilities["mgp"] = mgp,
                Era::Modern => capabilities["extensions"] = json!({"dev.cloto/mgp": mgp}),
            }
        }
        if !self.proposals.lock().is_empty() {
            capabilities["extensions"] = json!(*self.proposals.lock());
        }
        match self.era {
            Era::Legacy => json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "streamer", "version": "1"}}),
            Era::Modern => json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities}),
        }
    }

    fn tools() -> Value {
        let read = json!({"annotations": {"readOnlyHint": true}, "security": {"risk_level": "safe"}});
        let names = [
            "think",
            "gappy",
            "measures",
            "steps",
            "bare",
            "foreign",
            "numbers",
            "burst",
            "stamps",
            "halfway",
            "sly",
            "visits",
            "both",
            "afterwards",
        ];
        let mut tools: Vec<Value> = names.iter().map(|name| tool_with(name, &read)).collect();
        tools.push(tool_with("changes", &json!({"security": {"risk_level": "moderate"}})));
        tools.push(tool_with("asks", &read));
        tools.push(tool_with("shows", &json!({"_meta": {"ui": {"resourceUri": "ui://s/page.html"}}})));
        tools.push(tool_with("polls", &json!({"_meta": {"ui": {"visibility": ["app"]}}})));
        json!({"tools": tools})
    }

    async fn call(&self, context: &Context, request: &Request, params: &Value) -> Reply {
        let id = request.id.to_raw();
        let tell = |method: &str, said: Value| {
            let _ = context.remote.notify(Notification::new(method, Some(raw(&said))));
        };
        let id: Value = id.view().expect("JSON");
        let chunk = |index: u64, text: &str| {
            tell(
                "notifications/mgp.stream.chunk",
                json!({"request_id": id, "index": index, "content": {"type": "text", "text": text}, "done": false, "x": 1}),
            );
        };
        let whole = json!({"content": [{"type": "text", "text": "Quantum computing is a paradigm"}]});
        match params["name"].as_str().unwrap_or_default() {
            "polls" => self.answer(whole),
            "think" | "shows" => {
                chunk(0, "Quantum computing is");
                chunk(1, " a paradigm");
                self.answer(whole)
            }
            "sly" => {
                chunk(0, "plain");
                chunk(1, "turned \u{202e}round");
                self.answer(json!({"content": []}))
            }
            "bare" => {
                chunk(0, "a");
                chunk(1, "b");
                self.answer(json!({"content": []}))
            }
            "gappy" => {
                chunk(0, "a");
                chunk(2, "c");
                self.step.acquire().await.expect("open").forget();
                chunk(1, "b");
                self.answer(whole)
            }
            "foreign" => {
                tell(
                    "notifications/mgp.stream.chunk",
                    json!({"request_id": 4711, "index": 0, "content": {"type": "text", "text": "not yours"}}),
                );
                self.answer(whole)
            }
            "measures" => {
                for progress in [0.25, 0.25, 0.65] {
                    tell(
                        "notifications/mgp.stream.progress",
                        json!({"request_id": id, "progress": progress, "message": "batch", "estimated_remaining_ms": 4500}),
                    );
                }
                self.answer(whole)
            }
            "numbers" => {
                if let Some(token) = params["_meta"].get("progressToken") {
                    for step in 1..=2 {
                        tell("notifications/progress", json!({"progressToken": token, "progress": step, "total": 4}));
                    }
                }
                self.answer(whole)
            }
            "halfway" => {
                chunk(0, "a");
                let question = json!({"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}});
                let _ = context.remote.request(Call::new("elicitation/create", Some(raw(&question)))).await;
                chunk(1, "b");
                self.answer(whole)
            }
            "visits" => {
                chunk(0, "a");
                let visit =
                    json!({"mode": "url", "elicitationId": "v", "url": "https://a.example/", "message": "Sign in"});
                if self.era == Era::Modern {
                    let asked = json!({"v": {"method": "elicitation/create", "params": visit}});
                    return self
                        .answer(json!({"resultType": "input_required", "inputRequests": asked, "requestState": "s"}));
                }
                Err(ErrorObject::new(-32042, "sign in first").with_data(raw(&json!({"elicitations": [visit]})))).into()
            }
            "both" => {
                let ask = |word: &str| {
                    let schema = json!({"type": "object", "properties": {"said": {"type": "string"}}});
                    let question = json!({"message": format!("Which {word}?"), "requestedSchema": schema});
                    context.remote.request(Call::new("elicitation/create", Some(raw(&question))))
                };
                let (first, second) = tokio::join!(ask("one"), ask("two"));
                let [first, second] = [first, second].map(|reply| {
                    let reply: Raw = reply.expect("an answer").outcome.expect("a result");
                    reply.view::<Value>().expect("JSON")
                });
                self.answer(json!({"content": [], "first": first, "second": second}))
            }
            "afterwards" => {
                let (remote, server) = (context.remote.clone(), self.me.upgrade().expect("alive"));
                let token = params["_meta"]["progressToken"].clone();
                tokio::spawn(async move {
                    server.late.acquire().await.expect("open").forget();
                    let said = json!({"progressToken": token, "progress": 9, "message": "too late"});
                    let _ = remote.notify(Notification::new("notifications/progress", Some(raw(&said))));
                    let piece = json!({"request_id": id, "index": 0, "content": {"type": "text", "text": "too late"}, "done": false});
                    let _ = remote.notify(Notification::new("notifications/mgp.stream.chunk", Some(raw(&piece))));
                    server.stepped.add_permits(1);
                });
                self.answer(whole)
            }
            "asks" => {
                // The same id may have been used before: only what comes from now on, on this connection, is an answer.
                let before = self.answers.borrow().len();
                let asked = about(&id, &params["arguments"]["question"]);
                let waits = asked["type"] != "notification";
                for _ in 0..params["arguments"]["times"].as_u64().unwrap_or(1) {
                    tell("notifications/mgp.callback.request", asked.clone());
                }
                let mut answers = self.answers.subscribe();
                // Requests of a modern kernel have no session in common.
                let session = context.session.lasting.then(|| context.session.id.clone());
                let ours = |answers: &Vec<(Arc<str>, Value)>, skip: usize| {
                    let mut later =
                        answers.iter().skip(before).filter(|(from, _)| session.as_ref().is_none_or(|own| own == from));
                    let named = |(_, answer): &&(Arc<str>, Value)| answer["callback_id"] == asked["callback_id"];
                    later.by_ref().filter(named).nth(skip).map(|(_, answer)| answer.clone())
                };
                if let Some(instead) = params["arguments"].get("instead") {
                    tell("notifications/mgp.callback.request", about(&id, instead));
                }
                if !waits || params["arguments"]["leaves"] == true {
                    return self.answer(whole);
                }
                let _ = answers.wait_for(|answers| ours(answers, 0).is_some()).await.expect("answers");
                if params["arguments"]["again"] == true {
                    tell("notifications/mgp.callback.request", asked.clone());
                    let _ = answers.wait_for(|answers| ours(answers, 1).is_some()).await.expect("answers");
                }
                let first = ours(&self.answers.borrow(), 0);
                let Some(then) = params["arguments"].get("then") else {
                    return self.answer(json!({"content": [], "answered": first}));
                };
                tell("notifications/mgp.callback.request", about(&id, then));
                let _ = answers.wait_for(|answers| ours(answers, 1).is_some()).await.expect("answers");
                self.answer(json!({"content": [], "answered": first, "then": ours(&self.answers.borrow(), 1)}))
            }
            "burst" => {
                let (count, size) = (number(params, "count"), number(params, "size"));
                for index in 0..count {
                    // As a server on a pipe does: it writes when there is room.
                    while context.remote.notify(Notification::new(
                        "notifications/mgp.stream.chunk",
                        Some(raw(&json!({"request_id": id, "index": index, "done": false,
                            "content": {"type": "text", "text": "x".repeat(size as usize)}}))),
                    )) == Err(SendError::Full)
                    {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
                self.running.fetch_add(1, Ordering::SeqCst);
                if params["arguments"]["hold"] == true {
                    self.step.acquire().await.expect("open").forget();
                }
                self.running.fetch_sub(1, Ordering::SeqCst);
                self.answer(whole)
            }
            "stamps" => {
                for index in 0..number(params, "count") {
                    let now = self.began.elapsed().as_nanos() as u64;
                    chunk(index, &now.to_string());
                    tokio::task::yield_now().await;
                }
                self.answer(whole)
            }
            "steps" | "changes" => {
                self.running.fetch_add(1, Ordering::SeqCst);
                let begin = params["_meta"]["checkpoint_token"].as_str().and_then(|token| token.strip_prefix("after-"));
                let begin = begin.and_then(|number| number.parse::<u64>().ok()).map_or(0, |number| number + 1);
                let own = params["arguments"]["own_checkpoints"] == true;
                for index in begin..4 {
                    tokio::select! {
                        permit = self.step.acquire() => permit.expect("open").forget(),
                        () = context.cancel.cancelled() => {
                            self.running.fetch_sub(1, Ordering::SeqCst);
                            return Err(ErrorObject::new(-32800, "cancelled")).into();
                        }
                    }
                    if own {
                        tell(
                            "notifications/stream_chunk",
                            json!({"type": "stream_chunk", "operation_id": "theirs", "sequence": index,
                                "data": format!("<{index}>"), "checkpoint_token": format!("after-{index}")}),
                        );
                    } else {
                        chunk(index, &format!("<{index}>"));
                    }
                    self.stepped.add_permits(1);
                }
                self.running.fetch_sub(1, Ordering::SeqCst);
                self.answer(json!({"content": [{"type": "text", "text": "<0><1><2><3>"}]}))
            }
            _ => self.answer(json!({"content": [{"type": "text", "text": "done"}]})),
        }
    }
}

impl Handler for Streamer {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let params: Value = request.params.as_ref().map_or(Value::Null, |raw| raw.view().expect("JSON"));
            match (&*request.method, self.era) {
                ("initialize", Era::Legacy) | ("server/discover", Era::Modern) => return self.answer(self.greeting()),
                ("initialize" | "server/discover", _) => {
                    return Err(ErrorObject::new(-32601, "Method not found")).into();
                }
                ("tools/list", _) => return self.answer(Self::tools()),
                _ => {}
            }
            self.heard.lock().push((request.method.to_string(), params.clone()));
            match &*request.method {
                "tools/call" => self.call(&context, &request, &params).await,
                "mgp/stream/cancel" => self.answer(json!({"cancelled": true,
                    "partial_result": {"content": [{"type": "text", "text": "what the server has"}]}})),
                "mgp/events/subscribe" => {
                    let channels = params["channels"].as_array().cloned().unwrap_or_default();
                    let (ours, others): (Vec<Value>, Vec<Value>) = channels
                        .into_iter()
                        .partition(|channel| channel.as_str().is_some_and(|name| name.starts_with("model.")));
                    self.answer(json!({"subscribed": ours, "unsupported": others, "subscription_id": "their-1"}))
                }
                "mgp/events/unsubscribe" => self.answer(json!({})),
                "mgp/callback/respond" => {
                    self.answers.send_modify(|answers| answers.push((context.session.id.clone(), params)));
                    self.answer(json!({}))
                }
                "events/subscribe" if !self.proposals.lock().is_empty() => {
                    let known = params["events"] == json!(["build.failed"]);
                    let status = if known { "active" } else { "denied" };
                    self.answer(json!({"subscription_id": "push-1", "status": status}))
                }
                "events/unsubscribe" if !self.proposals.lock().is_empty() => {
                    self.answer(json!({"status": "cancelled"}))
                }
                "subscriptions/listen" => {
                    context.cancel.cancelled().await;
                    self.answer(json!({}))
                }
                _ => Err(ErrorObject::new(-32601, "Method not found")).into(),
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        let params = notification.params.map_or(Value::Null, |raw| raw.view().expect("JSON"));
        self.heard.lock().push((notification.method.to_string(), params));
        Box::pin(std::future::ready(()))
    }

    fn opened(&self, session: &Arc<Session>) {
        self.sessions.lock().push(session.clone());
    }
}

/// A question about this call.
fn about(id: &Value, question: &Value) -> Value {
    let mut question = question.clone();
    question["request_id"] = id.clone();
    question
}

fn number(params: &Value, key: &str) -> u64 {
    params["arguments"][key].as_u64().unwrap_or(1)
}

/// A kernel with a store in front of one streamer.
pub(crate) async fn kernel(server: &Arc<Streamer>, store: Option<Store>) -> Kernel {
    kernel_with(server, store, |_| {}).await
}

pub(crate) async fn kernel_with(
    server: &Arc<Streamer>,
    store: Option<Store>,
    change: impl FnOnce(&mut GateOptions),
) -> Kernel {
    kernel_sharing(server, store, Sharing::Shared, change).await
}

pub(crate) async fn kernel_sharing(
    server: &Arc<Streamer>,
    store: Option<Store>,
    sharing: Sharing,
    change: impl FnOnce(&mut GateOptions),
) -> Kernel {
    let mut gate = GateOptions { store, ..GateOptions::default() };
    open_house(&mut gate);
    change(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    kernel.apply(vec![ServerSpec { sharing, ..spec("s", server.clone(), ServerPolicy::default()) }]);
    kernel.settled(Duration::from_secs(5)).await;
    kernel
}

pub(crate) async fn store(directory: &tempfile::TempDir) -> Store {
    open(directory.path()).await
}

/// What a client says of itself.
pub(crate) fn says(era: Era, extensions: &[&str]) -> Value {
    let mgp = json!({"version": "0.3.0", "extensions": extensions});
    match era {
        Era::Legacy => json!({"mgp": mgp}),
        Era::Modern => json!({"extensions": {"dev.cloto/mgp": mgp}}),
    }
}

/// A call that runs beside the test.
pub(crate) struct Running {
    pub(crate) answer: tokio::task::JoinHandle<Result<Value, ErrorObject>>,
    pub(crate) cancel: CancellationToken,
}

impl Client {
    /// Sends a request under this id.
    pub(crate) async fn send_as(&self, id: u64, method: &str, params: Value) -> Result<Value, ErrorObject> {
        let mut message = self.message(method, &raw(&params));
        message.id = Id::number(id);
        let reply = self.kernel.request(self.context(), message).await;
        reply.outcome.map(|result| result.view().expect("JSON"))
    }

    /// Begins a call of a tool under this id.
    pub(crate) fn begin(&self, id: u64, params: &Value) -> Running {
        self.begin_as(id, "tools/call", params)
    }

    fn begin_as(&self, id: u64, method: &str, params: &Value) -> Running {
        let (kernel, mut context) = (self.kernel.clone(), self.context());
        let mut message = self.message(method, &raw(params));
        message.id = Id::number(id);
        let cancel = CancellationToken::new();
        context.cancel = cancel.clone();
        let gone = cancel.clone();
        let answer = tokio::spawn(async move {
            // As the faces do: who goes away does not wait for the handler.
            tokio::select! {
                biased;
                reply = kernel.request(context, message) => reply.outcome.map(|result: Raw| result.view().expect("JSON")),
                () = gone.cancelled() => Err(ErrorObject::new(-32800, "gone")),
            }
        });
        Running { answer, cancel }
    }

    /// Opens a stream for what the client did not ask for one by one.
    pub(crate) fn begin_listening(&self, params: &Value) -> Running {
        self.begin_as(40, "subscriptions/listen", params)
    }

    /// What the client was told under this name.
    pub(crate) fn told(&self, method: &str) -> Vec<Value> {
        let told = self.ear.told.lock();
        told.iter().filter(|(name, _)| name == method).map(|(_, params)| params.clone()).collect()
    }
}

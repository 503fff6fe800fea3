//! A scripted server, a kernel in front of it, and clients of either era.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_kernel::{Kernel, KernelOptions, Restart, ServerSpec, Sharing};
use switchboard_peer::client::{ConnectOptions, Connected, EraChoice, Target, connect};
use switchboard_peer::server::http::{HttpEndpoint, HttpOptions};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Remote, Reply, Session};
use switchboard_protocol::Era;
use switchboard_transport::http_server::Listener;
use switchboard_wire::{Edit, ErrorObject, Limits, Notification, Object, Raw, Request};
use tokio::sync::{Notify, mpsc};

pub(crate) fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).expect("valid JSON in a test")
}

/// A server of one era with a tool for everything that must pass through a kernel.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) modern: bool,
    /// Every request and notification that arrived, as `method params`.
    pub(crate) heard: Mutex<Vec<String>>,
    /// Sessions, to send unsolicited messages.
    pub(crate) sessions: Mutex<Vec<Arc<Session>>>,
    /// Open streams of a modern server.
    pub(crate) streams: Mutex<Vec<(Context, Raw)>>,
    pub(crate) more_tools: Mutex<Vec<String>>,
    pub(crate) cancelled: Notify,
    pub(crate) opened_stream: Notify,
    pub(crate) task_polls: Mutex<u32>,
    /// Lets one call of `wait` end.
    pub(crate) release: Notify,
    /// How many sessions have ended.
    pub(crate) ended: Mutex<usize>,
    /// While set, `tools/list` fails.
    pub(crate) broken_list: Mutex<bool>,
}

impl Script {
    pub(crate) fn new(era: Era) -> Arc<Self> {
        Arc::new(Self { modern: era == Era::Modern, ..Self::default() })
    }

    /// What was heard that begins with `method`.
    pub(crate) fn heard(&self, method: &str) -> Vec<String> {
        self.heard.lock().iter().filter(|line| line.starts_with(method)).cloned().collect()
    }

    fn tools(&self) -> Raw {
        let mut names: Vec<String> = ["echo", "ask", "slow", "chatty", "fails"].map(str::to_owned).into();
        names.extend(self.more_tools.lock().iter().cloned());
        let tool = |name: &String| {
            let extra = if name == "tasky" { r#","execution":{"taskSupport":"required"}"# } else { "" };
            raw(&format!(
                r#"{{"name":"{name}","security":{{"risk_level":"safe","x":1.10}},"inputSchema":{{"type":"object","x-odd":1e2}}{extra}}}"#
            ))
        };
        let tools: Vec<Raw> = names.iter().map(tool).collect();
        Edit::of(&raw(r#"{"_meta":{"list":"extra"},"listExtra":true}"#))
            .expect("object")
            .set("tools", Raw::array(&tools))
            .finish()
    }

    fn finish(&self, result: Raw) -> Reply {
        if !self.modern {
            return Ok(result).into();
        }
        let edit = Edit::of(&result).expect("object");
        let typed =
            if edit.object().has("resultType") { edit } else { edit.set("resultType", Raw::string("complete")) };
        if typed.object().has("ttlMs") {
            return Ok(typed.finish()).into();
        }
        Ok(typed.set("ttlMs", Raw::number(1000)).set("cacheScope", Raw::string("private")).finish()).into()
    }

    async fn call(&self, context: &Context, request: &Request) -> Reply {
        let params = request.params.clone().expect("params");
        let object = Object::open(&params).expect("object");
        match object.text("name").expect("name").as_str() {
            "echo" => self.finish(Edit::of(&raw(r#"{"content":[{"type":"text","text":"ok","blockExtra":2e0}],"state":{"deep":[1.0]},"_mgp":{"k":"v"}}"#)).expect("object").set("seen", params.clone()).finish()),
            "ask" => self.ask(&context.remote, &object).await,
            // The question names no call: it leaves by the session's own stream.
            "ask-aside" => self.ask(context.session.remote(), &object).await,
            "wait" => {
                self.release.notified().await;
                self.finish(raw(r#"{"content":[]}"#))
            }
            "chat-and-ask" => {
                let log = raw(r#"{"level":"error","data":"said"}"#);
                for _ in 0..2 {
                    let _ = context.remote.notify(Notification::new("notifications/message", Some(log.clone())));
                    if let Some(token) = params.at(&["_meta", "progressToken"]) {
                        let progress = Edit::empty().set("progressToken", token).set("progress", raw("1")).finish();
                        let _ = context.remote.notify(Notification::new("notifications/progress", Some(progress)));
                    }
                    let _ = self.ask(&context.remote, &object).await;
                }
                self.finish(raw(r#"{"content":[]}"#))
            }
            "links" => self.finish(raw(r#"{"content":[{"type":"resource_link","uri":"deep://made/7","name":"made"}]}"#)),
            "gated" => {
                let mut error = ErrorObject::new(-32042, "sign in first");
                error.data = Some(raw(r#"{"elicitations":[{"mode":"url","elicitationId":"e-1","url":"https://example.org/in","message":"Sign in","questionExtra":1.0}]}"#));
                Err(error).into()
            }
            "slow" => {
                context.cancel.cancelled().await;
                self.cancelled.notify_one();
                Err(ErrorObject::new(-32800, "cancelled")).into()
            }
            "chatty" => {
                for level in ["debug", "error"] {
                    let params = format!(r#"{{"level":"{level}","data":"said","logExtra":1.50}}"#);
                    let _ = context.remote.notify(Notification::new("notifications/message", Some(raw(&params))));
                }
                if let Some(token) = params.at(&["_meta", "progressToken"]) {
                    let progress = Edit::of(&raw(r#"{"progress":0.50,"progressExtra":{"a":1}}"#)).expect("object").set("progressToken", token).finish();
                    let _ = context.remote.notify(Notification::new("notifications/progress", Some(progress)));
                }
                self.finish(raw(r#"{"content":[]}"#))
            }
            "asks-much" => {
                let ask = |key: &str| {
                    let question = Edit::empty().set("message", Raw::string(key)).set("questionExtra", raw("1.0")).finish();
                    context.remote.request(Call::new("elicitation/create", Some(question)))
                };
                let (one, other) = tokio::join!(ask("one"), ask("other"));
                assert!(one.is_ok() && other.is_ok());
                self.finish(raw(r#"{"content":[]}"#))
            }
            "fails" => {
                let mut error = ErrorObject::new(-31999, "own code").with_data(raw(r#"{"why":1.0e1,"deep":{"x":[]}}"#));
                error.extra.push("errorExtra", raw("[1]"));
                Err(error).into()
            }
            "tasky" if self.modern => self.finish(raw(r#"{"resultType":"task","taskId":"t-1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":60000,"pollIntervalMs":20,"taskExtra":1}"#)),
            "tasky" if object.has("task") => Ok(raw(r#"{"task":{"taskId":"t-1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000,"pollInterval":20,"taskExtra":1}}"#)).into(),
            other => Err(ErrorObject::new(-32602, format!("Unknown tool: {other}"))).into(),
        }
    }

    /// Asks the person for a name: in the middle of the call, or by ending it.
    async fn ask(&self, remote: &Arc<dyn Remote>, object: &Object) -> Reply {
        let question = raw(
            r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"questionExtra":1.0}"#,
        );
        let answer = if self.modern {
            match object.get("inputResponses") {
                None => {
                    let asked = Edit::empty()
                        .set(
                            "who",
                            Edit::empty()
                                .set("method", Raw::string("elicitation/create"))
                                .set("params", question)
                                .finish(),
                        )
                        .finish();
                    return self.finish(
                        Edit::empty()
                            .set("resultType", Raw::string("input_required"))
                            .set("inputRequests", asked)
                            .set("requestState", raw(r#""st\u0061te""#))
                            .finish(),
                    );
                }
                Some(given) => {
                    assert_eq!(object.get("requestState").expect("state").as_str(), r#""st\u0061te""#, "byte for byte");
                    given.member("who").expect("the answer")
                }
            }
        } else {
            match remote.request(Call::new("elicitation/create", Some(question))).await.map(|reply| reply.outcome) {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => {
                    return self.finish(
                        Edit::empty().set("content", raw("[]")).set("refused", Raw::string(&error.message)).finish(),
                    );
                }
                Err(error) => return Err(ErrorObject::new(-32000, error.to_string())).into(),
            }
        };
        self.finish(Edit::empty().set("content", raw("[]")).set("answer", answer).finish())
    }

    fn task(&self, request: &Request) -> Reply {
        let mut polls = self.task_polls.lock();
        *polls += 1;
        let done = *polls > 2;
        let status = if done { "completed" } else { "working" };
        match (&*request.method, self.modern) {
            ("tasks/get", true) => {
                let result = if done { r#","result":{"content":[],"late":1.10}"# } else { "" };
                self.finish(raw(&format!(r#"{{"taskId":"t-1","status":"{status}","createdAt":"x","lastUpdatedAt":"y","ttlMs":60000,"pollIntervalMs":20{result}}}"#)))
            }
            ("tasks/get", false) => Ok(raw(&format!(r#"{{"taskId":"t-1","status":"{status}","createdAt":"x","lastUpdatedAt":"y","ttl":60000,"pollInterval":20}}"#))).into(),
            ("tasks/result", false) => Ok(raw(r#"{"content":[],"late":1.10}"#)).into(),
            ("tasks/cancel", true) => self.finish(raw("{}")),
            ("tasks/cancel", false) => Ok(raw(r#"{"taskId":"t-1","status":"cancelled","createdAt":"x","lastUpdatedAt":"y","ttl":null}"#)).into(),
            _ => Err(ErrorObject::new(-32601, "Method not found")).into(),
        }
    }

    const CAPABILITIES: &'static str = r#"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{},"x-caps":{"version":"0.3.0"},"experimental":{"odd":{"n":1.10}}}"#;
}

impl Handler for Script {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let params = request.params.as_ref().map(|raw| raw.as_str().to_owned()).unwrap_or_default();
            self.heard.lock().push(format!("{} {params}", request.method));
            match &*request.method {
                "initialize" if !self.modern => {
                    let with_tasks = Self::CAPABILITIES.replace(
                        r#""logging":{}"#,
                        r#""logging":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}"#,
                    );
                    Ok(raw(&format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{with_tasks},"serverInfo":{{"name":"script","version":"1"}},"instructions":"be kind","greetingExtra":[1.0]}}"#))).into()
                }
                "server/discover" if self.modern => {
                    let with_tasks = Self::CAPABILITIES.replace(
                        r#""logging":{}"#,
                        r#""logging":{},"extensions":{"io.modelcontextprotocol/tasks":{}}"#,
                    );
                    self.finish(raw(&format!(r#"{{"supportedVersions":["2026-07-28"],"capabilities":{with_tasks},"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"script","version":"1"}}}},"instructions":"be kind","greetingExtra":[1.0]}}"#)))
                }
                "tools/list" if *self.broken_list.lock() => Err(ErrorObject::new(-32603, "no list today")).into(),
                "tools/list" => self.finish(self.tools()),
                "tools/call" => self.call(&context, &request).await,
                "prompts/list" => self.finish(raw(r#"{"prompts":[{"name":"hello","promptExtra":1.0}]}"#)),
                "prompts/get" => self.finish(raw(r#"{"messages":[],"promptResultExtra":1.0}"#)),
                "resources/list" => {
                    self.finish(raw(r#"{"resources":[{"uri":"script://one","name":"one","resourceExtra":1.0}]}"#))
                }
                "resources/templates/list" => {
                    self.finish(raw(r#"{"resourceTemplates":[{"uriTemplate":"script://t/{id}","name":"t"}]}"#))
                }
                "resources/read" => {
                    let uri = request.params.as_ref().and_then(|params| params.member("uri")).expect("uri");
                    let contents = Edit::empty()
                        .set("uri", uri)
                        .set("text", Raw::string("body"))
                        .set("contentExtra", raw("1.0"))
                        .finish();
                    self.finish(Edit::empty().set("contents", Raw::array(&[contents])).finish())
                }
                "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" if !self.modern => {
                    Ok(raw("{}")).into()
                }
                "completion/complete" => self.finish(raw(r#"{"completion":{"values":["a"],"completionExtra":1.0}}"#)),
                "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => self.task(&request),
                "subscriptions/listen" if self.modern => {
                    let filter =
                        request.params.as_ref().and_then(|params| params.member("notifications")).expect("filter");
                    let meta =
                        Edit::empty().set("io.modelcontextprotocol/subscriptionId", request.id.to_raw()).finish();
                    let params = Edit::empty().set("_meta", meta).set("notifications", filter).finish();
                    let _ = context
                        .remote
                        .notify(Notification::new("notifications/subscriptions/acknowledged", Some(params)));
                    self.streams.lock().push((context.clone(), request.id.to_raw()));
                    self.opened_stream.notify_one();
                    context.cancel.cancelled().await;
                    Ok(raw(r#"{"resultType":"complete"}"#)).into()
                }
                "vendor/own" => self.finish(raw(r#"{"vendor":1.10}"#)),
                _ => Err(ErrorObject::new(-32601, "Method not found")).into(),
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        let params = notification.params.map(|raw| raw.as_str().to_owned()).unwrap_or_default();
        self.heard.lock().push(format!("{} {params}", notification.method));
        Box::pin(std::future::ready(()))
    }

    fn opened(&self, session: &Arc<Session>) {
        self.sessions.lock().push(session.clone());
    }

    fn closed(&self, _session: &Arc<Session>) {
        *self.ended.lock() += 1;
    }
}

/// Serves a handler on loopback; answers its URL.
pub(crate) async fn serve(handler: Arc<dyn Handler>) -> String {
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).await.expect("a free port");
    let url = format!("http://{}/mcp", listener.address());
    let face = Arc::new(HttpEndpoint::new(HttpOptions::default(), handler));
    tokio::spawn(face.serve(listener));
    url
}

pub(crate) fn spec(id: &str, url: &str, sharing: Sharing) -> ServerSpec {
    ServerSpec {
        id: id.into(),
        target: Target::Http { url: url.to_owned(), headers: Vec::new() },
        era: EraChoice::Auto,
        sharing,
        start_timeout: Duration::from_secs(5),
        call_timeout: Duration::from_secs(5),
        restart: Restart::Always,
        upkeep: switchboard_kernel::Upkeep::default(),
        fingerprint: url.to_owned(),
        isolation: None,
        policy: Arc::default(),
    }
}

/// A kernel in front of one scripted server, on loopback.
pub(crate) struct World {
    pub(crate) script: Arc<Script>,
    pub(crate) kernel: Kernel,
    pub(crate) url: String,
}

pub(crate) async fn world(server: Era) -> World {
    let script = Script::new(server);
    let upstream = serve(script.clone()).await;
    let kernel = Kernel::new(open_to_all());
    kernel.apply(vec![spec("script", &upstream, Sharing::PerSession)]);
    let url = serve(Arc::new(kernel.clone())).await;
    World { script, kernel, url }
}

/// What a client was told and asked.
pub(crate) struct Client {
    pub(crate) connected: Connected,
    pub(crate) told: mpsc::UnboundedReceiver<Notification>,
}

/// Answers every question with a fixed person, and passes on what it is told.
struct Person(mpsc::UnboundedSender<Notification>);

impl Handler for Person {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            match &*request.method {
                "elicitation/create" => {
                    let extra = request.params.as_ref().and_then(|params| params.member("questionExtra"));
                    assert_eq!(extra.expect("extra fields of the question").as_str(), "1.0");
                    Ok(raw(r#"{"action":"accept","content":{"name":"Ada"},"answerExtra":1.10}"#)).into()
                }
                _ => Err(ErrorObject::new(-32601, "Method not found")).into(),
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        let _ = self.0.send(notification);
        Box::pin(std::future::ready(()))
    }
}

pub(crate) const CLIENT_CAPABILITIES: &str =
    r#"{"elicitation":{"form":{}},"x-caps":{"version":"0.3.0"},"extensions":{"x.example/y":{"n":1.10}}}"#;

pub(crate) async fn client(url: &str, era: Era) -> Client {
    client_with(url, era, CLIENT_CAPABILITIES).await
}

pub(crate) async fn client_with(url: &str, era: Era, capabilities: &str) -> Client {
    let (sender, told) = mpsc::unbounded_channel();
    let info = raw(r#"{"name":"tester","version":"1","infoExtra":1.10}"#);
    let options = ConnectOptions {
        era: match era {
            Era::Legacy => EraChoice::Legacy,
            Era::Modern => EraChoice::Modern,
        },
        ..ConnectOptions::new(info, raw(capabilities))
    };
    let target = Target::Http { url: url.to_owned(), headers: Vec::new() };
    let connected = connect(target, options, Arc::new(Person(sender))).await.expect("the kernel answers");
    Client { connected, told }
}

impl Client {
    /// A call with the answers to its questions, whatever the era.
    pub(crate) async fn ask(&self, method: &str, params: &str) -> Result<Raw, ErrorObject> {
        let mut params = raw(params);
        for _ in 0..4 {
            let result = self.once(method, params.clone()).await?;
            let object = Object::open(&result).expect("object");
            if object.text("resultType").as_deref() != Some("input_required") {
                return Ok(result);
            }
            let mut given = Edit::empty();
            for (key, request) in Object::open(&object.get("inputRequests").expect("requests")).expect("object").iter()
            {
                let extra = request.at(&["params", "questionExtra"]).expect("extra fields of the question");
                assert_eq!(extra.as_str(), "1.0");
                given = given.set(&key, raw(r#"{"action":"accept","content":{"name":"Ada"},"answerExtra":1.10}"#));
            }
            let edit = Edit::of(&params).expect("object").set("inputResponses", given.finish());
            params = edit.set("requestState", object.get("requestState").expect("state")).finish();
        }
        panic!("asked for input without end");
    }

    /// One request as it is.
    pub(crate) async fn once(&self, method: &str, params: Raw) -> Result<Raw, ErrorObject> {
        let call = Call::new(method, Some(params)).within(Duration::from_secs(10));
        self.connected.remote.request(call).await.expect("an answer").outcome
    }

    pub(crate) async fn hear(&mut self, method: &str) -> Notification {
        let wait = async {
            loop {
                let notification = self.told.recv().await.expect("connected");
                if &*notification.method == method {
                    return notification;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(5), wait).await.unwrap_or_else(|_| panic!("no {method} in time"))
    }
}

pub(crate) const PAIRS: [(Era, Era); 4] =
    [(Era::Legacy, Era::Legacy), (Era::Legacy, Era::Modern), (Era::Modern, Era::Legacy), (Era::Modern, Era::Modern)];

/// Options of a kernel whose servers everybody may use.
pub(crate) fn open_to_all() -> KernelOptions {
    let gate = switchboard_kernel::GateOptions {
        default_policy: Some(switchboard_protocol::mgp::DefaultPolicy::OptOut),
        ..switchboard_kernel::GateOptions::default()
    };
    KernelOptions { gate, ..KernelOptions::default() }
}

//! Servers, a kernel with a store, and clients that are whoever a test says, without a transport between.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_kernel::{
    GateOptions, Kernel, KernelOptions, OperatorActions, Restart, ServerPolicy, ServerSpec, Sharing,
};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_peer::{
    BoxFuture, Call, CallError, Caller, Context, Handler, Identity, Method, Principal, Remote, Reply, SendError,
    Session,
};
use switchboard_protocol::{Era, Revision};
use switchboard_store::{AuditEvent, AuditFilter, Location, Options, Store};
use switchboard_wire::{Edit, ErrorObject, Id, Limits, Notification, Raw, Request};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("a value is JSON")
}

pub(crate) fn parsed(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).expect("valid JSON in a test")
}

/// A server that does as its tools are named, and keeps what it heard.
pub(crate) struct Script {
    era: Era,
    /// Its capabilities, `tools` and the like included.
    pub(crate) capabilities: Mutex<Value>,
    pub(crate) tools: Mutex<Vec<Value>>,
    pub(crate) prompts: Mutex<Vec<Value>>,
    pub(crate) resources: Mutex<Vec<Value>>,
    pub(crate) templates: Mutex<Vec<Value>>,
    pub(crate) instructions: Mutex<Option<String>>,
    /// The version that it tells of itself.
    pub(crate) version: Mutex<String>,
    /// Methods with their parameters, handshakes and lists left out.
    pub(crate) heard: Mutex<Vec<(String, Value)>>,
    pub(crate) sessions: Mutex<Vec<Arc<Session>>>,
    /// A call of `hang` has arrived.
    pub(crate) arrived: Notify,
    /// Lets a call of `wait` end.
    pub(crate) release: Notify,
    /// What single tools answer, whatever they are called.
    pub(crate) results: Mutex<std::collections::HashMap<String, Value>>,
    /// The errors of single tools: code and data.
    pub(crate) errors: Mutex<std::collections::HashMap<String, (i64, Value)>>,
    /// The parameters of what `asks` asks; none where this is null.
    pub(crate) question: Mutex<Value>,
    /// What stands in prompts and resources.
    pub(crate) body: Mutex<String>,
}

impl Script {
    pub(crate) fn new(era: Era, tools: Vec<Value>) -> Arc<Self> {
        Arc::new(Self {
            era,
            capabilities: Mutex::new(
                json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}}),
            ),
            tools: Mutex::new(tools),
            prompts: Mutex::new(vec![json!({"name": "hello"})]),
            resources: Mutex::new(vec![json!({"uri": "script://one", "name": "one"})]),
            templates: Mutex::default(),
            instructions: Mutex::default(),
            version: Mutex::new("1".to_owned()),
            heard: Mutex::default(),
            sessions: Mutex::default(),
            arrived: Notify::new(),
            release: Notify::new(),
            results: Mutex::default(),
            errors: Mutex::default(),
            question: Mutex::new(json!({
                "message": "Who?", "requestedSchema": {"type": "object", "properties": {}},
                "_meta": {"dev.switchboard/asked_by": "switchboard"},
            })),
            body: Mutex::new("body".to_owned()),
        })
    }

    /// What was heard of one method.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().iter().filter(|(heard, _)| heard == method).map(|(_, params)| params.clone()).collect()
    }

    /// How many calls of tools arrived.
    pub(crate) fn calls(&self) -> usize {
        self.heard("tools/call").len()
    }

    /// Says that its tools changed.
    pub(crate) fn tools_changed(&self) {
        let sessions = self.sessions.lock().clone();
        for session in sessions {
            let _ = session.remote().notify(Notification::new("notifications/tools/list_changed", None));
        }
    }

    fn answer(&self, value: Value) -> Reply {
        let mut value = value;
        if self.era == Era::Modern && value.get("resultType").is_none() {
            value["resultType"] = "complete".into();
        }
        Ok(raw(&value)).into()
    }

    async fn call(&self, context: &Context, params: &Value) -> Reply {
        let name = params["name"].as_str().unwrap_or_default();
        let result = self.results.lock().get(name).cloned();
        if let Some(result) = result {
            return self.answer(result);
        }
        let error = self.errors.lock().get(name).cloned();
        if let Some((code, data)) = error {
            let error = ErrorObject::new(code, "the server's own words");
            return Err(if data.is_null() { error } else { error.with_data(raw(&data)) }).into();
        }
        match name {
            "hang" => {
                self.arrived.notify_one();
                context.cancel.cancelled().await;
                Err(ErrorObject::new(-32800, "cancelled")).into()
            }
            "wait" => {
                self.arrived.notify_one();
                self.release.notified().await;
                self.answer(json!({"content": []}))
            }
            "leaves" => {
                // It asks, and does not wait for the answer.
                let remote = context.remote.clone();
                let question = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
                tokio::spawn(
                    async move { remote.request(Call::new("elicitation/create", Some(raw(&question)))).await },
                );
                self.release.notified().await;
                self.answer(json!({"content": []}))
            }
            "fail" => self.answer(json!({"content": [], "isError": true})),
            "error" => Err(ErrorObject::new(-31999, "own code")).into(),
            "asks" if self.era == Era::Modern && params.get("inputResponses").is_none() => {
                let mut question = json!({"method": "elicitation/create"});
                let asked = self.question.lock().clone();
                if !asked.is_null() {
                    question["params"] = asked;
                }
                self.answer(json!({
                    "resultType": "input_required", "requestState": "of-the-server", "inputRequests": {"who": question},
                }))
            }
            "asks" if self.era == Era::Legacy => {
                let asked = self.question.lock().clone();
                let asked = (!asked.is_null()).then(|| raw(&asked));
                let answer = context.remote.request(Call::new("elicitation/create", asked)).await;
                let answered = answer.is_ok_and(|reply| reply.outcome.is_ok());
                self.answer(json!({"content": [], "answered": answered}))
            }
            "samples" if self.era == Era::Modern && params.get("inputResponses").is_none() => self.answer(json!({
                "resultType": "input_required", "requestState": "of-the-server",
                "inputRequests": {"says": {"method": "sampling/createMessage",
                    "params": {"messages": [], "maxTokens": 5}}},
            })),
            "samples" if self.era == Era::Legacy => {
                let asked = json!({"messages": [], "maxTokens": 5});
                let answer = context.remote.request(Call::new("sampling/createMessage", Some(raw(&asked)))).await;
                let answered = answer.is_ok_and(|reply| reply.outcome.is_ok());
                self.answer(json!({"content": [], "answered": answered}))
            }
            "roots" if self.era == Era::Modern && params.get("inputResponses").is_none() => self.answer(json!({
                "resultType": "input_required", "requestState": "of-the-server",
                "inputRequests": {"where": {"method": "roots/list"}},
            })),
            "roots" if self.era == Era::Legacy => {
                let answer = context.remote.request(Call::new("roots/list", None)).await;
                let answered = answer.is_ok_and(|reply| reply.outcome.is_ok());
                self.answer(json!({"content": [], "answered": answered}))
            }
            "confirms" if params["_meta"].get("confirmation_token").is_none() => self.answer(json!({
                "content": [], "isError": true, "status": "confirmation_required",
                "confirmation_message": "Sure?", "risk_level": "destructive", "confirmation_token": "of-the-server",
            })),
            _ => self.answer(json!({"content": [{"type": "text", "text": "done"}], "ran": name})),
        }
    }
}

impl Handler for Script {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let params: Value = request.params.as_ref().map_or(Value::Null, |raw| raw.view().expect("JSON"));
            let capabilities = self.capabilities.lock().clone();
            let instructions = self.instructions.lock().clone();
            match &*request.method {
                "initialize" if self.era == Era::Legacy => {
                    self.heard.lock().push(("initialize".to_owned(), params));
                    let mut greeting = json!({
                        "protocolVersion": "2025-11-25", "capabilities": capabilities,
                        "serverInfo": {"name": "script", "version": *self.version.lock()},
                    });
                    if let Some(text) = instructions {
                        greeting["instructions"] = text.into();
                    }
                    return self.answer(greeting);
                }
                "server/discover" if self.era == Era::Modern => {
                    self.heard.lock().push(("server/discover".to_owned(), params));
                    let mut greeting = json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities});
                    if let Some(text) = instructions {
                        greeting["instructions"] = text.into();
                    }
                    return self.answer(greeting);
                }
                "initialize" | "server/discover" => return Err(ErrorObject::new(-32601, "Method not found")).into(),
                "tools/list" => return self.answer(json!({"tools": self.tools.lock().clone()})),
                "prompts/list" => return self.answer(json!({"prompts": self.prompts.lock().clone()})),
                "resources/list" => return self.answer(json!({"resources": self.resources.lock().clone()})),
                "resources/templates/list" => {
                    return self.answer(json!({"resourceTemplates": self.templates.lock().clone()}));
                }
                _ => {}
            }
            self.heard.lock().push((request.method.to_string(), params.clone()));
            match &*request.method {
                "tools/call" => self.call(&context, &params).await,
                "prompts/get" => {
                    let text = self.body.lock().clone();
                    self.answer(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
                }
                "resources/read" => {
                    let text = self.body.lock().clone();
                    self.answer(json!({"contents": [{"uri": params["uri"], "text": text}]}))
                }
                "completion/complete" => self.answer(json!({"completion": {"values": []}})),
                "subscriptions/listen" => {
                    context.cancel.cancelled().await;
                    self.answer(json!({}))
                }
                name if name.starts_with("mgp/permission/") || name.starts_with("vendor/") => self.answer(json!({})),
                "resources/subscribe" | "resources/unsubscribe" => self.answer(json!({})),
                // What a test has said of a method that this server does not know by itself.
                name if self.results.lock().contains_key(name) => {
                    let result = self.results.lock()[name].clone();
                    if result == "holds" {
                        context.cancel.cancelled().await;
                    }
                    self.answer(result)
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

/// A tool that nothing is said of.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// A tool with more members.
pub(crate) fn tool_with(name: &str, more: &Value) -> Value {
    let mut tool = tool(name);
    for (key, value) in more.as_object().expect("an object") {
        tool[key] = value.clone();
    }
    tool
}

/// A tool that says that it changes something.
pub(crate) fn writing(name: &str) -> Value {
    tool_with(name, &json!({"annotations": {"readOnlyHint": false}}))
}

/// A tool that a person has to agree to.
pub(crate) fn dangerous(name: &str) -> Value {
    tool_with(name, &json!({"security": {"risk_level": "dangerous"}}))
}

pub(crate) fn spec(id: &str, server: Arc<dyn Handler>, policy: ServerPolicy) -> ServerSpec {
    ServerSpec {
        id: id.into(),
        target: Target::InProcess(server),
        era: EraChoice::Auto,
        sharing: Sharing::Shared,
        start_timeout: Duration::from_secs(5),
        call_timeout: Duration::from_secs(5),
        restart: Restart::Always,
        upkeep: switchboard_kernel::Upkeep::default(),
        fingerprint: "1".to_owned(),
        isolation: None,
        policy: Arc::new(policy),
    }
}

pub(crate) async fn open(directory: &Path) -> Store {
    open_with(directory, Options::default()).await
}

/// The store as a command opens it beside a kernel that writes all the time.
pub(crate) async fn open_for_command(directory: &Path) -> Store {
    open_with(directory, Options { busy: Duration::from_secs(20), ..Options::default() }).await
}

async fn open_with(directory: &Path, options: Options) -> Store {
    let location = Location::File(directory.join("store.db"));
    Store::open(&location, options).await.expect("a store")
}

/// A kernel on this store, open to all, in front of one server.
pub(crate) async fn kernel_on(store: &Store, script: &Arc<Script>) -> Kernel {
    let mut gate = GateOptions { store: Some(store.clone()), ..GateOptions::default() };
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    kernel.apply(vec![spec("s", script.clone(), ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    kernel
}

/// Ann, who says nothing of herself.
pub(crate) async fn ann_of(kernel: &Kernel, era: Era) -> Client {
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, json!({})).await
}

/// A kernel with a store.
pub(crate) struct House {
    pub(crate) kernel: Kernel,
    pub(crate) store: Store,
    pub(crate) directory: TempDir,
}

impl House {
    pub(crate) async fn new(servers: &[(&str, Arc<Script>)]) -> Self {
        Self::with(servers, ServerPolicy::default, |_| {}).await
    }

    pub(crate) async fn with(
        servers: &[(&str, Arc<Script>)],
        policy: impl Fn() -> ServerPolicy,
        change: impl FnOnce(&mut GateOptions),
    ) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = open(directory.path()).await;
        let mut gate = GateOptions { store: Some(store.clone()), ..GateOptions::default() };
        change(&mut gate);
        let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
        let specs = servers.iter().map(|(id, script)| spec(id, script.clone(), policy()));
        kernel.apply(specs.collect());
        kernel.settled(Duration::from_secs(5)).await;
        Self { kernel, store, directory }
    }

    pub(crate) fn operator_actions(&self) -> OperatorActions {
        OperatorActions::of_operator(self.store.clone(), "olga")
    }

    /// Grants or denies, and waits until it counts.
    pub(crate) async fn grant(&self, principal: &str, server: &str, tool: Option<&str>, allow: bool) {
        self.operator_actions().grant_access(entry(principal, server, tool, allow)).await.expect("a grant");
        tokio::time::sleep(Duration::from_millis(220)).await;
    }

    /// A client that says nothing of itself.
    pub(crate) async fn client(&self, era: Era, principal: &str) -> Client {
        self.client_with(era, principal, json!({})).await
    }

    pub(crate) async fn client_with(&self, era: Era, principal: &str, capabilities: Value) -> Client {
        let identity = Identity::new(principal, Method::Token);
        Client::new(&self.kernel, identity.into(), era, capabilities).await
    }

    /// One who may decide for others.
    pub(crate) async fn admin(&self, era: Era, capabilities: Value) -> Client {
        let identity = Identity { admin: true, ..Identity::new("root", Method::Token) };
        Client::new(&self.kernel, identity.into(), era, capabilities).await
    }

    /// Everything on the audit log, after what waits was written.
    pub(crate) async fn events(&self) -> Vec<AuditEvent> {
        events(&self.store).await
    }

    /// Events of one type, waited for.
    pub(crate) async fn await_events(&self, event_type: &str, count: usize) -> Vec<AuditEvent> {
        for _ in 0..200 {
            let events: Vec<_> =
                self.events().await.into_iter().filter(|event| event.event_type == event_type).collect();
            if events.len() >= count {
                return events;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let seen: Vec<_> = self.events().await.iter().map(|event| event.event_type.clone()).collect();
        panic!("fewer than {count} events {event_type} among {seen:?}")
    }
}

pub(crate) async fn events(store: &Store) -> Vec<AuditEvent> {
    let records = store.audit().query(&AuditFilter::default(), 10_000).await.expect("the audit log");
    records.iter().map(|record| record.parse().expect("an event")).collect()
}

/// The far end of a client: answers what it is asked as the test says, and keeps what it is told.
#[derive(Default)]
pub(crate) struct Ear {
    pub(crate) answers: Mutex<VecDeque<Value>>,
    /// An answer to what was asked before.
    pub(crate) late: Mutex<Option<Value>>,
    pub(crate) asked: Mutex<Vec<(String, Value)>>,
    pub(crate) told: Mutex<Vec<(String, Value)>>,
    pub(crate) heard: Notify,
    /// Questions that were given up before they were answered.
    pub(crate) given_up: std::sync::atomic::AtomicUsize,
    modern: bool,
}

/// A question that was put to a client.
struct OpenQuestion<'a> {
    ear: &'a Ear,
    over: bool,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.ear.given_up.fetch_add(usize::from(!self.over), std::sync::atomic::Ordering::Relaxed);
    }
}

impl Remote for Ear {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(async move {
            let params = call.params.map_or(Value::Null, |raw| raw.view().expect("JSON"));
            self.asked.lock().push((call.method.to_string(), params));
            self.heard.notify_one();
            let answer = self.answers.lock().pop_front();
            match answer {
                Some(answer) => Ok(Ok(raw(&answer)).into()),
                None => {
                    let mut open = OpenQuestion { ear: self, over: false };
                    // Nobody answers, or not at once.
                    let late = async {
                        loop {
                            if let Some(answer) = self.late.lock().take() {
                                return answer;
                            }
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                    };
                    tokio::select! {
                        answer = late => {
                            open.over = true;
                            Ok(Ok(raw(&answer)).into())
                        }
                        () = call.cancel.cancelled() => Err(CallError::Cancelled),
                        () = tokio::time::sleep(call.timeout) => Err(CallError::Timeout(call.timeout)),
                    }
                }
            }
        })
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        let params = notification.params.map_or(Value::Null, |raw| raw.view().expect("JSON"));
        self.told.lock().push((notification.method.to_string(), params));
        self.heard.notify_one();
        Ok(())
    }

    fn can_request(&self) -> bool {
        !self.modern
    }
}

/// A client of one era, authenticated as somebody.
pub(crate) struct Client {
    pub(crate) kernel: Kernel,
    pub(crate) session: Arc<Session>,
    pub(crate) ear: Arc<Ear>,
    pub(crate) era: Era,
    pub(crate) capabilities: Value,
    pub(crate) greeting: Value,
}

static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

impl Client {
    pub(crate) async fn new(kernel: &Kernel, identity: Principal, era: Era, capabilities: Value) -> Self {
        Self::called(kernel, identity, era, capabilities, None).await
    }

    /// A client that gives itself a name.
    pub(crate) async fn called(
        kernel: &Kernel,
        identity: Principal,
        era: Era,
        capabilities: Value,
        name: Option<&str>,
    ) -> Self {
        let ear = Arc::new(Ear { modern: era == Era::Modern, ..Ear::default() });
        let revision = if era == Era::Modern { Revision::LATEST } else { Revision::LATEST_LEGACY };
        let info = name.map(|name| raw(&json!({"name": name, "version": "1"})));
        let caller = Caller { revision, info, capabilities: raw(&capabilities) };
        let id = format!("session-{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let lasting = era == Era::Legacy;
        let session = Session::new(id.into(), identity, lasting, caller, ear.clone());
        let mut client = Self { kernel: kernel.clone(), session, ear, era, capabilities, greeting: Value::Null };
        let greeting = match era {
            Era::Legacy => {
                kernel.opened(&client.session);
                let params = json!({"protocolVersion": "2025-11-25", "capabilities": client.capabilities, "clientInfo": {"name": "t", "version": "1"}});
                client.request("initialize", params).await
            }
            Era::Modern => client.request("server/discover", json!({})).await,
        };
        client.greeting = greeting.expect("a greeting");
        client
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            session: self.session.clone(),
            caller: self.session.caller(),
            remote: self.ear.clone(),
            cancel: CancellationToken::new(),
            headers: None,
            open_owners: None,
        }
    }

    /// The parameters with what a modern request says of itself.
    fn dressed(&self, params: &Raw) -> Raw {
        if self.era == Era::Legacy {
            return params.clone();
        }
        let dress = |meta: Edit| {
            meta.set("io.modelcontextprotocol/protocolVersion", Raw::string("2026-07-28"))
                .set("io.modelcontextprotocol/clientCapabilities", raw(&self.capabilities))
        };
        Edit::of(params).expect("an object").within("_meta", dress).expect("an object").finish()
    }

    pub(crate) fn message(&self, method: &str, params: &Raw) -> Request {
        Request::new(Id::number(1), method, Some(self.dressed(params)))
    }

    pub(crate) async fn send(&self, context: Context, method: &str, params: &Raw) -> Result<Value, ErrorObject> {
        let reply = self.kernel.request(context, self.message(method, params)).await;
        let result = reply.outcome.map(|result| result.view::<Value>().expect("JSON"));
        if let (Ok(result), Era::Modern) = (&result, self.era) {
            assert!(result.get("resultType").is_some(), "a modern result says what it is: {result}");
        }
        result
    }

    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, ErrorObject> {
        self.send(self.context(), method, &raw(&params)).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ErrorObject> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    pub(crate) async fn notify(&self, method: &str, params: Value) {
        self.kernel.notification(self.context(), Notification::new(method, Some(raw(&params)))).await;
    }

    /// The names in a list.
    pub(crate) async fn list(&self, kind: &str) -> Vec<String> {
        let list = self.request(&format!("{kind}/list"), json!({})).await.expect("a list");
        let key = if kind == "resources" { "uri" } else { "name" };
        let name = |item: &Value| item[key].as_str().expect("a name").to_owned();
        list[kind].as_array().expect("an array").iter().map(name).collect()
    }
}

/// What a rejection envelope says.
pub(crate) fn rejection(result: &Result<Value, ErrorObject>) -> Value {
    let result = result.as_ref().unwrap_or_else(|error| panic!("an error and no rejection: {error:?}"));
    assert_eq!(result["isError"], true, "{result}");
    let envelope = &result["_meta"]["dev.cloto/mgp"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"));
    let word = |key: &str| envelope[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {result}"));
    // Who agreed on MGP reads the envelope, everybody else a sentence.
    if result["_mgp"].is_object() {
        assert_eq!(serde_json::from_str::<Value>(text).ok().as_ref(), Some(envelope), "{result}");
    } else {
        assert!(text.starts_with(&format!("{}: {}", word("status"), word("reason"))), "{result}");
    }
    envelope.clone()
}

/// The kind of fault that a rejection names.
pub(crate) fn kind_of(result: &Result<Value, ErrorObject>) -> String {
    rejection(result)["details"]["kind"].as_str().expect("a kind").to_owned()
}

pub(crate) fn ran(result: &Result<Value, ErrorObject>) -> bool {
    result.as_ref().is_ok_and(|result| result["isError"] != true && result["resultType"] != "input_required")
}

/// Code, message with the name taken out, and data with the name taken out.
pub(crate) fn shape(error: &ErrorObject, name: &str) -> (i64, String, String) {
    let data = error.data.as_ref().map(|data| data.as_str().replace(name, "NAME")).unwrap_or_default();
    (error.code, error.message.replace(name, "NAME"), data)
}

/// A grant or a denial of a whole server, or of one tool.
/// Everything that was granted to a principal.
pub(crate) fn everything_of(principal: &str) -> switchboard_store::AccessSelector {
    switchboard_store::AccessSelector { principal: Some(principal.to_owned()), ..Default::default() }
}

pub(crate) fn entry(principal: &str, server: &str, tool: Option<&str>, allow: bool) -> switchboard_store::AccessEntry {
    switchboard_store::AccessEntry {
        principal: principal.to_owned(),
        server: server.to_owned(),
        tool: tool.map(str::to_owned),
        permission: if allow { switchboard_store::Permission::Allow } else { switchboard_store::Permission::Deny },
        granted_by: String::new(),
        granted_at: jiff::Timestamp::UNIX_EPOCH,
        expires_at: None,
        justification: None,
        scopes: None,
    }
}

/// Everybody may use every server.
pub(crate) fn open_house(gate: &mut GateOptions) {
    gate.default_policy = Some(switchboard_protocol::mgp::DefaultPolicy::OptOut);
}

/// Waits until something holds. On a busy machine that may take a while.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("in vain: {what}");
}

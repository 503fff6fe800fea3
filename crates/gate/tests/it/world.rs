//! One server with one tool, somebody who calls it, and whoever hears of what happens.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_audit::AuditSink;
use switchboard_gate::lists::Dialect;
use switchboard_gate::rates::PrincipalRates;
use switchboard_gate::{
    Admission, Attempt, Destination, Gate, GateContext, GateOptions, GateState, OfferedTool, Offers, Permit, Subject,
    Surroundings, ToolPolicy,
};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_peer::{BoxFuture, Call, CallError, Caller, Context, Handler, Remote, Reply, SendError, Session};
use switchboard_policy::risk::{self, OperatorWord};
use switchboard_protocol::Revision;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Metadata, TrustLevel};
use switchboard_store::AuditEvent;
use switchboard_upstream::{
    ListKind, Restart, Server, ServerContext, ServerPolicy, ServerSpec, Sharing, StartTurns, Upkeep,
};
use switchboard_wire::{Edit, Extra, Limits, Notification, Object, Raw, Request};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("a value is JSON")
}

/// Answers nothing, and cannot be asked.
struct Nobody;

impl Handler for Nobody {
    fn request(&self, _: Context, _: Request) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::pending())
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Remote for Nobody {
    fn request(&self, _: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(std::future::ready(Err(CallError::Closed)))
    }

    fn notify(&self, _: Notification) -> Result<(), SendError> {
        Err(SendError::Closed)
    }

    fn can_request(&self) -> bool {
        false
    }
}

/// Events in their order.
#[derive(Default)]
struct Events(Mutex<Vec<AuditEvent>>);

impl AuditSink for Events {
    fn is_listening(&self) -> bool {
        true
    }

    fn emit(&self, event: &AuditEvent) {
        self.0.lock().push(event.clone());
    }
}

/// All that is offered: one tool.
struct OneTool {
    servers: [Arc<Server>; 1],
    original: Arc<str>,
    policy: Arc<ToolPolicy>,
}

impl Offers for OneTool {
    fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    fn generation(&self) -> u64 {
        1
    }

    fn tool(&self, exposed: &str) -> Option<Destination> {
        let destination = || Destination {
            server: self.servers[0].clone(),
            original: self.original.clone(),
            policy: Some(self.policy.clone()),
            curated: None,
        };
        (*exposed == *self.original).then(destination)
    }

    fn prompt(&self, _: &str) -> Option<Destination> {
        None
    }

    fn any_tool(&self, fits: &mut dyn FnMut(OfferedTool<'_>) -> bool) -> bool {
        fits(OfferedTool {
            server: &self.servers[0],
            exposed: &self.original,
            original: &self.original,
            policy: Some(&self.policy),
            curated: None,
        })
    }

    fn list(&self, _: ListKind, _: Dialect, visible: &dyn Fn(usize, &str, &str) -> bool) -> Raw {
        Raw::boolean(visible(0, &self.original, &self.original))
    }
}

/// Those around the gate.
pub(crate) struct Around {
    offers: Arc<OneTool>,
    /// States under which calls were kept open.
    pub(crate) open: Mutex<Vec<String>>,
}

impl Surroundings for Around {
    fn offers(&self) -> Arc<dyn Offers> {
        self.offers.clone()
    }

    fn resource(&self, _: &str, _: &str) -> Option<(Arc<Server>, Arc<ToolPolicy>)> {
        None
    }

    fn wait_for_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn grants_changed(&self) {}

    fn watch_rights(&self) {}

    fn log(&self, _: &Context, _: &Raw, _: &str) {}

    fn keep_open(&self, state: &str, _: Permit) -> Option<Permit> {
        self.open.lock().push(state.to_owned());
        None
    }
}

/// A gate, and those around it.
pub(crate) struct World {
    state: Arc<GateState>,
    pub(crate) around: Around,
    events: Arc<Events>,
}

impl World {
    /// One whose tool `run` is defined so.
    pub(crate) fn new(definition: &Value, word: OperatorWord, options: GateOptions, rates: PrincipalRates) -> Self {
        let tasks = TaskTracker::new();
        let context = GateContext {
            tasks: tasks.clone(),
            waiting_calls: TaskTracker::new(),
            closing: CancellationToken::new(),
            principal_rates: rates,
        };
        let (state, writing) = GateState::new(options, context);
        tasks.spawn(writing);
        let events = Arc::new(Events::default());
        state.audit.set_sinks(vec![events.clone()]);
        let definition = raw(definition);
        let security = ToolSecurity::of(&definition);
        let assessment = risk::assess(&security, "run", &word, TrustLevel::Standard, true);
        let policy = ToolPolicy::new(security, assessment).with_schema(definition.member("inputSchema"));
        let offers = OneTool { servers: [server()], original: "run".into(), policy: Arc::new(policy) };
        let around = Around { offers: Arc::new(offers), open: Mutex::default() };
        Self { state: Arc::new(state), around, events }
    }

    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate::new(&self.state, &self.around)
    }

    pub(crate) fn offers(&self) -> &dyn Offers {
        &*self.around.offers
    }

    /// A call of the tool, as far as its server.
    pub(crate) async fn call(&self, principal: &str, arguments: &Value, beside: &Value) -> Result<Admission, Fault> {
        let call = raw(&json!({"name": "run", "arguments": arguments}));
        let beside = Object::open(&raw(beside)).expect("an object");
        let call = beside.iter().fold(Edit::of(&call).expect("an object"), |call, (key, value)| call.set(&key, value));
        let call = call.finish();
        let metadata = Metadata::of(Some(&call), &Extra::default()).expect("metadata");
        let (context, params) = (caller(principal), Object::open(&call).expect("an object"));
        let OneTool { servers: [server], policy, .. } = &*self.around.offers;
        let attempt = Attempt {
            subject: Subject::Tool,
            context: &context,
            server,
            exposed: "run",
            tool: "run",
            policy,
            params: &params,
            raw: &call,
            sent: None,
            within: None,
            metadata: &metadata,
            trace: "t",
            request: None,
        };
        self.gate().admit(attempt).await
    }

    /// The events since this was last asked: type, and the step that they name.
    pub(crate) fn events(&self) -> Vec<(String, Option<String>)> {
        let step = |event: &AuditEvent| {
            let event: Value = serde_json::from_str(&event.canonical()).expect("an event is JSON");
            event["details"]["step"].as_str().map(str::to_owned)
        };
        self.events.0.lock().drain(..).map(|event| (event.event_type.to_string(), step(&event))).collect()
    }
}

/// Somebody, by a connection on which nobody can be asked.
pub(crate) fn caller(principal: &str) -> Context {
    let remote: Arc<dyn Remote> = Arc::new(Nobody);
    let session = Session::new("s".into(), principal.into(), true, Caller::unknown(), remote.clone());
    let (caller, cancel) = (session.caller(), CancellationToken::new());
    Context { session, caller, remote, cancel, headers: None, open_owners: None }
}

fn server() -> Arc<Server> {
    let spec = ServerSpec {
        id: "s".into(),
        target: Target::InProcess(Arc::new(Nobody)),
        era: EraChoice::Legacy,
        sharing: Sharing::Shared,
        start_timeout: Duration::from_secs(10),
        call_timeout: Duration::from_secs(10),
        restart: Restart::Never,
        upkeep: Upkeep::default(),
        fingerprint: String::new(),
        isolation: None,
        policy: Arc::new(ServerPolicy::default()),
    };
    let context = ServerContext {
        caller: Caller { revision: Revision::LATEST, info: None, capabilities: Raw::empty_object() },
        owner: "local".into(),
        extensions: &[],
        limits: Limits::default(),
        list_items: 100,
        credentials: None,
        turns: StartTurns::new(1),
        tasks: TaskTracker::new(),
        closing: CancellationToken::new(),
        ending: CancellationToken::new(),
    };
    Server::new(spec, None, &Arc::new(context))
}

//! A scripted server in this process, and a holder that writes down what it is told and asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::lifecycle::State;
use switchboard_peer::client::{EraChoice, Target};
use switchboard_peer::{BoxFuture, Caller, Context, Handler, Reply};
use switchboard_policy::permission::{Granted, PermissionStatus};
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::LoggingLevel;
use switchboard_transport::confine::ExitCause;
use switchboard_upstream::{
    Gatekeeper, Holder, Inspection, Lists, PresentedDefinitions, Quarantine, Restart, Server, ServerContext,
    ServerEvent, ServerPolicy, ServerSpec, SharedConnection, Sharing, StartTurns, Upkeep,
};
use switchboard_wire::{ErrorObject, Limits, Notification, Raw, Request};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(3600);

pub(crate) fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).expect("valid JSON in a test")
}

/// A legacy server whose tools and moods a test sets.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) tools: Mutex<Vec<&'static str>>,
    /// It refuses to be introduced.
    pub(crate) broken: AtomicBool,
    /// It answers nothing but an introduction.
    pub(crate) mute: AtomicBool,
}

impl Handler for Script {
    fn request(&self, _: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let outcome = match &*request.method {
                "initialize" if self.broken.load(Ordering::Relaxed) => Err(ErrorObject::new(-32603, "not today")),
                "initialize" => Ok(raw(
                    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}"#,
                )),
                _ if self.mute.load(Ordering::Relaxed) => std::future::pending().await,
                "tools/list" => {
                    let tools: Vec<String> =
                        self.tools.lock().iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
                    Ok(raw(&format!(r#"{{"tools":[{}]}}"#, tools.join(","))))
                }
                _ => Ok(Raw::empty_object()),
            };
            outcome.into()
        })
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A holder that decides as a test says, and writes down the order of things.
#[derive(Default)]
pub(crate) struct ScriptedHolder {
    log: watch::Sender<Vec<String>>,
    /// What is held back.
    pub(crate) held: Mutex<Quarantine>,
    /// The server's permissions have changed.
    pub(crate) outgrown: Notify,
}

impl ScriptedHolder {
    fn note(&self, line: impl Into<String>) {
        self.log.send_modify(|log| log.push(line.into()));
    }

    /// Everything until this was told for the `times`th time.
    pub(crate) async fn until(&self, line: &str, times: usize) -> Vec<String> {
        let mut log = self.log.subscribe();
        let told = log.wait_for(|log| log.iter().filter(|told| *told == line).count() >= times);
        match tokio::time::timeout(PATIENCE, told).await {
            Ok(Ok(log)) => log.clone(),
            _ => panic!("`{line}` was not told {times} times: {:?}", self.log.borrow()),
        }
    }

    /// The states that were told.
    pub(crate) fn states(&self) -> Vec<String> {
        let log = self.log.borrow();
        log.iter().filter_map(|line| line.strip_prefix("state ")).map(str::to_owned).collect()
    }
}

impl Holder for ScriptedHolder {
    fn on_event(&self, server: &Server, event: ServerEvent<'_>) {
        let goes_down = matches!(&event, ServerEvent::StateChanged { to: State::Disconnected, .. });
        let reaches = server.hub_now().is_some();
        if reaches && (server.state() == State::Disconnected || goes_down && server.takes_calls().is_ok()) {
            self.note("is called while it is down");
        }
        self.note(match event {
            ServerEvent::StateChanged { to, given_up: true, .. } => format!("state {}, given up", to.as_str()),
            ServerEvent::StateChanged { to, .. } => format!("state {}", to.as_str()),
            ServerEvent::ListsChanged { said } => format!("lists {} {said:?}", server.lists().tools.items.len()),
            ServerEvent::HeldBack { before, now } => format!("held {} {}", before.len(), now.len()),
            ServerEvent::BreakerChanged(standing) => format!("breaker {}", standing.as_str()),
        });
    }

    fn handler(&self, _: &Arc<Server>) -> Arc<dyn Handler> {
        Arc::new(Script::default())
    }

    fn log_level(&self) -> Option<LoggingLevel> {
        None
    }

    fn restore<'a>(&'a self, _: &'a Arc<Server>, _: &'a SharedConnection) -> BoxFuture<'a, ()> {
        self.note("restore");
        Box::pin(std::future::ready(()))
    }
}

impl Gatekeeper for ScriptedHolder {
    fn inspect<'a>(&'a self, server: &'a Server, presented: PresentedDefinitions<'a>) -> BoxFuture<'a, Inspection> {
        let (shown, now) = (server.lists().tools.items.len(), presented.lists.tools.items.len());
        self.note(format!("inspect {now}, shown {shown}"));
        let held = self.held.lock().clone();
        Box::pin(std::future::ready(Inspection { held, ..Inspection::default() }))
    }

    fn inspect_again<'a>(&'a self, _: &'a Server, _: PresentedDefinitions<'a>) -> BoxFuture<'a, Option<Inspection>> {
        let held = self.held.lock().clone();
        Box::pin(std::future::ready(Some(Inspection { held, ..Inspection::default() })))
    }

    fn strip_extras(&self, _: &Server, _: &mut Lists) {}

    fn held_permissions<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, Option<Vec<Granted>>> {
        Box::pin(std::future::ready(Some(Vec::new())))
    }

    fn put_before_operator<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, ()> {
        self.note(format!("operator, {}", server.phase().word()));
        Box::pin(std::future::ready(()))
    }

    fn tell_permissions<'a>(
        &'a self,
        server: &'a Server,
        _: &'a SharedConnection,
    ) -> BoxFuture<'a, Option<PermissionStatus>> {
        self.note(format!("permissions, {}", server.phase().word()));
        Box::pin(std::future::ready(None))
    }

    fn watch_permissions<'a>(
        &'a self,
        _: &'a Server,
        _: &'a SharedConnection,
        _: Option<PermissionStatus>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(self.outgrown.notified())
    }

    fn note_violation<'a>(&'a self, _: &'a Server, _: &'a ExitCause) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A server that is led, and whoever holds it.
pub(crate) struct World {
    pub(crate) script: Arc<Script>,
    pub(crate) holder: Arc<ScriptedHolder>,
    pub(crate) server: Arc<Server>,
    pub(crate) running: JoinHandle<()>,
}

impl World {
    /// One whose server has the tool `read`.
    pub(crate) fn new(restart: Restart, upkeep: Upkeep) -> Self {
        Self::of(Script { tools: Mutex::new(vec!["read"]), ..Script::default() }, restart, upkeep)
    }

    pub(crate) fn of(script: Script, restart: Restart, upkeep: Upkeep) -> Self {
        let script = Arc::new(script);
        let spec = ServerSpec {
            id: "s".into(),
            target: Target::InProcess(script.clone()),
            era: EraChoice::Legacy,
            sharing: Sharing::Shared,
            start_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(10),
            restart,
            upkeep,
            fingerprint: String::new(),
            isolation: None,
            policy: Arc::new(ServerPolicy::default()),
        };
        let context = Arc::new(ServerContext {
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
        });
        let server = Server::new(spec, None, &context);
        let holder = Arc::new(ScriptedHolder::default());
        let running = tokio::spawn(server.clone().run(holder.clone()));
        Self { script, holder, server, running }
    }
}

//! One life of a server's connection: made, kept up to date, lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use switchboard_flow::lifecycle::LifecycleEvent;
use switchboard_peer::client::{Authorizer, ConnectOptions, Connected, Target, Wanted, connect};
use switchboard_peer::{Caller, Handler};
use switchboard_protocol::fault::error_chain;
use switchboard_protocol::mcp::LoggingLevel;
use switchboard_protocol::mgp::{Agreement, ServerDeclaration};
use switchboard_protocol::provenance;
use switchboard_transport::child;
use switchboard_transport::confine::ExitCause;
use switchboard_wire::Raw;
use tokio::time::Instant;

use super::{ConnectionEnd, Declared, Server, SharedConnection};
use crate::fetch::Asking;
use crate::holder::{Gatekeeper, Holder, ServerEvent};
use crate::inspection::PresentedDefinitions;
use crate::lists::{ListKind, Lists};
use crate::log_level::send_level;
use crate::names;
use crate::package;
use crate::turns::Start;

/// Notices of changed lists that come faster than this are answered together.
const REFRESH_PAUSE: Duration = Duration::from_millis(50);
/// A server that says all the time that its lists changed is asked this often.
const REFRESH_REST: Duration = Duration::from_secs(1);
/// How often it is looked, while something is held back, whether a person has accepted it.
const PINS_LOOK: Duration = Duration::from_secs(2);
/// How long calls wait for a server to hear what it cannot know. One that takes longer hears it beside them.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one start may hold up others that wait for their turn.
const TURN: Duration = Duration::from_secs(3);

impl Server {
    /// Connects and stays until the connection is lost.
    pub(super) async fn live(self: &Arc<Self>, holder: &dyn Holder) -> ConnectionEnd {
        let caller = self.context.caller.clone();
        let connected = match self.connect(&caller, None, holder.handler(self), holder).await {
            Ok(connected) => connected,
            Err(error) => return ConnectionEnd::Failed(error),
        };
        let declared = ServerDeclaration::of(&connected.server.capabilities);
        let agreement =
            declared.as_ref().and_then(|declared| Agreement::with_server(declared, self.context.extensions));
        if let Some(warning) = agreement.as_ref().and_then(|agreement| agreement.compatibility().warning()) {
            tracing::warn!(server = %self.id(), "{warning}");
        }
        let agreed = agreement.is_some();
        self.declared.store(declared.map(|said| Arc::new(Declared { said, agreed })));
        let package = match &self.spec.target {
            Target::Command(command) => package::version_of(command).await,
            _ => None,
        };
        let hub = Arc::new(SharedConnection { connected, caller, agreement, package });
        self.fetch(&hub, holder).await;
        if let Some(name) = self.reserved_name() {
            hub.connected.stop().await;
            return ConnectionEnd::Refused(format!("its tool `{name}` uses the prefix `mgp.` of the kernel"));
        }
        // Before any call: what it does in a call may be what somebody watches for.
        let restored = tokio::time::timeout(RESTORE_TIMEOUT, self.restore(&hub, holder)).await.is_ok();
        let mut watching = std::pin::pin!(self.watch_always(&hub));
        // The request for notices of a modern server is on its way from the first poll on.
        std::future::poll_fn(|context| Poll::Ready(watching.as_mut().poll(context).is_ready())).await;
        let closed = hub.connected.closed.clone();
        if closed.is_cancelled() {
            return ConnectionEnd::Failed(last_words(&hub.connected));
        }
        self.hub.store(Some(hub.clone()));
        // Whoever waits for the server to be ready must find what it offers.
        holder.on_event(self, ServerEvent::ListsChanged { said: &[] });
        holder.put_before_operator(self).await;
        self.was_up.store(true, Ordering::Relaxed);
        self.checked.set(None);
        let lost_before = self.stats.lost();
        self.step(LifecycleEvent::Ready, None, holder);
        self.calm(holder);
        tracing::info!(server = %self.id(), revision = %hub.revision(), "server is connected");
        let told = holder.tell_permissions(self, &hub).await;
        let upkeep = async {
            tokio::join!(
                watching,
                self.refresh_always(&hub, holder),
                self.restore_always(&hub, holder, restored),
                self.watch_pins(&hub, holder)
            )
        };
        tokio::select! {
            () = closed.cancelled() => {}
            _ = upkeep => {}
            () = holder.watch_permissions(self, &hub, told) => {
                hub.connected.stop().await;
                return ConnectionEnd::Outgrown;
            }
            () = self.watch_idleness() => return ConnectionEnd::Idle,
            () = self.watch_health(&hub) => {
                self.hub.store(None);
                hub.connected.stop().await;
                return ConnectionEnd::Lost { why: "it did not answer health checks".to_owned(), clean: false };
            }
        }
        let cause = self.note_violation(&hub, holder).await;
        // One that ends while it owes answers has failed, whatever it says of itself.
        let owes = self.using.pending() > 0 || self.stats.lost() != lost_before;
        let clean = cause == Some(ExitCause::Finished) && !owes;
        ConnectionEnd::Lost { why: last_words(&hub.connected), clean }
    }

    /// Makes a connection in the name of `caller`, with the credentials of `principal`, or those for everybody.
    pub async fn connect(
        &self,
        caller: &Caller,
        principal: Option<&str>,
        handler: Arc<dyn Handler>,
        gatekeeper: &dyn Gatekeeper,
    ) -> Result<Connected, String> {
        // What a client says of itself is not what the kernel says.
        let info = caller.info.clone().and_then(provenance::cleaned).unwrap_or_else(Raw::empty_object);
        let capabilities = provenance::cleaned(caller.capabilities.clone()).unwrap_or_else(Raw::empty_object);
        let authorizer = self.authorizer(principal).await;
        let options = ConnectOptions {
            era: self.spec.era,
            known_era: *self.known_era.lock(),
            start_timeout: self.spec.start_timeout,
            stop_timeout: self.spec.upkeep.stop_timeout,
            limits: self.context.limits.clone(),
            authorizer,
            principal: principal.map(Arc::from),
            ..ConnectOptions::new(info, capabilities)
        };
        let target = self.confined_target(gatekeeper).await?;
        // Very many starts at once would make each other fail; one that hangs must not hold up the rest.
        let turn = self.context.turns.take(Start::of(&target), self.is_called()).await;
        let turn = turn.ok_or_else(|| "too many servers are being started".to_owned())?;
        let mut connecting = std::pin::pin!(connect(target, options, handler));
        let connected = match tokio::time::timeout(TURN, connecting.as_mut()).await {
            Ok(connected) => connected,
            Err(_) => {
                drop(turn);
                connecting.await
            }
        };
        let connected = connected.map_err(|error| advised(&self.spec.target, error_chain(&error)))?;
        *self.known_era.lock() = Some(connected.revision.era());
        Ok(connected)
    }

    /// The credentials for a connection. Those of the configuration go before all others.
    async fn authorizer(&self, principal: Option<&str>) -> Option<Arc<dyn Authorizer>> {
        let Target::Http { url, headers } = &self.spec.target else { return None };
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return None;
        }
        let credentials = self.context.credentials.as_ref()?;
        let asking = credentials.authorizer(Wanted { server: self.id(), url, principal });
        tokio::time::timeout(self.spec.start_timeout, asking).await.ok().flatten()
    }

    /// Asks for the lists; `true` if they are others than before. A list that cannot be had stays as it was.
    async fn fetch(&self, hub: &SharedConnection, holder: &dyn Holder) -> bool {
        let asking = Asking {
            remote: hub.remote().as_ref(),
            revision: hub.revision(),
            capabilities: &hub.connected.server.capabilities,
            caller: &hub.caller,
            timeout: self.spec.upkeep.list_timeout.unwrap_or(self.spec.start_timeout),
            most_items: self.context.list_items,
        };
        let before = self.lists();
        let (mut lists, problems) = asking.all(&before).await;
        // The tools of another kernel that stands there are its own business.
        lists.tools.items.retain(|tool| !is_of_a_kernel(tool));
        for list in [&mut lists.tools, &mut lists.prompts, &mut lists.resources, &mut lists.templates] {
            list.items = std::mem::take(&mut list.items).into_iter().filter_map(provenance::cleaned).collect();
            list.envelope = provenance::cleaned(list.envelope.clone()).unwrap_or_else(Raw::empty_object);
        }
        let known = self.problems();
        for problem in problems.iter().filter(|problem| !known.contains(problem)) {
            tracing::warn!(server = %self.id(), problem, "a list could not be had as a whole");
        }
        *self.problems.lock() = problems;
        let inspection = holder.inspect(self, presented(hub, &lists)).await;
        holder.strip_extras(self, &mut lists);
        let changed = lists != *before || !self.is_inspected_as(&inspection);
        holder.on_event(self, ServerEvent::HeldBack { before: &self.quarantine(), now: &inspection.held });
        self.set_inspection(inspection);
        self.lists.store(Arc::new(lists));
        changed
    }

    /// Asks for the lists again whenever the server says that they changed.
    async fn refresh_always(&self, hub: &SharedConnection, holder: &dyn Holder) {
        let mut next = Instant::now();
        loop {
            self.refresh.notified().await;
            tokio::time::sleep_until(next.max(Instant::now() + REFRESH_PAUSE)).await;
            let said = std::mem::take(&mut *self.said_changed.lock());
            let changed = self.fetch(hub, holder).await;
            if changed || !said.is_empty() {
                holder.on_event(self, ServerEvent::ListsChanged { said: &Vec::from_iter(said) });
            }
            next = Instant::now() + REFRESH_REST;
        }
    }

    /// Lets what was held back come in when a person has accepted it, here or in another process.
    async fn watch_pins(&self, hub: &SharedConnection, holder: &dyn Holder) {
        loop {
            tokio::time::sleep(PINS_LOOK).await;
            let held = self.quarantine();
            if held.is_empty() {
                continue;
            }
            let lists = self.lists();
            let Some(now) = holder.inspect_again(self, presented(hub, &lists)).await else { continue };
            // Lists that came in the meantime were judged when they came.
            if !self.is_inspected_as(&now) && Arc::ptr_eq(&lists, &self.lists()) {
                self.set_inspection(now);
                holder.on_event(self, ServerEvent::ListsChanged { said: &[] });
            }
        }
    }

    /// Tells the server what it cannot know.
    async fn restore(self: &Arc<Self>, hub: &SharedConnection, holder: &dyn Holder) {
        *self.told_level.lock() = None;
        if let Some(level) = holder.log_level() {
            self.tell_level(hub, level).await;
        }
        tokio::join!(self.subscribe_again(hub), holder.restore(self, hub));
    }

    /// The same whenever it has lost its session and got a new one, and where it took too long at first.
    async fn restore_always(self: &Arc<Self>, hub: &SharedConnection, holder: &dyn Holder, mut restored: bool) {
        let mut renewals = hub.connected.renewals.clone();
        loop {
            if !std::mem::take(&mut restored) {
                self.restore(hub, holder).await;
            }
            if renewals.changed().await.is_err() {
                // This connection has no session that could be renewed.
                return std::future::pending().await;
            }
            // What answers now may be a newer server.
            self.refresh_soon();
        }
    }

    /// Tells which log messages are wanted by those who share the connection.
    pub async fn tell_level(&self, hub: &SharedConnection, level: LoggingLevel) {
        *self.told_level.lock() = Some(level);
        send_level(&hub.connected, level.as_str()).await;
    }

    /// Makes sure that log messages of this level are sent. Modern clients say with each request what they want; a
    /// legacy server must be told before.
    pub async fn hear_from(&self, level: &str) {
        let told = *self.told_level.lock();
        let (Some(wanted), Some(hub)) = (LoggingLevel::parse(level), self.hub_now()) else { return };
        if told.is_none_or(|told| wanted < told) {
            self.tell_level(&hub, wanted).await;
        }
    }

    /// How many elements a list of this server has.
    pub fn count(&self, kind: ListKind) -> usize {
        let lists = self.lists();
        match kind {
            ListKind::Tools => lists.tools.items.len(),
            ListKind::Prompts => lists.prompts.items.len(),
            ListKind::Resources => lists.resources.items.len(),
            ListKind::Templates => lists.templates.items.len(),
        }
    }
}

/// What a server shows, with what it says of itself.
fn presented<'a>(hub: &'a SharedConnection, lists: &'a Lists) -> PresentedDefinitions<'a> {
    let server = &hub.connected.server;
    let package = hub.package.as_deref();
    PresentedDefinitions { lists, instructions: server.instructions.as_deref(), info: server.info.as_ref(), package }
}

/// Whether a tool is one that another kernel offers of itself.
fn is_of_a_kernel(tool: &Raw) -> bool {
    let text = |path: &[&str]| tool.at(path).and_then(|value| value.as_text());
    text(&["name"]).is_some_and(|name| names::is_reserved(&name))
        && text(&["_mgp", "source"]).as_deref() == Some("kernel")
}

/// Why a server did not start, and which variables it may have missed.
fn advised(target: &Target, why: String) -> String {
    let Target::Command(command) = target else { return why };
    match child::wanted(command, &why, child::names()).as_slice() {
        [] => why,
        names => {
            let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!(
                "{why}; it did not get {}: if it needs them, add `pass_env = [{}]`",
                names.join(", "),
                quoted.join(", ")
            )
        }
    }
}

fn last_words(connected: &Connected) -> String {
    let tail = connected.stderr_tail().unwrap_or_default();
    tail.trim_end().lines().next_back().map_or_else(
        || "the connection was closed".to_owned(),
        |line| format!("the connection was closed; its last words: {line}"),
    )
}

//! How a server's life goes on (MGP 11): started, kept up, drained, stopped, put to sleep and woken.
//!
//! What follows on what is decided by [`switchboard_flow::lifecycle`]; here it is done, written down and told. Orders
//! come through a queue, so that one task alone leads the life of a server.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::lifecycle::{Action, After, Lifecycle, LifecycleEvent, ShutdownReason, State, Step};
use switchboard_peer::Call;
use switchboard_peer::client::Target;
use switchboard_protocol::fault::{Fault, FaultKind, RetryAdvice};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_wire::{Edit, Notification, Raw};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::{ConnectionEnd, LATECOMERS, Phase, Server, SharedConnection};
use crate::holder::{Holder, ServerEvent};
use crate::spec::Sharing;

/// Orders that may wait.
const ORDERS: usize = 16;
/// Who calls a server that is started again sooner than this waits for it; who would wait longer is told when.
const WORTH_WAITING: Duration = Duration::from_secs(1);
/// How long draining is expected to take, at least.
const SHORTEST_DRAIN: Duration = Duration::from_secs(1);
/// How long a server may take to hear that it is to end.
const TELL: Duration = Duration::from_secs(5);

/// The same where nothing is waited for any more.
const FAREWELL: Duration = Duration::from_millis(500);

/// What an operator wants of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Up.
    Start,
    /// Down, at once.
    Stop,
    /// Down, after the calls that run, within that time.
    Drain(After, ShutdownReason, Duration),
}

/// The life of a server.
pub(super) struct Life {
    machine: Mutex<Lifecycle>,
    orders: mpsc::Sender<Order>,
    inbox: Mutex<Option<mpsc::Receiver<Order>>>,
    /// Somebody called while it slept.
    wanted: Notify,
    /// Somebody waits for it while it waits for its turn to start.
    called: Notify,
    /// New calls are refused.
    draining: AtomicBool,
    /// The same, because of orders that wait to be obeyed: whoever gave one was told so already.
    ordered_down: OrderedDown,
    /// It is down by an order, and its connections are being ended: until then it may still answer what runs.
    cutting: AtomicBool,
    /// When it is started again, or has finished draining.
    due: Mutex<Option<Instant>>,
}

/// Orders that wait and end the connection.
#[derive(Default)]
struct OrderedDown {
    /// For now: it comes back by itself.
    for_now: AtomicUsize,
    /// Until a person starts it.
    for_good: AtomicUsize,
}

impl OrderedDown {
    fn of(&self, order: Order) -> Option<&AtomicUsize> {
        match order {
            Order::Start => None,
            Order::Stop | Order::Drain(After::Stop, ..) => Some(&self.for_good),
            Order::Drain(..) => Some(&self.for_now),
        }
    }

    fn is_given(&self) -> bool {
        self.for_now.load(Ordering::SeqCst) > 0 || self.for_good.load(Ordering::SeqCst) > 0
    }
}

impl Life {
    pub(super) fn new(machine: Lifecycle) -> Self {
        let (orders, inbox) = mpsc::channel(ORDERS);
        Self {
            machine: Mutex::new(machine),
            orders,
            inbox: Mutex::new(Some(inbox)),
            wanted: Notify::new(),
            called: Notify::new(),
            draining: AtomicBool::new(false),
            ordered_down: OrderedDown::default(),
            cutting: AtomicBool::new(false),
            due: Mutex::default(),
        }
    }

    pub(super) fn up_since(&self) -> Option<Duration> {
        self.machine.lock().up_since()
    }

    /// How long until something changes by itself.
    fn wait(&self) -> Option<Duration> {
        self.due.lock().map(|due| due.saturating_duration_since(Instant::now()))
    }
}

impl Server {
    /// Where it is in its life, in the words of MGP. It is down when nothing of it answers any more, and not before.
    pub fn state(&self) -> State {
        let state = self.life.machine.lock().state();
        let answers = state == State::Disconnected && self.life.cutting.load(Ordering::SeqCst);
        if answers { State::Draining } else { state }
    }

    /// How often it was started again.
    pub fn restarts(&self) -> u64 {
        self.life.machine.lock().restarts()
    }

    /// Gives an order; what the server was doing then.
    ///
    /// # Errors
    /// There are too many orders already, or the server has ended for good.
    pub fn order(&self, order: Order) -> Result<State, Fault> {
        let before = self.state();
        let down = self.life.ordered_down.of(order);
        // Before it is answered: no call begins after the answer.
        if let Some(down) = down {
            down.fetch_add(1, Ordering::SeqCst);
        }
        self.life.orders.try_send(order).map_err(|_| {
            if let Some(down) = down {
                down.fetch_sub(1, Ordering::SeqCst);
            }
            let text = format!("server `{}` takes no orders now", self.id());
            Fault::new(FaultKind::ResourceExhausted, text).from_server(self.id().as_ref())
        })?;
        Ok(before)
    }

    /// Where an order to drain leads to, as things are now.
    pub fn state_when_drained(&self, after: After) -> State {
        let mut machine = self.life.machine.lock().clone();
        machine.on(LifecycleEvent::Drain(after), Duration::ZERO, 0);
        machine.state()
    }

    /// Refuses a new call while the calls that run are finished.
    ///
    /// # Errors
    /// It takes no new calls.
    pub fn takes_calls(&self) -> Result<(), Fault> {
        let goes_down = self.life.draining.load(Ordering::SeqCst) || self.life.ordered_down.is_given();
        if !goes_down && !self.life.cutting.load(Ordering::SeqCst) {
            return Ok(());
        }
        let fault = Fault::new(FaultKind::ServerDraining, format!("server `{}` takes no new calls", self.id()));
        let fault = fault.from_server(self.id().as_ref());
        if self.life.ordered_down.for_good.load(Ordering::SeqCst) > 0 || self.life.machine.lock().is_stopped() {
            // Nothing brings it back but a person.
            let advice = format!("`switchboard servers start {}` starts it again", self.id());
            return Err(fault.with_retry(RetryAdvice::NEVER).suggest(advice));
        }
        Err(match self.life.wait() {
            Some(wait) => fault.retry_after(millis(wait).max(100)),
            None => fault,
        })
    }

    /// The connection, waited for while the server is on its way up or can be woken.
    ///
    /// # Errors
    /// Why it is not there, and when it may be.
    pub async fn hub(&self) -> Result<Arc<SharedConnection>, Fault> {
        if let Some(hub) = self.hub_now() {
            return Ok(hub);
        }
        let mut phase = self.phase.subscribe();
        if *phase.borrow_and_update() == Phase::Asleep {
            self.life.wanted.notify_one();
        } else if *phase.borrow() == Phase::Starting {
            self.hurry();
        } else if self.life.wait().is_some_and(|wait| wait > WORTH_WAITING) {
            return Err(self.not_ready());
        }
        let is_up = |phase: &Phase| !matches!(phase, Phase::Starting | Phase::Restarting(_) | Phase::Asleep);
        let _ = tokio::time::timeout(self.spec.start_timeout, phase.wait_for(is_up)).await;
        self.hub_now().ok_or_else(|| self.not_ready())
    }

    /// Somebody waits for it: it is started before what stands before it.
    pub fn hurry(&self) {
        self.life.called.notify_one();
    }

    /// Waits until somebody waits for it.
    pub(super) async fn is_called(&self) {
        self.life.called.notified().await;
    }

    /// Why it is not there, and when it is worth asking again.
    pub fn not_ready(&self) -> Fault {
        let (kind, why) = match self.phase() {
            Phase::Starting | Phase::Ready | Phase::Asleep => {
                (FaultKind::ServerNotReady, "it is still starting".to_owned())
            }
            Phase::Restarting(why) => (FaultKind::ServerRestarting, why),
            Phase::Failed(why) | Phase::Refused(why) => (FaultKind::ServerNotReady, why),
            Phase::Draining => (FaultKind::ServerDraining, "it is being ended".to_owned()),
            Phase::Stopped => (FaultKind::ServerNotReady, "it was stopped".to_owned()),
        };
        let fault = Fault::new(kind, format!("server `{}` is not connected: {why}", self.id()));
        let fault = fault.from_server(self.id().as_ref());
        let down = matches!(self.life.machine.lock().state(), State::Error | State::Disconnected);
        match self.life.wait() {
            Some(wait) => fault.retry_after(millis(wait).max(100)).suggest("`switchboard doctor` tells more"),
            // Nothing brings it back but a person; of one that cannot even be started it was said what to do.
            None if matches!(self.spec.target, Target::Nowhere(_)) => {
                fault.with_retry(RetryAdvice::NEVER).suggest("`switchboard doctor` tells more")
            }
            None if down => fault.with_retry(RetryAdvice::NEVER).suggest(format!(
                "`switchboard doctor` tells more; `switchboard servers start {}` starts it",
                self.id()
            )),
            // It was up, or failed and said why: more time would not help it.
            None if matches!(self.phase(), Phase::Restarting(_)) => {
                fault.suggest("it is started again by itself; `switchboard doctor` tells more")
            }
            None => {
                let id = self.id();
                fault.suggest(format!(
                    "call again in a moment; `switchboard doctor` tells more, and `start_timeout_ms` of `{id}` gives it longer"
                ))
            }
        }
    }

    /// Keeps the server connected until it is replaced, or its holder ends.
    pub async fn run(self: Arc<Self>, holder: Arc<dyn Holder>) {
        let holder = &*holder;
        let Some(mut orders) = self.life.inbox.lock().take() else { return };
        let mut action = self.step(LifecycleEvent::Start, None, holder).action;
        loop {
            action = tokio::select! {
                next = self.act(action, &mut orders, holder) => next,
                () = self.stop.cancelled() => break,
            };
        }
        self.retire(holder).await;
        self.phase.send_replace(Phase::Stopped);
        holder.on_event(&self, ServerEvent::ListsChanged { said: &[] });
    }

    /// Does what is to be done; what is to be done next.
    async fn act(self: &Arc<Self>, action: Action, orders: &mut mpsc::Receiver<Order>, holder: &dyn Holder) -> Action {
        match action {
            Action::Connect => self.live_on(orders, holder).await,
            Action::ConnectAfter(pause) => {
                let due = Instant::now() + pause;
                *self.life.due.lock() = Some(due);
                let next = loop {
                    tokio::select! {
                        () = tokio::time::sleep_until(due) => break self.step(LifecycleEvent::PauseOver, None, holder).action,
                        Some(order) = orders.recv() => match self.obey(order, holder).action {
                            Action::Nothing => {}
                            next => break next,
                        },
                    }
                };
                *self.life.due.lock() = None;
                next
            }
            Action::Nothing | Action::Drain | Action::Disconnect | Action::GiveUp => {
                tokio::select! {
                    Some(order) = orders.recv() => self.obey(order, holder).action,
                    () = self.life.wanted.notified() => self.step(LifecycleEvent::Wanted, None, holder).action,
                }
            }
        }
    }

    /// One life of the connection, and the orders that come meanwhile.
    async fn live_on(self: &Arc<Self>, orders: &mut mpsc::Receiver<Order>, holder: &dyn Holder) -> Action {
        let mut living = std::pin::pin!(self.live(holder));
        let lived = loop {
            let order = tokio::select! {
                lived = living.as_mut() => break lived,
                Some(order) = orders.recv() => order,
            };
            match self.obey(order, holder).action {
                Action::Drain => {
                    self.drain(living.as_mut(), order, orders, holder).await;
                    let step = self.step(LifecycleEvent::Drained, Some(reason_of(order).as_str()), holder);
                    self.hide_if_down(holder);
                    return step.action;
                }
                Action::Disconnect => {
                    self.cut().await;
                    self.life.cutting.store(false, Ordering::SeqCst);
                    return Action::Disconnect;
                }
                _ => {}
            }
        };
        let first = !self.was_up.load(Ordering::Relaxed);
        match lived {
            ConnectionEnd::Idle => return self.fall_asleep(holder).await,
            // Nothing is wrong with it: it comes back at once, with what it has now.
            ConnectionEnd::Outgrown => {
                let why = "its permissions have changed";
                self.step(LifecycleEvent::Drain(After::Restart), Some(why), holder);
                self.hub.store(None);
                return self.step(LifecycleEvent::Drained, Some(why), holder).action;
            }
            ConnectionEnd::Lost { .. } | ConnectionEnd::Failed(_) | ConnectionEnd::Refused(_) => {}
        }
        self.hub.store(None);
        let (event, why) = match lived {
            ConnectionEnd::Lost { why, clean } => (LifecycleEvent::Ended { clean }, why),
            ConnectionEnd::Failed(why) => (LifecycleEvent::Failed, why),
            ConnectionEnd::Refused(why) => (LifecycleEvent::Refused, why),
            ConnectionEnd::Idle | ConnectionEnd::Outgrown => return Action::Nothing,
        };
        let step = self.step(event, Some(&why), holder);
        if step.action == Action::GiveUp || first {
            // What will not come back, or was never seen to come, is not shown.
            self.lists.store(Arc::default());
        }
        holder.on_event(self, ServerEvent::ListsChanged { said: &[] });
        step.action
    }

    /// Takes an order.
    fn obey(&self, order: Order, holder: &dyn Holder) -> Step {
        let event = match order {
            Order::Start => LifecycleEvent::Start,
            Order::Stop => LifecycleEvent::Stop,
            Order::Drain(after, ..) => LifecycleEvent::Drain(after),
        };
        // Before the new state can be seen: whoever sees it counts on it that no call goes there.
        let ends = order == Order::Stop && self.hub.load().is_some();
        self.life.cutting.fetch_or(ends, Ordering::SeqCst);
        let step = self.step(event, Some(reason_of(order).as_str()), holder);
        if step.action != Action::Disconnect {
            self.life.cutting.store(false, Ordering::SeqCst);
        }
        if self.life.machine.lock().state() == State::Draining {
            self.life.draining.store(true, Ordering::SeqCst);
        }
        if let Some(down) = self.life.ordered_down.of(order) {
            down.fetch_sub(1, Ordering::SeqCst);
        }
        self.hide_if_down(holder);
        step
    }

    /// What was stopped is not shown; what only sleeps is.
    fn hide_if_down(&self, holder: &dyn Holder) {
        if self.phase() == Phase::Stopped {
            self.lists.store(Arc::default());
            holder.on_event(self, ServerEvent::ListsChanged { said: &[] });
        }
    }

    /// Takes an event: the state that follows is shown, written down and told.
    pub(super) fn step(&self, event: LifecycleEvent, why: Option<&str>, holder: &dyn Holder) -> Step {
        let chance = chance();
        let (step, asleep) = {
            let mut machine = self.life.machine.lock();
            (machine.on(event, self.began.elapsed(), chance), machine.is_asleep())
        };
        for (from, to) in step.changes() {
            if to != State::Draining {
                self.life.draining.store(false, Ordering::SeqCst);
            }
            let given_up = to == State::Error && step.action == Action::GiveUp && event != LifecycleEvent::Refused;
            self.show(to, event, why, asleep, given_up);
            holder.on_event(self, ServerEvent::StateChanged { from, to, why, given_up });
        }
        step
    }

    fn show(&self, state: State, event: LifecycleEvent, why: Option<&str>, asleep: bool, given_up: bool) {
        let shown = Phase::after(state, event, why, asleep, (given_up, self.restarts()));
        let Some(phase) = shown else { return };
        match &phase {
            Phase::Restarting(_) | Phase::Failed(_) | Phase::Refused(_) => {
                tracing::warn!(server = %self.id(), ?phase, "server is not connected");
            }
            Phase::Draining | Phase::Asleep | Phase::Stopped => {
                tracing::info!(server = %self.id(), ?phase, why, "server is not connected");
            }
            Phase::Starting | Phase::Ready => {}
        }
        self.phase.send_replace(phase);
    }

    /// Lets the calls that run end, within bounds; then ends the connection.
    async fn drain(
        &self,
        living: Pin<&mut (impl Future<Output = ConnectionEnd> + Send)>,
        order: Order,
        orders: &mut mpsc::Receiver<Order>,
        holder: &dyn Holder,
    ) {
        let Order::Drain(_, reason, patience) = order else { return };
        let now = Instant::now();
        let deadline = now + patience;
        // Calls that run take as long as calls usually do, and hardly ever as long as they may.
        let usual = self.stats.snapshot().latency.quantile(0.99).unwrap_or_default();
        *self.life.due.lock() = Some(now + usual.max(SHORTEST_DRAIN).min(patience));
        self.life.draining.store(true, Ordering::SeqCst);
        let finished = async {
            tokio::join!(self.tell_of_end(reason, patience), async {
                // Whoever passed the gate just before is about to call.
                tokio::time::sleep(LATECOMERS).await;
                self.using.idle().await;
            });
        };
        let hurried = async {
            while let Some(order) = orders.recv().await {
                if self.obey(order, holder).action == Action::Disconnect {
                    return;
                }
            }
        };
        tokio::select! {
            () = finished => {}
            _ = living => {}
            () = hurried => {}
            () = tokio::time::sleep_until(deadline) => {}
            () = self.context.ending.cancelled() => {}
        }
        *self.life.due.lock() = None;
        self.cut().await;
        self.life.cutting.store(false, Ordering::SeqCst);
    }

    /// Ends the connection; the next call makes it again.
    async fn fall_asleep(&self, holder: &dyn Holder) -> Action {
        let reason = ShutdownReason::IdleTimeout;
        // First out of sight: who comes now waits for the next connection.
        let hub = self.hub.load_full();
        self.step(LifecycleEvent::Drain(After::Sleep), Some(reason.as_str()), holder);
        self.hub.store(None);
        let quiet = async {
            tokio::time::sleep(LATECOMERS).await;
            self.using.idle().await;
        };
        let _ = tokio::time::timeout(self.spec.upkeep.drain, quiet).await;
        if let Some(hub) = hub {
            hub.connected.stop().await;
        }
        self.cut().await;
        self.step(LifecycleEvent::Drained, Some(reason.as_str()), holder).action
    }

    /// The server says of itself that it finishes what runs (MGP 11.4): it gets no new calls, and what its restart policy
    /// says comes after. What else it says of its state is known better here.
    pub fn says_of_itself(&self, notification: &Notification) {
        let said = |key: &str| notification.params.as_ref().and_then(|params| params.member(key)?.as_text());
        // Where each client has a process of its own, one of them does not speak for the others.
        let speaks = self.spec.sharing != Sharing::PerSession && self.hub_now().is_some_and(|hub| speaks_of_life(&hub));
        if speaks && said("new_state").as_deref() == Some(State::Draining.as_str()) && self.state() == State::Connected
        {
            let reason = said("reason")
                .and_then(|word| ShutdownReason::from_word(&word))
                .unwrap_or(ShutdownReason::ResourceLimit);
            let _ = self.order(Order::Drain(After::Policy, reason, self.spec.upkeep.drain));
        }
    }

    /// Tells a server that knows of it that it is to end (MGP 11.4).
    async fn tell_of_end(&self, reason: ShutdownReason, patience: Duration) {
        let Some(hub) = self.hub_now() else { return };
        if !speaks_of_life(&hub) {
            return;
        }
        let params = Edit::empty()
            .set("reason", Raw::string(reason.as_str()))
            .set("timeout_ms", Raw::number(millis(patience)))
            .finish();
        let mut call = Call::new(method::LIFECYCLE_SHUTDOWN, Some(params)).within(TELL.min(patience));
        call.max_timeout = TELL.min(patience);
        let _ = hub.remote().request(call).await;
    }

    /// Ends all connections that there are. Others can be made afterwards.
    async fn cut(&self) {
        let links = self.links.lock().as_mut().map(std::mem::take).unwrap_or_default();
        self.end_connections(links).await;
    }

    async fn end_connections(&self, links: Vec<Arc<switchboard_peer::client::Connected>>) {
        let hub = self.hub.swap(None);
        let links = futures_util::future::join_all(links.iter().map(|link| link.stop()));
        let hub = async {
            if let Some(hub) = &hub {
                hub.connected.stop().await;
            }
        };
        tokio::join!(links, hub);
    }

    /// Lets the calls that run end, within bounds, and then all connections, for good.
    async fn retire(&self, holder: &dyn Holder) {
        let ends = self.context.closing.is_cancelled();
        let reason = if ends { ShutdownReason::KernelShutdown } else { ShutdownReason::ConfigurationChange };
        let patience = self.spec.upkeep.drain;
        self.step(LifecycleEvent::Drain(After::Stop), Some(reason.as_str()), holder);
        let idle = async {
            // Whoever found this server just before it was replaced is about to call it.
            tokio::time::sleep(LATECOMERS).await;
            self.using.idle().await;
        };
        let finished = async {
            tokio::select! {
                () = idle => {}
                () = tokio::time::sleep(patience) => {}
                () = self.context.ending.cancelled() => {}
            }
        };
        let _ = tokio::join!(tokio::time::timeout(FAREWELL, self.tell_of_end(reason, patience)), finished);
        let links = self.links.lock().take().unwrap_or_default();
        self.end_connections(links).await;
        self.step(LifecycleEvent::Drained, Some(reason.as_str()), holder);
    }
}

/// Whether it was agreed to speak of health and lifecycle.
pub fn speaks_of_life(hub: &SharedConnection) -> bool {
    hub.agreement.as_ref().is_some_and(|agreement| agreement.has(Extension::Lifecycle))
}

const fn reason_of(order: Order) -> ShutdownReason {
    match order {
        Order::Start | Order::Stop => ShutdownReason::OperatorRequest,
        Order::Drain(_, reason, _) => reason,
    }
}

/// Any number.
pub fn chance() -> u64 {
    switchboard_peer::random_token().bytes().take(8).fold(0, |sum: u64, byte| sum.wrapping_mul(131) + u64::from(byte))
}

/// A time in whole milliseconds.
#[must_use]
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

//! The counters behind the step `rate`: of principals, servers and tools, as far as the operator set bounds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::meter::{Allowance, Exceeded, Left, Meters};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_upstream::{Server, millis};
use switchboard_wire::{Edit, Raw};
use tokio::time::Instant;

/// Counters that are kept at most.
const COUNTERS: usize = 65_536;
/// After how long it is worth another try where too many calls run.
const BUSY: Duration = Duration::from_secs(1);

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Counted {
    Principal(Arc<str>),
    Server(Arc<str>),
    Tool(Arc<str>, Box<str>),
}

impl Counted {
    const fn word(&self) -> &'static str {
        match self {
            Self::Principal(_) => "principal",
            Self::Server(_) => "server",
            Self::Tool(..) => "tool",
        }
    }
}

/// How much principals may do.
#[derive(Debug, Clone, Default)]
pub struct PrincipalRates {
    /// Each of them.
    pub each: Allowance,
    /// These, instead.
    pub named: HashMap<String, Allowance>,
}

impl PrincipalRates {
    fn is_unlimited(&self) -> bool {
        self.each.is_unlimited() && self.named.is_empty()
    }

    pub(crate) fn of(&self, principal: &str) -> Allowance {
        self.named.get(principal).copied().unwrap_or(self.each)
    }
}

/// The counters.
pub struct Rates {
    meters: Arc<Mutex<Meters<Counted>>>,
    principals: PrincipalRates,
    /// Counters know times since then.
    began: Instant,
}

impl std::fmt::Debug for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rates").field("principals", &self.principals).finish_non_exhaustive()
    }
}

impl Rates {
    pub(crate) fn new(principals: PrincipalRates) -> Self {
        Self { meters: Arc::new(Mutex::new(Meters::new(COUNTERS))), principals, began: Instant::now() }
    }
}

/// Stands for a call that is counted while it runs.
pub(crate) struct Metered {
    meters: Arc<Mutex<Meters<Counted>>>,
    running: Vec<Counted>,
}

impl Drop for Metered {
    fn drop(&mut self) {
        let mut meters = self.meters.lock();
        for counted in &self.running {
            meters.end(counted);
        }
    }
}

impl Rates {
    /// What a principal is held to, and what is left of it; nothing where the operator set no bound.
    pub fn principal_allowance(&self, principal: &Arc<str>) -> Option<(Allowance, Option<Left>)> {
        self.allowed(&Counted::Principal(principal.clone()), self.principals.of(principal))
    }

    /// The same for all calls of a server.
    pub fn server_allowance(&self, server: &Server) -> Option<(Allowance, Option<Left>)> {
        self.allowed(&Counted::Server(server.id().clone()), server.policy_now().pressure.rates)
    }

    /// The same for all calls of a tool.
    pub fn tool_allowance(&self, server: &Server, tool: &str) -> Option<(Allowance, Option<Left>)> {
        let allowed = *server.policy_now().pressure.tools.get(tool)?;
        self.allowed(&Counted::Tool(server.id().clone(), tool.into()), allowed)
    }

    /// Gives a request back that was counted for its principal.
    pub(crate) fn give_back(&self, principal: &Arc<str>) {
        let allowed = self.principals.of(principal);
        self.meters.lock().give_back(&Counted::Principal(principal.clone()), &allowed);
    }

    fn allowed(&self, counted: &Counted, allowed: Allowance) -> Option<(Allowance, Option<Left>)> {
        let left = || self.meters.lock().left(counted, &allowed, self.began.elapsed());
        (!allowed.is_unlimited()).then(|| (allowed, left()))
    }

    /// Counts a request, as one that runs until what is returned is dropped.
    ///
    /// # Errors
    /// A bound is reached.
    pub(crate) fn count(
        &self,
        principal: &Arc<str>,
        at: Option<(&Server, Option<&str>)>,
        holds: bool,
    ) -> Result<Option<Box<Metered>>, Fault> {
        let principals = &self.principals;
        let policy = at.map(|(server, _)| server.policy_now());
        let pressure = policy.as_ref().map(|policy| &policy.pressure);
        let is_free = pressure.is_none_or(|pressure| pressure.rates.is_unlimited() && pressure.tools.is_empty());
        if principals.is_unlimited() && is_free {
            return Ok(None);
        }
        let mut of_principal = principals.of(principal);
        if at.is_none() {
            // A quota is of the work of servers.
            of_principal.quota = None;
        }
        let mut wanted = vec![(Counted::Principal(principal.clone()), of_principal)];
        if let (Some((server, tool)), Some(pressure)) = (at, pressure) {
            wanted.push((Counted::Server(server.id().clone()), pressure.rates));
            let of_tool = tool.and_then(|tool| Some((tool, *pressure.tools.get(tool)?)));
            wanted.extend(of_tool.map(|(tool, allowed)| (Counted::Tool(server.id().clone(), tool.into()), allowed)));
        }
        wanted.retain(|(_, allowed)| !allowed.is_unlimited());
        if !holds {
            wanted.iter_mut().for_each(|(_, allowed)| allowed.concurrent = None);
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        let meters = &self.meters;
        let now = self.began.elapsed();
        let counted = meters.lock().begin(&wanted, now);
        if let Err((at, exceeded)) = counted {
            return Err(refusal(wanted.get(at).map_or("kernel", |(counted, _)| counted.word()), exceeded));
        }
        let running: Vec<_> = wanted
            .into_iter()
            .filter(|(_, allowed)| allowed.concurrent.is_some())
            .map(|(counted, _)| counted)
            .collect();
        Ok((!running.is_empty()).then(|| Box::new(Metered { meters: meters.clone(), running })))
    }
}

/// What the caller is told.
fn refusal(whose: &str, exceeded: Exceeded) -> Fault {
    let details = Edit::empty().set("scope", Raw::string(whose));
    let window = |details: Edit, count: u64, window: Duration| {
        details.set("limit", Raw::number(count)).set("window_secs", Raw::number(window.as_secs().max(1))).finish()
    };
    match exceeded {
        Exceeded::Rate { rate, after } => {
            let text = format!(
                "Rate limited: {} calls in {:.0} s are allowed for this {whose}",
                rate.count,
                rate.window.as_secs_f64().max(1.0)
            );
            Fault::new(FaultKind::RateLimited, text).retry_after(millis(after).max(1)).with_details(window(
                details,
                rate.count.into(),
                rate.window,
            ))
        }
        Exceeded::Quota { quota, after } => {
            let text = format!("Quota exceeded: {} calls are allowed for this {whose} in its period", quota.count);
            Fault::new(FaultKind::QuotaExceeded, text).retry_after(millis(after).max(1)).with_details(window(
                details,
                quota.count,
                quota.period,
            ))
        }
        Exceeded::Concurrent { most } => {
            let text = format!("{most} calls at a time are allowed for this {whose}, and as many run");
            Fault::new(FaultKind::ResourceExhausted, text)
                .retry_after(millis(BUSY))
                .with_details(details.set("limit", Raw::number(most.into())).finish())
        }
        Exceeded::Counters => Fault::new(FaultKind::ResourceExhausted, "too many callers are counted at once")
            .retry_after(millis(BUSY))
            .with_details(details.finish()),
    }
}

//! Access (MGP 5): may this principal use this tool of this server?
//!
//! A grant for the tool decides before a grant for the server, and that one before the default of the server. Where
//! two grants of one level differ, the denial decides. A grant that has expired is as if it had never been made, from
//! the very instant on. The table is built once per change and asked on every call, so it is indexed and an answer
//! takes the same time however many grants there are. It knows neither who may grant, nor where grants are kept, nor
//! what the time is.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use switchboard_protocol::mgp::DefaultPolicy;

/// The principal that a process on the same machine acts for: whoever started it.
pub const OWNER: &str = "local";
/// After this long, whatever was revoked is revoked everywhere: who revokes waits for it, and whoever decides by grants looks
/// for changes more often.
pub const SETTLED: Duration = Duration::from_millis(250);
/// The most principals that may stand behind one call, the first actor included.
pub const MAX_CHAIN: usize = 3;

/// One grant or denial (MGP 5.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whom it is about.
    pub principal: String,
    /// The server.
    pub server: String,
    /// The tool of a `tool_grant`; `None` for a `server_grant`.
    pub tool: Option<String>,
    /// Whether it allows or denies.
    pub allow: bool,
    /// The first instant at which it no longer counts.
    pub expires_at: Option<Timestamp>,
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Whether the call may go on.
    pub allow: bool,
    /// What decided.
    pub source: Source,
    /// The rule that decided, as its place in the list that the table was built from.
    pub rule: Option<usize>,
}

/// What decides about access (MGP 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A grant for this one tool.
    ToolGrant,
    /// A grant for the whole server.
    ServerGrant,
    /// No grant: the default of the server.
    DefaultPolicy,
}

impl Source {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolGrant => "tool_grant",
            Self::ServerGrant => "server_grant",
            Self::DefaultPolicy => "default_policy",
        }
    }
}

/// Why a chain of delegation is not even asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// Nobody stands behind the call.
    #[error("the chain of delegation names nobody")]
    Empty,
    /// Too many do.
    #[error("more than {MAX_CHAIN} principals stand behind this call")]
    TooDeep,
    /// One stands in it twice.
    #[error("a principal delegates to itself, directly or through others")]
    Cycle,
}

/// All rules, indexed.
#[derive(Debug, Clone, Default)]
pub struct AccessTable {
    rules: Vec<Rule>,
    principals: HashMap<String, HashMap<String, ServerRules>>,
}

#[derive(Debug, Clone, Default)]
struct ServerRules {
    server: Level,
    tools: HashMap<String, Level>,
}

/// The rules about one thing. Of all that allow, and of all that deny, only the one that lives longest matters: if it
/// has expired, so have the others.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    deny: Option<Lasting>,
    allow: Option<Lasting>,
}

#[derive(Debug, Clone, Copy)]
struct Lasting {
    rule: usize,
    expires_at: Option<Timestamp>,
}

impl AccessTable {
    /// Builds the table. Rules may stand twice.
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Self {
        let mut principals: HashMap<String, HashMap<String, ServerRules>> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            let servers = principals.entry(rule.principal.clone()).or_default();
            let of_server = servers.entry(rule.server.clone()).or_default();
            let level = match &rule.tool {
                Some(tool) => of_server.tools.entry(tool.clone()).or_default(),
                None => &mut of_server.server,
            };
            level.add(index, rule);
        }
        Self { rules, principals }
    }

    /// The rules as they were given.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether `principal` may use `tool` of `server`; without a tool, whether it may use the server as a whole.
    #[must_use]
    pub fn decide(
        &self,
        principal: &str,
        server: &str,
        tool: Option<&str>,
        default: DefaultPolicy,
        now: Timestamp,
    ) -> Access {
        let rules = self.principals.get(principal).and_then(|servers| servers.get(server));
        let of_tool = || Some((Source::ToolGrant, rules?.tools.get(tool?)?.decide(now)?));
        let of_server = || Some((Source::ServerGrant, rules?.server.decide(now)?));
        match of_tool().or_else(of_server) {
            Some((source, (allow, rule))) => Access { allow, source, rule: Some(rule) },
            None => Access { allow: default == DefaultPolicy::OptOut, source: Source::DefaultPolicy, rule: None },
        }
    }

    /// The same for a call that one principal makes for another: nobody gains by it, so each of them must be allowed.
    /// `chain` begins with the one who wants the call and ends with the one who sends it. The answer is the first
    /// denial, or else what allowed the first.
    ///
    /// # Errors
    /// The chain is empty, too long or a circle.
    pub fn decide_chain(
        &self,
        chain: &[&str],
        server: &str,
        tool: Option<&str>,
        default: DefaultPolicy,
        now: Timestamp,
    ) -> Result<Access, ChainFault> {
        let Some((first, others)) = chain.split_first() else { return Err(ChainFault::Empty) };
        if chain.len() > MAX_CHAIN {
            return Err(ChainFault::TooDeep);
        }
        if (1..chain.len()).any(|at| chain[..at].contains(&chain[at])) {
            return Err(ChainFault::Cycle);
        }
        let answer = self.decide(first, server, tool, default, now);
        if !answer.allow {
            return Ok(answer);
        }
        let denial =
            others.iter().map(|other| self.decide(other, server, tool, default, now)).find(|access| !access.allow);
        Ok(denial.unwrap_or(answer))
    }
}

impl Level {
    fn add(&mut self, index: usize, rule: &Rule) {
        let slot = if rule.allow { &mut self.allow } else { &mut self.deny };
        let longer = slot.is_none_or(|held| match (held.expires_at, rule.expires_at) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(held), Some(new)) => new > held,
        });
        if longer {
            *slot = Some(Lasting { rule: index, expires_at: rule.expires_at });
        }
    }

    fn decide(&self, now: Timestamp) -> Option<(bool, usize)> {
        let in_force = |lasting: Option<Lasting>| lasting.filter(|held| held.expires_at.is_none_or(|end| now < end));
        in_force(self.deny)
            .map(|held| (false, held.rule))
            .or_else(|| in_force(self.allow).map(|held| (true, held.rule)))
    }
}

//! Profiles: named parts of everything that is served, which a client chooses when it comes.
//!
//! A profile decides which servers and tools its sessions know of, how many of these are listed, and what a person is asked
//! about beside the usual. It only takes away: what the principal may not do is not to be had by a profile. It is looked up at
//! every use, so that a change holds for sessions that are open.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_catalog::Shown;
use switchboard_peer::Session;
use switchboard_protocol::mgp::Risk;

use crate::Gate;
use crate::ToolPolicy;
use switchboard_upstream::names;

/// The profiles that there are, by name.
pub type Profiles = HashMap<String, Profile>;

/// What is said of a profile.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// Servers that belong to it whole. Where neither servers nor tools are named, all do.
    pub servers: Vec<String>,
    /// Tools that belong to it.
    pub tools: Vec<ToolName>,
    /// Tools that do not belong to it.
    pub without: Vec<ToolName>,
    /// How much is listed; as for everybody where it is not said.
    pub shown: Option<Shown>,
    /// Tools that are always listed, beside those of everybody.
    pub pinned: Vec<String>,
    /// The highest risk of what can be used.
    pub max_risk: Option<Risk>,
    /// What a person is asked about, beside what is asked about anyway.
    pub confirm: Confirm,
}

/// What a person is asked about in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confirm {
    /// What is asked about everywhere.
    #[default]
    Usual,
    /// Everything that may change something.
    Changes,
    /// Every call.
    All,
}

/// The name of a tool, or the beginning of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolName {
    /// This one.
    Exactly(String),
    /// All that begin so.
    Beginning(String),
}

impl From<&str> for ToolName {
    /// A name, or with `*` behind it the beginning of names.
    fn from(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(start) => Self::Beginning(start.to_owned()),
            None => Self::Exactly(text.to_owned()),
        }
    }
}

impl ToolName {
    fn is(&self, name: &str) -> bool {
        match self {
            Self::Exactly(own) => own == name,
            Self::Beginning(start) => name.starts_with(start),
        }
    }
}

impl Profile {
    /// Whether a server belongs to it as a whole, with its prompts and resources.
    fn has_server(&self, server: &str) -> bool {
        self.servers.iter().any(|own| own == server) || self.servers.is_empty() && self.tools.is_empty()
    }

    /// Whether a tool belongs to it, by the names that clients use. What does not is left out also where only the server's own
    /// name for it is said: that a second server comes, and with it longer names, opens nothing.
    fn has_tool(&self, server: &str, original: &str, called: [&str; 3]) -> bool {
        let any = |names: &[ToolName], called: &[&str]| names.iter().any(|own| called.iter().any(|name| own.is(name)));
        !any(&self.without, &[original])
            && !any(&self.without, &called)
            && (self.has_server(server) || any(&self.tools, &called))
    }

    /// Whether something of this risk can be used.
    fn bears(&self, risk: Risk) -> bool {
        self.max_risk.is_none_or(|most| risk <= most)
    }

    /// Whether a person is asked before something of this risk.
    fn asks_about(&self, risk: Risk) -> bool {
        match self.confirm {
            Confirm::Usual => false,
            Confirm::Changes => risk > Risk::Safe,
            Confirm::All => true,
        }
    }
}

/// Under what the lists of a session are kept: sessions of one principal that may do different things see different ones.
pub fn rights_key(session: &Session) -> Arc<str> {
    let identity = &session.identity;
    if !identity.is_limited() {
        return session.principal.clone();
    }
    format!("{}\n{:?}\n{:?}", session.principal, identity.profile, identity.scopes).into()
}

impl Gate<'_> {
    /// Does something with the profile of a session; `None` where it is in none, `Some(None)` where that is gone.
    pub fn with_profile<T>(&self, session: &Session, work: impl FnOnce(&Profile) -> T) -> Option<Option<T>> {
        let name = session.identity.profile.as_deref()?;
        Some(self.options().profiles.get(name).map(work))
    }

    /// Whether the token and the profile of a session cover a tool of a server, given by the server's name and the one that
    /// clients see; without a tool, the server as a whole.
    pub(crate) fn covers(&self, session: &Session, server: &str, tool: Option<(&str, &str)>) -> bool {
        let identity = &session.identity;
        if !identity.is_limited() {
            return true;
        }
        let Some((original, exposed)) = tool else {
            let by_profile = self.with_profile(session, |profile| profile.has_server(server));
            // A token for single tools opens nothing else of their server.
            return identity.covers_whole_server(server) && by_profile.is_none_or(Option::unwrap_or_default);
        };
        // By its own name, its alias and its id: what was said before there was an alias, or a second server, still counts.
        let (long, by_id) = (self.naming_of(server).expose(original), names::expose(server, original));
        let called = [exposed, &long, &by_id];
        let by_token = called.iter().any(|name| identity.covers_tool(server, name));
        let by_profile = self.with_profile(session, |profile| {
            profile.has_tool(server, original, called)
                && (profile.max_risk.is_none() || self.risk_of(exposed).is_none_or(|risk| profile.bears(risk)))
        });
        by_token && by_profile.is_none_or(Option::unwrap_or_default)
    }

    /// How the tools of a server are called; by its id, where it is not there.
    pub fn naming_of(&self, server: &str) -> names::Naming {
        let found = self.server(server);
        found.map_or_else(|| names::Naming::of(server), |found| found.naming())
    }

    fn risk_of(&self, exposed: &str) -> Option<Risk> {
        Some(self.offers().tool(exposed)?.policy?.assessment.risk)
    }

    /// Whether the profile of a session bears what is about to be done.
    pub(crate) fn profile_bears(&self, session: &Session, policy: &ToolPolicy) -> bool {
        let borne = self.with_profile(session, |profile| profile.bears(policy.assessment.risk));
        borne.is_none_or(Option::unwrap_or_default)
    }

    /// Whether a person is asked before something because of the profile of the session.
    pub(crate) fn profile_asks(&self, session: &Session, policy: &ToolPolicy) -> bool {
        self.with_profile(session, |profile| profile.asks_about(policy.assessment.risk)).flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(servers: &[&str], tools: &[&str], without: &[&str]) -> Profile {
        let names = |names: &[&str]| names.iter().map(|&name| ToolName::from(name)).collect();
        let servers = servers.iter().map(|&id| id.to_owned()).collect();
        Profile { servers, tools: names(tools), without: names(without), ..Profile::default() }
    }

    #[test]
    fn a_profile_has_what_it_names() {
        let long = "git__push";
        for (servers, tools, without, names, whole, has) in [
            (&[][..], &[][..], &[][..], ["push", long], true, true),
            (&["git"], &[], &[], ["push", long], true, true),
            (&["github"], &[], &[], ["push", long], false, false),
            (&[], &["git__push"], &[], ["push", long], false, true),
            (&[], &["push"], &[], ["push", long], false, true),
            (&[], &["git__p*"], &[], ["push", long], false, true),
            (&[], &["git__l*"], &[], ["push", long], false, false),
            (&["git"], &[], &["git__push"], ["push", long], true, false),
            (&["git"], &[], &["push"], ["push", long], true, false),
            (&[], &[], &["git__*"], ["push", long], true, false),
            (&["time"], &["git__push"], &["git__log"], ["push", long], false, true),
            // With other servers beside it.
            (&["git"], &[], &["push"], [long, long], true, false),
            (&[], &["push"], &[], [long, long], false, false),
        ] {
            let profile = profile(servers, tools, without);
            assert_eq!(profile.has_server("git"), whole, "{profile:?}");
            let [exposed, long] = names;
            assert_eq!(profile.has_tool("git", "push", [exposed, long, long]), has, "{profile:?}");
        }
    }

    #[test]
    fn risk_and_questions() {
        let within = |most| Profile { max_risk: most, ..Profile::default() };
        assert!(within(None).bears(Risk::Dangerous) && within(Some(Risk::Moderate)).bears(Risk::Moderate));
        assert!(!within(Some(Risk::Safe)).bears(Risk::Moderate));
        for (confirm, safe, moderate) in
            [(Confirm::Usual, false, false), (Confirm::Changes, false, true), (Confirm::All, true, true)]
        {
            let profile = Profile { confirm, ..Profile::default() };
            assert_eq!((profile.asks_about(Risk::Safe), profile.asks_about(Risk::Moderate)), (safe, moderate));
        }
    }
}

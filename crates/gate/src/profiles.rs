//! Profiles: named parts of everything that is served, which a client chooses when it comes.
//!
//! A profile decides which servers and tools its sessions know of, how many of these are listed, and what a person is asked
//! about beside the usual. It only takes away: what the principal may not do is not to be had by a profile. It is looked up at
//! every use, so that a change holds for sessions that are open.

use std::collections::HashMap;

use switchboard_catalog::Shown;
use switchboard_protocol::mgp::Risk;

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
    pub(crate) fn has_server(&self, server: &str) -> bool {
        self.servers.iter().any(|own| own == server) || self.servers.is_empty() && self.tools.is_empty()
    }

    /// Whether a tool belongs to it, by the names that clients use. What does not is left out also where only the server's own
    /// name for it is said: that a second server comes, and with it longer names, opens nothing.
    pub(crate) fn has_tool(&self, server: &str, original: &str, called: [&str; 3]) -> bool {
        let any = |names: &[ToolName], called: &[&str]| names.iter().any(|own| called.iter().any(|name| own.is(name)));
        !any(&self.without, &[original])
            && !any(&self.without, &called)
            && (self.has_server(server) || any(&self.tools, &called))
    }

    /// Whether something of this risk can be used.
    pub(crate) fn bears(&self, risk: Risk) -> bool {
        self.max_risk.is_none_or(|most| risk <= most)
    }

    /// Whether a person is asked before something of this risk.
    pub(crate) fn asks_about(&self, risk: Risk) -> bool {
        match self.confirm {
            Confirm::Usual => false,
            Confirm::Changes => risk > Risk::Safe,
            Confirm::All => true,
        }
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

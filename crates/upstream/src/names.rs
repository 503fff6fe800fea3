//! The names under which tools and prompts of many servers are shown to clients.
//!
//! Pure: what a name becomes depends on nothing but the server's id and the name itself, so a name a model has
//! learned stays valid when other servers come and go.

mod meant;

use sha2::{Digest, Sha256};

pub use meant::meant_among;

/// Model services take names of at most 64 characters of `[A-Za-z0-9_-]`, and clients put their own in front: 18 characters are
/// `mcp__switchboard__`.
pub const MAX_EXPOSED_CHARS: usize = 46;
/// The budgets for a name that can be configured.
pub const SHORTEST_LIMIT: usize = 24;
/// The largest of them.
pub const LONGEST_LIMIT: usize = 128;
/// A prefix is not cut to fewer characters than these: three, and what tells it apart.
const SHORTEST_PREFIX: usize = 8;
/// What stands between the server and the name.
pub const SEPARATOR: &str = "__";
/// The prefix that only the kernel's own tools have, as they are listed: names with dots are refused by many model services.
pub const RESERVED: &str = "mgp_";
/// The same in the specification's spelling, which is understood as well.
const DOTTED: &str = "mgp.";

/// Whether a name is of the kernel's own, in either spelling.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED) || name.starts_with(DOTTED)
}

/// The name of a kernel's own tool as it is listed, whichever spelling a client uses.
///
/// ```
/// use switchboard_upstream::names::into_listed;
/// assert_eq!(into_listed("mgp.tools.discover".to_owned()), "mgp_tools_discover");
/// assert_eq!(into_listed("git__status.all".to_owned()), "git__status.all");
/// ```
#[must_use]
pub fn into_listed(name: String) -> String {
    if name.starts_with(DOTTED) { name.replace('.', "_") } else { name }
}

/// How the tools and prompts of one of several servers are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Naming {
    /// What cut names are told apart by.
    id: String,
    /// What stands before the separator.
    prefix: String,
    max: usize,
}

impl Naming {
    /// With the names that a server has by its id alone.
    #[must_use]
    pub fn of(id: &str) -> Self {
        Self::new(id, None, MAX_EXPOSED_CHARS)
    }

    /// With an alias in the place of the id, and a budget for the whole name.
    ///
    /// ```
    /// use switchboard_upstream::names::{MAX_EXPOSED_CHARS, Naming};
    /// assert_eq!(Naming::new("modelcontextprotocol.git", Some("git"), MAX_EXPOSED_CHARS).expose("status"), "git__status");
    /// ```
    #[must_use]
    pub fn new(id: &str, alias: Option<&str>, max: usize) -> Self {
        Self { id: id.to_owned(), prefix: plain(alias.unwrap_or(id)), max: max.clamp(SHORTEST_LIMIT, LONGEST_LIMIT) }
    }

    /// The same with another budget, for a client that leaves more room or less.
    #[must_use]
    pub fn within(&self, max: usize) -> Self {
        Self { max: max.clamp(SHORTEST_LIMIT, LONGEST_LIMIT), ..self.clone() }
    }

    /// The name under which a tool is shown. Where it is too long the server's part gives way first: models choose by
    /// the tool's.
    #[must_use]
    pub fn expose(&self, name: &str) -> String {
        let own = plain(name);
        let room = self.max.saturating_sub(SEPARATOR.len() + own.len());
        if self.prefix.len() <= room {
            return format!("{}{SEPARATOR}{own}", self.prefix);
        }
        if room >= SHORTEST_PREFIX {
            return format!("{}{SEPARATOR}{own}", self.cut_prefix(room));
        }
        // Cut names stay apart by a piece of the hash of what they stand for.
        let suffix = digits(&[self.id.as_bytes(), &[0], name.as_bytes()], 4);
        let prefix =
            if self.prefix.len() <= SHORTEST_PREFIX { self.prefix.clone() } else { self.cut_prefix(SHORTEST_PREFIX) };
        let left = self.max - prefix.len() - SEPARATOR.len() - suffix.len() - 1;
        format!("{prefix}{SEPARATOR}{}_{suffix}", &own[..left.min(own.len())])
    }

    /// What the server may call the thing that clients know by `exposed`, going by its prefix; `None` where it cannot be of
    /// this server. A name that was cut is given as it is cut.
    #[must_use]
    pub fn own_part<'a>(&self, exposed: &'a str) -> Option<&'a str> {
        let after = |at: usize| exposed.get(at + SEPARATOR.len()..).filter(|own| !own.is_empty());
        if let Some(own) = exposed.strip_prefix(self.prefix.as_str()).and_then(|rest| rest.strip_prefix(SEPARATOR)) {
            return Some(own).filter(|own| !own.is_empty());
        }
        if exposed.len() != self.max {
            return None;
        }
        let separators = exposed.match_indices(SEPARATOR).map(|(at, _)| at);
        let mut cut = separators.filter(|at| (SHORTEST_PREFIX..self.prefix.len()).contains(at));
        cut.find(|at| exposed.get(..*at) == Some(self.cut_prefix(*at).as_str())).and_then(after)
    }

    /// The beginning of the prefix and a piece of the hash of the id: so many characters altogether.
    fn cut_prefix(&self, length: usize) -> String {
        let mark = digits(&[self.id.as_bytes()], 2);
        format!("{}_{mark}", &self.prefix[..(length - mark.len() - 1).min(self.prefix.len())])
    }
}

/// The name under which one of several servers' tools is shown, where nothing is said of it.
///
/// ```
/// assert_eq!(switchboard_upstream::names::expose("git", "status"), "git__status");
/// ```
#[must_use]
pub fn expose(server: &str, name: &str) -> String {
    Naming::of(server).expose(name)
}

/// The first bytes of a hash, as digits.
fn digits(parts: &[&[u8]], bytes: usize) -> String {
    let hash = parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize();
    hash.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// A text with only the characters that names may have.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

/// Why a server's own name for something is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Empty, too long, or with characters that a person could not tell apart.
    #[error("a name is 1 to 128 characters of A-Z a-z 0-9 _ . / -")]
    Characters,
    /// The kernel's own prefix.
    #[error("names that begin with `mgp.` or `mgp_` belong to the kernel")]
    Reserved,
}

/// Checks the name that a server gave one of its tools.
///
/// # Errors
/// The name is not one that can be shown safely.
pub fn check(name: &str) -> Result<(), BadName> {
    if is_reserved(name) {
        return Err(BadName::Reserved);
    }
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    if (1..=128).contains(&name.len()) && name.chars().all(good) { Ok(()) } else { Err(BadName::Characters) }
}

/// What two names have in common when a person could take one for the other.
#[must_use]
pub fn skeleton(name: &str) -> String {
    name.chars()
        .map(|c| match c.to_ascii_lowercase() {
            '-' | '.' | '/' | ' ' => '_',
            '0' => 'o',
            '1' => 'l',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_tells_which_server_it_may_be_of() {
        let (long, longer) = ("a".repeat(80), "s".repeat(60));
        for (server, exposed, expected) in [
            ("git", "git__status", Some("status")),
            ("mind.cerebras", "mind_cerebras__think", Some("think")),
            ("git", "git__", None),
            ("git", "status", None),
            ("git", "gitlab__status", None),
        ] {
            assert_eq!(Naming::of(server).own_part(exposed), expected, "{server} {exposed}");
        }
        for (server, name) in [("git", &*long), (&*longer, "status"), (&*longer, "get_all__parts"), (&*longer, &*long)]
        {
            let own = Naming::of(server).own_part(&expose(server, name)).map(str::to_owned);
            assert!(own.as_deref().is_some_and(|own| own == name || name == long), "{server} {name}: {own:?}");
        }
        assert_eq!(Naming::of(&longer).own_part("status"), None);
        let aliased = Naming::new(&longer, Some("s"), MAX_EXPOSED_CHARS);
        assert_eq!((aliased.expose("status").as_str(), aliased.own_part("s__status")), ("s__status", Some("status")));
    }

    #[test]
    fn names_are_prefixed_cleaned_and_cut() {
        let long = "a".repeat(80);
        for (server, name, expected) in [
            ("git", "status", "git__status".to_owned()),
            ("mind.cerebras", "think", "mind_cerebras__think".to_owned()),
            ("files", "read/text", "files__read_text".to_owned()),
            ("s", &long, format!("s__{}_", "a".repeat(34))),
        ] {
            let exposed = expose(server, name);
            assert!(exposed.starts_with(&expected), "{exposed}");
            assert!(exposed.len() <= MAX_EXPOSED_CHARS);
        }
        assert_ne!(expose("s", &format!("{long}1")), expose("s", &format!("{long}2")));
    }

    #[test]
    fn the_server_gives_way_before_the_tool() {
        let id = "modelcontextprotocol-server-sequential-thinking";
        for name in ["sequentialthinking", "list_all_open_pull_requests_of_team"] {
            let exposed = expose(id, name);
            assert!(exposed.ends_with(&format!("__{name}")) && exposed.starts_with("mod"), "{exposed}");
            assert_eq!(exposed.len(), MAX_EXPOSED_CHARS);
        }
        assert_ne!(
            expose(id, "a_tool_of_thirty_characters_xx"),
            expose(&format!("{id}2"), "a_tool_of_thirty_characters_xx")
        );
        let wide = Naming::new(id, None, 64);
        assert_eq!(wide.expose("think"), format!("{id}__think"));
        assert_eq!(Naming::new(id, None, 30).expose("sequentialthinking").len(), 30);
    }

    #[test]
    fn bad_names_are_refused() {
        assert_eq!(check("mgp.access.query"), Err(BadName::Reserved));
        for name in ["", "two words", "r\u{435}ad", "a\u{200b}b", &"x".repeat(129)] {
            assert_eq!(check(name), Err(BadName::Characters), "{name}");
        }
        assert_eq!(check("gwt/compute.delta-1_x"), Ok(()));
    }

    #[test]
    fn look_alikes_share_a_skeleton() {
        assert_eq!(skeleton("Read-File0"), skeleton("read_fileO"));
        assert_ne!(skeleton("read"), skeleton("write"));
    }

    proptest! {
        #[test]
        fn exposed_names_fit_every_client(server in ".{1,40}", name in ".{1,200}") {
            let exposed = expose(&server, &name);
            prop_assert!(exposed.len() <= MAX_EXPOSED_CHARS);
            prop_assert!(Naming::new(&server, None, 24).expose(&name).len() <= 24);
            prop_assert!(Naming::of(&server).own_part(&exposed).is_some());
            prop_assert!(exposed.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }
    }
}

//! The names under which tools and prompts of many servers are shown to clients.
//!
//! Pure: what a name becomes depends on nothing but the server's id and the name itself, so a name a model has
//! learned stays valid when other servers come and go.

use sha2::{Digest, Sha256};

/// Model services take names of at most 64 characters of `[A-Za-z0-9_-]`, and clients put their own in front: 18 characters are
/// `mcp__switchboard__`.
pub const LONGEST: usize = 46;
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
/// use switchboard_kernel::names::into_listed;
/// assert_eq!(into_listed("mgp.tools.discover".to_owned()), "mgp_tools_discover");
/// assert_eq!(into_listed("git__status.all".to_owned()), "git__status.all");
/// ```
#[must_use]
pub fn into_listed(name: String) -> String {
    if name.starts_with(DOTTED) { name.replace('.', "_") } else { name }
}

/// The name under which one of several servers' tools is shown.
///
/// ```
/// assert_eq!(switchboard_kernel::names::expose("git", "status"), "git__status");
/// ```
#[must_use]
pub fn expose(server: &str, name: &str) -> String {
    let full = format!("{}{SEPARATOR}{}", plain(server), plain(name));
    if full.len() <= LONGEST {
        return full;
    }
    // Cut names stay apart by a piece of the hash of what they stand for.
    let hash = Sha256::new().chain_update(server).chain_update([0]).chain_update(name).finalize();
    let suffix: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{suffix}", &full[..LONGEST - 9])
}

/// What a server may call the thing that clients know by `exposed`, going by its prefix; `None` where it cannot be of this
/// server. Of a name that was cut the server's own is not known: the whole is given.
#[must_use]
pub fn own_part<'a>(server: &str, exposed: &'a str) -> Option<&'a str> {
    let prefix = format!("{}{SEPARATOR}", plain(server));
    let cut = LONGEST - 9;
    if prefix.len() > cut {
        return (exposed.len() == LONGEST && exposed.starts_with(&prefix[..cut])).then_some(exposed);
    }
    exposed.strip_prefix(prefix.as_str()).filter(|own| !own.is_empty())
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
            assert_eq!(own_part(server, exposed), expected, "{server} {exposed}");
        }
        for (server, name) in [("git", &*long), (&*longer, "status"), (&*longer, &*long)] {
            assert!(own_part(server, &expose(server, name)).is_some(), "{server} {name}");
        }
        assert_eq!(own_part(&longer, "status"), None);
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
            assert!(exposed.len() <= LONGEST);
        }
        assert_ne!(expose("s", &format!("{long}1")), expose("s", &format!("{long}2")));
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
            prop_assert!(exposed.len() <= LONGEST);
            prop_assert!(exposed.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }
    }
}

//! Which space a caller gets: its own, the one that all have, or one that it names and may use. Pure.
//!
//! Who the caller is was found out by the connection; nothing of it is taken from a message.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::error::{Code, Outcome, Problem};

/// Characters of the name of a space.
pub(super) const NAME: usize = 64;
/// The principal of a connection that needs no token: whoever uses this machine.
const LOCAL: &str = "local";
/// Stands for every principal.
const EVERYBODY: &str = "*";

/// Which space a caller gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpaceSharing {
    /// All callers have the same, and may name others.
    Shared,
    /// Each principal has its own.
    PerPrincipal(Principals),
}

/// What holds beside that each principal has a space of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Principals {
    /// The principal whose memory is the default space, and who may name every space.
    pub owner: Option<String>,
    /// Spaces that several use, and who; `*` is everybody. `None`: those whose name begins with `shared` are open to all.
    pub shared: Option<BTreeMap<String, Vec<String>>>,
}

impl Principals {
    fn may_use(&self, principal: &str, space: &str) -> bool {
        match &self.shared {
            None => space.starts_with("shared"),
            Some(shared) => {
                shared.get(space).is_some_and(|users| users.iter().any(|user| user == EVERYBODY || user == principal))
            }
        }
    }
}

impl SpaceSharing {
    /// The space that `principal` gets, or the one that it wants.
    pub(super) fn space_of(&self, default: &str, principal: &str, wanted: Option<&str>) -> Outcome<String> {
        let own = match self {
            Self::Shared => default.to_owned(),
            Self::PerPrincipal(all) if all.owner.as_deref() == Some(principal) => default.to_owned(),
            Self::PerPrincipal(_) => own_name(principal),
        };
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty() && *wanted != own) else { return Ok(own) };
        let plain = wanted.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !plain || wanted.len() > NAME {
            let message = format!("`space` has at most {NAME} letters, digits, dots, dashes and underscores");
            return Err(Problem::params(message));
        }
        match self {
            Self::Shared => {}
            Self::PerPrincipal(all) if all.owner.as_deref() == Some(principal) || all.may_use(principal, wanted) => {}
            Self::PerPrincipal(all) => {
                let next = if all.shared.is_none() {
                    "those that begin with `shared` are open to all"
                } else {
                    "leave it out"
                };
                let message = format!("the space {wanted:?} is not yours; {next}");
                return Err(Problem::new(Code::InvalidParams, "SPACE_NOT_YOURS", message));
            }
        }
        Ok(wanted.to_owned())
    }

    /// Whether a principal is the owner of the machine. Where all have the same, that is whoever is here.
    pub(super) fn is_owner(&self, principal: &str) -> bool {
        match self {
            Self::Shared => principal.is_empty() || principal == LOCAL,
            Self::PerPrincipal(all) => all.owner.as_deref() == Some(principal),
        }
    }

    /// Whether the configuration names a space.
    pub(super) fn names(&self, space: &str) -> bool {
        match self {
            Self::Shared => false,
            Self::PerPrincipal(all) => all.shared.as_ref().is_some_and(|shared| shared.contains_key(space)),
        }
    }

    /// Whether a space is the principal's own, by its name.
    pub(super) fn is_own(&self, principal: &str, space: &str) -> bool {
        matches!(self, Self::PerPrincipal(_)) && own_name(principal) == space
    }

    /// Who may hear of what happens in a space, where it is not everybody: `belongs_to` is whose own it is, if that is
    /// known. The owner of the machine always may.
    pub(super) fn hear_of(&self, default: &str, space: &str, belongs_to: Option<&str>) -> Option<Vec<String>> {
        let Self::PerPrincipal(all) = self else { return None };
        let owner = all.owner.iter().cloned();
        if space == default {
            return Some(owner.collect());
        }
        if let Some(principal) = belongs_to.filter(|principal| self.is_own(principal, space)) {
            return Some(owner.chain([principal.to_owned()]).collect());
        }
        match &all.shared {
            None if space.starts_with("shared") => None,
            None => Some(owner.collect()),
            Some(shared) => {
                let users = shared.get(space).map(Vec::as_slice).unwrap_or_default();
                let everybody = users.iter().any(|user| user == EVERYBODY);
                (!everybody).then(|| owner.chain(users.iter().cloned()).collect())
            }
        }
    }
}

/// The name of a principal's own space. It begins like none that is shared, and two principals never meet in one: what
/// the name cannot hold of them is in the digest.
fn own_name(principal: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let shown: String = principal.chars().map(plain).take(28).collect();
    let digest = Sha256::digest(principal.as_bytes());
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("of-{shown}-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_principal(shared: Option<&[(&str, &[&str])]>) -> SpaceSharing {
        let shared = shared.map(|all| {
            let entry = |(space, users): &(&str, &[&str])| {
                ((*space).to_owned(), users.iter().map(|user| (*user).to_owned()).collect())
            };
            all.iter().map(entry).collect()
        });
        SpaceSharing::PerPrincipal(Principals { owner: Some("local".to_owned()), shared })
    }

    #[test]
    fn who_gets_which_space() {
        let (ann, ben) = (own_name("ann"), own_name("ben"));
        let open = per_principal(None);
        let listed = per_principal(Some(&[("team", &["ann", "ben"]), ("news", &["*"])]));
        let cases: [(&SpaceSharing, &str, Option<&str>, Option<&str>); 20] = [
            (&SpaceSharing::Shared, "ann", None, Some("default")),
            (&SpaceSharing::Shared, "ann", Some("work"), Some("work")),
            (&SpaceSharing::Shared, "ann", Some(""), Some("default")),
            (&SpaceSharing::Shared, "ann", Some("../x"), None),
            (&open, "local", None, Some("default")),
            (&open, "local", Some(&ann), Some(&ann)),
            (&open, "ann", None, Some(&ann)),
            (&open, "ann", Some(&ann), Some(&ann)),
            (&open, "ann", Some(&ben), None),
            (&open, "ann", Some("default"), None),
            (&open, "ann", Some("shared-news"), Some("shared-news")),
            (&open, "", Some("default"), None),
            (&listed, "ann", Some("team"), Some("team")),
            (&listed, "ben", Some("team"), Some("team")),
            (&listed, "eve", Some("team"), None),
            (&listed, "eve", Some("news"), Some("news")),
            // What is listed is all there is.
            (&listed, "eve", Some("shared-news"), None),
            (&listed, "eve", None, Some(&own_name("eve"))),
            (&listed, "local", Some("team"), Some("team")),
            (&listed, "*", Some("team"), None),
        ];
        for (sharing, principal, wanted, expected) in cases {
            let found = sharing.space_of("default", principal, wanted);
            assert_eq!(found.as_deref().ok(), expected, "{principal} {wanted:?}");
        }
    }

    #[test]
    fn who_hears_of_what() {
        let open = per_principal(None);
        let listed = per_principal(Some(&[("team", &["ann", "ben"]), ("news", &["*"])]));
        let own = own_name("ann");
        type Names = Option<&'static [&'static str]>;
        let cases: [(&SpaceSharing, &str, Option<&str>, Names); 9] = [
            (&SpaceSharing::Shared, "anything", None, None),
            (&open, "default", Some("ann"), Some(&["local"])),
            (&open, &own, Some("ann"), Some(&["local", "ann"])),
            (&open, &own, None, Some(&["local"])),
            (&open, &own, Some("eve"), Some(&["local"])),
            (&open, "shared-x", None, None),
            (&listed, "shared-x", None, Some(&["local"])),
            (&listed, "team", None, Some(&["local", "ann", "ben"])),
            (&listed, "news", None, None),
        ];
        for (sharing, space, belongs_to, expected) in cases {
            let heard = sharing.hear_of("default", space, belongs_to);
            let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            assert_eq!(heard, expected, "{space} {belongs_to:?}");
        }
    }

    #[test]
    fn names_of_principals_make_no_space_of_another() {
        let names =
            ["shared", "shared-bot", "a b", "a_b", "local", "", &"x".repeat(100), &"x".repeat(101), "\u{e4}", "\u{f6}"];
        let spaces: std::collections::BTreeSet<String> = names.iter().map(|name| own_name(name)).collect();
        assert_eq!(spaces.len(), names.len());
        assert!(spaces.iter().all(|space| space.len() <= NAME && !space.starts_with("shared")), "{spaces:?}");
        assert!(spaces.iter().all(|space| space.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))));
    }
}

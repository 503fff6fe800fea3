//! Sets of scopes, and which of them to ask for.

use std::collections::BTreeSet;
use std::fmt;

/// How many scopes are ever asked for at once. A server that wants more of them one by one is going in circles.
const MAX_SCOPES: usize = 200;

/// A set of scopes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthScopes(BTreeSet<String>);

impl OAuthScopes {
    /// The scopes of a text, divided by spaces. What cannot be a scope is left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut scopes = Self::default();
        scopes.extend(text.split_ascii_whitespace());
        scopes
    }

    /// They, one by one.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every scope of `other` is in here.
    #[must_use]
    pub fn contains_all(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }

    fn extend<'a>(&mut self, more: impl IntoIterator<Item = &'a str>) {
        for scope in more {
            // RFC 6749, section 3.3.
            let valid = !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
            if valid && self.0.len() < MAX_SCOPES {
                self.0.insert(scope.to_owned());
            }
        }
    }
}

/// The form in which scopes are sent.
impl fmt::Display for OAuthScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, scope) in self.0.iter().enumerate() {
            let space = if position == 0 { "" } else { " " };
            write!(f, "{space}{scope}")?;
        }
        Ok(())
    }
}

/// What is known when scopes are chosen.
#[derive(Debug, Default)]
pub(super) struct Situation<'a> {
    /// What was asked for before, of the same authorization server for the same resource.
    pub(super) before: Option<&'a OAuthScopes>,
    /// `scope` of the server's challenge.
    pub(super) challenge: Option<&'a str>,
    /// `scopes_supported` of the resource.
    pub(super) resource: &'a [String],
    /// Whether we want refresh tokens, and the authorization server gives them for a scope.
    pub(super) offline: bool,
}

/// The scopes to ask for: what the challenge wants, else what the resource names, and never less than before. Empty
/// means that the parameter is left out, so that the authorization server decides.
pub(super) fn choose(situation: &Situation<'_>) -> OAuthScopes {
    let mut scopes = situation.before.cloned().unwrap_or_default();
    match situation.challenge {
        Some(challenge) => scopes.extend(challenge.split_ascii_whitespace()),
        None => scopes.extend(situation.resource.iter().map(String::as_str)),
    }
    // Alone it would take the place of the authorization server's own choice.
    if situation.offline && !scopes.is_empty() {
        scopes.extend(["offline_access"]);
    }
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_come_from_the_challenge_then_the_resource_and_add_up() {
        let resource = ["r1".to_owned(), "r2".to_owned()];
        let none: [String; 0] = [];
        let before = OAuthScopes::parse("old");
        let cases = [
            (None, Some("a b"), &resource[..], false, "a b"),
            (None, Some("a"), &none[..], true, "a offline_access"),
            (None, None, &resource[..], false, "r1 r2"),
            (None, None, &none[..], false, ""),
            (None, None, &none[..], true, ""),
            (Some(&before), Some("a"), &resource[..], false, "a old"),
            (Some(&before), None, &resource[..], false, "old r1 r2"),
            (Some(&before), Some("old"), &resource[..], false, "old"),
            (None, Some("good b\"ad back\\slash \u{e4}"), &none[..], false, "good"),
            (None, Some(""), &resource[..], false, ""),
        ];
        for (before, challenge, resource, offline, expected) in cases {
            let situation = Situation { before, challenge, resource, offline };
            assert_eq!(choose(&situation).to_string(), expected, "{situation:?}");
        }
    }

    #[test]
    fn a_server_cannot_make_the_set_grow_for_ever() {
        let many: Vec<String> = (0..MAX_SCOPES + 50).map(|number| format!("s{number}")).collect();
        let chosen = choose(&Situation { resource: &many, ..Situation::default() });
        assert_eq!(chosen.0.len(), MAX_SCOPES);
    }
}

//! Who was authenticated, how, and what the proof is good for. Nothing here says what anybody may do: that is decided
//! by grants. The scopes of a token only take away.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

/// Who was authenticated. Cheap to clone; all clones are the same identity.
#[derive(Clone)]
pub struct Principal(Arc<Identity>);

/// What is known of someone who was authenticated.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The principal: what grants are given to, and what audit names.
    pub name: Arc<str>,
    /// How the identity was proved.
    pub method: Method,
    /// Whether it may decide for others: grant, revoke and answer approvals.
    pub admin: bool,
    /// What the token is limited to; `None` where it is good for everything that the principal may do.
    pub scopes: Option<Scopes>,
    /// The profile that the client chose: a named part of everything that is served. Like scopes it only takes away.
    pub profile: Option<Arc<str>>,
    /// When the proof ends, where it does.
    pub expires_at: Option<SystemTime>,
    /// Cancelled when the proof is worth nothing any more: revoked, or past its end. Whoever keeps a stream open for
    /// this identity ends it then.
    pub ended: CancellationToken,
}

/// How an identity was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Not at all: it is whoever started this process, or whoever can reach a listener that asks for nothing.
    Local,
    /// By a token of ours.
    Token,
    /// By a signed token of an identity provider.
    Oidc,
}

impl Method {
    /// The word for audit and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Token => "token",
            Self::Oidc => "oidc",
        }
    }
}

impl Identity {
    /// Someone of this name who may not decide for others and is not limited further.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, method: Method) -> Self {
        Self {
            name: name.into(),
            method,
            admin: false,
            scopes: None,
            profile: None,
            expires_at: None,
            ended: CancellationToken::new(),
        }
    }

    /// The same within a profile. Who works in one decides nothing for others.
    #[must_use]
    pub fn within_profile(&self, name: impl Into<Arc<str>>) -> Self {
        Self { admin: false, profile: Some(name.into()), ..self.clone() }
    }

    /// Whether the proof was taken back, and did not only come to its end: whoever shows a new one may go on after that.
    #[must_use]
    pub fn is_revoked(&self, now: SystemTime) -> bool {
        self.ended.is_cancelled() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether it is good for less than the principal may do.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.scopes.is_some() || self.profile.is_some()
    }

    /// Whether the token covers a server as a whole, its prompts and resources too. One for single tools does not.
    #[must_use]
    pub fn covers_whole_server(&self, server: &str) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.covers_whole_server(server))
    }

    /// Whether the token covers a tool, under the name that clients see, of a server.
    #[must_use]
    pub fn covers_tool(&self, server: &str, exposed: &str) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.covers_tool(server, exposed))
    }

    /// Whether what one of them began may go on for the other: the same principal with the same rights.
    #[must_use]
    pub fn same_rights(&self, other: &Self) -> bool {
        self.name == other.name
            && self.admin == other.admin
            && self.scopes == other.scopes
            && self.profile == other.profile
    }
}

impl Principal {
    /// The one who started this process, with the right to decide for others.
    #[must_use]
    pub fn owner(name: impl Into<Arc<str>>) -> Self {
        Identity { admin: true, ..Identity::new(name, Method::Local) }.into()
    }
}

impl Deref for Principal {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.0
    }
}

impl From<Identity> for Principal {
    fn from(identity: Identity) -> Self {
        Self(Arc::new(identity))
    }
}

impl From<&str> for Principal {
    /// Someone of this name, without any proof and without rights over others.
    fn from(name: &str) -> Self {
        Identity::new(name, Method::Local).into()
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.method.as_str())
    }
}

/// Servers and tools that a token is limited to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(Box<[Scope]>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    Server(Box<str>),
    /// A name, or the beginning of names.
    Tool(Box<str>, bool),
}

/// A word that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scope: write admin, server:ID, tool:NAME or tool:PREFIX*")]
pub struct BadScope(pub String);

/// The scope that gives the right to decide for others.
const ADMIN: &str = "admin";

impl Scopes {
    /// Reads scopes: whether `admin` is among them, and the limits that the others set, if there are any.
    ///
    /// # Errors
    /// A word is no scope. Leaving it out could make the token wider than was meant.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<(bool, Option<Self>), BadScope> {
        let (mut admin, mut scopes) = (false, Vec::new());
        for word in words {
            if word == ADMIN {
                admin = true;
                continue;
            }
            let scope = match word.split_once(':') {
                Some(("server", id)) if is_name(id) => Scope::Server(id.into()),
                Some(("tool", name)) => match name.strip_suffix('*') {
                    Some(start) if is_name(start) => Scope::Tool(start.into(), true),
                    None if is_name(name) => Scope::Tool(name.into(), false),
                    _ => return Err(BadScope(word.to_owned())),
                },
                _ => return Err(BadScope(word.to_owned())),
            };
            scopes.push(scope);
        }
        Ok((admin, (!scopes.is_empty()).then(|| Self(scopes.into()))))
    }

    fn covers_whole_server(&self, server: &str) -> bool {
        self.0.iter().any(|scope| matches!(scope, Scope::Server(id) if **id == *server))
    }

    fn covers_tool(&self, server: &str, exposed: &str) -> bool {
        self.0.iter().any(|scope| match scope {
            Scope::Server(id) => &**id == server,
            Scope::Tool(name, false) => &**name == exposed,
            Scope::Tool(start, true) => exposed.starts_with(&**start),
        })
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 256
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(words: &[&str]) -> Identity {
        let (admin, scopes) = Scopes::parse(words.iter().copied()).unwrap();
        Identity { admin, scopes, ..Identity::new("ann", Method::Token) }
    }

    #[test]
    fn scopes_take_away() {
        for (words, server, tool, covered) in [
            (&[][..], "git", "git__status", true),
            (&["admin"], "git", "git__status", true),
            (&["server:git"], "git", "git__status", true),
            (&["server:git"], "github", "github__status", false),
            (&["tool:git__status"], "git", "git__status", true),
            (&["tool:git__status"], "git", "git__status2", false),
            (&["tool:git__*"], "git", "git__log", true),
            (&["tool:git__*"], "time", "time__now", false),
            (&["server:time", "tool:git__log"], "git", "git__log", true),
            (&["server:time", "tool:git__log"], "git", "git__push", false),
        ] {
            assert_eq!(limited(words).covers_tool(server, tool), covered, "{words:?} {tool}");
        }
        assert!(!limited(&["tool:git__log"]).covers_whole_server("git"));
        assert!(limited(&["server:git"]).covers_whole_server("git"));
        assert!(!limited(&["server:time"]).covers_whole_server("git"));
        assert!(limited(&["admin"]).admin && !limited(&["server:git"]).admin);
    }

    #[test]
    fn a_word_that_is_no_scope_is_refused() {
        for word in
            ["", "Admin", "admin ", "server:", "server:*", "server:a b", "tool:*", "tool:", "tool:a*b", "all", "*"]
        {
            assert_eq!(Scopes::parse([word]), Err(BadScope(word.to_owned())), "{word}");
        }
    }

    #[test]
    fn what_has_come_to_its_end_was_not_taken_back() {
        let now = SystemTime::now();
        let second = std::time::Duration::from_secs(1);
        for (expires_at, ended, revoked) in [
            (None, false, false),
            (None, true, true),
            (Some(now + second), true, true),
            (Some(now + second), false, false),
            (Some(now - second), true, false),
        ] {
            let identity = Identity { expires_at, ..Identity::new("ann", Method::Token) };
            if ended {
                identity.ended.cancel();
            }
            assert_eq!(identity.is_revoked(now), revoked, "{expires_at:?} {ended}");
        }
    }

    #[test]
    fn rights_are_the_same_only_if_all_of_them_are() {
        let ann = || Identity::new("ann", Method::Token);
        let later = Identity { expires_at: Some(SystemTime::now()), ..ann() };
        assert!(ann().same_rights(&later));
        for other in [
            Identity::new("bob", Method::Token),
            Identity { admin: true, ..ann() },
            limited(&["server:git"]),
            ann().within_profile("work"),
        ] {
            assert!(!ann().same_rights(&other), "{other:?}");
        }
    }
}

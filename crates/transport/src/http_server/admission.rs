//! Who is let in: `Host`, `Origin` and the bearer token, decided from the head of a request alone.

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use super::Principal;

/// How long a check that has to ask elsewhere may take.
const LATER: Duration = Duration::from_secs(20);

/// Finds out whose a bearer token is.
pub trait Authenticator: Send + Sync + 'static {
    /// Judges what follows `Bearer`; `None` where a request has no such header. Secrets are compared in constant time.
    fn check(&self, token: Option<&str>) -> Checked;
}

/// What an [`Authenticator`] found.
#[derive(Default)]
pub enum Checked {
    /// Whose token it is.
    Known(Principal),
    /// Nobody's.
    #[default]
    Unknown,
    /// The token was good, and its time is over.
    Expired,
    /// The token is genuine, and lacks a scope without which nobody is let in.
    Insufficient,
    /// Whose it is cannot be told at present: what knows the tokens does not answer.
    Unavailable,
    /// It has to be asked elsewhere first, keys of an identity provider mostly. Ends by itself.
    Later(Pin<Box<dyn Future<Output = Self> + Send>>),
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(principal) => f.debug_tuple("Known").field(principal).finish(),
            Self::Unknown => f.write_str("Unknown"),
            Self::Expired => f.write_str("Expired"),
            Self::Insufficient => f.write_str("Insufficient"),
            Self::Unavailable => f.write_str("Unavailable"),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

impl<F: Fn(Option<&str>) -> Option<Principal> + Send + Sync + 'static> Authenticator for F {
    fn check(&self, token: Option<&str>) -> Checked {
        self(token).map_or(Checked::Unknown, Checked::Known)
    }
}

/// `WWW-Authenticate` for those who are not let in (RFC 6750, RFC 9728).
#[derive(Debug, Clone)]
pub struct Challenges {
    /// For a request without a token.
    pub missing: HeaderValue,
    /// For one whose token is not good.
    pub invalid: HeaderValue,
    /// For one whose token lacks a scope.
    pub insufficient: HeaderValue,
}

impl Default for Challenges {
    fn default() -> Self {
        let plain = HeaderValue::from_static("Bearer");
        Self { missing: plain.clone(), invalid: plain.clone(), insufficient: plain }
    }
}

/// The rules of who is let in.
#[derive(Clone)]
pub struct AccessRules {
    /// Names that `Host` may have.
    pub hosts: AllowList,
    /// Names that `Origin` may have. A request without `Origin` does not come from a web page and passes.
    pub origins: AllowList,
    authenticate: Arc<dyn Authenticator>,
    challenges: Challenges,
}

impl AccessRules {
    /// Loopback names and the bound address, and everyone there is the local user.
    #[must_use]
    pub fn loopback(address: SocketAddr) -> Self {
        let names = AllowList::loopback().and(address.ip(), address.port());
        let local: Principal = "local".into();
        Self {
            hosts: names.clone(),
            origins: names,
            authenticate: Arc::new(move |_: Option<&str>| Some(local.clone())),
            challenges: Challenges::default(),
        }
    }

    /// The same rules, with a check of the bearer token. The check is given what follows `Bearer`, and must compare
    /// secrets in constant time.
    #[must_use]
    pub fn authenticated(self, check: impl Fn(Option<&str>) -> Option<Principal> + Send + Sync + 'static) -> Self {
        self.authenticated_by(Arc::new(check))
    }

    /// The same rules, with a check of the bearer token that may have to ask elsewhere.
    #[must_use]
    pub fn authenticated_by(mut self, check: Arc<dyn Authenticator>) -> Self {
        self.authenticate = check;
        self
    }

    /// The same rules with other `WWW-Authenticate` headers for those who are not let in.
    #[must_use]
    pub fn challenging(mut self, challenges: Challenges) -> Self {
        self.challenges = challenges;
        self
    }

    pub(super) const fn challenge(&self, refused: Refused) -> Option<&HeaderValue> {
        match refused {
            Refused::Host | Refused::Origin | Refused::Unavailable => None,
            Refused::NoToken => Some(&self.challenges.missing),
            Refused::Token | Refused::Expired => Some(&self.challenges.invalid),
            Refused::Scope => Some(&self.challenges.insufficient),
        }
    }

    fn allows_host(&self, host: &HeaderValue) -> bool {
        host.to_str().is_ok_and(|host| self.hosts.allows(host))
    }
}

/// How a path is served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Without a token.
    pub(super) open: bool,
    /// Under any `Host`.
    pub(super) any_host: bool,
}

/// The rules at one connection.
pub(super) struct Door {
    access: Arc<AccessRules>,
    /// The first `Host` that was let in. Those that follow are the same, nearly always.
    host: OnceLock<HeaderValue>,
}

impl Door {
    pub(super) const fn new(access: Arc<AccessRules>) -> Self {
        Self { access, host: OnceLock::new() }
    }

    pub(super) fn access(&self) -> &AccessRules {
        &self.access
    }

    /// Judges the head of a request.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap, manner: Manner) -> Result<Admitted, Refused> {
        let Manner { open, any_host } = manner;
        let host = single(headers, &HOST).ok_or(Refused::Host)?;
        if !any_host && self.host.get() != Some(host) {
            if !self.access.allows_host(host) {
                return Err(Refused::Host);
            }
            // A copy: the value that came holds on to the whole head.
            if let Ok(copy) = HeaderValue::from_bytes(host.as_bytes()) {
                self.host.get_or_init(|| copy);
            }
        }
        // A request line may name another host than the header does.
        if !any_host && uri.authority().is_some_and(|authority| !self.access.hosts.allows(authority.as_str())) {
            return Err(Refused::Host);
        }
        if headers.contains_key(&ORIGIN) {
            let origin = single(headers, &ORIGIN).and_then(|origin| origin.to_str().ok()).ok_or(Refused::Origin)?;
            let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !name.is_some_and(|name| self.access.origins.allows(name)) {
                return Err(Refused::Origin);
            }
        }
        let presented = headers.contains_key(&AUTHORIZATION);
        let token = if presented {
            single(headers, &AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer)
        } else {
            None
        };
        match self.access.authenticate.check(token) {
            Checked::Later(asking) => Ok(Admitted::Later(Asking { asking, presented, open })),
            checked => settle(checked, presented, open).map(Admitted::Now),
        }
    }
}

fn settle(checked: Checked, presented: bool, open: bool) -> Result<Principal, Refused> {
    match checked {
        Checked::Known(principal) => Ok(principal),
        _ if open => Ok("".into()),
        Checked::Insufficient => Err(Refused::Scope),
        Checked::Unavailable => Err(Refused::Unavailable),
        Checked::Expired => Err(Refused::Expired),
        Checked::Unknown | Checked::Later(_) => Err(if presented { Refused::Token } else { Refused::NoToken }),
    }
}

/// Someone whose `Host` and `Origin` are good.
pub(super) enum Admitted {
    Now(Principal),
    Later(Asking),
}

/// A token that has to be asked for elsewhere.
pub(super) struct Asking {
    asking: Pin<Box<dyn Future<Output = Checked> + Send>>,
    presented: bool,
    open: bool,
}

impl Asking {
    pub(super) async fn end(self) -> Result<Principal, Refused> {
        let checked = tokio::time::timeout(LATER, self.asking).await.unwrap_or_default();
        settle(checked, self.presented, self.open)
    }
}

impl fmt::Debug for AccessRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessRules")
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Host,
    Origin,
    NoToken,
    Token,
    Expired,
    Scope,
    Unavailable,
}

impl Refused {
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin | Self::Scope => StatusCode::FORBIDDEN,
            Self::NoToken | Self::Token | Self::Expired => StatusCode::UNAUTHORIZED,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// A JSON-RPC error without an id, as MCP has it for a request that was not read. What the client speaks is not known
    /// yet: about credentials it gets the codes of MGP 14.3, for which MCP has none.
    pub(super) const fn body(self) -> &'static str {
        match self {
            Self::Host => r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"this Host is not served here"}}"#,
            Self::Origin => r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"this Origin is not allowed"}}"#,
            Self::NoToken | Self::Token => concat!(
                r#"{"jsonrpc":"2.0","error":{"code":1002,"message":"a valid bearer token is needed: whoever runs Switchboard "#,
                r#"makes one with `switchboard token create NAME`","#,
                r#""data":{"kind":"auth_required","_mgp":{"category":"security","retryable":false}}}}"#
            ),
            Self::Expired => concat!(
                r#"{"jsonrpc":"2.0","error":{"code":1003,"message":"the bearer token has expired: whoever runs "#,
                r#"Switchboard makes another with `switchboard token create NAME`","#,
                r#""data":{"kind":"auth_expired","_mgp":{"category":"security","retryable":false}}}}"#
            ),
            Self::Unavailable => {
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"tokens cannot be looked up now; try again later"}}"#
            }
            Self::Scope => r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"the token lacks a needed scope"}}"#,
        }
    }
}

/// The value of a header that stands exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

/// What follows `Bearer`, whose case does not matter.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Names of hosts, each with one port or any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowList {
    any: bool,
    names: Vec<(Box<str>, Option<u16>)>,
}

/// An entry of an [`AllowList`] that is no host name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host name, address, or one of these with a port")]
pub struct BadEntry(pub String);

impl AllowList {
    /// `localhost`, `127.0.0.1` and `[::1]`, with any port: no foreign site can take these names.
    #[must_use]
    pub fn loopback() -> Self {
        Self { any: false, names: ["localhost", "127.0.0.1", "[::1]"].map(|name| (name.into(), None)).into() }
    }

    /// Every name. Turns the check off: only for a listener behind a proxy that checks.
    #[must_use]
    pub const fn anything() -> Self {
        Self { any: true, names: Vec::new() }
    }

    /// The same list with one more entry: `name`, `name:port`, `[v6]` or `[v6]:port`, in any case.
    ///
    /// # Errors
    /// The entry cannot be read.
    pub fn with(mut self, entry: &str) -> Result<Self, BadEntry> {
        let (name, port) = split(entry).ok_or_else(|| BadEntry(entry.to_owned()))?;
        self.names.push((name.to_ascii_lowercase().into(), port));
        Ok(self)
    }

    fn and(mut self, ip: IpAddr, port: u16) -> Self {
        // A wildcard address is no name that anyone connects to.
        if !ip.is_unspecified() {
            let name = if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
            self.names.push((name.into(), Some(port)));
        }
        self
    }

    fn allows(&self, authority: &str) -> bool {
        self.any
            || split(authority).is_some_and(|(name, port)| {
                self.names.iter().any(|(allowed, only)| {
                    allowed.eq_ignore_ascii_case(name) && only.is_none_or(|only| port == Some(only))
                })
            })
    }
}

/// Name and port of an authority without user information.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let name_end = if authority.starts_with('[') {
        authority.find(']')? + 1
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (name, rest) = authority.split_at(name_end);
    let port = match rest.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        None if rest.is_empty() => None,
        _ => return None,
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'[' | b']' | b':');
    (!name.is_empty() && name.bytes().all(plain)).then_some((name, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_port() {
        let list = AllowList::loopback().with("Box.example:8443").unwrap().with("[fd00::1]").unwrap();
        for (authority, allowed) in [
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("127.0.0.1:65535", true),
            ("[::1]:80", true),
            ("box.example:8443", true),
            ("[fd00::1]:9", true),
            ("box.example", false),
            ("box.example:1", false),
            ("localhost.evil.example", false),
            ("evil.example", false),
            ("evil@localhost", false),
            ("localhost@evil", false),
            ("localhost:80:90", false),
            ("localhost:+80", false),
            ("localhost:99999", false),
            ("localhost/evil", false),
            ("[::1", false),
            ("[::1]evil", false),
            ("", false),
            (":80", false),
        ] {
            assert_eq!(list.allows(authority), allowed, "{authority}");
        }
        assert!(AllowList::anything().allows("whatever"));
        assert!(AllowList::loopback().with("http://x").is_err());
    }

    #[test]
    fn the_bound_address_is_let_in_with_its_port_only() {
        let access = AccessRules::loopback("192.168.7.9:7420".parse().unwrap());
        assert!(access.hosts.allows("192.168.7.9:7420"));
        assert!(!access.hosts.allows("192.168.7.9:7421"));
        let everywhere = AccessRules::loopback("0.0.0.0:7420".parse().unwrap());
        assert!(!everywhere.hosts.allows("0.0.0.0:7420"));
    }

    #[test]
    fn a_host_that_was_let_in_opens_the_door_for_no_other() {
        let door = Door::new(Arc::new(AccessRules::loopback("127.0.0.1:7420".parse().unwrap())));
        let admits = |host: &'static str| {
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            door.admit(&Uri::from_static("/mcp"), &headers, Manner { open: false, any_host: false }).is_ok()
        };
        for (host, admitted) in [
            ("evil.example", false),
            ("localhost:1", true),
            ("evil.example", false),
            ("localhost:1", true),
            ("LOCALHOST:1", true),
            ("127.0.0.1", true),
            ("localhost:1.evil.example", false),
        ] {
            assert_eq!(admits(host), admitted, "{host}");
        }
    }

    #[test]
    fn who_shows_no_good_token_is_told_why_by_the_codes_of_mgp() {
        for (checked, presented, code) in [
            (Checked::Unknown, false, r#""code":1002"#),
            (Checked::Unknown, true, r#""code":1002"#),
            (Checked::Expired, true, r#""code":1003"#),
        ] {
            let refused = settle(checked, presented, false).unwrap_err();
            assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
            assert!(refused.body().contains(code) && refused.body().contains(r#""_mgp":{"category":"security""#));
        }
        assert!(settle(Checked::Expired, true, true).is_ok(), "what is open to all asks for no token");
    }

    #[test]
    fn bearer_tokens() {
        for (value, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Basic abc", None),
            ("Bearer", None),
            ("Bearer ", None),
            ("abc", None),
        ] {
            assert_eq!(bearer(value), token, "{value}");
        }
    }
}

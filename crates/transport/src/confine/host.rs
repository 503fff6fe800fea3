//! Which hosts a rule means. Pure: names only, resolving them is the proxy's work.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One granted host: `api.example.com`, `api.example.com:8443`, `*.example.com` (any name below it), `*` (any host),
/// `[::1]:5432`. Without a port, 80 and 443 are meant; `:*` means every port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    host: Host,
    ports: Ports,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Any,
    /// Any name that ends with this, which begins with a dot.
    Below(String),
    Name(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ports {
    Web,
    All,
    One(u16),
}

/// A text that names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host: write name, name:port, *.name, an address, or *")]
pub struct BadHost(String);

impl HostRule {
    /// Any host, on the ports of the web.
    #[must_use]
    pub const fn anywhere() -> Self {
        Self { host: Host::Any, ports: Ports::Web }
    }

    /// Whether the rule covers a host, given as a name or an address, and a port.
    #[must_use]
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let host = normal(host);
        let ports = match self.ports {
            Ports::Web => port == 80 || port == 443,
            Ports::All => true,
            Ports::One(one) => port == one,
        };
        ports
            && match &self.host {
                Host::Any => true,
                Host::Below(end) => host.len() > end.len() && host.ends_with(end.as_str()),
                Host::Name(name) => *name == host,
                Host::Address(address) => host.parse() == Ok(*address),
            }
    }

    /// Whether the rule names exactly this machine or address, so that it may be a private one. A name that resolves
    /// to a private address was not meant by whoever granted it.
    #[must_use]
    pub fn names_address(&self) -> bool {
        match &self.host {
            Host::Address(_) => true,
            Host::Name(name) => name == "localhost",
            Host::Any | Host::Below(_) => false,
        }
    }
}

/// Lower case, without the brackets of an address and the dot at the end of a full name.
fn normal(host: &str) -> String {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    inner.strip_suffix('.').unwrap_or(inner).to_ascii_lowercase()
}

impl FromStr for HostRule {
    type Err = BadHost;

    fn from_str(text: &str) -> Result<Self, BadHost> {
        let bad = || BadHost(text.to_owned());
        let address = |host: &str| host.parse::<IpAddr>().ok().map(Host::Address);
        if let Some(host) = address(text) {
            return Ok(Self { host, ports: Ports::Web });
        }
        let (host, ports) = match text.rsplit_once(':') {
            None => (text, Ports::Web),
            Some((host, "*")) => (host, Ports::All),
            // Brackets end an address without a port.
            Some(_) if text.ends_with(']') => (text, Ports::Web),
            Some((host, port)) => (host, Ports::One(port.parse().ok().filter(|port| *port != 0).ok_or_else(bad)?)),
        };
        let host = if host.starts_with('*') { host.to_ascii_lowercase() } else { normal(host) };
        let host = match host.strip_prefix('*') {
            Some("") => Host::Any,
            Some(end) if end.starts_with('.') && named(end.get(1..).unwrap_or_default()) => Host::Below(end.to_owned()),
            Some(_) => return Err(bad()),
            None => match address(&host) {
                Some(address) => address,
                None if named(&host) => Host::Name(host),
                None => return Err(bad()),
            },
        };
        Ok(Self { host, ports })
    }
}

fn named(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 253
        && name.split('.').all(|label| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        })
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Any => f.write_str("*")?,
            Host::Below(end) => write!(f, "*{end}")?,
            Host::Name(name) => f.write_str(name)?,
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
            Host::Address(address) => write!(f, "{address}")?,
        }
        match self.ports {
            Ports::Web => Ok(()),
            Ports::All => f.write_str(":*"),
            Ports::One(port) => write!(f, ":{port}"),
        }
    }
}

impl TryFrom<String> for HostRule {
    type Error = BadHost;

    fn try_from(text: String) -> Result<Self, BadHost> {
        text.parse()
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_cover_what_they_name() {
        let cases: &[(&str, &str, u16, bool)] = &[
            ("api.example.com", "api.example.com", 443, true),
            ("api.example.com", "API.Example.com.", 80, true),
            ("api.example.com", "api.example.com", 8443, false),
            ("api.example.com", "evil-api.example.com", 443, false),
            ("api.example.com", "api.example.com.evil.test", 443, false),
            ("api.example.com:8443", "api.example.com", 8443, true),
            ("api.example.com:8443", "api.example.com", 443, false),
            ("api.example.com:*", "api.example.com", 22, true),
            ("*.example.com", "a.b.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "badexample.com", 443, false),
            ("*", "anything.test", 443, true),
            ("*", "anything.test", 22, false),
            ("127.0.0.1:5432", "127.0.0.1", 5432, true),
            ("127.0.0.1:5432", "127.0.0.2", 5432, false),
            ("[::1]:5432", "[0:0:0:0:0:0:0:1]", 5432, true),
            ("::1", "::1", 80, true),
        ];
        for (rule, host, port, covered) in cases {
            let rule: HostRule = rule.parse().unwrap();
            assert_eq!(rule.covers(host, *port), *covered, "{rule} {host}:{port}");
            assert_eq!(rule.to_string().parse::<HostRule>().unwrap(), rule);
        }
    }

    #[test]
    fn what_names_no_host_is_refused() {
        for text in ["", "*example.com", "a b", "http://x", "x:0", "x:99999", "x:", "a..b", "*.*.com", "x/y", "*."] {
            assert!(text.parse::<HostRule>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_exact_addresses_may_be_private() {
        for (rule, exact) in [("127.0.0.1", true), ("localhost:80", true), ("*", false), ("x.test", false)] {
            assert_eq!(rule.parse::<HostRule>().unwrap().names_address(), exact, "{rule}");
        }
    }
}

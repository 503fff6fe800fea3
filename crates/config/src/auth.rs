//! The `[auth]` section: whose signed tokens let people in, beside tokens of our own.

use std::time::Duration;

use crate::error::ConfigError;
use crate::expand::{Environment, expand};
use crate::table::Keys;

/// Signature algorithms that may be allowed. All have a public key: with the others, whoever can check a token could
/// make one.
pub(crate) const ALGORITHMS: &[&str] =
    &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

pub(crate) const KEYS: &[&str] = &[
    "issuer",
    "audience",
    "resource",
    "jwks_url",
    "principal_claim",
    "scopes_claim",
    "required_scopes",
    "admin_claim",
    "admin_value",
    "algorithms",
    "leeway_ms",
];

/// An identity provider whose signed tokens are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// Its address, exactly as its tokens name it.
    pub issuer: String,
    /// Whom its tokens must be meant for, one of these; empty means [`Auth::resource`].
    pub audience: Vec<String>,
    /// The address of the endpoint as clients know it; by default that of the listener.
    pub resource: Option<String>,
    /// Where its keys are; found out from the issuer's metadata otherwise.
    pub jwks_url: Option<String>,
    /// The claim that names the principal.
    pub principal_claim: String,
    /// The claim with the scopes.
    pub scopes_claim: String,
    /// Scopes without which nobody is let in.
    pub required_scopes: Vec<String>,
    /// The claim and the value that make an administrator; nobody is one without.
    pub admin: Option<(String, String)>,
    /// Signature algorithms that are accepted.
    pub algorithms: Vec<String>,
    /// How far the clocks may be apart.
    pub leeway: Duration,
}

pub(crate) fn read(keys: &Keys<'_>, environment: &Environment) -> Result<Auth, ConfigError> {
    let expanded = |key: &str| -> Result<Option<String>, ConfigError> {
        let Some(text) = keys.text(key)? else { return Ok(None) };
        expand(text.value, key, environment).map(Some).map_err(|kind| keys.error(text.span.clone(), kind))
    };
    let address = |key: &str| -> Result<Option<String>, ConfigError> {
        let Some(text) = expanded(key)? else { return Ok(None) };
        if !is_web_address(&text) {
            let reason = format!("is {text:?}, not an https address");
            return Err(keys.bad_value(key, reason, "write https://..., or http:// for an address of this machine"));
        }
        Ok(Some(text))
    };
    let issuer = address("issuer")?.ok_or_else(|| {
        keys.bad_value("issuer", "is missing", "write `issuer = \"https://login.example\"` below [auth]")
    })?;
    // One audience may be written without brackets.
    let audience = match keys.text("audience") {
        Ok(Some(one)) => vec![one.value.to_owned()],
        _ => keys.strings("audience")?,
    };
    let mut algorithms = keys.strings("algorithms")?;
    if let Some(other) = algorithms.iter().find(|name| !ALGORITHMS.contains(&name.as_str())) {
        let reason = format!("has {other:?}");
        return Err(keys.bad_value("algorithms", reason, format!("choose from \"{}\"", ALGORITHMS.join("\", \""))));
    }
    if algorithms.is_empty() {
        algorithms = ALGORITHMS.iter().map(|&name| name.to_owned()).collect();
    }
    let admin = match (keys.string("admin_claim")?, keys.string("admin_value")?) {
        (Some(claim), Some(value)) => Some((claim, value)),
        (None, None) => None,
        (Some(_), None) => return Err(keys.bad_value("admin_claim", "has no value", "write `admin_value` as well")),
        (None, Some(_)) => return Err(keys.bad_value("admin_value", "has no claim", "write `admin_claim` as well")),
    };
    let leeway = keys.milliseconds("leeway_ms")?.unwrap_or(Duration::from_secs(30));
    if leeway > Duration::from_secs(300) {
        return Err(keys.bad_value("leeway_ms", "is more than five minutes", "set the clocks instead"));
    }
    Ok(Auth {
        issuer,
        audience,
        resource: address("resource")?,
        jwks_url: address("jwks_url")?,
        principal_claim: keys.string("principal_claim")?.unwrap_or_else(|| "sub".to_owned()),
        scopes_claim: keys.string("scopes_claim")?.unwrap_or_else(|| "scope".to_owned()),
        required_scopes: keys.strings("required_scopes")?,
        admin,
        algorithms,
        leeway,
    })
}

/// Encrypted, or on this machine.
pub(crate) fn is_web_address(text: &str) -> bool {
    let host = |rest: &str| rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned();
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic()) && !host(text).contains('@');
    if let Some(rest) = text.strip_prefix("https://") {
        return plain(rest) && !host(rest).is_empty();
    }
    let Some(rest) = text.strip_prefix("http://") else { return false };
    let host = host(rest);
    let name = if host.starts_with('[') { host.split(']').next() } else { host.split(':').next() };
    plain(rest) && matches!(name, Some("localhost" | "127.0.0.1" | "[::1"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Config;

    fn auth(text: &str) -> Result<Option<Auth>, String> {
        let text = format!("[auth]\n{text}");
        let config = Config::parse(Path::new("mgp.toml"), &text, &Environment::default());
        config.map(|config| config.settings.auth).map_err(|error| error.to_string())
    }

    #[test]
    fn an_issuer_is_enough() {
        let auth = auth("issuer = 'https://login.example/tenant'").unwrap().unwrap();
        assert_eq!(auth.issuer, "https://login.example/tenant");
        assert_eq!((auth.principal_claim.as_str(), auth.scopes_claim.as_str()), ("sub", "scope"));
        assert_eq!(auth.admin, None);
        assert_eq!(auth.algorithms.len(), ALGORITHMS.len());
        assert_eq!(auth.leeway, Duration::from_secs(30));
    }

    #[test]
    fn everything_can_be_said() {
        let auth = auth(
            "issuer = 'https://i'\naudience = 'https://a/mcp'\nresource = 'https://a/mcp'\njwks_url = 'https://i/keys'\n\
             principal_claim = 'email'\nscopes_claim = 'scp'\nrequired_scopes = ['tools']\nadmin_claim = 'groups'\n\
             admin_value = 'ops'\nalgorithms = ['ES256']\nleeway_ms = 5000",
        );
        let auth = auth.unwrap().unwrap();
        assert_eq!(auth.audience, ["https://a/mcp"]);
        assert_eq!(auth.admin, Some(("groups".to_owned(), "ops".to_owned())));
        assert_eq!(auth.algorithms, ["ES256"]);
    }

    #[test]
    fn what_would_not_be_safe_is_refused() {
        for (text, words) in [
            ("audience = 'x'", "issuer"),
            ("issuer = 'http://login.example'", "https"),
            ("issuer = 'https://user@login.example'", "https"),
            ("issuer = 'https://'", "https"),
            ("issuer = 'http://localhost.evil.example'", "https"),
            ("issuer = 'https://i'\nalgorithms = ['none']", "none"),
            ("issuer = 'https://i'\nalgorithms = ['HS256']", "HS256"),
            ("issuer = 'https://i'\nadmin_claim = 'groups'", "admin_value"),
            ("issuer = 'https://i'\nleeway_ms = 600000", "five minutes"),
            ("issuer = 'https://i'\nsecret = 'x'", "secret"),
        ] {
            let error = auth(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        for good in ["http://localhost:1/x", "http://127.0.0.1:1", "http://[::1]:9/x"] {
            assert!(is_web_address(good), "{good}");
        }
    }
}

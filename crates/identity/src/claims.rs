//! What the claims of a token make of its holder. Pure: the time is an argument.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use switchboard_config::Auth;
use switchboard_transport::http_server::{Identity, Method, Scopes};

use crate::tokens::is_name;

/// Why a token that is genuine lets nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("it is of another issuer")]
    Issuer,
    #[error("it is meant for another audience")]
    Audience,
    #[error("it does not say when it ends")]
    Endless,
    #[error("it has expired")]
    Expired,
    #[error("it is not good yet")]
    Early,
    #[error("it names no principal that can be used here")]
    Principal,
    #[error("its scopes for servers and tools cannot be read")]
    Scopes,
    #[error("it lacks a scope that is needed")]
    Insufficient,
}

/// The names that nobody gets from a token: who they are is decided by who started this process.
const RESERVED: &[&str] = &["local", "server"];

/// Who holds a token with these claims, whose signature is good.
pub(crate) fn judge(
    claims: &Map<String, Value>,
    auth: &Auth,
    resource: &str,
    now: SystemTime,
) -> Result<Identity, Refusal> {
    if claims.get("iss").and_then(Value::as_str) != Some(auth.issuer.as_str()) {
        return Err(Refusal::Issuer);
    }
    let wanted = |name: &str| {
        if auth.audience.is_empty() { name == resource } else { auth.audience.iter().any(|known| known == name) }
    };
    if !texts(claims.get("aud")).any(wanted) {
        return Err(Refusal::Audience);
    }
    let end = time(claims.get("exp")).ok_or(Refusal::Endless)?;
    if now >= end.checked_add(auth.leeway).ok_or(Refusal::Endless)? {
        return Err(Refusal::Expired);
    }
    for key in ["nbf", "iat"] {
        let Some(value) = claims.get(key) else { continue };
        let start = time(Some(value)).ok_or(Refusal::Early)?;
        if start.checked_sub(auth.leeway).is_some_and(|start| now < start) {
            return Err(Refusal::Early);
        }
    }
    let name = claims.get(&auth.principal_claim).and_then(Value::as_str).ok_or(Refusal::Principal)?;
    if !is_name(name) || RESERVED.contains(&name) {
        return Err(Refusal::Principal);
    }
    let scopes: Vec<&str> = words(claims.get(&auth.scopes_claim)).collect();
    if !auth.required_scopes.iter().all(|needed| scopes.contains(&needed.as_str())) {
        return Err(Refusal::Insufficient);
    }
    // Only those of our own form set limits; `admin` of an issuer may mean anything, so it is not read here.
    let limits = scopes.iter().copied().filter(|word| word.starts_with("server:") || word.starts_with("tool:"));
    let (_, limits) = Scopes::parse(limits).map_err(|_| Refusal::Scopes)?;
    let admin =
        auth.admin.as_ref().is_some_and(|(claim, value)| words(claims.get(claim)).any(|word| word == value.as_str()));
    Ok(Identity {
        admin,
        scopes: limits,
        expires_at: end.checked_add(auth.leeway),
        ..Identity::new(name, Method::Oidc)
    })
}

/// A text, or each text of a list.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    value.and_then(Value::as_str).into_iter().chain(list.iter().filter_map(Value::as_str))
}

/// The words of a text, or each text of a list.
fn words(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = value.and_then(Value::as_str).unwrap_or_default();
    text.split_ascii_whitespace().chain(list.iter().filter_map(Value::as_str))
}

/// Seconds since 1970; fractions are allowed and left out.
fn time(value: Option<&Value>) -> Option<SystemTime> {
    let value = value?;
    let seconds = value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| (0.0..1e15).contains(number))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        Some(number as u64)
    })?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn auth() -> Auth {
        Auth {
            issuer: "https://i".to_owned(),
            audience: Vec::new(),
            resource: None,
            jwks_url: None,
            principal_claim: "sub".to_owned(),
            scopes_claim: "scope".to_owned(),
            required_scopes: vec!["tools".to_owned()],
            admin: Some(("groups".to_owned(), "ops".to_owned())),
            algorithms: Vec::new(),
            leeway: Duration::from_secs(10),
        }
    }

    fn claims(change: impl FnOnce(&mut Map<String, Value>)) -> Map<String, Value> {
        let all = json!({
            "iss": "https://i", "aud": "https://us/mcp", "sub": "ann", "scope": "openid tools", "exp": 1_000, "iat": 900,
        });
        let Value::Object(mut claims) = all else { unreachable!() };
        change(&mut claims);
        claims
    }

    fn judged(claims: &Map<String, Value>, at: u64) -> Result<Identity, Refusal> {
        judge(claims, &auth(), "https://us/mcp", SystemTime::UNIX_EPOCH + Duration::from_secs(at))
    }

    #[test]
    fn each_claim_counts() {
        type Change = fn(&mut Map<String, Value>);
        let cases: [(&str, Change, Option<Refusal>); 22] = [
            ("good", |_| {}, None),
            ("list of audiences", |c| drop(c.insert("aud".into(), json!(["x", "https://us/mcp"]))), None),
            ("other audience", |c| drop(c.insert("aud".into(), json!("https://other"))), Some(Refusal::Audience)),
            (
                "audience of odd form",
                |c| drop(c.insert("aud".into(), json!({"https://us/mcp": 1}))),
                Some(Refusal::Audience),
            ),
            ("no audience", |c| drop(c.remove("aud")), Some(Refusal::Audience)),
            ("other issuer", |c| drop(c.insert("iss".into(), json!("https://i/"))), Some(Refusal::Issuer)),
            ("no issuer", |c| drop(c.remove("iss")), Some(Refusal::Issuer)),
            ("no end", |c| drop(c.remove("exp")), Some(Refusal::Endless)),
            ("end as text", |c| drop(c.insert("exp".into(), json!("1000"))), Some(Refusal::Endless)),
            ("end with a fraction", |c| drop(c.insert("exp".into(), json!(1000.5))), None),
            ("negative end", |c| drop(c.insert("exp".into(), json!(-1))), Some(Refusal::Endless)),
            ("expired", |c| drop(c.insert("exp".into(), json!(940))), Some(Refusal::Expired)),
            ("not yet", |c| drop(c.insert("nbf".into(), json!(961))), Some(Refusal::Early)),
            ("nearly", |c| drop(c.insert("nbf".into(), json!(960))), None),
            ("made in the future", |c| drop(c.insert("iat".into(), json!(2_000))), Some(Refusal::Early)),
            ("no principal", |c| drop(c.remove("sub")), Some(Refusal::Principal)),
            ("odd principal", |c| drop(c.insert("sub".into(), json!("a\u{1b}b"))), Some(Refusal::Principal)),
            ("the local user", |c| drop(c.insert("sub".into(), json!("local"))), Some(Refusal::Principal)),
            ("number as principal", |c| drop(c.insert("sub".into(), json!(7))), Some(Refusal::Principal)),
            ("lacks a scope", |c| drop(c.insert("scope".into(), json!("openid"))), Some(Refusal::Insufficient)),
            ("part of a scope", |c| drop(c.insert("scope".into(), json!("toolsmith"))), Some(Refusal::Insufficient)),
            ("odd limit", |c| drop(c.insert("scope".into(), json!("tools server:*"))), Some(Refusal::Scopes)),
        ];
        for (name, change, refusal) in cases {
            assert_eq!(judged(&claims(change), 950).err(), refusal, "{name}");
        }
        assert!(judged(&claims(|_| {}), 1_009).is_ok());
        assert_eq!(judged(&claims(|_| {}), 1_010).err(), Some(Refusal::Expired));
    }

    /// Ends that no clock reaches, and what is no time.
    #[test]
    fn odd_times_let_nobody_in() {
        for end in [
            json!(u64::MAX),
            json!(i64::MAX),
            json!(1e308),
            json!(18_446_744_073_709_551_616.0),
            json!(-0.5),
            json!(null),
            json!(true),
            json!([2_000]),
            json!("2000"),
            json!({"$numberLong": "2000"}),
        ] {
            let found = judged(&claims(|c| drop(c.insert("exp".into(), end.clone()))), 950);
            assert_eq!(found.err(), Some(Refusal::Endless), "{end}");
            for key in ["nbf", "iat"] {
                let found = judged(&claims(|c| drop(c.insert(key.into(), end.clone()))), 950);
                assert_eq!(found.err(), Some(Refusal::Early), "{key} {end}");
            }
        }
        assert!(judged(&claims(|c| drop(c.insert("exp".into(), json!(99_999_999_999_u64)))), 950).is_ok());
    }

    #[test]
    fn rights_come_from_the_configured_claims_alone() {
        let ann = judged(&claims(|c| drop(c.insert("scope".into(), json!(["tools", "admin", "server:git"])))), 950);
        let ann = ann.unwrap();
        assert!(!ann.admin && ann.covers_whole_server("git") && !ann.covers_whole_server("time"));
        for (groups, admin) in [
            (json!(["dev", "ops"]), true),
            (json!("ops"), true),
            (json!("dev ops"), true),
            (json!("devops"), false),
            (json!({"ops": true}), false),
        ] {
            let judged = judged(&claims(|c| drop(c.insert("groups".into(), groups.clone()))), 950).unwrap();
            assert_eq!(judged.admin, admin, "{groups}");
        }
    }
}

//! `switchboard token`: makes, lists and revokes the tokens that let clients in over HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_config::Loaded;
use switchboard_identity::REVOCATION_DELAY;
use switchboard_identity::tokens::{TokenRequest, scope_words};
use switchboard_kernel::{default_policy, names, stored_access};
use switchboard_store::{Store, Token};

use crate::Outcome;
use crate::arguments::{Common, TokenCommand, TokenCreate};
use crate::control::Running;
use crate::failure::Failure;
use crate::identity_audit;
use crate::known::KnownTools;
use crate::screen::{self, out, plain, table};
use crate::storage::open_store;
use crate::tokens;
use crate::{memory, setup};

pub(crate) async fn run(common: &Common, command: &TokenCommand) -> Outcome {
    let loaded = setup::read(common)?;
    let store = open_store(&loaded).await?;
    // As `serve` judges them: after a clock went back, what had expired stays so.
    let now = store.latest_time(Timestamp::now()).await?;
    tokens::adopt(&store, &loaded.data_dir, now).await?;
    let outcome = match command {
        TokenCommand::Create(options) => create(common, &loaded, &store, options, now).await,
        TokenCommand::List => list(common, &store, now).await,
        TokenCommand::Revoke { name } => revoke(common, &store, name, now).await,
    };
    // What was acknowledged is durable already.
    let _ = store.close().await;
    if outcome.is_ok() && !matches!(command, TokenCommand::List) {
        // A `serve` that runs has looked by then: who goes on after this command finds what it says.
        tokio::time::sleep(REVOCATION_DELAY).await;
    }
    outcome
}

async fn create(common: &Common, loaded: &Loaded, store: &Store, options: &TokenCreate, now: Timestamp) -> Outcome {
    let expires_at = options.expires.end(now)?;
    let principal = options.principal.as_deref().unwrap_or(&options.name);
    let limits = understood(loaded, store, &options.scope).await?;
    let wanted = TokenRequest { name: &options.name, principal, scopes: &limits, expires_at };
    let (token, secret) = tokens::issue(store, &wanted, now).await?;
    let usable = usable(loaded, store, principal).await?;
    // One that runs may have been told another address than the files.
    let address = Running::address(&loaded.data_dir).await.unwrap_or(loaded.config.settings.listen);
    let entry = entry(address, &secret);
    if common.json {
        let mut shown = describe(&token, now);
        shown["token"] = json!(secret);
        shown["servers"] = json!(usable);
        shown["entry"] = entry;
        screen::json(&shown);
        return Ok(());
    }
    out(format_args!("token (shown only now): {secret}"));
    out(format_args!("name:      {}", token.name));
    out(format_args!("principal: {}", token.principal));
    out(format_args!("scopes:    {}", scopes(&token)));
    out(format_args!("expires:   {}", token.expires_at.map_or_else(|| "never".to_owned(), moment)));
    if usable.is_empty() {
        let grant = common.again(&format!("grant --principal {} --server ID", plain(principal)));
        out(format_args!("may use:   no server yet; give it one with `{grant}`"));
    } else {
        out(format_args!("may use:   {}, as far as grants and scopes go", plain(&usable.join(", "))));
    }
    out(format_args!("\nEntry for a client that speaks HTTP, while `{}` runs:\n{entry:#}", common.again("serve")));
    Ok(())
}

/// Scopes with the names that count, whichever spelling a person used.
///
/// # Errors
/// One names a server that is not configured, or a tool that no server has shown.
async fn understood(loaded: &Loaded, store: &Store, scopes: &[String]) -> Result<Vec<String>, Failure> {
    let (config, known) = (&loaded.config, KnownTools::read(store).await?);
    let seen_all = setup::usable(loaded).all(|server| known.has_seen(server.id()));
    let mut understood = Vec::new();
    for scope in scopes {
        let shown = plain(scope);
        let hint = |near: Option<&str>| near.map(|near| format!("; did you mean {}?", plain(near))).unwrap_or_default();
        let word = match scope.split_once(':') {
            // By its alias as well: what is written into the token is the id.
            Some(("server", name)) if setup::server_named(config, name).is_some_and(|server| server.id() != name) => {
                let id = setup::server_named(config, name).map_or(name, |server| server.id());
                format!("server:{id}")
            }
            Some(("server", id)) if config.server(id).is_none() && id != memory::ID && !known.has_seen(id) => {
                let ids: Vec<&str> = config.servers.iter().map(switchboard_config::Server::id).collect();
                let near = switchboard_config::nearest(id, &ids);
                if near.is_some() {
                    return Err(Failure::usage(format!("{shown}: no such server is configured{}", hint(near))));
                }
                screen::note(format_args!("warning: {shown}: no such server is configured yet"));
                scope.clone()
            }
            Some(("tool", name)) if !name.ends_with('*') && !names::is_reserved(name) => {
                match known.called(config, name)[..] {
                    [(server, tool)] => format!("tool:{}", setup::naming(config, server).expose(tool)),
                    [] => {
                        let near = known.suggestion(config, name);
                        let text = format!("{shown}: no server has shown such a tool{}", hint(near.as_deref()));
                        if seen_all && !known.is_empty() {
                            return Err(Failure::usage(text));
                        }
                        screen::note(format_args!("warning: {text}"));
                        scope.clone()
                    }
                    ref several => {
                        let spelled: Vec<String> = several
                            .iter()
                            .map(|(server, tool)| format!("tool:{}", setup::naming(config, server).expose(tool)))
                            .collect();
                        let text = format!("{shown}: several servers have such a tool; write {}", spelled.join(" or "));
                        return Err(Failure::usage(plain(&text)));
                    }
                }
            }
            _ => scope.clone(),
        };
        understood.push(word);
    }
    Ok(understood)
}

/// The servers of which a principal may use something.
async fn usable(loaded: &Loaded, store: &Store, principal: &str) -> Result<Vec<String>, Failure> {
    let granted = store.grants().load().await?.access;
    let mut usable = Vec::new();
    for server in setup::usable(loaded) {
        let default = default_policy(principal, server.entry.default_policy, loaded.config.settings.default_policy);
        let tools = granted.iter().filter(|one| one.principal == principal && one.server == server.id());
        let tools = tools.filter_map(|one| one.tool.clone()).chain([String::new()]);
        for tool in tools.collect::<Vec<_>>() {
            if stored_access(store, principal, server.id(), &tool, default).await?.0.allow {
                usable.push(server.id().to_owned());
                break;
            }
        }
    }
    Ok(usable)
}

/// What a client is to be configured with.
fn entry(address: SocketAddr, secret: &str) -> Value {
    let url = format!("http://{address}/mcp");
    let headers = json!({"Authorization": format!("Bearer {secret}")});
    json!({"mcpServers": {"switchboard": {"type": "http", "url": url, "headers": headers}}})
}

async fn list(common: &Common, store: &Store, now: Timestamp) -> Outcome {
    let listed = store.tokens().list().await?;
    if common.json {
        screen::json(&json!({"tokens": listed.iter().map(|token| describe(token, now)).collect::<Vec<_>>()}));
        return Ok(());
    }
    if listed.is_empty() {
        out("there is no token. `switchboard serve` makes a first one, `switchboard token create NAME` others");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|token| {
            let used = token.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("used {}", moment(at)));
            vec![plain(&token.name), plain(&token.principal), state(token, now), used, scopes(token)]
        })
        .collect();
    out(table(&rows));
    Ok(())
}

async fn revoke(common: &Common, store: &Store, name: &str, now: Timestamp) -> Outcome {
    let Some(token) = store.tokens().revoke(name, now).await? else {
        return Err(Failure::failed(format!("no token called {name} is good; see `{}`", common.again("token list"))));
    };
    let details = [("name", token.name.clone().into()), ("agent_id", token.principal.clone().into())];
    identity_audit::write(store, identity_audit::TOKEN_REVOKED, None, &details).await?;
    if common.json {
        screen::json(&describe(&token, now));
    } else {
        out(format_args!(
            "revoked {}; a `switchboard serve` that runs refuses it when this command has ended",
            token.name
        ));
    }
    Ok(())
}

fn describe(token: &Token, now: Timestamp) -> Value {
    json!({
        "name": token.name,
        "principal": token.principal,
        "scopes": scope_words(token),
        "state": word(token, now),
        "created_at": token.created_at.to_string(),
        "expires_at": token.expires_at.map(|at| at.to_string()),
        "last_used_at": token.last_used_at.map(|at| at.to_string()),
        "revoked_at": token.revoked_at.map(|at| at.to_string()),
    })
}

fn word(token: &Token, now: Timestamp) -> &'static str {
    match token.revoked_at {
        Some(_) => "revoked",
        None if token.is_valid(now) => "good",
        None => "expired",
    }
}

fn state(token: &Token, now: Timestamp) -> String {
    match (word(token, now), token.expires_at) {
        ("good", Some(end)) => format!("good until {}", moment(end)),
        (word, _) => word.to_owned(),
    }
}

fn scopes(token: &Token) -> String {
    scope_words(token).map_or_else(|| "all that the principal may do".to_owned(), |words| plain(&words.join(" ")))
}

/// A time to the minute, in UTC.
fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match text.get(..16) {
        Some(minutes) => format!("{}Z", minutes.replace('T', " ")),
        None => text,
    }
}

/// How long a token is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life(pub(crate) Option<Duration>);

impl std::str::FromStr for Life {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self(None));
        }
        let bad = || format!("`{text}` is no time: write 30d, 12h, 45m or never");
        let unit = match text.chars().next_back() {
            Some('d') => 24 * 60 * 60,
            Some('h') => 60 * 60,
            Some('m') => 60,
            _ => return Err(bad()),
        };
        let digits = text.get(..text.len() - 1).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let count: u64 = digits.and_then(|digits| digits.parse().ok()).filter(|count| *count > 0).ok_or_else(bad)?;
        let seconds = count.checked_mul(unit).filter(|seconds| *seconds <= 100 * 366 * 24 * 60 * 60).ok_or_else(bad)?;
        Ok(Self(Some(Duration::from_secs(seconds))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives() {
        for (text, seconds) in [
            ("never", Ok(None)),
            ("30d", Ok(Some(30 * 86_400))),
            ("12h", Ok(Some(43_200))),
            ("45m", Ok(Some(2_700))),
            ("0d", Err(())),
            ("d", Err(())),
            ("", Err(())),
            ("30", Err(())),
            ("-1d", Err(())),
            ("99999999999999999d", Err(())),
            ("\u{e9}d", Err(())),
        ] {
            let life = text.parse::<Life>().map(|life| life.0.map(|life| life.as_secs())).map_err(drop);
            assert_eq!(life, seconds, "{text}");
        }
    }
}

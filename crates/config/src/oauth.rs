//! `[servers.oauth]`: how Switchboard gets tokens for a remote server in its own name (client credentials).
//!
//! Logins of people need nothing in a file: `switchboard login` makes them.

use crate::auth::is_web_address;
use crate::error::ConfigError;
use crate::expand::{Environment, expand};
use crate::secret::Secret;
use crate::table::Keys;

const KEYS: &[&str] = &["client_id", "client_secret", "issuer", "scopes"];

/// The client that Switchboard is to an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthClient {
    /// Its name there (`client_id`).
    pub client_id: String,
    /// Its password there (`client_secret`).
    pub client_secret: Secret,
    /// The authorization server that knows it (`issuer`). Without it, the one that the server names first.
    pub issuer: Option<String>,
    /// What is asked for (`scopes`); without any, what the server says.
    pub scopes: Vec<String>,
}

/// As it is written.
pub(crate) fn read_entry(server: &Keys<'_>) -> Result<Option<OAuthClient>, ConfigError> {
    read(server, |_, _, text| Ok(text.to_owned()))
}

/// With the values of variables.
pub(crate) fn read_expanded(server: &Keys<'_>, variables: &Environment) -> Result<Option<OAuthClient>, ConfigError> {
    let client = read(server, |keys, key, text| {
        expand(text, key, variables).map_err(|kind| keys.error(keys.value_span(key), kind))
    })?;
    let (Some(client), Some(keys)) = (&client, server.section("oauth", "[servers.oauth]", KEYS)?) else {
        return Ok(client);
    };
    let visible = |text: &str| !text.is_empty() && text.chars().all(|c| !c.is_control());
    if !visible(&client.client_id) {
        return Err(keys.bad_value("client_id", "is empty or has control characters", "write the name of the client"));
    }
    if !visible(client.client_secret.reveal()) {
        let help = "write \"${NAME_OF_A_VARIABLE}\", and set the variable";
        return Err(keys.bad_value("client_secret", "is empty or has control characters", help));
    }
    if let Some(issuer) = client.issuer.as_ref().filter(|issuer| !is_web_address(issuer)) {
        let reason = format!("is {issuer:?}, not an https address");
        return Err(keys.bad_value("issuer", reason, "write https://..., or http:// for an address of this machine"));
    }
    // RFC 6749, section 3.3.
    let good =
        |scope: &String| scope.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e)) && !scope.is_empty();
    if let Some(scope) = client.scopes.iter().find(|scope| !good(scope)) {
        return Err(keys.bad_value(
            "scopes",
            format!("has {scope:?}, which is no scope"),
            "list one scope in each string",
        ));
    }
    Ok(Some(client.clone()))
}

fn read(
    server: &Keys<'_>,
    grow: impl Fn(&Keys<'_>, &'static str, &str) -> Result<String, ConfigError>,
) -> Result<Option<OAuthClient>, ConfigError> {
    let Some(keys) = server.section("oauth", "[servers.oauth]", KEYS)? else { return Ok(None) };
    let text = |key: &'static str| keys.text(key)?.map(|text| grow(&keys, key, text.value)).transpose();
    let needed = |key: &'static str, help: &str| {
        text(key)?.ok_or_else(|| keys.bad_value(key, "is missing below [servers.oauth]", help))
    };
    Ok(Some(OAuthClient {
        client_id: needed("client_id", "write the name of the client, as the authorization server gave it")?,
        client_secret: Secret::new(needed("client_secret", "write \"${NAME_OF_A_VARIABLE}\", and set the variable")?),
        issuer: text("issuer")?,
        scopes: keys.strings("scopes")?,
    }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Config, Endpoint};

    fn client(text: &str) -> Result<OAuthClient, String> {
        let text = format!("[[servers]]\nid = 's'\n{text}");
        let variables = [("PASSWORD", "hidden")].into_iter().collect::<Environment>();
        let config = Config::parse(Path::new("mgp.toml"), &text, &variables).unwrap();
        match config.servers[0].endpoint() {
            Ok(Endpoint::Http(http)) => http.oauth.clone().ok_or_else(|| "none".to_owned()),
            Ok(Endpoint::Stdio(_) | Endpoint::Address(_)) => Err("not over HTTP".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_client_is_read_with_its_password_from_the_environment() {
        let read = client(
            "url = 'https://h/mcp'\n[servers.oauth]\nclient_id = 'me'\nclient_secret = '${PASSWORD}'\nscopes = ['a', 'b']",
        )
        .unwrap();
        assert_eq!((read.client_id.as_str(), read.client_secret.reveal()), ("me", "hidden"));
        assert_eq!((read.issuer, read.scopes), (None, vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_the_password() {
        let with =
            |more: &str| format!("url = 'https://h/mcp'\n[servers.oauth]\nclient_secret = '${{PASSWORD}}'\n{more}");
        for (text, words) in [
            (with(""), "client_id"),
            (with("client_id = ''"), "client_id"),
            (with("client_id = 'me'\nissuer = 'http://elsewhere.example'"), "https"),
            (with("client_id = 'me'\nscopes = ['a b']"), "no scope"),
            (with("client_id = 'me'\ngrant = 'x'"), "grant"),
            ("url = 'https://h/mcp'\noauth = { client_id = 'me' }".to_owned(), "client_secret"),
            ("url = 'https://h/mcp'\noauth = { client_id = 'me', client_secret = '${NOT_SET}' }".to_owned(), "NOT_SET"),
            (
                "url = 'https://h/mcp'\ntoken = 't'\noauth = { client_id = 'me', client_secret = 'x' }".to_owned(),
                "token",
            ),
            (
                "url = 'https://h/mcp'\ntransport = 'sse'\noauth = { client_id = 'me', client_secret = 'x' }"
                    .to_owned(),
                "HTTP+SSE",
            ),
        ] {
            let error = client(&text).unwrap_err();
            assert!(error.contains(words) && !error.contains("hidden"), "{text}\n{error}");
        }
    }
}

//! Finding the authorization server of a resource, and believing only what is consistent.

use serde::Deserialize;
use url::Url;

use super::OAuthError;
use super::error::shown;
use super::fetch::{Fetch, Found, redact};

const RESOURCE_STEP: &str = "reading the server's resource metadata";
const ISSUER_STEP: &str = "reading the authorization server's metadata";

/// The server that tokens are for.
#[derive(Debug)]
pub(super) struct Resource {
    /// Its identifier.
    pub(super) resource: String,
    /// The authorization servers that may give tokens for it. Never empty.
    pub(super) issuers: Vec<String>,
    /// What one may ask for.
    pub(super) scopes: Vec<String>,
    /// Nothing was published, so the rules of 2025-03-26 apply.
    pub(super) assumed: bool,
}

/// The server that gives tokens (RFC 8414).
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Issuer {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Option<String>,
    pub(super) token_endpoint: Option<String>,
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
    /// It published nothing: its endpoints are those that a server of 2025-03-26 has.
    #[serde(skip)]
    pub(super) is_assumed: bool,
}

/// RFC 9728.
#[derive(Deserialize)]
struct ResourceDocument {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// The metadata of the resource at `server`; `named` is where its challenge says that it is.
pub(super) async fn resource(fetch: Fetch, server: &Url, named: Option<&str>) -> Result<Resource, OAuthError> {
    for place in resource_places(server, named) {
        let document: ResourceDocument = match fetch.get(RESOURCE_STEP, &place).await? {
            Found::Document(document) => document,
            Found::Nothing(why) => {
                tracing::debug!(place = redact(&place), why, "no resource metadata here");
                continue;
            }
        };
        if !Url::parse(&document.resource).is_ok_and(|resource| covers(&resource, server)) {
            return Err(OAuthError::ForeignResource { named: shown(&document.resource) });
        }
        if document.authorization_servers.is_empty() {
            let why = "it names no authorization server".to_owned();
            return Err(OAuthError::BadAnswer { step: RESOURCE_STEP, why });
        }
        return Ok(Resource {
            resource: document.resource,
            issuers: document.authorization_servers,
            scopes: document.scopes_supported,
            assumed: false,
        });
    }
    // Servers of 2025-03-26 are their own authorization servers.
    let resource = server.as_str().trim_end_matches('/').to_owned();
    Ok(Resource { resource, issuers: vec![origin(server)], scopes: Vec::new(), assumed: true })
}

/// The metadata of an authorization server.
pub(super) async fn issuer(fetch: Fetch, issuer: &str, assumed: bool) -> Result<Issuer, OAuthError> {
    let url = fetch.allowed(ISSUER_STEP, issuer)?;
    for place in issuer_places(&url) {
        match fetch.get::<Issuer>(ISSUER_STEP, &place).await? {
            // Compared as it is: two addresses that merely mean the same may lead to different servers.
            Found::Document(found) if found.issuer == issuer => return Ok(found),
            Found::Document(found) => {
                return Err(OAuthError::ForeignIssuer { expected: shown(issuer), found: shown(&found.issuer) });
            }
            Found::Nothing(why) => {
                tracing::debug!(place = redact(&place), why, "no authorization server metadata here")
            }
        }
    }
    if assumed { Ok(Issuer::of_2025_03_26(issuer)) } else { Err(OAuthError::NoMetadata { issuer: shown(issuer) }) }
}

impl Issuer {
    /// The endpoints that a server of 2025-03-26 has when it publishes none.
    fn of_2025_03_26(origin: &str) -> Self {
        Self {
            issuer: origin.to_owned(),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: Some(format!("{origin}/token")),
            registration_endpoint: Some(format!("{origin}/register")),
            // That revision obliges servers to it.
            code_challenge_methods_supported: vec!["S256".to_owned()],
            is_assumed: true,
            ..Self::default()
        }
    }

    pub(super) fn token_endpoint(&self) -> Result<&str, OAuthError> {
        self.token_endpoint.as_deref().ok_or_else(|| self.lacks("it has no token endpoint"))
    }

    pub(super) fn lacks(&self, lacks: &'static str) -> OAuthError {
        OAuthError::Unsuitable { issuer: shown(&self.issuer), lacks }
    }
}

/// Where metadata about a resource may be, in the order in which to look.
fn resource_places(server: &Url, named: Option<&str>) -> Vec<String> {
    let root = format!("{}/.well-known/oauth-protected-resource", origin(server));
    let path = server.path().trim_end_matches('/');
    let mut places: Vec<String> = named.map(str::to_owned).into_iter().collect();
    let guesses = if path.is_empty() { vec![root] } else { vec![format!("{root}{path}"), root] };
    places.extend(guesses.into_iter().filter(|guess| Some(guess.as_str()) != named));
    places
}

/// Where metadata about an issuer may be, in the order in which to look.
pub(super) fn issuer_places(issuer: &Url) -> Vec<String> {
    let origin = origin(issuer);
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}

/// Whether a token for `resource` is one for `server`: the same place, or one above it.
fn covers(resource: &Url, server: &Url) -> bool {
    let (above, here) = (resource.path().trim_end_matches('/'), server.path());
    let within = here.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let same_query = resource.query().is_none() || resource.query() == server.query();
    resource.origin() == server.origin() && within && same_query
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn resource_metadata_is_looked_for_in_order() {
        let cases: [(&str, Option<&str>, &[&str]); 5] = [
            (
                "https://h/public/mcp",
                None,
                &[
                    "https://h/.well-known/oauth-protected-resource/public/mcp",
                    "https://h/.well-known/oauth-protected-resource",
                ],
            ),
            ("https://h", None, &["https://h/.well-known/oauth-protected-resource"]),
            (
                "https://h:8443/mcp/?tenant=1",
                None,
                &[
                    "https://h:8443/.well-known/oauth-protected-resource/mcp",
                    "https://h:8443/.well-known/oauth-protected-resource",
                ],
            ),
            (
                "https://h/mcp",
                Some("https://h/custom.json"),
                &[
                    "https://h/custom.json",
                    "https://h/.well-known/oauth-protected-resource/mcp",
                    "https://h/.well-known/oauth-protected-resource",
                ],
            ),
            (
                "https://h/mcp",
                Some("https://h/.well-known/oauth-protected-resource/mcp"),
                &[
                    "https://h/.well-known/oauth-protected-resource/mcp",
                    "https://h/.well-known/oauth-protected-resource",
                ],
            ),
        ];
        for (server, named, expected) in cases {
            assert_eq!(resource_places(&url(server), named), expected, "{server} {named:?}");
        }
    }

    #[test]
    fn issuer_metadata_is_looked_for_in_order() {
        let cases: [(&str, &[&str]); 3] = [
            (
                "https://auth.example.com",
                &[
                    "https://auth.example.com/.well-known/oauth-authorization-server",
                    "https://auth.example.com/.well-known/openid-configuration",
                ],
            ),
            (
                "https://auth.example.com/",
                &[
                    "https://auth.example.com/.well-known/oauth-authorization-server",
                    "https://auth.example.com/.well-known/openid-configuration",
                ],
            ),
            (
                "https://auth.example.com/tenant1",
                &[
                    "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
                    "https://auth.example.com/.well-known/openid-configuration/tenant1",
                    "https://auth.example.com/tenant1/.well-known/openid-configuration",
                ],
            ),
        ];
        for (issuer, expected) in cases {
            assert_eq!(issuer_places(&url(issuer)), expected, "{issuer}");
        }
    }

    #[test]
    fn a_resource_covers_itself_and_what_lies_below() {
        let cases = [
            ("https://h/mcp", "https://h/mcp", true),
            ("https://H/mcp", "https://h/mcp", true),
            ("https://h", "https://h/mcp", true),
            ("https://h/mcp/", "https://h/mcp", true),
            ("https://h/a", "https://h/a/b", true),
            ("https://h/mcp", "https://h/mcp?tenant=1", true),
            ("https://h/mcp?tenant=1", "https://h/mcp?tenant=1", true),
            ("https://h/mcp?tenant=2", "https://h/mcp?tenant=1", false),
            ("https://h/a", "https://h/ab", false),
            ("https://h/mcp", "https://h/", false),
            ("https://evil.example/mcp", "https://h/mcp", false),
            ("http://h/mcp", "https://h/mcp", false),
            ("https://h:8443/mcp", "https://h/mcp", false),
        ];
        for (resource, server, expected) in cases {
            assert_eq!(covers(&url(resource), &url(server)), expected, "{resource} {server}");
        }
    }
}

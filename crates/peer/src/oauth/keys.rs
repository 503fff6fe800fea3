//! The keys with which an issuer signs its tokens, for whoever has to check one. Which tokens are good is not decided
//! here; only whom the keys are taken from.

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::OAuthError;
use super::discovery::issuer_places;
use super::error::shown;
use super::fetch::{Fetch, Found};

const METADATA: &str = "reading the issuer's metadata";
const KEYS: &str = "reading the issuer's keys";

/// As much as is needed of RFC 8414 and OpenID Connect Discovery.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// The JSON Web Key Set of an issuer: at `address`, or where the issuer's own metadata says. Held to the rules of this
/// module: encrypted unless the issuer is on this machine, no redirect to elsewhere, bounded in time and size.
///
/// # Errors
/// The keys cannot be had, or the metadata is that of another issuer.
pub async fn signing_keys(issuer: &str, address: Option<&str>) -> Result<Value, OAuthError> {
    // Whoever configured the address of the keys decided how near they may be; else the issuer's own place decides.
    let anchor = address.unwrap_or(issuer);
    let bad = |error: url::ParseError| OAuthError::BadAddress {
        step: METADATA,
        address: shown(anchor),
        why: error.to_string(),
    };
    let url = Url::parse(anchor).map_err(bad)?;
    let fetch = Fetch::placed(&url).await;
    let place = match address {
        Some(address) => address.to_owned(),
        None => metadata(fetch, issuer, &url).await?.jwks_uri,
    };
    match fetch.get(KEYS, &place).await? {
        Found::Document(keys) => Ok(keys),
        Found::Nothing(why) => Err(OAuthError::BadAnswer { step: KEYS, why }),
    }
}

async fn metadata(fetch: Fetch, issuer: &str, url: &Url) -> Result<Metadata, OAuthError> {
    // An issuer of people's tokens is asked as such first.
    let mut places = issuer_places(url);
    places.reverse();
    for place in places {
        let Found::Document(found) = fetch.get::<Metadata>(METADATA, &place).await? else { continue };
        if found.issuer != issuer {
            return Err(OAuthError::ForeignIssuer { expected: shown(issuer), found: shown(&found.issuer) });
        }
        return Ok(found);
    }
    Err(OAuthError::NoMetadata { issuer: shown(issuer) })
}

//! The token endpoint.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;

use super::discovery::Issuer;
use super::fetch::Fetch;
use super::registration::{AuthMethod, Client};
use super::vault::OAuthTokens;
use super::{OAuthError, OAuthScopes, Secret};

const STEP: &str = "asking for a token";

/// RFC 6749, section 5.1.
#[derive(Deserialize)]
struct Answer {
    access_token: String,
    token_type: String,
    refresh_token: Option<String>,
    /// A number; some servers send it as text.
    expires_in: Option<Value>,
}

/// Asks for tokens with `form`, which names the grant.
pub(super) async fn request(
    fetch: Fetch,
    issuer: &Issuer,
    client: &Client,
    form: &[(&str, &str)],
    requested: OAuthScopes,
) -> Result<OAuthTokens, OAuthError> {
    let (headers, body) = prove(client, form)?;
    let answer: Answer = fetch.post(STEP, issuer.token_endpoint()?, headers, body).await?;
    read(answer, requested, SystemTime::now())
}

/// The request, with what proves who we are.
fn prove(client: &Client, form: &[(&str, &str)]) -> Result<(HeaderMap, String), OAuthError> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    match (client.method, &client.secret) {
        (AuthMethod::Basic, Some(secret)) => {
            // Both parts are encoded as in a form first (RFC 6749, section 2.3.1).
            let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = STANDARD.encode(format!("{}:{}", encode(&client.id), encode(secret.reveal())));
            let unsendable = |_| OAuthError::BadAnswer { step: STEP, why: "the client id cannot be sent".to_owned() };
            let mut value = HeaderValue::try_from(format!("Basic {pair}")).map_err(unsendable)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        (AuthMethod::Post, Some(secret)) => {
            body.append_pair("client_id", &client.id).append_pair("client_secret", secret.reveal());
        }
        _ => {
            body.append_pair("client_id", &client.id);
        }
    }
    Ok((headers, body.finish()))
}

fn read(answer: Answer, requested: OAuthScopes, now: SystemTime) -> Result<OAuthTokens, OAuthError> {
    let bad = |why: &str| OAuthError::BadAnswer { step: STEP, why: why.to_owned() };
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err(bad("the token is of a type that is not supported"));
    }
    // RFC 6750, section 2.1. Anything else could end the header early.
    if answer.access_token.is_empty() || !answer.access_token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(bad("the token cannot be sent"));
    }
    let seconds = answer.expires_in.and_then(|value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    });
    Ok(OAuthTokens {
        access: answer.access_token.into(),
        refresh: answer.refresh_token.filter(|token| !token.is_empty()).map(Secret::from),
        expires_at: seconds.and_then(|seconds| now.checked_add(Duration::from_secs(seconds))),
        requested,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_proves_the_client_in_its_own_place() {
        let form = [("grant_type", "authorization_code"), ("code", "a&b")];
        let cases = [
            (AuthMethod::None, None, None, "grant_type=authorization_code&code=a%26b&client_id=id%3A1"),
            // base64 of `id%3A1:p%25+w`
            (
                AuthMethod::Basic,
                Some("p% w"),
                Some("Basic aWQlM0ExOnAlMjUrdw=="),
                "grant_type=authorization_code&code=a%26b",
            ),
            (
                AuthMethod::Post,
                Some("p% w"),
                None,
                "grant_type=authorization_code&code=a%26b&client_id=id%3A1&client_secret=p%25+w",
            ),
            (AuthMethod::None, Some("unused"), None, "grant_type=authorization_code&code=a%26b&client_id=id%3A1"),
        ];
        for (method, secret, header, expected) in cases {
            let client = Client { id: "id:1".to_owned(), secret: secret.map(Secret::from), method };
            let (headers, body) = prove(&client, &form).unwrap();
            assert_eq!(headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap()), header, "{method:?}");
            assert_eq!(body, expected, "{method:?}");
            assert!(headers.get(AUTHORIZATION).is_none_or(HeaderValue::is_sensitive));
        }
    }

    #[test]
    fn only_bearer_tokens_that_can_be_sent_are_taken() {
        let now = SystemTime::UNIX_EPOCH;
        let cases = [
            (r#"{"access_token":"t","token_type":"Bearer"}"#, Some(None)),
            (r#"{"access_token":"t","token_type":"bearer","expires_in":60}"#, Some(Some(60))),
            (r#"{"access_token":"t","token_type":"bearer","expires_in":"60"}"#, Some(Some(60))),
            (r#"{"access_token":"t","token_type":"bearer","expires_in":18446744073709551615}"#, Some(None)),
            (r#"{"access_token":"t","token_type":"bearer","expires_in":null}"#, Some(None)),
            (r#"{"access_token":"t","token_type":"DPoP"}"#, None),
            (r#"{"access_token":"","token_type":"Bearer"}"#, None),
            (r#"{"access_token":"a\r\nb: c","token_type":"Bearer"}"#, None),
        ];
        for (answer, expected) in cases {
            let tokens = read(serde_json::from_str(answer).unwrap(), OAuthScopes::default(), now).ok();
            let end = tokens.map(|tokens| {
                tokens.expires_at.map(|end| end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
            });
            assert_eq!(end, expected, "{answer}");
        }
    }
}

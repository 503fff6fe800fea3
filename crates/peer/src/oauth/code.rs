//! The authorization page: the address to open, and whether its answer may be believed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::discovery::Issuer;
use super::error::shown;
use super::fetch::Fetch;
use super::{OAuthError, OAuthScopes, Secret};

/// One visit to the authorization page, with what its answer is checked against.
pub(super) struct Visit {
    /// Where to go.
    pub(super) address: Url,
    /// What proves to the token endpoint that the visit was ours (RFC 7636).
    pub(super) verifier: Secret,
    state: String,
    issuer: String,
    issuer_is_promised: bool,
    redirect_uri: String,
}

/// What the visit is for.
pub(super) struct CodeRequest<'a> {
    pub(super) client_id: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) resource: &'a str,
    pub(super) scopes: &'a OAuthScopes,
}

impl Visit {
    pub(super) fn new(fetch: Fetch, issuer: &Issuer, wish: &CodeRequest<'_>) -> Result<Self, OAuthError> {
        const STEP: &str = "opening the authorization page";
        if !issuer.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(issuer.lacks("it does not support PKCE with S256"));
        }
        let endpoint = issuer.authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| issuer.lacks("it has no authorization page"))?;
        let mut address = fetch.allowed(STEP, endpoint)?;
        // 256 random bits; the smallest allowed length is 43 characters.
        let verifier = format!("{}{}", crate::random_token(), crate::random_token());
        let state = crate::random_token();
        {
            let mut query = address.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", wish.client_id)
                .append_pair("redirect_uri", wish.redirect_uri)
                .append_pair("code_challenge", &code_challenge(&verifier))
                .append_pair("code_challenge_method", "S256")
                .append_pair("state", &state)
                .append_pair("resource", wish.resource);
            if !wish.scopes.is_empty() {
                query.append_pair("scope", &wish.scopes.to_string());
            }
            if wish.scopes.contains_all(&OAuthScopes::parse("offline_access")) {
                // OpenID providers give it only to a person who was asked.
                query.append_pair("prompt", "consent");
            }
        }
        Ok(Self {
            address,
            verifier: verifier.into(),
            state,
            issuer: issuer.issuer.clone(),
            issuer_is_promised: issuer.authorization_response_iss_parameter_supported,
            redirect_uri: wish.redirect_uri.to_owned(),
        })
    }

    /// The code in the answer. Until state and issuer are found right, nothing else of it is believed, not even the
    /// words of an error.
    pub(super) fn code(&self, answer: &Url) -> Result<Secret, OAuthError> {
        let is_ours = Url::parse(&self.redirect_uri).is_ok_and(|expected| {
            expected.origin() == answer.origin()
                && expected.scheme() == answer.scheme()
                && expected.path() == answer.path()
        });
        if !is_ours {
            return Err(OAuthError::BadResponse("it came to another address"));
        }
        if self.find(answer, "state")?.as_deref() != Some(&*self.state) {
            return Err(OAuthError::BadResponse("it belongs to another request"));
        }
        match self.find(answer, "iss")? {
            // Compared as it is (RFC 3986, section 6.2.1).
            Some(found) if found != self.issuer => {
                return Err(OAuthError::BadResponse("it comes from another authorization server"));
            }
            None if self.issuer_is_promised => {
                return Err(OAuthError::BadResponse("it does not name its authorization server"));
            }
            _ => {}
        }
        let short = |text: Option<String>| text.as_deref().map(shown);
        if let Some(code) = self.find(answer, "error")? {
            let description = short(self.find(answer, "error_description")?);
            return Err(OAuthError::Denied { code: short(Some(code)), description });
        }
        match self.find(answer, "code")? {
            Some(code) if !code.is_empty() => Ok(code.into()),
            _ => Err(OAuthError::Denied { code: None, description: None }),
        }
    }

    fn find(&self, answer: &Url, key: &str) -> Result<Option<String>, OAuthError> {
        let mut values = answer.query_pairs().filter(|(name, _)| name == key).map(|(_, value)| value.into_owned());
        match (values.next(), values.next()) {
            (first, None) => Ok(first),
            _ => Err(OAuthError::BadResponse("it says something twice")),
        }
    }
}

/// RFC 7636, section 4.2.
fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(promises: bool) -> Issuer {
        Issuer {
            issuer: "https://auth.example".to_owned(),
            authorization_endpoint: Some("https://auth.example/authorize?tenant=1".to_owned()),
            code_challenge_methods_supported: vec!["plain".to_owned(), "S256".to_owned()],
            authorization_response_iss_parameter_supported: promises,
            ..Issuer::default()
        }
    }

    fn visit(issuer: &Issuer, scopes: &str) -> Result<Visit, OAuthError> {
        let fetch = Fetch::new(&Url::parse("https://mcp.example/mcp").unwrap());
        let wish = CodeRequest {
            client_id: "me",
            redirect_uri: "http://127.0.0.1:7/callback",
            resource: "https://mcp.example/mcp",
            scopes: &OAuthScopes::parse(scopes),
        };
        Visit::new(fetch, issuer, &wish)
    }

    fn parameter(url: &Url, key: &str) -> Option<String> {
        url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
    }

    #[test]
    fn the_challenge_is_the_one_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(code_challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn the_address_says_all_that_is_needed() {
        let visit = visit(&issuer(true), "b a").unwrap();
        let expected = [
            ("tenant", Some("1")),
            ("response_type", Some("code")),
            ("client_id", Some("me")),
            ("redirect_uri", Some("http://127.0.0.1:7/callback")),
            ("code_challenge_method", Some("S256")),
            ("resource", Some("https://mcp.example/mcp")),
            ("scope", Some("a b")),
            ("prompt", None),
        ];
        for (key, value) in expected {
            assert_eq!(parameter(&visit.address, key).as_deref(), value, "{key}");
        }
        assert!((43..=128).contains(&visit.verifier.reveal().len()));
        let challenge = code_challenge(visit.verifier.reveal());
        assert_eq!(parameter(&visit.address, "code_challenge"), Some(challenge));
    }

    #[test]
    fn scope_is_left_out_where_there_is_none_and_offline_access_asks_the_person() {
        let plain = visit(&issuer(true), "").unwrap();
        assert_eq!(parameter(&plain.address, "scope"), None);
        let offline = visit(&issuer(true), "a offline_access").unwrap();
        assert_eq!(parameter(&offline.address, "prompt").as_deref(), Some("consent"));
    }

    #[test]
    fn a_server_without_pkce_or_encryption_is_refused() {
        let good = issuer(true);
        let cases = [
            Issuer { code_challenge_methods_supported: Vec::new(), ..good.clone() },
            Issuer { code_challenge_methods_supported: vec!["plain".to_owned()], ..good.clone() },
            Issuer { authorization_endpoint: Some("http://auth.example/a".to_owned()), ..good.clone() },
            Issuer { authorization_endpoint: Some("javascript:alert(1)".to_owned()), ..good.clone() },
            Issuer { authorization_endpoint: None, ..good },
        ];
        for issuer in cases {
            assert!(visit(&issuer, "").is_err(), "{issuer:?}");
        }
    }

    #[test]
    fn an_answer_is_believed_only_from_the_right_place() {
        const RIGHT: &str = "https%3A%2F%2Fauth.example";
        let good = |promised: bool| [(promised, format!("code=c&state=STATE&iss={RIGHT}"))];
        let cases = [
            (true, "http://127.0.0.1:7/callback?code=c&state=STATE", false),
            (true, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=https%3A%2F%2Fevil.example", false),
            (true, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=https%3A%2F%2Fauth.example%2F", false),
            (true, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=https%3A%2F%2FAUTH.example", false),
            (true, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=https%3A%2F%2Fauth.example%3A443", false),
            (true, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=", false),
            (false, "http://127.0.0.1:7/callback?code=c&state=STATE", true),
            (false, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=https%3A%2F%2Fevil.example", false),
            (false, "http://127.0.0.1:7/callback?code=c&state=STATE&iss=https%3A%2F%2Fauth.example%2F", false),
            (false, "http://127.0.0.1:7/callback?code=c&state=other", false),
            (false, "http://127.0.0.1:7/callback?code=c", false),
            (false, "http://127.0.0.1:7/callback?code=c&state=STATE&state=other", false),
            (false, "http://127.0.0.1:7/callback?code=c&code=d&state=STATE", false),
            (false, "http://127.0.0.1:7/callback?state=STATE", false),
            (false, "http://127.0.0.1:7/other?code=c&state=STATE", false),
            (false, "http://127.0.0.1:8/callback?code=c&state=STATE", false),
            (false, "https://127.0.0.1:7/callback?code=c&state=STATE", false),
        ];
        let mut cases: Vec<(bool, String, bool)> =
            cases.into_iter().map(|(promised, answer, right)| (promised, answer.to_owned(), right)).collect();
        for (promised, query) in [good(true), good(false)].into_iter().flatten() {
            cases.push((promised, format!("http://127.0.0.1:7/callback?{query}"), true));
        }
        for (promised, answer, right) in cases {
            let visit = visit(&issuer(promised), "").unwrap();
            let answer = answer.replace("STATE", &visit.state);
            let code = visit.code(&Url::parse(&answer).unwrap());
            assert_eq!(code.is_ok(), right, "{promised} {answer} {code:?}");
        }
    }

    #[test]
    fn the_words_of_an_error_are_told_only_by_the_right_issuer() {
        let visit = visit(&issuer(false), "").unwrap();
        let say = |iss: &str| {
            let state = &visit.state;
            let answer = format!("http://127.0.0.1:7/callback?error=access_denied&state={state}&iss={iss}");
            visit.code(&Url::parse(&answer).unwrap()).unwrap_err().to_string()
        };
        assert!(say("https://auth.example").contains("access_denied"));
        assert!(!say("https://evil.example").contains("access_denied"));
    }
}

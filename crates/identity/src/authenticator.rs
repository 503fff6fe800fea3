//! The one check at the HTTP door: which kind of token it is, and who knows about that kind.

use std::sync::Arc;

use switchboard_transport::http_server::{Authenticator, Checked};

use super::oidc::Oidc;
use super::token_cache::TokenCache;
use crate::tokens::PREFIX;

/// Knows tokens of every kind that is let in.
#[derive(Debug)]
pub struct TokenAuthenticator {
    /// The tokens of ours.
    pub tokens: Arc<TokenCache>,
    /// The identity provider whose tokens are good here too.
    pub provider: Option<Oidc>,
}

impl Authenticator for TokenAuthenticator {
    fn check(&self, token: Option<&str>) -> Checked {
        match &self.provider {
            Some(provider) if token.is_some_and(|token| !token.starts_with(PREFIX)) => {
                still_good(self.tokens.clone(), provider.check(token))
            }
            _ => self.tokens.check(token),
        }
    }
}

/// A signed token that has expired stays so when the clock goes back.
fn still_good(tokens: Arc<TokenCache>, checked: Checked) -> Checked {
    match checked {
        Checked::Known(principal) if principal.expires_at.is_some_and(|end| tokens.is_past(end)) => Checked::Unknown,
        Checked::Later(asking) => Checked::Later(Box::pin(async move { still_good(tokens, asking.await) })),
        checked => checked,
    }
}

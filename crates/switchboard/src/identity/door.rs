//! The one check at the HTTP door: which kind of token it is, and who knows about that kind.

use std::sync::Arc;

use switchboard_transport::http_server::{Authenticator, Checked};

use super::book::TokenBook;

/// Knows tokens of every kind that is let in.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) tokens: Arc<TokenBook>,
}

impl Authenticator for Door {
    fn check(&self, token: Option<&str>) -> Checked {
        self.tokens.check(token)
    }
}

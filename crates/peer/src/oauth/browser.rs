//! The person's browser: the one part of authorization that a program cannot do.

mod loopback;

use url::Url;

pub use self::loopback::Loopback;
use super::OAuthError;
use crate::BoxFuture;

/// Takes a person to the authorization page and comes back with its answer.
pub trait Browser: Send + Sync + 'static {
    /// The address that answers come to. It stays the same, because authorization servers are told it beforehand.
    fn redirect_uri(&self) -> String;

    /// Why nobody can be asked at all, where that is so: then nothing is registered and no page is prepared.
    fn absent(&self) -> Option<String> {
        None
    }

    /// Opens `page` and gives back the address that the person was sent to in the end: the redirect address with the
    /// answer in its query. Must end by itself, in minutes.
    fn authorize(&self, page: Url) -> BoxFuture<'_, Result<Url, OAuthError>>;
}

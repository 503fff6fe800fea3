//! Who calls: tokens of ours, and signed tokens of an identity provider; and in whose name other people's servers are
//! used.
//!
//! It deliberately does not decide what a principal may do, writes nothing into the audit log, and knows neither commands
//! nor the kernel. The names of principals come from here and from nowhere else.

mod authenticator;
mod claims;
mod error;
mod jwt;
mod oidc;
mod resource_metadata;
mod seal;
mod token_cache;
pub mod tokens;
mod upstream_credentials;
mod vault;

pub use authenticator::TokenAuthenticator;
pub use error::IdentityError;
pub use oidc::Oidc;
pub use resource_metadata::{ResourceMetadata, challenges};
pub use token_cache::{REVOCATION_DELAY, TokenCache};
pub use upstream_credentials::{CLIENT_NAME, UpstreamCredentials};
pub use vault::{EVERYBODY, StoredVault};

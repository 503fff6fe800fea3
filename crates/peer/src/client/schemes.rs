//! Ways to servers by the scheme of their address, beside processes and HTTP.
//!
//! A new transport is a file beside this one, a row here, and its scheme in `protocol::address::OWN_TRANSPORTS`: what stands above
//! knows a server by its address alone.

use std::sync::Arc;

use super::{ConnectError, ConnectOptions, Connected};
use crate::{BoxFuture, Handler};

/// A connection that is being made.
pub(super) type Connecting = BoxFuture<'static, Result<Connected, ConnectError>>;

/// Connects to what stands behind the colon of an address, and does the handshake.
type Connect = fn(String, ConnectOptions, Arc<dyn Handler>) -> Connecting;

/// The schemes, and what connects to their addresses.
const SCHEMES: &[(&str, Connect)] = &[
    #[cfg(unix)]
    ("unix", |path, options, handler| Box::pin(super::socket::connect(path, options, handler))),
];

/// Begins to connect to an address.
pub(super) fn connect(
    address: &str,
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connecting, ConnectError> {
    let (scheme, rest) = address.split_once(':').unwrap_or(("", address));
    match SCHEMES.iter().find(|(known, _)| *known == scheme) {
        Some((_, connect)) => Ok(connect(rest.to_owned(), options, handler)),
        None => Err(ConnectError::Nowhere(format!("nothing on this system connects to addresses with `{scheme}:`"))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use switchboard_protocol::address::OWN_TRANSPORTS;

    use super::*;

    #[test]
    fn every_scheme_that_a_configuration_may_name_has_its_way() {
        let known: Vec<&str> = SCHEMES.iter().map(|(scheme, _)| *scheme).collect();
        assert_eq!(known, OWN_TRANSPORTS);
    }
}

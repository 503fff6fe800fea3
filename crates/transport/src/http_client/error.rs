//! What can go wrong between a request and its answer.

/// Why there is no answer that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address cannot be used.
    #[error("the address {url} cannot be used: {why}")]
    BadUrl {
        /// The address, without credentials.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// A header that HTTP does not allow. The value is not shown: it may be a credential.
    #[error("the header `{0}` has a name or a value that HTTP does not allow")]
    BadHeader(String),
    /// No connection.
    #[error("cannot connect to {origin}: {why}")]
    Connect {
        /// Scheme, host and port.
        origin: String,
        /// The reason, from the operating system or TLS.
        why: String,
    },
    /// The connection closed before the request was written.
    #[error("the connection to {0} closed before the request was sent")]
    NotSent(String),
    /// The connection failed after the request was (at least partly) written.
    #[error("the connection to {origin} failed: {why}")]
    Broken {
        /// Scheme, host and port.
        origin: String,
        /// The reason.
        why: String,
    },
    /// The answer is larger than allowed.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
    /// The server points elsewhere. Following it would hand this server's credentials to another.
    #[error("the server answers with a redirect (HTTP {status}) to {location}: configure that address if it is right")]
    Redirect {
        /// The status.
        status: u16,
        /// Where it points, without query.
        location: String,
    },
}

impl HttpError {
    /// Whether the server may have seen the request.
    #[must_use]
    pub const fn was_sent(&self) -> bool {
        matches!(self, Self::Broken { .. } | Self::TooLarge(_) | Self::Redirect { .. })
    }
}

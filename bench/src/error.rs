//! The one error type of the bench crate: every variant says what was being done.

use std::io;
use std::time::Duration;

/// Result with the bench crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong while a load runs or a measured process starts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A socket, pipe or file failed.
    #[error("{doing}")]
    Io {
        /// The operation, in words.
        doing: String,
        /// The cause.
        source: io::Error,
    },
    /// The HTTP exchange broke.
    #[error("HTTP exchange failed")]
    Http(#[from] hyper::Error),
    /// A request could not be built (a header or path from the command line is not valid).
    #[error("invalid request")]
    Request(#[from] hyper::http::Error),
    /// The server refused the request at the HTTP level.
    #[error("HTTP status {status}: {body}")]
    Status {
        /// The status code.
        status: u16,
        /// The beginning of the body.
        body: String,
    },
    /// The answer is not JSON.
    #[error("answer is not JSON")]
    Json(#[from] serde_json::Error),
    /// The answer is JSON but not the one that was due.
    #[error("wrong answer: {0}")]
    Answer(String),
    /// A deadline passed.
    #[error("{doing} took longer than {limit:?}")]
    Deadline {
        /// The operation, in words.
        doing: String,
        /// Its limit.
        limit: Duration,
    },
    /// A measured process did not start or ended early.
    #[error("{name}: {reason}")]
    Process {
        /// The process, by its name in the table.
        name: String,
        /// What happened, and what it last printed.
        reason: String,
    },
    /// The command line asks for something that cannot be done.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Names the failed operation of an I/O error; shaped for `map_err`.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// The error and its causes on one line, for people.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

/// Awaits `work` for at most `limit`.
pub async fn within<T>(doing: &str, limit: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(limit, work).await {
        Ok(result) => result,
        Err(_) => Err(Error::Deadline { doing: doing.to_owned(), limit }),
    }
}

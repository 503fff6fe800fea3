//! How a command ends that did not do what it was asked, and with which exit code.

use std::fmt;

use switchboard_identity::IdentityError;
/// An error with all its causes, on one line.
pub(crate) use switchboard_protocol::fault::error_chain as chain;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// What was asked for failed: exit code 1.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self { code: 1, message: message.to_string() }
    }

    /// The command line or the configuration is wrong: exit code 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { code: 2, message: message.to_string() }
    }

    /// It failed, and everything was said already: exit code 1.
    pub(crate) const fn said() -> Self {
        Self { code: 1, message: String::new() }
    }

    /// Everything was said already, also by the exit code.
    pub(crate) const fn quiet(code: u8) -> Self {
        Self { code, message: String::new() }
    }

    /// The exit code.
    pub(crate) const fn code(&self) -> u8 {
        self.code
    }

    /// What to tell the person, if there is something left to tell.
    pub(crate) fn message(&self) -> Option<&str> {
        (!self.message.is_empty()).then_some(self.message.as_str())
    }
}

impl From<switchboard_config::ConfigError> for Failure {
    fn from(error: switchboard_config::ConfigError) -> Self {
        Self::usage(error)
    }
}

impl From<switchboard_config::EditError> for Failure {
    fn from(error: switchboard_config::EditError) -> Self {
        Self::usage(error)
    }
}

impl From<switchboard_config::WriteError> for Failure {
    fn from(error: switchboard_config::WriteError) -> Self {
        Self::failed(chain(&error))
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        if error.is_usage() { Self::usage(chain(&error)) } else { Self::failed(chain(&error)) }
    }
}

impl From<switchboard_store::StoreError> for Failure {
    fn from(error: switchboard_store::StoreError) -> Self {
        Self::failed(format!("the store cannot be read or written: {}", chain(&error)))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(chain(&error))
    }
}

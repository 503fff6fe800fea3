//! Why a message is refused, and the JSON-RPC error object.

use std::fmt;

use crate::message::Extra;
use crate::raw::write_string;
use crate::{Id, Raw};

/// The error codes that JSON-RPC 2.0 itself defines.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
}

/// The `error` member of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorObject {
    /// What went wrong, as a number. Wider than 32 bits, as JSON-RPC sets no bound.
    pub code: i64,
    /// What went wrong, in words.
    pub message: String,
    /// Anything more, untouched.
    pub data: Option<Raw>,
    /// Members that JSON-RPC does not define, untouched.
    pub extra: Extra,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, extra: Extra::default() }
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data(mut self, data: Raw) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"code\":");
        out.extend_from_slice(self.code.to_string().as_bytes());
        out.extend_from_slice(b",\"message\":");
        write_string(out, &self.message);
        if let Some(data) = &self.data {
            out.extend_from_slice(b",\"data\":");
            out.extend_from_slice(data.as_bytes());
        }
        self.extra.write(out);
        out.push(b'}');
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// A message that is not passed on, with the id to answer under where it could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {at}")]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// Where in the text.
    pub at: usize,
    /// The id of the refused request, where it could be read.
    pub id: Option<Id>,
    /// Whether the refused message was a response or a notification, which take no answer.
    pub unanswerable: bool,
    /// The id in a refused response, where it could be read: whoever waits for that answer will not get it.
    pub answers: Option<Id>,
}

impl Refusal {
    pub(crate) const fn new(kind: RefusalKind, at: usize) -> Self {
        Self { kind, at, id: None, unanswerable: false, answers: None }
    }

    /// The error to answer with.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::new(self.kind.code(), self.to_string())
    }
}

/// The reasons to refuse a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusalKind {
    /// Not JSON.
    #[error("not valid JSON")]
    Syntax,
    /// Not UTF-8, or an escape that stands for half a character.
    #[error("not valid Unicode text")]
    Unicode,
    /// Begins with a byte order mark.
    #[error("a byte order mark in front of the message")]
    ByteOrderMark,
    /// Something follows the message.
    #[error("text after the message")]
    Trailing,
    /// More bytes than allowed.
    #[error("message longer than {0} bytes")]
    TooLong(usize),
    /// Nested deeper than allowed.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    /// More keys than allowed.
    #[error("more than {0} object keys")]
    TooManyKeys(usize),
    /// A number longer than allowed.
    #[error("a number longer than {0} characters")]
    NumberTooLong(usize),
    /// A member of the envelope, or of an object that decides where a message goes, stands twice.
    #[error("the same key twice")]
    DuplicateKey,
    /// `jsonrpc` is missing or is not "2.0".
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
    /// The id is neither a string nor an integer.
    #[error("the id is neither a string nor an integer")]
    BadId,
    /// Neither a request, a notification nor a response.
    #[error("neither a request, a notification nor a response")]
    Shape,
    /// `method` is not a string.
    #[error("`method` is not a string")]
    BadMethod,
    /// `params` is not an object.
    #[error("`params` is not an object")]
    BadParams,
    /// `error` has no integer code and text message.
    #[error("`error` is not an object with a code and a message")]
    BadError,
    /// A batch where the revision has none, an empty one, or too many messages in it.
    #[error("a batch that is empty, too long, or not part of this protocol revision")]
    Batch,
}

impl RefusalKind {
    const fn code(self) -> i64 {
        match self {
            Self::Syntax | Self::Unicode | Self::ByteOrderMark | Self::Trailing => code::PARSE_ERROR,
            _ => code::INVALID_REQUEST,
        }
    }
}

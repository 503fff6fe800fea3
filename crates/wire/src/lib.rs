//! JSON-RPC 2.0, lossless: the envelope is parsed once, `params`, `result` and `error.data` stay raw bytes.
//!
//! This crate decides what a well-formed message is and how it is framed. It deliberately knows no method, no
//! protocol revision, no socket and no clock. What it does not understand it keeps byte for byte.
//!
//! ```
//! use switchboard_wire::{Limits, Message};
//!
//! let text = br#"{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"n":1.10},"x":1}"#;
//! let message = Message::parse(text.to_vec(), &Limits::default()).unwrap();
//! assert_eq!(message.encode().as_ref(), text);
//! ```

pub mod canonical;
mod edit;
mod error;
mod id;
mod limits;
mod line;
mod message;
mod object;
mod raw;
mod scan;
mod skim;
pub mod sse;

pub use edit::Edit;
pub use error::{ErrorObject, Refusal, RefusalKind, code};
pub use id::Id;
pub use limits::Limits;
pub use line::{Line, LineDecoder};
pub use message::{Extra, Incoming, Message, Notification, Request, Response};
pub use object::{Member, Object};
pub use raw::{Kind, Raw};

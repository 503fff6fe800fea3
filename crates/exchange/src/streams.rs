//! Calls whose results come in pieces (MGP 12, proposal 8), and those that report how far they are.
//!
//! One [`Live`] stands for one such call. It takes what the server says about the call, in any dialect, and says it to
//! the client in the client's. Here is the book of them: by the id of the client's request, and by the name of the
//! operation. A call that asks for none of this has no entry here and pays nothing.

mod book;
mod in_flight;
mod live;
mod operation;
mod render;
mod requests;
mod rights;

use std::sync::LazyLock;

use memchr::memmem::Finder;
use switchboard_gate::agreed_with;
use switchboard_peer::Context;
use switchboard_protocol::mgp::{Agreement, Extension, Metadata};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_upstream::Server;
use switchboard_wire::Raw;

pub(crate) use book::Streams;
pub use in_flight::InFlightGuard;
pub use live::Live;
pub(crate) use live::{authority_in, key_with};
pub use operation::{AdmittedCall, StreamedCall};

/// In which words pieces are told to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Not at all.
    Nothing,
    /// MGP 12.
    Mgp,
    /// Proposal 8.
    Proposal {
        /// Pieces; else only progress.
        pieces: bool,
    },
}

/// What the caller of a tool wants to hear before the answer.
#[derive(Debug, Clone)]
pub struct StreamRequest {
    pub(crate) form: Form,
    /// The client did not ask for pieces, and speaks of progress in the words of MGP all the same.
    pub(crate) mgp_progress: bool,
    /// The token that the client gave for progress.
    pub(crate) token: Option<Raw>,
    /// The checkpoint from which an operation is to go on.
    pub(crate) resume: Option<String>,
    /// The same, once it was found that the call has to be made again for it.
    pub(crate) goes_on: Option<GoesOn>,
}

/// An operation that is made again from a checkpoint.
#[derive(Debug, Clone)]
pub(crate) struct GoesOn {
    pub(crate) operation: String,
    pub(crate) key: Vec<u8>,
    /// The number of the first piece that the client wants.
    pub(crate) from: u64,
    /// The server's own checkpoint, with the number of the first piece after it.
    pub(crate) inner: Option<(u64, String)>,
}

impl StreamRequest {
    /// Reads it; `None` for a call that asks for nothing, which is most of them.
    #[must_use]
    pub fn of(context: &Context, server: &Server, params: &Raw, metadata: &Metadata) -> Option<Self> {
        /// Looked for in every call: made once.
        static PROGRESS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("progressToken"));
        let text = params.as_bytes();
        let said = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let capabilities = &context.caller.capabilities;
        let knows_more = capabilities.as_bytes().len() > 2;
        // A word is looked for before a member is: a call that does not name it costs one pass over its text.
        let by_mgp = knows_more
            && said(b"stream")
            && metadata.wants_stream()
            && agreed_with(capabilities).is_some_and(|agreement| agreement.has(Extension::Streaming));
        let form = if by_mgp { Form::Mgp } else { form_of_proposals(capabilities, knows_more) };
        let token = if PROGRESS.find(text).is_some() { params.at(&["_meta", "progressToken"]) } else { None };
        let resume = (matches!(form, Form::Proposal { .. }) && said(b"checkpoint_token"))
            .then(|| metadata.get("checkpoint_token").and_then(|token| token.as_text()))
            .flatten();
        // Plain progress passes by itself. Only a server of another dialect needs somebody to translate.
        let only_token = form == Form::Nothing;
        if only_token && (token.is_none() || !server.streams()) {
            return None;
        }
        let speaks = |agreement: Agreement| agreement.has(Extension::Streaming) || agreement.has(Extension::Progress);
        let mgp_progress = only_token && knows_more && agreed_with(capabilities).is_some_and(speaks);
        Some(Self { form, mgp_progress, token, resume, goes_on: None })
    }

    /// Whether its client can come back for it.
    pub(crate) const fn is_operation(&self) -> bool {
        matches!(self.form, Form::Proposal { pieces: true })
    }

    /// Whether it is made to go on with what was begun before.
    #[must_use]
    pub const fn brings_checkpoint(&self) -> bool {
        self.resume.is_some()
    }
}

fn form_of_proposals(capabilities: &Raw, knows_more: bool) -> Form {
    let named = |word: &[u8]| memchr::memmem::find(capabilities.as_bytes(), word).is_some();
    if !knows_more || !(named(b"streaming") || named(b"progress_notifications")) {
        return Form::Nothing;
    }
    let declared = proposals::declared(capabilities);
    match (declared.has(Proposal::Streaming), declared.has(Proposal::ProgressNotifications)) {
        (true, _) => Form::Proposal { pieces: true },
        (false, true) => Form::Proposal { pieces: false },
        (false, false) => Form::Nothing,
    }
}

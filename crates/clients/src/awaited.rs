//! A list that a client asked for and that is being put together.

use std::sync::Arc;

use switchboard_directory::ListKind;
use switchboard_gate::lists::HeldList;
use switchboard_peer::Context;
use switchboard_wire::Raw;

use crate::session::ClientState;

/// A list that a client asked for and that is being put together.
#[derive(Debug)]
pub struct AwaitedList {
    client: Arc<ClientState>,
    kind: ListKind,
    is_given: bool,
}

impl AwaitedList {
    /// One of a lasting session; others are not told of changes by session.
    #[must_use]
    pub fn of(context: &Context, kind: ListKind) -> Option<Self> {
        let client = context.session.lasting.then(|| ClientState::of(&context.session))?;
        client.lists.note(kind, Some(HeldList::Awaited));
        Some(Self { client, kind, is_given: false })
    }

    /// This is what the client is given.
    pub fn given(mut self, list: &Raw) {
        self.client.lists.note(self.kind, Some(HeldList::given(list)));
        self.is_given = true;
    }
}

impl Drop for AwaitedList {
    fn drop(&mut self) {
        if !self.is_given {
            self.client.lists.note(self.kind, None);
        }
    }
}

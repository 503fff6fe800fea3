//! Which lists a client holds: it is told of a change only where its own list is another one now.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_directory::ListKind;
use switchboard_peer::Context;
use switchboard_wire::Raw;

use crate::ClientHost;
use crate::session::ClientState;

/// What a client holds of each list. Nothing where it never asked for one: it cannot be known what it goes by.
#[derive(Debug, Default)]
pub(crate) struct HeldLists(Mutex<HashMap<ListKind, HeldList>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldList {
    /// It has asked, and is not answered yet: what changes meanwhile stands in the answer.
    Awaited,
    /// It was given, or told of, the list with this hash.
    Given(u64),
}

impl HeldLists {
    /// Notes that the client holds this list.
    pub(crate) fn given(&self, kind: ListKind, list: &Raw) {
        self.0.lock().insert(kind, HeldList::Given(hash_of(list)));
    }

    fn forget(&self, kind: ListKind) {
        self.0.lock().remove(&kind);
    }

    fn await_one(&self, kind: ListKind) {
        self.0.lock().insert(kind, HeldList::Awaited);
    }

    /// Whether any of these lists is another one than the client holds. Then it counts as told.
    pub(crate) async fn are_outdated<H: ClientHost>(&self, host: &H, context: &Context, kinds: &[ListKind]) -> bool {
        let held: Vec<(ListKind, HeldList)> = {
            let lists = self.0.lock();
            kinds.iter().filter_map(|kind| Some((*kind, *lists.get(kind)?))).collect()
        };
        let mut outdated = held.is_empty();
        for (kind, held) in held {
            let HeldList::Given(before) = held else { continue };
            match host.list_now(context, kind).await {
                Ok(list) if hash_of(&list) == before => {}
                Ok(list) => {
                    let mut lists = self.0.lock();
                    // Unless it has asked anew meanwhile.
                    if lists.get(&kind) == Some(&held) {
                        lists.insert(kind, HeldList::Given(hash_of(&list)));
                        outdated = true;
                    }
                }
                // Who asks is told why.
                Err(_) => outdated = true,
            }
        }
        outdated
    }
}

fn hash_of(list: &Raw) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(list.as_bytes());
    hasher.finish()
}

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
        client.lists.await_one(kind);
        Some(Self { client, kind, is_given: false })
    }

    /// This is what the client is given.
    pub fn given(mut self, list: &Raw) {
        self.client.lists.given(self.kind, list);
        self.is_given = true;
    }
}

impl Drop for AwaitedList {
    fn drop(&mut self) {
        if !self.is_given {
            self.client.lists.forget(self.kind);
        }
    }
}

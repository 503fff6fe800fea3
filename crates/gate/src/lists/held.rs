//! Which lists a client holds: it is told of a change only where its own list is another one now.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use parking_lot::Mutex;
use switchboard_upstream::ListKind;
use switchboard_wire::Raw;

/// What a client holds of each list. Nothing where it never asked for one: it cannot be known what it goes by.
#[derive(Debug, Default)]
pub struct HeldLists(Mutex<HashMap<ListKind, HeldList>>);

/// What a client holds of one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeldList {
    /// It has asked, and is not answered yet: what changes meanwhile stands in the answer.
    Awaited,
    /// It was given, or told of, the list with this hash.
    Given(u64),
}

impl HeldList {
    /// This list.
    #[must_use]
    pub fn given(list: &Raw) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(list.as_bytes());
        Self::Given(hasher.finish())
    }
}

impl HeldLists {
    /// Notes what the client holds of a list now.
    pub fn note(&self, kind: ListKind, held: Option<HeldList>) {
        let mut lists = self.0.lock();
        match held {
            Some(held) => lists.insert(kind, held),
            None => lists.remove(&kind),
        };
    }

    /// Of these lists those that the client holds, and what of them.
    #[must_use]
    pub fn of(&self, kinds: &[ListKind]) -> Vec<(ListKind, HeldList)> {
        let lists = self.0.lock();
        kinds.iter().filter_map(|kind| Some((*kind, *lists.get(kind)?))).collect()
    }

    /// Whether a list is another one than the client holds. Then it counts as told, unless it has asked anew meanwhile.
    pub fn is_outdated(&self, kind: ListKind, held: HeldList, now: HeldList) -> bool {
        let mut lists = self.0.lock();
        let outdated = held != now && lists.get(&kind) == Some(&held);
        if outdated {
            lists.insert(kind, now);
        }
        outdated
    }
}

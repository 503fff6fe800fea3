//! Lists that were put together before, and the forms in which one is wanted.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_upstream::ListKind;
use switchboard_wire::Raw;

/// Lists that are kept, at most.
const MAX_LISTS: usize = 512;

/// In which form a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// For a legacy client.
    pub legacy: bool,
    /// For a client that speaks MGP.
    pub mgp: bool,
}

/// Lists that were put together before.
#[derive(Default)]
pub(crate) struct ListCache {
    kept: Mutex<CachedLists>,
}

#[derive(Default)]
struct CachedLists {
    /// Of which view and which grants they are.
    of: (u64, u64),
    lists: HashMap<(Arc<str>, ListKind, Dialect), Raw>,
}

impl ListCache {
    pub(crate) fn get(&self, of: (u64, u64), key: &(Arc<str>, ListKind, Dialect)) -> Option<Raw> {
        let kept = self.kept.lock();
        kept.lists.get(key).filter(|_| kept.of == of).cloned()
    }

    pub(crate) fn put(&self, of: (u64, u64), key: (Arc<str>, ListKind, Dialect), list: Raw) {
        let mut kept = self.kept.lock();
        if kept.of != of || kept.lists.len() >= MAX_LISTS {
            kept.lists.clear();
            kept.of = of;
        }
        kept.lists.insert(key, list);
    }
}

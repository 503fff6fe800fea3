//! Which events came before.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Remembers the ids of the last events.
#[derive(Debug)]
pub struct SeenEvents {
    most: usize,
    order: VecDeque<Arc<str>>,
    ids: HashSet<Arc<str>>,
}

impl SeenEvents {
    /// One that remembers so many.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), order: VecDeque::new(), ids: HashSet::new() }
    }

    /// Whether an event of this id comes for the first time, as far as is remembered. It is remembered from now on.
    pub fn is_new(&mut self, id: &str) -> bool {
        if self.ids.contains(id) {
            return false;
        }
        if self.order.len() >= self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        let id: Arc<str> = id.into();
        self.order.push_back(id.clone());
        self.ids.insert(id);
        true
    }
}

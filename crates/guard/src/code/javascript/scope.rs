//! Which names a program binds, and where: the scopes of JavaScript, and what the names in them may hold.

use std::collections::HashMap;

/// What a name or an expression may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    /// A text.
    Text(String),
    /// A text that is worked out at run time.
    Worked,
    /// A qualified name: `process.binding`; `node:fs` and its members for a module; `name()` for what a call answers.
    Path(String),
    /// A function or a class of the program, by where it begins.
    Function(u32),
    /// A member that was chosen by a name worked out at run time.
    Chosen,
    /// What such a member answered when it was called.
    Made,
}

/// Things one name is followed to at most.
const MOST: usize = 16;

/// Everything that a name or an expression is seen to stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Things {
    pub(super) known: Vec<Thing>,
    /// Whether it may be something else as well.
    pub(super) open: bool,
}

impl Things {
    pub(super) const fn unknown() -> Self {
        Self { known: Vec::new(), open: true }
    }

    pub(super) fn path(path: impl Into<String>) -> Self {
        Self::from(Thing::Path(path.into()))
    }

    /// The text, where it can be no other.
    pub(super) fn text(&self) -> Option<&str> {
        match self.known.as_slice() {
            [Thing::Text(text)] if !self.open => Some(text),
            _ => None,
        }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.known.iter().filter_map(|thing| match thing {
            Thing::Path(path) => Some(path.as_str()),
            _ => None,
        })
    }

    pub(super) fn functions(&self) -> impl Iterator<Item = u32> {
        self.known.iter().filter_map(|thing| match thing {
            Thing::Function(start) => Some(*start),
            _ => None,
        })
    }

    pub(super) fn has(&self, thing: &Thing) -> bool {
        self.known.contains(thing)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.open |= other.open;
        for thing in other.known {
            if self.known.contains(&thing) {
                continue;
            }
            if self.known.len() >= MOST {
                self.open = true;
                return;
            }
            self.known.push(thing);
        }
    }
}

impl From<Thing> for Things {
    fn from(thing: Thing) -> Self {
        Self { known: vec![thing], open: false }
    }
}

#[derive(Debug, Default)]
struct Scope {
    parent: Option<usize>,
    /// Whether `var` is bound here rather than further out.
    holds_var: bool,
    names: HashMap<String, Things>,
}

/// The scopes of a program. Every walk enters them in the same order, so that later walks find what earlier ones learned.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    all: Vec<Scope>,
    open: Option<usize>,
    next: usize,
}

impl Scopes {
    pub(super) fn restart(&mut self) {
        self.open = None;
        self.next = 0;
    }

    pub(super) fn enter(&mut self, holds_var: bool) {
        if self.next == self.all.len() {
            self.all.push(Scope { parent: self.open, holds_var, names: HashMap::new() });
        }
        self.open = Some(self.next);
        self.next += 1;
    }

    pub(super) fn leave(&mut self) {
        self.open = self.open.and_then(|at| self.all.get(at)).and_then(|scope| scope.parent);
    }

    /// Whether the scope that `var` would bind in is the program itself.
    pub(super) fn var_is_global(&self) -> bool {
        self.var_scope() == Some(0)
    }

    fn var_scope(&self) -> Option<usize> {
        let mut at = self.open?;
        loop {
            let scope = self.all.get(at)?;
            match scope.parent {
                Some(parent) if !scope.holds_var => at = parent,
                _ => return Some(at),
            }
        }
    }

    pub(super) fn declare(&mut self, name: &str, var: bool) {
        let at = if var { self.var_scope() } else { self.open };
        if let Some(scope) = at.and_then(|at| self.all.get_mut(at)) {
            scope.names.entry(name.to_owned()).or_default();
        }
    }

    fn holder(&self, name: &str) -> Option<usize> {
        let mut at = self.open;
        while let Some(index) = at {
            let scope = self.all.get(index)?;
            if scope.names.contains_key(name) {
                return Some(index);
            }
            at = scope.parent;
        }
        None
    }

    /// What a name holds; `None` for one that the program does not bind here.
    pub(super) fn find(&self, name: &str) -> Option<&Things> {
        self.holder(name).and_then(|at| self.all.get(at)?.names.get(name))
    }

    pub(super) fn learn(&mut self, name: &str, things: Things) {
        if let Some(known) =
            self.holder(name).and_then(|at| self.all.get_mut(at)).and_then(|scope| scope.names.get_mut(name))
        {
            known.add(things);
        }
    }
}

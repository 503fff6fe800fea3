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
    /// A text of which only the beginning and the end are known.
    Partial(String, String),
    /// A name that was found in this folder; in one that is not known without it.
    Listed(String),
    /// A text that is decoded, or put together out of codes.
    Opaque,
    /// An object or a list that is written down, by where it begins.
    Object(u32),
    /// It comes from what is nobody else's business.
    Private(Source),
}

impl Thing {
    /// Whether it is a text, known or not.
    pub(super) const fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Worked | Self::Partial(..) | Self::Opaque)
    }
}

/// Where something private was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    File,
    /// A part of what a file says.
    Part,
    /// The whole environment, or a variable that is chosen at run time.
    Environment,
    Variable(String),
    /// A request: whoever sent it chose it.
    Request,
    /// A page, what a browser keeps or what is typed into it.
    Page,
}

/// Things one name is followed to at most.
const MAX_BINDINGS: usize = 16;

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

    /// What of it is private.
    pub(super) fn private(&self) -> impl Iterator<Item = &Source> {
        self.known.iter().filter_map(|thing| match thing {
            Thing::Private(source) => Some(source),
            _ => None,
        })
    }

    pub(super) fn add_private(&mut self, other: &Self) {
        for source in other.private() {
            self.push(Thing::Private(source.clone()));
        }
    }

    /// What is known of something else, which this may be as well.
    pub(super) fn add_known(&mut self, other: &Self) {
        for thing in &other.known {
            self.push(thing.clone());
        }
    }

    pub(super) fn push(&mut self, thing: Thing) {
        self.add(thing.into());
    }

    pub(super) fn has(&self, thing: &Thing) -> bool {
        self.known.contains(thing)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.takes(other);
    }

    /// Adds what is known of something else; whether that was news is answered.
    pub(super) fn takes(&mut self, other: Self) -> bool {
        let mut news = other.open && !self.open;
        self.open |= other.open;
        for thing in other.known {
            if self.known.contains(&thing) {
                continue;
            }
            if self.known.len() >= MAX_BINDINGS {
                news |= !self.open;
                self.open = true;
                return news;
            }
            self.known.push(thing);
            news = true;
        }
        news
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

    /// The number that a name is known to hold.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.find(name)?.text()?.parse().ok()
    }

    /// Whether that was news is answered.
    pub(super) fn learn(&mut self, name: &str, things: Things) -> bool {
        let holder = self.holder(name).and_then(|at| self.all.get_mut(at));
        holder.and_then(|scope| scope.names.get_mut(name)).is_some_and(|known| known.takes(things))
    }
}

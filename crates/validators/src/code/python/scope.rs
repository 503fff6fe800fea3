//! What names hold, in one scope of a Python program.

use std::collections::{HashMap, HashSet};

use super::Checker;
use super::rules;
use super::value::Val;

/// The key of the outermost scope; no function stands at this place.
pub(super) const MODULE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Scope {
    /// What names hold at the place that is walked.
    current: HashMap<String, Val>,
    /// What names held anywhere in the scope.
    ever: HashMap<String, Val>,
    /// Names that a statement in a branch or loop bound, or that were deleted: they may not be there.
    unsure: HashSet<String>,
    /// Names that belong to the module.
    pub(super) outer: HashSet<String>,
    pub(super) is_function: bool,
    pub(super) is_class: bool,
    /// Where it stands.
    pub(super) place: u32,
}

impl Scope {
    pub(super) fn of(place: u32, is_function: bool, is_class: bool) -> Self {
        Self { place, is_function, is_class, ..Self::default() }
    }

    /// The same for another walk: what was learned stays, what holds at the beginning is nothing.
    pub(super) fn restart(mut self) -> Self {
        self.current.clear();
        self.unsure.clear();
        self
    }

    pub(super) fn bind(&mut self, name: &str, value: Val, branch: bool) {
        join(&mut self.ever, name, value.clone());
        if branch {
            if !self.current.contains_key(name) {
                self.unsure.insert(name.to_owned());
            }
            join(&mut self.current, name, value);
        } else {
            self.unsure.remove(name);
            self.current.insert(name.to_owned(), value);
        }
    }

    /// Whether one of its names stands for a module with members that are refused.
    pub(super) fn holds_modules(&self) -> bool {
        self.ever.values().flat_map(Val::each).any(|value| matches!(value, Val::Path(path) if rules::is_guarded(path)))
    }

    /// Whether it binds the name anywhere.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.ever.contains_key(name)
    }

    fn forget(&mut self, name: &str) {
        self.unsure.insert(name.to_owned());
    }
}

/// Adds a value to those that a name may hold.
pub(super) fn join(names: &mut HashMap<String, Val>, name: &str, value: Val) {
    let value = match names.remove(name) {
        Some(before) => before.or(value),
        None => value,
    };
    names.insert(name.to_owned(), value);
}

impl Checker<'_> {
    pub(super) fn enter(&mut self, place: u32, is_function: bool, is_class: bool) {
        let known = self.known.remove(&place).map(Scope::restart);
        self.scopes.push(known.unwrap_or_else(|| Scope::of(place, is_function, is_class)));
    }

    pub(super) fn leave(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            self.known.insert(scope.place, scope);
        }
    }

    pub(super) fn bind(&mut self, name: &str, value: Val) {
        let branch = self.branches > 0 || self.loops > 0;
        let outer = self.scopes.last().is_some_and(|scope| scope.outer.contains(name));
        if self.scopes.last().is_some_and(|scope| scope.is_class) {
            self.remember(name, value.clone());
        }
        let scope = if outer { self.scopes.first_mut() } else { self.scopes.last_mut() };
        if let Some(scope) = scope {
            scope.bind(name, value, branch || outer);
        }
    }

    /// What a name stands for holds something from now on, also where an outer function bound it.
    pub(super) fn hold(&mut self, name: &str, value: Val) {
        let last = self.scopes.len().saturating_sub(1);
        let holder = self.scopes.iter().rposition(|scope| !scope.is_class && scope.binds(name));
        match holder.filter(|at| *at != last).and_then(|at| self.scopes.get_mut(at)) {
            Some(scope) => scope.bind(name, value, true),
            None => self.bind(name, value),
        }
    }

    /// Notes what is stored under an attribute's name.
    pub(super) fn remember(&mut self, name: &str, value: Val) {
        join(&mut self.attributes, name, value);
    }

    pub(super) fn unbind(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.forget(name);
        }
    }

    /// What a name holds.
    pub(super) fn look_up(&self, name: &str) -> Val {
        let last = self.scopes.len().saturating_sub(1);
        for (depth, scope) in self.scopes.iter().enumerate().rev() {
            // The names of a class are not seen from its methods.
            if scope.is_class && depth != last || depth == last && scope.outer.contains(name) {
                continue;
            }
            let Some(ever) = scope.ever.get(name) else { continue };
            let here = scope.current.get(name).filter(|_| !scope.unsure.contains(name));
            return match here {
                Some(value) if depth == last => value.clone(),
                Some(value) => value.clone().or(ever.clone()),
                // A name that a function binds anywhere is its own; elsewhere Python looks further out.
                None if scope.is_function => ever.clone(),
                None => ever.clone().or(self.unbound(name)),
            };
        }
        self.unbound(name)
    }

    /// What a name stands for that the program does not bind.
    fn unbound(&self, name: &str) -> Val {
        match name {
            "__name__" => return Val::text("__main__"),
            "__file__" => return Val::text("program.py"),
            "__builtins__" => return Val::path("builtins"),
            "__loader__" | "__spec__" => return Val::path("importlib.machinery"),
            _ => {}
        }
        for module in &self.stars {
            let path = format!("{module}.{name}");
            if rules::member(&path).is_some() || rules::module(&path).is_some() || rules::is_guarded(&path) {
                return Val::path(path);
            }
        }
        if rules::is_builtin(name) {
            return Val::path(format!("builtins.{name}"));
        }
        if let Some(module) = self.stars.last()
            && rules::telling_module(name).is_none()
        {
            return Val::path(format!("{module}.{name}"));
        }
        rules::telling_module(name).filter(|module| *module == name).map_or(Val::Unknown, Val::path)
    }
}

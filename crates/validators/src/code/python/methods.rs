//! Methods of objects of which nothing is known, and functions that nobody defines: understood by their names alone, and where
//! it matters by what they are given.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use super::Checker;
use super::calls::Arguments;
use super::value::Val;
use crate::code::harmless::{self, Packages};
use crate::code::{known, methods};

/// Methods that do what the text says which they are given.
const TOLD: &[&str] = &["apply", "call", "command", "invoke", "run", "start", "stop", "submit"];
/// Methods that say what they do only where they are given nothing.
const BARE: &[&str] =
    &["clean", "clear", "close", "disconnect", "flush", "quit", "refresh", "reset", "shutdown", "stop"];
/// Methods that delete what they are called on, where they are given nothing.
const DELETES: &[&str] = &["_raw_delete", "delete", "destroy", "drop", "drop_all", "remove", "truncate"];
/// Modules of the language whose objects act on another machine.
const CLIENTS: &[&str] = &["ftplib", "imaplib", "nntplib", "poplib", "telnetlib", "xmlrpc"];
/// Methods that hand a statement to a database.
const STATEMENTS: &[&str] = &["exec_driver_sql", "execute", "executemany", "executescript", "query", "raw", "sql"];

impl Checker<'_> {
    /// Whether the object may be one of the program's own classes, as far as can be seen.
    pub(super) fn note_receiver(&mut self, receiver: &Expr, base: &Val) {
        let is_self = match receiver {
            Expr::Name(name) => matches!(name.id.as_str(), "self" | "cls"),
            Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "super"),
            _ => false,
        };
        self.own_receiver =
            is_self || base.each().iter().any(|base| matches!(base, Val::Class(_) | Val::Object(_) | Val::Func(_)));
    }

    /// Whether a method is one that the program defines itself: of an object of its own, or by a name that says nothing else.
    pub(super) fn is_own_method(&self, name: &str) -> bool {
        self.methods.contains(name) && (self.own_receiver || !methods::is_telling(name))
    }

    /// A method is called.
    pub(super) fn doubt_method(&mut self, base: &Val, name: &str, arguments: &Arguments, at: TextSize) {
        if !self.judging || self.is_own_method(name) {
            return;
        }
        let plain = match base {
            // What a class inherits stands beside the object.
            Val::Object(class) if self.inherited.contains_key(class) => true,
            Val::Unknown | Val::Opaque | Val::Private(_) | Val::Object(_) => {
                let by_words = TOLD.contains(&name) || STATEMENTS.contains(&name);
                let inner = name.starts_with('_') && !name.starts_with("__");
                !inner
                    && (by_words || methods::is_plain(Packages::Python, name))
                    && self.is_told_nothing(name, arguments)
            }
            Val::Path(path) if path.contains('(') && STATEMENTS.contains(&name) => {
                self.is_told_nothing(name, arguments)
            }
            Val::Path(path) if path.contains('(') => {
                let root = path.split(['.', '(']).next().unwrap_or_default();
                let acts = CLIENTS.contains(&root) && crate::code::verbs::acts(name);
                !known::is_of_library(root)
                    || !acts && harmless::is_member(Packages::Python, root, name)
                    || !acts && methods::is_plain(Packages::Python, name)
            }
            _ => true,
        };
        if !plain {
            self.doubt_named_method(name, at);
        }
    }

    /// What an object of a class has that the class does not define.
    pub(super) fn inherit(&mut self, class: u32, base: &Val) {
        for base in base.each() {
            let inherited = match base {
                Val::Path(path) if !path.starts_with("builtins.") => Val::path(format!("{path}()")),
                Val::Class(parent) => {
                    let Some(inherited) = self.inherited.get(parent) else { continue };
                    inherited.clone()
                }
                _ => continue,
            };
            let known = self.inherited.remove(&class);
            self.inherited.insert(class, known.map_or_else(|| inherited.clone(), |known| known.or(inherited.clone())));
        }
    }

    fn doubt_named_method(&mut self, name: &str, at: TextSize) {
        let message = format!("what `{name}` does is not known, of an object that is not known");
        self.ask(at, "code-unknown", message, Some("a person has to agree"));
    }

    /// Whether what a method is given tells it nothing that it would do.
    fn is_told_nothing(&self, name: &str, arguments: &Arguments) -> bool {
        let first = arguments.get(0);
        if TOLD.contains(&name) {
            return first.is_none_or(|first| {
                first.each().iter().all(|value| {
                    matches!(
                        value,
                        Val::Func(_) | Val::Path(_) | Val::Class(_) | Val::Object(_) | Val::Int(_) | Val::Plain
                    )
                })
            });
        }
        if STATEMENTS.contains(&name) {
            let of_class = name == "query";
            return first.is_none_or(|first| {
                first.each().iter().all(|value| is_known_statement(value) || of_class && *value == Val::Unknown)
            });
        }
        if DELETES.contains(&name) {
            return self.picks || !arguments.positional.is_empty() || arguments.open;
        }
        // A route of another machine.
        if matches!(name, "delete" | "post" | "patch" | "put") {
            let is_route = |value: &Val| matches!(value, Val::Text(text) | Val::Partial(text, _) if text.contains('/'));
            return !arguments.all().flat_map(Val::each).any(is_route);
        }
        // With nothing they end what the object itself does; what they are given is somebody else's.
        if BARE.contains(&name) {
            return arguments.positional.is_empty() && arguments.keywords.is_empty() && !arguments.open;
        }
        if name == "toggle" {
            return arguments.positional.is_empty();
        }
        true
    }

    /// A member of an object of which nothing is known is not called but kept or handed on.
    pub(super) fn doubt_kept_member(&mut self, base: &Val, name: &str, at: TextSize) {
        let unknown = |base: &Val| matches!(base, Val::Unknown | Val::Opaque | Val::Private(_));
        if self.judging
            && methods::is_telling(name)
            && !self.is_own_method(name)
            && !self.attributes.contains_key(name)
            && base.each().iter().any(unknown)
        {
            self.doubt_named_method(name, at);
        }
    }

    /// Something is called that is neither a function of the program nor one that is known.
    pub(super) fn doubt_callee(&mut self, call: &ExprCall, callee: &Val) {
        if !self.judging {
            return;
        }
        let known = |value: &Val| matches!(value, Val::Func(_) | Val::Class(_) | Val::Path(_) | Val::Object(_));
        let made = callee.is_opaque();
        let unknown = match &*call.func {
            Expr::Name(name) => {
                let name = name.id.as_str();
                // What nobody defines is given to the program by whoever runs it.
                let bound = self.scopes.iter().any(|scope| scope.binds(name)) || self.own_names.contains_key(name);
                !bound && !callee.each().iter().any(known) && methods::is_telling(name)
            }
            // What lies in a container of the program was judged where it was put there.
            Expr::Subscript(part) => !callee.each().iter().any(known) && !self.value(&part.value).is_literal(),
            Expr::Call(_) => !callee.each().iter().any(known),
            _ => false,
        };
        // A function that the program is given is told by a word what to do.
        let tells = |value: &Expr| match value {
            Expr::StringLiteral(text) => {
                let text = text.value.to_str();
                let word = text.split([' ', '_', '.', ':']).next().unwrap_or_default().to_ascii_lowercase();
                crate::code::verbs::is_acting(&word) || crate::shell::check(text).is_err_and(|finding| !finding.asks())
            }
            _ => false,
        };
        let given = callee.each().iter().all(|value| *value == Val::Unknown)
            && call.func.is_name_expr()
            && call.arguments.args.iter().any(tells);
        if given {
            self.ask(call.start(), "code-unknown", "a function that is not known is told to act".to_owned(), None);
        }
        if made || unknown {
            let message = "what is called is worked out at run time, or is nowhere defined".to_owned();
            self.ask(call.start(), "code-unknown", message, Some("call a function by its name"));
        }
    }
}

/// Whether a statement is one whose verb can be read.
fn is_known_statement(value: &Val) -> bool {
    let verb = |text: &str| {
        let first = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        first.len() > 2 && text.trim_start().len() > first.len()
    };
    match value {
        Val::Text(_) | Val::Path(_) | Val::Plain | Val::Int(_) | Val::Dict(_) | Val::Seq(_) => true,
        Val::Partial(start, _) => verb(start),
        _ => false,
    }
}

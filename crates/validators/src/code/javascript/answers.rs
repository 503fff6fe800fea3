//! What calls answer: modules, what functions of the program return, what methods of lists and texts make of them.

use oxc_ast::ast::{Argument, CallExpression, Expression, NewExpression};

use super::scope::{Thing, Things};
use super::value::{LONGEST_PATH, member_name};
use super::{Reader, content, fold, rules};

impl Reader<'_> {
    pub(super) fn answer(&self, call: &CallExpression<'_>, depth: usize) -> Things {
        // Everything is looked at once: calls stand inside of calls.
        let (object, callee) = self.called_on(&call.callee, depth);
        let arguments: Vec<Things> = call.arguments.iter().map(|argument| self.argument(argument, depth)).collect();
        let mut things = Things { known: Vec::new(), open: callee.open };
        let own = callee.functions().next().is_some();
        for thing in callee.known {
            things.add(match thing {
                Thing::Path(path) if rules::is_require(&path) => {
                    let source = call.arguments.first().and_then(Argument::as_expression);
                    source.map_or_else(Things::unknown, |source| self.module(source))
                }
                Thing::Path(path) if path == "node:module.createRequire" => Things::path("require"),
                Thing::Path(path) if path == "Reflect.get" => Thing::Chosen.into(),
                Thing::Path(path) if path == "node:util.promisify" => {
                    arguments.first().cloned().unwrap_or_else(Things::unknown)
                }
                Thing::Path(path) if matches!(path.as_str(), "String" | "decodeURIComponent" | "unescape") => {
                    Thing::Worked.into()
                }
                Thing::Path(path) => {
                    let mut answer = called(&Things::path(path.clone()));
                    answer.add(content::answer(&path, &arguments));
                    answer
                }
                Thing::Function(start) => {
                    let mut things = self.returns.get(&start).cloned().unwrap_or_default();
                    things.open = true;
                    things
                }
                other => called(&other.into()),
            });
        }
        let method = member_name(&call.callee);
        // A member chosen at run time that is handed to a method is called by it.
        if takes_callback(&call.callee) && arguments.iter().any(|argument| argument.has(&Thing::Chosen)) {
            things.push(Thing::Made);
        }
        // What was made is handed through.
        if arguments.iter().any(|argument| argument.has(&Thing::Made)) {
            things.push(Thing::Made);
        }
        // `await req.json()`
        if let (Some(holder), Some(method)) = (fold::bare(&call.callee).as_member_expression(), method)
            && matches!(method, "json" | "formData" | "text" | "body")
            && super::settings::is_of_request(holder.object(), "body")
        {
            things.push(Thing::Private(super::scope::Source::Request));
        }
        if method.is_some_and(gives_text) {
            things.push(Thing::Worked);
        }
        if let (Some(object), Some(method)) = (&object, method) {
            self.answer_of_method(object, method, &arguments, &mut things);
        }
        if !own && !method.is_some_and(content::tells_nothing) {
            for given in object.iter().chain(&arguments) {
                things.add_private(given);
            }
        }
        things
    }

    /// The object and the function of a call.
    pub(super) fn called_on(&self, callee: &Expression<'_>, depth: usize) -> (Option<Things>, Things) {
        match fold::bare(callee) {
            Expression::StaticMemberExpression(member) => {
                let object = self.deep(&member.object, depth);
                let name = member.property.name.as_str();
                let function = self.own_member(&member.object, name, self.member_of(&object, Some(name)));
                (Some(object), function)
            }
            Expression::ComputedMemberExpression(member) => {
                let object = self.deep(&member.object, depth);
                let function = self.member_of(&object, self.key(&member.expression).as_deref());
                (Some(object), function)
            }
            other => (None, self.deep(other, depth)),
        }
    }

    pub(super) fn argument(&self, argument: &Argument<'_>, depth: usize) -> Things {
        match argument {
            Argument::SpreadElement(spread) => self.deep(&spread.argument, depth),
            argument => argument.as_expression().map_or_else(Things::unknown, |argument| self.deep(argument, depth)),
        }
    }

    /// What methods of lists and texts answer.
    fn answer_of_method(&self, object: &Things, method: &str, arguments: &[Things], things: &mut Things) {
        if content::keeps(method) {
            for thing in &object.known {
                if matches!(
                    thing,
                    Thing::Listed(_) | Thing::Object(_) | Thing::Text(_) | Thing::Partial(..) | Thing::Opaque
                ) {
                    things.push(thing.clone());
                }
            }
        } else if matches!(method, "map" | "flatMap" | "then" | "from") {
            for function in arguments.iter().flat_map(Things::functions) {
                if let Some(returned) = self.returns.get(&function) {
                    things.add_known(returned);
                }
            }
        } else if matches!(method, "pop" | "shift" | "at" | "find" | "get") {
            let held = self.elements(object);
            things.add_known(&self.elements(&held));
            things.add_known(&held);
        } else if method == "concat" {
            things.add_known(object);
            arguments.iter().for_each(|argument| things.add_known(argument));
        }
    }

    /// What a list that is gone through gives.
    pub(super) fn elements(&self, list: &Things) -> Things {
        let mut things = Things::unknown();
        for thing in &list.known {
            match thing {
                Thing::Object(start) => {
                    if let Some(held) = self.field(*start, "0") {
                        things.add(held);
                    }
                }
                Thing::Listed(_) | Thing::Private(_) | Thing::Made | Thing::Chosen => things.push(thing.clone()),
                Thing::Path(path) if path.starts_with("document.") => things.push(Thing::Path(path.clone())),
                _ => {}
            }
        }
        things
    }

    pub(super) fn instance(&self, call: &NewExpression<'_>, depth: usize) -> Things {
        let callee = self.deep(&call.callee, depth);
        let arguments: Vec<Things> = call.arguments.iter().map(|argument| self.argument(argument, depth)).collect();
        let mut things = called(&callee);
        for path in callee.paths() {
            things.add(content::made(path, &arguments));
        }
        arguments.iter().for_each(|argument| things.add_private(argument));
        // What whoever sent the link chose.
        if arguments.iter().flat_map(Things::paths).any(rules::is_of_address) {
            things.push(Thing::Path("location.parsed".to_owned()));
        }
        // An object of a class of the program.
        for class in callee.functions() {
            things.push(Thing::Object(class));
        }
        things
    }
}

/// What a call answers.
pub(super) fn called(callee: &Things) -> Things {
    let mut things = Things { known: Vec::new(), open: callee.open };
    for thing in &callee.known {
        match thing {
            Thing::Path(path) if path.len() < LONGEST_PATH => things.add(Things::path(format!("{path}()"))),
            Thing::Chosen => things.add(Thing::Made.into()),
            _ => things.open = true,
        }
    }
    things
}

/// Methods that call what they are given and answer what that answers.
fn takes_callback(callee: &Expression<'_>) -> bool {
    matches!(
        member_name(callee),
        Some("map" | "flatMap" | "from" | "reduce" | "then" | "apply" | "construct" | "call" | "bind" | "attempt")
    )
}

/// Methods that answer a text.
fn gives_text(method: &str) -> bool {
    matches!(
        method,
        "slice"
            | "substring"
            | "substr"
            | "join"
            | "toString"
            | "replace"
            | "replaceAll"
            | "trim"
            | "toLowerCase"
            | "toUpperCase"
            | "charAt"
            | "repeat"
            | "padStart"
            | "padEnd"
            | "fromCharCode"
            | "fromCodePoint"
            | "stringify"
    )
}

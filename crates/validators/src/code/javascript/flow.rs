//! What calls hand over: parameters of the program's own functions, and what is called by way of something else.

use oxc_ast::ast::{Argument, CallExpression, Expression, MemberExpression};

use super::calls::listed;
use super::effects::Call;
use super::rules::effects::{self, FileEffect};
use super::scope::{Source, Thing, Things};
use super::{Place, Reader, content, fold, rules};

/// Parameters of a function that are followed.
const MOST_PARAMETERS: usize = 8;
/// Objects that are written down, and names in each, that are followed.
const MOST_OBJECTS: usize = 500;
const MOST_FIELDS: usize = 32;

impl Reader<'_> {
    /// A module that is awaited by way of `then` is what the callback is called with.
    pub(super) fn hand_to_callback<'a>(&mut self, it: &CallExpression<'a>, method: Option<&str>) {
        if method != Some("then") {
            return;
        }
        let Some(member) = fold::bare(&it.callee).as_member_expression() else { return };
        let module = self.things(member.object());
        let led = module.paths().any(|path| rules::is_guarded(path) || path.starts_with("node:"));
        if !led {
            return;
        }
        match it.arguments.first().and_then(Argument::as_expression).map(fold::bare) {
            Some(Expression::ArrowFunctionExpression(function)) => {
                self.called_with(function.span.start, 0, module);
            }
            Some(Expression::FunctionExpression(function)) => {
                self.called_with(function.span.start, 0, module);
            }
            _ => self.use_things(it.span, &module, Place::Value),
        }
    }

    /// Whether something that was made by a member chosen at run time is called by way of something else.
    pub(super) fn runs_made(&self, it: &CallExpression<'_>, method: Option<&str>) -> bool {
        const CALLERS: &str = "setTimeout setInterval setImmediate queueMicrotask nextTick map forEach flatMap filter then \
             catch finally on once addEventListener reduce some every find sort apply call bind construct";
        let callee = match fold::bare(&it.callee) {
            Expression::Identifier(name) => Some(name.name.as_str()),
            _ => method,
        };
        if !callee.is_some_and(|callee| listed(CALLERS, callee)) {
            return false;
        }
        let is_made = |expression: &Expression<'_>| self.things(expression).has(&Thing::Made);
        let by_call = matches!(callee, Some("call" | "apply" | "bind"))
            && fold::bare(&it.callee).as_member_expression().is_some_and(|member| is_made(member.object()));
        by_call || it.arguments.iter().filter_map(Argument::as_expression).any(is_made)
    }

    /// What the functions of the program are called with.
    pub(super) fn hand_over<'a>(&mut self, it: &CallExpression<'a>, callee: &Things, is_method: bool) {
        for function in callee.functions() {
            for (at, argument) in it.arguments.iter().enumerate() {
                let Some(argument) = argument.as_expression() else { break };
                let things = self.things(argument);
                self.called_with(function, at, things);
            }
        }
        // A list of what was made hands its parts to a callback.
        let object = fold::bare(&it.callee)
            .as_member_expression()
            .filter(|_| is_method)
            .map(|member| self.things(member.object()));
        let Some(object) = object else { return };
        for thing in [Thing::Made, Thing::Chosen] {
            if !object.has(&thing) {
                continue;
            }
            let arguments = it.arguments.iter().filter_map(Argument::as_expression);
            let callbacks: Vec<Things> = arguments.map(|argument| self.things(argument)).collect();
            for callback in callbacks.iter().flat_map(Things::functions) {
                self.called_with(callback, 0, thing.clone().into());
            }
        }
    }

    /// What callbacks are called with: the parts of a list, what was read, what is typed.
    pub(super) fn hand_private(&mut self, call: &Call<'_, '_>) {
        let callbacks: Vec<u32> = call.given.iter().flat_map(Things::functions).collect();
        if callbacks.is_empty() {
            return;
        }
        let mut hands: Vec<(usize, Things)> = Vec::new();
        // What every request says of who asks, before it goes out.
        let intercepts =
            |path: &str| call.name == "use" && (path.contains(".interceptors.") || path.starts_with("node:express()"));
        if call.callee.paths().any(intercepts) {
            hands.push((0, Thing::Private(Source::Page).into()));
        }
        for path in call.callee.paths() {
            match effects::of_function(path) {
                Some((FileEffect::Read, _)) => hands.push((1, Thing::Private(Source::File).into())),
                Some((FileEffect::List | FileEffect::Find, _)) => hands.push((1, content::answer(path, call.given))),
                _ => {}
            }
        }
        if call.object.is_none()
            && call.name == "addEventListener"
            && call.given.first().and_then(Things::text) == Some("message")
        {
            hands.push((0, Things::path("location.message")));
        }
        if let Some(object) = call.object {
            match call.name {
                "then" => hands.push((0, content::held(object))),
                "map" | "forEach" | "filter" | "flatMap" | "some" | "every" | "find" => {
                    let elements = self.elements(object);
                    let mut held = content::held(&elements);
                    for path in elements.paths().filter(|path| path.starts_with("document.")) {
                        held.add(Things::path(path));
                    }
                    hands.push((0, held));
                }
                "reduce" => hands.push((1, content::held(&self.elements(object)))),
                "on" | "once" => hands.push((0, content::held(object))),
                // What any window sends.
                "addEventListener"
                    if call.given.first().and_then(Things::text) == Some("message")
                        && object.paths().any(rules::is_global) =>
                {
                    hands.push((0, Things::path("location.message")));
                }
                "addEventListener" => {
                    let typed = call.given.first().and_then(Things::text).is_some_and(|event| {
                        matches!(
                            event,
                            "keydown" | "keyup" | "keypress" | "input" | "change" | "paste" | "copy" | "submit"
                        )
                    });
                    if typed {
                        hands.push((0, Thing::Private(Source::Page).into()));
                    }
                }
                _ => {}
            }
        }
        for callback in callbacks {
            for (at, things) in &hands {
                self.called_with(callback, *at, things.clone());
            }
        }
    }

    /// What an object that is written down is given later.
    pub(super) fn learn_field(&mut self, member: &MemberExpression<'_>, given: &Things) {
        let private = match member {
            MemberExpression::PrivateFieldExpression(member) => Some(member.field.name.as_str()),
            _ => None,
        };
        let Some(name) = member.static_property_name().or(private) else { return };
        if matches!(fold::bare(member.object()), Expression::ThisExpression(_)) {
            self.keep_member(name, given.clone());
        }
        let object = self.things(member.object());
        for thing in &object.known {
            let Thing::Object(start) = thing else { continue };
            self.keep_field(*start, name, given.clone());
        }
    }

    /// Remembers what a member of the program's own objects holds.
    pub(super) fn keep_member(&mut self, name: &str, things: Things) {
        if self.members.len() < MOST_OBJECTS || self.members.contains_key(name) {
            let known = self.members.entry(name.to_owned()).or_insert_with(Things::unknown);
            if known.takes(things) {
                self.forget();
            }
        }
    }

    /// Remembers what an object or a list holds.
    pub(super) fn keep_field(&mut self, start: u32, name: &str, things: Things) {
        if self.objects.len() >= MOST_OBJECTS && !self.objects.contains_key(&start) {
            return;
        }
        let fields = self.objects.entry(start).or_default();
        let is_full = fields.len() >= MOST_FIELDS;
        let news = match fields.iter_mut().find(|(key, _)| key == name) {
            Some((_, known)) => known.takes(things),
            None if is_full => false,
            None => {
                fields.push((name.to_owned(), things));
                true
            }
        };
        if news {
            self.forget();
        }
    }

    pub(super) fn called_with(&mut self, function: u32, at: usize, things: Things) {
        if at >= MOST_PARAMETERS {
            return;
        }
        let parameters = self.parameters.entry(function).or_default();
        if parameters.len() <= at {
            parameters.resize(at + 1, Things::unknown());
        }
        let news = parameters.get_mut(at).is_some_and(|parameter| parameter.takes(things));
        self.learned |= news;
    }
}

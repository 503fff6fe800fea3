//! What calls hand over: parameters of the program's own functions, and what is called by way of something else.

use oxc_ast::ast::{Argument, CallExpression, Expression};

use super::calls::listed;
use super::scope::{Thing, Things};
use super::{Place, Reader, fold, rules};

/// Parameters of a function that are followed.
const MOST_PARAMETERS: usize = 8;

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

    fn called_with(&mut self, function: u32, at: usize, things: Things) {
        if at >= MOST_PARAMETERS {
            return;
        }
        let parameters = self.parameters.entry(function).or_default();
        if parameters.len() <= at {
            parameters.resize(at + 1, Things::unknown());
        }
        if let Some(parameter) = parameters.get_mut(at) {
            parameter.add(things);
        }
    }
}

//! What requests bring, and what a loop goes through: names of files that others choose, and entries that are deleted one after
//! another.

use std::collections::HashSet;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use super::Checker;
use super::rules::effects;
use super::value::Val;
use crate::code::known;

/// Decorators by which a function answers requests.
const ROUTES: &[&str] = &["api_route", "delete", "get", "head", "patch", "post", "put", "route", "websocket"];
/// Members in which a request carries what whoever sent it chose.
const BROUGHT: &[&str] = &[
    "GET",
    "POST",
    "args",
    "body",
    "cookies",
    "files",
    "form",
    "headers",
    "json",
    "match_info",
    "params",
    "path_params",
    "query",
    "query_params",
    "rel_url",
    "values",
];
/// Functions that take the folders off a name.
const CLEANS: &[&str] = &["basename", "secure_filename", "uuid4"];

impl Checker<'_> {
    /// The parameters of a function that answers requests are chosen by others. Answers what held outside.
    pub(super) fn brings(&mut self, definition: &StmtFunctionDef) -> Option<HashSet<String>> {
        let answers = definition.decorator_list.iter().any(|decorator| match &decorator.expression {
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Attribute(member) if ROUTES.contains(&member.attr.as_str()))
            }
            _ => false,
        });
        if !answers {
            return None;
        }
        let names =
            definition.parameters.iter_non_variadic_params().map(|parameter| parameter.parameter.name.to_string());
        Some(std::mem::replace(&mut self.brought, names.collect()))
    }

    /// A file is used whose name a request brings.
    pub(super) fn judge_brought(&mut self, call: &ExprCall, base: Option<&Val>, callee: &Val, name: &str) {
        if !self.judging {
            return;
        }
        let of_path = base.is_some_and(|base| base.each().iter().any(|base| matches!(base, Val::File(_))))
            && effects::of_method(name).is_some();
        let of_files = callee.each().iter().filter_map(Val::as_path).any(|path| effects::of_function(path).is_some())
            || matches!(name, "FileResponse" | "send_file");
        if !of_path && !of_files {
            return;
        }
        let mut found = Found { names: &self.brought, found: false };
        if of_path {
            found.visit_expr(&call.func);
        }
        if let (true, Some(first)) = (of_files, call.arguments.args.first()) {
            found.visit_expr(first);
        }
        if found.found {
            self.ask_effect(call.start(), "code-reach", format!("`{name}` uses a file that a request names"));
        }
    }

    /// Everything that was listed is deleted, one after another.
    pub(super) fn judge_each(&mut self, call: &ExprCall, base: &Val, name: &str) {
        let Some((each, root)) = &self.through else { return };
        // A tree or a list of the program.
        let of_library = |base: &Val| {
            base.is_literal()
                || base
                    .as_path()
                    .is_some_and(|path| known::is_of_library(path.split(['.', '(']).next().unwrap_or_default()))
        };
        if base.each().iter().any(of_library) {
            return;
        }
        let Expr::Attribute(method) = &*call.func else { return };
        let snake = crate::code::verbs::snake(name);
        let deletes = crate::code::verbs::destroys(&snake)
            || matches!(&*snake, "remove" | "unlink" | "cancel" | "close_position" | "revoke");
        let told = call.arguments.args.first().is_some_and(|first| root_of(first) == Some(each.as_str()));
        if self.judging && deletes && told && root_of(&method.value) == Some(root.as_str()) {
            let message = format!("`{name}` deletes everything that was listed");
            self.ask_effect(call.start(), "code-remote", message);
        }
    }
}

/// The name that a loop binds, and the object whose method or member it goes through.
pub(super) fn through(target: &Expr, over: &Expr) -> Option<(String, String)> {
    let Expr::Name(each) = target else { return None };
    let listed = match over {
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(member) => root_of(&member.value),
            Expr::Name(_) => call.arguments.args.first().and_then(|inner| match inner {
                Expr::Call(inner) => root_of(&inner.func),
                _ => None,
            }),
            _ => None,
        },
        Expr::Attribute(member) => root_of(&member.value),
        _ => None,
    };
    Some((each.id.to_string(), listed?.to_owned()))
}

fn root_of(expression: &Expr) -> Option<&str> {
    let mut at = expression;
    loop {
        at = match at {
            Expr::Attribute(member) => &member.value,
            Expr::Subscript(part) => &part.value,
            Expr::Call(call) => &call.func,
            Expr::Await(inner) => &inner.value,
            Expr::Name(name) => return Some(name.id.as_str()),
            _ => return None,
        };
    }
}

struct Found<'n> {
    names: &'n HashSet<String>,
    found: bool,
}

impl<'a> Visitor<'a> for Found<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => self.found |= self.names.contains(name.id.as_str()),
            Expr::Attribute(member) => {
                let of_request =
                    matches!(&*member.value, Expr::Name(name) if matches!(name.id.as_str(), "request" | "req"));
                self.found |= of_request && BROUGHT.contains(&member.attr.as_str());
                walk_expr(self, expression);
            }
            Expr::Call(call) => {
                let cleans = match &*call.func {
                    Expr::Name(name) => CLEANS.contains(&name.id.as_str()),
                    Expr::Attribute(member) => CLEANS.contains(&member.attr.as_str()),
                    _ => false,
                };
                if !cleans {
                    walk_expr(self, expression);
                }
            }
            _ => walk_expr(self, expression),
        }
    }
}

//! What a call is given that turns a protection off, lets somebody in, forces what would be refused, or asks for more than there
//! is, whatever is called; and what requests bring that is taken as it comes.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, CallExpression, Expression, ObjectExpression, ObjectPropertyKind,
};
use oxc_span::Span;

use super::calls::listed;
use super::effects::Call;
use super::rules::{self, effects};
use super::scope::Source;
use super::{Pass, Reader, fold};
use crate::code::{places, settings, verbs};

/// Depth of objects in objects that are looked at.
const DEEPEST: usize = 4;
/// Methods that are given options of a command line to look for or to declare.
const DECLARES: &str = "option requiredOption includes indexOf has startsWith endsWith describe boolean string alias argument addOption test it log";
/// Operators by which a database runs code or writes over a collection.
const OPERATORS: &str = "$out $merge $where $function $accumulator";
/// Members in which a request carries what whoever sent it chose.
const BROUGHT: &str = "params query body headers file files";

impl Reader<'_> {
    /// What any call is given.
    pub(super) fn judge_settings(&mut self, it: &CallExpression<'_>, call: &Call<'_, '_>) {
        let mut found = Found::default();
        let name = verbs::snake(call.name).into_owned();
        let first = name.split('_').next().unwrap_or_default();
        for argument in it.arguments.iter().filter_map(Argument::as_expression) {
            self.look(argument, DEEPEST, &mut found);
        }
        if found.exposes {
            self.ask(it.span, "code-rights", format!("`{}` is told to leave a protection out", call.name));
        }
        if found.lets_in && (verbs::is_acting(first) || first == "save") {
            self.ask(it.span, "code-rights", format!("`{}` lets somebody in", call.name));
        }
        let unknown = call.object.is_some() && call.callee.functions().next().is_none();
        let of_files = call.callee.paths().any(|path| effects::of_function(path).is_some());
        if unknown
            && !of_files
            && (found.forces && !verbs::is_reading(first) || found.orders && !listed(DECLARES, call.name))
        {
            self.ask(it.span, "code-remote", format!("`{}` is told to do what would be refused otherwise", call.name));
        }
        if found.runs && unknown {
            self.ask(it.span, "code-remote", format!("`{}` is given what a database runs, or writes over", call.name));
        }
    }

    fn look(&self, given: &Expression<'_>, left: usize, found: &mut Found) {
        let Some(left) = left.checked_sub(1) else { return };
        match fold::bare(given) {
            Expression::ObjectExpression(object) => self.look_object(object, left, found),
            Expression::ArrayExpression(list) => {
                for element in list.elements.iter().filter_map(ArrayExpressionElement::as_expression) {
                    self.look(element, left, found);
                }
            }
            Expression::StringLiteral(text) => found.orders |= settings::forced(text.value.as_str()),
            _ => {}
        }
    }

    fn look_object(&self, object: &ObjectExpression<'_>, left: usize, found: &mut Found) {
        for property in &object.properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
            let Some(key) = property.key.static_name() else { continue };
            let value = fold::bare(&property.value);
            let on = matches!(value, Expression::BooleanLiteral(on) if on.value);
            let off = matches!(value, Expression::BooleanLiteral(on) if !on.value);
            found.exposes |= off && settings::protects(&key) || on && settings::exposes(&key);
            found.exposes |= &*key == "algorithms"
                && matches!(value, Expression::ArrayExpression(all)
                if all.elements.iter().any(|one| matches!(one, ArrayExpressionElement::StringLiteral(text) if text.value.eq_ignore_ascii_case("none"))));
            found.forces |= on && settings::forces(&key);
            found.runs |= listed(OPERATORS, &key);
            let text = match value {
                Expression::StringLiteral(text) => Some(text.value.as_str()),
                _ => None,
            };
            found.lets_in |= settings::lets_in(&key, text, on);
            self.look(value, left, found);
        }
    }

    /// A name of a file comes with a request as whoever sent it chose it.
    pub(super) fn named_by_request(&mut self, call: &Call<'_, '_>) {
        let of_files = call.callee.paths().any(|path| effects::of_function(path).is_some());
        if !of_files && !matches!(call.name, "sendFile" | "download" | "createReadStream") {
            return;
        }
        if call.argument(0).is_some_and(|file| is_brought(file, DEEPEST * 2)) {
            self.ask(call.span, "code-reach", format!("`{}` uses a file that a request names", call.name));
        }
    }

    /// Markup that is not written down and that nothing cleans.
    pub(super) fn shows_markup(&mut self, span: Span, markup: &Expression<'_>) {
        if self.pass != Pass::Judge || self.text(markup).is_some() {
            return;
        }
        let cleans = match fold::bare(markup) {
            Expression::CallExpression(call) => {
                let name = super::value::member_name(&call.callee).or(match fold::bare(&call.callee) {
                    Expression::Identifier(name) => Some(name.name.as_str()),
                    _ => None,
                });
                name.is_some_and(|name| {
                    let lower = name.to_ascii_lowercase();
                    [
                        "sanitize",
                        "purify",
                        "clean",
                        "escape",
                        "stringify",
                        "marked",
                        "parse",
                        "render",
                        "highlight",
                        "tohtml",
                    ]
                    .iter()
                    .any(|word| lower.contains(word))
                })
            }
            Expression::ObjectExpression(_) => true,
            _ => false,
        };
        if !cleans {
            self.ask(span, "code-page", "markup that is not known is shown as it is".to_owned());
        }
    }

    /// What a server hands to a page everybody sees.
    pub(super) fn props_tell(&mut self, span: Span, props: &Expression<'_>) {
        let secret = self.things(props).private().any(|source| match source {
            Source::Variable(name) => places::variable(name, None) != places::Variable::Plain,
            _ => false,
        });
        if secret {
            self.ask(span, "code-reach", "a secret is handed to a page".to_owned());
        }
    }

    /// A function of the page or of Node that others call is put in place of another.
    pub(super) fn replaces_global(&mut self, span: Span, name: Option<&str>) {
        if name.is_some_and(|name| {
            rules::is_function(name) || matches!(name, "XMLHttpRequest" | "WebSocket" | "alert" | "confirm" | "prompt")
        }) {
            self.ask(span, "code-dynamic", "a function that others call is put in place of another".to_owned());
        }
    }
}

#[derive(Default)]
struct Found {
    exposes: bool,
    forces: bool,
    lets_in: bool,
    orders: bool,
    runs: bool,
}

/// Whether an expression is made of what a request brings.
fn is_brought(file: &Expression<'_>, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return true };
    match fold::bare(file) {
        Expression::StaticMemberExpression(member) => {
            let of_request = matches!(fold::bare(&member.object), Expression::Identifier(name)
                if matches!(name.name.as_str(), "req" | "request" | "ctx" | "context" | "event" | "c"));
            of_request && listed(BROUGHT, member.property.name.as_str()) || is_brought(&member.object, left)
        }
        Expression::ComputedMemberExpression(member) => is_brought(&member.object, left),
        Expression::BinaryExpression(sum) => is_brought(&sum.left, left) || is_brought(&sum.right, left),
        Expression::TemplateLiteral(text) => text.expressions.iter().any(|part| is_brought(part, left)),
        Expression::CallExpression(call) => {
            // Only the name of it, without the folders.
            let last = matches!(super::value::member_name(&call.callee), Some("basename"));
            !last && call.arguments.iter().filter_map(Argument::as_expression).any(|part| is_brought(part, left))
        }
        _ => false,
    }
}

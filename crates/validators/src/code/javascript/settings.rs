//! What a call is given that turns a protection off, lets somebody in, forces what would be refused, or asks for more than there
//! is, whatever is called; and what requests bring that is taken as it comes.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, CallExpression, Expression, ObjectExpression, ObjectPropertyKind,
};
use oxc_span::Span;

use super::calls::listed;
use super::effects::Call;
use super::rules::{self, effects};
use super::scope::{Source, Things};
use super::{Pass, Reader, fold};
use crate::code::{places, settings, verbs};

/// Depth of objects in objects that are looked at.
const DEEPEST: usize = 4;
/// Methods that are given options of a command line to look for or to declare.
const DECLARES: &str = "option requiredOption includes indexOf has startsWith endsWith describe boolean string alias argument addOption test it log";
/// Operators by which a database runs code or writes over a collection.
const OPERATORS: &str = "$out $merge $where $function $accumulator";
/// Members in which a request carries what whoever sent it chose.
const BROUGHT: &str = "params query body headers file files url cookies searchParams";

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
        let brought = |things: &Things| things.private().any(|source| *source == Source::Request);
        // Only the name of it, without the folders.
        let cleaned = call.argument(0).is_some_and(|file| {
            matches!(file, Expression::CallExpression(inner)
            if matches!(super::value::member_name(&inner.callee), Some("basename")))
        });
        if !cleaned && call.given.first().is_some_and(brought) {
            self.ask(call.span, "code-reach", format!("`{}` uses a file that a request names", call.name));
        }
    }

    /// A statement, or the name of what is called, comes with a request.
    pub(super) fn told_by_request(&mut self, it: &CallExpression<'_>, call: &Call<'_, '_>) {
        let brought = |things: &Things| things.private().any(|source| *source == Source::Request);
        let is_statement =
            listed("query execute raw exec all run get prepare unsafe $queryRawUnsafe $executeRawUnsafe", call.name)
                && call.object.is_some();
        let is_text = || !matches!(call.argument(0), Some(Expression::ObjectExpression(_)));
        let in_store = || self.packages.iter().any(|package| effects::is_store(package));
        if is_statement && is_text() && in_store() && call.given.first().is_some_and(brought) {
            self.ask(it.span, "code-statement", format!("`{}` is given a statement that a request brings", call.name));
        }
        if let Expression::ComputedMemberExpression(member) = fold::bare(&it.callee) {
            let key = self.things(&member.expression);
            let chosen = brought(&key) || key.paths().any(|path| path.starts_with("process.argv"));
            // What the program keeps in an object of its own was judged where it was put there.
            let own =
                self.things(&member.object).known.iter().any(|thing| matches!(thing, super::scope::Thing::Object(_)));
            if chosen && !own {
                self.ask(it.span, "code-computed-name", "what is called is chosen by whoever asks".to_owned());
            }
        }
        // A function that the program is given is told by a word what to do.
        if let (Expression::Identifier(_), None, true) =
            (fold::bare(&it.callee), call.callee.paths().next(), call.callee.functions().next().is_none())
            && let Some(Expression::StringLiteral(text)) = call.argument(0)
        {
            let word = text.value.split([' ', '_', '.', ':']).next().unwrap_or_default().to_ascii_lowercase();
            if verbs::is_acting(&word) && word != "set" && word != "add" {
                self.ask(it.span, "code-unknown", "a function that is not known is told to act".to_owned());
            }
        }
        // A timer that keeps more each time.
        if call.name == "setInterval" && !self.source.contains("clearInterval") {
            let span = it.span;
            let text = self.source.get(span.start as usize..span.end as usize).unwrap_or_default();
            let keeps = [".push(", ".unshift(", "+= "].iter().any(|word| text.contains(word))
                && ["new Array(", "Buffer.", ".repeat(", ".fill("].iter().any(|word| text.contains(word));
            if keeps {
                self.ask_endless(span, "a timer keeps more each time");
            }
        }
        if call.callee.paths().any(|path| path == "process.umask")
            && call.argument(0).and_then(super::loops::number).is_some_and(|mask| (mask as u32) & 0o022 == 0)
        {
            self.ask(it.span, "code-rights", "files of the program may be changed by everybody".to_owned());
        }
    }

    /// Markup that is not written down and that nothing cleans.
    pub(super) fn shows_markup(&mut self, span: Span, markup: &Expression<'_>) {
        if self.pass != Pass::Judge || self.text(markup).is_some() {
            return;
        }
        let cleans = match fold::bare(markup) {
            Expression::CallExpression(call) => {
                let name = super::value::member_name(&call.callee).or_else(|| match fold::bare(&call.callee) {
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

/// Whether a member of an object is what a request brings.
pub(super) fn is_of_request(object: &Expression<'_>, name: &str) -> bool {
    listed(BROUGHT, name)
        && matches!(fold::bare(object), Expression::Identifier(object)
            if matches!(object.name.as_str(), "req" | "request" | "ctx"))
}

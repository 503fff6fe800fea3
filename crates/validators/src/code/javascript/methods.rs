//! Methods of objects of which nothing is known: understood by their names alone, and where it matters by what they are given.

use oxc_ast::ast::{CallExpression, Expression};

use super::calls::listed;
use super::effects::Call;
use super::scope::{Thing, Things};
use super::{Reader, content, fold, rules};
use crate::code::harmless::{self, Packages};
use crate::code::methods;

/// Methods that do what the text says which they are given.
const TOLD: &str = "apply call command invoke run start stop submit exec";
/// Methods that hand a statement to a database.
const STATEMENTS: &str = "query execute raw prepare sql queryRaw executeRaw";
/// Methods that say what they do only where they are given nothing.
const BARE: &str = "clean disconnect flush quit refresh reset shutdown stop";
/// Methods by which a page is asked for, or a route is declared.
const REQUESTS: &str = "post put patch delete del request";

impl Reader<'_> {
    /// A method is called of which nothing but its name is known.
    pub(super) fn unknown_method(&mut self, it: &CallExpression<'_>, call: &Call<'_, '_>) {
        let Some(object) = call.object else { return };
        let holder = fold::bare(&it.callee).as_member_expression().map(|member| fold::bare(member.object()));
        if call.callee.functions().next().is_some() || self.is_own_method(holder, object, call.name) {
            return;
        }
        let plain = || methods::is_plain(Packages::Node, call.name) && self.is_told_nothing(call);
        let understood = match call.callee.paths().next() {
            None => is_typed(object) || plain(),
            Some(path) => match path.split(['.', '(']).next().unwrap_or(path) {
                _ if rules::is_of_package(path) => true,
                // What Node's own modules answer.
                root if root.starts_with("node:") => {
                    !of_answer(path) || harmless::is_member(Packages::Node, &root[5..], call.name) || plain()
                }
                root if rules::is_unlisted_global(root) => plain(),
                _ => true,
            },
        };
        if !understood {
            let message = format!("what `{}` does is not known, of an object that is not known", call.name);
            self.ask(it.span, "code-unknown", message);
        }
    }

    /// Whether a method is one that the program defines itself: of an object of its own, or by a name that says nothing else.
    fn is_own_method(&self, holder: Option<&Expression<'_>>, object: &Things, name: &str) -> bool {
        let is_own = matches!(holder, Some(Expression::ThisExpression(_) | Expression::Super(_)))
            || object.known.iter().any(|thing| matches!(thing, Thing::Object(_) | Thing::Function(_)));
        self.own.contains(name) && (is_own || !methods::is_telling(name))
    }

    /// Whether what a method is given tells it nothing that it would do.
    fn is_told_nothing(&self, call: &Call<'_, '_>) -> bool {
        if call.arguments.is_empty()
            && matches!(call.name, "delete" | "drop" | "truncate" | "deleteMany" | "dropDatabase")
        {
            return false;
        }
        let Some(first) = call.argument(0) else { return true };
        let given = call.given.first();
        let calls_back = || call.given.iter().any(|given| given.functions().next().is_some());
        if listed(TOLD, call.name) {
            let harmless = matches!(
                first,
                Expression::NumericLiteral(_)
                    | Expression::BooleanLiteral(_)
                    | Expression::NullLiteral(_)
                    | Expression::ThisExpression(_)
            );
            return harmless
                || calls_back()
                || matches!(first, Expression::ObjectExpression(_) | Expression::ArrayExpression(_))
                    && call.name != "exec"
                || call.object.is_some_and(|object| object.paths().any(|path| path == "RegExp()"));
        }
        if listed(STATEMENTS, call.name) {
            return calls_back()
                || matches!(first, Expression::ObjectExpression(_))
                || given.is_some_and(|given| {
                    content::pieces(given).iter().all(|piece| match piece {
                        content::Piece::Whole(_) => true,
                        content::Piece::Ends(start, _) => begins_statement(start),
                        _ => false,
                    })
                });
        }
        // With nothing they end what the object itself does; what they are given is somebody else's.
        if listed(BARE, call.name) {
            return call.arguments.is_empty() || calls_back();
        }
        if matches!(call.name, "updateMany" | "deleteMany" | "update_many" | "delete_many") {
            return picks_by_value(first);
        }
        if call.name == "toggle" {
            return call.object.is_some_and(|object| object.paths().next().is_some()) || calls_back();
        }
        if listed(REQUESTS, call.name) {
            let is_address = |piece: &content::Piece| match piece {
                content::Piece::Whole(text) | content::Piece::Ends(text, _) => text.contains('/'),
                _ => false,
            };
            return calls_back()
                || !given.is_some_and(|given| content::pieces(given).iter().any(is_address))
                    && matches!(call.name, "put" | "delete" | "del");
        }
        true
    }
}

/// Whether a condition names a value, and not only ranges or opposites.
fn picks_by_value(filter: &Expression<'_>) -> bool {
    use oxc_ast::ast::ObjectPropertyKind;
    let Expression::ObjectExpression(object) = filter else { return false };
    object.properties.iter().any(|property| match property {
        ObjectPropertyKind::SpreadProperty(_) => false,
        ObjectPropertyKind::ObjectProperty(property) => match fold::bare(&property.value) {
            Expression::ObjectExpression(inner) => {
                property.key.static_name().as_deref() == Some("where") && picks_by_value(&property.value)
                    || inner.properties.iter().any(|operator| match operator {
                        ObjectPropertyKind::ObjectProperty(operator) => operator
                            .key
                            .static_name()
                            .is_some_and(|name| matches!(&*name, "$eq" | "$in" | "in" | "equals")),
                        ObjectPropertyKind::SpreadProperty(_) => false,
                    })
            }
            _ => true,
        },
    })
}

/// Whether the type of an object is written down.
fn is_typed(object: &Things) -> bool {
    !object.open && !object.known.is_empty() && object.known.iter().all(Thing::is_text)
}

/// Whether a path leads through what a call answered.
fn of_answer(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(object, _)| object.contains('('))
}

/// Whether the verb of a statement can be read.
fn begins_statement(start: &str) -> bool {
    let start = start.trim_start();
    let verb = start.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    verb.len() > 2 && start.len() > verb.len()
}

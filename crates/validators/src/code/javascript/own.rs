//! Objects and functions of the project's own modules, and others of which only the name is known: judged by what they are called,
//! with the table that packages have; queries by what their chain picks.

use oxc_ast::ast::{Argument, CallExpression, Expression};

use super::effects::Call;
use super::options::{Found, property};
use super::rules::effects;
use super::{Reader, fold};
use crate::code::{places, verbs};

/// Links of a chain of calls that are looked at.
const MAX_CHAIN_LINKS: usize = 24;
/// Names that programs give to a connection on which statements are built.
const BUILDERS: &[&str] = &["conn", "connection", "database", "db", "drizzle", "knex", "orm", "sql", "trx", "tx"];

/// The name at the beginning of a chain of calls and members, and whether a member of it is called so.
fn root_name<'e>(expression: &'e Expression<'_>, passes: &mut dyn FnMut(&str)) -> Option<&'e str> {
    let mut at = fold::bare(expression);
    for _ in 0..MAX_CHAIN_LINKS {
        at = match at {
            Expression::StaticMemberExpression(member) => {
                let name = member.property.name.as_str();
                if matches!(fold::bare(&member.object), Expression::ThisExpression(_)) {
                    return Some(name);
                }
                passes(name);
                fold::bare(&member.object)
            }
            Expression::ComputedMemberExpression(member) => fold::bare(&member.object),
            Expression::CallExpression(call) => fold::bare(&call.callee),
            Expression::AwaitExpression(inner) => fold::bare(&inner.argument),
            Expression::Identifier(name) => return Some(name.name.as_str()),
            _ => return None,
        };
    }
    None
}

/// What a method is called on.
fn holder<'e, 'a>(it: &'e CallExpression<'a>) -> Option<&'e Expression<'a>> {
    fold::bare(&it.callee).as_member_expression().map(|member| fold::bare(member.object()))
}

fn is_class_name(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::Identifier(name) if name.name.starts_with(|c: char| c.is_ascii_uppercase()))
}

impl Reader<'_> {
    /// Something is imported out of the program's own modules.
    pub(super) fn note_own(&mut self, local: &str, imported: &str) {
        if self.own_names.len() < 512 {
            self.own_names.insert(local.to_owned(), imported.to_owned());
        }
    }

    /// A call whose name is all that is known of it.
    pub(super) fn own_call(&mut self, it: &CallExpression<'_>, call: &Call<'_, '_>) {
        let name = verbs::snake(call.name).into_owned();
        let grave = match holder(it) {
            Some(object) => self.is_grave_method(it, call, object, &name),
            None => self.is_grave_function(it, call),
        };
        if grave {
            let message = format!("`{}` may destroy, stop or change something that others use", call.name);
            self.ask(it.span, "code-remote", message);
        }
        self.empties_by_handle(it, call);
        self.shows_fetched(call);
    }

    fn is_grave_function(&self, it: &CallExpression<'_>, call: &Call<'_, '_>) -> bool {
        let Expression::Identifier(name) = fold::bare(&it.callee) else { return false };
        let local = name.name.as_str();
        let required = || {
            ["require('./", "require(\"./", "require('../", "require(\"../"]
                .iter()
                .any(|load| self.source.contains(load))
        };
        let original = match self.own_names.get(local) {
            Some(original) => original.as_str(),
            None if verbs::is_grave_alone(&verbs::snake(local))
                && call.callee.paths().next().is_none()
                && call.callee.functions().next().is_none()
                && required() =>
            {
                local
            }
            None => return false,
        };
        verbs::is_grave_alone(&verbs::snake(original)) || crate::code::methods::is_telling(original)
    }

    fn is_grave_method(
        &self,
        it: &CallExpression<'_>,
        call: &Call<'_, '_>,
        object: &Expression<'_>,
        name: &str,
    ) -> bool {
        if self.own.contains(call.name) || call.callee.functions().next().is_some() {
            return false;
        }
        let known = call.callee.paths().any(|path| effects::package(path).is_some());
        let mut members = Vec::new();
        let root = root_name(object, &mut |step| members.push(step.to_owned()));
        let has = |wanted: &[&str]| {
            members.iter().any(|step| wanted.contains(&step.as_str()))
                || root.is_some_and(|root| wanted.contains(&root))
        };
        let original = root.map(|root| self.own_names.get(root).map_or(root, String::as_str));
        if !known {
            let steers = original.is_some_and(|root| verbs::steers_named(&verbs::snake(root), name));
            let of_guild = matches!(name, "ban" | "kick" | "prune")
                && (has(&["guild", "guilds", "members"]) || self.packages.contains("discord.js"));
            if verbs::is_grave(name) || steers || of_guild {
                return true;
            }
        }
        let bounded = self.bounded.contains(&it.span.end)
            || members.iter().any(|step| super::services::bounds(&verbs::snake(step)));
        let first = call.argument(0);
        let none = call.arguments.is_empty();
        // `db('users')`
        let of_table = matches!(object, Expression::CallExpression(inner)
            if matches!(fold::bare(&inner.callee), Expression::Identifier(base) if BUILDERS.contains(&base.name.as_str()))
                && matches!(inner.arguments.first(), Some(Argument::StringLiteral(_))));
        match name {
            "destroy" => match first {
                Some(Expression::ObjectExpression(options)) => {
                    let all = matches!(property(options, "where"), Found::Value(Expression::ObjectExpression(inner)) if inner.properties.is_empty());
                    all || matches!(property(options, "truncate"), Found::Value(Expression::BooleanLiteral(on)) if on.value)
                }
                _ => none && is_class_name(object) && !known,
            },
            "remove" => matches!(first, Some(Expression::ObjectExpression(filter)) if filter.properties.is_empty()),
            "decommission" | "nuke" | "obliterate" | "wipe" => {
                !known && root.is_some_and(|root| self.own_names.contains_key(root))
            }
            "drop" if none => {
                let of_collection = match object {
                    Expression::StaticMemberExpression(member) => member.property.name == "collection",
                    Expression::CallExpression(inner) => fold::bare(&inner.callee)
                        .as_member_expression()
                        .and_then(|member| member.static_property_name())
                        .is_some_and(|name| name == "collection"),
                    _ => false,
                };
                of_collection || is_class_name(object) && !known
            }
            "update" if matches!(call.argument(1), Some(Expression::ObjectExpression(_))) => {
                matches!(call.argument(1), Some(Expression::ObjectExpression(options))
                    if matches!(property(options, "where"), Found::Value(Expression::ObjectExpression(inner)) if inner.properties.is_empty()))
            }
            "del" | "delete" if none => of_table && !bounded,
            "update" => of_table && !bounded,
            "delete" => {
                let table = match first {
                    Some(Expression::Identifier(table)) => table.name.ends_with('s') || table.name.ends_with("Table"),
                    Some(Expression::StaticMemberExpression(member)) => {
                        matches!(fold::bare(&member.object), Expression::Identifier(base) if matches!(base.name.as_str(), "schema" | "tables"))
                    }
                    _ => false,
                };
                table && root.is_some_and(|root| BUILDERS.contains(&root)) && call.arguments.len() == 1 && !bounded
            }
            "set" => {
                let updates = matches!(object, Expression::CallExpression(inner)
                    if inner.arguments.len() == 1
                        && !matches!(inner.arguments.first(), Some(Argument::StringLiteral(_)))
                        && fold::bare(&inner.callee).as_member_expression().and_then(|member| member.static_property_name()).is_some_and(|name| name == "update"));
                updates && matches!(first, Some(Expression::ObjectExpression(_))) && !bounded
            }
            _ => false,
        }
    }

    /// A file that is opened only to be closed, a handle that is left with nothing, an empty book in the place of a document.
    fn empties_by_handle(&mut self, it: &CallExpression<'_>, call: &Call<'_, '_>) {
        let text = |argument: Option<&Argument<'_>>| match argument {
            Some(Argument::StringLiteral(text)) => Some(text.value.as_str().to_owned()),
            _ => None,
        };
        let opened = |inner: &CallExpression<'_>| {
            let mode = text(inner.arguments.get(1)).is_some_and(|mode| mode.starts_with('w'));
            mode && text(inner.arguments.first()).is_some_and(|path| places::is_written(&path))
        };
        let closes = matches!(call.name, "closeSync" | "close")
            && (matches!(call.argument(0), Some(Expression::CallExpression(inner)) if opened(inner))
                || matches!(holder(it), Some(Expression::AwaitExpression(wait))
                    if matches!(fold::bare(&wait.argument), Expression::CallExpression(inner) if opened(inner))));
        let of_handle = call.name == "writeFile"
            && call.arguments.len() == 1
            && matches!(call.argument(0), Some(Expression::StringLiteral(text)) if text.value.is_empty());
        let is_empty_book = |made: &Expression<'_>| {
            matches!(made, Expression::CallExpression(inner)
                if fold::bare(&inner.callee).as_member_expression().and_then(|member| member.static_property_name()).is_some_and(|name| name == "book_new"))
        };
        let empties_book = matches!(call.name, "writeFile" | "writeFileXLSX")
            && call.argument(0).is_some_and(is_empty_book)
            && text(call.arguments.get(1)).is_some_and(|path| places::is_kept(&path));
        if closes || of_handle || empties_book {
            self.ask(it.span, "code-delete", format!("`{}` leaves a file with nothing in it", call.name));
        }
    }

    /// Markup that another host sent may run code in the page.
    fn shows_fetched(&mut self, call: &Call<'_, '_>) {
        if matches!(call.name, "html" | "insertAdjacentHTML" | "append" | "prepend" | "write")
            && call.arguments.iter().filter_map(Argument::as_expression).any(|given| self.is_fetched_markup(given))
        {
            self.ask(call.span, "code-page", "markup that another host sent is shown".to_owned());
        }
    }

    /// Whether an expression fetches a text from another host.
    pub(super) fn is_fetched_markup(&self, given: &Expression<'_>) -> bool {
        use oxc_span::GetSpan as _;
        let span = given.span();
        let text = self.source.get(span.start as usize..span.end as usize).unwrap_or_default();
        text.len() < 2_000
            && text.contains("://")
            && ["fetch(", "axios", "$.get", "ajax("].iter().any(|by| text.contains(by))
    }
}

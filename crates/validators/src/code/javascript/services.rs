//! What a program tells services and databases to destroy, to stop or to change for everybody.

use oxc_ast::ast::{Argument, Expression, ObjectExpression};
use oxc_span::Span;

use super::content::{self, Piece};
use super::effects::Call;
use super::options::{Found, property};
use super::rules::{self, effects};
use super::scope::{Source, Thing, Things};
use super::{Reader, fold};
use crate::code::{places, statements, verbs};

/// Links of a chain of calls that are looked at.
const MAX_CHAIN_LINKS: usize = 16;

impl Reader<'_> {
    pub(super) fn service_call(&mut self, call: &Call<'_, '_>) {
        let name = verbs::snake(call.name).into_owned();
        if self.statement_destroys(call) {
            self.ask(call.span, "code-statement", format!("`{}` is given a statement that destroys", call.name));
        }
        if self.destroys(call, &name) {
            let message = format!("`{}` may destroy, stop or change something that others use", call.name);
            self.ask(call.span, "code-remote", message);
        }
    }

    /// Files that a server gives out: those of the project are meant, others are not.
    fn gives_out_files(&mut self, call: &Call<'_, '_>) {
        let is_outside = |path: &Expression<'_>| {
            self.text(path).is_some_and(|path| {
                places::of(&path) == places::Place::Outside && (path == "/" || !path.starts_with("/app"))
            })
        };
        let by_option = matches!(call.option("root"), Found::Value(root) if is_outside(root));
        if by_option || call.argument(0).is_some_and(is_outside) {
            let message = format!("`{}` gives out files from outside of the project", call.name);
            self.ask(call.span, "code-reach", message);
        }
    }

    /// A member of a package that is not known to be harmless, called or handed on.
    pub(super) fn unknown_member(&mut self, call: &Call<'_, '_>) {
        if matches!(call.name, "static" | "serveStatic" | "sendFile" | "staticFiles") {
            self.gives_out_files(call);
        }
        let handed = call.given.iter().flat_map(Things::paths).filter(|path| {
            !path.contains('(')
                && !path.split('.').skip(1).any(|step| step.starts_with(|c: char| c.is_ascii_uppercase()))
        });
        let found = call.callee.paths().chain(handed).find(|path| rules::is_member_unknown(path));
        if let Some(path) = found.map(|path| path.trim_start_matches("node:").to_owned()) {
            self.ask(call.span, "code-unknown", format!("what `{path}` makes of what it is given is not known"));
        }
    }

    fn destroys(&self, call: &Call<'_, '_>, name: &str) -> bool {
        let packages = || call.callee.paths().filter_map(effects::package);
        let of_client = packages().any(effects::is_client);
        let of_store = packages().any(effects::is_store) || is_shell_of_store(call.callee);
        if packages().any(|package| acts_for_somebody(package, call, name))
            || self.calls_procedure(call, name, of_store)
        {
            return true;
        }
        let known = call.callee.paths().next().is_some() && !is_global_object(call.callee);
        let unknown = !known && call.object.is_some() && !self.own.contains(call.name);
        let imports = |is: fn(&str) -> bool| self.packages.iter().any(|package| is(package));
        let in_store = of_store || unknown && imports(effects::is_store);
        let bare = call.arguments.is_empty();
        // What only ends the connection.
        let ends = bare && matches!(name, "destroy" | "stop" | "shutdown" | "reset") || name == "abort";
        let ends = ends && !(name == "reset" && packages().any(|package| package == "chromadb"));
        if of_client && !ends && packages().any(|package| verbs::steers(effects::table(package), name)) {
            // A bot or a consumer of the program itself.
            return name != "stop" || !packages().any(|package| matches!(package, "telegraf" | "kafkajs"));
        }
        if unknown && imports(effects::is_client) && verbs::destroys(name) && (name.contains('_') || bare && !ends) {
            return true;
        }
        if call.object.is_some() && !self.own.contains(call.name) && verbs::plainly_empties(name) {
            return true;
        }
        if in_store && verbs::empties(name) && (of_store || bare) {
            return true;
        }
        let last = call.arguments.last().and_then(Argument::as_expression);
        let nothing = matches!(last, Some(Expression::NullLiteral(_)));
        if of_client && name == "set" && nothing || acts_for_account(call, name) || self.requests_delete(call, name) {
            return true;
        }
        (in_store || unknown || is_global_object(call.callee)) && self.is_unbounded(call, name, in_store)
    }

    /// A procedure of a database is called by its name.
    fn calls_procedure(&self, call: &Call<'_, '_>, name: &str, of_store: bool) -> bool {
        of_store
            && name == "rpc"
            && call.argument(0).is_some_and(|first| match self.text(first) {
                Some(procedure) => {
                    let procedure = verbs::snake(&procedure).into_owned();
                    verbs::steers("", &procedure) || verbs::plainly_acts(&procedure)
                }
                None => true,
            })
    }

    /// Rows by their keys, and documents that a condition picks, are deleted in daily work.
    fn is_unbounded(&self, call: &Call<'_, '_>, name: &str, in_store: bool) -> bool {
        let first = call.argument(0);
        match name {
            "delete_many" | "remove_many" => !first.is_some_and(picks),
            "update_many" => match first {
                Some(Expression::ObjectExpression(object)) => {
                    object.properties.is_empty()
                        || matches!(property(object, "data"), Found::Value(_)) && !picks_where(object)
                }
                _ => false,
            },
            "remove" | "delete_one" if in_store => {
                matches!(first, Some(Expression::ObjectExpression(object)) if object.properties.is_empty())
            }
            "destroy" if in_store => !matches!(first, Some(Expression::ObjectExpression(object)) if picks_where(object)
                    && !matches!(property(object, "truncate"), Found::Value(Expression::BooleanLiteral(on)) if on.value)),
            "sync" | "synchronize" if in_store => {
                let forced =
                    |key| matches!(call.option(key), Found::Value(_) | Found::Unknown) && call.option(key).is_on();
                forced("force") || matches!(first, Some(Expression::BooleanLiteral(on)) if on.value)
            }
            "del" | "delete" | "unlink" if in_store => {
                let many = call.arguments.iter().any(|argument| matches!(argument, Argument::SpreadElement(_)));
                let builds = call.arguments.is_empty() || call.callee.paths().any(|path| path.contains("drizzle"));
                many || builds && !is_bounded_before(call) && !self.bounded.contains(&call.span.end)
            }
            "delete_from" => in_store && !self.bounded.contains(&call.span.end),
            "update" if call.callee.paths().any(|path| path.starts_with("node:knex")) => {
                !is_bounded_before(call) && !self.bounded.contains(&call.span.end)
            }
            "clear" if in_store => call.arguments.is_empty(),
            "config" if in_store => self.texts(call).iter().any(|text| text.eq_ignore_ascii_case("set")),
            "send_command" | "execute_command" => self.texts(call).iter().any(|text| is_emptying(text)),
            "admin_command" | "run_command" | "command" => call.objects().any(|object| {
                ["shutdown", "dropDatabase", "drop", "dropUser", "eval"]
                    .iter()
                    .any(|key| !matches!(property(object, key), Found::None))
            }),
            _ => false,
        }
    }

    /// A request that asks a service to delete something.
    fn requests_delete(&self, call: &Call<'_, '_>, name: &str) -> bool {
        let is_request = call
            .callee
            .paths()
            .any(|path| effects::is_sender(path) || effects::package(path).is_some_and(effects::is_network));
        let deletes = |value: &Things| {
            texts(value)
                .iter()
                .any(|method| ["delete", "patch", "put"].iter().any(|known| method.eq_ignore_ascii_case(known)))
        };
        let by_method = || {
            let named = |key: &str| match call.option(key) {
                Found::Value(value) => deletes(&self.things(value)),
                Found::Unknown | Found::None => false,
            };
            let written = named("method") || call.name == "ajax" && named("type");
            let kept = call.given.iter().flat_map(|given| &given.known).any(|thing| match thing {
                Thing::Object(start) => self.field(*start, "method").is_some_and(|method| deletes(&method)),
                _ => false,
            });
            written || kept
        };
        let by_text = || {
            let text = call.argument(0).and_then(|first| self.text(first));
            text.is_some_and(|text| {
                let graph = name == "graphql" && text.contains("mutation") && text.contains("delete");
                graph
                    || ["DELETE ", "PUT ", "PATCH ", "POST "].iter().any(|verb| text.starts_with(verb))
                    || name == "open" && text.eq_ignore_ascii_case("delete")
            })
        };
        let client = |path: &str| {
            effects::package(path)
                .is_some_and(|package| matches!(package, "axios" | "got" | "ky" | "superagent" | "undici" | "ofetch"))
        };
        is_request && (by_method() || matches!(name, "request" | "open" | "graphql") && by_text())
            || matches!(name, "delete" | "del" | "put" | "patch") && call.callee.paths().any(client)
    }

    /// Whether one of the statements that a call is given destroys.
    fn statement_destroys(&self, call: &Call<'_, '_>) -> bool {
        let of_store = || call.callee.paths().filter_map(effects::package).any(effects::is_store);
        let takes = statements::takes(call.name) || of_store();
        let destroys = |text: &String| statements::destroys(text) || statements::writes_code(text);
        takes && self.texts(call).iter().any(destroys)
            || matches!(call.name, "gql" | "graphql" | "request" | "mutate")
                && self.texts(call).iter().any(|text| statements::mutates(text))
    }

    /// The texts that a call is given, also in an object or a list; what is not known of them is a name.
    fn texts(&self, call: &Call<'_, '_>) -> Vec<String> {
        self.held_texts(call.given).iter().flat_map(texts).collect()
    }

    /// A statement that is written as a template.
    pub(super) fn template_destroys(&mut self, span: Span, text: &str) {
        if statements::destroys(text) || statements::mutates(text) {
            self.ask(span, "code-statement", "a statement that destroys".to_owned());
        }
    }

    /// Whether a client is told to send its key to a host that the key does not belong to.
    pub(super) fn key_goes_elsewhere(&self, call: &Call<'_, '_>) -> bool {
        let Some(address) =
            ["baseURL", "baseUrl", "basePath", "endpoint"].iter().find_map(|key| match call.option(key) {
                Found::Value(value) => self.text(value),
                Found::Unknown | Found::None => None,
            })
        else {
            return false;
        };
        let Some(host) = places::host(&address) else { return false };
        if host.starts_with("localhost") || host.starts_with("127.") {
            return false;
        }
        let is_foreign = |key: &Expression<'_>| {
            self.things(key).private().any(|source| match source {
                Source::Variable(name) => places::variable(name, Some(host)) == places::Variable::Foreign,
                _ => false,
            })
        };
        let given =
            ["auth", "token", "accessToken", "secretKey", "password"].iter().any(|key| match call.option(key) {
                Found::Value(key) => is_foreign(key),
                Found::Unknown | Found::None => false,
            });
        match call.option("apiKey") {
            Found::Value(key) => is_foreign(key),
            Found::Unknown | Found::None if given => true,
            // Without one, the client takes that of its own service.
            Found::Unknown | Found::None => {
                call.callee.paths().any(takes_key)
                    && !call.callee.paths().any(|path| {
                        let package = path.strip_prefix("node:").unwrap_or(path);
                        let name =
                            package.trim_start_matches('@').split(['/', '.', '-', '(']).next().unwrap_or(package);
                        host.contains(name)
                    })
            }
        }
    }

    /// Commands of a cloud are objects that are made by their name.
    pub(super) fn command(&mut self, call: &Call<'_, '_>) {
        for path in call.callee.paths() {
            let Some(package) = effects::package(path).filter(|package| effects::is_client(package)) else { continue };
            let acts = |name: &str| effects::is_service(package) && (verbs::acts(name) || verbs::tells_secret(name));
            let Some(name) = call.name.strip_suffix("Command").or_else(|| call.name.strip_suffix("Request")) else {
                continue;
            };
            if verbs::steers(effects::table(package), &verbs::snake(name)) || acts(&verbs::snake(name)) {
                let message = format!("`{}` may destroy, stop or change something that others use", call.name);
                return self.ask(call.span, "code-remote", message);
            }
        }
    }
}

/// Whether a client takes the key of its service out of the environment.
fn takes_key(path: &str) -> bool {
    [
        "node:openai",
        "node:@anthropic-ai/sdk",
        "node:groq-sdk",
        "node:cohere-ai",
        "node:@mistralai/mistralai",
        "node:stripe",
    ]
    .iter()
    .any(|client| path.strip_prefix(client).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '('])))
}

/// Whether a call of a client acts for somebody, or gives something secret. Classes are judged by their methods.
fn acts_for_somebody(package: &str, call: &Call<'_, '_>, name: &str) -> bool {
    if call.name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return false;
    }
    if effects::is_service(package) {
        // The package itself, called, makes a client.
        // Commands of this one are judged where they are made.
        let sends_command = name == "send" && package.starts_with("@aws-sdk");
        let own = name == "run" && package == "kafkajs";
        return call.name != package && !sends_command && !own && (verbs::acts(name) || verbs::tells_secret(name));
    }
    if effects::is_store(package) {
        let admin = || call.callee.paths().any(|path| path.contains(".admin."));
        let stored = || call.callee.paths().any(|path| path.contains(".storage."));
        return verbs::commands(name) || admin() && verbs::acts(name) || stored() && verbs::plainly_acts(name);
    }
    let told = || !call.arguments.is_empty() && verbs::puts_away(name);
    verbs::starts_program(name) && !effects::is_client(package)
        || !effects::is_otherwise(package) && (verbs::plainly_acts(name) || told())
}

/// Where the calls of a chain end, from the last one on.
pub(super) fn chain(callee: &Expression<'_>) -> Vec<u32> {
    let mut ends = Vec::new();
    let mut at = fold::bare(callee);
    while ends.len() < MAX_CHAIN_LINKS {
        at = match at {
            Expression::StaticMemberExpression(member) => fold::bare(&member.object),
            Expression::CallExpression(call) => {
                ends.push(call.span.end);
                fold::bare(&call.callee)
            }
            _ => break,
        };
    }
    ends
}

/// Methods that pick what is meant.
pub(super) fn bounds(name: &str) -> bool {
    [
        "where",
        "eq",
        "in",
        "match",
        "filter",
        "and_where",
        "is",
        "like",
        "ilike",
        "lt",
        "lte",
        "gte",
        "contains",
        "by_id",
    ]
    .iter()
    .any(|start| name == *start || name.strip_prefix(start).is_some_and(|rest| rest.starts_with('_')))
}

/// Whether a chain picks what is meant before this call.
fn is_bounded_before(call: &Call<'_, '_>) -> bool {
    call.callee.paths().any(|path| path.split(['.', '(']).any(|step| bounds(&verbs::snake(step))))
}

/// A filter that picks something.
fn picks(filter: &Expression<'_>) -> bool {
    matches!(filter, Expression::ObjectExpression(object)
        if !object.properties.is_empty() && (picks_where(object) || matches!(property(object, "where"), Found::None)))
}

/// Whether an object has a condition that picks something.
fn picks_where(object: &ObjectExpression<'_>) -> bool {
    match property(object, "where") {
        Found::Value(Expression::ObjectExpression(inner)) => !inner.properties.is_empty(),
        Found::Value(_) | Found::Unknown => true,
        Found::None => false,
    }
}

/// The shell of a database has it as a global.
fn is_shell_of_store(callee: &Things) -> bool {
    callee.paths().any(|path| path.starts_with("db.") || path.starts_with("rs.") || path.starts_with("sh."))
}

/// Objects that frameworks and shells provide under these names.
fn is_global_object(callee: &Things) -> bool {
    callee.paths().any(|path| {
        matches!(
            path.split(['.', '(']).next().unwrap_or(path),
            "db" | "prisma" | "redis" | "knex" | "sequelize" | "client" | "mongoose"
        )
    })
}

/// Methods that change what many see, of packages whose verbs mean many things.
fn acts_for_account(call: &Call<'_, '_>, name: &str) -> bool {
    call.callee.paths().any(|path| {
        let package = effects::package(path).unwrap_or_default();
        effects::table(package) == "github" && (path.ends_with("repos.update") || path.ends_with("orgs.update"))
            || package == "commander"
                && name == "command"
                && call.arguments.len() > 1
                && matches!(call.argument(1), Some(Expression::StringLiteral(_)))
    })
}

fn is_emptying(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "flushall" | "flushdb" | "shutdown" | "config" | "debug" | "slaveof" | "replicaof" | "module"
    )
}

fn texts(things: &Things) -> Vec<String> {
    content::pieces(things)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Whole(text) => Some(text),
            Piece::Ends(start, end) => Some(format!("{start}x{end}")),
            _ => None,
        })
        .collect()
}

//! What a program tells machines, accounts, stores and devices to do. Of clients of services only what looks is understood;
//! of databases, what changes rows that somebody picked.

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::rules::effects;
use super::value::Val;
use crate::code::verbs;

impl Checker<'_> {
    /// Machines, accounts and stores.
    pub(super) fn judge_service(
        &mut self,
        path: Option<&str>,
        unknown: bool,
        name: &str,
        arguments: &Arguments,
        at: TextSize,
    ) {
        let root = path.map(|path| path.split(['.', '(']).next().unwrap_or_default());
        let acts = path.is_some_and(|path| Self::acts_for_somebody(path, name, arguments))
            || unknown && self.packages.iter().any(|package| effects::is_store(package)) && verbs::commands(name)
            || name == "command" && Self::steers_server(arguments)
            || root == Some("mailbox") && matches!(name, "clear" | "remove" | "discard" | "popitem")
            || matches!(name, "execute" | "exec" | "scalars" | "scalar") && Self::is_unbounded_statement(arguments);
        let decrypts = arguments.keyword("WithDecryption").is_some_and(|on| *on != Val::Int(0));
        let of_client = root.is_some_and(|root| effects::is_client(root) && verbs::steers(of_table(root), name));
        let of_store = root.is_some_and(|root| effects::is_store(root) && verbs::empties(name));
        let imports = |is: fn(&str) -> bool| self.packages.iter().any(|package| is(package));
        let named = arguments.positional.is_empty() && arguments.keywords.is_empty();
        let any_client = unknown
            && imports(effects::is_client)
            && (verbs::destroys(name) && (name != "drop" || named)
                || self.packages.iter().any(|package| {
                    effects::is_client(package) && name.contains('_') && verbs::steers(of_table(package), name)
                }));
        let in_store = root.is_some_and(effects::is_store) || unknown && imports(effects::is_store);
        let empties = in_store && unknown && verbs::empties(name) && (name != "drop" || named);
        // Rows by their keys, and documents that a condition picks, are deleted in daily work.
        let unbounded = in_store
            && match name {
                "delete" => {
                    named && !self.picks
                        || !arguments
                            .all()
                            .all(|value| value.is_literal() || root.is_none() && !matches!(value, Val::Unknown))
                            && !imports(|p| matches!(p, "sqlalchemy" | "sqlmodel" | "django"))
                }
                "delete_many" | "delete_one" | "remove" | "deleteMany" => {
                    let filter = arguments.get(0).or_else(|| arguments.keyword("filter"));
                    name != "remove"
                        && !filter.is_some_and(|filter| matches!(filter, Val::Dict(items) if !items.is_empty()))
                }
                "to_sql" => false,
                _ => false,
            };
        let of_all = |value: &Val| matches!(value, Val::Dict(items) if items.is_empty());
        let many = matches!(name, "update_many" | "delete_many" | "replace_one" | "remove_many")
            && root.is_none_or(effects::is_store)
            && arguments.get(0).or_else(|| arguments.keyword("filter")).is_some_and(of_all);
        let unbounded = unbounded || many;
        let replaces =
            name == "to_sql" && arguments.keyword("if_exists").is_some_and(|how| how.as_str() == Some("replace"));
        let deletes = root.is_some_and(|root| {
            matches!(root, "requests" | "httpx" | "aiohttp" | "urllib3" | "requests_oauthlib")
                && (matches!(name, "delete" | "patch" | "put")
                    || matches!(name, "request" | "stream")
                        && arguments.get(0).or_else(|| arguments.keyword("method")).and_then(Val::as_str).is_some_and(
                            |m| ["delete", "patch", "put"].iter().any(|known| m.eq_ignore_ascii_case(known)),
                        ))
        });
        let by_proxy = root == Some("xmlrpc")
            && !matches!(name, "ServerProxy" | "dumps" | "loads" | "client" | "MultiCall" | "Fault" | "listMethods");
        if acts
            || decrypts
            || of_client
            || of_store
            || any_client
            || empties
            || unbounded
            || replaces
            || deletes
            || by_proxy
        {
            self.ask_effect(
                at,
                "code-remote",
                format!("`{name}` may destroy, stop or change something that others use"),
            );
        }
    }

    /// Whether a call of a client acts, or gives something secret.
    fn acts_for_somebody(path: &str, name: &str, arguments: &Arguments) -> bool {
        let root = path.split(['.', '(']).next().unwrap_or(path);
        let is_class = name.starts_with(|c: char| c.is_ascii_uppercase());
        let name = verbs::snake(name);
        if effects::is_service(path) {
            // Functions of the package itself make clients and say who asks.
            let made = path.contains('(') || root != path;
            return made && !is_class && (verbs::acts(&name) || verbs::tells_secret(&name))
                || verbs::tells_secret(&name);
        }
        let of_package = !is_class && !crate::code::known::is_of_library(root) && crate::code::known::is_known(root);
        if effects::is_store(root) {
            return verbs::commands(&name) || name == "eval";
        }
        let told = || arguments.all().next().is_some() && verbs::puts_away(&name);
        of_package
            && (verbs::starts_program(&name) || !effects::is_otherwise(root) && (verbs::plainly_acts(&name) || told()))
    }

    /// A command of a database that stops it, or drops something.
    fn steers_server(arguments: &Arguments) -> bool {
        const COMMANDS: [&str; 8] = [
            "shutdown",
            "dropDatabase",
            "drop",
            "dropUser",
            "dropAllUsersFromDatabase",
            "eval",
            "createUser",
            "updateUser",
        ];
        let first = |value: &Val| match value {
            Val::Dict(items) => items.first().and_then(|(key, _)| key.as_str()).map(str::to_owned),
            other => other.as_str().map(str::to_owned),
        };
        let named = arguments.get(0).into_iter().flat_map(Val::each).filter_map(first);
        named.into_iter().any(|command| COMMANDS.contains(&command.as_str()))
    }

    /// A statement that is built by calls and picks no rows.
    fn is_unbounded_statement(arguments: &Arguments) -> bool {
        let whole = |value: &Val| {
            value.as_path().is_some_and(|path| {
                let built = path.starts_with("sqlalchemy.") || path.starts_with("sqlmodel.");
                built && (path.ends_with(".delete()") || path.ends_with(".update().values()"))
            })
        };
        arguments.all().flat_map(Val::each).any(whole)
    }
}

/// The name under which a package stands in the table of what acts for an account.
fn of_table(package: &str) -> &str {
    if matches!(package, "boto" | "boto3" | "botocore" | "aioboto3" | "aiobotocore") { "aws" } else { package }
}

//! What was read out of files and variables, and leaves this machine or is shown.

use ruff_python_ast::Expr;
use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::rules::effects;
use super::value::{Source, Val};
use crate::code::places::{self, Variable};

/// Modules whose functions make another form of what they are given.
const WRAPS: &[&str] =
    &["base64", "binascii", "bz2", "codecs", "gzip", "io", "json", "lzma", "pickle", "urllib", "zlib"];

impl Checker<'_> {
    /// What an object is given by one of its methods it holds from then on.
    pub(super) fn taint(&mut self, holder: &Expr, base: &Val, method: &str, arguments: &Arguments) {
        const FILLS: [&str; 15] = [
            "add",
            "add_field",
            "set",
            "set_cookie",
            "add_attachment",
            "append",
            "attach",
            "extend",
            "insert",
            "put",
            "set_content",
            "set_payload",
            "setdefault",
            "update",
            "write",
        ];
        let holder = match holder {
            Expr::Attribute(member) => &*member.value,
            other => other,
        };
        let Expr::Name(name) = holder else { return };
        let file =
            base.each().iter().any(|base| base.as_path().is_some_and(|path| path.starts_with("builtins.open()")));
        if !FILLS.contains(&method) || file {
            return;
        }
        let found = arguments.all().flat_map(Val::private).next().cloned();
        let grows = self.read
            && matches!(base, Val::Seq(_))
            && arguments.all().any(|value| value.each().contains(&Val::Unknown));
        if found.is_none() && grows {
            self.hold(&name.id, base.clone().or(Val::Many(Val::Unknown.into())));
        }
        if let Some(source) = found {
            self.hold(&name.id, base.clone().or(Val::Private(source)));
        }
    }

    /// What was read out of files and variables, and leaves this machine.
    pub(super) fn judge_sent(
        &mut self,
        base: Option<&Val>,
        root: Option<&str>,
        unknown: bool,
        name: &str,
        arguments: &Arguments,
        at: TextSize,
    ) {
        // An address that is made of it sends it to whoever is asked.
        let is_address = |value: &Val| matches!(value, Val::Partial(start, _) if start.contains("://"));
        let names_host = root == Some("http") && name.ends_with("Connection");
        let host = arguments.all().flat_map(Val::each).find_map(|value| match value {
            Val::Text(text) => places::host(text).map(str::to_owned),
            Val::Partial(start, _) => {
                places::host(start).filter(|_| start.matches('/').count() > 2 || start.contains('?')).map(str::to_owned)
            }
            _ => None,
        });
        let leaks = |value: &Val, host: Option<&str>| {
            value.private().into_iter().any(|source| match source {
                Source::Variable(name) | Source::Derived(name) => places::variable(name, host) == Variable::Foreign,
                _ => true,
            })
        };
        if arguments
            .all()
            .any(|value| (names_host || value.each().iter().any(is_address)) && leaks(value, host.as_deref()))
        {
            self.ask_effect(at, "code-send", "an address is made of what was read".to_owned());
            return;
        }
        let holds = base.is_some_and(|base| base.each().iter().any(|one| matches!(one, Val::Private(_))));
        let carries = holds && effects::fetches(name) && name != "get";
        let by_name = unknown
            && (effects::sends(name) || carries)
            && self.packages.iter().any(|package| effects::is_network(package));
        // What makes a client is told who it is.
        let makes = name.starts_with(|c: char| c.is_ascii_uppercase())
            || [
                "client",
                "resource",
                "connect",
                "from_",
                "login",
                "init",
                "configure",
                "create_",
                "set_",
                "basic_auth",
                "Session",
                "session",
                "quote",
                "urlencode",
                "urlparse",
                "urljoin",
                "parse_",
                "unquote",
                "urlsplit",
                "starttls",
            ]
            .iter()
            .any(|start| name.starts_with(start));
        let stores =
            || root.is_some_and(effects::is_store) && self.source.split(['"', '\'']).any(places::is_foreign_store);
        let network = root.is_some_and(effects::is_network) || stores();
        if !by_name && (!network || makes) {
            return;
        }
        if network && effects::uploads(name) && !matches!(name, "put" | "sync") {
            self.ask_effect(at, "code-send", format!("`{name}` sends a file away"));
            return;
        }
        // An address that whoever asks may choose.
        let anywhere = host.is_none() && matches!(arguments.get(0), Some(Val::Unknown)) && (fetches_or_asks(name));
        let heads = |value: &Val| {
            value.private().into_iter().any(|source| match source {
                Source::Variable(name) | Source::Derived(name) => {
                    anywhere && places::variable(name, None) != Variable::Plain
                        || host.is_some() && places::variable(name, host.as_deref()) == Variable::Foreign
                }
                Source::Part => false,
                Source::File | Source::Environment => true,
            })
        };
        let fetches = effects::fetches(name);
        // What stands behind an address may be read out of a file; a request that was made before may carry one.
        let is_request =
            |value: &Val| value.each().iter().any(|one| one.as_path().is_some_and(|path| path.contains("Request")));
        let body = arguments
            .positional
            .iter()
            .enumerate()
            .any(|(at, value)| !(at == 0 && fetches && !is_request(value)) && leaks(value, host.as_deref()))
            || arguments
                .keywords
                .iter()
                .any(|(key, value)| if effects::is_head(key) { heads(value) } else { leaks(value, host.as_deref()) });
        // What a session or a message was given before.
        // A program that reads what is private sends only what is known to be nothing of it.
        let unseen = self.read
            && (arguments.positional.iter().enumerate().any(|(at, value)| {
                !(at == 0 && (fetches || effects::asks(name)) && !is_request(value)) && is_unseen(value, 0)
            }) || arguments
                .keywords
                .iter()
                .any(|(key, value)| !effects::is_head(key) && key != "url" && is_unseen(value, 0)));
        let before =
            base.is_some_and(|base| base.each().iter().any(|one| matches!(one, Val::Private(_))) && heads(base));
        if body || before || unseen {
            self.ask_effect(at, "code-send", format!("`{name}` sends away what was read"));
        }
    }

    /// What a client was given before goes with every request.
    pub(super) fn judge_session(&mut self, base: &Val, name: &str, arguments: &Arguments, at: TextSize) {
        let root = |one: &Val| one.as_path().and_then(|path| path.split(['.', '(']).next().map(str::to_owned));
        if !self.judging || base.private().is_empty() {
            return;
        }
        let client = base.each().iter().filter_map(root).find(|root| effects::is_network(root));
        let is_address = |value: &Val| matches!(value, Val::Text(text) | Val::Partial(text, _) if text.contains("://"));
        let kept =
            base.private().iter().any(|source| matches!(source, Source::File | Source::Part | Source::Environment));
        if client.is_none() && kept && arguments.get(0).is_some_and(|first| first.each().iter().any(is_address)) {
            self.ask_effect(at, "code-send", format!("`{name}` sends away what was read"));
        }
        if let Some(client) = client {
            self.judge_sent(Some(base), Some(&client), false, name, arguments, at);
        }
    }

    /// Notes that something was read that is nobody else's business.
    pub(super) fn note_read(&mut self, value: &Val) {
        self.read = self.read
            || value.private().iter().any(|source| matches!(source, Source::File | Source::Part | Source::Environment));
    }

    /// The whole environment is handed on.
    pub(super) fn judge_environment(&mut self, callee: &Val, arguments: &Arguments, at: TextSize) {
        if !self.judging {
            return;
        }
        let keeps = |callee: &Val| {
            callee.as_path().is_some_and(|path| {
                path.starts_with("subprocess.")
                    || path.starts_with("unittest.mock")
                    || path.starts_with("typing.")
                    || path.strip_prefix("builtins.").is_some_and(|name| {
                        matches!(
                            name,
                            "len"
                                | "isinstance"
                                | "bool"
                                | "type"
                                | "dict"
                                | "list"
                                | "sorted"
                                | "set"
                                | "str.startswith"
                                | "zip"
                                | "enumerate"
                                | "hasattr"
                                | "getattr"
                                | "id"
                                | "repr"
                        )
                    })
            })
        };
        if callee.each().iter().all(keeps) {
            return;
        }
        let shows = callee.each().iter().any(|callee| callee.as_path().is_some_and(effects::shows));
        let secret = |value: &Val| {
            value.private().into_iter().any(|source| match source {
                Source::Variable(name) => places::variable(name, None) != Variable::Plain,
                _ => false,
            })
        };
        if shows && arguments.all().any(secret) {
            self.ask_effect(at, "code-reach", "a secret is shown".to_owned());
        }
        if arguments.all().any(|value| value.private().contains(&&Source::Environment)) {
            self.ask_effect(at, "code-reach", "the whole environment is handed on".to_owned());
        }
    }

    /// What a call answers that was given something private.
    pub(super) fn keep_private(&self, base: Option<&Val>, callee: &Val, arguments: &Arguments, result: Val) -> Val {
        let known = |value: &Val| matches!(value, Val::Plain | Val::Int(_) | Val::Func(_) | Val::Class(_));
        if result.each().iter().all(known) || callee.each().iter().any(|callee| matches!(callee, Val::Func(_))) {
            return result;
        }
        // A variable that is asked for by its name is not all of them.
        let named = |callee: &Val| {
            callee
                .as_path()
                .is_some_and(|path| matches!(path, "os.environ.get" | "os.environ.pop" | "os.environ.setdefault"))
        };
        if callee.each().iter().any(named) {
            return result;
        }
        let found = base.into_iter().chain(arguments.all()).flat_map(Val::private).next().cloned();
        // What a request with a key answered is not the key.
        let same = callee.each().iter().any(|callee| {
            callee.as_path().is_some_and(|path| {
                path.starts_with("builtins.") || path.starts_with("base64.") || path == "json.dumps"
            })
        });
        let found = match found {
            Some(Source::Variable(name)) if !same => Some(Source::Derived(name)),
            found => found,
        };
        // A text that is made of what nobody can see is no better known than that.
        let wraps = |callee: &Val| {
            callee.as_path().is_some_and(|path| WRAPS.contains(&path.split(['.', '(']).next().unwrap_or_default()))
        };
        let unseen = callee.each().iter().any(wraps) && arguments.all().any(|value| is_unseen(value, 0));
        match found {
            Some(source) if result.private().is_empty() => result.or(Val::Private(source)),
            _ if unseen && !result.each().contains(&Val::Unknown) => result.or(Val::Unknown),
            _ => result,
        }
    }
}

/// Whether a value may hold anything, also what was read.
fn is_unseen(value: &Val, depth: usize) -> bool {
    depth > 4
        || value.each().iter().any(|value| match value {
            Val::Unknown
            | Val::Opaque
            | Val::Object(_)
            | Val::Private(Source::File | Source::Part | Source::Environment) => true,
            Val::Many(inner) => is_unseen(inner, depth + 1),
            Val::Seq(all) => all.iter().any(|value| is_unseen(value, depth + 1)),
            Val::Dict(items) => items.iter().any(|(_, value)| is_unseen(value, depth + 1)),
            _ => false,
        })
}

/// Whether the first thing that a request is given is its address.
fn fetches_or_asks(name: &str) -> bool {
    effects::fetches(name) || effects::asks(name)
}

//! What was read out of files, variables and pages, and leaves this machine.

use oxc_ast::ast::{AssignmentExpression, Expression, ObjectPropertyKind, TemplateLiteral};

use super::content::{self, Piece};
use super::effects::Call;
use super::options::Found;
use super::rules::effects;
use super::scope::{Source, Thing, Things};
use super::{Pass, Reader, fold};
use crate::code::places::{self, Variable};
use crate::code::verbs;

impl Reader<'_> {
    pub(super) fn sending_call(&mut self, call: &Call<'_, '_>) {
        let name = verbs::snake(call.name).into_owned();
        let packages = || call.callee.paths().filter_map(effects::package);
        let elsewhere = || self.source.split(['"', '\'', '`']).any(places::is_foreign_store);
        let network = packages().any(effects::is_network)
            || call.callee.paths().any(effects::is_sender)
            || packages().any(effects::is_store) && elsewhere();
        let unknown = call.object.is_some() && call.callee.paths().next().is_none() && !self.own.contains(call.name);
        let imports = || self.packages.iter().any(|package| effects::is_network(package));
        let by_name = unknown && effects::sends(&name) && imports();
        let goes = matches!(name.as_str(), "goto" | "navigate") && call.object.is_some();
        let pipes = matches!(name.as_str(), "pipe" | "pipe_to" | "pipeline");
        if pipes && self.pipes_out(call) {
            return self.ask(call.span, "code-send", format!("`{}` sends away what was read", call.name));
        }
        if !network && !by_name && !goes {
            return;
        }
        let addresses: Vec<String> = call.given.iter().flat_map(addresses).collect();
        if addresses.iter().any(|address| places::steers(&as_http(address)) || places::is_metadata(address)) {
            self.ask(call.span, "code-reach", "a service that steers a machine, or gives credentials away".to_owned());
        }
        let host = addresses.iter().find_map(|address| places::host(address)).map(str::to_owned);
        let host = host.as_deref().filter(|host| !host.is_empty());
        // What a socket is told goes to whoever it was opened to.
        let of_socket =
            call.callee.paths().any(|path| path.starts_with("WebSocket()") || path.starts_with("node:ws()"));
        let host = host.or_else(|| of_socket.then_some("elsewhere"));
        // An address that a request brings is asked with a secret of the program.
        let chosen = call.given.first().is_some_and(|first| first.private().any(|source| *source == Source::Request));
        let secret = || {
            self.held_texts(call.given).iter().any(|given| {
                given.private().any(|source| matches!(source, Source::Variable(name) if places::variable(name, None) != Variable::Plain))
            })
        };
        if chosen && addresses.is_empty() && secret() {
            self.ask(call.span, "code-send", "a secret is sent to an address that a request brings".to_owned());
        }
        let makes =
            effects::makes(&name) || call.object.is_some() && name.starts_with(|c: char| c.is_ascii_uppercase());
        if network && (effects::uploads(&name) || self.attaches(call)) {
            return self.ask(call.span, "code-send", format!("`{}` sends a file away", call.name));
        }
        let dns = packages().any(|package| package.starts_with("dns"));
        let sent = call.given.iter().enumerate().any(|(at, given)| {
            if named_by(given) {
                return true;
            }
            let address = !addresses_of(given).is_empty();
            if dns {
                return given.private().any(is_secret);
            }
            if address {
                return leaks(given, host);
            }
            // What stands where an address is expected may be read out of a file.
            at > 0 && !makes && self.argument_leaks(call, at, given, host)
                || at == 0 && !makes && !asks_for(call) && self.argument_leaks(call, at, given, host)
        });
        if sent {
            self.ask(call.span, "code-send", format!("`{}` sends away what was read", call.name));
        }
    }

    /// An address that is made of what was read gives it away wherever it is shown.
    pub(super) fn address_of_private(&mut self, it: &TemplateLiteral<'_>) {
        if self.pass != Pass::Judge || self.tagged {
            return;
        }
        let begins = it.quasis.first().and_then(|text| text.value.cooked.as_ref()).map_or("", |text| text.as_str());
        let is_near = || {
            places::host(begins)
                .is_some_and(|host| host.is_empty() || host.starts_with("localhost") || host.starts_with("127."))
        };
        let kept = |part: &Expression<'_>| {
            self.things(part)
                .private()
                .any(|source| matches!(source, Source::File | Source::Part | Source::Environment))
        };
        // What is typed into a field for passwords may be in any name.
        let typed = || self.source.contains("type=\"password\"") && !it.expressions.is_empty();
        if begins.contains("://") && !is_near() && (it.expressions.iter().any(kept) || typed()) {
            self.ask(it.span, "code-send", "an address is made of what was read".to_owned());
        }
    }

    /// A secret is shown where others read it.
    pub(super) fn shows_secret(&mut self, call: &Call<'_, '_>) {
        // What an answer says everybody reads who asks.
        let answers = matches!(call.name, "json" | "send" | "end" | "jsonp")
            && call.object.is_some_and(|object| object.paths().next().is_none());
        let shows = |path: &str| {
            path.starts_with("console.") || matches!(path, "process.stdout.write" | "process.stderr.write")
        };
        if !answers && !call.callee.paths().any(shows) {
            return;
        }
        let told = |given: &Things| given.paths().any(|path| path.starts_with("node:dotenv") && path.contains('('));
        let bare =
            (0..call.arguments.len()).filter_map(|at| call.argument(at)).any(|shown| self.is_secret_value(shown, 0));
        if bare || call.given.iter().any(told) {
            self.ask(call.span, "code-reach", "a secret is shown".to_owned());
        }
    }

    /// Whether an expression is a secret variable, or a text with one in it. What a request with a key answered is neither.
    fn is_secret_value(&self, shown: &Expression<'_>, depth: usize) -> bool {
        if depth > 16 {
            return false;
        }
        match fold::bare(shown) {
            Expression::TemplateLiteral(text) => {
                text.expressions.iter().any(|part| self.is_secret_value(part, depth + 1))
            }
            Expression::BinaryExpression(sum) => {
                self.is_secret_value(&sum.left, depth + 1) || self.is_secret_value(&sum.right, depth + 1)
            }
            Expression::StaticMemberExpression(member)
                if matches!(
                    member.property.name.as_str(),
                    "authorization"
                        | "password"
                        | "passwd"
                        | "secret"
                        | "apiKey"
                        | "accessToken"
                        | "refreshToken"
                        | "privateKey"
                ) && self.things(&member.object).known.iter().all(|thing| matches!(thing, Thing::Private(_))) =>
            {
                true
            }
            Expression::ObjectExpression(object) => object.properties.iter().any(|property| match property {
                ObjectPropertyKind::ObjectProperty(property) => self.is_secret_value(&property.value, depth + 1),
                ObjectPropertyKind::SpreadProperty(_) => false,
            }),
            Expression::LogicalExpression(either) => {
                self.is_secret_value(&either.left, depth + 1) || self.is_secret_value(&either.right, depth + 1)
            }
            other => self.things(other).paths().any(|path| {
                let name = ["process.env.", "Deno.env.", "Bun.env.", "import.meta.env."]
                    .iter()
                    .find_map(|env| path.strip_prefix(env));
                name.is_some_and(|name| !name.contains(['.', '(']) && places::variable(name, None) != Variable::Plain)
            }),
        }
    }

    /// Whether a file goes with a message that nobody made for it.
    fn attaches(&self, call: &Call<'_, '_>) -> bool {
        let list = match call.option("attachments") {
            Found::Value(list) => self.things(list),
            Found::Unknown | Found::None => return false,
        };
        let held = self.held_texts(&[list]);
        let objects = held.iter().flat_map(|things| &things.known).filter_map(|thing| match thing {
            Thing::Object(start) => Some(*start),
            _ => None,
        });
        objects.filter_map(|start| self.field(start, "path")).any(|path| self.names_kept(&path))
    }

    fn argument_leaks(&self, call: &Call<'_, '_>, at: usize, given: &Things, host: Option<&str>) -> bool {
        let Some(Expression::ObjectExpression(object)) = call.argument(at) else { return leaks(given, host) };
        object.properties.iter().any(|property| match property {
            ObjectPropertyKind::SpreadProperty(spread) => leaks(&self.things(&spread.argument), host),
            ObjectPropertyKind::ObjectProperty(property) => {
                let value = self.things(&property.value);
                let head = property.key.static_name().is_some_and(|key| effects::is_head(&key));
                if head { heads(&value, host) } else { leaks(&value, host) }
            }
        })
    }

    /// A stream of a file that flows into a request.
    fn pipes_out(&self, call: &Call<'_, '_>) -> bool {
        let private = |things: &Things| things.private().any(|source| matches!(source, Source::File | Source::Part));
        let outside = |things: &Things| {
            things.paths().any(|path| {
                effects::is_sender(path)
                    || effects::package(path).is_some_and(effects::is_network) && path.ends_with(')')
            })
        };
        (call.object.is_some_and(private) || call.given.iter().any(private)) && call.given.iter().any(outside)
    }

    /// An element of a page or the page itself is led to an address.
    pub(super) fn leads_page(&mut self, it: &AssignmentExpression<'_>, object: &Things, name: Option<&str>) {
        let of_page = object.paths().any(|path| {
            path.starts_with("document.")
                || path.starts_with("location")
                || path.starts_with("Image()")
                || path.starts_with("window.location")
        });
        let target =
            matches!(name, Some("src" | "href" | "action" | "formAction" | "location" | "innerHTML" | "outerHTML"));
        if !target {
            return;
        }
        let value = self.things(&it.right);
        let away = addresses_of(&value);
        if away.is_empty() {
            return;
        }
        let host = away.iter().find_map(|address| places::host(address)).map(str::to_owned);
        let form = matches!(name, Some("action" | "formAction"));
        if leaks(&value, host.as_deref()) || of_page && form {
            self.ask(it.span, "code-send", "what a page says or is told is sent elsewhere".to_owned());
        }
    }

    /// A client is told to send something with every request.
    pub(super) fn sets_client(&mut self, it: &AssignmentExpression<'_>, object: &Things, name: Option<&str>) {
        let of_client = object.paths().filter_map(effects::package).any(effects::is_network);
        if of_client && !name.is_some_and(effects::is_head) && leaks(&self.things(&it.right), None) {
            self.ask(it.span, "code-send", "a client is told to send what was read".to_owned());
        }
    }

    /// Keeps in mind what a name is given by way of a method or a member.
    pub(super) fn learn_given(&mut self, holder: &Expression<'_>, given: &Things) {
        let mut at = fold::bare(holder);
        while let Some(member) = at.as_member_expression() {
            at = fold::bare(member.object());
        }
        let Expression::Identifier(name) = at else { return };
        let mut private = Things::default();
        private.add_private(given);
        if !private.known.is_empty() {
            self.learn(name.name.as_str(), private);
        }
    }
}

/// Whether the first argument of a call is what it asks for.
fn asks_for(call: &Call<'_, '_>) -> bool {
    let bare = call.object.is_none();
    let by_name = matches!(
        call.name,
        "get"
            | "head"
            | "options"
            | "post"
            | "put"
            | "patch"
            | "delete"
            | "request"
            | "fetch"
            | "goto"
            | "stream"
            | "open"
            | "GET"
            | "navigate"
    );
    let object = matches!(call.argument(0), Some(Expression::ObjectExpression(_)));
    (by_name || bare) && !object
}

/// Whether something private is in a value that goes to a host.
fn leaks(value: &Things, host: Option<&str>) -> bool {
    value.private().any(|source| match source {
        Source::Variable(name) => places::variable(name, host) == Variable::Foreign,
        // To the host that the page comes from it goes anyway.
        Source::Page => host.is_some(),
        Source::Request => false,
        Source::File | Source::Part | Source::Environment => true,
    })
}

/// Whether something is secret, whoever it goes to.
fn is_secret(source: &Source) -> bool {
    match source {
        Source::Variable(name) => places::variable(name, None) != Variable::Plain,
        Source::Request => false,
        _ => true,
    }
}

/// The same of what says who asks.
fn heads(value: &Things, host: Option<&str>) -> bool {
    value.private().any(|source| match source {
        Source::Variable(name) => host.is_some() && places::variable(name, host) == Variable::Foreign,
        Source::Part | Source::Page | Source::Request => false,
        Source::File | Source::Environment => true,
    })
}

/// Whether the host of an address is made of something secret.
fn named_by(value: &Things) -> bool {
    let open = |piece: &Piece| matches!(piece, Piece::Ends(start, end) if start.ends_with("://") && end.contains('.'));
    content::pieces(value).iter().any(open)
        && value.private().any(|source| match source {
            Source::Variable(name) => places::variable(name, None) != Variable::Plain,
            Source::Request => false,
            _ => true,
        })
}

fn addresses_of(value: &Things) -> Vec<String> {
    addresses(value).collect()
}

/// Addresses that a value begins with, as far as their host is known.
fn addresses(value: &Things) -> impl Iterator<Item = String> {
    content::pieces(value).into_iter().filter_map(|piece| match piece {
        Piece::Whole(text) if text.contains("://") && !text.contains('\n') => Some(text),
        Piece::Ends(start, _) if start.contains("://") => Some(start),
        _ => None,
    })
}

/// The address of a socket as that of a page.
fn as_http(address: &str) -> String {
    address.replacen("ws://", "http://", 1).replacen("wss://", "https://", 1)
}

//! What a program connects to: for limits of hosts.

use oxc_ast::ast::{AssignmentExpression, Expression, ObjectExpression, ObjectPropertyKind};

use super::calls::listed;
use super::content::{self, Piece};
use super::effects::Call;
use super::rules::effects;
use super::scope::{Thing, Things};
use super::{Pass, Reader, fold};
use crate::code::reached::{self, Reached};

/// What takes an address of a page or a service, by its qualified name.
const ADDRESSED: &str = "fetch Request WebSocket EventSource XMLHttpRequest().open navigator.sendBeacon importScripts Worker SharedWorker \
     WebTransport Audio window.open open location.assign location.replace window.location.assign window.location.replace \
     document.location.assign document.location.replace navigator.serviceWorker.register URL.fetch Deno.connect Deno.connectTls \
     Bun.connect Bun.fetch self.fetch globalThis.fetch window.fetch Deno.resolveDns CSSStyleSheet().replace RTCPeerConnection";
/// Modules whose functions take a host, by their names.
const CONNECTING: &str = "connect createConnection createClient createPool createPoolCluster resolve resolve4 resolve6 resolveAny resolveMx \
     resolveTxt resolveNs resolveCname resolveSrv resolvePtr resolveSoa reverse lookup lookupService send createTransport get request \
     createSocket setServers connectAsync io sync createChannel reconnect";
/// Packages whose first argument is an address of a page.
const OF_PAGES: &str = "axios node-fetch node-fetch-native cross-fetch isomorphic-fetch undici got ky superagent wretch ofetch graphql-request \
     eventsource http https rss-parser";
const REQUESTS: &str = "get post put patch delete head options request fetch stream all postForm putForm patchForm create extend url \
     parseURL pipeline connect upgrade del";
/// Packages that connect to the host that their objects are made with.
const OF_HOSTS: &str = "net tls dgram dns dns/promises http2 ws isomorphic-ws socket.io-client nodemailer ioredis redis pg mysql mysql2 \
     mysql2/promise mongodb mongoose knex sequelize typeorm mqtt amqplib nats kafkajs basic-ftp ssh2 ftp node-ssh cassandra-driver \
     neo4j-driver @elastic/elasticsearch @opensearch-project/opensearch meilisearch typesense @supabase/supabase-js @libsql/client \
     @neondatabase/serverless @prisma/client minio imap imapflow";
/// Packages beside those known for the network that connect to hosts of their own.
const OWN: &str = "openai @anthropic-ai/sdk stripe langchain @langchain/core ethers viem web3 @faker-js/none next/font/google pusher ably";
/// What makes objects that requests are made with.
const CLIENTS: &str = "create extend Agent Socket Client Pool Connection createConnection createClient createPool createSocket connect \
     XMLHttpRequest WebSocket Resolver default instance defaults CSSStyleSheet";
/// Members that lead an element or a page to an address, on whatever object; and those of windows and documents alone.
const LEADING: &str = "src href srcset ping formAction";
const OF_WINDOWS: &str = "location action data poster background cssText";

impl Reader<'_> {
    /// What a call connects to.
    pub(super) fn dials(&mut self, call: &Call<'_, '_>) {
        if self.pass != Pass::Judge {
            return;
        }
        let paths: Vec<String> = call.callee.paths().map(str::to_owned).collect();
        for path in &paths {
            self.path_dials(path, call);
        }
        let attribute = call.name == "setAttribute" || call.name == "setAttributeNS";
        if attribute
            && call.given.iter().filter_map(Things::text).any(|name| listed(LEADING, name) || listed(OF_WINDOWS, name))
        {
            self.leads(call.given.last(), call.arguments.len() - 1, call);
        }
        let shows = matches!(
            call.name,
            "write" | "writeln" | "insertAdjacentHTML" | "createContextualFragment" | "parseFromString"
        );
        if shows && call.object.is_some() {
            call.given.iter().for_each(|given| self.markup_dials(given));
        }
        let imports = || self.packages.iter().any(|package| effects::is_network(package));
        let unknown = paths.is_empty() && call.object.is_some() && !self.own.contains(call.name);
        let surely = listed("goto ajax getJSON getScript sendBeacon", call.name);
        if unknown && (surely || listed("fetch post put patch request connect", call.name) && imports()) {
            if let Some(Expression::ObjectExpression(object)) = call.argument(0) {
                self.object_dials(object, call.name);
            }
            self.leads(call.given.first(), 0, call);
        }
        for path in call.given.iter().flat_map(Things::paths).map(str::to_owned).collect::<Vec<_>>() {
            let last = path.rsplit(['.', ':']).next().unwrap_or_default();
            let is_function =
                !path.ends_with(')') && (listed(ADDRESSED, &path) || of_package(&path) && listed(REQUESTS, last));
            if is_function && last.starts_with(|c: char| c.is_ascii_lowercase()) {
                self.reaches.unseen(&path);
            }
        }
    }

    fn path_dials(&mut self, path: &str, call: &Call<'_, '_>) {
        if listed(ADDRESSED, path) {
            let at = usize::from(path == "XMLHttpRequest().open");
            return self.argument_dials(call, at, path, path.starts_with("Deno.") || path.starts_with("RTC"));
        }
        if let Some(front) = [".call", ".apply", ".bind"].iter().find_map(|end| path.strip_suffix(end)) {
            let last = front.rsplit('.').next().unwrap_or_default();
            if listed(ADDRESSED, front) || of_package(front) && listed(REQUESTS, last) {
                self.reaches.unseen(front);
            }
            return;
        }
        let of_library = path
            .strip_prefix("$.")
            .or_else(|| path.strip_prefix("jQuery."))
            .is_some_and(|name| listed("get post ajax getJSON getScript load", name));
        if of_library {
            return self.argument_dials(call, 0, path, false);
        }
        if path.starts_with("node:child_process") && !path.contains('(') {
            return self.starts(call);
        }
        let Some(package) = path.strip_prefix("node:").map(|_| effects::package(path).unwrap_or_default()) else {
            return;
        };
        let steps: Vec<&str> = path.split('.').collect();
        let answers = |step: &&str| {
            step.ends_with("()") && !listed(CLIENTS, step.trim_start_matches("node:").trim_end_matches("()"))
        };
        let of_answer = steps.iter().take(steps.len().saturating_sub(1)).any(|step| {
            answers(step) && !step.starts_with(|c: char| c.is_ascii_uppercase()) && !step.starts_with("node:")
        });
        let makes = call.name.starts_with(|c: char| c.is_ascii_uppercase());
        let bare = path.strip_prefix("node:") == Some(package);
        if listed(OF_HOSTS, package) && !of_answer {
            if makes || bare || listed(CONNECTING, call.name) {
                let at = usize::from(call.name == "send") * 2;
                for at in at..call.arguments.len().min(at + 3) {
                    self.argument_dials(call, at, path, true);
                }
            }
        } else if listed(OF_PAGES, package) && !of_answer {
            if bare || makes && call.name != "Agent" || listed(REQUESTS, call.name) {
                self.argument_dials(call, 0, path, false);
                if call.arguments.len() > 1 {
                    self.options_dial(call, 1, path);
                }
            }
        } else if (effects::is_network(package) || effects::is_client(package) || listed(OWN, package))
            && !path.contains('(')
        {
            let told = call.objects().any(|object| {
                object.properties.iter().any(|property| match property {
                    ObjectPropertyKind::ObjectProperty(one) => {
                        one.key.static_name().is_some_and(|key| reached::is_address(&key))
                    }
                    ObjectPropertyKind::SpreadProperty(_) => false,
                })
            });
            if !told {
                return self.reaches.unseen(path);
            }
            (0..call.arguments.len()).for_each(|at| self.options_dial(call, at, path));
        }
    }

    /// One argument that may be an address, or hold one.
    fn argument_dials(&mut self, call: &Call<'_, '_>, at: usize, what: &str, is_host: bool) {
        let Some(expression) = call.argument(at) else {
            if call.arguments.get(at).is_some() {
                self.reaches.unseen(what);
            }
            return;
        };
        match expression {
            Expression::ObjectExpression(object) => self.object_dials(object, what),
            Expression::NumericLiteral(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_) => {}
            _ => {
                let Some(given) = call.given.get(at).cloned() else { return };
                let written = self.written_dials(&given, what);
                let of_function = given.functions().next().is_some();
                // Behind the first of a host's arguments stand names, ports and what is called later.
                let optional = is_host && at > 0 && given.known.is_empty();
                if !written && !of_function && !optional {
                    self.texts_dial(&given, what, is_host);
                }
            }
        }
    }

    fn options_dial(&mut self, call: &Call<'_, '_>, at: usize, what: &str) {
        match call.argument(at) {
            Some(Expression::ObjectExpression(object)) => self.object_dials(object, what),
            Some(_) => {
                if let Some(given) = call.given.get(at).cloned() {
                    self.written_dials(&given, what);
                }
            }
            None => {}
        }
    }

    fn object_dials(&mut self, object: &ObjectExpression<'_>, what: &str) {
        for property in &object.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let spread = self.things(&spread.argument);
                    if !self.written_dials(&spread, what) {
                        self.reaches.unseen(what);
                    }
                }
                ObjectPropertyKind::ObjectProperty(property) => match property.key.static_name() {
                    Some(key) if reached::is_address(&key) || key == "path" && what.contains("http") => {
                        match fold::bare(&property.value) {
                            Expression::ObjectExpression(inner) => self.object_dials(inner, what),
                            value => {
                                let value = self.things(value);
                                let is_page =
                                    matches!(&*key, "url" | "uri" | "baseURL" | "baseUrl" | "path" | "prefixUrl");
                                if !self.written_dials(&value, what) && !(key == "path" && value.known.is_empty()) {
                                    self.texts_dial(&value, what, !is_page);
                                }
                            }
                        }
                    }
                    Some(_) => {}
                    None => self.reaches.unseen(what),
                },
            }
        }
    }

    /// The addresses in objects and lists that are written down elsewhere; whether the value is one.
    fn written_dials(&mut self, value: &Things, what: &str) -> bool {
        let starts = value.known.iter().filter_map(|thing| match thing {
            Thing::Object(start) => Some(*start),
            _ => None,
        });
        let mut is_written = false;
        for start in starts.collect::<Vec<_>>() {
            is_written = true;
            let fields = self.objects.get(&start).cloned().unwrap_or_default();
            for (key, value) in
                fields.iter().filter(|(key, _)| reached::is_address(key) || key.parse::<usize>().is_ok())
            {
                self.texts_dial(value, what, !matches!(&**key, "url" | "baseURL" | "baseUrl"));
            }
        }
        is_written
    }

    fn texts_dial(&mut self, value: &Things, what: &str, is_host: bool) {
        let judged = |path: &str| {
            let of_program = ["URL.createObjectURL()", "Blob()"].contains(&path) && !what.contains("orker");
            path == "Request()" || of_program || path.ends_with(".toDataURL()")
        };
        let near = |path: &str| {
            path.starts_with("location")
                || path.starts_with("document.location")
                || path.starts_with("window.location")
                || path.starts_with("document.URL")
                || path.starts_with("document.base")
        };
        if value.paths().any(|path| judged(path) || near(path)) && value.known.len() == 1 {
            return;
        }
        for piece in content::pieces(value) {
            match piece {
                Piece::Whole(text) if is_host => self.reaches.host(&text, None),
                Piece::Whole(text) => self.reaches.url(&text),
                Piece::Ends(start, _) => self.reaches.beginning(&start, what),
                Piece::Listed(_) | Piece::Opaque | Piece::Hole => self.reaches.unseen(what),
            }
        }
        let is_text = value.known.iter().any(|thing| matches!(thing, Thing::Text(_)));
        // What it may be besides is no text that is known.
        let other = value.known.len() > 1 && value.paths().any(|path| !judged(path) && !near(path));
        if value.open && is_text || other {
            self.reaches.unseen(what);
        }
    }

    /// Markup that the page shows, as far as it is known.
    fn markup_dials(&mut self, value: &Things) {
        for piece in content::pieces(value) {
            match piece {
                Piece::Whole(text) => self.reaches.add(Reached::Markup(text)),
                Piece::Ends(start, end) => {
                    self.reaches.add(Reached::Markup(start));
                    self.reaches.add(Reached::Markup(end));
                }
                Piece::Opaque => self.reaches.unseen("markup"),
                Piece::Listed(_) | Piece::Hole => {}
            }
        }
    }

    fn leads(&mut self, value: Option<&Things>, at: usize, call: &Call<'_, '_>) {
        let plain = matches!(call.argument(at), Some(Expression::ObjectExpression(_) | Expression::NumericLiteral(_)));
        if let Some(value) = value.filter(|_| !plain).cloned() {
            self.texts_dial(&value, call.name, false);
        }
    }

    /// An element or a page is led to an address.
    pub(super) fn assignment_dials(&mut self, it: &AssignmentExpression<'_>, object: &Things, name: Option<&str>) {
        let Some(name) = name else { return };
        let of_window =
            object.paths().any(|path| matches!(path, "window" | "document" | "globalThis" | "self" | "top" | "parent"));
        let of_page = of_window || object.paths().any(|path| path.starts_with("document."));
        let leads = listed(LEADING, name)
            || listed(OF_WINDOWS, name) && (of_page || object.paths().next().is_none() && name == "location");
        if leads && !matches!(fold::bare(&it.right), Expression::ObjectExpression(_) | Expression::NumericLiteral(_)) {
            let value = self.things(&it.right);
            self.texts_dial(&value, name, false);
        }
        if matches!(name, "innerHTML" | "outerHTML" | "srcdoc") {
            let value = self.things(&it.right);
            self.markup_dials(&value);
        }
        let of_client = object.paths().any(of_package);
        if of_client && reached::is_address(name) {
            let value = self.things(&it.right);
            self.texts_dial(&value, name, true);
        }
    }

    /// The program that is started.
    fn starts(&mut self, call: &Call<'_, '_>) {
        let text = |at: usize| call.given.get(at).and_then(Things::text).map(str::to_owned);
        let Some(program) = text(0) else { return self.reaches.unseen("a program that is started") };
        let words = match call.argument(1) {
            Some(Expression::ArrayExpression(list)) => {
                let words: Option<Vec<String>> =
                    list.elements.iter().map(|element| self.text(element.as_expression()?)).collect();
                words
            }
            Some(Expression::Identifier(_)) => None,
            _ => Some(Vec::new()),
        };
        match words {
            Some(words) if words.is_empty() => self.reaches.add(Reached::Command(program)),
            Some(mut words) => {
                words.insert(0, program);
                self.reaches.add(Reached::Command(crate::arguments::command_line(&words)));
            }
            None => self.reaches.unseen("a program that is started"),
        }
    }
}

/// Whether a qualified name is of a package that connects.
fn of_package(path: &str) -> bool {
    path.starts_with("node:")
        && effects::package(path).is_some_and(|package| {
            effects::is_network(package) || listed(OF_HOSTS, package) || listed(OF_PAGES, package)
        })
}

//! One `[[servers]]` block: its keys, and from them the endpoint with every reference expanded.

use std::collections::BTreeMap;
use std::time::Duration;

use toml_edit::TableLike;
use url::{Host, Url};

use super::Span;
use crate::entry::{Era, MgpEntry, Restart, ServerEntry, Sharing, Transport};
use crate::error::{ConfigError, ErrorKind};
use crate::expand::{Environment, expand, is_variable_name, references};
use crate::flow;
use crate::ids;
use crate::nearest;
use crate::oauth;
use crate::pins::PinMode;
use crate::places::{beside, with_home};
use crate::policy;
use crate::secret::{Secret, names_secret};
use crate::server::{Endpoint, RemoteEndpoint, StdioEndpoint};
use crate::source::Source;
use crate::table::{Keys, Pairs};
use crate::{DefaultPolicy, RestartMode, TrustLevel};

const SERVER: &[&str] = &[
    "id",
    "alias",
    "description",
    "enabled",
    "transport",
    "command",
    "args",
    "cwd",
    "env",
    "pass_env",
    "url",
    "headers",
    "token",
    "oauth",
    "sharing",
    "era",
    "start_timeout_ms",
    "call_timeout_ms",
    "default_policy",
    "audit_sink",
    "pins",
    "only_tools",
    "tools",
    "prompts",
    "isolation",
    "stop_timeout_ms",
    "drain_timeout_ms",
    "health_every_ms",
    "sleep_after_ms",
    "rates",
    "breaker",
    "retry",
    "mgp",
];
const RESTART: &[&str] =
    &["policy", "restart_policy", "max_restarts", "restart_window_secs", "backoff_base_ms", "backoff_max_ms"];
const MGP: &[&str] = &[
    "extensions",
    "permissions_required",
    "permissions_granted",
    "trust_level",
    "restart_policy",
    "max_restarts",
    "restart_window_secs",
    "backoff_base_ms",
    "backoff_max_ms",
];
/// MGP 3.2.
const PERMISSIONS: &[&str] = &[
    "filesystem.read",
    "filesystem.write",
    "network.outbound",
    "network.listen",
    "shell.execute",
    "code_execution",
    "memory.read",
    "memory.write",
    "system.info",
    "camera",
    "notification",
];
/// Headers that the transport sets itself; a configured one would break it or pose as another session.
pub(crate) const TRANSPORT_HEADERS: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

type ParsedServer = (ServerEntry, Result<Endpoint, ConfigError>);

/// Reads a block. `Err` is for a block that has no usable id; other faults are the endpoint's.
pub(super) fn read(
    source: Source<'_>,
    table: &dyn TableLike,
    place: Span,
    environment: &Environment,
    warnings: &mut Vec<String>,
) -> Result<ParsedServer, ConfigError> {
    let anonymous = Keys { source, table, server: None, place: "", known: SERVER };
    let id = anonymous.text("id")?.ok_or_else(|| anonymous.error(place.clone(), ErrorKind::MissingId))?.value;
    if let Some(reason) = ids::refusal(id) {
        return Err(anonymous.error(place, ErrorKind::BadId { id: id.to_owned(), reason }));
    }
    let keys = Keys { server: Some(id), ..anonymous };
    let mut entry = ServerEntry { id: id.to_owned(), ..ServerEntry::default() };
    let endpoint = fill(&keys, &mut entry, environment, warnings, place);
    Ok((entry, endpoint))
}

fn fill(
    keys: &Keys<'_>,
    entry: &mut ServerEntry,
    environment: &Environment,
    warnings: &mut Vec<String>,
    place: Span,
) -> Result<Endpoint, ConfigError> {
    // What a person needs to recognise the entry comes first, so that a broken one still shows it.
    entry.enabled = keys.boolean("enabled")?;
    entry.command = keys.string("command")?;
    entry.args = keys.strings("args")?;
    entry.url = keys.string("url")?;
    entry.description = keys.string("description")?;
    keys.refuse_unknown()?;
    entry.alias = keys.string("alias")?;
    if let Some(reason) = entry.alias.as_deref().and_then(ids::refusal) {
        return Err(keys.bad_value("alias", reason, "write a short name such as \"git\", as an `id` is written"));
    }
    entry.transport = keys.word("transport", Transport::WORDS, Transport::from_word)?;
    entry.cwd = keys.string("cwd")?;
    entry.env = values(keys.map("env")?);
    entry.pass_env = keys.strings("pass_env")?;
    entry.headers = values(keys.map("headers")?);
    entry.token = keys.string("token")?.map(Secret::new);
    entry.oauth = oauth::read_entry(keys)?;
    entry.sharing = keys.word("sharing", Sharing::WORDS, Sharing::from_word)?;
    entry.era = keys.word("era", Era::WORDS, Era::from_word)?;
    entry.start_timeout = keys.milliseconds("start_timeout_ms")?;
    entry.call_timeout = keys.milliseconds("call_timeout_ms")?;
    entry.default_policy = keys.word("default_policy", DefaultPolicy::WORDS, DefaultPolicy::from_word)?;
    entry.audit_sink = keys.boolean("audit_sink")?;
    entry.pins = keys.word("pins", PinMode::WORDS, PinMode::from_word)?;
    entry.only_tools = keys.table.contains_key("only_tools").then(|| keys.strings("only_tools")).transpose()?;
    entry.tools = policy::read_tools(keys)?;
    entry.prompts = policy::read_prompts(keys)?;
    entry.isolation = policy::read_isolation(keys)?;
    entry.flow = flow::read_entry(keys)?;
    entry.mgp = keys.section("mgp", "[servers.mgp]", MGP)?.map(|mgp| read_mgp(&mgp)).transpose()?;

    let transport = entry.effective_transport();
    match (entry.command.is_some(), entry.url.is_some(), transport) {
        (true, true, _) => return Err(keys.error(keys.key_span("url"), ErrorKind::CommandAndUrl)),
        (false, _, Transport::Stdio) => {
            return Err(keys.error(keys.value_span("transport").or(place), ErrorKind::MissingCommand));
        }
        (_, false, Transport::StreamableHttp | Transport::Sse | Transport::Address) => {
            return Err(keys.error(keys.value_span("transport").or(place), ErrorKind::MissingUrl));
        }
        _ => {}
    }
    warn(keys, entry, transport, warnings);
    match transport {
        Transport::Stdio => stdio(keys, environment).map(Endpoint::Stdio),
        Transport::StreamableHttp | Transport::Sse => {
            let endpoint = http(keys, environment, transport == Transport::Sse)?;
            if let Ok(url) = Url::parse(&endpoint.url)
                && url.scheme() == "http"
                && !is_loopback(&url)
                && (endpoint.token.is_some()
                    || endpoint.oauth.is_some()
                    || endpoint.headers.keys().any(|name| names_secret(name)))
            {
                warnings.push(warning(keys, "url", "credentials go over plain http; use https"));
            }
            Ok(Endpoint::Http(endpoint))
        }
        Transport::Address => address(keys, environment).map(Endpoint::Address),
    }
}

fn values(map: Pairs) -> BTreeMap<String, Secret> {
    map.into_iter().map(|(name, (value, _))| (name, value)).collect()
}

fn warning(keys: &Keys<'_>, key: &str, sentence: &str) -> String {
    let line = keys.source.line(keys.value_span(key));
    let file = keys.source.file.display();
    format!("{file}:{line}: server \"{}\": `{key}`: {sentence}", keys.server.unwrap_or_default())
}

fn warn(keys: &Keys<'_>, entry: &ServerEntry, transport: Transport, warnings: &mut Vec<String>) {
    let useless: &[&str] = match transport {
        Transport::Stdio => &["headers", "token", "oauth"],
        Transport::StreamableHttp | Transport::Sse => &["args", "cwd", "env", "pass_env"],
        Transport::Address => &["args", "cwd", "env", "pass_env", "headers", "token", "oauth"],
    };
    for key in useless.iter().filter(|key| keys.table.contains_key(key)) {
        warnings.push(warning(keys, key, &format!("has no effect on a {transport} server")));
    }
    for name in entry.args.iter().flat_map(|arg| references(arg)).filter(|name| names_secret(name)) {
        let sentence = format!("`{name}` becomes visible to other users in the list of processes; pass it in `env`");
        warnings.push(warning(keys, "args", &sentence));
    }
    for permission in entry.mgp.iter().flat_map(|mgp| &mgp.permissions_required) {
        if !PERMISSIONS.contains(&permission.as_str()) && permission.matches('.').count() < 2 {
            let hint =
                nearest(permission, PERMISSIONS).map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
            warnings.push(warning(keys, "mgp", &format!("{permission:?} is not a standard permission{hint}")));
        }
    }
}

fn read_mgp(keys: &Keys<'_>) -> Result<MgpEntry, ConfigError> {
    Ok(MgpEntry {
        extensions: keys.strings("extensions")?,
        permissions_required: keys.strings("permissions_required")?,
        permissions_granted: policy::read_granted(keys)?,
        trust_level: keys.word("trust_level", TrustLevel::WORDS, TrustLevel::from_word)?,
        restart: read_restart(keys)?,
    })
}

/// `restart_policy` is a word with the numbers beside it, as in the seed, or a table that holds them all.
fn read_restart(keys: &Keys<'_>) -> Result<Option<Restart>, ConfigError> {
    let mut restart = Restart::default();
    let mut given = false;
    let inner = match keys.table.get("restart_policy") {
        Some(item) if item.is_table_like() => {
            let inner = keys.section("restart_policy", "`restart_policy`", RESTART)?;
            given = true;
            inner
        }
        _ => None,
    };
    let numbers = inner.as_ref().unwrap_or(keys);
    let mode_keys: &[&str] = if inner.is_some() { &["policy", "restart_policy"] } else { &["restart_policy"] };
    for key in mode_keys {
        if let Some(mode) = numbers.word(key, RestartMode::WORDS, RestartMode::from_word)? {
            restart.mode = mode;
            given = true;
        }
    }
    if let Some(count) = numbers.number("max_restarts", 0, 1_000_000)? {
        restart.max_restarts = u32::try_from(count).unwrap_or(u32::MAX);
        given = true;
    }
    if let Some(seconds) = numbers.number("restart_window_secs", 1, 86_400)? {
        restart.window = Duration::from_secs(seconds);
        given = true;
    }
    for (key, slot) in [("backoff_base_ms", &mut restart.backoff_base), ("backoff_max_ms", &mut restart.backoff_max)] {
        if let Some(time) = numbers.milliseconds(key)? {
            *slot = time;
            given = true;
        }
    }
    if restart.backoff_base > restart.backoff_max {
        let key = if numbers.table.contains_key("backoff_max_ms") { "backoff_max_ms" } else { "backoff_base_ms" };
        return Err(numbers.bad_value(key, "makes the longest pause shorter than the first", "raise `backoff_max_ms`"));
    }
    Ok(given.then_some(restart))
}

/// Expands the text of one value.
fn grown(
    keys: &Keys<'_>,
    text: &str,
    key: &str,
    span: &Span,
    environment: &Environment,
) -> Result<String, ConfigError> {
    let refuse = |kind| keys.error(span.clone(), kind);
    let value = expand(text, key, environment).map_err(refuse)?;
    if value.contains('\0') {
        let reason = "has a NUL character after expansion".to_owned();
        return Err(refuse(ErrorKind::BadValue { key: key.to_owned(), reason, help: "remove it".to_owned() }));
    }
    Ok(value)
}

fn grown_text(keys: &Keys<'_>, key: &str, environment: &Environment) -> Result<Option<String>, ConfigError> {
    keys.text(key)?.map(|text| grown(keys, text.value, key, &text.span, environment)).transpose()
}

fn grown_map(keys: &Keys<'_>, key: &str, environment: &Environment) -> Result<BTreeMap<String, Secret>, ConfigError> {
    let pair = |(name, (value, span)): (String, (Secret, Span))| {
        let value = grown(keys, value.reveal(), &format!("{key}.{name}"), &span, environment)?;
        Ok((name, Secret::new(value)))
    };
    keys.map(key)?.into_iter().map(pair).collect()
}

fn stdio(keys: &Keys<'_>, environment: &Environment) -> Result<StdioEndpoint, ConfigError> {
    let command = grown_text(keys, "command", environment)?.unwrap_or_default();
    if command.trim().is_empty() {
        return Err(keys.bad_value("command", "is empty", "name the program to start"));
    }
    // `command = "npx -y server"` is a frequent slip; there is no shell that would split it.
    let first = command.split_whitespace().next().unwrap_or_default();
    if command.contains(char::is_whitespace) && !first.contains(['/', '\\']) {
        let help = "put the program in `command` and each argument in `args`; no shell is involved";
        return Err(keys.bad_value("command", "contains spaces", help));
    }
    let args = keys.texts("args")?;
    let args = args.into_iter().map(|text| grown(keys, text.value, "args", &text.span, environment));
    let pass_env = keys.strings("pass_env")?;
    if let Some(name) = pass_env.iter().find(|name| !is_variable_name(name)) {
        let reason = format!("has {name:?}, which is not the name of a variable");
        return Err(keys.bad_value("pass_env", reason, "list names such as \"HTTPS_PROXY\", without `$` or value"));
    }
    let args = args.collect::<Result<_, _>>()?;
    let env = grown_map(keys, "env", environment)?;
    if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(keys.bad_value("env", format!("has {name:?}, which is not the name of a variable"), "rename it"));
    }
    let cwd = grown_text(keys, "cwd", environment)?.map(|path| beside(keys.source.file, &path, environment));
    Ok(StdioEndpoint { program: with_home(&command, environment), args, cwd, env, pass_env })
}

/// An address of a transport of its own. What it names is the same wherever a kernel is started.
fn address(keys: &Keys<'_>, environment: &Environment) -> Result<String, ConfigError> {
    let address = grown_text(keys, "url", environment)?.unwrap_or_default();
    let (scheme, rest) = address.split_once(':').unwrap_or_default();
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.starts_with('/') && path.len() > 1 {
        return Ok(address);
    }
    let help = format!("write all of it, such as \"{scheme}:/run/mcp.sock\"");
    Err(keys.bad_value("url", "names no absolute path", help))
}

fn http(keys: &Keys<'_>, environment: &Environment, legacy_sse: bool) -> Result<RemoteEndpoint, ConfigError> {
    let text = grown_text(keys, "url", environment)?.unwrap_or_default();
    let help = "write an address such as \"https://host.example/mcp\"";
    // The expanded address may hold a key, so no message repeats it.
    let url = Url::parse(&text).map_err(|error| keys.bad_value("url", format!("is not an address: {error}"), help))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(keys.bad_value("url", format!("has the scheme `{}`, not http or https", url.scheme()), help));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(keys.bad_value("url", "holds a user name or password", "use `token` or `headers` for credentials"));
    }
    if url.fragment().is_some() {
        return Err(keys.bad_value("url", "has a fragment", "remove the part from `#` on"));
    }
    let headers = grown_map(keys, "headers", environment)?;
    let token = grown_text(keys, "token", environment)?;
    let refuse = |name: &str, reason: &str, help: &str| {
        let span = keys.table.get("headers").and_then(|item| item.get(name)).and_then(toml_edit::Item::span);
        let kind =
            ErrorKind::BadValue { key: format!("headers.{name}"), reason: reason.to_owned(), help: help.to_owned() };
        Err(keys.error(span, kind))
    };
    let mut seen = std::collections::BTreeSet::new();
    for (name, value) in &headers {
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)) {
            return refuse(name, "is not the name of a header", "use letters, digits and `-`");
        }
        if TRANSPORT_HEADERS.contains(&lower.as_str()) {
            return refuse(name, "is set by switchboard itself", "remove it");
        }
        if value.reveal().chars().any(|c| c.is_control() && c != '\t') {
            return refuse(name, "has control characters in its value", "remove them");
        }
        if lower == "authorization" && token.is_some() {
            return refuse(name, "is given together with `token`", "keep one of the two");
        }
        if !seen.insert(lower) {
            return refuse(name, "is given twice, in different cases", "keep one");
        }
    }
    if token.as_deref().is_some_and(|token| token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic())) {
        return Err(keys.bad_value(
            "token",
            "is empty or has characters that a header cannot carry",
            "write the bare token, without `Bearer `",
        ));
    }
    let oauth = oauth::read_expanded(keys, environment)?;
    if oauth.is_some() {
        let help = "keep one of the two";
        if token.is_some() || seen.contains("authorization") {
            return Err(keys.bad_value("oauth", "is given together with `token` or an `Authorization` header", help));
        }
        if legacy_sse {
            return Err(keys.bad_value("oauth", "has no effect on a server that speaks HTTP+SSE", "use `token`"));
        }
    }
    Ok(RemoteEndpoint { legacy_sse, url: url.into(), headers, token: token.map(Secret::new), oauth })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

//! The top-level keys and `[limits]`.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::auth;
use crate::discovery;
use crate::error::ConfigError;
use crate::expand::{Environment, expand, is_variable_name};
use crate::flow;
use crate::memory;
use crate::places::beside;
use crate::policy;
use crate::profiles;
use crate::secret::Secret;
use crate::settings::{Limits, Settings};
use crate::table::Keys;
use crate::tools;
use crate::{ApprovalPolicy, DefaultPolicy};

const LIMITS: &[&str] = &[
    "message_bytes",
    "result_bytes",
    "depth",
    "keys",
    "number_length",
    "batch",
    "sessions",
    "connections",
    "session_requests",
    "buffer_bytes",
    "server_requests",
    "concurrent_starts",
    "list_wait_ms",
    "call_timeout_ms",
    "call_timeout_max_ms",
    "start_timeout_ms",
    "stop_timeout_ms",
    "drain_timeout_ms",
    "linger_ms",
    "shutdown_grace_ms",
    "health_every_ms",
    "health_timeout_ms",
    "session_idle_ms",
];

pub(super) fn read(top: &Keys<'_>, environment: &Environment) -> Result<Settings, ConfigError> {
    let expanded = |key: &str| -> Result<Option<String>, ConfigError> {
        let Some(text) = top.text(key)? else { return Ok(None) };
        expand(text.value, key, environment).map(Some).map_err(|kind| top.error(text.span.clone(), kind))
    };
    let mut settings = Settings::default();
    if let Some(address) = expanded("listen")? {
        settings.listen = listen_address(&address).ok_or_else(|| {
            top.bad_value(
                "listen",
                format!("is {address:?}, not an address and a port"),
                "write `listen = \"127.0.0.1:7420\"`",
            )
        })?;
    }
    settings.allowed_hosts = top.strings("allowed_hosts")?;
    if let Some(host) = settings.allowed_hosts.iter().find(|host| !is_host(host)) {
        let reason = format!("has {host:?}, which is not a host name");
        return Err(top.bad_value(
            "allowed_hosts",
            reason,
            "write names such as \"switchboard.example\" or \"10.0.0.5:7420\"",
        ));
    }
    settings.allowed_origins = top.strings("allowed_origins")?;
    if let Some(origin) = settings.allowed_origins.iter().find(|origin| !is_origin(origin)) {
        let reason = format!("has {origin:?}, which is not an origin");
        return Err(top.bad_value(
            "allowed_origins",
            reason,
            "write origins such as \"https://app.example\", without a path",
        ));
    }
    settings.pass_env = top.strings("pass_env")?;
    if let Some(name) = settings.pass_env.iter().find(|name| !is_variable_name(name)) {
        let reason = format!("has {name:?}, which is not the name of a variable");
        return Err(top.bad_value("pass_env", reason, "list names such as \"HTTPS_PROXY\", without `$` or value"));
    }
    settings.data_dir = expanded("data_dir")?.map(|path| beside(top.source.file, &path, environment));
    settings.approval_policy = top
        .word("approval_policy", ApprovalPolicy::WORDS, ApprovalPolicy::from_word)?
        .unwrap_or(settings.approval_policy);
    settings.default_policy = top.word("default_policy", DefaultPolicy::WORDS, DefaultPolicy::from_word)?;
    settings.store = expanded("store")?.map(Secret::new);
    settings.bus = expanded("bus")?.map(Secret::new);
    if let Some(section) = top.section("limits", "[limits]", LIMITS)? {
        read_limits(&section, &mut settings.limits)?;
    }
    settings.gate = policy::read_gate(top)?;
    settings.isolation = policy::read_isolation_mode(top)?;
    settings.rates = flow::read_settings(top)?;
    settings.breaker = flow::read_breaker(top, "[breaker]")?;
    settings.retry = flow::read_retry(top, "[retry]")?;
    if let Some(section) = top.section("tool_context", "[tool_context]", tools::KEYS)? {
        settings.tools = tools::read(&section, environment)?;
    }
    if let Some(section) = top.section("auth", "[auth]", auth::KEYS)? {
        settings.auth = Some(auth::read(&section, environment)?);
    }
    if let Some(section) = top.section("memory", "[memory]", memory::KEYS)? {
        settings.memory = memory::read(&section, environment)?;
    }
    if let Some(section) = top.section("discovery", "[discovery]", discovery::KEYS)? {
        settings.discovery = discovery::read(&section, environment)?;
    }
    settings.profiles = profiles::read(top)?;
    Ok(settings)
}

fn read_limits(keys: &Keys<'_>, limits: &mut Limits) -> Result<(), ConfigError> {
    let counts: [(&str, u64, u64, &mut usize); 10] = [
        ("message_bytes", 1_024, 1 << 30, &mut limits.message_bytes),
        ("depth", 8, 512, &mut limits.depth),
        ("keys", 64, 10_000_000, &mut limits.keys),
        ("number_length", 20, 1_000_000, &mut limits.number_length),
        ("batch", 1, 10_000, &mut limits.batch),
        ("sessions", 1, 1_000_000, &mut limits.sessions),
        ("connections", 1, 1_000_000, &mut limits.connections),
        ("session_requests", 1, 1_000_000, &mut limits.session_requests),
        ("buffer_bytes", 1 << 20, 1 << 40, &mut limits.buffer_bytes),
        ("server_requests", 1, 1_000_000, &mut limits.server_requests),
    ];
    for (key, from, to, limit) in counts {
        if let Some(value) = keys.number(key, from, to)? {
            *limit = usize::try_from(value).unwrap_or(usize::MAX);
        }
    }
    let starts = keys.number("concurrent_starts", 1, 1_000)?;
    limits.concurrent_starts = starts.map(|starts| usize::try_from(starts).unwrap_or(usize::MAX));
    let bytes = keys.number("result_bytes", 1_024, 1 << 30)?;
    limits.result_bytes = bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if let Some(every) = flow::from_zero(keys, "health_every_ms")? {
        limits.health_every = every;
    }
    let times: [(&str, &mut Duration); 10] = [
        ("list_wait_ms", &mut limits.list_wait),
        ("call_timeout_ms", &mut limits.call_timeout),
        ("call_timeout_max_ms", &mut limits.call_timeout_max),
        ("start_timeout_ms", &mut limits.start_timeout),
        ("stop_timeout_ms", &mut limits.stop_timeout),
        ("drain_timeout_ms", &mut limits.drain_timeout),
        ("linger_ms", &mut limits.linger),
        ("shutdown_grace_ms", &mut limits.shutdown_grace),
        ("health_timeout_ms", &mut limits.health_timeout),
        ("session_idle_ms", &mut limits.session_idle),
    ];
    for (key, limit) in times {
        if let Some(value) = keys.milliseconds(key)? {
            *limit = value;
        }
    }
    // A call may always have its plain time-out, so a larger one lifts the ceiling too.
    limits.call_timeout_max = limits.call_timeout_max.max(limits.call_timeout);
    Ok(())
}

fn listen_address(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix("localhost:") {
        Some(port) => Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?))),
        None => text.parse().ok(),
    }
}

fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']'))
}

fn is_origin(text: &str) -> bool {
    // `null` is what a sandboxed page sends; allowing it would allow every such page.
    text.split_once("://").is_some_and(|(scheme, host)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) && is_host(host)
    })
}

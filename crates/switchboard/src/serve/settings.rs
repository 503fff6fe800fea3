//! Which changed settings are taken over while the kernel runs, and which wait for the next start.
//!
//! How calls are judged can change between two calls. What sockets, files and bounds were made with cannot.

use switchboard_config::{MemorySettings, Settings, ToolSettings};

/// The section that says which tools clients are given.
pub(crate) const TOOL_CONTEXT: &str = "[tool_context]";

/// The changed keys, by what becomes of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// They hold from now on.
    pub(crate) now: Vec<&'static str>,
    /// They hold after the next start.
    pub(crate) next_start: Vec<&'static str>,
}

/// Compares two settings.
pub(crate) fn changed(old: &Settings, new: &Settings) -> Changed {
    // A key that is added here is named; one that is forgotten is found by the test below.
    let Settings {
        listen,
        allowed_hosts,
        allowed_origins,
        pass_env,
        data_dir,
        approval_policy,
        default_policy,
        store,
        bus,
        gate,
        isolation,
        limits,
        rates,
        breaker,
        retry,
        auth,
        memory,
        tools,
        discovery,
        profiles,
    } = old;
    let mut changed = Changed::default();
    let mut note = |differs: bool, key| {
        if differs {
            changed.next_start.push(key);
        }
    };
    note(*listen != new.listen, "listen");
    note(*allowed_hosts != new.allowed_hosts, "allowed_hosts");
    note(*allowed_origins != new.allowed_origins, "allowed_origins");
    note(*data_dir != new.data_dir, "data_dir");
    note(*store != new.store, "store");
    note(*bus != new.bus, "bus");
    note(*isolation != new.isolation, "isolation");
    note(*limits != new.limits, "[limits]");
    note(*rates != new.rates, "[rates]");
    note(*breaker != new.breaker, "[breaker]");
    note(*retry != new.retry, "[retry]");
    note(*auth != new.auth, "[auth]");
    // Whether there is one can change; what it was opened with cannot.
    note(MemorySettings { enabled: new.memory.enabled, ..memory.clone() } != new.memory, "[memory]");
    note(tools.model != new.tools.model, "`model` of [tool_context]");
    note(*discovery != new.discovery, "[discovery]");
    note(gate.audit_keep_days != new.gate.audit_keep_days, "audit_keep_days");
    let mut note = |differs: bool, key| {
        if differs {
            changed.now.push(key);
        }
    };
    note(*approval_policy != new.approval_policy, "approval_policy");
    note(*default_policy != new.default_policy, "default_policy");
    note(*profiles != new.profiles, "[profiles]");
    note(memory.enabled != new.memory.enabled, "`enabled` of [memory]");
    note(ToolSettings { model: new.tools.model.clone(), ..tools.clone() } != new.tools, TOOL_CONTEXT);
    // Servers are started again with it.
    note(*pass_env != new.pass_env, "pass_env");
    let mut rest = new.gate.clone();
    rest.audit_keep_days = gate.audit_keep_days;
    note(*gate != rest, "[gate]");
    changed
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use switchboard_config::{Config, Environment};

    use super::*;

    fn settings(text: &str) -> Settings {
        Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap().settings
    }

    #[test]
    fn every_change_is_named_once() {
        for (text, now, next_start) in [
            ("", &[][..], &[][..]),
            ("approval_policy = 'deny_all'", &["approval_policy"], &[]),
            ("default_policy = 'opt-in'", &["default_policy"], &[]),
            ("pass_env = ['A']", &["pass_env"], &[]),
            ("[profiles.work]\nservers = ['git']", &["[profiles]"], &[]),
            ("[gate]\ndemand_scopes = true\npin_definitions = false", &["[gate]"], &[]),
            ("[gate]\naudit_keep_days = 3", &[], &["audit_keep_days"]),
            ("[gate]\naudit_keep_days = 3\naudit_arguments = true", &["[gate]"], &["audit_keep_days"]),
            ("listen = '127.0.0.1:1'", &[], &["listen"]),
            ("[tool_context.clients.cursor]\nlevel = 'all'", &["[tool_context]"], &[]),
            (
                "[tool_context]\nmodel = '/srv/m'\nmax_tokens = 9000",
                &["[tool_context]"],
                &["`model` of [tool_context]"],
            ),
            ("[memory]\nenabled = false", &["`enabled` of [memory]"], &[]),
            ("[memory]\nenabled = true\nspace = 'x'", &["`enabled` of [memory]"], &["[memory]"]),
            ("store = 'x.db'\nisolation = 'trust'", &[], &["store", "isolation"]),
            ("[limits]\nmessage_bytes = 100000", &[], &["[limits]"]),
            ("[discovery.register]\nenabled = true", &[], &["[discovery]"]),
            ("[auth]\nissuer = 'https://i.example'\naudience = 'a'", &[], &["[auth]"]),
            (
                "allowed_hosts = ['h.example']\nallowed_origins = ['https://h.example']",
                &[],
                &["allowed_hosts", "allowed_origins"],
            ),
            ("data_dir = '/srv/x'\nbus = 'nats://h'", &[], &["data_dir", "bus"]),
        ] {
            let found = changed(&settings(""), &settings(text));
            assert_eq!((&*found.now, &*found.next_start), (now, next_start), "{text}");
        }
    }
}

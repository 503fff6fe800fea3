//! From the command line to a configuration: which files are read, and which one is changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_config::{ApprovalPolicy, Config, Environment, Loaded, Server, Sources, load, user_config_file};
use switchboard_kernel::names::Naming;

use crate::arguments::Common;
use crate::failure::Failure;
use crate::{memory, screen, specs};

/// A variable by which clients of `stdio` say that they want a kernel of their own.
pub(crate) const OWN_KERNEL: &str = "SWITCHBOARD_OWN_KERNEL";

/// Where to look for configuration.
pub(crate) fn sources(common: &Common) -> Result<Sources, Failure> {
    let folder = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("the current folder cannot be read: {error}")))?;
    Ok(Sources { explicit: common.config.clone(), folder, environment: Environment::of_process() })
}

/// How the tools of a server are called, as far as the configuration knows it.
pub(crate) fn naming(config: &Config, id: &str) -> Naming {
    let alias = config.server(id).and_then(|server| server.entry.alias.as_deref());
    Naming::new(id, alias, config.settings.tools.max_name_length)
}

/// The server that a person names by its id, or by the alias that stands before the names of its tools.
pub(crate) fn server_named<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let by_alias = || config.servers.iter().find(|server| server.entry.alias.as_deref() == Some(name));
    config.server(name).or_else(by_alias)
}

/// How the tools of a server are called where a name is cut to the length of this one: some clients leave more room than others,
/// and what is cut is as long as it may be.
fn naming_of_client(config: &Config, id: &str, exposed: &str) -> Naming {
    naming(config, id).within(exposed.len())
}

/// What a server may call the tool that a person names as clients see it, by its alias or its id.
pub(crate) fn own_part<'a>(config: &Config, id: &str, exposed: &'a str) -> Option<&'a str> {
    let of_client = || naming_of_client(config, id, exposed).own_part(exposed);
    naming(config, id).own_part(exposed).or_else(|| Naming::of(id).own_part(exposed)).or_else(of_client)
}

/// Whether clients know a tool of a server by this name, with its alias or its id, cut or whole.
pub(crate) fn is_exposed(config: &Config, id: &str, own: &str, exposed: &str) -> bool {
    naming(config, id).expose(own) == exposed
        || Naming::of(id).expose(own) == exposed
        || naming_of_client(config, id, exposed).expose(own) == exposed
        || naming(config, id).own_part(exposed) == Some(own)
        || Naming::of(id).own_part(exposed) == Some(own)
}

/// Of some servers the one to which the name of a tool points.
pub(crate) fn owner_of<'s>(config: &Config, servers: impl IntoIterator<Item = &'s str>, tool: &str) -> Option<&'s str> {
    let named = servers.into_iter().filter_map(|id| Some((own_part(config, id, tool)?.len(), id)));
    named.min_by_key(|(own, _)| *own).map(|(_, id)| id)
}

/// That no tool of this name can be called, where the server to which it points cannot be used as its entry stands.
pub(crate) fn unusable(loaded: &Loaded, tool: &str) -> Option<Failure> {
    let servers = &loaded.config.servers;
    let id = owner_of(&loaded.config, servers.iter().map(Server::id), tool)?;
    let server = loaded.config.server(id)?;
    let (shown, id) = (screen::plain_line(tool), screen::plain_line(id));
    if !server.enabled() {
        return Some(Failure::failed(format!(
            "\"{shown}\" cannot be called: the server \"{id}\" is switched off; `switchboard servers enable {id}` switches it on"
        )));
    }
    let problem = server.problem()?;
    Some(Failure::failed(format!(
        "\"{shown}\" cannot be called: the server \"{id}\" cannot be used: {}; {}",
        screen::plain_line(&problem.summary()),
        screen::plain_line(&problem.help())
    )))
}

/// Reads the configuration and tells a person what is wrong with parts of it.
pub(crate) fn read(common: &Common) -> Result<Loaded, Failure> {
    let loaded = load(&sources(common)?)?;
    for problem in problems(&loaded) {
        screen::note(format_args!("warning: {problem}"));
    }
    Ok(loaded)
}

/// Everything a person should hear about a configuration that can be used.
pub(crate) fn problems(loaded: &Loaded) -> Vec<String> {
    // On one line: whoever wants to see the place asks `doctor`.
    // One that is switched off does nothing, faulty or not.
    let servers = loaded.config.servers.iter().filter(|server| server.enabled());
    let faults = loaded.config.rejected.iter().chain(servers.filter_map(Server::problem));
    let faults = faults.map(|error| format!("{}; {}", error.summary(), error.help()));
    let loud = unguarded(&loaded.config);
    let unknown = unknown_in_profiles(&loaded.config);
    let warnings = loaded.warnings.iter().cloned().chain(loud).chain(without_effect(&loaded.config));
    warnings.chain(unknown).chain(memory::stood_in_for(loaded)).chain(faults).collect()
}

/// The profile of this name, which must be one of the configuration.
///
/// # Errors
/// There is none of that name.
pub(crate) fn profile(loaded: &Loaded, name: Option<&str>) -> Result<Option<Arc<str>>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let known: Vec<&str> = loaded.config.settings.profiles.keys().map(String::as_str).collect();
    if known.contains(&name) {
        return Ok(Some(name.into()));
    }
    let name = screen::plain_line(name);
    let hint = match (switchboard_config::nearest(&name, &known), known.is_empty()) {
        (Some(near), _) => format!("did you mean \"{near}\"?"),
        (None, true) => format!("write [profiles.{name}] into the configuration (docs/profiles.md)"),
        (None, false) => format!("there are: {}", known.join(", ")),
    };
    Err(Failure::usage(format!("there is no profile \"{name}\"; {hint}")))
}

/// Servers that profiles name and nobody knows.
fn unknown_in_profiles(config: &Config) -> impl Iterator<Item = String> {
    let known = |id: &str| config.server(id).is_some() || id == memory::ID;
    let profiles = config.settings.profiles.iter();
    profiles.flat_map(move |(name, profile)| {
        let unknown = profile.servers.iter().filter(move |id| !known(id));
        unknown.map(move |id| format!("the profile \"{name}\" names the server \"{id}\", which is not configured"))
    })
}

/// That a server's relative paths mean its own folder, and what to do about it.
pub(crate) fn relative_paths(server: &Server, data_dir: &Path) -> Option<(String, String)> {
    let paths = switchboard_config::relative_paths(&server.entry);
    if paths.is_empty() || server.origin != switchboard_config::Origin::User {
        return None;
    }
    let folder = specs::work_folder(data_dir, server.id());
    let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let (is, means) =
        if paths.len() == 1 { ("is a relative path", "it means") } else { ("are relative paths", "they mean") };
    let detail = format!("{} {is}; {means} the server's own folder, {}", named.join(", "), folder.display());
    Some((detail, format!("write the whole path, or set `cwd`, in {}:{}", server.file.display(), server.line)))
}

/// What a person should know who switched the questions off, every time.
fn unguarded(config: &Config) -> Option<String> {
    let settings = &config.settings;
    (settings.approval_policy == ApprovalPolicy::AutoApprove).then(|| {
        format!(
            "approval_policy is auto_approve: nobody is asked before dangerous calls, and servers get every permission \
             but dangerous ones and {}",
            settings.gate.auto_approve_exceptions.join(", ")
        )
    })
}

/// Whoever writes a rule must not believe that it is kept when this version does not know how to.
pub(crate) fn without_effect(config: &Config) -> Option<String> {
    let settings = &config.settings;
    let mut keys = Vec::new();
    let mut note = |set: bool, key: &'static str| {
        if set && !keys.contains(&key) {
            keys.push(key);
        }
    };
    note(settings.bus.is_some(), "bus");
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    (!keys.is_empty()).then(|| {
        format!(
            "{} read but not enforced by this version",
            match keys.as_slice() {
                [one] => format!("{one} is"),
                many => format!("{} are", many.join(", ")),
            }
        )
    })
}

/// The file that `add`, `remove` and `import` change.
pub(crate) fn file_to_change(common: &Common, project: bool) -> Result<PathBuf, Failure> {
    let sources = sources(common)?;
    if project {
        return Ok(sources.folder.join("mgp.toml"));
    }
    if let Some(file) = &sources.explicit {
        return Ok(sources.folder.join(file));
    }
    if let Some(file) = sources.environment.get("MGP_CONFIG_PATH").filter(|file| !file.is_empty()) {
        let home = file.strip_prefix("~/").zip(sources.environment.get("HOME"));
        return Ok(home.map_or_else(|| sources.folder.join(file), |(rest, home)| Path::new(home).join(rest)));
    }
    user_config_file(&sources.environment).ok_or_else(|| {
        Failure::usage("there is no home folder to keep the configuration in; name a file with --config")
    })
}

/// The text of a file that is about to be changed; `None` if it is not there yet.
pub(crate) fn text_to_change(file: &Path) -> Result<Option<String>, Failure> {
    match switchboard_config::read_checked(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if *error.kind() == switchboard_config::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What a file begins with that is made for a first server. The memory was there without a file, and stays; a project decides
/// nothing about it.
pub(crate) const fn beginning(project: bool) -> &'static str {
    if project { "" } else { "# The built-in memory; `enabled = false` switches it off.\n[memory]\nenabled = true\n" }
}

/// The servers that are meant to run and can.
pub(crate) fn usable(loaded: &Loaded) -> impl Iterator<Item = &Server> {
    loaded.config.servers.iter().filter(|server| server.enabled() && server.problem().is_none())
}

/// What to do when there is no server.
pub(crate) const NO_SERVERS: &str = "no server is configured. Take over those of your clients with `switchboard import`, \
or add one: `switchboard add time -- uvx mcp-server-time`";

/// A name for a backup that has not been used before.
pub(crate) fn stamp() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:03}", now.as_secs(), now.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_its_name_at_every_length_that_a_client_takes() {
        let id = "a-server-whose-name-leaves-no-room-for-its-tools";
        let config = Config::default();
        for own in ["echo", "add_pull_request_review_comment_to_pending_review_now"] {
            for max in [24, 46, 48, 52, 64, 128] {
                let name = Naming::new(id, None, max).expose(own);
                assert!(is_exposed(&config, id, own, &name), "{name}");
                assert!(!is_exposed(&config, "another", own, &name), "{name}");
                assert_eq!(owner_of(&config, ["another", id], &name), Some(id), "{name}");
            }
            assert!(is_exposed(&config, id, own, &format!("{id}__{own}")));
        }
    }

    #[test]
    fn rules_that_are_not_kept_are_named() {
        let read = |text: &str| Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
        for (text, expected) in [
            ("", None),
            ("approval_policy = 'interactive'", None),
            ("bus = 'nats://x'", Some("`bus` is read but not enforced by this version")),
            ("limits = { server_requests = 5, stop_timeout_ms = 5 }", None),
        ] {
            assert_eq!(without_effect(&read(text)).as_deref(), expected, "{text}");
        }
    }
}

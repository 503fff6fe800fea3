//! From the command line to a configuration: which files are read, and which one is changed.

use std::path::PathBuf;

use switchboard_config::{Environment, Loaded, Server, Sources, load, user_config_file};

use crate::arguments::Common;
use crate::failure::Failure;
use crate::screen;

/// Where to look for configuration.
pub(crate) fn sources(common: &Common) -> Result<Sources, Failure> {
    let folder = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("the current folder cannot be read: {error}")))?;
    Ok(Sources { explicit: common.config.clone(), folder, environment: Environment::of_process() })
}

/// Reads the configuration and tells a person what is wrong with parts of it.
pub(crate) fn read(common: &Common) -> Result<Loaded, Failure> {
    let loaded = load(&sources(common)?)?;
    for warning in &loaded.warnings {
        screen::note(format_args!("warning: {warning}"));
    }
    for error in loaded.config.errors() {
        screen::note(format_args!("warning: {error}"));
    }
    Ok(loaded)
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
        return Ok(sources.folder.join(file));
    }
    user_config_file(&sources.environment).ok_or_else(|| {
        Failure::usage("there is no home folder to keep the configuration in; name a file with --config")
    })
}

/// The text of a file that is about to be changed; `None` if it is not there yet.
pub(crate) fn text_to_change(file: &std::path::Path) -> Result<Option<String>, Failure> {
    match switchboard_config::read_checked(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if *error.kind() == switchboard_config::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
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

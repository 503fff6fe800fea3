//! The tools that servers have shown so far, and which names in the configuration and on the command line are of none of them.
//!
//! What is known comes from the pins in the store. Of a server that was never seen every name may be right.

use std::time::Duration;

use switchboard_config::{Config, nearest};
use switchboard_kernel::{Kernel, names};
use switchboard_store::{Store, StoreError};

use crate::{memory, screen, setup};

/// How long servers may take to come up before names are looked at.
const START_PATIENCE: Duration = Duration::from_secs(300);

/// Tools by the server's id and the server's own name.
#[derive(Debug, Default)]
pub(crate) struct KnownTools(Vec<(String, String)>);

impl KnownTools {
    /// Those that the store knows.
    pub(crate) async fn read(store: &Store) -> Result<Self, StoreError> {
        let pins = store.pins().list(None).await?;
        // Prompts, resources and instructions have their kind in front, with a sign that no tool's name has.
        let tools = pins.into_iter().filter(|pin| names::check(&pin.tool).is_ok());
        Ok(Self(tools.map(|pin| (pin.server, pin.tool)).collect()))
    }

    /// Whether no tool was seen so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any tool of a server was seen.
    pub(crate) fn has_seen(&self, server: &str) -> bool {
        self.0.iter().any(|(id, _)| id == server)
    }

    /// The tools of this name, in any spelling that clients and commands use.
    pub(crate) fn called(&self, config: &Config, name: &str) -> Vec<(&str, &str)> {
        let found = self.0.iter().filter(|(server, tool)| is_called(config, server, tool, name));
        found.map(|(server, tool)| (server.as_str(), tool.as_str())).collect()
    }

    /// Whether a tool has a name that begins like this.
    fn begins(&self, config: &Config, start: &str) -> bool {
        let is_so = |(server, tool): &(String, String)| {
            let long = [setup::naming(config, server).expose(tool), names::expose(server, tool)];
            tool.starts_with(start) || long.iter().any(|name| name.starts_with(start))
        };
        self.0.iter().any(is_so)
    }

    /// What may have been meant by a name of no tool, as clients see it.
    pub(crate) fn suggestion(&self, config: &Config, name: &str) -> Option<String> {
        if let Some(start) = name.strip_suffix('*') {
            let prefixes: Vec<String> =
                self.0.iter().map(|(server, _)| setup::naming(config, server).expose("")).collect();
            let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
            return nearest(start, &prefixes).map(|prefix| format!("{prefix}*"));
        }
        let spelled = |spell: &dyn Fn(&str, &str) -> String| -> Vec<String> {
            self.0.iter().map(|(server, tool)| spell(server, tool)).collect()
        };
        let shown = spelled(&|server, tool| setup::naming(config, server).expose(tool));
        let near = |names: &[String]| {
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = nearest(name, &all)?;
            names.iter().position(|name| name == found).and_then(|at| shown.get(at).cloned())
        };
        near(&shown)
            .or_else(|| near(&spelled(&|server, tool| names::expose(server, tool))))
            .or_else(|| near(&spelled(&|_, tool| tool.to_owned())))
    }

    /// What in a configuration names a tool that there is none of, in sentences.
    pub(crate) fn misnamed(&self, config: &Config) -> Vec<String> {
        let mut said = Vec::new();
        for server in config.servers.iter().filter(|server| server.enabled() && self.has_seen(server.id())) {
            let own: Vec<&str> =
                self.0.iter().filter(|(id, _)| id == server.id()).map(|(_, tool)| tool.as_str()).collect();
            let only = server.entry.only_tools.iter().flatten().map(|name| ("only_tools".to_owned(), name));
            let single = server.entry.tools.keys().map(|name| (format!("[servers.tools.{name}]"), name));
            for (place, name) in single.chain(only).filter(|(_, name)| !own.contains(&name.as_str())) {
                let hint = nearest(name, &own).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
                said.push(format!("`{place}` of server \"{}\": it has no tool \"{name}\"{hint}", server.id()));
            }
        }
        // A name may be of a server that has not come up yet.
        let knows_all = config
            .servers
            .iter()
            .filter(|server| server.enabled() && server.problem().is_none())
            .all(|server| self.has_seen(server.id()));
        if !knows_all {
            return said;
        }
        let memory_prefix = names::expose(memory::ID, "");
        let is_unknown = |name: &str| {
            let known = match name.strip_suffix('*') {
                Some(start) => self.begins(config, start),
                None => !self.called(config, name).is_empty(),
            };
            !known && !names::is_reserved(name) && (!name.starts_with(&memory_prefix) || self.has_seen(memory::ID))
        };
        let tools = &config.settings.tools;
        let pinned = tools.pinned.iter().map(|name| ("`pinned`".to_owned(), name));
        let agents = tools.agents.iter().flat_map(|(agent, said)| {
            said.pinned.iter().map(move |name| (format!("`pinned` of [tool_context.agents.{agent}]"), name))
        });
        let profiles = config.settings.profiles.iter().flat_map(|(profile, said)| {
            let lists = [("tools", &said.tools), ("without", &said.without), ("pinned", &said.pinned)];
            lists.into_iter().flat_map(move |(key, names)| {
                names.iter().map(move |name| (format!("`{key}` of [profiles.{profile}]"), name))
            })
        });
        for (place, name) in pinned.chain(agents).chain(profiles).filter(|(_, name)| is_unknown(name)) {
            let hint = self.suggestion(config, name).map(|near| format!("; did you mean \"{near}\"?"));
            said.push(format!("{place}: no server has a tool \"{name}\"{}", hint.unwrap_or_default()));
        }
        said
    }
}

/// Whether a tool goes by this name: its own, the one that the operator gave it, or either with its server's.
fn is_called(config: &Config, server: &str, tool: &str, name: &str) -> bool {
    let given = config.server(server).and_then(|server| server.entry.tools.get(tool)?.name.as_deref());
    [Some(tool), given].into_iter().flatten().any(|own| own == name || setup::is_exposed(config, server, own, name))
}

/// Tells on the log which names of the configuration are of no tool, once the servers have come up.
pub(crate) fn tell_when_known(kernel: Kernel, store: Store, config: Config) {
    tokio::spawn(async move {
        kernel.settled(START_PATIENCE).await;
        if let Ok(known) = KnownTools::read(&store).await {
            known.misnamed(&config).iter().for_each(|text| tracing::warn!("{}", screen::plain_line(text)));
        }
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use switchboard_config::Environment;

    use super::*;

    fn known(tools: &[(&str, &str)]) -> KnownTools {
        KnownTools(tools.iter().map(|(server, tool)| ((*server).to_owned(), (*tool).to_owned())).collect())
    }

    #[test]
    fn mistyped_names_are_told_with_what_may_be_meant() {
        let text = "[tool_context]\npinned = ['time__now', 'time__nwo', 'mgp_tools_discover', 'memory__recall']\n\
            [profiles.work]\ntools = ['time__*', 'tiem__*']\nwithout = ['now', 'files__red']\n\
            [[servers]]\nid = 'time'\ncommand = 'x'\nonly_tools = ['now', 'convrt']\n[servers.tools.nwo]\nenabled = false\n\
            [[servers]]\nid = 'files'\nalias = 'f'\ncommand = 'y'\n";
        let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
        let said = known(&[("time", "now"), ("time", "convert"), ("files", "read")]).misnamed(&config);
        assert_eq!(
            said,
            [
                "`[servers.tools.nwo]` of server \"time\": it has no tool \"nwo\"; did you mean \"now\"?",
                "`only_tools` of server \"time\": it has no tool \"convrt\"; did you mean \"convert\"?",
                "`pinned`: no server has a tool \"time__nwo\"; did you mean \"time__now\"?",
                "`tools` of [profiles.work]: no server has a tool \"tiem__*\"; did you mean \"time__*\"?",
                "`without` of [profiles.work]: no server has a tool \"files__red\"; did you mean \"f__read\"?",
            ]
        );
        // While a server was never seen, only what is said of the others is known to be wrong.
        let said = known(&[("time", "now"), ("time", "convert")]).misnamed(&config);
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(known(&[]).misnamed(&config), [""; 0]);
    }

    #[test]
    fn every_spelling_is_understood() {
        let text = "[[servers]]\nid = 'git.local'\nalias = 'g'\ncommand = 'x'\n[servers.tools.log]\nname = 'history'\n";
        let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
        let known = known(&[("git.local", "log"), ("other", "log")]);
        for (name, found) in [
            ("g__log", 1),
            ("git_local__log", 1),
            ("history", 1),
            ("g__history", 1),
            ("log", 2),
            ("other__log", 1),
            ("g__lgo", 0),
        ] {
            assert_eq!(known.called(&config, name).len(), found, "{name}");
        }
        assert_eq!(known.suggestion(&config, "g__lgo").as_deref(), Some("g__log"));
    }
}

//! What an operator says about profiles: `[profiles.NAME]`, named parts of everything that is served.

use std::collections::BTreeMap;

use switchboard_protocol::mgp::Risk;

use crate::error::ConfigError;
use crate::ids;
use crate::table::Keys;
use crate::tools::ToolLevel;

const KEYS: &[&str] = &["servers", "tools", "without", "level", "pinned", "max_risk", "confirm"];
const MAX_PROFILES: usize = 1_000;
/// Names in one list of a profile.
const MAX_NAMES: usize = 10_000;

/// One profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileSettings {
    /// Servers that belong to it whole (`servers`).
    pub servers: Vec<String>,
    /// Tools that belong to it, by their names or beginnings with `*` (`tools`).
    pub tools: Vec<String>,
    /// Tools that do not belong to it (`without`).
    pub without: Vec<String>,
    /// How much of it is listed; as for everybody if absent (`level`).
    pub level: Option<ToolLevel>,
    /// Tools that are always listed, beside those of everybody (`pinned`).
    pub pinned: Vec<String>,
    /// The highest risk of what can be used (`max_risk`).
    pub max_risk: Option<Risk>,
    /// What a person is asked about, beside what is asked about anyway (`confirm`).
    pub confirm: ProfileConfirm,
}

impl ProfileSettings {
    /// Whether a server belongs to it as a whole.
    #[must_use]
    pub fn has_server(&self, id: &str) -> bool {
        self.servers.iter().any(|own| own == id) || self.servers.is_empty() && self.tools.is_empty()
    }
}

/// What a person is asked about in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileConfirm {
    /// What is asked about everywhere.
    #[default]
    Usual,
    /// Everything that may change something.
    Changes,
    /// Every call.
    All,
}

impl ProfileConfirm {
    const WORDS: &'static [&'static str] = &["usual", "changes", "all"];

    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "usual" => Self::Usual,
            "changes" => Self::Changes,
            "all" => Self::All,
            _ => return None,
        })
    }
}

/// Reads the sections of all profiles.
pub(crate) fn read(top: &Keys<'_>) -> Result<BTreeMap<String, ProfileSettings>, ConfigError> {
    let Some(item) = top.table.get("profiles") else { return Ok(BTreeMap::new()) };
    let profiles = item.as_table_like().ok_or_else(|| top.wrong_type("profiles", item, "a table"))?;
    if profiles.len() > MAX_PROFILES {
        return Err(top.bad_value("profiles", "has too many entries", format!("keep at most {MAX_PROFILES}")));
    }
    let mut found = BTreeMap::new();
    for (name, item) in profiles.iter() {
        if let Some(reason) = ids::refusal(name) {
            let help = "name it with letters, digits, `-`, `_` and `.`: the name stands in addresses";
            return Err(top.bad_value("profiles", format!("has the name `{name}`, which {reason}"), help));
        }
        let table = item.as_table_like().ok_or_else(|| top.wrong_type(name, item, "a table"))?;
        let keys = Keys { source: top.source, table, server: None, place: "[profiles]", known: KEYS };
        keys.refuse_unknown()?;
        found.insert(name.to_owned(), read_one(&keys)?);
    }
    Ok(found)
}

fn read_one(keys: &Keys<'_>) -> Result<ProfileSettings, ConfigError> {
    let names = |key: &str| -> Result<Vec<String>, ConfigError> {
        let names = keys.strings(key)?;
        let is_name = |name: &String| {
            let name = name.strip_suffix('*').filter(|_| key != "servers").unwrap_or(name);
            !name.is_empty() && !name.contains(|c: char| c == '*' || c.is_whitespace() || c.is_control())
        };
        if names.len() > MAX_NAMES {
            return Err(keys.bad_value(key, "has too many entries", format!("keep at most {MAX_NAMES}")));
        }
        match names.iter().find(|name| !is_name(name)) {
            None => Ok(names),
            Some(name) if key == "servers" => {
                let help = "write ids of servers; leave the key out for all of them";
                Err(keys.bad_value(key, format!("has `{name}`, which is no id"), help))
            }
            Some(name) => {
                let help = "write names as clients see them, or the beginning of names and `*`: \"git__*\"";
                Err(keys.bad_value(key, format!("has `{name}`, which is no name of a tool"), help))
            }
        }
    };
    Ok(ProfileSettings {
        servers: names("servers")?,
        tools: names("tools")?,
        without: names("without")?,
        level: keys.word("level", ToolLevel::WORDS, ToolLevel::from_word)?,
        pinned: keys.strings("pinned")?,
        max_risk: keys.word("max_risk", Risk::WORDS, Risk::from_word)?,
        confirm: keys.word("confirm", ProfileConfirm::WORDS, ProfileConfirm::from_word)?.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Config, Environment};

    fn profiles(text: &str) -> Result<BTreeMap<String, ProfileSettings>, ConfigError> {
        Ok(Config::parse(Path::new("mgp.toml"), text, &Environment::default())?.settings.profiles)
    }

    #[test]
    fn profiles_are_read() {
        let found = profiles(
            "[profiles.work]\nservers = ['git']\ntools = ['time__now', 'web__*']\nwithout = ['git__push']\n\
             level = 'all'\npinned = ['git__log']\nmax_risk = 'moderate'\nconfirm = 'changes'\n[profiles.all]",
        )
        .unwrap();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let work = ProfileSettings {
            servers: names(&["git"]),
            tools: names(&["time__now", "web__*"]),
            without: names(&["git__push"]),
            level: Some(ToolLevel::All),
            pinned: names(&["git__log"]),
            max_risk: Some(Risk::Moderate),
            confirm: ProfileConfirm::Changes,
        };
        assert_eq!(found.get("work"), Some(&work));
        assert_eq!(found.get("all"), Some(&ProfileSettings::default()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("profiles = 5", "profiles"),
            ("[profiles]\nwork = 5", "work"),
            ("[profiles.'a b']", "a b"),
            ("[profiles.'../x']", "../x"),
            ("[profiles.mgp]", "reserved"),
            ("[profiles.work]\nserver = ['git']", "servers"),
            ("[profiles.work]\nservers = ['*']", "no id"),
            ("[profiles.work]\ntools = ['a*b']", "no name"),
            ("[profiles.work]\ntools = ['*']", "no name"),
            ("[profiles.work]\nlevel = 'some'", "level"),
            ("[profiles.work]\nmax_risk = 'low'", "max_risk"),
            ("[profiles.work]\nconfirm = true", "confirm"),
        ] {
            let error = profiles(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}

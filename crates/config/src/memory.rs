//! The section `[memory]`: the memory that comes with Switchboard.

use std::collections::BTreeMap;

use crate::error::ConfigError;
use crate::expand::{Environment, expand};
use crate::secret::Secret;
use crate::table::Keys;

/// The keys of the section.
pub(crate) const KEYS: &[&str] = &["enabled", "space", "dreams", "store", "sharing", "shared"];

/// The section `[memory]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySettings {
    /// Whether the memory is one of the servers (`enabled`). Without a word it is, where there is no configuration file.
    pub enabled: Option<bool>,
    /// The space that is used where a call names none (`space`).
    pub space: String,
    /// Whether it dreams by itself when it is idle (`dreams`).
    pub dreams: bool,
    /// Where memories are kept, if not with everything else (`store`): a path or a URL. It may hold a password.
    pub store: Option<Secret>,
    /// Whose memories are whose (`sharing`).
    pub sharing: MemorySharing,
    /// Spaces that several principals use, with their names; `*` is everybody (`shared`). Without a word, those whose
    /// name begins with `shared` are open to all.
    pub shared: Option<BTreeMap<String, Vec<String>>>,
}

/// Whose memories are whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySharing {
    /// Each principal has its own.
    Principal,
    /// All have the same.
    All,
}

impl MemorySharing {
    const WORDS: &'static [&'static str] = &["principal", "all"];

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "principal" => Some(Self::Principal),
            "all" => Some(Self::All),
            _ => None,
        }
    }
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            enabled: None,
            space: "default".to_owned(),
            dreams: true,
            store: None,
            sharing: MemorySharing::Principal,
            shared: None,
        }
    }
}

pub(crate) fn read(keys: &Keys<'_>, environment: &Environment) -> Result<MemorySettings, ConfigError> {
    let usual = MemorySettings::default();
    let space = keys.string("space")?.unwrap_or_else(|| usual.space.clone());
    let name = |key: &str, space: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if space.is_empty() || space.len() > 64 || !space.chars().all(plain) {
            let reason = format!("is {space:?}, which is no name of a space");
            return Err(keys.bad_value(key, reason, "write up to 64 letters, digits, dots, dashes and underscores"));
        }
        Ok(())
    };
    name("space", &space)?;
    let shared = keys.lists("shared")?;
    for space in shared.iter().flatten().map(|(space, _)| space) {
        name("shared", space)?;
    }
    let store = match keys.text("store")? {
        Some(text) => {
            let expanded = expand(text.value, "store", environment);
            Some(Secret::new(expanded.map_err(|kind| keys.error(text.span.clone(), kind))?))
        }
        None => None,
    };
    let sharing = keys.word("sharing", MemorySharing::WORDS, MemorySharing::from_word)?;
    Ok(MemorySettings {
        enabled: keys.boolean("enabled")?,
        space,
        dreams: keys.boolean("dreams")?.unwrap_or(usual.dreams),
        store,
        sharing: sharing.unwrap_or(usual.sharing),
        shared,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn read(text: &str) -> Result<MemorySettings, ConfigError> {
        Config::parse("mgp.toml".as_ref(), text, &Environment::default()).map(|config| config.settings.memory)
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        assert_eq!(read("").unwrap(), MemorySettings::default());
        assert_eq!(
            read("[memory]\nenabled = true").unwrap(),
            MemorySettings { enabled: Some(true), ..MemorySettings::default() }
        );
    }

    #[test]
    fn everything_can_be_said() {
        let memory = read(
            "[memory]\nspace = 'work'\ndreams = false\nstore = 'postgres://me:hidden@db/x'\nsharing = 'all'\n\
             [memory.shared]\nteam = ['ann', 'ben']\nnews = ['*']",
        )
        .unwrap();
        assert_eq!((&*memory.space, memory.dreams, memory.sharing), ("work", false, MemorySharing::All));
        assert_eq!(memory.store.as_ref().map(Secret::reveal), Some("postgres://me:hidden@db/x"));
        assert!(!format!("{memory:?}").contains("hidden"));
        let shared = memory.shared.unwrap();
        assert_eq!(shared["team"], ["ann", "ben"]);
        assert_eq!(shared["news"], ["*"]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for text in [
            "space = ''",
            "space = 'a b'",
            "sharing = 'nobody'",
            "store = 5",
            "shared = ['team']",
            "shared = {'a b' = ['ann']}",
            "shared = {team = 'ann'}",
            "shared = {team = [5]}",
            "owner = 'me'",
        ] {
            assert!(read(&format!("[memory]\n{text}")).is_err(), "{text}");
        }
    }
}

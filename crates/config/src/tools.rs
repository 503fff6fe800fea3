//! What an operator says about the tools that models are given: `[tool_context]` (MGP 16.3, 16.7, 16.8).

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Environment;
use crate::error::ConfigError;
use crate::expand::expand;
use crate::places::beside;
use crate::table::Keys;

pub(crate) const KEYS: &[&str] = &[
    "level",
    "pinned",
    "max_tokens",
    "pinned_reserve",
    "discovery_reserve",
    "cache_limit",
    "max_name_length",
    "model",
    "agents",
    "clients",
];
const AGENT: &[&str] = &["level", "pinned"];
const CLIENT: &[&str] = &["level", "max_tokens", "max_tools", "max_name_length"];
/// Principals with a section of their own.
const MOST_AGENTS: usize = 10_000;
/// Client programs with a section of their own.
const MAX_CLIENTS: usize = 1_000;
/// Characters of a tool's name as clients see it: model services take 64, and clients put up to 18 in front.
const MAX_NAME_LENGTH: usize = 46;
/// Tokens for definitions of tools, where nothing is said: what clients bear today without crowding out the conversation.
const MAX_TOKENS: usize = 25_000;
/// The largest number that is taken for tokens.
const TOKENS_BOUND: u64 = 10_000_000;

/// How much of the tools is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolLevel {
    /// All tools while they fit into the budget, and hybrid beyond.
    #[default]
    Auto,
    /// All tools (L0).
    All,
    /// The tools for finding, and the categories (L1).
    Categories,
    /// The tools for finding (L2).
    Discovery,
    /// The tools for finding, pinned tools, and those that were found (L3).
    Hybrid,
}

impl ToolLevel {
    /// All words.
    pub const WORDS: &'static [&'static str] = &["auto", "all", "categories", "discovery", "hybrid"];

    /// The value of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "auto" => Self::Auto,
            "all" | "L0" => Self::All,
            "categories" | "L1" => Self::Categories,
            "discovery" | "L2" => Self::Discovery,
            "hybrid" | "L3" => Self::Hybrid,
            _ => return None,
        })
    }
}

/// The `[tool_context]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// How much is listed (`level`).
    pub level: ToolLevel,
    /// Tools that are always listed (`pinned`).
    pub pinned: Vec<String>,
    /// Tokens that tools may take altogether (`max_tokens`).
    pub max_tokens: usize,
    /// Tokens for pinned tools (`pinned_reserve`).
    pub pinned_reserve: usize,
    /// Tokens for the results of one search (`discovery_reserve`).
    pub discovery_reserve: usize,
    /// Tokens for tools that were found (`cache_limit`).
    pub cache_limit: usize,
    /// Characters of the name of a tool, as clients see it beside those of other servers (`max_name_length`).
    pub max_name_length: usize,
    /// Whether the file says how many these are.
    pub is_name_length_said: bool,
    /// The folder of a transformer that orders what was found anew (`model`).
    pub model: Option<PathBuf>,
    /// What differs for single principals (`[tool_context.agents.NAME]`).
    pub agents: BTreeMap<String, AgentSettings>,
    /// What differs for single client programs (`[tool_context.clients.NAME]`).
    pub clients: BTreeMap<String, ClientSettings>,
}

/// What differs for a client program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientSettings {
    /// How much is listed (`level`); as is known to be best for it, if absent.
    pub level: Option<ToolLevel>,
    /// Tokens that tools may take altogether (`max_tokens`).
    pub max_tokens: Option<usize>,
    /// Tools that `auto` lists at most (`max_tools`).
    pub max_tools: Option<usize>,
    /// Characters of the name of a tool (`max_name_length`).
    pub max_name_length: Option<usize>,
}

/// What differs for a principal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentSettings {
    /// How much is listed; as for everybody if absent (`level`).
    pub level: Option<ToolLevel>,
    /// Tools that are always listed, beside those of everybody (`pinned`).
    pub pinned: Vec<String>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            level: ToolLevel::Auto,
            pinned: Vec::new(),
            max_tokens: MAX_TOKENS,
            pinned_reserve: shares(MAX_TOKENS)[0],
            discovery_reserve: shares(MAX_TOKENS)[1],
            cache_limit: shares(MAX_TOKENS)[2],
            max_name_length: MAX_NAME_LENGTH,
            is_name_length_said: false,
            model: None,
            agents: BTreeMap::new(),
            clients: BTreeMap::new(),
        }
    }
}

/// The shares of pinned tools, of search results and of loaded tools, where they are not said: a quarter, and three eighths
/// for each of the others.
const fn shares(max_tokens: usize) -> [usize; 3] {
    [max_tokens / 4, max_tokens * 3 / 8, max_tokens * 3 / 8]
}

/// Reads the section.
pub(crate) fn read(keys: &Keys<'_>, environment: &Environment) -> Result<ToolSettings, ConfigError> {
    let mut settings = ToolSettings::default();
    settings.level = keys.word("level", ToolLevel::WORDS, ToolLevel::from_word)?.unwrap_or(settings.level);
    settings.pinned = keys.strings("pinned")?;
    if let Some(length) = keys.number("max_name_length", 24, 128)? {
        settings.max_name_length = usize::try_from(length).unwrap_or(MAX_NAME_LENGTH);
        settings.is_name_length_said = true;
    }
    if let Some(text) = keys.text("model")? {
        let folder = expand(text.value, "model", environment).map_err(|kind| keys.error(text.span.clone(), kind))?;
        settings.model = Some(beside(keys.source.file, &folder, environment));
    }
    let tokens = |key: &str| -> Result<Option<usize>, ConfigError> {
        Ok(keys.number(key, 0, TOKENS_BOUND)?.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    };
    settings.max_tokens = tokens("max_tokens")?.unwrap_or(settings.max_tokens);
    let [pinned, discovery, cache] = shares(settings.max_tokens);
    settings.pinned_reserve = tokens("pinned_reserve")?.unwrap_or(pinned);
    settings.discovery_reserve = tokens("discovery_reserve")?.unwrap_or(discovery);
    settings.cache_limit = tokens("cache_limit")?.unwrap_or(cache);
    if settings.discovery_reserve > settings.max_tokens {
        return Err(keys.bad_value(
            if keys.table.get("discovery_reserve").is_some() { "discovery_reserve" } else { "max_tokens" },
            format!("leaves {} tokens for {} of search results", settings.max_tokens, settings.discovery_reserve),
            "make `max_tokens` at least as large as `discovery_reserve`",
        ));
    }
    read_agents(keys, &mut settings)?;
    read_clients(keys, &mut settings)?;
    Ok(settings)
}

fn read_agents(keys: &Keys<'_>, settings: &mut ToolSettings) -> Result<(), ConfigError> {
    let Some(item) = keys.table.get("agents") else { return Ok(()) };
    let agents = item.as_table_like().ok_or_else(|| keys.wrong_type("agents", item, "a table"))?;
    if agents.len() > MOST_AGENTS {
        return Err(keys.bad_value("agents", "has too many entries", format!("keep at most {MOST_AGENTS}")));
    }
    for (name, item) in agents.iter() {
        let table = item.as_table_like().ok_or_else(|| keys.wrong_type(name, item, "a table"))?;
        let agent = Keys { source: keys.source, table, server: None, place: "[tool_context.agents]", known: AGENT };
        agent.refuse_unknown()?;
        // `auto` is what holds for everybody where nothing is said.
        let fixed = |word: &str| ToolLevel::from_word(word).filter(|level| *level != ToolLevel::Auto);
        let level = agent.word("level", &ToolLevel::WORDS[1..], fixed)?;
        settings.agents.insert(name.to_owned(), AgentSettings { level, pinned: agent.strings("pinned")? });
    }
    Ok(())
}

fn read_clients(keys: &Keys<'_>, settings: &mut ToolSettings) -> Result<(), ConfigError> {
    let Some(item) = keys.table.get("clients") else { return Ok(()) };
    let clients = item.as_table_like().ok_or_else(|| keys.wrong_type("clients", item, "a table"))?;
    if clients.len() > MAX_CLIENTS {
        return Err(keys.bad_value("clients", "has too many entries", format!("keep at most {MAX_CLIENTS}")));
    }
    for (name, item) in clients.iter() {
        let table = item.as_table_like().ok_or_else(|| keys.wrong_type(name, item, "a table"))?;
        let client = Keys { source: keys.source, table, server: None, place: "[tool_context.clients]", known: CLIENT };
        client.refuse_unknown()?;
        let number = |key: &str| -> Result<Option<usize>, ConfigError> {
            Ok(client.number(key, 1, TOKENS_BOUND)?.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        let said = ClientSettings {
            level: client.word("level", ToolLevel::WORDS, ToolLevel::from_word)?,
            max_tokens: number("max_tokens")?,
            max_tools: number("max_tools")?,
            max_name_length: client.number("max_name_length", 24, 128)?.and_then(|length| usize::try_from(length).ok()),
        };
        settings.clients.insert(name.to_owned(), said);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Config, Environment};

    fn parsed(text: &str) -> Result<ToolSettings, String> {
        let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default());
        config.map(|config| config.settings.tools).map_err(|error| error.to_string())
    }

    #[test]
    fn the_section_is_read() {
        assert_eq!(parsed("").unwrap(), ToolSettings::default());
        let settings = parsed(
            "[tool_context]\nlevel = 'hybrid'\npinned = ['memory__store']\nmax_tokens = 9000\nmodel = 'm'\n\
             [tool_context.agents.bot]\nlevel = 'L2'\npinned = ['a']\n\
             [tool_context.clients.cursor]\nlevel = 'auto'\nmax_tools = 60\nmax_name_length = 40",
        )
        .unwrap();
        assert_eq!((settings.level, settings.max_tokens, settings.cache_limit), (ToolLevel::Hybrid, 9000, 3375));
        let cursor = ClientSettings {
            level: Some(ToolLevel::Auto),
            max_tokens: None,
            max_tools: Some(60),
            max_name_length: Some(40),
        };
        assert_eq!(settings.clients.get("cursor"), Some(&cursor));
        assert_eq!(settings.pinned, ["memory__store"]);
        assert_eq!(settings.model.as_deref(), Some(Path::new("m")));
        let bot = AgentSettings { level: Some(ToolLevel::Discovery), pinned: vec!["a".to_owned()] };
        assert_eq!(settings.agents.get("bot"), Some(&bot));
        for word in ToolLevel::WORDS {
            assert!(ToolLevel::from_word(word).is_some(), "{word}");
        }
    }

    #[test]
    fn names_have_a_budget_and_aliases_are_nobody_elses() {
        assert_eq!(parsed("").unwrap().max_name_length, 46);
        assert_eq!(parsed("[tool_context]\nmax_name_length = 64").unwrap().max_name_length, 64);
        for (aliases, fine) in [
            (["g", "h"], true),
            (["one", "h"], true),
            (["two", "h"], false),
            (["g", "G"], false),
            (["mgp", "h"], false),
            (["a b", "h"], false),
        ] {
            let [first, second] = aliases;
            let text = format!(
                "[[servers]]\nid = 'one'\nalias = '{first}'\ncommand = 'x'\n\
                 [[servers]]\nid = 'two'\nalias = '{second}'\ncommand = 'y'\n"
            );
            let config = Config::parse(Path::new("mgp.toml"), &text, &Environment::default()).unwrap();
            let errors: Vec<String> = config.errors().map(ToString::to_string).collect();
            assert_eq!(errors.is_empty(), fine, "{aliases:?}: {errors:?}");
            assert!(errors.iter().all(|error| error.contains("alias")), "{errors:?}");
        }
    }

    #[test]
    fn shares_follow_the_budget_where_they_are_not_said() {
        for (text, expected) in [
            ("", (25_000, 6_250, 9_375, 9_375)),
            ("[tool_context]\nmax_tokens = 8000", (8_000, 2_000, 3_000, 3_000)),
            ("[tool_context]\nmax_tokens = 8000\npinned_reserve = 100", (8_000, 100, 3_000, 3_000)),
            ("[tool_context]\nmax_tokens = 0", (0, 0, 0, 0)),
        ] {
            let found = parsed(text).unwrap();
            let found = (found.max_tokens, found.pinned_reserve, found.discovery_reserve, found.cache_limit);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("[tool_context]\nlevel = 'hybird'", "hybrid"),
            ("[tool_context]\nlevle = 'all'", "level"),
            ("[tool_context]\nmax_tokens = 'many'", "max_tokens"),
            ("[tool_context]\nmax_tokens = 100\ndiscovery_reserve = 200", "max_tokens"),
            ("[tool_context]\nclients = 5", "clients"),
            ("[tool_context]\nmax_name_length = 10", "max_name_length"),
            ("[tool_context.clients.cursor]\nmax_tool = 5", "max_tools"),
            ("[tool_context.clients.cursor]\nmax_tools = 0", "max_tools"),
            ("[tool_context.clients.cursor]\nlevel = 'al'", "all"),
            ("[tool_context]\nagents = 5", "agents"),
            ("[tool_context.agents.bot]\nlevels = 'all'", "level"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

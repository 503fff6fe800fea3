//! The section `[discovery]`: which servers may come while the kernel runs, and which registries are read (MGP 15).
//!
//! Everything that starts a command for somebody else is off until this file says otherwise. A project's file cannot
//! say it: its settings are not used.

use std::time::Duration;

use switchboard_protocol::mgp::TrustLevel;

use crate::error::ConfigError;
use crate::table::Keys;

/// The keys of the section.
pub(crate) const KEYS: &[&str] = &["registries", "serve", "register", "create"];
const REGISTER: &[&str] = &["enabled", "principals", "trust", "programs", "approved", "most"];
const CREATE: &[&str] = &["enabled", "principals", "trust", "level", "python", "javascript", "most", "idle_ms"];
/// Registries that are read.
const MOST_REGISTRIES: usize = 8;
/// Levels that code can be held to. `unrestricted` is none of them: nobody reads what an agent wrote in a hurry.
const LEVELS: &[&str] = &["standard", "strict", "readonly"];
/// Words for the trust in what comes later. The trust of the kernel itself is not among them.
const TRUST: &[&str] = &["sandboxed", "experimental", "standard"];

/// The section `[discovery]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// Addresses of registries that `recommend_servers` and `switchboard registry` read (`registries`).
    pub registries: Vec<String>,
    /// Whether this kernel is a registry for others, under `/v0/servers` (`serve`).
    pub serve: bool,
    /// Servers that others register (`[discovery.register]`).
    pub register: RegisterSettings,
    /// Tools that agents write (`[discovery.create]`).
    pub create: CreateSettings,
}

/// The section `[discovery.register]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterSettings {
    /// Whether servers can be registered at all (`enabled`).
    pub enabled: bool,
    /// Who may, beside those who may decide for others (`principals`).
    pub principals: Vec<String>,
    /// How far such a server is trusted at most (`trust`).
    pub trust: TrustLevel,
    /// Programs that may be started, once a person agreed to the whole command (`programs`).
    pub programs: Vec<String>,
    /// Commands that need no further approval, word by word (`approved`).
    pub approved: Vec<Vec<String>>,
    /// Registered servers at a time (`most`).
    pub most: usize,
}

/// The section `[discovery.create]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSettings {
    /// Whether agents can write tools at all (`enabled`).
    pub enabled: bool,
    /// Who may, beside those who may decide for others (`principals`).
    pub principals: Vec<String>,
    /// How far such a tool is trusted (`trust`).
    pub trust: TrustLevel,
    /// What its code is held to (`level`, MGP 7.2).
    pub level: String,
    /// The program that runs Python; empty for none (`python`).
    pub python: String,
    /// The program that runs JavaScript; empty for none (`javascript`).
    pub javascript: String,
    /// Tools of this kind at a time (`most`).
    pub most: usize,
    /// After how long without a call one is retired whose client has no session (`idle_ms`).
    pub idle: Duration,
}

impl Default for Discovery {
    fn default() -> Self {
        Self {
            registries: Vec::new(),
            serve: true,
            register: RegisterSettings {
                enabled: false,
                principals: Vec::new(),
                trust: TrustLevel::Untrusted,
                programs: Vec::new(),
                approved: Vec::new(),
                most: 16,
            },
            create: CreateSettings {
                enabled: false,
                principals: Vec::new(),
                trust: TrustLevel::Experimental,
                level: "strict".to_owned(),
                python: "python3".to_owned(),
                javascript: "node".to_owned(),
                most: 8,
                idle: Duration::from_hours(1),
            },
        }
    }
}

pub(crate) fn read(keys: &Keys<'_>) -> Result<Discovery, ConfigError> {
    let mut settings = Discovery { registries: keys.strings("registries")?, ..Discovery::default() };
    if settings.registries.len() > MOST_REGISTRIES {
        return Err(keys.bad_value("registries", "has too many entries", format!("keep at most {MOST_REGISTRIES}")));
    }
    let is_address = |text: &&String| ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
    if let Some(other) = settings.registries.iter().find(|text| !is_address(text)) {
        let reason = format!("has {other:?}, which is no address of a registry");
        return Err(keys.bad_value("registries", reason, "write addresses such as \"https://registry.example\""));
    }
    settings.serve = keys.boolean("serve")?.unwrap_or(settings.serve);
    if let Some(section) = keys.section("register", "[discovery.register]", REGISTER)? {
        read_register(&section, &mut settings.register)?;
    }
    if let Some(section) = keys.section("create", "[discovery.create]", CREATE)? {
        read_create(&section, &mut settings.create)?;
    }
    Ok(settings)
}

fn read_register(keys: &Keys<'_>, settings: &mut RegisterSettings) -> Result<(), ConfigError> {
    settings.enabled = keys.boolean("enabled")?.unwrap_or(settings.enabled);
    settings.principals = keys.strings("principals")?;
    settings.trust = trust(keys)?.unwrap_or(settings.trust);
    settings.most = count(keys, settings.most)?;
    settings.programs = keys.strings("programs")?;
    let Some(item) = keys.table.get("approved") else { return Ok(()) };
    let commands = item.as_array().ok_or_else(|| keys.wrong_type("approved", item, "an array of commands"))?;
    let wrong = || keys.bad_value("approved", "has an entry that is no command", "write [[\"program\", \"argument\"]]");
    for command in commands.iter() {
        let words = command.as_array().ok_or_else(wrong)?;
        let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
        settings.approved.push(words.filter(|words| !words.is_empty()).ok_or_else(wrong)?);
    }
    Ok(())
}

fn read_create(keys: &Keys<'_>, settings: &mut CreateSettings) -> Result<(), ConfigError> {
    settings.enabled = keys.boolean("enabled")?.unwrap_or(settings.enabled);
    settings.principals = keys.strings("principals")?;
    settings.trust = trust(keys)?.unwrap_or(settings.trust);
    let known = |word: &str| LEVELS.contains(&word).then(|| word.to_owned());
    if let Some(level) = keys.word("level", LEVELS, known)? {
        settings.level = level;
    }
    for (key, program) in [("python", &mut settings.python), ("javascript", &mut settings.javascript)] {
        if let Some(word) = keys.string(key)? {
            *program = word;
        }
    }
    settings.most = count(keys, settings.most)?;
    settings.idle = keys.milliseconds("idle_ms")?.unwrap_or(settings.idle);
    Ok(())
}

fn trust(keys: &Keys<'_>) -> Result<Option<TrustLevel>, ConfigError> {
    let below_core = |word: &str| TrustLevel::from_word(word).filter(|trust| *trust < TrustLevel::Core);
    keys.word("trust", TRUST, below_core)
}

fn count(keys: &Keys<'_>, usual: usize) -> Result<usize, ConfigError> {
    let number = keys.number("most", 1, 1_000)?;
    Ok(number.map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Config, Environment};

    fn parsed(text: &str) -> Result<Discovery, String> {
        let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default());
        config.map(|config| config.settings.discovery).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_can_be_registered_or_created_unless_the_file_says_so() {
        let usual = parsed("").unwrap();
        assert_eq!(usual, Discovery::default());
        assert!(!usual.register.enabled && !usual.create.enabled);
        assert_eq!((usual.register.trust, usual.create.level.as_str()), (TrustLevel::Untrusted, "strict"));
    }

    #[test]
    fn the_section_is_read() {
        let settings = parsed(
            "[discovery]\nregistries = ['https://r.example']\nserve = false\n\
             [discovery.register]\nenabled = true\nprincipals = ['bot']\ntrust = 'standard'\nmost = 2\n\
             approved = [['python3', 'a.py']]\n\
             [discovery.create]\nenabled = true\nlevel = 'readonly'\njavascript = ''\nidle_ms = 5",
        )
        .unwrap();
        assert_eq!((settings.registries.len(), settings.serve), (1, false));
        assert_eq!((settings.register.trust, settings.register.most), (TrustLevel::Standard, 2));
        assert_eq!(settings.register.approved, [["python3", "a.py"]]);
        assert_eq!((settings.create.level.as_str(), settings.create.javascript.as_str()), ("readonly", ""));
        assert_eq!(settings.create.idle, Duration::from_millis(5));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("[discovery]\nregistry = []", "unknown key"),
            ("[discovery]\nregistries = ['registry.example']", "https://registry.example"),
            ("[discovery.register]\ntrust = 'core'", "cannot be"),
            ("[discovery.register]\ntrust = 'trusted'", "cannot be"),
            ("[discovery.register]\napproved = ['python3 a.py']", "program"),
            ("[discovery.register]\napproved = [[]]", "program"),
            ("[discovery.create]\nlevel = 'unrestricted'", "cannot be"),
            ("[discovery.create]\nmost = 0", "1 to 1000"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

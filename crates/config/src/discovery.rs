//! The section `[discovery]`: which servers may come while the kernel runs, and which registries are read (MGP 15).
//!
//! Everything that starts a command for somebody else is off until this file says otherwise. A project's file cannot
//! say it: its settings are not used.

use std::time::Duration;

use switchboard_protocol::mgp::TrustLevel;

use crate::error::ConfigError;
use crate::expand::{Environment, expand};
use crate::secret::Secret;
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
    /// Registries that `recommend_servers` and `switchboard registry` read (`registries`).
    pub registries: Vec<RegistrySettings>,
    /// Whether this kernel is a registry for others, under `/v0/servers` (`serve`).
    pub serve: bool,
    /// Servers that others register (`[discovery.register]`).
    pub register: RegisterSettings,
    /// Tools that agents write (`[discovery.create]`).
    pub create: CreateSettings,
}

/// One registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrySettings {
    /// Its address.
    pub url: String,
    /// The bearer token that it wants, where it wants one.
    pub token: Option<Secret>,
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

pub(crate) fn read(keys: &Keys<'_>, environment: &Environment) -> Result<Discovery, ConfigError> {
    let mut settings = Discovery { registries: registries(keys, environment)?, ..Discovery::default() };
    settings.serve = keys.boolean("serve")?.unwrap_or(settings.serve);
    if let Some(section) = keys.section("register", "[discovery.register]", REGISTER)? {
        read_register(&section, &mut settings.register)?;
    }
    if let Some(section) = keys.section("create", "[discovery.create]", CREATE)? {
        read_create(&section, &mut settings.create)?;
    }
    Ok(settings)
}

fn registries(keys: &Keys<'_>, environment: &Environment) -> Result<Vec<RegistrySettings>, ConfigError> {
    let Some(item) = keys.table.get("registries") else { return Ok(Vec::new()) };
    let list = item.as_array().ok_or_else(|| keys.wrong_type("registries", item, "an array of addresses"))?;
    if list.len() > MOST_REGISTRIES {
        return Err(keys.bad_value("registries", "has too many entries", format!("keep at most {MOST_REGISTRIES}")));
    }
    let wrong = |reason: String| {
        let help = "write addresses such as \"https://registry.example\", or { url = \"..\", token = \"${NAME}\" }";
        keys.bad_value("registries", reason, help)
    };
    let mut registries = Vec::new();
    for value in list.iter() {
        let (url, token) = match (value.as_str(), value.as_inline_table()) {
            (Some(url), _) => (Some(url), None),
            (None, Some(table)) => {
                if let Some((key, _)) = table.iter().find(|(key, _)| !["url", "token"].contains(key)) {
                    return Err(wrong(format!("has an entry with `{key}`")));
                }
                let text = |key: &str| table.get(key).and_then(toml_edit::Value::as_str);
                (text("url"), text("token"))
            }
            (None, None) => (None, None),
        };
        let is_address = |url: &&str| ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
        let url =
            url.filter(is_address).ok_or_else(|| wrong("has an entry that is no address of a registry".to_owned()))?;
        let token = token.map(|token| expand(token, "registries", environment).map(Secret::new)).transpose();
        let token = token.map_err(|kind| keys.error(keys.value_span("registries"), kind))?;
        registries.push(RegistrySettings { url: url.to_owned(), token });
    }
    Ok(registries)
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
    use crate::Config;

    fn parsed(text: &str) -> Result<Discovery, String> {
        let environment: Environment = [("T", "hush")].into_iter().collect();
        let config = Config::parse(Path::new("mgp.toml"), text, &environment);
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
            "[discovery]\nregistries = ['https://r.example', { url = 'https://s.example', token = '${T}' }]\nserve = false\n\
             [discovery.register]\nenabled = true\nprincipals = ['bot']\ntrust = 'standard'\nmost = 2\n\
             approved = [['python3', 'a.py']]\n\
             [discovery.create]\nenabled = true\nlevel = 'readonly'\njavascript = ''\nidle_ms = 5",
        )
        .unwrap();
        let registry =
            |url: &str, token: Option<&str>| RegistrySettings { url: url.to_owned(), token: token.map(Secret::new) };
        let expected = [registry("https://r.example", None), registry("https://s.example", Some("hush"))];
        assert_eq!((settings.registries.as_slice(), settings.serve), (&expected[..], false));
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
            ("[discovery]\nregistries = [{ url = 'https://r.example', tokn = 'x' }]", "tokn"),
            ("[discovery]\nregistries = [{ url = 'https://r.example', token = '${NOT_SET}' }]", "NOT_SET"),
            ("[discovery]\nregistries = [5]", "no address"),
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

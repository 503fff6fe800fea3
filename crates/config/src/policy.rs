//! What an operator says about the use of servers: `[gate]`, `[servers.tools]`, `[servers.prompts]` and permissions.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_protocol::mgp::{Risk, ValidatorName};
use toml_edit::{Item, TableLike};

use crate::error::ConfigError;
use crate::flow::{self, Rates};
use crate::pins::PinMode;
use crate::table::Keys;

const GATE: &[&str] = &[
    "approval_wait_ms",
    "pin_definitions",
    "pins",
    "screen_definitions",
    "screen_results",
    "check_schemas",
    "demand_scopes",
    "session_ttl_ms",
    "audit_arguments",
    "sync_all_effects",
    "reads_without_record",
    "audit_keep_days",
    "auto_approve_exceptions",
    "understood_commands",
];
const TOOL: &[&str] = &[
    "enabled",
    "risk",
    "validator",
    "code_level",
    "confirm",
    "schema",
    "text_arguments",
    "rates",
    "name",
    "description",
    "defaults",
    "fixed",
    "pins",
];
/// A prompt has no schema and no rates of its own.
const PROMPT: &[&str] = &["enabled", "risk", "validator", "confirm", "text_arguments"];
/// Arguments of one tool or prompt that are said to be text.
const MAX_TEXT_ARGUMENTS: usize = 256;
/// MGP 7.2.
const CODE_LEVELS: &[&str] = &["unrestricted", "standard", "strict", "readonly"];

/// The `[gate]` section: how calls are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSettings {
    /// How long a call waits for a person (`approval_wait_ms`).
    pub approval_wait: Duration,
    /// Whether a changed definition of a tool is held back (`pin_definitions`).
    pub pin_definitions: bool,
    /// When a person is asked about it; what is usual for each server if absent (`pins`).
    pub pins: Option<PinMode>,
    /// Whether definitions are searched for orders to the model (`screen_definitions`).
    pub screen_definitions: bool,
    /// Whether results are searched for what hides or gives orders, and marked (`screen_results`).
    pub screen_results: bool,
    /// Whether arguments are held against the schema of their tool (`check_schemas`).
    pub check_schemas: bool,
    /// Whether tools that name scopes are called only with a session token that has them (`demand_scopes`).
    pub demand_scopes: bool,
    /// How long a session token lives at most (`session_ttl_ms`).
    pub session_ttl: Duration,
    /// Whether the audit log has the values of arguments, not only their hash (`audit_arguments`).
    pub audit_arguments: bool,
    /// Whether a call waits for the disk wherever it may change something (`sync_all_effects`).
    pub sync_all_effects: bool,
    /// Whether calls that only read go on where they cannot be put on record (`reads_without_record`).
    pub reads_without_record: bool,
    /// After how many days audit events are removed; never if absent (`audit_keep_days`).
    pub audit_keep_days: Option<u64>,
    /// What `auto_approve` leaves to a person (`auto_approve_exceptions`).
    pub auto_approve_exceptions: Vec<String>,
    /// Lines that are added to the table of commands that are understood (`understood_commands`).
    pub understood_commands: Vec<String>,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            approval_wait: Duration::from_millis(45_000),
            pin_definitions: true,
            pins: None,
            screen_definitions: true,
            screen_results: true,
            check_schemas: true,
            demand_scopes: false,
            session_ttl: Duration::from_millis(3_600_000),
            audit_arguments: false,
            sync_all_effects: false,
            reads_without_record: false,
            audit_keep_days: None,
            auto_approve_exceptions: vec!["filesystem.write".to_owned(), "network.outbound".to_owned()],
            understood_commands: Vec::new(),
        }
    }
}

/// What is said of one tool, or of one prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolEntry {
    /// Whether it can be used at all; it can if absent.
    pub enabled: Option<bool>,
    /// Its risk, whatever the server says.
    pub risk: Option<Risk>,
    /// The one check of its arguments.
    pub validator: Option<ValidatorName>,
    /// Whether a person is asked before each call.
    pub confirm: Option<bool>,
    /// How code in its arguments is judged: `unrestricted`, `standard`, `strict` or `readonly`.
    pub code_level: Option<String>,
    /// Whether its arguments are held against its schema; as for all tools if absent.
    pub schema: Option<bool>,
    /// Arguments of which the operator says that they are text, and neither paths nor hosts: the limits of grants on
    /// paths and hosts leave them alone.
    pub text_arguments: Vec<String>,
    /// How often it may be called, by everybody together.
    pub rates: Rates,
    /// What clients see in the place of its own name.
    pub name: Option<String>,
    /// What clients see in the place of its own description.
    pub description: Option<String>,
    /// Arguments that a call has unless it says otherwise.
    pub defaults: Map<String, Value>,
    /// Arguments that every call has, whatever it says.
    pub fixed: Map<String, Value>,
    /// When a person is asked about its definition; as for its server if absent.
    pub pins: Option<PinMode>,
}

/// How far servers are confined (`isolation`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsolationMode {
    /// Not at all; said of all servers, those that are not trusted stay confined.
    Off,
    /// Those that are experimental or not trusted.
    Untrusted,
    /// All but those trusted as the kernel itself.
    Trust,
}

impl IsolationMode {
    const WORDS: &'static [&'static str] = &["off", "untrusted", "trust"];

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "off" => Some(Self::Off),
            "untrusted" => Some(Self::Untrusted),
            "trust" => Some(Self::Trust),
            _ => None,
        }
    }

    /// The word as it stands in a file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Untrusted => "untrusted",
            Self::Trust => "trust",
        }
    }
}

/// What is said of the confinement of one server: a word, or the `[servers.isolation]` table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IsolationEntry {
    /// Whether it is confined.
    pub mode: Option<IsolationMode>,
    /// The most memory of each of its processes.
    pub memory_limit_mb: Option<u64>,
    /// Processor time for one call.
    pub cpu_time_limit_secs: Option<u64>,
    /// How much of the file system it sees: `none`, `readonly`, `sandbox` or `unrestricted`.
    pub filesystem_scope: Option<String>,
    /// How much of the network it sees: `none`, `proxy_only` or `unrestricted`.
    pub network_scope: Option<String>,
    /// How many processes it may start.
    pub max_child_processes: Option<u32>,
}

const ISOLATION: &[&str] =
    &["mode", "memory_limit_mb", "cpu_time_limit_secs", "filesystem_scope", "network_scope", "max_child_processes"];

pub(crate) fn read_isolation_mode(top: &Keys<'_>) -> Result<IsolationMode, ConfigError> {
    let said = top.word("isolation", IsolationMode::WORDS, IsolationMode::from_word)?;
    Ok(said.unwrap_or(IsolationMode::Untrusted))
}

pub(crate) fn read_isolation(server: &Keys<'_>) -> Result<Option<IsolationEntry>, ConfigError> {
    const FILES: &[&str] = &["none", "readonly", "sandbox", "unrestricted"];
    const NETWORK: &[&str] = &["none", "proxy_only", "unrestricted"];
    let Some(item) = server.table.get("isolation") else { return Ok(None) };
    if !item.is_table_like() {
        let mode = server.word("isolation", IsolationMode::WORDS, IsolationMode::from_word)?;
        return Ok(Some(IsolationEntry { mode, ..IsolationEntry::default() }));
    }
    let Some(keys) = server.section("isolation", "[servers.isolation]", ISOLATION)? else { return Ok(None) };
    let one_of = |words: &'static [&'static str]| move |word: &str| words.contains(&word).then(|| word.to_owned());
    let children = keys.number("max_child_processes", 0, 10_000)?;
    Ok(Some(IsolationEntry {
        mode: keys.word("mode", IsolationMode::WORDS, IsolationMode::from_word)?,
        memory_limit_mb: keys.number("memory_limit_mb", 1, 1 << 20)?,
        cpu_time_limit_secs: keys.number("cpu_time_limit_secs", 1, 86_400)?,
        filesystem_scope: keys.word("filesystem_scope", FILES, one_of(FILES))?,
        network_scope: keys.word("network_scope", NETWORK, one_of(NETWORK))?,
        max_child_processes: children.and_then(|children| u32::try_from(children).ok()),
    }))
}

/// Permissions that are granted by configuration, with the scope that narrows each.
pub type Permissions = BTreeMap<String, Option<Value>>;

pub(crate) fn read_gate(top: &Keys<'_>) -> Result<GateSettings, ConfigError> {
    let mut gate = GateSettings::default();
    let Some(keys) = top.section("gate", "[gate]", GATE)? else { return Ok(gate) };
    gate.approval_wait = keys.milliseconds("approval_wait_ms")?.unwrap_or(gate.approval_wait);
    gate.session_ttl = keys.milliseconds("session_ttl_ms")?.unwrap_or(gate.session_ttl);
    for (key, slot) in [
        ("pin_definitions", &mut gate.pin_definitions),
        ("screen_definitions", &mut gate.screen_definitions),
        ("screen_results", &mut gate.screen_results),
        ("check_schemas", &mut gate.check_schemas),
        ("demand_scopes", &mut gate.demand_scopes),
        ("audit_arguments", &mut gate.audit_arguments),
        ("sync_all_effects", &mut gate.sync_all_effects),
        ("reads_without_record", &mut gate.reads_without_record),
    ] {
        *slot = keys.boolean(key)?.unwrap_or(*slot);
    }
    gate.pins = keys.word("pins", PinMode::WORDS, PinMode::from_word)?;
    gate.audit_keep_days = keys.number("audit_keep_days", 1, 36_500)?;
    if keys.table.contains_key("auto_approve_exceptions") {
        gate.auto_approve_exceptions = keys.strings("auto_approve_exceptions")?;
    }
    if keys.table.contains_key("understood_commands") {
        gate.understood_commands = keys.strings("understood_commands")?;
    }
    Ok(gate)
}

pub(crate) fn read_tools(server: &Keys<'_>) -> Result<BTreeMap<String, ToolEntry>, ConfigError> {
    read_named(server, "tools", |table| {
        let keys = Keys { table, place: "[servers.tools]", known: TOOL, ..*server };
        let levels = |word: &str| CODE_LEVELS.contains(&word).then(|| word.to_owned());
        Ok(ToolEntry {
            code_level: keys.word("code_level", CODE_LEVELS, levels)?,
            schema: keys.boolean("schema")?,
            rates: flow::read_tool_rates(&keys)?,
            name: read_name(&keys)?,
            description: keys.string("description")?,
            defaults: read_arguments(&keys, "defaults")?,
            fixed: read_arguments(&keys, "fixed")?,
            pins: keys.word("pins", PinMode::WORDS, PinMode::from_word)?,
            ..read_word(&keys)?
        })
    })
}

pub(crate) fn read_prompts(server: &Keys<'_>) -> Result<BTreeMap<String, ToolEntry>, ConfigError> {
    read_named(server, "prompts", |table| {
        read_word(&Keys { table, place: "[servers.prompts]", known: PROMPT, ..*server })
    })
}

/// A table of tables, each under the server's own name for the thing.
fn read_named(
    server: &Keys<'_>,
    key: &str,
    read: impl Fn(&dyn TableLike) -> Result<ToolEntry, ConfigError>,
) -> Result<BTreeMap<String, ToolEntry>, ConfigError> {
    let Some(item) = server.table.get(key) else { return Ok(BTreeMap::new()) };
    let table = item.as_table_like().ok_or_else(|| server.wrong_type(key, item, "a table of tables"))?;
    let named = |(name, item): (&str, &Item)| {
        let table = item.as_table_like().ok_or_else(|| server.wrong_type(&format!("{key}.{name}"), item, "a table"))?;
        Ok((name.to_owned(), read(table)?))
    };
    table.iter().map(named).collect()
}

/// What can be said of tools and of prompts.
fn read_word(keys: &Keys<'_>) -> Result<ToolEntry, ConfigError> {
    keys.refuse_unknown()?;
    let text_arguments = keys.strings("text_arguments")?;
    if text_arguments.len() > MAX_TEXT_ARGUMENTS {
        let help = format!("name at most {MAX_TEXT_ARGUMENTS}");
        return Err(keys.bad_value("text_arguments", "has too many entries", help));
    }
    Ok(ToolEntry {
        enabled: keys.boolean("enabled")?,
        risk: keys.word("risk", Risk::WORDS, Risk::from_word)?,
        validator: keys.word("validator", ValidatorName::WORDS, ValidatorName::from_word)?,
        confirm: keys.boolean("confirm")?,
        text_arguments,
        ..ToolEntry::default()
    })
}

/// A name that every client takes.
fn read_name(keys: &Keys<'_>) -> Result<Option<String>, ConfigError> {
    let name = keys.string("name")?;
    let is_good = |name: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        (1..=64).contains(&name.len()) && name.chars().all(plain)
    };
    match name {
        Some(name) if !is_good(&name) => {
            Err(keys.bad_value("name", format!("is {name:?}"), "use at most 64 letters, digits, `_`, `-` and `.`"))
        }
        name => Ok(name),
    }
}

/// Arguments with their values.
fn read_arguments(keys: &Keys<'_>, key: &str) -> Result<Map<String, Value>, ConfigError> {
    let Some(item) = keys.table.get(key) else { return Ok(Map::new()) };
    let table = item.as_table_like().ok_or_else(|| keys.wrong_type(key, item, "a table of arguments"))?;
    let argument = |(name, item): (&str, &Item)| {
        let value = json_of(item).ok_or_else(|| keys.wrong_type(&format!("{key}.{name}"), item, "a value of JSON"))?;
        Ok((name.to_owned(), value))
    };
    table.iter().map(argument).collect()
}

/// A TOML value as JSON; `None` for a time, or a number that JSON has not.
fn json_of(item: &Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        let members = table.iter().map(|(key, item)| Some((key.to_owned(), json_of(item)?)));
        return members.collect::<Option<Map<_, _>>>().map(Value::Object);
    }
    if let Some(array) = item.as_array() {
        return array.iter().map(|value| json_of(&Item::Value(value.clone()))).collect();
    }
    match (item.as_str(), item.as_integer(), item.as_bool(), item.as_float()) {
        (Some(text), ..) => Some(text.into()),
        (_, Some(number), ..) => Some(number.into()),
        (_, _, Some(flag), _) => Some(flag.into()),
        (.., Some(number)) => serde_json::Number::from_f64(number).map(Value::Number),
        _ => None,
    }
}

/// `permissions_granted`: a list of names, or a table from names to scopes (`true` for one without).
pub(crate) fn read_granted(mgp: &Keys<'_>) -> Result<Permissions, ConfigError> {
    const KEY: &str = "permissions_granted";
    let Some(item) = mgp.table.get(KEY) else { return Ok(Permissions::new()) };
    let Some(table) = item.as_table_like() else {
        return Ok(mgp.strings(KEY)?.into_iter().map(|name| (name, None)).collect());
    };
    let granted = |(name, item): (&str, &Item)| match item.as_bool() {
        Some(true) => Ok((name.to_owned(), None)),
        Some(false) => Err(mgp.bad_value(KEY, format!("says `{name} = false`"), "leave the permission out")),
        None if item.is_table_like() => Ok((name.to_owned(), Some(value_of(item)))),
        None => Err(mgp.wrong_type(&format!("{KEY}.{name}"), item, "true or a table")),
    };
    table.iter().map(granted).collect()
}

/// A TOML value as JSON.
fn value_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(key, item)| (key.to_owned(), value_of(item))).collect());
    }
    if let Some(array) = item.as_array() {
        return array.iter().map(|value| value_of(&Item::Value(value.clone()))).collect();
    }
    match (item.as_str(), item.as_integer(), item.as_bool()) {
        (Some(text), ..) => text.into(),
        (_, Some(number), _) => number.into(),
        (.., Some(flag)) => flag.into(),
        // Times and fractions have no place in a scope: whoever reads it refuses this.
        _ => json!({"unreadable": item.type_name()}),
    }
}

/// What of it an approval of a server covers; `None` where nothing is said.
pub(crate) fn covered(
    granted: &Permissions,
    tools: &BTreeMap<String, ToolEntry>,
    isolation: Option<&IsolationEntry>,
) -> Option<Value> {
    if granted.is_empty() && tools.is_empty() && isolation.is_none() {
        return None;
    }
    Some(json!([granted, covered_words(tools), isolation.map(|isolation| format!("{isolation:?}"))]))
}

/// What of the operator's words about tools or prompts an approval covers.
pub(crate) fn covered_words(entries: &BTreeMap<String, ToolEntry>) -> Vec<Value> {
    let covered = |(name, tool): (&String, &ToolEntry)| {
        let mut said =
            vec![json!(name), json!(tool.risk.map(Risk::as_str)), json!(tool.validator.map(ValidatorName::as_str))];
        said.push(json!(tool.confirm));
        // Only where something is said, so that earlier approvals stay good.
        said.extend(tool.enabled.map(|enabled| json!({ "enabled": enabled })));
        said.extend(tool.schema.map(|schema| json!({ "schema": schema })));
        said.extend(tool.code_level.as_ref().map(|level| json!({ "code_level": level })));
        said.extend((!tool.text_arguments.is_empty()).then(|| json!({ "text_arguments": tool.text_arguments })));
        said.extend(tool.rates.written().map(|rates| json!({ "rates": rates })));
        said.extend(tool.name.as_ref().map(|name| json!({ "name": name })));
        said.extend(tool.description.as_ref().map(|text| json!({ "description": text })));
        said.extend((!tool.defaults.is_empty()).then(|| json!({ "defaults": tool.defaults })));
        said.extend((!tool.fixed.is_empty()).then(|| json!({ "fixed": tool.fixed })));
        said.extend(tool.pins.map(|pins| json!({ "pins": pins.as_str() })));
        Value::Array(said)
    };
    entries.iter().map(covered).collect()
}

/// The same as TOML, to be written back.
pub(crate) fn written(granted: &Permissions) -> Option<String> {
    let plain = granted.values().all(Option::is_none);
    if granted.is_empty() {
        return None;
    }
    let items: Vec<String> = granted
        .iter()
        .map(|(name, scope)| {
            let name = crate::edit::string(name);
            match scope {
                _ if plain => name,
                None => format!("{name} = true"),
                Some(scope) => format!("{name} = {}", toml_of(scope)),
            }
        })
        .collect();
    Some(if plain { format!("[{}]", items.join(", ")) } else { format!("{{ {} }}", items.join(", ")) })
}

fn toml_of(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{} = {}", crate::edit::string(key), toml_of(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml_of).collect::<Vec<_>>().join(", ")),
        Value::String(text) => crate::edit::string(text),
        other => other.to_string(),
    }
}

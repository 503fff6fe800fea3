//! The section `[memory]`: the memory that comes with Switchboard.

use crate::error::ConfigError;
use crate::table::Keys;

/// The keys of the section.
pub(crate) const KEYS: &[&str] = &["enabled", "space", "dreams"];

/// The section `[memory]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Whether the memory is one of the servers (`enabled`). Without a word it is, where there is no configuration file.
    pub enabled: Option<bool>,
    /// The space that is used where a call names none (`space`).
    pub space: String,
    /// Whether it dreams by itself when it is idle (`dreams`).
    pub dreams: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Self { enabled: None, space: "default".to_owned(), dreams: true }
    }
}

pub(crate) fn read(keys: &Keys<'_>) -> Result<Memory, ConfigError> {
    let usual = Memory::default();
    let space = keys.string("space")?.unwrap_or_else(|| usual.space.clone());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if space.is_empty() || space.len() > 64 || !space.chars().all(plain) {
        let reason = format!("is {space:?}, which is no name of a space");
        return Err(keys.bad_value("space", reason, "write up to 64 letters, digits, dots, dashes and underscores"));
    }
    Ok(Memory { enabled: keys.boolean("enabled")?, space, dreams: keys.boolean("dreams")?.unwrap_or(usual.dreams) })
}

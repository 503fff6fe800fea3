//! The names of permissions (MGP 3.2): eleven standard ones, and custom ones in reverse-domain notation.

use std::borrow::Cow;

use switchboard_protocol::mgp::Risk;

/// Running shell commands.
pub const SHELL_EXECUTE: &str = "shell.execute";
/// Running code.
pub const CODE_EXECUTION: &str = "code_execution";
/// Requests to the outside.
pub const NETWORK_OUTBOUND: &str = "network.outbound";
/// Reading files.
pub const FILESYSTEM_READ: &str = "filesystem.read";
/// Writing files.
pub const FILESYSTEM_WRITE: &str = "filesystem.write";

/// The standard permissions, with the risk of a tool that has them. Where the specification and its later table of
/// effective risks differ, this is the stricter one.
pub const STANDARD: [(&str, Risk); 11] = [
    (FILESYSTEM_READ, Risk::Moderate),
    (FILESYSTEM_WRITE, Risk::Dangerous),
    (NETWORK_OUTBOUND, Risk::Moderate),
    ("network.listen", Risk::Dangerous),
    (SHELL_EXECUTE, Risk::Dangerous),
    (CODE_EXECUTION, Risk::Dangerous),
    ("memory.read", Risk::Safe),
    ("memory.write", Risk::Moderate),
    ("system.info", Risk::Safe),
    ("camera", Risk::Dangerous),
    ("notification", Risk::Safe),
];

/// Short names that the specification's own examples use, and what they stand for.
const ALIASES: [(&str, &str); 3] =
    [("shell", SHELL_EXECUTE), ("network", NETWORK_OUTBOUND), ("filesystem", FILESYSTEM_READ)];

/// The longest custom name.
const MAX_NAME_BYTES: usize = 128;

/// A name that stands for a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPermission<'a> {
    /// The name that is stored, granted and compared.
    pub canonical: Cow<'a, str>,
    /// Whether it was written as a short name, which whoever wrote it should be told.
    pub alias: bool,
}

/// A name that stands for no permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no permission: it is neither a standard one nor a name such as com.example.permission")]
pub struct UnknownPermission(pub String);

/// Reads the name of a permission.
///
/// # Errors
/// It is none.
pub fn read(word: &str) -> Result<KnownPermission<'_>, UnknownPermission> {
    if let Some((_, canonical)) = ALIASES.iter().find(|(alias, _)| *alias == word) {
        return Ok(KnownPermission { canonical: Cow::Borrowed(canonical), alias: true });
    }
    if standard_risk(word).is_some() || is_reverse_domain(word) {
        return Ok(KnownPermission { canonical: Cow::Borrowed(word), alias: false });
    }
    Err(UnknownPermission(word.chars().take(MAX_NAME_BYTES).collect()))
}

/// The risk of a tool that has this permission. Nobody knows what a custom one lets it do, so that is moderate; what
/// is no permission at all is dangerous.
#[must_use]
pub fn risk(word: &str) -> Risk {
    match read(word) {
        Ok(known) => standard_risk(&known.canonical).unwrap_or(Risk::Moderate),
        Err(_) => Risk::Dangerous,
    }
}

/// Whether something can be changed with this permission.
pub(crate) fn changes_something(word: &str) -> bool {
    !matches!(word, FILESYSTEM_READ | NETWORK_OUTBOUND | "memory.read" | "system.info")
}

fn standard_risk(word: &str) -> Option<Risk> {
    STANDARD.iter().find(|(name, _)| *name == word).map(|(_, risk)| *risk)
}

/// Three labels at least, so that a misspelt standard name is not taken for a custom one.
fn is_reverse_domain(word: &str) -> bool {
    let label = |label: &str| {
        label.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
    };
    let top = word.split('.').next().unwrap_or_default();
    word.len() <= MAX_NAME_BYTES
        && word.split('.').count() >= 3
        && word.split('.').all(label)
        && top.len() >= 2
        && top.bytes().all(|byte| byte.is_ascii_lowercase())
}

//! What a grant is limited to: paths, commands, hosts, ports, languages.

use switchboard_wire::{Object, Raw};

/// The limits of a grant. An absent list limits nothing, an empty one allows nothing, and a denial always wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Patterns of which one must match each path.
    pub paths: Option<Vec<String>>,
    /// Patterns of which none may.
    pub deny_paths: Vec<String>,
    /// The programs that alone may be run; one with blanks is the beginning of a command.
    pub commands: Option<Vec<String>>,
    /// The programs that may not.
    pub deny_commands: Vec<String>,
    /// Whether a command may ask for the rights of another user.
    pub allow_sudo: bool,
    /// The hosts that alone may be reached; `*.example.com` stands for every name below.
    pub hosts: Option<Vec<String>>,
    /// The hosts that may not.
    pub deny_hosts: Vec<String>,
    /// The ports that alone may be reached.
    pub ports: Option<Vec<u16>>,
    /// The languages in which alone code may be run.
    pub languages: Option<Vec<String>>,
    /// How long a call may take.
    pub max_execution_time_ms: Option<u64>,
}

/// Why a scope is not taken. Half a scope would be a wider one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeFault {
    /// It is no object, or one with a member twice.
    #[error("a scope is an object that names each member once")]
    Shape,
    /// A member that nobody here would enforce.
    #[error("the member `{0}` of a scope is not known")]
    Member(String),
    /// A member of the wrong type.
    #[error("the member `{0}` of a scope has the wrong type")]
    Type(&'static str),
}

impl Scope {
    /// The same without what it says of paths, hosts and ports.
    #[must_use]
    pub fn without_places(&self) -> Self {
        Self { hosts: None, deny_hosts: Vec::new(), ports: None, ..self.without_paths() }
    }

    /// The same without what it says of paths.
    #[must_use]
    pub fn without_paths(&self) -> Self {
        Self { paths: None, deny_paths: Vec::new(), ..self.clone() }
    }

    /// Reads a scope as it is stored or sent.
    ///
    /// # Errors
    /// Anything about it is not understood.
    pub fn read(raw: &Raw) -> Result<Self, ScopeFault> {
        let object = Object::open(raw).map_err(|_| ScopeFault::Shape)?;
        let mut scope = Self::default();
        for (key, value) in object.iter() {
            match key.as_ref() {
                "paths" => scope.paths = Some(typed("paths", &value)?),
                "deny_paths" => scope.deny_paths = typed("deny_paths", &value)?,
                "commands" => scope.commands = Some(typed("commands", &value)?),
                "deny_commands" => scope.deny_commands = typed("deny_commands", &value)?,
                "allow_sudo" => scope.allow_sudo = typed("allow_sudo", &value)?,
                "hosts" => scope.hosts = Some(typed("hosts", &value)?),
                "deny_hosts" => scope.deny_hosts = typed("deny_hosts", &value)?,
                "ports" => scope.ports = Some(typed("ports", &value)?),
                "languages" => scope.languages = Some(typed("languages", &value)?),
                "max_execution_time_ms" => {
                    scope.max_execution_time_ms = Some(typed("max_execution_time_ms", &value)?);
                }
                other => return Err(ScopeFault::Member(other.chars().take(64).collect())),
            }
        }
        Ok(scope)
    }
}

fn typed<T: serde::de::DeserializeOwned>(name: &'static str, value: &Raw) -> Result<T, ScopeFault> {
    value.view().map_err(|_| ScopeFault::Type(name))
}

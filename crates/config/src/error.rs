//! What can be wrong with a configuration, in words that name the file, the line, the server and the next thing to do.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::ids;
use crate::secret::printable;

/// A fault in a configuration file. Its `Display` is meant for a person, over several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(Box<Parts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    file: PathBuf,
    place: Option<(usize, usize)>,
    excerpt: String,
    server: Option<String>,
    kind: ErrorKind,
}

/// The kinds of faults. `Display` gives the bare sentence; [`ConfigError`] adds the place and the help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A key that has no meaning here.
    #[error("unknown key `{key}`{}", within(.place))]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The section, empty for the top level or the server itself.
        place: &'static str,
        /// The known key that is nearest, if one is near.
        closest: Option<&'static str>,
        /// All keys that are known here.
        known: &'static [&'static str],
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, found {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What was expected, with its article.
        expected: &'static str,
        /// The TOML type found.
        found: &'static str,
    },
    /// A value outside what the key allows.
    #[error("`{key}` {reason}")]
    BadValue {
        /// The key.
        key: String,
        /// Why, as the rest of a sentence.
        reason: String,
        /// What to write instead.
        help: String,
    },
    /// A `[[servers]]` block without `id`.
    #[error("a server without `id`")]
    MissingId,
    /// An id outside the allowed characters, or reserved.
    #[error("the server id {id:?} {reason}")]
    BadId {
        /// The id as written.
        id: String,
        /// Why it is refused.
        reason: &'static str,
    },
    /// The same id twice.
    #[error("the server id {id:?} is already taken{}", on_line(.line))]
    DuplicateId {
        /// The id.
        id: String,
        /// Line of the first, where it is in the same file.
        line: Option<usize>,
    },
    /// Two ids that a person could mistake for one another.
    #[error("the server id {id:?} looks like {other:?}{}", on_line(.line))]
    LookAlike {
        /// The later id.
        id: String,
        /// The earlier id.
        other: String,
        /// Line of the earlier, where it is in the same file.
        line: Option<usize>,
    },
    /// Neither `command` nor `url`, or a stdio server without `command`.
    #[error("`command` is missing")]
    MissingCommand,
    /// An HTTP server without `url`.
    #[error("`url` is missing")]
    MissingUrl,
    /// Both `command` and `url`.
    #[error("both `command` and `url` are given")]
    CommandAndUrl,
    /// A variable that the environment does not have.
    #[error("the variable `{name}`, used in `{key}`, is not set")]
    MissingVariable {
        /// The variable.
        name: String,
        /// The key that uses it.
        key: String,
    },
    /// A `${...}` that is not a reference to a variable.
    #[error("`{key}` has a malformed reference: {reason}")]
    BadReference {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
    /// A server of a project's own file whose exact command nobody approved yet.
    #[error("declared by the project, and not trusted yet")]
    Untrusted,
    /// The file is not there.
    #[error("no such file")]
    NotFound,
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A directory, a pipe, a device.
    #[error("not a regular file")]
    NotAFile,
    /// More bytes than a configuration may have.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// Others may change the file.
    #[error("others may write to it (mode {mode:o})")]
    WritableByOthers {
        /// Permission bits.
        mode: u32,
    },
    /// Someone else owns the file.
    #[error("owned by another user (uid {owner})")]
    OwnedByAnother {
        /// The owner.
        owner: u32,
    },
}

fn within(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" in {place}") }
}

fn on_line(line: &Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}

impl ConfigError {
    pub(crate) fn new(file: &Path, kind: ErrorKind) -> Self {
        Self(Box::new(Parts { file: file.to_owned(), place: None, excerpt: String::new(), server: None, kind }))
    }

    pub(crate) fn in_server(mut self, server: Option<&str>) -> Self {
        self.0.server = server.map(str::to_owned);
        self
    }

    pub(crate) fn at(mut self, line: usize, column: usize, excerpt: String) -> Self {
        self.0.place = Some((line, column));
        self.0.excerpt = excerpt;
        self
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// Line and column, from 1, where the fault has a place in the text.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.0.place
    }

    /// The server it belongs to; `None` for the whole file.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The next thing to do.
    pub fn help(&self) -> String {
        let file = printable(&self.0.file.display().to_string());
        match &self.0.kind {
            ErrorKind::Syntax(_) => "correct this line; `switchboard doctor` checks the file again".to_owned(),
            ErrorKind::UnknownKey { closest: Some(closest), .. } => format!("did you mean `{closest}`?"),
            ErrorKind::UnknownKey { known, .. } => format!("the keys known here are {}", known.join(", ")),
            ErrorKind::WrongType { key, expected, .. } => {
                let key = printable(key.rsplit('.').next().unwrap_or_default());
                match *expected {
                    "a string" => format!("write `{key} = \"...\"`, with the quotes"),
                    "an array of strings" => format!("write `{key} = [\"...\", \"...\"]`"),
                    "true or false" => format!("write `{key} = true` or `{key} = false`, without quotes"),
                    "a whole number" => format!("write `{key} = 1000`, without quotes or unit"),
                    other => format!("write {other}"),
                }
            }
            ErrorKind::BadValue { help, .. } => help.clone(),
            ErrorKind::MissingId => "add a line such as `id = \"files\"` below `[[servers]]`".to_owned(),
            ErrorKind::BadId { reason: ids::RESERVED, .. } => "choose an id other than `mgp` and `mgp.*`".to_owned(),
            ErrorKind::BadId { .. } => "use 1 to 64 of A-Z a-z 0-9 _ . -, starting with a letter or a digit".to_owned(),
            ErrorKind::DuplicateId { .. } => "rename or remove one of the two".to_owned(),
            ErrorKind::LookAlike { .. } => "give it an id that cannot be mistaken for the other".to_owned(),
            ErrorKind::MissingCommand => {
                "add `command = \"...\"` for a local server, or `url = \"https://...\"` for a remote one".to_owned()
            }
            ErrorKind::MissingUrl => "add `url = \"https://...\"`".to_owned(),
            ErrorKind::CommandAndUrl => "keep `command` for a local server or `url` for a remote one".to_owned(),
            ErrorKind::MissingVariable { name, .. } => {
                format!("set {name} in the environment of switchboard, or write `${{{name}:-default}}`")
            }
            ErrorKind::BadReference { .. } => {
                "write `${NAME}` or `${NAME:-default}`; `$${` stands for a plain `${`".to_owned()
            }
            ErrorKind::Untrusted => {
                let server = self.0.server.as_deref().unwrap_or_default();
                format!("look at its command, then run `switchboard trust {server}`")
            }
            ErrorKind::NotFound => "check the path, or create the file with `switchboard init`".to_owned(),
            ErrorKind::Unreadable(_) | ErrorKind::NotAFile => "name a readable file".to_owned(),
            ErrorKind::TooLarge { .. } => "split it, or remove what is not configuration".to_owned(),
            ErrorKind::WritableByOthers { .. } => format!("run `chmod go-w {file}`"),
            ErrorKind::OwnedByAnother { .. } => {
                "make a copy of your own; a file that another user can change could start anything".to_owned()
            }
        }
    }

    /// One line, for logs: place, server and sentence, without excerpt and help.
    pub fn summary(&self) -> String {
        let parts = &*self.0;
        let place = parts.place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
        let server = parts.server.as_ref().map_or_else(String::new, |id| format!("server \"{}\": ", printable(id)));
        format!(
            "{}{place}: {server}{}",
            printable(&parts.file.display().to_string()),
            printable(&parts.kind.to_string())
        )
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.summary())?;
        if !self.0.excerpt.is_empty() {
            writeln!(f, "{}", self.0.excerpt)?;
        }
        let gutter = self.0.place.map_or(0, |(line, _)| line.to_string().len());
        write!(f, "{} = help: {}", " ".repeat(gutter), self.help())
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The kind's sentence is already part of this error's own text.
        None
    }
}

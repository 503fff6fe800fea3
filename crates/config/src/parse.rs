//! A configuration text becomes a [`Config`].
//!
//! A fault in the text as a whole (syntax, an unknown top-level key) refuses the file. A fault inside one server makes only
//! that server unusable, with the fault as its reason, so that the others keep working. Pure: the environment is handed in.

mod server;
mod settings;

pub(crate) use server::TRANSPORT_HEADERS;

use std::collections::HashMap;
use std::path::Path;

use toml_edit::{Document, TableLike};

use crate::error::{ConfigError, ErrorKind};
use crate::expand::Environment;
use crate::ids;
use crate::server::{Origin, Server};
use crate::settings::Settings;
use crate::source::Source;
use crate::table::Keys;

/// Servers in one file at most.
const MAX_SERVERS: usize = 10_000;

const TOP_LEVEL: &[&str] = &[
    "servers",
    "listen",
    "allowed_hosts",
    "allowed_origins",
    "data_dir",
    "pass_env",
    "approval_policy",
    "default_policy",
    "store",
    "bus",
    "limits",
    "auth",
    "gate",
    "isolation",
    "rates",
    "breaker",
    "retry",
    "memory",
    "profiles",
    "tool_context",
    "discovery",
];

/// A configuration that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// What it says about the kernel.
    pub settings: Settings,
    /// The servers, in the order of the files, ids unique. One with a [`Server::problem`] is kept but cannot be started.
    pub servers: Vec<Server>,
    /// Servers that could not be kept at all: no id, a bad id, an id that is taken.
    pub rejected: Vec<ConfigError>,
    /// What works but deserves a look.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads a text as if it were the operator's own file.
    ///
    /// ```
    /// use std::path::Path;
    /// use switchboard_config::{Config, Endpoint, Environment};
    ///
    /// let text = r#"
    /// [[servers]]
    /// id = "files"
    /// command = "npx"
    /// args = ["-y", "@modelcontextprotocol/server-filesystem", "${DOCS:-docs}"]
    ///
    /// [[servers]]
    /// id = "tracker"
    /// url = "https://tracker.example/mcp"
    /// token = "${TRACKER_TOKEN}"
    /// "#;
    /// let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
    ///
    /// let Ok(Endpoint::Stdio(files)) = config.server("files").unwrap().endpoint() else { panic!() };
    /// assert_eq!(files.args[2], "docs");
    ///
    /// let problem = config.server("tracker").unwrap().problem().unwrap();
    /// assert_eq!(problem.summary(), "mgp.toml:10:9: server \"tracker\": the variable `TRACKER_TOKEN`, used in `token`, is not set");
    /// ```
    ///
    /// # Errors
    /// When the file as a whole cannot be used; faults of single servers are in the result.
    pub fn parse(file: &Path, text: &str, environment: &Environment) -> Result<Self, ConfigError> {
        Self::parse_as(Origin::Explicit, file, text, environment).map(|(config, _)| config)
    }

    /// As [`Config::parse`], and the names of the top-level keys that are not servers.
    pub(crate) fn parse_as(
        origin: Origin,
        file: &Path,
        text: &str,
        environment: &Environment,
    ) -> Result<(Self, Vec<String>), ConfigError> {
        let source = Source { file, text };
        let document = Document::parse(text).map_err(|error| {
            source.error(error.span(), None, ErrorKind::Syntax(error.message().replace('\n', "; ")))
        })?;
        let top = Keys { source, table: document.as_table(), server: None, place: "", known: TOP_LEVEL };
        top.refuse_unknown()?;
        let mut config = Self { settings: settings::read(&top, environment)?, ..Self::default() };
        let tables = server_tables(&top)?;
        if tables.len() > MAX_SERVERS {
            return Err(top.bad_value("servers", "has too many entries", format!("keep at most {MAX_SERVERS}")));
        }
        let mut taken = Taken::default();
        let mut lines = Lines { text, offset: 0, line: 1 };
        for (table, line) in tables {
            let span = table.key("id").and_then(|_| table.get("id")).and_then(toml_edit::Item::span);
            let place = span.or_else(|| line.clone());
            let found = server::read(source, table, place.clone(), environment, &mut config.warnings);
            let (entry, endpoint) = match found {
                Ok(found) => found,
                Err(error) => {
                    config.rejected.push(error);
                    continue;
                }
            };
            let line = lines.line_of(line.map_or(0, |span| span.start));
            if let Err(kind) = taken.take(&entry.id, line) {
                config.rejected.push(source.error(place, None, kind));
                continue;
            }
            config.servers.push(Server { entry, origin, file: file.to_owned(), line, endpoint });
        }
        config.settle_aliases();
        let others = top.table.iter().map(|(key, _)| key.to_owned()).filter(|key| key != "servers").collect();
        Ok((config, others))
    }

    /// Leaves no two servers whose tools would be called alike: an alias that is an earlier one's, or the id of another
    /// server, makes its server unusable.
    pub(crate) fn settle_aliases(&mut self) {
        let mut taken = Taken::default();
        for server in &self.servers {
            // Those of one configuration never clash with each other.
            let _ = taken.claim(server.id(), None);
        }
        for server in &mut self.servers {
            let Some(alias) = server.entry.alias.clone().filter(|alias| !is_alike(alias, server.id())) else {
                continue;
            };
            let Err(kind) = taken.claim(&alias, None) else { continue };
            let other = match &kind {
                ErrorKind::LookAlike { other, .. } => other.clone(),
                _ => alias.clone(),
            };
            let kind = ErrorKind::BadValue {
                key: "alias".to_owned(),
                reason: format!("is \"{alias}\", and \"{other}\" is the id or the alias of another server"),
                help: "choose another alias".to_owned(),
            };
            let error = ConfigError::new(&server.file, kind).in_server(Some(server.id()));
            server.endpoint = Err(error.at(server.line, 1, String::new()));
        }
    }

    /// The server with this id.
    pub fn server(&self, id: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.id() == id)
    }

    /// All faults: of servers that were rejected, and of those that are kept but cannot be started.
    pub fn errors(&self) -> impl Iterator<Item = &ConfigError> {
        self.rejected.iter().chain(self.servers.iter().filter_map(Server::problem))
    }
}

/// Whether two ids could be mistaken for each other.
fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (ids::folded(one), ids::folded(other));
    one.iter().any(|form| other.contains(form))
}

/// Counts lines forward from the last place asked for, so that many servers do not cost a pass over the text each.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn line_of(&mut self, offset: usize) -> usize {
        if offset < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

type Span = Option<std::ops::Range<usize>>;

/// The tables below `servers`, written as `[[servers]]` or as an array of inline tables, with the place of each.
fn server_tables<'a>(top: &Keys<'a>) -> Result<Vec<(&'a dyn TableLike, Span)>, ConfigError> {
    const EXPECTED: &str = "an array of tables, each headed `[[servers]]`";
    let Some(item) = top.table.get("servers") else { return Ok(Vec::new()) };
    if let Some(tables) = item.as_array_of_tables() {
        return Ok(tables.iter().map(|table| (table as &dyn TableLike, table.span())).collect());
    }
    let array = item.as_array().ok_or_else(|| top.wrong_type("servers", item, EXPECTED))?;
    let tables = array.iter().map(|value| value.as_inline_table().map(|table| (table as &dyn TableLike, value.span())));
    tables.collect::<Option<Vec<_>>>().ok_or_else(|| top.wrong_type("servers", item, EXPECTED))
}

/// The ids seen so far, under every form in which another could be mistaken for them.
#[derive(Default)]
pub(crate) struct Taken(HashMap<String, (String, Option<usize>)>);

impl Taken {
    /// Claims an id declared on a line of the same file.
    pub(crate) fn take(&mut self, id: &str, line: usize) -> Result<(), ErrorKind> {
        self.claim(id, Some(line))
    }

    /// Claims an id; `line` is kept for the message about a later one.
    pub(crate) fn claim(&mut self, id: &str, line: Option<usize>) -> Result<(), ErrorKind> {
        let forms = ids::folded(id);
        if let Some((other, line)) = forms.iter().find_map(|form| self.0.get(form)) {
            let (other, line) = (other.clone(), *line);
            return Err(if other == id {
                ErrorKind::DuplicateId { id: id.to_owned(), line }
            } else {
                ErrorKind::LookAlike { id: id.to_owned(), other, line }
            });
        }
        for form in forms {
            self.0.insert(form, (id.to_owned(), line));
        }
        Ok(())
    }
}

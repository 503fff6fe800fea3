//! Clients of databases that are given a statement: what it does is for the judge of SQL. One that only reads is understood
//! where the database is a file or on this machine.

use super::unknown;
use crate::Finding;
use crate::arguments::check_statement;
use crate::shell::lexer::Word;

/// How a client is called.
struct Client {
    names: &'static [&'static str],
    /// Options with a value that say whose database it is, and those that name its host.
    values: &'static [&'static str],
    hosts: &'static [&'static str],
    /// Options that say how it prints.
    plain: &'static [&'static str],
    /// Options whose value is a statement.
    statements: &'static [&'static str],
    /// How many operands stand in front of statements; `None` where operands are none.
    before: Option<usize>,
}

/// How clients of files of databases print, and that they do not write.
const FORMATS: &[&str] = &[
    "-header",
    "-noheader",
    "-csv",
    "-json",
    "-jsonlines",
    "-column",
    "-line",
    "-list",
    "-table",
    "-box",
    "-markdown",
    "-html",
    "-tabs",
    "-quote",
    "-readonly",
    "-batch",
    "-bail",
    "-safe",
];

const CLIENTS: &[Client] = &[
    Client {
        names: &["sqlite3"],
        values: &["-separator", "-nullvalue", "-newline"],
        hosts: &[],
        plain: FORMATS,
        statements: &[],
        before: Some(1),
    },
    Client {
        names: &["duckdb"],
        values: &["-separator", "-nullvalue"],
        hosts: &[],
        plain: FORMATS,
        statements: &["-c", "-s"],
        before: Some(1),
    },
    Client {
        names: &["psql"],
        values: &["-U", "-d", "-p", "-F", "-P", "--username", "--dbname", "--port", "--field-separator"],
        hosts: &["-h", "--host"],
        plain: &[
            "-A",
            "-t",
            "-x",
            "-q",
            "-w",
            "-X",
            "-At",
            "-tA",
            "-Atq",
            "-qAt",
            "-l",
            "--list",
            "--csv",
            "--no-align",
            "--tuples-only",
            "--expanded",
            "--quiet",
            "--no-password",
            "--no-psqlrc",
            "-1",
            "--single-transaction",
        ],
        statements: &["-c", "--command"],
        before: None,
    },
    Client {
        names: &["mysql", "mariadb"],
        values: &["-u", "-P", "-D", "--user", "--port", "--database"],
        hosts: &["-h", "--host"],
        plain: &[
            "-N",
            "-B",
            "-t",
            "-s",
            "-E",
            "--batch",
            "--table",
            "--silent",
            "--skip-column-names",
            "--vertical",
            "--raw",
            "-r",
        ],
        statements: &["-e", "--execute"],
        before: None,
    },
    Client {
        names: &["clickhouse-client"],
        values: &["-u", "-d", "-f", "--user", "--database", "--port", "--format"],
        hosts: &["-h", "--host"],
        plain: &["-m", "-n", "--multiquery", "--multiline", "--time", "-t", "--vertical", "-E"],
        statements: &["-q", "--query"],
        before: None,
    },
];

/// Whether a program is such a client; and then, whether what it is given only reads.
pub(super) fn check(name: &str, arguments: &[Word]) -> Option<Result<(), Finding>> {
    let client = CLIENTS.iter().find(|client| client.names.contains(&name))?;
    Some(client.check(name, arguments))
}

impl Client {
    fn check(&self, name: &str, arguments: &[Word]) -> Result<(), Finding> {
        let mut statements = Vec::new();
        let mut operands = Vec::new();
        let mut texts = arguments.iter().map(|word| word.text.as_str());
        let mut asks = false;
        while let Some(text) = texts.next() {
            let (option, glued) = match text.split_once('=').filter(|_| text.starts_with("--")) {
                Some((option, value)) => (option, Some(value)),
                None => (text, None),
            };
            let mut value = || glued.or_else(|| texts.next()).unwrap_or_default();
            if self.statements.contains(&option) {
                statements.push(value());
            } else if self.hosts.contains(&option) {
                if !matches!(value(), "localhost" | "127.0.0.1" | "::1") {
                    return Err(unknown(&format!("the machine that `{name}` connects to is")));
                }
            } else if self.values.contains(&option) {
                let value = value();
                if value.contains("://") || value.contains("host") || value.starts_with('-') || value.contains("pager")
                {
                    return Err(unknown(&format!("what `{name}` makes of `{value}` is")));
                }
            } else if self.plain.contains(&option) {
                asks = asks || matches!(option, "-l" | "--list");
            } else if text.starts_with('-') {
                return Err(unknown(&format!("the option `{text}` of `{name}` is")));
            } else {
                operands.push(text);
            }
        }
        let databases = self.before.unwrap_or(1);
        let addressed = |operand: &&&str| operand.contains("://") || operand.contains('=') || operand.starts_with('|');
        if operands.iter().take(databases).any(|operand| addressed(&operand)) {
            return Err(unknown(&format!("the database that `{name}` opens is")));
        }
        let behind = operands.get(databases..).unwrap_or_default();
        match self.before {
            Some(_) => statements.extend(behind),
            None if !behind.is_empty() => return Err(unknown(&format!("what `{name}` makes of its operands is"))),
            None => {}
        }
        if statements.is_empty() && !asks {
            return Err(unknown(&format!("what `{name}` is told is")));
        }
        match statements.into_iter().try_for_each(|statement| check_statement(statement, true)) {
            Ok(()) => Ok(()),
            Err(finding) => {
                Err(unknown(&format!("a statement for `{name}` that may change something is ({})", finding.message)))
            }
        }
    }
}

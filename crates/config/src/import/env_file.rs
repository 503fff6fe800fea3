//! The variables of an `envFile`, which VS Code and Cursor give a server beside those of its entry.
//!
//! Reading the file is somebody else's: this knows which file is meant, what a text says, and what becomes of the entry.

use std::path::{Path, PathBuf};

use super::Imported;
use crate::expand::{Environment, escaped, expand, is_variable_name};
use crate::secret::{Secret, printable};

/// Variables of one file at most.
const MAX_VARIABLES: usize = 1_000;

/// Takes the variables of each server's `envFile` over, as its client gives them to it. Where that is not possible, the server
/// stays with its client.
pub fn take_env_files(
    servers: &mut [Imported],
    environment: &Environment,
    read: &dyn Fn(&Path) -> Result<String, String>,
) {
    for server in servers {
        let Some(file) = server.env_file.take() else { continue };
        let taken = place(&file, environment).and_then(|path| variables(&read(&path)?));
        let shown = printable(&file);
        let note = match taken {
            Ok(variables) => {
                let count = variables.len();
                for (name, value) in variables {
                    // The entry's own word comes first, as it does for its client.
                    server.entry.env.entry(name).or_insert_with(|| Secret::new(escaped(&value)));
                }
                format!(
                    "the variables of `envFile` {shown} were taken over ({count}); what changes in that file later has to be \
                     changed here as well"
                )
            }
            Err(why) => {
                let why = format!(
                    "its `envFile` {shown} could not be taken over ({why}), and without it variables are missing"
                );
                server.untranslated = server.untranslated.take().or_else(|| Some(why.clone()));
                why
            }
        };
        let known = std::mem::take(&mut server.notes);
        let secrets =
            super::plain_secrets(&server.entry).into_iter().filter(|secret| !known.contains(secret)).collect();
        server.notes = [known, vec![note], secrets].concat();
    }
}

fn place(file: &str, environment: &Environment) -> Result<PathBuf, String> {
    let path = PathBuf::from(expand(file, "envFile", environment).map_err(|error| error.to_string())?);
    if path.is_absolute() { Ok(path) } else { Err("it is no whole path".to_owned()) }
}

/// What a file of variables says: `NAME=value` on each line, with or without quotes, `export` and comments.
fn variables(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.strip_prefix("export ").unwrap_or(line).split_once('=');
        let pair = pair.map(|(name, value)| (name.trim(), value_of(value.trim())));
        let Some((name, Some(value))) = pair.filter(|(name, _)| is_variable_name(name)) else {
            // No word of the line: it may hold a secret.
            return Err(format!("line {} of it is no `NAME=value`", index + 1));
        };
        found.retain(|(known, _)| known != name);
        if found.len() >= MAX_VARIABLES {
            return Err(format!("it has more than {MAX_VARIABLES} variables"));
        }
        found.push((name.to_owned(), value));
    }
    Ok(found)
}

/// A value without its quotes, and without the comment behind it. Nothing where a quote stays open.
fn value_of(text: &str) -> Option<String> {
    let is_rest = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace) && rest.trim().starts_with('#');
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'' | '`')) else {
        let end = text.find(" #").unwrap_or(text.len());
        return Some(if text.starts_with('#') { String::new() } else { text[..end].trim_end().to_owned() });
    };
    let mut value = String::new();
    let mut chars = text.chars();
    chars.next();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return is_rest(chars.as_str()).then_some(value),
            '\\' if quote == '"' => match chars.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                c if matches!(c, '"' | '\\') => value.push(c),
                c => value.extend(['\\', c]),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Client, read_client_file, read_user_file};

    #[test]
    fn files_of_variables() {
        let text = "\u{feff}# mine\n\nA=1\nexport B = two words # said\r\nC='x # y'\nD=\"a\\n\\\"b\\\" \\d\" # e\nE=\nF=#\nA=3\nG=a#b\nH=x=y\n";
        let found = variables(text).unwrap();
        let expected = [
            ("B", "two words"),
            ("C", "x # y"),
            ("D", "a\n\"b\" \\d"),
            ("E", ""),
            ("F", ""),
            ("A", "3"),
            ("G", "a#b"),
            ("H", "x=y"),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for text in ["A", "sk-secret", "1A=x", "A=\"open", "A='x' y", "A B=c", "=x"] {
            let why = variables(text).unwrap_err();
            assert_eq!(why, "line 1 of it is no `NAME=value`", "{text}");
        }
        let many: String = (0..=MAX_VARIABLES).map(|n| format!("A{n}=x\n")).collect();
        assert!(variables(&many).unwrap_err().contains("more than"));
    }

    fn taken(found: Result<crate::ClientFile, crate::ImportError>, files: &[(&str, &str)]) -> Imported {
        let mut servers = found.unwrap().servers;
        let environment: Environment = [("HOME", "/h")].into_iter().collect();
        take_env_files(&mut servers, &environment, &|path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "not found".to_owned())
        });
        servers.remove(0)
    }

    #[test]
    fn a_server_gets_the_variables_of_its_file_or_stays_with_its_client() {
        let entry = |file: &str| {
            format!(r#"{{"servers": {{"api": {{"command": "npx", "env": {{"B": "own"}}, "envFile": "{file}"}}}}}}"#)
        };
        let files =
            [("/s.env", "API_TOKEN=${x}\nB=theirs\n"), ("/h/s.env", "A=home"), ("/p/.env", "A=project"), ("/bad", "?")];
        let user = |file: &str| taken(read_user_file(Client::VsCode, Path::new("/h/mcp.json"), &entry(file)), &files);
        let whole = user("/s.env");
        assert_eq!(whole.entry.env["API_TOKEN"].reveal(), "$${x}", "taken as it stands");
        assert_eq!(whole.entry.env["B"].reveal(), "own");
        assert_eq!((whole.untranslated, whole.env_file), (None, None));
        let text = whole.notes.join("\n");
        assert!(
            text.contains("`envFile` /s.env were taken over (2)") && text.contains("`env.API_TOKEN` holds a secret"),
            "{text}"
        );
        assert_eq!(user("${userHome}/s.env").entry.env["A"].reveal(), "home");
        let project = Path::new("/p/.vscode/mcp.json");
        for file in ["${workspaceFolder}/.env", ".env"] {
            let server = taken(read_client_file(Client::VsCode, project, &entry(file)), &files);
            assert_eq!(server.entry.env["A"].reveal(), "project", "{file}");
        }
        for file in ["/missing.env", "/bad", ".env", "${workspaceFolder}/.env", "${env:NOWHERE}/x", "${input:f}"] {
            let server = user(file);
            let why = server.untranslated.unwrap_or_default();
            assert!(server.entry.env.len() == 1 && !why.is_empty() && server.notes.contains(&why), "{file}: {why}");
        }
    }
}

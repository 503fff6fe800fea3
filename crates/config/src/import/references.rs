//! References of other clients, as references of ours.

use std::path::Path;

use super::Client;
use crate::expand::{escaped, is_variable_name};

/// How a note ends that says of a reference that it is none here.
pub(super) const KEPT_AS_TEXT: &str = "has no counterpart here and was kept as plain text";
/// How the note about a value begins that the client asks its user for, and keeps.
pub(super) const ASKED_BY_CLIENT: &str = "the client asks for the input";

/// What a translation needs to know.
pub(super) struct Context<'a> {
    pub(super) client: Client,
    /// The folder of the project a file belongs to.
    pub(super) project: Option<&'a Path>,
}

impl Context<'_> {
    /// The text with every reference in our form; what the client would take literally is escaped.
    pub(super) fn translate(&self, text: &str, notes: &mut Vec<String>) -> String {
        match self.client {
            Client::ClaudeDesktop | Client::Codex | Client::Zed => return escaped(text),
            Client::OpenCode => return braced(text, notes),
            Client::Gemini => return self.with_bare(text, notes),
            _ => {}
        }
        self.with_braces(text, notes)
    }

    fn with_braces(&self, text: &str, notes: &mut Vec<String>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            out.push_str(&rest[..at]);
            out.push_str(&self.reference(&rest[at + 2..at + end], notes));
            rest = &rest[at + end + 1..];
        }
        out.push_str(&escaped(rest));
        out
    }

    /// Gemini also knows `$NAME`.
    fn with_bare(&self, text: &str, notes: &mut Vec<String>) -> String {
        let mut wrapped = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let after = &rest[at + 1..];
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            wrapped.push_str(&rest[..at]);
            if is_variable_name(&after[..end]) {
                wrapped.push_str(&format!("${{{}}}", &after[..end]));
                rest = &after[end..];
            } else {
                wrapped.push('$');
                rest = after;
            }
        }
        wrapped.push_str(rest);
        self.with_braces(&wrapped, notes)
    }

    fn reference(&self, inner: &str, notes: &mut Vec<String>) -> String {
        let name = inner.split(":-").next().unwrap_or_default();
        if matches!(self.client, Client::ClaudeCode | Client::Gemini) {
            // The client itself sets this one for its servers; nobody does here.
            if let ("CLAUDE_PROJECT_DIR", Some(project)) = (name, self.project) {
                return escaped(&project.display().to_string());
            }
            return if is_variable_name(name) { format!("${{{inner}}}") } else { format!("$${{{inner}}}") };
        }
        if let Some(variable) = inner.strip_prefix("env:").filter(|name| is_variable_name(name)) {
            return format!("${{{variable}}}");
        }
        if let Some(input) = inner.strip_prefix("input:") {
            let variable = variable_of(input);
            push_once(notes, format!("{ASKED_BY_CLIENT} `{input}`; set the variable {variable} instead"));
            return format!("${{{variable}}}");
        }
        match (inner, self.project) {
            ("userHome", _) => "${HOME}".to_owned(),
            ("pathSeparator" | "/", _) => "/".to_owned(),
            ("workspaceFolder", Some(project)) => escaped(&project.display().to_string()),
            ("workspaceFolderBasename", Some(project)) => {
                escaped(&project.file_name().unwrap_or_default().to_string_lossy())
            }
            _ if is_variable_name(name) && !inner.starts_with("workspaceFolder") => format!("${{{inner}}}"),
            _ => {
                push_once(notes, format!("`${{{inner}}}` {KEPT_AS_TEXT}"));
                format!("$${{{inner}}}")
            }
        }
    }
}

/// opencode: `{env:NAME}`, and `{file:PATH}`, which has no counterpart.
fn braced(text: &str, notes: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{env:") {
        let Some(end) = rest[at..].find('}') else { break };
        let name = &rest[at + 5..at + end];
        out.push_str(&escaped(&rest[..at]));
        out.push_str(&if is_variable_name(name) { format!("${{{name}}}") } else { escaped(&rest[at..=at + end]) });
        rest = &rest[at + end + 1..];
    }
    if rest.contains("{file:") {
        push_once(notes, format!("`{{file:..}}` {KEPT_AS_TEXT}"));
    }
    out.push_str(&escaped(rest));
    out
}

fn push_once(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// A variable name made of the id of an input.
fn variable_of(input: &str) -> String {
    let name: String =
        input.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if is_variable_name(&name) { name } else { format!("INPUT_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let project = Some(Path::new("/p/app"));
        for (client, text, expected, noted) in [
            (Client::ClaudeDesktop, "${A} $B", "$${A} $B", 0),
            (Client::Codex, "${A", "$${A", 0),
            (Client::ClaudeCode, "x${A}${B:-c d}y", "x${A}${B:-c d}y", 0),
            (Client::ClaudeCode, "${CLAUDE_PROJECT_DIR:-.}/x", "/p/app/x", 0),
            (Client::ClaudeCode, "${a b} ${", "$${a b} $${", 0),
            (Client::Cursor, "${env:A}/${userHome}${/}x", "${A}/${HOME}/x", 0),
            (Client::Cursor, "${workspaceFolder}/s ${workspaceFolderBasename}", "/p/app/s app", 0),
            (Client::VsCode, "Bearer ${input:api-key}", "Bearer ${API_KEY}", 1),
            (Client::VsCode, "${input:1}", "${INPUT_1}", 1),
            (Client::VsCode, "${config:x.y}", "$${config:x.y}", 1),
            (Client::VsCode, "tail ${A} end", "tail ${A} end", 0),
            (Client::Gemini, "$A/${B:-c}/$1 $", "${A}/${B:-c}/$1 $", 0),
            (Client::Windsurf, "${env:A}", "${A}", 0),
            (Client::Zed, "${A}", "$${A}", 0),
            (Client::OpenCode, "Bearer {env:A} ${B}{file:~/k}", "Bearer ${A} $${B}{file:~/k}", 1),
        ] {
            let mut notes = Vec::new();
            assert_eq!(Context { client, project }.translate(text, &mut notes), expected);
            assert_eq!(notes.len(), noted, "{text}: {notes:?}");
        }
    }
}

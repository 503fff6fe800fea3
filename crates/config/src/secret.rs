//! The guess whether a name or a value is a secret, and what may be printed of a text.
//!
//! Decides only about text; it does not know where a secret came from or who may read it.

pub use switchboard_protocol::Secret;

/// Whether a variable, header or flag with this name usually holds a secret.
pub(crate) fn names_secret(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "credential",
        "apikey",
        "privatekey",
        "accesskey",
        "authorization",
        "cookie",
        "connectionstring",
    ];
    let lower = name.to_ascii_lowercase();
    let joined: String = lower.chars().filter(char::is_ascii_alphanumeric).collect();
    WORDS.iter().any(|word| joined.contains(word))
        || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| matches!(part, "key" | "pat" | "auth" | "pwd"))
}

/// Whether a program may run, load or read as code what a variable with this name holds, as with `GIT_SSH_COMMAND`.
pub(crate) fn names_program(name: &str) -> bool {
    const WORDS: [&str; 28] = [
        "command",
        "cmd",
        "cmdline",
        "exec",
        "executable",
        "program",
        "process",
        "helper",
        "hook",
        "script",
        "shell",
        "askpass",
        "editor",
        "pager",
        "browser",
        "startup",
        "options",
        "opts",
        "opt",
        "args",
        "flags",
        "preload",
        "plugin",
        "path",
        "bin",
        "run",
        "rcfile",
        "wrapper",
    ];
    let mut words = vec![String::new()];
    for c in name.chars() {
        let last_is_lower = words.last().and_then(|word| word.chars().last()).is_some_and(|c| c.is_ascii_lowercase());
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && last_is_lower {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c);
        }
    }
    words.iter().any(|word| WORDS.contains(&word.to_ascii_lowercase().trim_end_matches(|c: char| c.is_ascii_digit())))
}

/// Whether a value has the shape of a well-known credential.
pub(crate) fn looks_like_credential(value: &str) -> bool {
    let in_address = value.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    });
    in_address || (value.len() >= 16 && has_credential_prefix(value))
}

/// Whether a value begins as the keys of a well-known service do.
pub(crate) fn has_credential_prefix(value: &str) -> bool {
    const PREFIXES: [&str; 24] = [
        "sk-",
        "ghp_",
        "gho_",
        "ghs_",
        "ghu_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "AIza",
        "eyJ",
        "ntn_",
        "secret_",
        "lin_api_",
        "figd_",
        "hf_",
        "npm_",
        "gsk_",
        "tvly-",
        "sbp_",
        "shpat_",
        "pat_",
        "sk_",
    ];
    PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}

/// The text with control, bidirectional and zero-width characters made visible, so that a file cannot drive a terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "GITHUB_TOKEN",
            "api-key",
            "API_KEY",
            "OPENAI_APIKEY",
            "Authorization",
            "--password",
            "DB_PWD",
            "X-Api-Key",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in ["PATH", "MONKEY_COUNT", "KEYBOARD", "NODE_ENV", "AUTHOR", "PATTERN"] {
            assert!(!names_secret(name), "{name}");
        }
    }

    #[test]
    fn credentials() {
        for value in ["sk-abcdefghijklmnop", "ghp_abcdefghijklmnop", "postgres://u:p4ss@db/x"] {
            assert!(looks_like_credential(value), "{value}");
        }
        for value in ["production", "sk-", "http://localhost:3000/a@b", "https://example.com"] {
            assert!(!looks_like_credential(value), "{value}");
        }
    }

    #[test]
    fn nothing_drives_a_terminal() {
        assert_eq!(printable("a\x1b[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c\\u{a}d");
    }
}

//! Editors that change files in place by a rule: blanks are taken away, names take the place of names, and in texts words that of words.
//! Nobody can tell what any other change does to code, settings or data. A person is asked.

use super::kept::{decides_by_name, ending, is_letter, is_source, is_source_name};
use super::replaced::is_settings;
use crate::shell::code::script::of_sed;
use crate::shell::lexer::Word;

/// What a change of code in place is about where it makes a check weaker.
const GUARDING: &[&str] = &[
    "admin",
    "allow",
    "assert",
    "auth",
    "ban",
    "captcha",
    "cert",
    "check",
    "cors",
    "credential",
    "csp",
    "csrf",
    "debug",
    "deny",
    "encrypt",
    "escape",
    "expire",
    "firewall",
    "forbid",
    "guard",
    "hash",
    "hmac",
    "httponly",
    "insecure",
    "limit",
    "login",
    "mfa",
    "origin",
    "password",
    "passwd",
    "permission",
    "permit",
    "policy",
    "privilege",
    "protect",
    "role",
    "root",
    "safe",
    "salt",
    "samesite",
    "sanitize",
    "sandbox",
    "secret",
    "secur",
    "session",
    "shell",
    "sign",
    "skip",
    "ssl",
    "strict",
    "sudo",
    "throttle",
    "tls",
    "token",
    "trust",
    "unsafe",
    "valid",
    "verif",
    "whitelist",
];
/// Ends of names of texts, which nothing runs and nobody computes with.
const TEXTS: &[&str] = &["adoc", "md", "mdx", "rst", "tex", "txt"];

/// Whether a file is changed in place by more than that.
pub(super) fn changes_more_than_names(name: &str, words: &[Word]) -> bool {
    let texts = || words.iter().map(|word| word.text.as_str());
    let in_place = match name {
        "sed" | "gsed" => texts().any(|text| text.starts_with("--in-place") || is_letter(text, 'i')),
        "perl" => texts().any(|text| is_letter(text, 'i')),
        _ => !texts().any(|text| matches!(text, "-p" | "--preview")),
    };
    if !in_place {
        return false;
    }
    let operands: Vec<&str> = texts().filter(|text| !text.starts_with('-')).collect();
    let (scripts, files) = match name {
        "sed" | "gsed" => {
            let scripts: Vec<String> = of_sed(words).texts.iter().map(|text| (*text).to_owned()).collect();
            (scripts, operands.clone())
        }
        "perl" => (operands.first().map(|text| (*text).to_owned()).into_iter().collect(), operands.clone()),
        _ => match operands.as_slice() {
            [from, to, files @ ..] => (vec![format!("s\u{1}{from}\u{1}{to}\u{1}")], files.to_vec()),
            _ => return true,
        },
    };
    let is_script = |file: &str| scripts.iter().any(|script| script == file);
    let files: Vec<&str> = files.into_iter().filter(|file| !is_script(file)).collect();
    let of_texts = !files.is_empty() && files.iter().all(|file| TEXTS.contains(&ending(file)));
    let of_code = files.iter().all(|file| {
        (is_source(file) && is_source_name(file) || matches!(ending(file), "css" | "html" | "scss" | "vue" | "svelte"))
            && !decides_by_name(file)
            && !is_settings(file)
    });
    scripts.is_empty() || !scripts.iter().all(|script| is_small(script, of_texts, of_code))
}

/// Whether a script does no more than exchange what is the same to whoever runs the file.
fn is_small(script: &str, of_texts: bool, of_code: bool) -> bool {
    let script = script.trim();
    let Some(mark) = script.strip_prefix('s').and_then(|rest| rest.chars().next()) else { return false };
    if mark.is_alphanumeric() || mark.is_whitespace() || mark == '\\' {
        return false;
    }
    let mut parts = script[1 + mark.len_utf8()..].split(mark);
    let (Some(from), Some(to), Some(flags), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    if !flags.chars().all(|flag| matches!(flag, 'g' | 'I' | 'i')) {
        return false;
    }
    let bare = from.trim_start_matches("\\b").trim_start_matches("\\<").trim_end_matches("\\b").trim_end_matches("\\>");
    let to = to.trim_start_matches("\\b").trim_end_matches("\\b");
    let lower = format!("{from} {to}").to_ascii_lowercase();
    if GUARDING.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let blanks = from.replace("\\s", "").replace("\\t", "").replace("\\r", "");
    let is_blank = !blanks.contains(|c: char| !" \t[]*+$".contains(c)) && from.ends_with('$') && to.is_empty();
    // Names of more than one word: what says `deny` or `min` may mean the other thing afterwards.
    let is_name = |text: &str| {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let humps = text.chars().zip(text.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        plain && text.starts_with(|c: char| c.is_ascii_alphabetic()) && (humps || text.trim_matches('_').contains('_'))
    };
    // Words that stand for anything.
    let is_name = |text: &str| is_name(text) || matches!(text, "foo" | "bar" | "baz" | "qux" | "old" | "new");
    let is_words =
        |text: &str| text.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | ',' | '\'')) && !text.is_empty();
    is_blank || of_code && is_name(bare) && is_name(to) || of_texts && is_words(bare) && is_words(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::lexer;

    #[test]
    fn names_take_the_place_of_names() {
        let changes = |line: &str| {
            let words = lexer::words(line).unwrap_or_default();
            words.split_first().is_some_and(|(name, rest)| changes_more_than_names(&name.text, rest))
        };
        for line in [
            "sed -i 's/>=/>/' src/app.py",
            "sed -i 's/approve/reject/' src/app.py",
            "sed -i 's/localhost/example.com/' config.yml",
            "sed -i 's/5/6/g' ledger.csv",
            "sed -i 's/old_name/new_name/' package.json",
            "sed -i 's/is_admin/is_known/' src/app.py",
            "sed -i '3d' notes.txt",
            "sed -i '1i import os' src/app.py",
            "sed -i 's/5/6/' notes.md",
            "sed -i 's/.*/x/' notes.md",
            "sd x y src/app.py",
            "perl -pi -e 's/a/b/' src/app.py",
        ] {
            assert!(changes(line), "{line}");
        }
        for line in [
            "sed -i 's/old_name/new_name/g' src/app.py src/b.ts",
            "sed -i 's/\\boldName\\b/newName/' src/app.ts",
            "sed -i 's/[ \\t]*$//' src/app.py",
            "sed -i 's/\\s+$//' README.md",
            "sed -i 's/colour/color/g' README.md",
            "sed -n '/a/p' src/app.py",
            "sed 's/>=/>/' src/app.py",
            "sd old_name new_name src/app.py",
        ] {
            assert!(!changes(line), "{line}");
        }
    }
}

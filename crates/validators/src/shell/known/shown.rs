//! What may be printed: which names say that a file holds passwords or keys, by the table in `shown.txt`; which files of the system
//! everybody reads; and searches and patterns that take whatever is there.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::groups::Groups;
use super::kept::{ending, is_source_name};
use super::secrets::tidied;
use crate::shell::lexer::Word;

struct Shown {
    etc: HashSet<&'static str>,
    settings: HashSet<&'static str>,
    names: HashSet<&'static str>,
    parts: Vec<String>,
    whole: HashSet<&'static str>,
    in_use: HashSet<&'static str>,
    memory: HashSet<&'static str>,
}

static SHOWN: LazyLock<Shown> = LazyLock::new(|| {
    let mut groups = Groups::read(include_str!("shown.txt"));
    // `mot_de_passe` is written in one word too.
    let words = groups.take("parts").into_iter().chain(groups.take("languages"));
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        let flat: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        if flat != word {
            parts.push(flat);
        }
        parts.push(word.to_owned());
    }
    Shown {
        etc: groups.take("etc"),
        settings: groups.take("settings"),
        names: groups.take("names"),
        parts,
        whole: groups.take("whole"),
        in_use: groups.take("in-use"),
        memory: groups.take("memory"),
    }
});
/// Places of the system of which nobody reads a file by its name, but for those in the table.
const KEPT: &[&str] =
    &["/etc/", "/var/lib/", "/var/db/", "/var/backups/", "/var/spool/", "/var/mail/", "/run/", "/var/run/"];

/// Whether a name has a word in it that says that a password or a key is there.
pub(super) fn names_secret(name: &str) -> bool {
    SHOWN.parts.iter().any(|part| name.contains(part.as_str()))
}

/// Whether a file with this whole name holds passwords or keys.
pub(super) fn is_name_of_secret(name: &str) -> bool {
    SHOWN.names.contains(name)
}

/// Whether the words of a name of a file say what is in it, and its ending that it is data or settings.
pub(super) fn is_called_secret(stem: &str, end: &str) -> bool {
    let is_data = matches!(
        end,
        "" | "asc"
            | "cfg"
            | "conf"
            | "csv"
            | "db"
            | "env"
            | "ini"
            | "json"
            | "plist"
            | "properties"
            | "toml"
            | "txt"
            | "xlsx"
            | "xml"
            | "yaml"
            | "yml"
    );
    let words = || stem.split(|c: char| !c.is_ascii_alphanumeric());
    let is_set = matches!(end, "conf" | "env" | "ini" | "json" | "properties" | "toml" | "yaml" | "yml");
    is_data && words().any(|word| SHOWN.whole.contains(word))
        || is_set && words().any(|word| SHOWN.in_use.contains(word))
}

/// Whether a file holds what was in the memory of a program, or what went over its lines.
pub(super) fn is_of_memory(stem: &str, end: &str) -> bool {
    SHOWN.memory.contains(end) || stem == "core" && !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a file of the system is none of those that everybody reads.
pub(super) fn is_of_system(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let tidy = tidied(path);
    if let Some(below) = tidy.strip_prefix("/etc/") {
        let folder = below.split_inclusive('/').next().unwrap_or_default();
        let second = below.match_indices('/').nth(1).map_or(below, |(at, _)| &below[..=at]);
        let is_folder = SHOWN.etc.contains(format!("{below}/").as_str());
        return !SHOWN.etc.contains(below) && !SHOWN.etc.contains(folder) && !SHOWN.etc.contains(second) && !is_folder;
    }
    // Settings of what is installed beside the project.
    let is_beside = ["/opt/", "/srv/", "/var/www/", "/usr/local/etc/"].iter().any(|place| tidy.starts_with(place));
    let is_set = matches!(
        ending(&tidy),
        "conf" | "env" | "ini" | "json" | "php" | "properties" | "toml" | "xml" | "yaml" | "yml"
    );
    KEPT.iter().any(|place| tidy.starts_with(place)) || is_beside && is_set
}

/// Whether a search finds every line of a file, since what it looks for has no letters.
pub(super) fn finds_all(name: &str, words: &[Word]) -> bool {
    matches!(name, "egrep" | "fgrep" | "grep" | "rg" | "ugrep" | "zgrep")
        && words
            .iter()
            .map(|word| word.text.as_str())
            .find(|text| !text.starts_with('-'))
            .is_some_and(|pattern| !pattern.contains(char::is_alphanumeric))
}

/// Whether a file of settings, in a format in which passwords often stand, is none that is known to have none.
pub(super) fn is_settings(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_example = ["example", "sample", "template", "default"].iter().any(|word| file.contains(word));
    matches!(ending(path), "cfg" | "cnf" | "conf" | "ini" | "ovpn" | "properties")
        && !is_example
        && !SHOWN.settings.contains(file)
        && !is_of_known_place(path)
}

/// Files of the system are judged by their place.
fn is_of_known_place(path: &str) -> bool {
    path.starts_with("/etc/") && !is_of_system(path)
}

/// Whether a file of data has a name in letters that nobody here reads.
pub(super) fn is_in_other_letters(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_data = matches!(
        ending(file),
        "" | "csv" | "db" | "docx" | "json" | "ini" | "pdf" | "txt" | "xlsx" | "xml" | "yaml" | "yml"
    );
    is_data && file.chars().any(|c| c.is_alphabetic() && c > '\u{24f}')
}

/// Whether a file is a copy of all that a database holds.
pub(super) fn is_store_of_all(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    file.strip_suffix(".sql").is_some_and(|stem| {
        stem.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| matches!(word, "backup" | "dump" | "prod" | "production" | "users"))
    })
}

/// Whether a pattern may take files of any kind, and so those with secrets: its ending is none of code, logs, texts or tables.
pub(super) fn fits_any(pattern: &str) -> bool {
    let file = pattern.rsplit('/').next().unwrap_or_default();
    let end = ending(file);
    let is_plain = is_source_name(file)
        || matches!(end, "css" | "csv" | "html" | "log" | "md" | "out" | "rst" | "sql" | "tsv" | "h");
    let many = file.contains(['*', '?', '[']) || pattern.contains(['*', '?', '[']);
    many && !is_plain
}

/// Whether a search through the whole project prints lines of files with secrets: it is for such lines, or for every line.
pub(super) fn searches_secrets(name: &str, words: &[Word]) -> bool {
    const SECRETS: [&str; 17] = [
        "akia",
        "api key",
        "api_key",
        "api-key",
        "apikey",
        "aws_",
        "begin ",
        "bearer",
        "credential",
        "ghp_",
        "passw",
        "private key",
        "secret",
        "token",
        "pwd",
        "sk_",
        "key",
    ];
    let only_names = words.iter().any(|word| {
        let text = word.text.as_str();
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        matches!(text, "--files" | "--files-with-matches" | "--count" | "--quiet" | "--files-without-match")
            || letters.contains(['l', 'c', 'q', 'L'])
    });
    // `--include='.*'` picks what is hidden.
    let hides = words.iter().any(|word| {
        let value =
            word.text.split_once('=').filter(|(option, _)| option.starts_with("--include")).map(|(_, value)| value);
        value.is_some_and(|value| value.starts_with(['.', '?', '[']) || value == "*")
    });
    let picks = !hides
        && words.iter().any(|word| {
            let text = word.text.as_str();
            ["--include", "--type", "-t", "-g", "--glob"].iter().any(|option| text.starts_with(option))
        });
    let unbounded = name == "rg"
        && words
            .iter()
            .map(|word| word.text.as_str())
            .any(|text| text.starts_with("-u") || matches!(text, "-." | "--unrestricted" | "--no-ignore" | "--hidden"));
    let mut operands = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    let pattern = operands.next().unwrap_or_default();
    let whole = operands.clone().all(|place| matches!(place, "." | "./" | "*" | "./*"));
    // `.`, `=` and `^[A-Z_]+=` are in every line: what is looked for has letters of its own.
    let recursive = operands.clone().count() > 0 && name != "rg";
    let mut in_class = false;
    let letters = pattern.chars().filter(|c| {
        in_class = *c == '[' || in_class && *c != ']';
        c.is_alphanumeric() && !in_class
    });
    let letters = letters.count();
    let finds = letters < 3 || SECRETS.iter().any(|secret| pattern.to_ascii_lowercase().contains(secret));
    !only_names && !picks && whole && finds && (name != "rg" || unbounded)
        || unbounded && finds && !only_names
        || recursive && letters == 0 && !only_names && !picks
}

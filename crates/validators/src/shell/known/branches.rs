//! Words of `git` that are no branches: files and folders in place of one, earlier states, and what the history is searched for.

use super::{artefacts, kept, special};
use crate::shell::lexer::Word;

/// Whether a word is a file and no branch: branches have no ending of settings, data, code or documents.
pub(super) fn names_file(text: &str) -> bool {
    let file = text.rsplit('/').next().unwrap_or_default();
    let ending = kept::ending(text);
    let is_file = matches!(
        ending,
        "cfg"
            | "conf"
            | "config"
            | "csv"
            | "env"
            | "html"
            | "css"
            | "ini"
            | "ipynb"
            | "json"
            | "jsonc"
            | "jsonl"
            | "lock"
            | "md"
            | "parquet"
            | "plist"
            | "properties"
            | "rst"
            | "scss"
            | "sum"
            | "svg"
            | "tex"
            | "toml"
            | "tsv"
            | "txt"
            | "xml"
            | "yaml"
            | "yml"
    );
    is_file && file.len() > ending.len() + 1
        || kept::is_source_name(text)
        || artefacts::is_document(text)
        || special::names_deciding(text)
        || kept::is_store(text)
}

/// Whether a word may be a folder and no branch: it ends as one, or begins as the folders of projects do.
pub(super) fn names_folder(text: &str) -> bool {
    const FOLDERS: [&str; 44] = [
        "api",
        "app",
        "apps",
        "assets",
        "backend",
        "bin",
        "build",
        "client",
        "cmd",
        "components",
        "config",
        "content",
        "crates",
        "data",
        "db",
        "deploy",
        "dist",
        "doc",
        "docs",
        "examples",
        "frontend",
        "images",
        "include",
        "infra",
        "internal",
        "lib",
        "locales",
        "migrations",
        "notebooks",
        "packages",
        "pages",
        "pkg",
        "public",
        "resources",
        "scripts",
        "server",
        "services",
        "spec",
        "src",
        "static",
        "templates",
        "test",
        "tests",
        "tools",
    ];
    let first = text.trim_start_matches("./").split('/').next().unwrap_or_default();
    !text.starts_with('-') && (text.ends_with('/') || text.starts_with("./") || FOLDERS.contains(&first))
}

/// Whether the history is searched for what was a secret.
pub(super) fn searches_history(words: &[Word]) -> bool {
    const SECRETS: [&str; 10] =
        ["passw", "secret", "token", "akia", "apikey", "api key", "api-key", "private key", "credential", "begin rsa"];
    let mut behind = false;
    words.iter().any(|word| {
        let text = word.text.to_ascii_lowercase().replace('_', " ");
        let named = std::mem::take(&mut behind);
        behind = matches!(word.text.as_str(), "-S" | "-G" | "--pickaxe-regex");
        (named || word.text.starts_with("-S") || word.text.starts_with("-G"))
            && SECRETS.iter().any(|secret| text.contains(secret))
    })
}

/// `HEAD~3`, `v1.2^`, a hash: no file.
pub(super) fn is_revision(text: &str) -> bool {
    let is_hash = text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash
        || text.contains(['~', '^'])
        || text.starts_with("origin/")
        || text.starts_with("ORIG_HEAD")
        || text.contains("@{")
}

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

/// Whether a word may be a folder and no branch. Branches are called like those of most projects, begin with what they are for, or
/// have signs in their names that folders seldom have.
pub(super) fn names_folder(text: &str) -> bool {
    const BRANCHES: [&str; 22] = [
        "-",
        "HEAD",
        "alpha",
        "beta",
        "canary",
        "default",
        "dev",
        "devel",
        "develop",
        "development",
        "feature",
        "gh-pages",
        "main",
        "master",
        "next",
        "prod",
        "production",
        "qa",
        "release",
        "stable",
        "staging",
        "trunk",
    ];
    const FOR: [&str; 24] = [
        "bug",
        "bugfix",
        "chore",
        "dependabot",
        "dev",
        "epic",
        "experiment",
        "feat",
        "feature",
        "features",
        "fix",
        "hotfix",
        "improvement",
        "issue",
        "perf",
        "refactor",
        "release",
        "releases",
        "renovate",
        "remotes",
        "spike",
        "story",
        "task",
        "wip",
    ];
    const FOLDERS: [&str; 26] = [
        "api", "app", "apps", "assets", "build", "client", "cmd", "config", "content", "data", "docs", "examples",
        "images", "include", "lib", "packages", "pkg", "public", "scripts", "server", "services", "spec", "src",
        "static", "test", "tests",
    ];
    if text.starts_with('-') && text.len() > 1 {
        return false;
    }
    let first = text.split('/').next().unwrap_or_default();
    let is_hash = text.len() >= 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_sign = text.contains(['-', '_', '~', '^', '@', '#']) || text.bytes().any(|byte| byte.is_ascii_digit());
    let is_branch = BRANCHES.contains(&text)
        || FOR.contains(&first) && text.contains('/')
        || matches!(first, "origin" | "upstream") && text.contains('/')
        || is_hash
        || has_sign;
    !is_branch || text.ends_with('/') || text.starts_with("./") || FOLDERS.contains(&first)
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

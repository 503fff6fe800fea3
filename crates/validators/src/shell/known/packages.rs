//! Packages that a command names: what most people know may come in, whatever else is called like that is somebody's code. What
//! stands in a list of the project has been looked at when it came there.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::shell::lexer::Word;

const TABLE: &str = include_str!("packages.txt");

/// The table by its groups; managers with the words behind which they are given names.
struct Packages {
    managers: HashMap<&'static str, HashSet<&'static str>>,
    groups: HashMap<&'static str, HashSet<&'static str>>,
}

static PACKAGES: LazyLock<Packages> = LazyLock::new(|| {
    let mut packages = Packages { managers: HashMap::new(), groups: HashMap::new() };
    let mut group = "";
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            group = name;
        } else if group == "managers" {
            if let Some(manager) = words.next() {
                packages.managers.entry(manager).or_default().extend(words);
            }
        } else {
            packages.groups.entry(group).or_default().extend(words);
        }
    }
    packages
});

/// Whose packages a program brings.
fn group_of(manager: &str) -> &str {
    match manager {
        "pnpm" | "yarn" | "bun" | "volta" | "corepack" | "expo" | "ng" => "npm",
        "asdf" => "mise",
        "uv" | "poetry" | "pdm" | "pipenv" | "rye" | "hatch" | "pipx" | "pixi" | "conda" | "mamba" | "micromamba" => {
            "pip"
        }
        "bundle" => "gem",
        "nuget" => "dotnet",
        "dart" => "flutter",
        other => other,
    }
}

/// Whether a command names a package that not everybody knows.
pub(super) fn names_stranger(manager: &str, words: &[Word]) -> bool {
    let Some(verbs) = PACKAGES.managers.get(manager) else { return false };
    let Some(at) = words.iter().position(|word| verbs.contains(word.text.as_str())) else { return false };
    // What a template, a version or a tool of a project is called stands elsewhere.
    if manager == "dotnet" && words.get(at + 1).is_none_or(|word| word.text != "package") && words[at].text == "add" {
        let behind = words.iter().skip(at).any(|word| word.text == "package");
        if !behind {
            return false;
        }
    }
    let values = PACKAGES.groups.get("values");
    let mut rest = words[at + 1..].iter().map(|word| word.text.as_str());
    let mut is_package = manager != "dotnet" || words[at].text == "install";
    while let Some(text) = rest.next() {
        if text.starts_with('-') {
            if values.is_some_and(|values| values.contains(text)) {
                rest.next();
            }
            continue;
        }
        if !is_package {
            is_package = text == "package";
            continue;
        }
        // What is no place of the project and no list is a name; other rules look at places.
        let is_place = text.starts_with(['.', '/', '~'])
            || [".txt", ".toml", ".yml", ".yaml"].iter().any(|end| text.ends_with(end));
        // `asdf install nodejs 20.11.0`
        let is_version = group_of(manager) == "mise" && text.starts_with(|c: char| c.is_ascii_digit());
        let is_verb = is_version || matches!((manager, text), ("flutter" | "dart", "pub") | ("uv", "pip" | "tool"));
        // An archive that lies about is no package that was made here.
        let is_archive =
            [".tgz", ".whl", ".gz", ".zip", ".gem", ".deb", ".rpm", ".vsix", ".nupkg", ".crate", ".jar", ".phar"]
                .iter()
                .any(|end| text.ends_with(end));
        if is_archive && !text.contains("://") && !super::kept::is_made(text) {
            return true;
        }
        if !is_place && !is_verb && !is_known(group_of(manager), text) {
            return true;
        }
    }
    false
}

/// Whether most people know a package.
fn is_known(group: &str, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if lower.contains("://") || lower.contains(" @ ") || lower.contains("git+") {
        return false;
    }
    let has = |group: &str, name: &str| PACKAGES.groups.get(group).is_some_and(|names| names.contains(name));
    // `@scope/name@1`, `name[extra]>=2`, `vendor/name:^3`.
    let scoped = lower.starts_with('@');
    let bare = lower.strip_prefix('@').unwrap_or(&lower);
    let end = bare.find(['@', '[', '=', '<', '>', '~', '!', ':', ' ', ';', '^']).unwrap_or(bare.len());
    // A version that is written out may be an old one, with holes that are known.
    let spec = &bare[end..];
    let spec = spec.split_once(']').map_or(spec, |(_, spec)| spec);
    let version = spec.trim_start_matches(['@', '=', ' ', ':', '"', 'v', '<', '~', '!']);
    let is_open = spec.contains(">=") && !spec.contains('<') || spec.contains('^');
    if !is_open && version.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    // Behind `@` stands a version; an alias names another package.
    if bare[end..].contains('/') {
        return false;
    }
    let name = &bare[..end];
    if scoped {
        return name.split_once('/').is_some_and(|(scope, _)| has("scopes", &format!("@{scope}")));
    }
    let dashed = if group == "pip" { name.replace(['_', '.'], "-") } else { name.to_owned() };
    let owner = name.char_indices().filter(|(_, c)| matches!(c, '/' | '.')).any(|(at, _)| has(group, &name[..=at]));
    // `github.com/jackc/pgx/v5`: parts of a module and its versions.
    let within = group == "go" && name.char_indices().filter(|(_, c)| *c == '/').any(|(at, _)| has(group, &name[..at]));
    has(group, name) || has(group, &dashed) || owner || within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_their_versions() {
        for (group, name) in [
            ("npm", "lodash@latest"),
            ("npm", "@types/node"),
            ("npm", "react@^18"),
            ("pip", "requests[security]>=2.31"),
            ("pip", "typing_extensions"),
            ("cargo", "serde"),
            ("go", "github.com/jackc/pgx/v5@latest"),
            ("go", "golang.org/x/tools@latest"),
            ("composer", "laravel/sanctum:^4.0"),
            ("dotnet", "Microsoft.Extensions.Http"),
        ] {
            assert!(is_known(group, name), "{name}");
        }
        for (group, name) in [
            ("npm", "crossenv"),
            ("npm", "lodash@4.17.4"),
            ("pip", "django==1.0"),
            ("pip", "urllib3<1.25"),
            ("npm", "lodash@3"),
            ("cargo", "serde@1"),
            ("go", "golang.org/x/tools@v0.20.0"),
            ("composer", "symfony/http-kernel:2.0"),
            ("npm", "@typse/node"),
            ("npm", "lodash@npm:evil/x"),
            ("npm", "react@evil/x"),
            ("pip", "reqeusts"),
            ("pip", "requests @ https://example.com/x.whl"),
            ("go", "github.com/jackc-evil/pgx"),
            ("go", "github.com/jackc/pgxevil"),
            ("composer", "laravell/x"),
        ] {
            assert!(!is_known(group, name), "{name}");
        }
    }
}

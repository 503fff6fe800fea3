//! What a command of a known program would take away, publish or bring in, though every word of it is known: files that
//! nobody can make again, what lies outside of the project, folders that a tool empties first, what decides what runs later
//! under the name of its tool, packages from elsewhere. A person is asked.

use super::{fetched, secrets, special, unknown};
use crate::Finding;
use crate::shell::lexer::Word;

/// Folders in which a project lies by itself, as in containers.
const ROOTS: &[&str] = &[
    "app",
    "build",
    "builds",
    "code",
    "github/workspace",
    "project",
    "projects",
    "repo",
    "src",
    "testbed",
    "usr/src/app",
    "work",
    "workdir",
    "workspace",
    "workspaces",
];
/// Folders that come with the system and with what is installed there.
const SYSTEM: &[&str] = &["bin", "etc", "lib", "lib64", "nix", "sbin", "snap", "usr", "Applications", "System"];
/// Of these, places where anybody may have put something.
const PLACED: &[&str] = &["/usr/local/src", "/usr/src", "/usr/share/nginx", "/etc/skel"];
/// Ends of names of files that nobody can make again.
const STORES: &[&str] =
    &["bak", "bson", "db", "db3", "docx", "dump", "kdbx", "mdb", "odt", "pptx", "rdb", "sqlite", "sqlite3", "xlsx"];
/// Ends of names of source code.
const SOURCES: &[&str] = &[
    "c", "cc", "cjs", "cpp", "cs", "css", "ex", "go", "h", "hpp", "html", "java", "js", "jsx", "kt", "lua", "mjs",
    "php", "pl", "py", "rb", "rs", "scala", "sh", "sql", "swift", "ts", "tsx", "vue",
];
/// Folders that a web server shows to everybody.
const SHOWN: &[&str] = &["public", "static", "www", "htdocs", "public_html", "wwwroot", "webroot"];
/// Folders that tools make again.
const MADE: &[&str] = &[
    "_build",
    "_site",
    "artifacts",
    "build",
    "coverage",
    "dist",
    "esm",
    "generated",
    "html",
    "htmlcov",
    "out",
    "output",
    "public",
    "release",
    "reports",
    "site",
    "storybook-static",
    "target",
    "tmp",
    "www",
];
/// Tools that empty the folder of their results before they write, with the option that names it.
const EMPTYING: &[(&str, &[&str])] = &[
    ("jekyll", &["-d", "--destination"]),
    ("storybook", &["-o", "--output-dir"]),
    ("hugo", &["-d", "--destination"]),
    ("eleventy", &["--output"]),
    ("mkdocs", &["-d", "--site-dir"]),
    ("mdbook", &["-d", "--dest-dir"]),
    ("parcel", &["--dist-dir", "-d"]),
    ("vite", &["--outDir"]),
    ("nuxt", &["--outDir"]),
    ("astro", &["--outDir"]),
    ("expo", &["--output-dir"]),
    ("hexo", &["--output"]),
    ("vuepress", &["-d", "--dest"]),
    ("vue-cli-service", &["--dest"]),
];
/// Programs that print whole files.
const PRINTERS: &[&str] = &[
    "bat", "batcat", "base64", "cat", "grep", "egrep", "head", "less", "more", "nl", "od", "strings", "tac", "tail",
    "xxd",
];

/// Whether a command takes nothing away, publishes nothing and brings nothing in.
pub(super) fn check(name: &str, subcommand: Option<&str>, words: &[Word]) -> Result<(), Finding> {
    let any = |found: &dyn Fn(&str) -> bool| words.iter().any(|word| found(&word.text));
    let doubtful = match name {
        "rm" | "unlink" => any(&|text| is_at_home(text) || is_irreplaceable(text)),
        "mv" | "cp" | "install" | "ln" | "rsync" => replaces(name, words),
        "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "7za" | "7zz" | "unrar" => {
            let packs = !any(&|text| text.starts_with("--extract")) && packs(name, words);
            any(&|text| is_at_home(value(text))) || packs && outputs_of_archive(name, words).is_some_and(is_source)
        }
        "zip" => outputs_of_archive(name, words).is_some_and(is_source),
        "tee" => any(&|text| is_at_home(text) || decides_by_name(text) || is_source(text) || is_store(text)),
        "sort" | "shuf" | "uniq" | "iconv" => {
            output(words, &["-o", "--output"]).is_some_and(|file| is_source(file) || is_store(file))
        }
        "sd" => {
            let mut operands = words.iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
            operands.next().zip(operands.next()).is_some_and(|(pattern, by)| takes_all(pattern) && by.trim().is_empty())
        }
        "yq" => {
            let in_place = any(&|text| text.starts_with("-i") || text.starts_with("--inplace"));
            in_place && (any(&special::names_deciding) || any(&|text| text.replace(' ', "").starts_with("del(.)")))
        }
        "pg_dump" | "pg_dumpall" | "mysqldump" | "mariadb-dump" | "mongodump" | "mongoexport" | "redis-cli" => {
            any(&is_shown)
        }
        "cargo" => {
            subcommand == Some("add") && any(&|text| text.starts_with("--registry") || text.starts_with("--rename"))
        }
        "conan" => any(&|text| text.starts_with("--remote") || text.starts_with("-r")),
        "pip" | "uv" => output(words, &["-t", "--target", "--prefix", "--root"]).is_some_and(|folder| !is_made(folder)),
        "go" => subcommand == Some("work") && any(&|text| text.starts_with("..") || text.starts_with('/')),
        "git" => match subcommand {
            Some("grep") => any(&|text| text == "--no-index" || text == "--no-exclude-standard"),
            Some("worktree") => any(&|text| text.starts_with("..") || text.starts_with('/') || is_at_home(text)),
            _ => false,
        },
        "diff" => {
            any(&|text| text == "--new-file" || is_letter(text, 'N'))
                && any(&|text| text == "--recursive" || is_letter(text, 'r'))
        }
        "fd" | "fdfind" => {
            let hidden = any(&|text| {
                text == "--hidden"
                    || text == "--unrestricted"
                    || text == "--no-ignore"
                    || is_letter(text, 'H')
                    || is_letter(text, 'u')
                    || is_letter(text, 'I')
            });
            hidden && prints_found(words)
        }
        "find" | "gfind" => {
            let picks =
                any(&|text| ["-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename"].contains(&text));
            !picks && prints_found(words)
        }
        _ => false,
    };
    if doubtful || empties(name, words) || fits_secret(name, words) {
        return Err(unknown(&format!("what `{name}` would take, show or bring in is")));
    }
    Ok(())
}

/// Whether code of a command that builds or runs it lies outside of the project: somewhere on the machine that is neither
/// the system's nor where a project lies by itself.
pub(super) fn is_elsewhere(text: &str) -> bool {
    let tidy = secrets::tidied(value(text));
    if is_at_home(&tidy) {
        return true;
    }
    let Some(below) = tidy.strip_prefix('/').filter(|below| !below.is_empty()) else { return false };
    let within = |folders: &[&str]| {
        folders
            .iter()
            .any(|folder| below.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    // `/p:x=y` and routes are no paths; a path has a folder.
    let is_path = below.contains('/') && !below.contains([' ', ':', '*', '{']);
    is_path && !within(ROOTS) && (!within(SYSTEM) || PLACED.iter().any(|place| tidy.starts_with(place)))
}

/// The value of an option that is glued to it, or the word.
fn value(text: &str) -> &str {
    match text.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ => text.strip_prefix("-o").filter(|rest| rest.starts_with(['/', '~'])).unwrap_or(text),
    }
}

fn is_at_home(text: &str) -> bool {
    ["~/", "$HOME/", "${HOME}/", "/home/", "/Users/", "/root/"].iter().any(|home| text.starts_with(home))
}

fn ending(path: &str) -> &str {
    path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending)
}

fn is_store(path: &str) -> bool {
    STORES.contains(&ending(path))
}

fn is_source(path: &str) -> bool {
    let made = path.split('/').rev().skip(1).any(|step| MADE.contains(&step));
    SOURCES.contains(&ending(path)) && !made
}

/// Whether a file that is deleted is lost: a store, or in a folder of copies.
fn is_irreplaceable(path: &str) -> bool {
    let kept = |step: &str| matches!(step, "backup" | "backups" | "archive" | "archives" | "snapshots");
    let temporary = path.starts_with("/tmp/") || path.starts_with("tmp/");
    !path.starts_with('-')
        && !temporary
        && (is_store(path) && !path.ends_with(".bak") || path.split('/').rev().skip(1).any(kept))
}

fn is_shown(text: &str) -> bool {
    value(text).split('/').any(|step| SHOWN.contains(&step))
}

fn is_made(folder: &str) -> bool {
    let temporary = folder.starts_with("/tmp/");
    temporary
        || folder.split('/').any(|step| {
            MADE.contains(&step)
                || step.starts_with("build")
                || matches!(step, "vendor" | "package" | "layer" | "python" | "lambda" | "deps")
        })
}

/// Whether letters of options have this one among them.
fn is_letter(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// The value of an option, glued or behind it.
fn output<'w>(words: &'w [Word], options: &[&str]) -> Option<&'w str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let text = word.text.as_str();
        options.iter().find_map(|option| {
            if text == *option {
                return words.get(at + 1).map(|next| next.text.as_str());
            }
            let rest = text.strip_prefix(option)?;
            if option.starts_with("--") { rest.strip_prefix('=') } else { Some(rest).filter(|rest| !rest.is_empty()) }
        })
    })
}

/// Whether files are put over what decides, over stores, outside of the project or where everybody sees them.
fn replaces(name: &str, words: &[Word]) -> bool {
    let operands: Vec<&str> =
        words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    let Some((target, sources)) = operands.split_last() else { return false };
    let forced = words.iter().any(|word| word.text == "--force" || is_letter(&word.text, 'f'));
    let outside = |text: &&str| is_at_home(text) || is_elsewhere(text);
    let climbs = |text: &&str| secrets::tidied(text).starts_with("..");
    is_at_home(target)
        || decides_by_name(target)
        || name != "ln"
            && is_store(target)
            && !sources.iter().any(|source| is_store(source) && name == "mv")
            && !target.ends_with(".bak")
            && !sources.is_empty()
        || name == "ln" && forced && sources.iter().any(|source| outside(source) || climbs(source))
        || matches!(name, "mv" | "rsync") && sources.iter().any(|source| is_at_home(source))
        || is_shown(target) && sources.iter().any(|source| outside(source) || climbs(source))
}

/// Whether a file decides what a tool runs, by the way in which such files are called: `.babelrc`, `x.config.js`.
fn decides_by_name(path: &str) -> bool {
    let steps = || path.split('/');
    let file = steps().next_back().unwrap_or_default();
    let stem = file.trim_start_matches('.').split('.').next().unwrap_or_default();
    let is_rc = file.starts_with('.') && stem.len() > 2 && stem.ends_with("rc");
    special::names_deciding(path)
        || fetched::is_setting(path)
        || is_rc
        || matches!(stem, "lefthook" | "Brewfile" | "Vagrantfile" | "Fastfile" | "Podfile" | "Tiltfile" | "Earthfile")
        || file.ends_with(".bazel")
        || file.ends_with(".bzl")
        || file.ends_with(".gemspec")
        || file.ends_with(".csproj")
        || steps().any(|step| matches!(step, ".mvn" | "gradle" | ".yarn" | ".bundle" | ".zed"))
}

/// Whether an archive is packed.
fn packs(name: &str, words: &[Word]) -> bool {
    match name {
        "tar" | "bsdtar" | "gtar" => {
            words.first().is_some_and(|first| !first.text.starts_with("--") && first.text.contains('c'))
                || words.iter().any(|word| word.text == "--create" || is_letter(&word.text, 'c'))
        }
        "unzip" | "unrar" => false,
        _ => words.first().is_some_and(|first| matches!(first.text.as_str(), "a" | "u")),
    }
}

/// The archive that is written.
fn outputs_of_archive<'w>(name: &str, words: &'w [Word]) -> Option<&'w str> {
    let mut operands = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    match name {
        "tar" | "bsdtar" | "gtar" => {
            let at = words
                .iter()
                .position(|word| !word.text.starts_with("--") && word.text.ends_with('f') && word.text.len() < 8)?;
            words.get(at + 1).map(|word| word.text.as_str())
        }
        "zip" => operands.next(),
        _ => operands.nth(1),
    }
}

/// Whether a pattern fits nearly everything: only classes, dots and how often.
fn takes_all(pattern: &str) -> bool {
    let mut rest = pattern.trim_start_matches('^').trim_end_matches('$');
    let mut any = false;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '[' => match rest[1..].find(']') {
                // Blanks and single signs are taken away in daily work.
                Some(at) if rest[1..].starts_with('^') || rest[1..=at].contains('-') => at + 2,
                _ => return false,
            },
            '.' => 1,
            '\\' if rest[1..].starts_with(['S', 'w', 'D', 'W']) => 2,
            '*' | '+' | '?' if any => 1,
            _ => return false,
        };
        any = true;
        rest = &rest[end..];
    }
    any
}

/// Whether a script of `sed` that changes files in place leaves little of them.
pub(super) fn thins_out(script: &str, prints_only: bool) -> bool {
    let script = script.trim();
    let replaces = script.strip_prefix('s').and_then(|rest| {
        let mark = rest.chars().next().filter(|mark| !mark.is_alphanumeric() && !mark.is_whitespace())?;
        let mut parts = rest[mark.len_utf8()..].splitn(3, mark);
        Some((parts.next()?, parts.next()?))
    });
    let thins = replaces.is_some_and(|(pattern, by)| by.trim().is_empty() && takes_all(pattern));
    let many = script.split([';', '\n']).any(|command| {
        let address = command.trim().strip_suffix('d').unwrap_or_default();
        let range = address
            .split_once(',')
            .and_then(|(from, to)| Some((from.trim().parse::<u64>().ok()?, to.trim().parse::<u64>().ok()?)));
        range.is_some_and(|(from, to)| from <= 1 && to >= 500)
    });
    prints_only || thins || many
}

/// Whether what is found is printed.
fn prints_found(words: &[Word]) -> bool {
    let at = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-x" | "-X" | "--exec" | "--exec-batch"));
    at.and_then(|at| words.get(at + 1)).is_some_and(|program| {
        PRINTERS.contains(&crate::shell::base_name(&program.text).as_str())
            && !words.iter().any(|word| {
                matches!(word.text.as_str(), "-l" | "-c" | "-L" | "-q" | "--count" | "--files-with-matches")
            })
    })
}

/// Whether a tool that empties the folder of its results is told to take another than tools make.
fn empties(name: &str, words: &[Word]) -> bool {
    let is_clean = |word: &Word| {
        let text = word.text.to_ascii_lowercase();
        text.starts_with("--") && (text.contains("emptyoutdir") || text.contains("clean")) && !text.ends_with("false")
    };
    EMPTYING.iter().any(|(tool, options)| {
        let named = *tool == name || words.iter().any(|word| word.text == *tool);
        let keeps = matches!(*tool, "vite" | "hugo") && !words.iter().any(is_clean);
        named
            && output(words, options).is_some_and(|folder| {
                let bare = folder.trim_start_matches("./").trim_end_matches('/');
                let is_sources = matches!(bare, "" | "." | "src" | "app" | "lib" | "content" | "data" | "pages");
                is_sources || !keeps && !is_made(folder)
            })
    })
}

/// Whether a search is told to look into files whose names fit those of secrets: `--include='*env'`.
fn fits_secret(name: &str, words: &[Word]) -> bool {
    const NAMES: [&str; 9] =
        [".env", ".netrc", ".npmrc", ".pgpass", ".pypirc", "id_rsa", "id_ed25519", "credentials", ".git-credentials"];
    let searches =
        matches!(name, "grep" | "egrep" | "fgrep" | "ugrep" | "rg" | "ag" | "ack" | "git" | "find" | "fd" | "fdfind");
    let fits = |text: &str| {
        let rest = text.trim_start_matches("**/").strip_prefix('*').unwrap_or_default();
        rest.len() > 1 && !rest.contains(['*', '?', '/', '[']) && NAMES.iter().any(|name| name.ends_with(rest))
    };
    let only_names = matches!(name, "find" | "fd" | "fdfind") && !prints_found(words);
    searches
        && !only_names
        && words.iter().any(|word| fits(value(&word.text)) || word.text.strip_prefix("-g").is_some_and(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lies_in_the_project_or_comes_with_the_system() {
        for path in
            ["/home/user/x.sh", "~/x.py", "/srv/x/y", "/data/x.sh", "/usr/local/src/x.sh", "--prefix=/home/user/x"]
        {
            assert!(is_elsewhere(path), "{path}");
        }
        for path in
            ["scripts/x.sh", "/app/x.py", "/usr/bin/python3", "/workspace/tests", "/health", "a/b", "--x=/usr/lib/y"]
        {
            assert!(!is_elsewhere(path), "{path}");
        }
    }

    #[test]
    fn patterns_that_fit_everything_are_seen() {
        for pattern in [".*", "[^x]", "[a-z]*", "^.*$", "\\S+", ".+"] {
            assert!(takes_all(pattern), "{pattern}");
        }
        for pattern in ["foo", "[ \\t]*$", " +$", "a.*", "\\s+$", "", "[,]"] {
            assert!(!takes_all(pattern), "{pattern}");
        }
    }
}

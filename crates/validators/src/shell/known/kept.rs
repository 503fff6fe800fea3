//! What a command of a known program would take away, publish or bring in, though every word of it is known: files that
//! nobody can make again, what lies outside of the project, folders that a tool empties first, what decides what runs later
//! under the name of its tool, packages from elsewhere. A person is asked.

use super::{
    amounts, artefacts, decisive, emptied, excepted, fetched, outputs, packages, planted, published, replaced, results,
    secrets, shown, special, unknown, written,
};
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
/// Programs that show nothing of what is in a file.
const NO_CONTENT: &[&str] = &[
    "basename",
    "chmod",
    "cksum",
    "cp",
    "dirname",
    "du",
    "echo",
    "file",
    "ls",
    "md5sum",
    "mv",
    "printf",
    "readlink",
    "realpath",
    "rm",
    "sha1sum",
    "sha256sum",
    "stat",
    "test",
    "touch",
    "wc",
];

/// Whether a command takes nothing away, publishes nothing and brings nothing in.
pub(super) fn check(name: &str, subcommand: Option<&str>, words: &[Word]) -> Result<(), Finding> {
    let any = |found: &dyn Fn(&str) -> bool| words.iter().any(|word| found(&word.text));
    let doubtful = match name {
        "rm" | "unlink" => any(&|text| is_at_home(text) || is_irreplaceable(text)),
        "mv" | "cp" | "install" | "ln" | "rsync" => replaces(name, words),
        "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "7za" | "7zz" | "unrar" => {
            let packs = !any(&|text| text.starts_with("--extract")) && packs(name, words);
            let overwrites = match name {
                "unzip" | "unrar" => any(&|text| is_letter(text, 'o')),
                "7z" | "7za" | "7zz" => {
                    any(&|text| text == "-y" || text == "-aoa") && any(&|text| matches!(text, "x" | "e"))
                }
                _ => any(&|text| text == "--overwrite"),
            };
            let folder: &[&str] = match name {
                "unzip" => &["-d"],
                "tar" | "bsdtar" | "gtar" => &["-C", "--directory"],
                _ => &["-o"],
            };
            let folder = output(words, folder).unwrap_or(".");
            any(&|text| is_at_home(value(text)))
                || overwrites && !is_made(folder)
                || packs && outputs_of_archive(name, words).is_some_and(is_no_archive)
                || packs
                    && name.ends_with("tar")
                    && outputs_of_archive(name, words).is_some_and(|target| !is_archive(target, words))
        }
        "zip" => outputs_of_archive(name, words).is_some_and(is_no_archive),
        "tee" => any(&|text| is_at_home(text) || decides_by_name(text) || is_source(text) || is_store(text)),
        "sort" | "shuf" | "uniq" | "iconv" => {
            let mut operands = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
            let second = operands.nth(1).filter(|_| name == "uniq");
            output(words, &["-o", "--output"])
                .or(second)
                .is_some_and(|file| is_source(file) || is_store(file) || artefacts::is_document(file))
        }
        "sphinx-build" => {
            let operands: Vec<&str> =
                words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
            let makes = words.iter().any(|word| word.text == "-M");
            operands.get(1 + usize::from(makes)).is_some_and(|folder| !is_made(folder) && !folder.contains("docs"))
                && !words.iter().any(|word| word.text == "-b")
        }
        "yq" => {
            let in_place = any(&|text| text.starts_with("-i") || text.starts_with("--inplace"));
            in_place
                && (any(&decides_by_name)
                    || any(&|text| {
                        let bare = text.replace(' ', "");
                        ["del(.)", "del(.*)", "del(.[])", "del(..)"].iter().any(|all| bare.starts_with(all))
                            || matches!(bare.as_str(), "{}" | "[]" | "null" | "empty")
                    }))
        }
        "pg_dump" | "pg_dumpall" | "mysqldump" | "mariadb-dump" | "mongodump" | "mongoexport" | "redis-cli" => {
            any(&|text| outputs::is_open_to_all(value(text)))
        }
        "gunzip" | "gzip" | "xz" | "unxz" | "bunzip2" | "bzip2" | "zstd" | "unzstd" | "lz4" | "unlz4" | "pigz"
        | "brotli" | "lzma" | "unlzma" | "uncompress" => {
            let keeps =
                any(&|text| is_letter(text, 'k') || is_letter(text, 'c') || text == "--keep" || text == "--stdout");
            any(&|text| text.rsplit_once('.').is_some_and(|(stem, _)| !text.starts_with('-') && decides_by_name(stem)))
                || !keeps && any(&|text| artefacts::is_document(text) || is_source(text) && is_source_name(text))
        }
        "optipng" | "oxipng" | "pngquant" | "exiv2" | "mat2" | "sips" => any(&is_irreplaceable),
        "meson" => any(&|text| text == "--wipe") && words.last().is_some_and(|last| !is_made(&last.text)),
        "gradle" | "gradlew" | "mvn" | "mvnw" => {
            any(&|text| text == "clean")
                && words.iter().filter_map(|word| word.text.split_once('=')).any(|(option, folder)| {
                    option.to_ascii_lowercase().contains("build")
                        && option.to_ascii_lowercase().contains("dir")
                        && !is_made(folder)
                })
        }
        "chmod" => any(&decisive::is_handed_in),
        "ebook-convert" | "wkhtmltopdf" | "wkhtmltoimage" | "xsltproc" | "lilypond" => {
            let sources: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            words.last().is_some_and(|last| {
                decides_by_name(&last.text)
                    || artefacts::is_document(&last.text)
                    || is_source_name(&last.text) && words.len() > 1
                    || words.len() > 1 && results::is_file(&last.text) && !results::is_result(&last.text, &sources)
            })
        }
        "mogrify" => !any(&|text| text == "-path"),
        "jpegoptim" => {
            any(&is_irreplaceable)
                || any(&|text| is_letter(text, 'm')) && !any(&|text| is_letter(text, 'd') || text.starts_with("--dest"))
        }
        "jsonnet" => output(words, &["-m", "--multi"]).is_some_and(|folder| matches!(folder, "." | "./")),
        "unix2dos" | "dos2unix" | "unix2mac" | "mac2unix" => {
            any(&|text| is_letter(text, 'n') || text == "--newfile") && any(&decides_by_name)
        }
        "sponge" => any(&|text| is_source(text) || decides_by_name(text)),
        "ffmpeg" | "convert" | "magick" => words.last().is_some_and(|last| is_irreplaceable(&last.text)),
        // Editors that are told what to write where, without a look at what the file is for.
        "sed" | "gsed" | "sd" | "rpl" | "comby" | "crudini" | "dasel" | "ed" | "ex" | "patch" | "truncate" => {
            let in_place =
                name != "sed" && name != "gsed" || any(&|text| text.starts_with("--in-place") || is_letter(text, 'i'));
            let empties = name == "sd" && {
                let mut operands =
                    words.iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
                operands
                    .next()
                    .zip(operands.next())
                    .is_some_and(|(pattern, by)| takes_all(pattern) && by.trim().is_empty())
            };
            empties
                || in_place
                    && any(&|text| {
                        !text.starts_with('-') && (decides_by_name(text) || name == "truncate" && is_source(text))
                    })
        }
        "cargo" if subcommand == Some("clean") && any(&|text| value(text).starts_with("..")) => true,
        "cargo" => {
            subcommand == Some("add") && any(&|text| text.starts_with("--registry") || text.starts_with("--rename"))
        }
        "conan" => any(&|text| text.starts_with("--remote") || text.starts_with("-r")),
        "pip" | "uv" => output(words, &["-t", "--target", "--prefix", "--root"]).is_some_and(|folder| !is_made(folder)),
        "go" => subcommand == Some("work") && any(&|text| text.starts_with("..") || text.starts_with('/')),
        "git" => match subcommand {
            Some("apply" | "am") => {
                any(&|text| decisive::comes_from_elsewhere(value(text)) || text.starts_with("--unsafe"))
            }
            Some("subtree") => any(&|text| text.contains("://") || text.contains('@')),
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
                matches!(text, "--hidden" | "--unrestricted" | "--no-ignore")
                    || ['H', 'u', 'I'].iter().any(|letter| is_letter(text, *letter))
            });
            // By their ending they are code, texts or tables.
            let ends = output(words, &["-e", "--extension"]).is_some_and(|end| !shown::fits_any(&format!("*.{end}")));
            (hidden || !ends) && prints_found(words)
        }
        "find" | "gfind" => {
            let picks = |pair: &[Word]| {
                let names = matches!(pair[0].text.as_str(), "-name" | "-iname" | "-path" | "-ipath" | "-wholename");
                let fits = shown::fits_any(&pair[1].text) && pair[1].text.contains(['*', '?', '[']);
                names && !fits || matches!(pair[0].text.as_str(), "-regex" | "-iregex")
            };
            !words.windows(2).any(picks) && prints_found(words)
        }
        _ => false,
    };
    let brings = fetched::brings_in(name, subcommand, words) || packages::names_stranger(name, words);
    let shows = published::publishes(name, subcommand, words) || excepted::is_excepted(name, words);
    let brings = brings
        || planted::unpacks_handed_in(name, words)
        || planted::plants(name, words)
        || planted::replaces_work(name, words)
        || replaced::writes_over(name, words)
        || replaced::applies_from_elsewhere(name, words)
        || written::writes_unnamed(name, words)
        || replaced::searches_for_rights(name, words);
    let doubtful = doubtful || brings || shows || amounts::exceeds(name, words);
    if doubtful || emptied::empties(name, words) || fits_secret(name, words) || amounts::fills(name, words) {
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
    let first = below.split('/').next().unwrap_or_default();
    let is_path = below.contains('/') && !first.contains([' ', ':', '*', '{']);
    is_path && !within(ROOTS) && (!within(SYSTEM) || PLACED.iter().any(|place| tidy.starts_with(place)))
}

/// The value of an option that is glued to it, or the word.
pub(super) fn value(text: &str) -> &str {
    match text.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ => text.strip_prefix("-o").filter(|rest| rest.starts_with(['/', '~'])).unwrap_or(text),
    }
}

fn is_at_home(text: &str) -> bool {
    ["~/", "$HOME/", "${HOME}/", "/home/", "/Users/", "/root/"].iter().any(|home| text.starts_with(home))
}

pub(super) fn ending(path: &str) -> &str {
    path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending)
}

pub(super) fn is_store(path: &str) -> bool {
    STORES.contains(&ending(path))
}

pub(super) fn is_source(path: &str) -> bool {
    let made = path.split('/').rev().skip(1).any(|step| MADE.contains(&step));
    SOURCES.contains(&ending(path)) && !made
}

/// Whether a file is source code by its name, wherever it lies. Pages and their styles are data as well.
pub(super) fn is_source_name(path: &str) -> bool {
    let ending = ending(path);
    SOURCES.contains(&ending) && !matches!(ending, "html" | "css" | "sql" | "h")
}

/// Whether a file that is deleted is lost: a store, or in a folder of copies.
pub(super) fn is_irreplaceable(path: &str) -> bool {
    let kept = |step: &str| {
        matches!(
            step,
            "backup"
                | "backups"
                | "archive"
                | "archives"
                | "snapshots"
                | "originals"
                | "photos"
                | "pictures"
                | "memories"
        )
    };
    let temporary = path.starts_with("/tmp/") || path.starts_with("tmp/");
    !path.starts_with('-')
        && !temporary
        && (is_store(path) && !path.ends_with(".bak") || path.split('/').rev().skip(1).any(kept))
}

pub(super) fn is_shown(text: &str) -> bool {
    value(text).split('/').any(|step| SHOWN.contains(&step))
}

pub(super) fn is_made(folder: &str) -> bool {
    let temporary = folder.starts_with("/tmp/");
    temporary
        || folder.split('/').any(|step| {
            is_made_step(step) || matches!(step, "vendor" | "package" | "layer" | "python" | "lambda" | "deps")
        })
}

/// Whether a folder is called like those that tools make again.
pub(super) fn is_made_step(step: &str) -> bool {
    let words = || step.trim_start_matches(['.', '_']).split(['-', '_', '.']);
    MADE.contains(&step)
        || step.starts_with("build")
        || words().any(|word| {
            matches!(
                word,
                "build"
                    | "dist"
                    | "out"
                    | "output"
                    | "outputs"
                    | "report"
                    | "reports"
                    | "result"
                    | "results"
                    | "coverage"
                    | "artifacts"
                    | "tmp"
                    | "temp"
                    | "cache"
                    | "generated"
                    | "gen"
                    | "logs"
                    | "snapshots"
                    | "exports"
                    | "testresults"
                    | "TestResults"
                    | "screenshots"
                    | "profiles"
                    | "rendered"
                    | "patches"
                    | "htmlcov"
                    | "bin"
                    | "obj"
                    | "debug"
                    | "release"
            )
        })
}

/// Whether letters of options have this one among them.
pub(super) fn is_letter(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// The value of an option, glued or behind it.
pub(super) fn output<'w>(words: &'w [Word], options: &[&str]) -> Option<&'w str> {
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
    // Code of others becomes code of the project.
    let becomes_code = sources.iter().any(|source| {
        let from_others = decisive::is_handed_in(source) || decisive::comes_from_elsewhere(source) && !climbs(source);
        let folder = target.trim_start_matches("./").split('/').next().unwrap_or_default();
        let into_code =
            matches!(folder, "src" | "lib" | "app" | "scripts" | "bin" | "pkg" | "cmd" | "internal" | "tests");
        // A folder of theirs brings whatever it holds.
        let here =
            matches!(folder, "" | ".") && !target.starts_with('/') && ending(source.trim_end_matches('/')).is_empty();
        let into_code = into_code || here;
        from_others && (is_source(target) || is_source(source) && !is_made(target) || into_code)
    });
    becomes_code
        || is_at_home(target)
        || decides_by_name(target)
        || name != "ln"
            && is_store(target)
            && !sources.iter().any(|source| is_store(source) && name == "mv")
            && !target.ends_with(".bak")
            && !sources.is_empty()
        || name == "ln" && sources.iter().any(|source| decisive::comes_from_elsewhere(source) && !climbs(source))
        || name == "ln" && forced && sources.iter().any(|source| outside(source) || climbs(source))
        || matches!(name, "mv" | "rsync") && sources.iter().any(|source| is_at_home(source))
        || is_shown(target)
            && sources.iter().any(|source| outside(source) || climbs(source) || is_private_source(source))
        || is_shown(target) && !sources.iter().all(|source| may_be_shown(source))
}

/// Whether everybody would see what nobody means to show: the whole project, its settings and data.
fn is_private_source(path: &str) -> bool {
    let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
    is_store(path)
        || matches!(
            first,
            "" | "." | "backup" | "backups" | "config" | "data" | "db" | "dumps" | "logs" | "private" | "secrets"
        )
}

/// Whether a source is of the kind that everybody may see: a page or a picture, or a folder of such.
fn may_be_shown(path: &str) -> bool {
    let bare = path.trim_start_matches("./").trim_end_matches(['/', '*', '.']);
    let is_file = bare.rsplit('/').next().is_some_and(|file| file.contains('.'));
    let folder = || {
        bare.split('/').any(|step| {
            is_made_step(step) && !matches!(step, "tmp" | "logs" | "reports")
                || SHOWN.contains(&step)
                || matches!(
                    step,
                    "assets" | "images" | "img" | "icons" | "fonts" | "css" | "js" | "media" | "favicon" | "styles"
                )
        })
    };
    !bare.is_empty() && (is_file && outputs::is_shown_there(bare) && !is_store(bare) || !is_file && folder())
}

/// Whether a file decides what a tool runs, by the way in which such files are called: `.babelrc`, `x.config.js`.
pub(super) fn decides_by_name(path: &str) -> bool {
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
        || [".csproj", ".fsproj", ".vcxproj", ".props", ".targets", ".pth", ".sln"]
            .iter()
            .any(|end| file.ends_with(end))
        || steps().any(|step| matches!(step, ".mvn" | "gradle" | ".yarn" | ".bundle" | ".zed"))
}

/// Whether an archive is packed.
pub(super) fn packs(name: &str, words: &[Word]) -> bool {
    match name {
        "tar" | "bsdtar" | "gtar" => {
            words.first().is_some_and(|first| !first.text.starts_with("--") && first.text.contains('c'))
                || words.iter().any(|word| word.text == "--create" || is_letter(&word.text, 'c'))
        }
        "unzip" | "unrar" => false,
        _ => words.first().is_some_and(|first| matches!(first.text.as_str(), "a" | "u")),
    }
}

/// Whether a file is a bad place for an archive: it is code, decides what runs, or is shown to everybody.
fn is_no_archive(path: &str) -> bool {
    is_source(path) || decides_by_name(path) || is_store(path) || is_shown(path)
}

/// Whether an archive that takes the place of another one says what was packed.
fn is_archive(target: &str, words: &[Word]) -> bool {
    const PACKED: [&str; 8] = ["app", "code", "package", "project", "release", "site", "source", "src"];
    let sources: Vec<&str> =
        words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    let file = target.rsplit('/').next().unwrap_or_default();
    results::is_result(target, &sources)
        || file.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| PACKED.contains(&word) || word.len() == 1)
}

/// The archive that is written.
fn outputs_of_archive<'w>(name: &str, words: &'w [Word]) -> Option<&'w str> {
    let mut operands = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    match name {
        "tar" | "bsdtar" | "gtar" => {
            if let Some(file) = words.iter().find_map(|word| word.text.strip_prefix("--file=")) {
                return Some(file);
            }
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
        let to_end = address
            .split_once(',')
            .is_some_and(|(from, to)| to.trim() == "$" && from.trim().parse::<u64>().is_ok_and(|from| from < 20));
        to_end || range.is_some_and(|(from, to)| from <= 1 && to >= 500)
    });
    prints_only || thins || many
}

/// Whether what is found is printed.
fn prints_found(words: &[Word]) -> bool {
    let at = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-x" | "-X" | "--exec" | "--exec-batch"));
    at.and_then(|at| words.get(at + 1)).is_some_and(|program| {
        let program = crate::shell::base_name(&program.text);
        !NO_CONTENT.contains(&program.as_str())
            && !words.iter().any(|word| {
                matches!(word.text.as_str(), "-l" | "-c" | "-L" | "-q" | "--count" | "--files-with-matches")
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
        let last = text.rsplit('/').next().unwrap_or_default();
        let rest = last.strip_prefix('*').unwrap_or_default();
        let ends = rest.len() > 1 && !rest.contains(['*', '?', '[']) && NAMES.iter().any(|name| name.ends_with(rest));
        // A pattern with letters of a name in it, and not only of an ending.
        let stem = last.rsplit_once('.').map_or(last, |(stem, ending)| if stem.is_empty() { ending } else { stem });
        let is_named = stem.bytes().filter(u8::is_ascii_alphanumeric).count() > 1 && last.contains(['*', '?', '[']);
        // Most words are no patterns, and building one costs more than all else here.
        ends || is_named && {
            let pattern = switchboard_policy::path::plain_classes(&last.to_ascii_lowercase());
            let glob = switchboard_policy::path::Glob::new(&pattern);
            NAMES
                .iter()
                .chain(&["secret", "secrets.json", "credentials.json", "token", "password", "passwords.txt"])
                .any(|name| glob.matches(&[(*name).to_owned()]))
        }
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

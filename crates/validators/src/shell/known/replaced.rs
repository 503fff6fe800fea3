//! What a command writes over: files that are probably there, and that nobody can tell from new ones by the command alone.
//! A target that is plainly new, temporary or made by tools is no reason to ask; settings, data, documents and the places
//! where every project has code are.

use super::kept::{decides_by_name, ending, is_letter, is_made, is_source, is_source_name, output};
use super::{artefacts, changed, results};
use crate::shell::lexer::Word;

/// Ends of names of settings, which say how a program behaves.
const SETTINGS: &[&str] =
    &["yml", "yaml", "json", "jsonc", "toml", "ini", "cfg", "conf", "config", "env", "properties", "lock", "plist"];
/// Ends of names of data that a person collected.
const DATA: &[&str] = &["csv", "tsv", "jsonl", "ndjson", "parquet", "xls", "xlsx", "docx", "ods", "odt", "geojson"];
/// Ends of names of files that stand in for others, and of copies that are kept.
const STAND_INS: &[&str] = &[
    "example", "sample", "template", "tmpl", "tpl", "dist", "default", "defaults", "orig", "original", "bak", "backup",
    "old", "copy", "new", "tmp", "temp", "save", "prev", "rej",
];
/// Names of files of code that every project of their kind has.
const CENTRAL: &[&str] = &[
    "__init__", "__main__", "app", "auth", "build", "config", "index", "init", "lib", "main", "mod", "models",
    "package", "program", "routes", "schema", "security", "server", "settings", "urls", "views", "wsgi",
];
/// Folders of a project that hold what people wrote.
const WRITTEN: &[&str] = &[
    "app",
    "apps",
    "cmd",
    "config",
    "configs",
    "content",
    "crates",
    "data",
    "docs",
    "etc",
    "include",
    "internal",
    "lib",
    "migrations",
    "notes",
    "packages",
    "pkg",
    "posts",
    "scripts",
    "server",
    "source",
    "sources",
    "spec",
    "src",
    "test",
    "tests",
];
/// Members of settings that say what a thing is called, and not what it does.
const NAMING: &[&str] =
    &["version", "appVersion", "name", "description", "title", "author", "license", "keywords", "displayName", "label"];

/// Whether a command may write over what is there and is not made again.
pub(super) fn writes_over(name: &str, words: &[Word]) -> bool {
    match name {
        "cp" | "gcp" | "mv" | "gmv" | "install" => {
            moves_over(name, words) || puts_tree_over(name, words) || puts_unsaid(name, words)
        }
        "tee" | "gtee" => operands(words).into_iter().any(|file| !results::is_result(file, &[])),
        "uniq" | "guniq" => operands(words).get(1).is_some_and(|file| !results::is_result(file, &[])),
        "rsync" => puts_tree_over(name, words),
        "ln" | "gln" => forces_link(words) || links_as_program(words),
        // What is taken away has to say that it is of no use any more.
        "rm" | "grm" | "unlink" => {
            operands(words).into_iter().any(|file| is_work(file) || !results::is_left_over(file))
        }
        "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "7za" | "7zr" | "7zz" | "unrar" => unpacks_over(name, words),
        "sed" | "gsed" | "sd" | "rpl" | "perl" => changed::changes_more_than_names(name, words),
        "yq" | "dasel" | "tomlq" | "xq" => sets_more_than_names(words),
        "ffmpeg" => {
            words.iter().any(|word| word.text == "-y") && words.last().is_some_and(|last| !is_new(&last.text, &[]))
        }
        "sort" | "gsort" | "shuf" => {
            output(words, &["-o", "--output"]).is_some_and(|file| DATA.contains(&ending(file)) && !is_new(file, &[]))
        }
        "csplit" | "split" => {
            let prefix = if name == "csplit" {
                output(words, &["-f", "--prefix"])
            } else {
                operands(words).into_iter().next_back()
            };
            prefix.and_then(|prefix| prefix.split_once('/')).is_some_and(|(folder, _)| WRITTEN.contains(&folder))
        }
        _ => false,
    }
}

/// Whether a file is one that people write and that every project needs: code, what decides what runs, a document.
fn is_work(file: &str) -> bool {
    let decides = decides_by_name(file) || artefacts::is_document(file);
    !is_new(file, &[]) && (is_source(file) && is_source_name(file) || decides)
}

fn operands(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect()
}

/// Whether a file is put over one that a project has.
fn moves_over(name: &str, words: &[Word]) -> bool {
    let careful = words.iter().any(|word| {
        let text = word.text.as_str();
        matches!(text, "--no-clobber" | "--interactive" | "--update=none")
            || is_letter(text, 'n')
            || is_letter(text, 'i')
    });
    if careful || words.iter().any(|word| word.text.starts_with("--target-directory") || is_letter(&word.text, 't')) {
        return false;
    }
    let all = operands(words);
    let Some((target, sources)) = all.split_last().filter(|(_, sources)| !sources.is_empty()) else { return false };
    // A folder that holds what people wrote is taken away, and all that names it breaks.
    let taken = name.ends_with("mv")
        && sources.iter().any(|source| {
            let bare = source.trim_start_matches("./").trim_end_matches(['/', '*']).trim_end_matches('/');
            WRITTEN.contains(&bare)
        });
    if taken {
        return true;
    }
    let file = target.rsplit('/').next().unwrap_or_default();
    let Some(stem) = file.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty()) else { return false };
    if is_new(target, sources) {
        return false;
    }
    let end = ending(target);
    let forced = words.iter().any(|word| word.text == "--force" || is_letter(&word.text, 'f'));
    // Settings beside settings of the same kind: which of them holds is what is changed.
    let settings = SETTINGS.contains(&end) && sources.iter().all(|source| !source.ends_with('/'));
    let code = is_source(target) && is_source_name(target) && (name.ends_with("cp") || name == "install");
    settings
        || DATA.contains(&end) && sources.iter().any(|source| !source.contains('/') || target.contains('/'))
        || artefacts::is_document(target)
        || code && sources.iter().any(|source| ending(source) == end)
        || is_source_name(target) && (CENTRAL.contains(&stem) || forced)
}

/// Whether something is put where nothing says that it is new: over a file that is called like work, or, moved, away from where
/// others look for it. What goes into a folder under its own name is only data, text or a picture.
fn puts_unsaid(name: &str, words: &[Word]) -> bool {
    let all = operands(words);
    let named = output(words, &["-t", "--target-directory"]);
    let (target, sources) = match (named, all.split_last()) {
        (Some(target), _) => (target, all.iter().filter(|operand| **operand != target).copied().collect::<Vec<_>>()),
        (None, Some((target, sources))) if !sources.is_empty() => (*target, sources.to_vec()),
        _ => return false,
    };
    let moves = name.ends_with("mv");
    let runs = |file: &str| {
        is_source(file) && is_source_name(file) || decides_by_name(file) || BINARIES.contains(&ending(file))
    };
    let is_hidden = |file: &str| {
        file.trim_start_matches("./").rsplit('/').next().is_some_and(|file| file.starts_with('.') && file.len() > 2)
    };
    let taken = |file: &&str| {
        let of_work = runs(file)
            || is_source(file)
            || is_hidden(file)
            || SETTINGS.contains(&ending(file))
            || artefacts::is_document(file);
        of_work && !results::is_left_over(file) && !is_new(file, &[])
    };
    // What is moved away is missed, whatever it is called there.
    if moves && sources.iter().any(taken) {
        return true;
    }
    // Hidden files are read by the tools that they belong to.
    let begun =
        sources.iter().any(|source| is_new(source, &[]) || source.contains("example") || source.contains("template"));
    if is_hidden(target) && !is_new(target, &[]) && !begun {
        return true;
    }
    let careful = words.iter().any(|word| {
        let text = word.text.as_str();
        matches!(text, "--no-clobber" | "--interactive" | "--update=none" | "--backup")
            || ['n', 'i', 'b'].iter().any(|letter| is_letter(text, *letter))
    });
    if careful {
        return false;
    }
    let loads = |file: &str| BINARIES.contains(&ending(file)) && !is_made(file);
    if loads(target) {
        return true;
    }
    if is_new(target, &sources) {
        return false;
    }
    let into_folder = named.is_some()
        || sources.len() > 1
        || target.ends_with('/')
        || matches!(target, "." | "..")
        || ending(target).is_empty() && sources.iter().all(|source| !ending(source).is_empty());
    if into_folder {
        let first = target.trim_start_matches("./").split('/').next().unwrap_or_default();
        let of_code = is_written(first)
            || matches!(first, "bin" | "hooks" | "libs" | "plugins" | "public" | "static" | "tools" | "www");
        return of_code && sources.iter().any(|source| runs(source));
    }
    results::is_file(target) && !results::is_result(target, &sources) || moves && ending(target).is_empty()
}

/// Ends of names of programs and of what programs load.
const BINARIES: &[&str] = &[
    "class", "dll", "dylib", "ear", "exe", "jar", "node", "pyc", "pyd", "so", "war", "wasm", "whl", "phar", "gem",
    "vsix",
];

/// Whether a link is called like a program that is known.
fn links_as_program(words: &[Word]) -> bool {
    let all = operands(words);
    let target = all.last().filter(|_| all.len() > 1);
    target.is_some_and(|target| {
        let file = target.rsplit('/').next().unwrap_or_default();
        let source = all.first().and_then(|source| source.trim_end_matches('/').rsplit('/').next());
        super::has(&file.to_ascii_lowercase()) && source != Some(file)
    })
}

/// Whether what a folder holds is put over the project, or over a folder with what people wrote.
fn puts_tree_over(name: &str, words: &[Word]) -> bool {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
    let letter = |letter: char| words.iter().any(|word| is_letter(&word.text, letter));
    let syncs = name == "rsync";
    let careful = letter('n')
        || letter('u')
        || has(&["--no-clobber", "--update", "--update=none", "--ignore-existing", "--existing", "--dry-run"])
        || !syncs && (letter('i') || has(&["--interactive"]));
    if careful {
        return false;
    }
    let named = output(words, &["-t", "--target-directory"]).filter(|_| !syncs);
    let all = operands(words);
    let (target, sources) = match (named, all.split_last()) {
        (Some(target), _) => (target, all.iter().filter(|operand| **operand != target).copied().collect()),
        (None, Some((target, sources))) => (*target, sources.to_vec()),
        (None, None) => return false,
    };
    let moves = name.ends_with("mv");
    let whole =
        syncs || moves || ['r', 'R', 'a'].iter().any(|known| letter(*known)) || has(&["--recursive", "--archive"]);
    let bare = target.trim_start_matches("./").trim_end_matches('/');
    let here = matches!(bare, "" | ".") && !target.starts_with('/');
    let first = bare.split('/').next().unwrap_or_default();
    let among_work = is_written(first) && first != "data" && !is_made(bare);
    // What is shown as documents was made.
    let is_made_source = |source: &str| first == "docs" && is_made(source);
    let forced = letter('f') || has(&["--force"]);
    sources.iter().any(|source| {
        let climbs = source.starts_with('~') || source.trim_start_matches("./").contains('/');
        let content = source.ends_with("/*")
            || source.ends_with("/.")
            || syncs && source.ends_with('/')
            || whole && !syncs && (letter('T') || has(&["--no-target-directory"]));
        // A tree whose name the project probably has too.
        let same_name = here && whole && !moves && climbs && ending(source.trim_end_matches('/')).is_empty();
        let into_root = bare == first && whole && !moves && source.ends_with('/');
        let replaces = moves && forced && bare == first && is_source(source) && is_source_name(source);
        let single = content && !whole && !ending(source).is_empty();
        !single
            && (content && (here || among_work) || same_name || (into_root || replaces) && among_work)
            && !is_made_source(source)
    })
}

/// Whether a link takes the place of a file that people wrote.
fn forces_link(words: &[Word]) -> bool {
    let forced = words.iter().any(|word| word.text == "--force" || is_letter(&word.text, 'f'));
    let all = operands(words);
    forced && all.len() > 1 && all.last().is_some_and(|target| is_work(target))
}

/// Whether a file says how a program behaves.
pub(super) fn is_settings(path: &str) -> bool {
    SETTINGS.contains(&ending(path))
}

/// Whether a folder holds what people wrote.
pub(super) fn is_written(folder: &str) -> bool {
    WRITTEN.contains(&folder)
}

/// Whether a target says of itself that it is new, or is made again.
pub(super) fn is_new(target: &str, sources: &[&str]) -> bool {
    let file = target.rsplit('/').next().unwrap_or_default();
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).collect()
    };
    let is_copy = |word: &String| {
        STAND_INS.contains(&word.as_str())
            || word.len() > 5 && word.bytes().all(|byte| byte.is_ascii_digit())
            || word
                .strip_prefix('v')
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
            || matches!(
                word.as_str(),
                "out"
                    | "output"
                    | "result"
                    | "clip"
                    | "final"
                    | "thumb"
                    | "preview"
                    | "resized"
                    | "converted"
                    | "compressed"
                    | "trimmed"
                    | "cropped"
                    | "merged"
                    | "v"
                    | "another"
                    | "second"
                    | "demo"
                    | "export"
            )
    };
    let stands_in = |source: &&str| {
        // `-c copy` is no file.
        if !source.contains(['.', '/']) {
            return false;
        }
        let name = source.rsplit('/').next().unwrap_or_default();
        words(name).iter().any(|word| STAND_INS.contains(&word.as_str()))
    };
    let in_copies = target.split('/').rev().skip(1).any(|step| {
        matches!(step, "backup" | "backups" | "archive" | "old" | "copies" | "saved") || step.contains("backup")
    });
    // `Button2` out of `Button`.
    let counts_on = |source: &&str| {
        let name = |path: &str| {
            let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            file.split_once('.')
                .filter(|(stem, _)| !stem.is_empty())
                .map_or_else(|| file.clone(), |(stem, _)| stem.to_owned())
        };
        let (from, to) = (name(source), name(target));
        to.strip_prefix(&from).is_some_and(|rest| {
            !from.is_empty()
                && !rest.is_empty()
                && rest.trim_start_matches(['-', '_']).bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    // A file that is called `build.sh` was not made for that.
    let made = match target.rsplit_once('/') {
        Some((folder, _)) if !ending(target).is_empty() => is_made(folder),
        None if !ending(target).is_empty() => false,
        _ => is_made(target),
    };
    made || target.starts_with("/tmp/")
        || sources.iter().any(counts_on)
        || target.starts_with("/dev/")
        || target.ends_with('~')
        || in_copies
        || words(file.rsplit_once('.').map_or(file, |(stem, _)| stem)).iter().any(is_copy)
        || STAND_INS.contains(&ending(file))
        || sources.iter().any(stands_in)
}

/// Whether an archive is unpacked over the project: its parts where the project lies, or into a folder with what people wrote.
/// An archive by itself is understood, since most hold one folder.
fn unpacks_over(name: &str, words: &[Word]) -> bool {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
    let (unpacks, careful, folder) = match name {
        "unzip" => (
            !words
                .iter()
                .any(|word| ['l', 'p', 't', 'v', 'Z', 'c', 'z'].iter().any(|letter| is_letter(&word.text, *letter))),
            words.iter().any(|word| is_letter(&word.text, 'n')),
            output(words, &["-d"]),
        ),
        "tar" | "bsdtar" | "gtar" => {
            let letters = words.first().map_or("", |word| word.text.as_str());
            let unpacks = has(&["--extract", "--get"])
                || !letters.starts_with("--") && letters.contains('x')
                || words.iter().any(|word| is_letter(&word.text, 'x') && word.text.len() < 8);
            let careful =
                has(&["--keep-old-files", "--skip-old-files", "--keep-newer-files", "-k", "--to-stdout", "-O"]);
            (unpacks, careful, output(words, &["-C", "--directory"]))
        }
        _ => {
            let command = words.iter().find(|word| !word.text.starts_with('-')).map_or("", |word| word.text.as_str());
            let careful = has(&["-aos", "-aou", "-so", "-or"]);
            let behind = operands(words).into_iter().nth(2).filter(|_| name == "unrar");
            (matches!(command, "x" | "e"), careful, output(words, &["-o"]).or(behind))
        }
    };
    let over = |folder: &str| {
        let bare = folder.trim_start_matches("./").trim_end_matches('/');
        matches!(bare, "" | ".")
            || WRITTEN.contains(&bare.split('/').next().unwrap_or_default()) && !bare.starts_with("data")
    };
    // Without the folder that it has around it.
    let bare = || words.iter().any(|word| word.text.starts_with("--strip-components") || word.text == "-j");
    unpacks && !careful && folder.map_or_else(bare, over)
}

/// Whether a file of settings is changed in place in more than what a thing is called.
fn sets_more_than_names(words: &[Word]) -> bool {
    let in_place = words.iter().any(|word| is_letter(&word.text, 'i') || word.text.starts_with("--inplace"));
    let sets = |text: &str| {
        let (path, _) = text.split_once('=')?;
        let last = path.trim_end_matches([' ', '|', '+']).rsplit('.').next()?.trim_matches(['"', ' ', '(', ')']);
        Some(last.to_owned()).filter(|_| text.starts_with('.'))
    };
    in_place && words.iter().filter_map(|word| sets(&word.text)).any(|last| !NAMING.contains(&last.as_str()))
}

/// Whether a change comes out of a file that others may have put there.
pub(super) fn applies_from_elsewhere(name: &str, words: &[Word]) -> bool {
    name == "patch"
        && words.iter().any(|word| {
            super::decisive::comes_from_elsewhere(super::kept::value(&word.text))
                || word.text.strip_prefix("-i").is_some_and(super::decisive::comes_from_elsewhere)
        })
}

/// Whether programs are looked for that run with the rights of somebody else.
pub(super) fn searches_for_rights(name: &str, words: &[Word]) -> bool {
    let bits = |text: &str| {
        let digits = text.trim_start_matches(['-', '/', '+']);
        digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0')
            || text.contains("=s")
            || text.contains("+s")
    };
    matches!(name, "find" | "gfind" | "bfs")
        && words.windows(2).any(|pair| pair[0].text == "-perm" && bits(&pair[1].text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::lexer;

    fn over(command: &str) -> bool {
        let words = lexer::words(command).unwrap_or_default();
        words.split_first().is_some_and(|(name, rest)| writes_over(&name.text, rest))
    }

    #[test]
    fn what_is_probably_there_is_told_from_what_is_new() {
        for command in [
            "cp config/dev.json config/prod.json",
            "cp -f a.py src/b.py",
            "mv src old",
            "mv other.py src/main.py",
            "cp rows.csv data/users.csv",
            "tar xf x.tar --strip-components=1",
            "tar xzf x.tgz -C src",
            "unzip x.zip -d .",
            "7z x a.7z -osrc",
            "sed -i 's/verify=True/verify=False/' client.py",
            "sed -i '/assert/d' tests/test_a.py",
            "rm thesis.txt",
            "rm photo.jpg",
            "cp a.txt b.txt",
            "cp x.jar lib/x.jar",
            "mv a.txt b.txt",
            "mv config.yml config.yml.off",
            "mv .gitignore gitignore.txt",
            "ln -sf evil node",
            "tee notes.txt",
            "uniq a.txt b.txt",
            "yq -i '.a = 1' config.yml",
            "ffmpeg -y -i a.mp4 b.mp4",
            "sort -o users.csv users.csv",
            "csplit notes.md /x/ -f src/y",
            "rm src/main.py",
            "rm package.json",
            "cp -R ../other/. .",
            "cp -a old/lib .",
            "cp template/* src/",
            "mv -f results/* ./",
            "rsync -a starter/ .",
            "rsync -av old/src/ src",
            "mv -f parser.py lib/",
            "cp -r -t . backup/src",
            "ln -f a.txt src/app.py",
            "split -l 10 --additional-suffix=.py x.txt lib/part_",
        ] {
            assert!(over(command), "{command}");
        }
        for command in [
            "cp .env.example .env",
            "cp config.example.yml config.yml",
            "cp config.yml config.yml.bak",
            "cp -n a.json b.json",
            "mv old.py new.py",
            "mv report.csv reports/",
            "tar xf x.tar",
            "tar xf x.tar -C /tmp/x",
            "tar czf x.tgz src",
            "unzip x.zip -d extracted",
            "unzip -l x.zip",
            "sed -i 's/old_name/new_name/g' src/app.py",
            "sed -n '/assert/p' src/app.py",
            "yq -i '.version = \"1.2\"' chart.yaml",
            "yq '.a = 1' config.yml",
            "ffmpeg -y -i a.mp4 out.mp4",
            "sort -o sorted.txt names.txt",
            "rm old-notes.txt",
            "rm build/x.js",
            "rm src/old_api.py",
            "cp -r src/components/Button src/components/Button2",
            "cp -r templates/base new-app",
            "cp ../template/README.md .",
            "cp -r assets out/",
            "rsync -a src/ backup/",
            "rsync -n -a old/ .",
            "rsync -a --ignore-existing starter/ .",
            "cp -r build/. docs/",
            "mv tmp/a.txt .",
            "ln -sf ../shared shared",
            "split -l 10 x.txt part_",
        ] {
            assert!(!over(command), "{command}");
        }
    }
}

//! Options that write, judged by what they name: every tool calls them otherwise, and what matters is that source code, settings,
//! documents or stores stand where a result would. Names of options only say what is read. A person is asked.

use super::{artefacts, decisive, kept, replaced, tasks};
use crate::shell::lexer::Word;

/// Words in the name of an option whose value is read, left out or only a word, whatever else the name says.
const NEVER_WRITES: &[&str] = &[
    "config", "disable", "enable", "exclude", "extend", "filter", "format", "from", "ignore", "import", "include",
    "key", "lang", "level", "max", "mode", "no", "only", "override", "prefix", "remap", "size", "source", "strategy",
    "stdin", "type", "use", "with",
];
/// Words in the name of an option whose value is read, where nothing says that a tool fills it.
const READS: &str = "add after alias app arg args assets assume author base basedir before bench bib bibliography bin body ca cacert \
     cert cfg chdir class cmd code command compiler conf confcutdir configfile configuration constraint constraints \
     context css csl custom cwd data define depends description deselect dialect diff driver entry entrypoint env \
     environment example except exec ext extension extensions extern features fields file filename files find \
     findrelatedtests fixture fixtures font footer formatter frontend function glob grep header help highlight host \
     icon id init input inputs jsx kind label labels langmap language lib library list loader local lock lockfile lua \
     main manifest match message metadata modfile module mount name names namespace opt overlay package packages \
     param params parser password patch path pattern patterns plugin plugins port preload preset processor project \
     projects prop property props query rc rcfile read readme reference related requirement requirements require \
     resolver resource resources role root rootdir rule rules rulesdir run runner schema scope script select server \
     set settings setup shard spec sources src srcdir style subject suite syntax tag tags target targets template \
     templates test tests title toolchain tsconfig url user value values var variable vars volume watch workspace";
/// Words by which an option says that a tool fills what it names.
const FILLS: &[&str] = &[
    "buildinfo",
    "cache",
    "cachedir",
    "declaration",
    "declarationdir",
    "depfile",
    "doctree",
    "dump",
    "emit",
    "extract",
    "generate",
    "info",
    "log",
    "logs",
    "map",
    "media",
    "out",
    "output",
    "pidfile",
    "prof",
    "profile",
    "profiles",
    "report",
    "reporter",
    "result",
    "results",
    "save",
    "state",
    "store",
    "temp",
    "tempdir",
    "tmp",
    "tmpdir",
    "trace",
    "tracedir",
    "treedir",
    "tsbuildinfo",
    "write",
];
/// Last words of the names of options whose value is a place.
const PLACES: &[&str] = &["dir", "directory", "file", "folder", "location", "media", "path", "trace"];
/// Options whose name says nothing, by their program, and that write what the next word names.
const UNNAMED: &[(&str, &str)] = &[
    ("ctags", "-f"),
    ("javac", "-h"),
    ("javac", "-s"),
    ("sphinx-build", "-w"),
    ("sphinx-build", "-d"),
    ("stylelint", "-o"),
];

/// Whether an option puts what a tool makes over work: `--cache-location src/main.ts`, `--emit=dep-info=Makefile`. `known` says that
/// the value is glued to the option, or known to stand behind it.
pub(super) fn puts_over_work(option: &str, value: &str, known: bool) -> bool {
    let parts = || value.split([',', '=']).filter(|part| !part.is_empty());
    let (file, folder) = (parts().any(is_work), parts().any(is_work_folder));
    if !file && !folder || option.trim_start_matches('-').len() < 2 {
        return false;
    }
    let words = tasks::parts_of(option.trim_start_matches('-'));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let last = words.last().map_or("", String::as_str);
    let fills = has(FILLS);
    // `--index-file` is a file of the tool; `--file` by itself is read.
    let reads = words.iter().any(|word| {
        crate::listed(READS, word.as_str()) && (words.len() == 1 || !matches!(word.as_str(), "file" | "files" | "path"))
    });
    if has(NEVER_WRITES) || reads && !fills {
        return false;
    }
    let glued = last.ends_with("dir") && last.len() > 3;
    let is_place = PLACES.contains(&last) || glued;
    // A switch with an operand behind it is no option with a value.
    if !known && !(fills && (is_place && words.len() > 1 || glued) || value.contains('=')) {
        return false;
    }
    file || fills || is_place
}

/// Whether a program is told to write over work by an option whose name says nothing.
pub(super) fn writes_unnamed(name: &str, words: &[Word]) -> bool {
    let taken = |value: &str| is_work(value) || is_work_folder(value);
    let compiles = ["gcc", "g++", "cc", "c++", "clang", "clang++"].contains(&name)
        || ["gcc-", "g++-", "clang-", "clang++-"].iter().any(|front| name.starts_with(front));
    let behind = words.windows(2).any(|pair| {
        let option = pair[0].text.as_str();
        let of_compiler = compiles && matches!(option, "-MF" | "-MJ" | "-dumpdir" | "-aux-info" | "-save-temps");
        (of_compiler || UNNAMED.contains(&(name, option))) && taken(&pair[1].text)
    });
    // `-Wl,-Map=main.c`, `-fdump-tree-all=main.c`; how names are shown says nothing of where.
    let glued = |text: &str| {
        let told = text.starts_with("-Wl,") || text.starts_with("-Wp,") || text.starts_with("-f");
        let attached =
            ["-MF", "-MJ"].iter().find_map(|option| text.strip_prefix(option)).filter(|rest| !rest.is_empty());
        attached.is_some_and(taken)
            || told
                && !["prefix-map", "-T", "profile-use", "script", "-rpath", "-L", "sysroot", "linker"]
                    .iter()
                    .any(|reads| text.contains(reads))
                && text.split(['=', ',']).skip(1).any(taken)
    };
    let bytecode =
        |text: &str| text.strip_prefix("-X").unwrap_or(text).strip_prefix("pycache_prefix=").is_some_and(taken);
    behind
        || compiles && words.iter().any(|word| glued(&word.text))
        || name.starts_with("python") && words.iter().any(|word| bytecode(&word.text))
}

/// Whether a file is one that people write, or that decides what runs: no tool makes it.
pub(super) fn is_work(path: &str) -> bool {
    let is_path = path.contains(['.', '/']) || path.starts_with(|c: char| c.is_ascii_uppercase());
    if !is_path || path.contains([' ', '{', '(', '*', '|', '<', ':']) || path.starts_with(['-', '$', '@', '%']) {
        return false;
    }
    let has_ending = !kept::ending(path).is_empty();
    let is_code = kept::is_source(path) && kept::is_source_name(path);
    let works = is_code
        || is_page(path)
        || kept::decides_by_name(path)
        || decisive::decides(path)
        || kept::is_store(path)
        || has_ending && artefacts::is_document(path);
    works && !replaced::is_new(path, &[])
}

/// Whether a page, its style or a text lies among what people write.
pub(super) fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
    let is_text = matches!(kept::ending(path), "css" | "html" | "less" | "md" | "rst" | "scss" | "sql" | "svelte");
    is_text && path.contains('/') && replaced::is_written(first) && !replaced::is_new(path, &[])
}

/// Whether a folder is one in which a project keeps what people write.
fn is_work_folder(path: &str) -> bool {
    let bare = path.trim_start_matches("./").trim_end_matches('/');
    let first = bare.split('/').next().unwrap_or_default();
    replaced::is_written(first) && !kept::is_made(bare) && kept::ending(bare).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::lexer;

    #[test]
    fn options_are_judged_by_what_they_name() {
        for (option, value) in [
            ("--cache-location", "src/main.ts"),
            ("--tsBuildInfoFile", "src/a.ts"),
            ("--crash-report", "src/app.go"),
            ("--emit", "dep-info=Makefile"),
            ("--reporter-options", "mochaFile=src/index.js"),
            ("--extract-media", "docs"),
            ("--project-cache-dir", "lib"),
            ("--index-file", "src/main.py"),
            ("--temp-dir", "src"),
        ] {
            assert!(puts_over_work(option, value, true), "{option} {value}");
        }
        for (option, value) in [
            ("--config", "jest.config.js"),
            ("--ignore-path", ".gitignore"),
            ("--env-file", ".env"),
            ("--project", "tsconfig.json"),
            ("--findRelatedTests", "src/a.js"),
            ("--source-dir", "src"),
            ("--profile", "release"),
            ("--cache-location", ".cache/eslint"),
            ("--collectCoverageFrom", "src/a.ts"),
            ("--remap-path-prefix", "src=x"),
            ("--doctree-dir", "build/doctrees"),
            ("--build-arg", "MAIN=src/app.py"),
            ("-p", "src/main.py"),
        ] {
            assert!(!puts_over_work(option, value, true), "{option} {value}");
        }
        // What stands behind a switch is an operand.
        assert!(!puts_over_work("--cache", "src/app.js", false));
        assert!(puts_over_work("--generateTrace", "src", false));
    }

    #[test]
    fn options_without_a_name_are_known_by_their_program() {
        let writes = |line: &str| {
            let words = lexer::words(line).unwrap_or_default();
            words.split_first().is_some_and(|(name, rest)| writes_unnamed(&name.text, rest))
        };
        for line in [
            "ctags -f src/lib.c src",
            "gcc -MMD -MF Makefile -c a.c",
            "clang -MJ src/a.c -c b.c",
            "gcc -Wl,-Map=src/a.c b.c",
            "javac -h src A.java",
        ] {
            assert!(writes(line), "{line}");
        }
        for line in [
            "ctags -f tags src",
            "gcc -MMD -MF build/a.d -c a.c",
            "gcc -Wl,-Map=out.map a.c",
            "gcc -ffile-prefix-map=src=. a.c",
            "gcc -Wl,-rpath,/usr/lib a.c",
        ] {
            assert!(!writes(line), "{line}");
        }
    }
}

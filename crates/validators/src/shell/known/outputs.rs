//! Options that name a file which is written: results go to new files and to what tools make again, not over source code,
//! over what decides what runs later, or to where everybody sees them. A person is asked.

use super::{decisive, kept};
use crate::shell::files;

/// Words in the names of options whose value is a file or folder that is written.
const SURELY_WRITING: &[&str] = &[
    "blockprofile",
    "coverprofile",
    "cpuprofile",
    "dest",
    "destination",
    "distpath",
    "iidfile",
    "junitxml",
    "keyout",
    "logfile",
    "memprofile",
    "metafile",
    "mutexprofile",
    "out",
    "outdir",
    "outfile",
    "output",
    "outputdir",
    "outputdirectory",
    "outputfile",
    "reportfile",
    "xmlout",
];
/// Words in the names of options that may write, or say how something is shown.
const WRITING_WORDS: &[&str] = &[
    "archive",
    "artifact",
    "artifacts",
    "backup",
    "baseline",
    "build",
    "capture",
    "coverage",
    "csv",
    "dist",
    "dump",
    "export",
    "graph",
    "html",
    "json",
    "junit",
    "log",
    "md",
    "metadata",
    "profile",
    "record",
    "report",
    "result",
    "results",
    "sarif",
    "save",
    "screenshot",
    "screenshots",
    "site",
    "snapshot",
    "stats",
    "store",
    "timings",
    "trace",
    "transcript",
    "video",
    "videos",
    "write",
    "xml",
];
/// First words in the names of options that switch something on or off: `--raw-output`.
const SWITCHES: &[&str] = &[
    "aggregate",
    "ascii",
    "color",
    "compact",
    "hide",
    "join",
    "monochrome",
    "no",
    "raw",
    "show",
    "sort",
    "tab",
    "verbose",
    "yaml",
];
/// Programs with an option of one letter for that, besides `-o` and `-O`.
const WRITING_LETTERS: &[(&str, char)] = &[
    ("mariadb-dump", 'r'),
    ("mvn", 'l'),
    ("mvnw", 'l'),
    ("mysqldump", 'r'),
    ("pg_dump", 'f'),
    ("pg_dumpall", 'f'),
    ("coverage", 'd'),
    ("doxygen", 'g'),
    ("helm", 'd'),
    ("javac", 'd'),
    ("javadoc", 'd'),
    ("jsdoc", 'd'),
    ("tcpdump", 'w'),
    ("wget", 'a'),
    ("tshark", 'w'),
    ("dumpcap", 'w'),
];
/// Programs that are there to write source code or a list of packages.
const GENERATORS: &[&str] = &[
    "antlr4",
    "bindgen",
    "bison",
    "cbindgen",
    "cython",
    "datamodel-codegen",
    "flex",
    "lex",
    "moc",
    "oapi-codegen",
    "openapi-typescript",
    "pip-compile",
    "poetry",
    "protoc",
    "quicktype",
    "re2c",
    "rcc",
    "sqlc",
    "swig",
    "uic",
    "uv",
    "yacc",
];
/// Programs that write lists of packages.
const LOCKING: &[&str] = &["pip-compile", "poetry", "uv", "pdm", "pipenv", "pip", "hatch"];
/// Programs that write documents and databases.
const MAKING_STORES: &[&str] = &[
    "csv2sqlite",
    "csvsql",
    "duckdb",
    "in2csv",
    "libreoffice",
    "ogr2ogr",
    "pandoc",
    "quarto",
    "soffice",
    "sqlite-utils",
    "ssconvert",
    "unoconv",
    "xlsxwriter",
];
/// Ends of names of files that hold many others, or everything that a database holds.
const BUNDLES: &[&str] =
    &["7z", "bak", "bundle", "bz2", "db", "dump", "gz", "rar", "sql", "sqlite", "tar", "tgz", "xz", "zip", "zst"];
/// Programs that write everything a database holds.
const DUMPERS: &[&str] = &[
    "clickhouse-client",
    "influx",
    "mariadb-dump",
    "mongodump",
    "mongoexport",
    "mysqldump",
    "pg_basebackup",
    "pg_dump",
    "pg_dumpall",
    "redis-cli",
    "sqlite3",
];
/// Places where everybody on the machine may look.
const OPEN_TO_ALL: &[&str] =
    &["/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/var/www", "/srv/www", "/usr/share/nginx"];

/// How sure it is that an option names a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Writing {
    No,
    /// With a value that is glued to it: `--html=report.html`. Alone it may be a switch.
    Glued,
    /// Its value may stand apart as well.
    Surely,
}

/// Whether an option writes to what it names: `--output`, `-o`, `--junitxml`, `--logFile`.
pub(super) fn writing(program: &str, option: &str) -> Writing {
    let name = option.trim_start_matches('-');
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        let known =
            matches!(letter, 'o' | 'O') || WRITING_LETTERS.iter().any(|(known, of)| *known == program && *of == letter);
        return if known { Writing::Surely } else { Writing::No };
    }
    let dumps = DUMPERS.contains(&program) && matches!(name, "file" | "result-file");
    let lists = name.strip_suffix("-report").is_some_and(|kind| {
        matches!(kind, "html" | "xml" | "txt" | "linecount" | "any-exprs" | "lineprecision" | "cobertura-xml")
    });
    let scans = name == "file" && matches!(program, "grype" | "syft" | "trivy" | "snyk");
    if dumps || lists || scans || name == "target-dir" || program == "go" && name == "trace" {
        return Writing::Surely;
    }
    // It says how, and not where.
    let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    if ["type", "format", "mode", "level", "kind", "style"].iter().any(|how| last.eq_ignore_ascii_case(how)) {
        return Writing::No;
    }
    let mut found = Writing::No;
    let (mut word, mut before, mut first) = (String::new(), ' ', true);
    // `outFile`, `out-file` and `OUTFILE` are the same.
    for c in name.chars().chain(['-']) {
        let begins = c.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !c.is_ascii_alphanumeric() {
            if first && SWITCHES.contains(&word.as_str()) {
                return Writing::No;
            }
            let names_file = found > Writing::No && matches!(word.as_str(), "file" | "path" | "dir" | "directory");
            if names_file || SURELY_WRITING.contains(&word.as_str()) {
                found = Writing::Surely;
            } else if WRITING_WORDS.contains(&word.as_str()) {
                found = found.max(Writing::Glued);
            }
            first = false;
            word.clear();
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    found
}

/// Ends of names of files that tools make: results, pictures, archives, programs.
const ARTEFACTS: &[&str] = &[
    "7z",
    "a",
    "aab",
    "apk",
    "app",
    "arrow",
    "asc",
    "avi",
    "avif",
    "bc",
    "bin",
    "bmp",
    "br",
    "bz2",
    "cast",
    "class",
    "cov",
    "crt",
    "csr",
    "csv",
    "dat",
    "data",
    "deb",
    "der",
    "diff",
    "dll",
    "dmg",
    "docx",
    "dot",
    "drawio",
    "dump",
    "dylib",
    "eps",
    "epub",
    "exe",
    "flac",
    "feather",
    "folded",
    "geojson",
    "gif",
    "graphml",
    "gv",
    "gz",
    "hex",
    "heapsnapshot",
    "htm",
    "html",
    "icns",
    "ico",
    "img",
    "info",
    "ipa",
    "ipynb",
    "iso",
    "jar",
    "jpeg",
    "jpg",
    "json",
    "jsonl",
    "jsonlines",
    "key",
    "lcov",
    "ll",
    "lock",
    "log",
    "lst",
    "lz4",
    "m4a",
    "map",
    "mkv",
    "mmd",
    "mov",
    "mp3",
    "mp4",
    "mpg",
    "ndjson",
    "o",
    "obj",
    "odt",
    "ods",
    "ogg",
    "onnx",
    "opus",
    "out",
    "parquet",
    "patch",
    "pb",
    "pbf",
    "pcap",
    "pcapng",
    "pdf",
    "pem",
    "pgm",
    "plan",
    "plist",
    "png",
    "pot",
    "ppm",
    "pptx",
    "prof",
    "profdata",
    "profraw",
    "ps",
    "pprof",
    "pub",
    "puml",
    "rdb",
    "rpm",
    "rst",
    "rtf",
    "rules",
    "s",
    "sarif",
    "sbom",
    "shp",
    "sig",
    "snap",
    "so",
    "spdx",
    "spirv",
    "spv",
    "sql",
    "sqlite",
    "sqlite3",
    "srt",
    "stats",
    "stl",
    "svg",
    "tar",
    "tex",
    "tfplan",
    "tgz",
    "tif",
    "tiff",
    "tmp",
    "toc",
    "trace",
    "trx",
    "tsv",
    "ttf",
    "txt",
    "vtt",
    "war",
    "wasm",
    "wat",
    "wav",
    "webm",
    "webp",
    "whl",
    "woff",
    "woff2",
    "xhtml",
    "xls",
    "xlsx",
    "xml",
    "xz",
    "zip",
    "zst",
    "elf",
    "uf2",
    "mo",
    "po",
    "deps",
    "d",
    "md",
    "db",
    "gguf",
    "pyz",
    "dtb",
    "ko",
    "nupkg",
    "sym",
    "dwo",
    "gch",
    "pch",
    "rlib",
    "rmeta",
    "hprof",
    "jfr",
    "etl",
    "nsys-rep",
    "perf",
    "mem",
    "cpuprofile",
    "heapprofile",
    "bundle",
    "gpx",
    "kml",
    "fits",
    "npy",
    "npz",
    "h5",
    "pkl",
    "adoc",
    "css",
    "min",
    "excalidraw",
    "vsix",
    "crx",
    "snupkg",
    "gem",
    "phar",
    "mdb",
    "tcx",
    "ics",
];
/// Files that describe a project and that nobody has a tool write over.
const DOCUMENTS: &[&str] = &[
    "readme",
    "license",
    "licence",
    "copying",
    "contributing",
    "security",
    "authors",
    "claude",
    "agents",
    "gemini",
    "code_of_conduct",
    "codeowners",
    "notice",
    "architecture",
    "copilot-instructions",
    "index",
];
/// Ends of names of files with text that people write.
const TEXTS: &[&str] = &["md", "rst", "adoc", "tex", "txt", "ipynb"];
/// Folders in which people keep what they write.
const WRITTEN: &[&str] = &[
    "content",
    "posts",
    "_posts",
    "thesis",
    "manuscript",
    "notes",
    "notebooks",
    "originals",
    "migrations",
    "fixtures",
    "data",
    "config",
    "conf",
    "settings",
    "src",
    "lib",
    "app",
    "docs",
    "templates",
    "views",
    "locales",
    "certs",
];
/// Programs that write a program under the name that they are told.
const COMPILERS: &[&str] = &[
    "c++",
    "cc",
    "clang",
    "clang++",
    "crystal",
    "dmd",
    "fpc",
    "g++",
    "gcc",
    "gfortran",
    "ghc",
    "go",
    "ifort",
    "kotlinc-native",
    "ld",
    "lld",
    "ldc2",
    "mold",
    "nasm",
    "nim",
    "nvcc",
    "nuitka",
    "ocamlc",
    "ocamlfind",
    "ocamlopt",
    "odin",
    "rustc",
    "strip",
    "swiftc",
    "tcc",
    "v",
    "yasm",
    "zig",
    "objcopy",
    "pkg",
    "bun",
    "deno",
    "as",
    "ar",
    "shc",
    "ponyc",
    "gnatmake",
    "valac",
];
/// Programs that write the history of a project into its document.
const HISTORIES: &[&str] = &[
    "git-cliff",
    "conventional-changelog",
    "auto-changelog",
    "towncrier",
    "git-chglog",
    "standard-version",
    "cz",
    "terraform-docs",
    "helm-docs",
    "doctoc",
];

/// Whether a program makes what it is told to write: the end of its name says so, or the folder.
fn is_artefact(program: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+{}%,".contains(c);
    // The terminal, a number, what a template fills in.
    if path.is_empty()
        || matches!(path, "-" | "." | "..")
        || path.starts_with("/dev/")
        || path.starts_with(['$', '@'])
        || path.chars().all(|c| c.is_ascii_digit())
    {
        return true;
    }
    let steps = || path.split('/').filter(|step| !step.is_empty());
    let temporary = ["/tmp/", "/var/tmp/", "tmp/", "temp/", ".cache/"].iter().any(|front| path.starts_with(front))
        || matches!(path, "/tmp" | "tmp");
    let made = temporary || steps().any(kept::is_made_step);
    let folders = || steps().rev().skip(1);
    let Some((stem, end)) = file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        // A folder, a program, or the name of a form: `json`, `wide`.
        let small = file.chars().all(|c| is_plain(c) && !c.is_ascii_uppercase());
        let written = WRITTEN.contains(&file)
            || DOCUMENTS.contains(&file)
            || matches!(
                file,
                "tests"
                    | "test"
                    | "spec"
                    | "scripts"
                    | "backups"
                    | "backup"
                    | "uploads"
                    | "storage"
                    | "db"
                    | "include"
                    | "assets"
                    | "examples"
                    | "packages"
                    | "crates"
                    | "configure"
                    | "bin"
                    | "gradlew"
                    | "mvnw"
                    | "artisan"
                    | "vendor"
            );
        let documents = file.starts_with("doc")
            && matches!(
                program,
                "typedoc"
                    | "jsdoc"
                    | "doxygen"
                    | "sphinx-build"
                    | "javadoc"
                    | "yard"
                    | "rdoc"
                    | "phpdoc"
                    | "esdoc"
                    | "dart"
                    | "cargo"
                    | "mkdocs"
            );
        let generates =
            matches!(program, "protoc" | "buf") || file == "lib" && matches!(program, "tsc" | "babel" | "swc");
        let compiles = COMPILERS.contains(&program) && !path.contains('/') && matches!(file, "app" | "test");
        let among_code = folders().any(|step| WRITTEN.contains(&step) || matches!(step, "scripts" | "tests" | "hooks"))
            && !generates;
        // With the ending that a tool gives it, it may decide what runs.
        let deciding = kept::decides_by_name(file) || kept::decides_by_name(&format!("{file}.py"));
        let of_project =
            path.starts_with("bin/") && matches!(file, "rails" | "rake" | "console" | "setup" | "dev" | "bundle");
        return made && !of_project
            || small && !deciding && !among_code && (!written || documents || generates || compiles);
    };
    let lower = stem.to_ascii_lowercase();
    let end = end.to_ascii_lowercase();
    let is_setting = matches!(end.as_str(), "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "properties" | "env");
    if made {
        return true;
    }
    if is_setting {
        // What is described or rendered is a result; `values.yaml` is not.
        return [
            "openapi",
            "swagger",
            "report",
            "result",
            "output",
            "rendered",
            "manifest",
            "schema",
            "out",
            "environment",
            "docker-compose.out",
            "bundle",
            "api",
            "lock",
            "all",
        ]
        .iter()
        .any(|word| lower.contains(word));
    }
    let is_text = TEXTS.contains(&end.as_str());
    let is_document = is_text
        && (DOCUMENTS.contains(&lower.as_str())
            || lower == "changelog"
            || folders().any(|step| WRITTEN.contains(&step)))
        && !HISTORIES.contains(&program);
    // Reports and logs among the data of a project take its place.
    let keeps_data = matches!(
        program,
        "curl"
            | "wget"
            | "wget2"
            | "axel"
            | "aria2c"
            | "dvc"
            | "ogr2ogr"
            | "csvsql"
            | "duckdb"
            | "ffmpeg"
            | "iconv"
            | "sort"
            | "shuf"
            | "xsv"
            | "qsv"
            | "mlr"
            | "jq"
            | "gdal_translate"
            | "pandoc"
    ) || makes_stores(program);
    let is_written = folders().any(|step| step == "data" && !keeps_data)
        || folders().any(|step| {
            matches!(
                step,
                "migrations"
                    | "originals"
                    | "_posts"
                    | "posts"
                    | "thesis"
                    | "manuscript"
                    | "backups"
                    | "backup"
                    | "photos"
            )
        });
    !is_document
        && !is_written
        && (ARTEFACTS.contains(&end.as_str())
            || end.bytes().all(|byte| byte.is_ascii_digit())
            || GENERATORS.contains(&program))
}

/// Whether a file describes the project: no tool turns another file into it.
pub(super) fn is_document(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let (stem, end) = file.rsplit_once('.').unwrap_or((&file, ""));
    (end.is_empty() || TEXTS.contains(&end)) && stem != "index" && (DOCUMENTS.contains(&stem) || stem == "changelog")
}

/// Programs that write down data where a project keeps it.
pub(super) fn makes_stores(program: &str) -> bool {
    MAKING_STORES.contains(&program) || DUMPERS.contains(&program)
}

/// Whether a file that is written is one that a person wants to hear of.
pub(super) fn is_taken(program: &str, value: &str) -> bool {
    let is_file = |part: &str| !part.contains([' ', '{', '(', '*', '|', '<']) && !part.contains("://");
    let whole = value.rsplit(['=', ':']).next().unwrap_or(value);
    if is_file(value)
        && is_file(whole)
        && !value.contains(',')
        && !is_artefact(program, whole)
        && !kept::is_source(whole)
    {
        return true;
    }
    // `xml:coverage.xml`, `type=local,dest=out`, `json=report.json`.
    let mut parts = value.split([':', ',', '=']).filter(|part| !part.is_empty());
    parts.any(|part| {
        let is_code = kept::is_source(part) && kept::is_source_name(part);
        // A list of packages is what these write.
        let is_list =
            LOCKING.contains(&program) && part.rsplit('/').next().is_some_and(|file| file.starts_with("requirements"));
        let is_bundle = part.rsplit('.').next().is_some_and(|ending| BUNDLES.contains(&ending));
        decisive::decides(part)
            || files::is_credential(part)
            || kept::decides_by_name(part) && !is_list
            || is_code && !GENERATORS.contains(&program)
            || kept::is_store(part) && !DUMPERS.contains(&program) && !MAKING_STORES.contains(&program)
            || kept::is_shown(part) && (is_bundle || !is_shown_there(part))
            || DUMPERS.contains(&program) && is_open_to_all(part)
    })
}

/// Whether a file is of the kind that is made to be shown: a page, its styles, its pictures, or a folder of them.
pub(super) fn is_shown_there(path: &str) -> bool {
    const ASSETS: [&str; 26] = [
        "avif",
        "css",
        "gif",
        "html",
        "ico",
        "jpeg",
        "jpg",
        "js",
        "map",
        "mjs",
        "mp3",
        "mp4",
        "otf",
        "pdf",
        "png",
        "svg",
        "ttf",
        "txt",
        "wasm",
        "webm",
        "webmanifest",
        "webp",
        "woff",
        "woff2",
        "xsl",
        "vtt",
    ];
    let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    file.rsplit_once('.').is_none_or(|(_, end)| ASSETS.contains(&end))
}

/// Whether what is written there can be read by others.
pub(super) fn is_open_to_all(path: &str) -> bool {
    let below = |place: &str| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    kept::is_shown(path) || OPEN_TO_ALL.iter().any(|place| below(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_write_are_told_by_their_names() {
        for option in
            ["--output", "-o", "-O", "--outFile", "--junitxml", "--log-file", "-out", "--report-file", "--cov-report"]
        {
            assert!(writing("x", option) > Writing::No, "{option}");
        }
        for option in ["--route", "--login", "--file", "-f", "--stdout", "--layout", "-x", "--timeout", "--config"] {
            assert_eq!(writing("x", option), Writing::No, "{option}");
        }
        assert_eq!(writing("pg_dump", "-f"), Writing::Surely);
        assert_eq!(writing("prettier", "--write"), Writing::Glued);
    }

    #[test]
    fn results_go_to_new_files() {
        for value in [
            "report.json",
            "out/app.js",
            "xml:coverage.xml",
            "json",
            "index.html",
            "dist/main.js",
            "a.out",
            "/tmp/x.txt",
        ] {
            assert!(!is_taken("x", value), "{value}");
        }
        for value in [
            "src/main.py",
            "package.json",
            ".github/workflows/ci.yml",
            "Makefile",
            "xml:setup.py",
            ".env",
            ".git/hooks/pre-commit",
        ] {
            assert!(is_taken("x", value), "{value}");
        }
        assert!(is_taken("pg_dump", "/var/www/html/x.sql") && is_taken("pg_dump", "public/dump.sql"));
    }
}

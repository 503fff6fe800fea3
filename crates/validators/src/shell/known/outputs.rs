//! Options that name a file which is written: results go to new files and to what tools make again, not over source code,
//! over what decides what runs later, or to where everybody sees them. A person is asked.

use super::{artefacts, decisive, kept, results, written};
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
pub(super) const GENERATORS: &[&str] = &[
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
pub(super) const MAKING_STORES: &[&str] = &[
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
pub(super) const DUMPERS: &[&str] = &[
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

/// Whether a file that is written is one that a person wants to hear of.
pub(super) fn is_taken(program: &str, value: &str, sources: &[&str]) -> bool {
    let is_file = |part: &str| !part.contains([' ', '{', '(', '*', '|', '<']) && !part.contains("://");
    let whole = value.rsplit(['=', ':']).next().unwrap_or(value);
    if is_file(value)
        && is_file(whole)
        && !value.contains(',')
        && !artefacts::is_artefact(program, whole)
        && !kept::is_source(whole)
    {
        return true;
    }
    let writes_lists = LOCKING.contains(&program) || GENERATORS.contains(&program);
    if !value.contains(',') && !writes_lists && results::is_file(whole) && !results::is_result(whole, sources) {
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
            || written::is_page(part) && !GENERATORS.contains(&program) && !artefacts::makes_stores(program)
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
        for value in ["report.json", "out/app.js", "xml:coverage.xml", "json", "dist/main.js", "a.out", "/tmp/x.txt"] {
            assert!(!is_taken("x", value, &[]), "{value}");
        }
        for value in [
            "src/main.py",
            "package.json",
            ".github/workflows/ci.yml",
            "Makefile",
            "xml:setup.py",
            ".env",
            ".git/hooks/pre-commit",
            "index.html",
            "users.csv",
        ] {
            assert!(is_taken("x", value, &[]), "{value}");
        }
        assert!(is_taken("pg_dump", "/var/www/html/x.sql", &[]) && is_taken("pg_dump", "public/dump.sql", &[]));
    }
}

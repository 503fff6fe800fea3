//! What a command may write without a question: files that say of themselves that they are results. Nobody can tell by a command
//! whether a file is there; `report.pdf`, `out/x`, `notes.bak` and what bears the name of what it was made from are written
//! again and again, while `notes.txt`, `users.csv` and `index.html` are somebody's work.

use super::kept::{self, ending};
use super::replaced;

/// Words that say that a file was made.
const MADE: &[&str] = &[
    "analysis",
    "archive",
    "artifact",
    "artifacts",
    "audio",
    "backup",
    "bench",
    "benchmark",
    "bom",
    "build",
    "bundle",
    "cache",
    "callgraph",
    "capture",
    "chart",
    "combined",
    "compiled",
    "cov",
    "coverage",
    "cprofile",
    "dashboard",
    "diagram",
    "diff",
    "dist",
    "download",
    "downloaded",
    "dump",
    "erd",
    "export",
    "extracted",
    "figure",
    "flame",
    "flamegraph",
    "formatted",
    "frame",
    "generated",
    "graph",
    "heap",
    "image",
    "installer",
    "junit",
    "licenses",
    "lint",
    "listing",
    "log",
    "logs",
    "memory",
    "mem",
    "metrics",
    "minified",
    "openapi",
    "out",
    "output",
    "outputs",
    "page",
    "patch",
    "perf",
    "plan",
    "plot",
    "prof",
    "profile",
    "rendered",
    "report",
    "reports",
    "response",
    "result",
    "results",
    "sarif",
    "sbom",
    "scan",
    "screenshot",
    "slides",
    "snapshot",
    "sorted",
    "stats",
    "stripped",
    "subset",
    "summary",
    "swagger",
    "tags",
    "temporary",
    "tfplan",
    "thumbnail",
    "timings",
    "trace",
    "transcript",
    "tree",
    "video",
    "zipped",
];
/// Of these, words for what is made out of a table.
const OF_TABLES: &[&str] = &[
    "backup",
    "combined",
    "converted",
    "coverage",
    "download",
    "dump",
    "export",
    "extracted",
    "formatted",
    "generated",
    "metrics",
    "out",
    "output",
    "profile",
    "sorted",
    "stats",
    "subset",
    "summary",
    "temporary",
    "timings",
];
/// Ends of names of files that only tools write, and that they write again.
const AGAIN: &str = "a aab apk bc cast class coverage cpuprofile d deb dll dylib elf exe folded gch heapprofile heapsnapshot hprof \
     jar jfr lcov ll log map o obj out pcap pcapng pch pprof prof profdata profraw rlib rmeta rpm s sarif sbom so spv \
     swp sym tfplan trace trx tsbuildinfo war wasm whl";

/// Whether what stands here is a result: by its folder, a word, its ending, or the name of one of the sources that it was made from.
pub(super) fn is_result(path: &str, sources: &[&str]) -> bool {
    let (stem, end) = parts(path);
    if path == "-" || path.starts_with("/dev/") {
        return true;
    }
    // Code, what decides what runs and what is hidden are no results, whatever they are called; tables may be the work itself.
    let is_table = matches!(end, "csv" | "parquet" | "tsv" | "xlsx");
    if kept::is_source_name(path) || kept::decides_by_name(path) || stem.starts_with('.') {
        return replaced::is_new(path, sources);
    }
    crate::listed(AGAIN, end)
        || replaced::is_new(path, sources)
        || says(stem, if is_table { OF_TABLES } else { MADE })
        || sources.iter().any(|source| bears_name(path, stem, end, source))
}

/// The name of a file without its ending, and the ending.
fn parts(path: &str) -> (&str, &str) {
    let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((file, ""))
}

/// Whether one of the words of a name is among these.
fn says(stem: &str, words: &[&str]) -> bool {
    stem.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        let lower = word.to_ascii_lowercase();
        words.contains(&lower.as_str())
    })
}

/// Whether a file is called like the one that it was made from: `doc.docx` out of `doc.md`, `photo_small.jpg` out of `photo.jpg`,
/// and what is fetched under its own name.
fn bears_name(path: &str, stem: &str, end: &str, source: &str) -> bool {
    if source.is_empty() || source == path {
        return false;
    }
    let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
    let fetched = source.contains("://") && (!path.contains('/') || matches!(first, "data" | "datasets" | "downloads"));
    // The tag of an image is no part of its name.
    let plain = source.split_once(':').filter(|(_, tag)| !tag.starts_with("//")).map_or(source, |(name, _)| name);
    let plain = plain.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let (from, from_end) = parts(plain);
    let Some(rest) = stem.strip_prefix(from).filter(|_| !from.is_empty()) else { return false };
    let is_longer = rest.starts_with(|c: char| !c.is_alphanumeric());
    is_longer || rest.is_empty() && (fetched || !end.eq_ignore_ascii_case(from_end))
}

/// Whether a word is the name of a file: it has an ending of letters, and nothing that names have not.
pub(super) fn is_file(text: &str) -> bool {
    let end = ending(text);
    let file = text.rsplit('/').next().unwrap_or_default();
    if file.starts_with('.') && file.len() > 2 && file != ".." && !text.contains(' ') {
        return true;
    }
    !text.starts_with(['-', '$', '@', '%', '~'])
        && !text.contains("://")
        && !text.contains([' ', '{', '(', '*', '|', '<', ':', ','])
        && (1..=10).contains(&end.len())
        && end.starts_with(|c: char| c.is_ascii_alphabetic())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a file that is taken away is left over: made by a tool, temporary, a copy, or said to be of no use any more.
pub(super) fn is_left_over(path: &str) -> bool {
    /// Ends of names of what tools leave behind.
    const LEFT: [&str; 15] = [
        "bak",
        "crdownload",
        "old",
        "orig",
        "part",
        "pid",
        "pyc",
        "pyo",
        "rej",
        "sock",
        "swo",
        "swp",
        "temp",
        "tgz",
        "tmp",
    ];
    const DEAD: [&str; 14] = [
        "bak",
        "copy",
        "deprecated",
        "dummy",
        "foo",
        "junk",
        "legacy",
        "obsolete",
        "old",
        "scratch",
        "temp",
        "tmp",
        "trash",
        "unused",
    ];
    /// Ends of names of what people write, also where it is called a report.
    const WRITTEN: [&str; 12] =
        ["docx", "key", "md", "numbers", "odp", "odt", "pages", "pdf", "pptx", "psd", "rst", "tex"];
    let (stem, end) = parts(path);
    let made =
        (says(stem, MADE) || crate::listed(AGAIN, end)) && !kept::is_irreplaceable(path) && !WRITTEN.contains(&end);
    made || LEFT.contains(&end)
        || stem == ".DS_Store"
        || says(stem, &DEAD)
        || path.rsplit_once('/').is_some_and(|(folder, _)| kept::is_made(folder)) && !kept::is_irreplaceable(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_say_that_they_are() {
        for (path, sources) in [
            ("report.pdf", &[][..]),
            ("out/x.html", &[]),
            ("cover.out", &[]),
            ("doc.docx", &["doc.md"]),
            ("img/photo_small.jpg", &["photo.jpg"]),
            ("data.json", &["https://example.com/data.json?x=1"]),
            ("main.o", &[]),
            ("notes2.txt", &["notes.txt"]),
            ("data-20240101.json", &[]),
        ] {
            assert!(is_result(path, sources), "{path}");
        }
        for (path, sources) in [
            ("notes.txt", &[][..]),
            ("notes2.txt", &[]),
            ("scripts/build.sh", &["x.sh"]),
            (".gdbinit", &["a.txt"]),
            ("results.csv", &[]),
            ("users.csv", &["a.csv"]),
            ("index.html", &["README.md"]),
            ("photo.jpg", &["photo.jpg"]),
            ("assets/logo.png", &["logo.png"]),
            ("data.json", &["https://example.com/x.json"]),
        ] {
            assert!(!is_result(path, sources), "{path}");
        }
    }
}

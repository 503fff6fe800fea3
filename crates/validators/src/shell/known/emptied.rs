//! Tools that empty the folder of their results before they write: they are told to take one that tools make again.

use super::kept::{is_made, output};
use crate::shell::lexer::Word;

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
    ("allure", &["-o", "--output", "--report-dir"]),
    ("antora", &["--to-dir"]),
    ("docusaurus", &["--out-dir"]),
    ("electron-packager", &["--out"]),
    ("hatch", &["-t"]),
    ("ladle", &["-o", "--outDir"]),
    ("next", &["-o", "--outdir"]),
    ("ng", &["--output-path"]),
    ("pdm", &["--dest", "-d"]),
    ("pelican", &["-o", "--output"]),
    ("playwright", &["--output"]),
    ("quarto", &["--output-dir"]),
    ("slidev", &["--out", "-o"]),
    ("trunk", &["--dist", "-d"]),
    ("typedoc", &["--out"]),
    ("vitest", &["--coverage.reportsDirectory", "--outputDir"]),
    ("webpack", &["--output-path", "-o"]),
    ("zola", &["--output-dir", "-o"]),
    ("dx", &["--out-dir"]),
    ("wasm-pack", &["--out-dir", "-d"]),
    ("nyc", &["--report-dir", "--temp-dir"]),
    ("c8", &["--reports-dir", "-o", "--temp-directory"]),
    ("jest", &["--cacheDirectory"]),
    ("nox", &["--envdir"]),
    ("tox", &["--workdir"]),
    ("cypress", &["--videosFolder"]),
    ("gatsby", &["--prefix"]),
    ("sphinx-apidoc", &["-o"]),
    ("openapi-generator", &["-o", "--output"]),
    ("openapi-generator-cli", &["-o", "--output"]),
];

/// Whether a tool that empties the folder of its results is told to take another than tools make.
pub(super) fn empties(name: &str, words: &[Word]) -> bool {
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
                let documents = matches!(*tool, "typedoc" | "sphinx-apidoc") && bare.starts_with("doc");
                if documents
                    || matches!(*tool, "openapi-generator" | "openapi-generator-cli") && bare.contains("client")
                {
                    return false;
                }
                let is_sources = matches!(bare, "" | "." | "src" | "app" | "lib" | "content" | "data" | "pages");
                is_sources || !keeps && !is_made(folder)
            })
    })
}

//! What comes from another machine into a file: data may, code and what decides what runs may not unasked.

use super::special;
use crate::shell::lexer::Word;

/// Ends of names of files that hold data.
const DATA: &[&str] = &[
    "7z",
    "avif",
    "bin",
    "bmp",
    "bz2",
    "csv",
    "db",
    "deb",
    "dmg",
    "doc",
    "docx",
    "epub",
    "flac",
    "geojson",
    "gif",
    "gz",
    "html",
    "htm",
    "ico",
    "img",
    "iso",
    "jpeg",
    "jpg",
    "json",
    "jsonl",
    "log",
    "md",
    "mov",
    "mp3",
    "mp4",
    "ndjson",
    "ogg",
    "onnx",
    "parquet",
    "pbf",
    "pdf",
    "png",
    "ppt",
    "pptx",
    "rpm",
    "rss",
    "rst",
    "sqlite",
    "srt",
    "svg",
    "tar",
    "tgz",
    "tif",
    "tiff",
    "tsv",
    "ttf",
    "txt",
    "vtt",
    "wav",
    "webm",
    "webp",
    "whl",
    "woff",
    "woff2",
    "xls",
    "xlsx",
    "xml",
    "xz",
    "zip",
    "zst",
    "part",
    "geotiff",
    "h5",
    "npz",
    "npy",
    "safetensors",
    "gguf",
    "pt",
    "pth",
    "sum",
    "sha256",
    "asc",
    "sig",
];
/// Options of programs that fetch which name the file.
const OUTPUTS: &[&str] =
    &["-o", "--output", "-O", "--output-document", "--out", "--outfile", "-outfile", "--output-file"];
/// Programs that take an address and write a file, though fetching is not what they are for.
const ALSO_FETCH: &[&str] = &[
    "adb",
    "az",
    "crane",
    "dvc",
    "gallery-dl",
    "huggingface-cli",
    "monolith",
    "pandoc",
    "svn",
    "xmllint",
    "youtube-dl",
];
/// Those of them whose words are no addresses.
const BY_NAME: &[&str] = &["adb", "az", "crane", "huggingface-cli"];
/// Files whose names end as data do and that tools read for what they run.
const SETTINGS: &[&str] = &[
    "angular.json",
    "babel.config.json",
    "deno.json",
    "devcontainer.json",
    "jest.config.json",
    "lefthook.json",
    "lerna.json",
    "nx.json",
    "package-lock.json",
    "package.json",
    "project.json",
    "rush.json",
    "settings.json",
    "tasks.json",
    "launch.json",
    "tsconfig.json",
    "turbo.json",
    "composer.json",
    "pom.xml",
    "build.xml",
    "requirements.txt",
    "cmakelists.txt",
    "vcpkg.json",
    "meson_options.txt",
    "claude.md",
    "agents.md",
];

/// Whether a file ends as data do and is read by tools for what they run.
pub(super) fn is_setting(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    SETTINGS.contains(&file.as_str())
}

/// Whether a program that fetches is told to write to a file that may be code.
pub(super) fn into_code(name: &str, words: &[Word]) -> bool {
    // Under the name that it has there, or into a folder of settings.
    let is_setting = |word: &Word| {
        let text = word.text.split(['?', '#']).next().unwrap_or_default();
        let path = text.split_once("://").map_or(text, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
        let value = path.split_once('=').filter(|_| text.starts_with("--")).map_or(path, |(_, value)| value);
        let is_hidden = value.split('/').any(|step| step.len() > 2 && step.starts_with('.') && step != "..");
        let of_file = value.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        !text.contains('@') && (is_hidden && !value.contains(' ') || SETTINGS.contains(&of_file.as_str()))
    };
    let keeps = words.iter().any(|word| word.text.starts_with("-O") || word.text.starts_with("--remote-name"));
    let names_itself = keeps || !matches!(name, "curl" | "http" | "https" | "xh" | "xhs");
    if names_itself && words.iter().any(is_setting) {
        return true;
    }
    // Under its own name, code comes as code; of a whole site nobody knows what comes.
    let named = words.iter().any(|word| OUTPUTS.iter().any(|option| word.text.starts_with(option)) && name != "curl");
    let is_code = |word: &Word| {
        let path = word.text.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
        super::kept::is_source_name(path.split(['?', '#']).next().unwrap_or_default())
    };
    let all = words.iter().any(|word| {
        let text = word.text.as_str();
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-') && *letters != "nH");
        matches!(text, "--mirror" | "--recursive" | "--page-requisites")
            || name.starts_with("wget")
                && letters.is_some_and(|letters| letters.contains(['r', 'm']) && letters.len() < 6)
    });
    // Into a folder of code comes what nobody has read.
    let into_folder = words.iter().enumerate().any(|(at, word)| {
        let (option, glued) =
            word.text.split_once('=').map_or((word.text.as_str(), None), |(option, value)| (option, Some(value)));
        let is_folder =
            matches!(option, "--local-dir" | "--output-dir" | "--directory-prefix" | "-P" | "--dir" | "--untardir");
        let folder = glued.or_else(|| words.get(at + 1).map(|next| next.text.as_str())).unwrap_or_default();
        let first = folder.trim_start_matches("./").split('/').next().unwrap_or_default();
        is_folder && matches!(first, "src" | "lib" | "app" | "scripts" | "bin" | "pkg" | "cmd" | "internal")
    });
    if into_folder {
        return true;
    }
    if names_itself && !named && words.iter().any(is_code) || all && name.starts_with("wget") {
        return true;
    }
    let mut texts = words.iter().map(|word| word.text.as_str()).peekable();
    while let Some(text) = texts.next() {
        let glued = OUTPUTS.iter().find_map(|option| match option.starts_with("--") {
            true => text.strip_prefix(option)?.strip_prefix('='),
            false => text.strip_prefix(option).filter(|rest| !rest.is_empty() && !text.starts_with("--")),
        });
        // `curl -O` takes the name of the address.
        let takes_next = OUTPUTS.contains(&text) && !(name == "curl" && text == "-O");
        let named = glued.filter(|_| name != "curl" || !text.starts_with("-O"));
        let target = named.or_else(|| if takes_next { texts.peek().copied() } else { None });
        // `-o table` is a form of what is shown.
        let is_form = |target: &&str| BY_NAME.contains(&name) && !target.contains(['.', '/']);
        if target.filter(|target| !is_form(target)).is_some_and(may_be_code) {
            return true;
        }
    }
    false
}

/// The same of a program that is for something else.
pub(super) fn writes_code(name: &str, words: &[Word]) -> bool {
    let is_address = |word: &&Word| word.text.contains("://");
    ALSO_FETCH.contains(&name)
        && (words.iter().any(|word| is_address(&word)) || BY_NAME.contains(&name))
        && (into_code(name, words)
            || words.iter().filter(|word| !word.text.starts_with('-')).any(|word| {
                let file = word.text.rsplit('/').next().unwrap_or_default();
                let is_target = file.contains('.') && may_be_code(&word.text) || special::names_deciding(file);
                if is_address(&word) { name == "svn" } else { is_target }
            }))
}

/// Whether a file may be code, or settings that decide what runs. `-` is the terminal, and a folder takes any name.
fn may_be_code(path: &str) -> bool {
    if path == "-" || path == "/dev/null" || path.ends_with('/') {
        return false;
    }
    let lower = path.to_ascii_lowercase();
    let file = lower.rsplit('/').next().unwrap_or_default();
    // Hidden files and folders hold settings.
    let is_hidden = lower.split('/').any(|step| step.len() > 2 && step.starts_with('.') && step != "..");
    let is_data = file.rsplit_once('.').is_some_and(|(_, end)| DATA.contains(&end));
    is_hidden || SETTINGS.contains(&file) || !is_data
}

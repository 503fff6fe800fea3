//! What comes from another machine into a file: data may, code and what decides what runs may not unasked.

use super::special;
use crate::shell::lexer::Word;

/// Ends of names of files that hold data.
const DATA: &[&str] = &[
    "7z",
    "avif",
    "bmp",
    "bz2",
    "csv",
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
    "rss",
    "rst",
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
        let path = path.split(['?', '#']).next().unwrap_or_default();
        word.text.contains("://") && !path.is_empty() && !path.ends_with('/') && may_be_code(path)
    };
    // The other side says what it is called.
    let named_there = words.iter().any(|word| {
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        matches!(word.text.as_str(), "--content-disposition" | "--trust-server-names" | "--remote-header-name")
            || name == "curl" && letters.contains('J')
            || name.starts_with("wget") && (word.text.starts_with("-i") || word.text.starts_with("--input-file"))
    });
    if named_there {
        return true;
    }
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
        let is_file = OUTPUTS.contains(&option) && folder.contains('/') && !(name == "curl" && option == "-O");
        let of_code = matches!(
            first,
            "src"
                | "lib"
                | "app"
                | "scripts"
                | "bin"
                | "pkg"
                | "cmd"
                | "internal"
                | "templates"
                | "views"
                | "config"
                | "tools"
                | "plugins"
                | "migrations"
                | "public"
                | "static"
                | "www"
        );
        (is_folder || is_file) && (of_code || super::kept::is_shown(folder))
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

/// Hosts where projects of many people lie, under their names.
const KNOWN_HOSTS: &[&str] = &[
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "git.sr.ht",
    "gitee.com",
    "git.kernel.org",
    "git.savannah.gnu.org",
    "gitlab.gnome.org",
    "gitlab.freedesktop.org",
    "invent.kde.org",
    "salsa.debian.org",
    "chromium.googlesource.com",
    "android.googlesource.com",
    "go.googlesource.com",
    "huggingface.co",
    "dev.azure.com",
    "ssh.dev.azure.com",
    "localhost",
];
/// Registries of images that many use.
const REGISTRIES: &[&str] = &[
    "docker.io",
    "ghcr.io",
    "quay.io",
    "gcr.io",
    "registry.k8s.io",
    "k8s.gcr.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "registry.gitlab.com",
    "nvcr.io",
    "lscr.io",
    "cgr.dev",
    "docker.elastic.co",
    "registry.access.redhat.com",
    "registry.redhat.io",
    "localhost",
    "registry.hub.docker.com",
    "index.docker.io",
    "container-registry.oracle.com",
];

/// The host of an address of a repository: `https://host/x`, `user@host:x`.
fn host(text: &str) -> Option<&str> {
    if let Some((_, rest)) = text.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        return Some(host.split(':').next().unwrap_or_default());
    }
    let (user, rest) = text.split_once('@')?;
    let (host, _) = rest.split_once(':')?;
    Some(host).filter(|host| !user.is_empty() && !host.contains('/'))
}

/// Whether an image lies in a registry that not many use.
fn is_foreign_image(text: &str) -> bool {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let Some((first, _)) = text.split_once('/') else { return false };
    let host = first.split(':').next().unwrap_or_default();
    let of_cloud = [".pkg.dev", ".amazonaws.com", ".azurecr.io", ".gcr.io"].iter().any(|end| host.ends_with(end));
    (first.contains('.') || first.contains(':')) && !of_cloud && !REGISTRIES.contains(&host)
}

/// Whether code of strangers comes into the project: repositories, artifacts of runs, charts, images, hooks.
pub(super) fn brings_in(name: &str, subcommand: Option<&str>, words: &[Word]) -> bool {
    let any = |found: &dyn Fn(&str) -> bool| words.iter().any(|word| found(&word.text));
    let foreign = |text: &str| host(text).is_some_and(|host| !KNOWN_HOSTS.contains(&host));
    let has = |wanted: &str| any(&|text| text == wanted);
    match (name, subcommand) {
        ("git", Some("clone")) => {
            // Into a folder from which code is run, or under its name.
            let of_code = |text: &str| {
                let text = text.trim_end_matches('/').trim_end_matches(".git");
                let path = text.split_once("://").map_or(text, |_| text.rsplit('/').next().unwrap_or_default());
                let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
                matches!(
                    first,
                    "src"
                        | "lib"
                        | "app"
                        | "scripts"
                        | "bin"
                        | "pkg"
                        | "cmd"
                        | "internal"
                        | "tests"
                        | "test"
                        | "plugins"
                        | "tools"
                        | "packages"
                        | "crates"
                        | "modules"
                        | "roles"
                        | "hooks"
                        | "themes"
                        | "extensions"
                ) || first.starts_with('.') && first.len() > 2
            };
            let comes = any(&|text| host(text).is_some());
            any(&foreign)
                || comes && words.iter().skip(1).any(|word| !word.text.starts_with('-') && of_code(&word.text))
                || any(&|text| {
                    text.starts_with("--recurse") || text.starts_with("--template") || text.starts_with("--upload-pack")
                })
        }
        ("git", Some("fetch" | "pull" | "remote" | "ls-remote")) => {
            any(&|text| host(text).is_some()) && (subcommand == Some("fetch") || any(&foreign) || has("set-url"))
        }
        ("git", Some("lfs")) => any(&|text| host(text).is_some()),
        ("git", Some("submodule")) => any(&|text| text == "--remote" || text == "add" || text == "set-url"),
        ("jj" | "hg" | "svn", _) => any(&foreign),
        ("fossil" | "dget" | "nix-prefetch-url" | "nix-prefetch-git", _) => any(&|text| text.contains("://")),
        ("gh", Some("gist")) => has("clone"),
        ("hf" | "huggingface-cli" | "kaggle", _) => {
            let into = |option: &str| matches!(option, "--local-dir" | "-p" | "--path");
            has("--unzip")
                || words
                    .windows(2)
                    .any(|two| into(&two[0].text) && matches!(two[1].text.as_str(), "." | "./" | "src" | "scripts"))
        }
        ("conan", _) => any(&|text| text.starts_with("--requires") || text.starts_with("--tool-requires")),
        ("gh" | "glab", _) if has("download") => {
            let folder =
                words.windows(2).find(|two| matches!(two[0].text.as_str(), "-D" | "--dir" | "-O" | "--output"));
            let named = folder
                .map(|two| two[1].text.as_str())
                .or_else(|| words.iter().find_map(|word| word.text.strip_prefix("--dir=")));
            named.is_none_or(|folder| !folder.split('/').any(super::kept::is_made_step) && may_be_code(folder))
        }
        ("gh", Some("repo")) if has("clone") || has("fork") => any(&|text| text.contains('/')),
        ("helm", _) => {
            any(&|text| text.contains("://") || text.starts_with("--repo"))
                || has("update") && any(&|text| text.starts_with("dep"))
        }
        (
            "docker" | "podman" | "nerdctl" | "crane" | "skopeo" | "buildah" | "apptainer" | "singularity" | "oras"
            | "crictl" | "ctr",
            _,
        ) => {
            ["pull", "copy", "export", "create", "from", "tag", "import", "load"].iter().any(|verb| has(verb))
                && words.iter().any(|word| !word.text.starts_with('-') && is_foreign_image(&word.text))
        }
        ("pre-commit", Some("autoupdate")) => true,
        ("terraform" | "tofu", Some("init")) => {
            any(&|text| text.contains("from-module") || text.contains("plugin-dir"))
        }
        ("terraform" | "tofu", Some("get")) => has("-update"),
        ("asdf" | "mise" | "rtx", _) => has("plugin") && has("add"),
        ("npm" | "pnpm" | "yarn" | "bun" | "pip" | "uv" | "poetry" | "gem" | "bundle" | "cargo" | "conda", _) => {
            any(&|text| {
                [
                    "--registry",
                    "--index",
                    "--extra-index",
                    "--find-links",
                    "--trusted-host",
                    "--source",
                    "--git",
                    "--default-index",
                ]
                .iter()
                .any(|option| text.starts_with(option))
                    && !text.starts_with("--index-strategy")
            }) && !has("list")
                && !has("info")
                && !has("view")
                && !has("search")
        }
        _ => false,
    }
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

//! Places that programs read, write and delete, by what they are called: shared by the languages, with the tables of
//! [`crate::shell`]. Nothing is looked at; a path that is not known has no place.

use crate::shell;

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The folder for temporary files.
    Temporary,
    /// The folder in which the program runs, and below.
    Inside,
    /// Anywhere else: the root, a home, a folder further out.
    Outside,
}

/// Folders for temporary files.
const TEMPORARY: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/dev/shm",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/fd",
    "/dev/tty",
];
/// Folders that tools make and can make again.
const GENERATED: &[&str] = &[
    ".cache",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nyc_output",
    ".output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".temp",
    ".tmp",
    ".turbo",
    ".vite",
    "__pycache__",
    "_build",
    "build",
    "cache",
    "coverage",
    "dist",
    "generated",
    "htmlcov",
    "out",
    "output",
    "target",
    "temp",
    "tmp",
];
/// Ends of files that are made again by what made them.
const REMADE: &[&str] = &["bak", "lock", "log", "o", "orig", "part", "pid", "pyc", "swp", "temp", "tmp"];
/// Ends of files that are run, or built into what is run.
const CODE: &[&str] = &[
    "bash", "bat", "c", "cc", "cjs", "cmd", "cpp", "cs", "fish", "go", "h", "hpp", "java", "js", "jsx", "kt", "lua",
    "mjs", "php", "pl", "plist", "ps1", "pth", "py", "pyc", "pyd", "pyi", "rb", "rs", "scala", "service", "sh", "so",
    "swift", "timer", "ts", "tsx", "vbs", "vue", "zsh",
];
/// Ends of files in which databases keep what nobody can make again.
const STORES: &[&str] = &["db", "db3", "duckdb", "kdbx", "mdb", "realm", "sqlite", "sqlite3"];
/// Folders and files that agents, editors and hosts of repositories read their orders from, beside those of the shell's
/// table.
const ORDERS: &[&str] = &[
    ".aider.conf.yml",
    ".circleci",
    ".claude",
    ".claude.json",
    ".codex",
    ".continue",
    ".cursor",
    ".cursorrules",
    ".devcontainer",
    ".env",
    ".gemini",
    ".gitattributes",
    ".gitmodules",
    ".mcp.json",
    ".npmrc",
    ".travis.yml",
    ".windsurf",
    ".yarnrc.yml",
    ".zed",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "azure-pipelines.yml",
    "bunfig.toml",
    "mcp.json",
    "netlify.toml",
    "package-lock.json",
    "pnpm-lock.yaml",
    "requirements.txt",
    "tsconfig.json",
    "vercel.json",
    "yarn.lock",
];
/// Addresses that give the credentials of a machine away.
const METADATA: &[&str] = &["169.254.", "metadata.google.internal", "100.100.100.200", "fd00:ec2"];
/// Ports on which services that steer a machine listen without asking who is there: containers, clusters, search,
/// debuggers.
const STEERING: &[&str] =
    &["2375", "2376", "2379", "4243", "5984", "6443", "8001", "8500", "9200", "9222", "9229", "10250", "10255"];

/// The place of a path as it is written.
pub(super) fn of(path: &str) -> Place {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path == "/dev/null" || path.eq_ignore_ascii_case("nul") {
        return Place::Temporary;
    }
    let climbs = climbs(path);
    let is_drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with(['/', '\\', '~', '$', '%']) || is_drive {
        let temporary =
            TEMPORARY.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
                || TEMPORARY.iter().skip(4).any(|file| *file == path);
        return if temporary && !has_parent(path) { Place::Temporary } else { Place::Outside };
    }
    if climbs { Place::Outside } else { Place::Inside }
}

fn has_parent(path: &str) -> bool {
    path.split(['/', '\\']).any(|step| step == "..")
}

/// Whether a path leads further out than where it begins.
fn climbs(path: &str) -> bool {
    let mut depth = 0i32;
    path.split(['/', '\\']).any(|step| {
        match step {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        depth < 0
    })
}

/// The last step of a path.
fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default()
}

fn ending(path: &str) -> &str {
    name(path).rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Whether what lies there was made by a tool that makes it again.
pub(super) fn is_generated(path: &str) -> bool {
    let steps = || path.split('/').filter(|step| !matches!(*step, "" | "."));
    of(path) == Place::Inside
        && !steps().any(|step| step == ".git" || step.contains('*'))
        && (steps().any(|step| GENERATED.contains(&step)) || REMADE.contains(&ending(path)))
}

/// Whether what is written there decides what runs, who may come in or what agents are told.
pub(super) fn decides(path: &str) -> bool {
    let steps = || path.split(['/', '\\']).filter(|step| !matches!(*step, "" | "."));
    // Tools make such files again, where they are asked to.
    let generated = || of(path) == Place::Inside && steps().any(|step| GENERATED.contains(&step));
    of(path) != Place::Temporary
        && (shell::place_decides(path)
            || steps().any(|step| ORDERS.contains(&step) || step.starts_with(".env."))
            || CODE.contains(&ending(path)) && !generated())
}

/// Whether a file is one that no program writes by the way: start-up files, hooks, keys, orders of agents. Named in any
/// call but those that look, it is meant to be used.
pub(super) fn is_decisive(path: &str) -> bool {
    if path.len() > 300 || path.contains(['\n', ' ', '<']) || path.contains("://") {
        return false;
    }
    let steps = || path.split('/');
    let hooks = steps().zip(steps().skip(1)).any(|pair| {
        matches!(
            pair,
            (".git", "hooks" | "config" | "info") | (".github", "workflows") | (".config", "autostart" | "systemd")
        )
    });
    hooks
        || steps()
            .any(|step| matches!(step, ".ssh" | ".husky" | "authorized_keys" | "cron.d" | "crontabs" | "LaunchAgents"))
        || steps().next_back().is_some_and(|last| {
            matches!(
                last,
                ".bashrc" | ".bash_profile" | ".profile" | ".zshrc" | ".zshenv" | ".zprofile" | ".mcp.json" | ".envrc"
            )
        })
}

/// Ends of files that programs make of what they were given: data, pages, pictures, sounds, documents.
const RESULTS: &str = "7z arrow avi bak bin bmp css csv dat data db docx dot eml eps epub feather flac geojson gexf gif gml gpx graphml \
     gv gz h5 hdf5 html htm ico ics ipynb jpeg jpg json jsonl kml lock log m4a map md mid midi mmd mov mp3 mp4 nc \
     ndjson npy npz obj ogg onnx opus orig out parquet part pdf pickle pid pkl png ppm pptx pt pth rss safetensors \
     shp sqlite sqlite3 srt stl svg swp tar temp tgz tif tiff tmp ts tsv ttf txt vcf vtt wav webm webp xls xlsx xml \
     xz zip";
/// Ends of files in which programs are told what to do, and which are a result only where they are called so.
const SETTINGS: &[&str] = &["cfg", "conf", "ini", "properties", "sql", "toml", "yaml", "yml"];
/// Words by which a file says that it is a result.
const RESULT_WORDS: &[&str] = &[
    "converted",
    "dump",
    "example",
    "export",
    "exported",
    "generated",
    "merged",
    "openapi",
    "out",
    "output",
    "processed",
    "report",
    "result",
    "results",
    "sample",
    "schema",
    "summary",
    "swagger",
    "test",
    "demo",
];
/// Words by which a file of data says that something is told by it what to do, or who may come in.
const TELLING_WORDS: &[&str] = &[
    "allowlist",
    "blocklist",
    "config",
    "configuration",
    "credentials",
    "firebase",
    "launch",
    "manifest",
    "permissions",
    "policies",
    "policy",
    "prefs",
    "roles",
    "secret",
    "secrets",
    "settings",
    "vercel",
    "whitelist",
];

/// Whether a file is plainly something that a program makes of what it was given. What has no ending may be.
pub(super) fn is_result(path: &str) -> bool {
    if of(path) == Place::Temporary || is_generated(path) {
        return true;
    }
    let last = name(path);
    let (stem, ending) = last.rsplit_once('.').unwrap_or((last, ""));
    let lower = ending.to_ascii_lowercase();
    let snake = super::verbs::snake(stem);
    let words = || snake.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let has = |list: &[&str]| words().any(|word| list.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit())));
    // `README.md`, `CHANGELOG.md`
    let shouts = stem.len() > 4 && !stem.bytes().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let in_sources = || {
        path.split(['/', '\\'])
            .rev()
            .skip(1)
            .any(|step| matches!(step, "templates" | "src" | "docs" | "locales" | "migrations"))
    };
    match lower.as_str() {
        "" => !shouts || !last.contains(['.', '/']),
        end if SETTINGS.contains(&end) => has(RESULT_WORDS),
        end => {
            let is_prose = shouts && matches!(end, "md" | "rst" | "txt");
            let tells = is_prose || has(TELLING_WORDS) || in_sources();
            crate::listed(RESULTS, end) && !tells
        }
    }
}

/// Whether a file keeps what nobody can make again.
pub(super) fn is_store(path: &str) -> bool {
    STORES.contains(&ending(path))
}

/// Whether a file is a document or a store that a person keeps, and says of itself neither that it is new nor that it is a copy.
pub(super) fn is_kept(path: &str) -> bool {
    let ending = ending(path);
    let is_document = matches!(
        ending,
        "doc"
            | "docx"
            | "key"
            | "kdbx"
            | "numbers"
            | "odp"
            | "ods"
            | "odt"
            | "pages"
            | "ppt"
            | "pptx"
            | "pst"
            | "tex"
            | "xls"
            | "xlsx"
    ) || shell::is_document(path);
    of(path) != Place::Temporary && !is_generated(path) && (is_store(path) || is_document) && !shell::is_new(path)
}

/// Whether a file is one that people write or collect: kept, a text, settings or data.
pub(super) fn is_written(path: &str) -> bool {
    let written = matches!(
        ending(path),
        "csv"
            | "geojson"
            | "ini"
            | "ipynb"
            | "json"
            | "jsonl"
            | "md"
            | "parquet"
            | "rst"
            | "toml"
            | "tsv"
            | "txt"
            | "yaml"
            | "yml"
    );
    is_kept(path) || written && of(path) == Place::Inside && !is_generated(path) && !shell::is_new(path)
}

/// Whether a file that takes the place of this one is put over a document, a store or data.
pub(super) fn is_replaced(path: &str) -> bool {
    is_kept(path) || path.trim_start_matches("./").starts_with("data/") && is_written(path)
}

/// Whether an archive, or everything that a database holds, is put where everybody sees it.
pub(super) fn is_bundle_shown(path: &str) -> bool {
    let bundle = ["7z", "bak", "db", "dump", "gz", "rar", "sql", "sqlite", "tar", "tgz", "xz", "zip", "zst"];
    bundle.contains(&ending(path))
        && path.split('/').any(|step| matches!(step, "public" | "static" | "www" | "htdocs" | "wwwroot"))
}

/// Whether a path is a disk, or the memory of the machine.
pub(super) fn is_device(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|device| {
        ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mem", "kmem", "mapper/", "dm-", "loop"]
            .iter()
            .any(|kind| device.starts_with(kind))
    })
}

/// Whether a file may hold secrets.
pub(super) fn is_secret(path: &str) -> bool {
    let path = path.strip_prefix("file://").unwrap_or(path);
    path.len() <= 300 && !path.contains('\n') && shell::may_hold_secrets(path)
}

/// Whether a file lies in somebody's home, or where the machine keeps what is not for everybody.
pub(super) fn is_of_others(path: &str) -> bool {
    const FOR_ALL: [&str; 8] =
        ["/dev/", "/etc/os-release", "/etc/hostname", "/etc/hosts", "/etc/timezone", "/proc/", "/sys/", "/usr/share/"];
    of(path) == Place::Outside && !path.starts_with("../") && !FOR_ALL.iter().any(|start| path.starts_with(start))
}

/// Whether a file is known to hold secrets, whatever is done with it.
pub(super) fn is_credential(path: &str) -> bool {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let in_folder = [".ssh/", ".aws/", ".gnupg/", ".kube/"].iter().any(|folder| path.starts_with(folder));
    path.len() <= 300 && !path.contains(['\n', '<']) && (in_folder || shell::holds_secrets(path))
}

/// Whether an address gives the credentials of a machine away.
pub(super) fn is_metadata(address: &str) -> bool {
    address.len() <= 2_000 && METADATA.iter().any(|host| address.contains(host))
}

/// Whether an address is that of a service on this machine that steers it.
pub(super) fn steers(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((host, port)) = host.rsplit_once(':') else { return false };
    let host = host.rsplit('@').next().unwrap_or_default();
    (host == "localhost" || host == "0.0.0.0" || host == "[::1]" || host.starts_with("127.") || host.starts_with("10."))
        && STEERING.contains(&port)
}

/// The host of an address.
pub(super) fn host(address: &str) -> Option<&str> {
    let rest = address.split_once("://").map(|(_, rest)| rest)?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    Some(host.rsplit('@').next().unwrap_or_default())
}

/// Whether a text is the address of a database on another machine.
pub(super) fn is_foreign_store(text: &str) -> bool {
    const KINDS: [&str; 11] = [
        "amqp",
        "mongodb",
        "redis",
        "postgres",
        "mysql",
        "mariadb",
        "mssql",
        "oracle",
        "snowflake",
        "redshift",
        "clickhouse",
    ];
    let Some((scheme, _)) = text.split_once("://") else { return false };
    let host = host(text).unwrap_or_default().split(':').next().unwrap_or_default();
    KINDS.iter().any(|kind| scheme.starts_with(kind))
        && host.contains('.')
        && !host.starts_with("127.")
        && !["10.", "192.168.", "0.0.0.0"].iter().any(|net| host.starts_with(net))
        && ![".local", ".internal", ".lan"].iter().any(|end| host.ends_with(end))
}

/// Words in names of variables that say what they hold and not whose it is.
const PLAIN_WORDS: &str = "api key token secret access auth bearer id client app my service base url user name password pass \
     pwd public bot refresh session jwt account default the prod dev test staging x http https smtp mail email host port env";
/// Words by which a variable is known to hold something secret.
const SECRET_WORDS: &[&str] = &[
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "pass",
    "pwd",
    "credential",
    "credentials",
    "auth",
    "cookie",
    "dsn",
];

/// Words by which a variable is known to hold the address of a store.
const STORE_WORDS: &[&str] =
    &["amqp", "broker", "database", "db", "mongo", "mongodb", "postgres", "rabbitmq", "redis", "sqlalchemy"];
const ADDRESS_WORDS: &[&str] = &["conn", "connection", "dsn", "string", "uri", "url"];

/// What a variable of the environment is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    /// Nothing that is secret.
    Plain,
    /// A secret of nobody in particular, or of the host that it goes to.
    OfHost,
    /// A secret of somebody else.
    Foreign,
}

/// Whether a variable may go to a host: a secret goes to whom its name names.
pub(super) fn variable(variable: &str, host: Option<&str>) -> Variable {
    let lower = variable.to_ascii_lowercase();
    let words = || lower.split('_').filter(|word| !word.is_empty());
    // The address of a database has the password in it.
    let is_store = |word: &str| STORE_WORDS.contains(&word) || word.ends_with("sql");
    if words().any(is_store) && words().any(|word| ADDRESS_WORDS.contains(&word)) {
        return Variable::Foreign;
    }
    if !words().any(|word| {
        SECRET_WORDS.iter().any(|secret| word == *secret || word.ends_with("key") || word.ends_with("token"))
    }) {
        return Variable::Plain;
    }
    let is_plain = |word: &str| PLAIN_WORDS.split_ascii_whitespace().any(|plain| plain == word);
    let mut owners = words().filter(|word| !is_plain(word)).peekable();
    if owners.peek().is_none() {
        return Variable::OfHost;
    }
    let host = host.unwrap_or_default().to_ascii_lowercase();
    let is_owner = |word: &str| {
        let stem = word.trim_end_matches("key").trim_end_matches("token");
        stem.len() >= 2 && (host.contains(stem) || stem.len() > 4 && host.contains(&stem[..4]))
    };
    if owners.any(is_owner) || variable.starts_with("AWS") && host.contains("amazonaws") {
        return Variable::OfHost;
    }
    Variable::Foreign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_places() {
        for (path, place) in [
            ("out.csv", Place::Inside),
            ("./a/../b", Place::Inside),
            ("a/../../b", Place::Outside),
            ("../b", Place::Outside),
            ("/tmp/x", Place::Temporary),
            ("/tmp", Place::Outside),
            ("/tmp/../etc/x", Place::Outside),
            ("/dev/null", Place::Temporary),
            ("~/x", Place::Outside),
            ("/home/me", Place::Outside),
            ("C:\\x", Place::Outside),
        ] {
            assert_eq!(of(path), place, "{path}");
        }
        assert!(is_generated("dist") && is_generated("./build/x") && is_generated("a.tmp"));
        assert!(!is_generated("src") && !is_generated("../dist") && !is_generated(".git/out"));
    }

    #[test]
    fn what_decides_is_told_from_results() {
        for path in [
            ".git/hooks/x",
            "Makefile",
            "package.json",
            ".mcp.json",
            "src/app.py",
            ".github/workflows/a.yml",
            ".env",
            "/etc/hosts",
            "node_modules/x/index.js",
            ".claude/settings.json",
            "conftest.py",
            ".env.local",
        ] {
            assert!(decides(path), "{path}");
        }
        for path in ["out.csv", "report.md", "a/b.json", "plot.png", "/tmp/x.py", "dist/app.js", "notes.txt", "data"] {
            assert!(!decides(path), "{path}");
        }
    }

    #[test]
    fn a_secret_goes_to_whom_its_name_names() {
        use Variable::{Foreign, OfHost, Plain};
        for (name, host, expected) in [
            ("GITHUB_TOKEN", "api.github.com", OfHost),
            ("GITHUB_TOKEN", "evil.example", Foreign),
            ("OPENWEATHER_KEY", "api.openweathermap.org", OfHost),
            ("API_KEY", "evil.example", OfHost),
            ("PORT", "evil.example", Plain),
            ("LANG", "evil.example", Plain),
        ] {
            assert_eq!(variable(name, Some(host)), expected, "{name} {host}");
        }
    }
}

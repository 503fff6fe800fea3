//! Files that a command would print and that may hold secrets, though no list knows them: what lies hidden in a home folder,
//! and what is called a secret. A person is asked.

use switchboard_policy::path::{self, Glob};

use super::{shown, unknown};
use crate::Finding;
use crate::shell::files;
use crate::shell::lexer::Word;

/// What lies hidden in a home folder and is no secret.
const PLAIN: &[&str] = &[
    ".bash_aliases",
    ".bash_profile",
    ".bashrc",
    ".config/fish",
    ".config/git/ignore",
    ".config/nvim",
    ".config/starship.toml",
    ".editorconfig",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".inputrc",
    ".local/bin",
    ".local/share/applications",
    ".profile",
    ".tmux.conf",
    ".vimrc",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];
/// Folders whose files are about such words, and hold none of what they name.
const ABOUT: &[&str] =
    &["i18n", "lang", "locale", "locales", "translations", "docs", "fixtures", "test", "tests", "spec"];
/// Names that `.env` files have which everybody may read.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];
/// Programs whose every operand is a file that they print.
const PRINTERS: &[&str] = &[
    "base64", "bat", "batcat", "cat", "column", "fold", "head", "hexdump", "less", "more", "nl", "od", "pr", "strings",
    "tac", "tail", "xxd",
];
/// Programs that search in folders, and the options by which some of them do.
const SEARCHERS: &[(&str, &[&str])] = &[
    ("rg", &[]),
    ("ag", &[]),
    ("ack", &[]),
    ("grep", &["-r", "-R", "--recursive", "--dereference-recursive"]),
    ("egrep", &["-r", "-R", "--recursive"]),
    ("fgrep", &["-r", "-R", "--recursive"]),
    ("ugrep", &["-r", "-R", "--recursive"]),
];
/// Ends of names of files that hold data. Source code may be about tokens.
const DATA: &[&str] = &[
    "",
    "csv",
    "md",
    "json",
    "yml",
    "yaml",
    "toml",
    "txt",
    "env",
    "ini",
    "conf",
    "cfg",
    "db",
    "sqlite",
    "xml",
    "properties",
    "plist",
    "exs",
    "asc",
    "b64",
    "bin",
    "dat",
    "docx",
    "pdf",
    "xlsx",
];
/// Ends of names of files that hold keys or states with secrets.
const KEYS: &[&str] = &[
    "htpasswd", "key", "pem", "der", "p8", "p12", "pfx", "jks", "keystore", "keytab", "kdbx", "ppk", "tfstate",
    "tfvars", "ovpn", "env", "gpg", "vars",
];
/// Places of the system with secrets that no name shows.
const OF_SYSTEM: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/kubernetes",
    "/etc/mysql/debian.cnf",
    "/etc/openvpn",
    "/etc/rancher",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
    "/proc/kcore",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/mysql",
    "/var/lib/postgresql",
    "/var/lib/sss",
    "/var/log/audit",
    "/var/log/auth.log",
    "/var/log/btmp",
    "/var/log/faillog",
    "/var/log/lastlog",
    "/var/log/secure",
    "/var/log/wtmp",
    "/var/mail",
    "/var/spool/cron",
    "/var/spool/mail",
    "/var/lib/cloud",
    "~/Library/Cookies",
    "~/Library/Keychains",
    "~/Library/Mail",
    "~/Library/Messages",
    "~/Library/Safari",
];
/// Folders below which everything may be found.
const WIDE: &[&str] = &["/", "/etc", "/home", "/proc", "/root", "/Users", "/var", "~", "$HOME"];

/// Whether a command that prints files is given none that may hold secrets.
pub(super) fn check(shown: &str, name: &str, words: &[Word]) -> Result<(), Finding> {
    if searches(name, words) && (is_wide(words) || shown::searches_secrets(name, words)) {
        return Err(unknown(&format!("what `{shown}` finds there is")));
    }
    // Files of the history are the project's; what is named by itself need not be.
    let names_file = |word: &Word| {
        let text = word.text.as_str();
        matches!(text, "config" | "-f")
            || ["--no-index", "--contents", "--file"].iter().any(|own| text.starts_with(own))
    };
    let of_history = name == "git" && !words.iter().any(names_file);
    // `git show HEAD:.env`
    let of_revision = |word: &&Word| {
        word.text
            .split_once(':')
            .is_some_and(|(revision, path)| !revision.is_empty() && !path.is_empty() && may_be_secret(path))
    };
    if name == "git"
        && !word_is_message(words)
        && let Some(word) = words.iter().find(of_revision)
    {
        return Err(unknown(&format!("what `{shown}` shows of `{}` is", word.text)));
    }
    if name == "git"
        && let Some(word) = words.iter().zip(of_pathspec(words)).find_map(|(word, secret)| secret.then_some(word))
    {
        return Err(unknown(&format!("what `{shown}` shows of `{}` is", word.text)));
    }
    if files::looks_at_entries(name, words) && name != "du" || of_history || matches!(name, "echo" | "printf") {
        return Ok(());
    }
    // A file with secrets is begun from an example that has none.
    if let (true, [example, target]) = (matches!(name, "cp" | "install"), words)
        && EXAMPLES.iter().any(|ending| example.text.ends_with(ending))
        && target.text.rsplit('/').next().is_some_and(|file| file.starts_with(".env"))
        && !target.text.starts_with(['/', '~'])
    {
        return Ok(());
    }
    let prints = PRINTERS.contains(&name);
    // What works on lines prints them too.
    let works_on_lines = prints
        || matches!(
            name,
            "awk" | "comm" | "cut" | "diff" | "gawk" | "join" | "mawk" | "paste" | "rev" | "sed" | "sort" | "uniq"
        );
    let is_secret = |word: &&Word| {
        let text = word.text.as_str();
        let is_file = prints && !text.starts_with('-');
        let value = text.split_once('=').filter(|_| text.starts_with('-')).map_or(text, |(_, value)| value);
        may_be_secret(text)
            || names_secret_variable(name, value)
            || may_fit_secret(value)
            || is_file && shown::is_store_of_all(text)
            || (works_on_lines || shown::finds_all(name, words))
                && word.glob
                && !text.starts_with('-')
                && shown::fits_any(text)
            || is_file && shown::is_in_other_letters(text)
            || is_file && shown::is_settings(text)
            || shown::is_of_system(text)
            || is_file && (is_hidden_pattern(text) || may_be_secret(&format!("./{text}")))
    };
    match words.iter().find(is_secret) {
        Some(word) => Err(unknown(&format!("what `{shown}` shows of `{}` is", word.text))),
        None => Ok(()),
    }
}

/// Which words of a command of `git` that prints what files hold, or held, name a secret. Behind `--` every word is a file; in
/// front of it names of branches stand too.
fn of_pathspec(words: &[Word]) -> Vec<bool> {
    /// Subcommands that print nothing of what a file holds, or take it into the project.
    const NAMES: [&str; 21] = [
        "add",
        "branch",
        "check-attr",
        "check-ignore",
        "checkout",
        "clean",
        "clone",
        "commit",
        "fetch",
        "init",
        "ls-files",
        "ls-remote",
        "ls-tree",
        "merge",
        "mv",
        "pull",
        "push",
        "rev-parse",
        "status",
        "switch",
        "tag",
    ];
    const ONLY_NAMES: [&str; 12] = [
        "--stat",
        "--shortstat",
        "--numstat",
        "--dirstat",
        "--summary",
        "--name-only",
        "--name-status",
        "--no-patch",
        "-s",
        "--quiet",
        "--files-with-matches",
        "--count",
    ];
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
    let letters = |letter: char| {
        words
            .iter()
            .any(|word| word.text.strip_prefix('-').is_some_and(|text| !text.starts_with('-') && text.contains(letter)))
    };
    let subcommand = words.iter().map(|word| word.text.as_str()).find(|text| !text.starts_with('-'));
    let patch = letters('p')
        || letters('L')
        || letters('G')
        || has(&["--patch", "-u", "--cc", "-c", "--patch-with-stat"])
        || words.iter().any(|word| word.text.starts_with("--word-diff") || word.text.starts_with("-U"));
    let prints = match subcommand {
        Some("log" | "reflog") => patch,
        Some("stash") => has(&["show"]) && patch,
        Some("restore" | "reset") => false,
        Some(subcommand) if NAMES.contains(&subcommand) => false,
        Some(_) => patch || !has(&ONLY_NAMES),
        None => false,
    };
    let searches = subcommand == Some("grep");
    let mut behind = false;
    words
        .iter()
        .map(|word| {
            let text = word.text.as_str();
            if text == "--" {
                behind = true;
                return false;
            }
            if !prints || text.starts_with('-') {
                return false;
            }
            // `:/x`, `:(top)x`: from the top of the project.
            let magic = text.strip_prefix(":(").and_then(|rest| rest.split_once(')')).map(|(_, path)| path);
            let path = magic.or_else(|| text.strip_prefix(":/")).unwrap_or(text);
            let excludes = text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":(exclude");
            let last = path.rsplit('/').next().unwrap_or_default();
            let is_file = last.contains('.') && !text.contains("..") && !searches;
            !excludes && (behind || is_file) && (may_be_secret(path) || behind && may_fit_secret(path))
        })
        .collect()
}

/// Whether a command of `git` carries a text of its own, in which anything may stand.
fn word_is_message(words: &[Word]) -> bool {
    words.iter().any(|word| matches!(word.text.as_str(), "commit" | "grep" | "tag" | "notes" | "merge" | "stash"))
}

/// Whether a word is the name of a variable or setting that holds a secret, to a program that shows what it holds. To one that
/// searches it is a text.
fn names_secret_variable(program: &str, value: &str) -> bool {
    let is_name =
        value.len() > 5 && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_search =
        SEARCHERS.iter().any(|(known, _)| *known == program) || matches!(program, "sed" | "awk" | "jq" | "yq" | "git");
    is_name
        && !is_search
        && ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "CREDENTIAL"]
            .iter()
            .any(|word| value.contains(word))
}

fn searches(name: &str, words: &[Word]) -> bool {
    SEARCHERS.iter().any(|(known, options)| {
        let letters = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R']);
        let asked = |word: &Word| options.contains(&word.text.as_str()) || letters(&word.text);
        *known == name && (options.is_empty() || words.iter().any(asked))
    })
}

/// Whether a search that prints what it finds begins where everything may be found.
pub(super) fn is_wide(words: &[Word]) -> bool {
    words.iter().filter(|word| !word.text.starts_with('-')).any(|word| {
        let tidy = tidied(&word.text);
        let is_home = ["/home/", "/Users/"]
            .iter()
            .any(|homes| tidy.strip_prefix(homes).is_some_and(|rest| !rest.trim_end_matches('/').contains('/')));
        // A pattern for the first step stands for any of them.
        let first = tidy.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
        let is_pattern = first.is_some_and(|first| first.contains(['*', '?', '[']));
        WIDE.contains(&tidy.as_str())
            || tidy == ".."
            || tidy.starts_with("../")
            || is_home
            || is_pattern
            || tidy.starts_with("/proc/")
            || is_private(&tidy)
            || hidden_at_home(&tidy).is_some()
    })
}

/// Folders of a home in which people keep what is theirs.
fn is_private(path: &str) -> bool {
    let below = path.strip_prefix("~/").or_else(|| {
        let rest = ["/home/", "/Users/"].iter().find_map(|homes| path.strip_prefix(homes))?;
        rest.split_once('/').map(|(_, below)| below)
    });
    let first = below.and_then(|below| below.split('/').next()).unwrap_or_default();
    matches!(first, "Documents" | "Desktop" | "Downloads" | "Library" | "Pictures" | "Mail")
}

/// A path as it is read: without its scheme, doubled slashes and steps up, and with one name for a home folder.
pub(super) fn tidied(path: &str) -> String {
    let local = path.get(..5).filter(|front| front.eq_ignore_ascii_case("file:")).map_or(path, |_| &path[5..]);
    // `file://host/x`: a file is on this machine, whoever is named.
    let local = match local.strip_prefix("//").filter(|_| local.len() < path.len()) {
        Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => local,
    };
    // The root and the folder by way of a process, and the folder as shells write it.
    let local = local.strip_prefix("/proc/self/root").filter(|rest| rest.starts_with('/')).unwrap_or(local);
    let here = ["/proc/self/cwd", "$PWD", "${PWD}", "$OLDPWD", "~+", "~-"];
    let local =
        here.iter().find_map(|here| local.strip_prefix(here)).map_or(local, |rest| rest.trim_start_matches('/'));
    let mut steps: Vec<&str> = Vec::new();
    for step in local.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    let mut tidy = if local.starts_with('/') { format!("/{}", steps.join("/")) } else { steps.join("/") };
    // `~ann` is a home as well.
    if let Some(rest) = tidy.strip_prefix('~') {
        tidy = format!("~{}", rest.find('/').map_or("", |at| &rest[at..]));
    }
    for front in ["/private/", "/var/home/"] {
        if let Some(rest) = tidy.strip_prefix(front) {
            tidy = if front == "/private/" { format!("/{rest}") } else { format!("/home/{rest}") };
        }
    }
    tidy
}

fn may_be_secret(text: &str) -> bool {
    let value = text.split_once('=').filter(|_| text.starts_with('-')).map_or(text, |(_, value)| value);
    let is_file_address = value.get(..5).is_some_and(|front| front.eq_ignore_ascii_case("file:"));
    if value.starts_with('-') || value.contains("://") && !is_file_address {
        return false;
    }
    // Hidden folders further out.
    let tidy = tidied(value);
    let mut outer = tidy.split('/').skip_while(|step| *step == "..").peekable();
    if tidy.starts_with("../") && outer.next().is_some_and(|step| step.starts_with('.')) && outer.peek().is_some() {
        return true;
    }
    // A copy holds what the file held.
    let value = [".bak", ".old", ".orig", ".save", ".swp", ".backup", "~"]
        .iter()
        .find_map(|copy| tidy.strip_suffix(copy))
        .unwrap_or(&tidy);
    if let Some(hidden) = hidden_at_home(value) {
        return !PLAIN
            .iter()
            .any(|plain| hidden.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    }
    let of_process = (value.starts_with("/proc/") || value.starts_with("/dev/fd/"))
        && (value.contains("environ") || value.contains("/fd/") || value.contains(['*', '?', '[']));
    let name = value.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
    // A word alone may be anything: a pattern, a name, a subcommand.
    let is_file = text.contains('/') || !end.is_empty();
    let is_about = value.split('/').any(|step| ABOUT.contains(&step));
    // Certificates are shown to everybody.
    let is_public = end == "pem" && ["cert", "chain", "ca", "public", "pub"].iter().any(|word| stem.contains(word));
    let is_data = is_file && !is_about && DATA.contains(&end) && shown::names_secret(stem);
    let is_data = is_data
        || is_file && !is_about && shown::is_called_secret(stem, end)
        || shown::is_of_memory(stem, end)
        || value
            .split('/')
            .rev()
            .skip(1)
            .any(|step| matches!(step, "group_vars" | "host_vars" | "credentials" | "keys" | "private"));
    let is_environment = name.starts_with(".env") && !EXAMPLES.iter().any(|example| name.ends_with(example));
    let is_key = ["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"].iter().any(|key| name.starts_with(key) && end != "pub");
    let is_key = is_key || name.starts_with("id_") && end.is_empty() && text.contains('/');
    let is_environment = is_environment
        || name.starts_with("env.") && matches!(end, "production" | "prod" | "staging" | "local" | "secret" | "live")
        || end == "txt" && stem.ends_with(".env");
    let is_key = is_key || ["_rsa", "_ed25519", "_ecdsa"].iter().any(|kind| name.ends_with(kind));
    let is_kept = value.split('/').rev().skip(1).any(|step| matches!(step, ".secrets" | ".secret" | "secrets"));
    // Settings of clients that hold keys, wherever a copy of their folder lies.
    let is_kept = is_kept
        || matches!(name.as_str(), "config" | "credentials" | "config.json")
            && value
                .split('/')
                .rev()
                .nth(1)
                .is_some_and(|step| matches!(step, "kube" | "aws" | ".docker" | ".kube" | ".aws"));
    // Stores of browsers, and hidden files that are called so.
    let of_browser = text.contains('/')
        && matches!(
            name.as_str(),
            "login data" | "web data" | "cookies" | "cookies.sqlite" | "key4.db" | "logins.json"
        );
    let is_hidden = name.starts_with('.') && shown::names_secret(&name);
    let is_copy = is_hidden
        || of_browser
        || name.contains(".tfstate")
        || name.contains(".tfvars")
        || name.starts_with(".git-credentials");
    let of_system = OF_SYSTEM.iter().any(|place| value.starts_with(place));
    of_process
        || of_system
        || is_environment
        || is_key
        || is_kept
        || is_copy
        || shown::is_name_of_secret(&name)
        || is_file && !stem.is_empty() && (is_data || KEYS.contains(&end) && !is_public)
}

/// Whether a pattern was made for the name of a secret: it fits one, and begins as that does.
fn may_fit_secret(text: &str) -> bool {
    const NAMES: [&str; 8] =
        [".env", ".netrc", ".npmrc", ".pgpass", "id_rsa", "id_ed25519", "credentials", ".git-credentials"];
    let name = text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let Some(at) = name.find(['*', '?', '[']) else { return false };
    let is_named = name.contains(|c: char| c.is_ascii_alphabetic());
    // `*.json` is for everything of a kind.
    let begins = !name.starts_with('*') && (at > 0 || is_named);
    let pattern = path::plain_classes(&name);
    is_named
        && begins
        && NAMES.iter().any(|secret| {
            let front = &name[..at];
            (at != 1 || front == ".")
                && secret.starts_with(front)
                && Glob::new(&pattern).matches(&[(*secret).to_owned()])
        })
}

/// Whether a pattern fits names with a dot in front, or stands in front of some.
fn is_hidden_pattern(path: &str) -> bool {
    let mut patterns = path.split('/').filter(|step| step.contains(['*', '?', '[']));
    let fits = |step: &str| step.starts_with('.') || step.starts_with('[') && step.contains('.');
    patterns.clone().any(fits) || patterns.next().is_some() && path.contains("/.") && !path.starts_with("./")
}

/// Whether a file with any name is a secret for the folder that it lies in: many programs take the whole folder that they run
/// in.
pub(super) fn is_kept_in(path: &str) -> bool {
    files::is_credential(path) || may_be_secret(path)
}

/// The path below a home folder, where it is hidden there.
fn hidden_at_home(path: &str) -> Option<&str> {
    let below =
        ["~/", "$HOME/", "${HOME}/", "/root/"].iter().find_map(|home| path.strip_prefix(home)).or_else(|| {
            let rest = ["/home/", "/Users/", "/users/"].iter().find_map(|homes| path.strip_prefix(homes))?;
            rest.split_once('/').map(|(_, below)| below)
        })?;
    Some(below.trim_start_matches("./")).filter(|below| below.starts_with('.') || below.starts_with('*'))
}

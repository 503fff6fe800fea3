//! Words that no table can let pass, whatever the program: places that decide what runs later, code from elsewhere, and
//! operands that programs read as more than names.

use super::{kept, secrets, unknown};
use crate::Finding;
use crate::shell::files;
use crate::shell::lexer::Word;

/// Places where what is written decides what runs, who may come in, or what a project is.
const PLACES: &[&str] = &[
    ".git",
    ".github",
    ".gitlab-ci.yml",
    ".vscode",
    ".idea",
    ".husky",
    ".venv",
    "venv",
    "site-packages",
    "dist-packages",
    ".bin",
    "node_modules",
    ".cargo",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".config",
    ".local",
    ".mcp.json",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    ".windsurf",
    ".devcontainer",
    ".circleci",
    ".gitattributes",
    ".gitmodules",
    ".pre-commit-config.yaml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".buildkite",
    ".cursorrules",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".tool-versions",
    ".mise.toml",
    "bitbucket-pipelines.yml",
    "azure-pipelines.yml",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    "Jenkinsfile",
];
/// Folders in a project into which others put files.
const HANDED_IN: [&str; 8] =
    ["uploads", "upload", "incoming", "inbox", "attachments", "downloads", "untrusted", "quarantine"];
/// Words in the names of such folders.
const OF_OTHERS: &[&str] = &[
    "applicant",
    "applicants",
    "attachment",
    "attachments",
    "candidate",
    "candidates",
    "challenge",
    "challenges",
    "contest",
    "contributed",
    "external",
    "third",
    "contests",
    "entries",
    "foreign",
    "guest",
    "guests",
    "homework",
    "inbox",
    "incoming",
    "malware",
    "participant",
    "participants",
    "quarantine",
    "received",
    "stranger",
    "strangers",
    "student",
    "students",
    "submission",
    "submissions",
    "submitted",
    "suspicious",
    "thirdparty",
    "untrusted",
    "uploaded",
    "uploads",
    "visitor",
    "visitors",
];
/// Whether a path leads into such a folder.
pub(super) fn is_handed_in(path: &str) -> bool {
    const AROUND: [&str; 8] = ["data", "files", "media", "public", "static", "storage", "tmp", "var"];
    // In whatever way they call it: `user_files`, `contest_entries`, `submissions`.
    let is_of_others = |step: &str| {
        let mut words = step.split(['_', '-', '.']);
        words.any(|word| OF_OTHERS.contains(&word.to_ascii_lowercase().as_str()))
    };
    if path.contains('/') && path.split('/').any(is_of_others) {
        return true;
    }
    let mut steps = path.trim_start_matches("./").split(['/', '\\']);
    let first = steps.next().unwrap_or_default();
    HANDED_IN.contains(&first) || AROUND.contains(&first) && steps.next().is_some_and(|next| HANDED_IN.contains(&next))
}

/// Whether a command that writes or builds names none of these.
pub(super) fn check(shown: &str, words: &[Word], builds: bool) -> Result<(), Finding> {
    for word in words {
        let text = word.text.as_str();
        let value = text.split_once('=').map(|(_, value)| value);
        let attached = text.strip_prefix('-').and_then(|letters| letters.get(1..)).filter(|_| !text.starts_with("--"));
        let mut parts = [Some(text), value, attached].into_iter().flatten();
        // It is about to be made there.
        if matches!(shown, "python.venv" | "virtualenv" | "uv")
            && matches!(text.trim_end_matches('/'), ".venv" | "venv")
        {
            continue;
        }
        // The project above its build folder.
        if shown == "cmake" && text == ".." {
            continue;
        }
        if parts.clone().any(decides) || parts.any(|part| builds && lies_elsewhere(part)) {
            return Err(unknown(&format!("what `{shown}` does with `{text}` is")));
        }
        // Tools that build hand words on to a shell.
        let reaches_shell = builds && text.contains([';', '|', '&', '\n']);
        let is_marked = |part: &str| part.starts_with(['\\', '|', '!', '<']) || part.ends_with('|');
        let is_more = is_marked(text) || [":@", "=@", ":|", "%pipe%"].iter().any(|mark| text.contains(mark));
        let hides = [value, attached].into_iter().flatten().any(is_marked);
        let substitutes = builds && (text.contains('`') || text.contains("$("));
        if substitutes || hides || !text.starts_with('-') && (is_more || reaches_shell) {
            return Err(unknown(&format!("what `{shown}` makes of `{text}` is")));
        }
    }
    Ok(())
}

/// Whether a command that reads is told to write to none of these.
pub(super) fn check_outputs(shown: &str, words: &[Word]) -> Result<(), Finding> {
    let outputs = ["log", "out", "report", "save", "dump", "write", "dest", "export"];
    let named = words.iter().filter_map(|word| word.text.strip_prefix("--")?.split_once('='));
    let mut writing = named.filter(|(name, _)| outputs.iter().any(|output| name.contains(output)));
    match writing.find(|(_, value)| value.split(':').any(decides)) {
        Some((name, value)) => Err(unknown(&format!("what `{shown}` writes by `--{name}={value}` is"))),
        None => Ok(()),
    }
}

pub(super) fn decides(path: &str) -> bool {
    decides_as_written(path) || otherwise_written(path).is_some_and(|tidy| decides_as_written(&tidy))
}

fn decides_as_written(path: &str) -> bool {
    let is_home = path == "~" || ["~/.", "~/bin", "~root"].iter().any(|front| path.starts_with(front)) || path == "~/";
    let of_user = ["/home/", "/Users/"].iter().any(|homes| {
        path.strip_prefix(homes)
            .is_some_and(|rest| rest.split_once('/').is_none_or(|(_, rest)| rest.is_empty() || rest.starts_with('.')))
    });
    // Programs of the user.
    let below_home =
        path.starts_with("~/") || ["/home/", "/Users/", "/root/"].iter().any(|home| path.starts_with(home));
    let is_program = below_home && path.split('/').any(|step| step == "bin");
    let has_place = path.split(['/', '\\']).any(|step| PLACES.contains(&step) && (step != "venv" || path != "venv"));
    is_home
        || is_program
        || of_user
        || has_place
        || path.starts_with("/opt/")
        || files::is_system_path(path)
        || files::is_decisive(path)
}

/// Code that lies outside of the project.
fn lies_elsewhere(text: &str) -> bool {
    kept::is_elsewhere(text) || comes_from_elsewhere(text)
}

/// Code that is fetched, or that somebody left where everybody may write. The folder in which a command runs is the
/// project, wherever else it lies.
pub(super) fn comes_from_elsewhere(text: &str) -> bool {
    is_from_elsewhere(text) || otherwise_written(text).is_some_and(|tidy| is_from_elsewhere(&tidy))
}

/// A path as it is read, where that is not how it is written. Most words are no paths.
fn otherwise_written(text: &str) -> Option<String> {
    let may_differ = text.contains('/') || text.get(..5).is_some_and(|front| front.eq_ignore_ascii_case("file:"));
    may_differ.then(|| secrets::tidied(text)).filter(|tidy| tidy != text)
}

fn is_from_elsewhere(text: &str) -> bool {
    text.contains("://")
        || ["$TMPDIR", "${TMPDIR", "$OLDPWD", "${OLDPWD", "~-", "$TMP/", "$TEMP/"]
            .iter()
            .any(|front| text.starts_with(front))
        || text.starts_with("git+")
        || ["npm:", "github:", "gitlab:", "bitbucket:", "gist:", "sourcehut:", "file:", "link:", "portal:", "path:"]
            .iter()
            .any(|front| text.split('@').any(|part| part.starts_with(front)))
        || text.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty()
                && !user.starts_with('-')
                && host.split_once(':').is_some_and(|(host, _)| host.contains('.'))
        })
        || ["/tmp", "/var/tmp", "/private/tmp", "/dev", "/run/user", "/mnt", "/media", "/Volumes", "/proc"]
            .iter()
            .any(|folder| text.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
            && text != "/dev/null"
        || ["/srv", "/data", "/opt", "/home", "/root", "/Users", "/var"].contains(&text.trim_end_matches('/'))
        || text.contains("/Downloads/")
        // A pattern for the first step stands for any of them.
        || text.strip_prefix('/').and_then(|rest| rest.split('/').next()).is_some_and(|first| first.contains(['*', '?', '[']))
        // What others put into the project is not of the project.
        || is_handed_in(text)
        || text.split(['/', '\\']).any(|step| step == "..")
}

/// Whether a command that writes names no place on another machine, empties nothing, and stays in its folder.
pub(super) fn check_targets(shown: &str, words: &[Word]) -> Result<(), Finding> {
    if let Some(word) = words.iter().find(|word| leads_out(shown, word, words)) {
        return Err(unknown(&format!("what `{shown}` does with `{}` is", word.text)));
    }
    let is_remote = |text: &str| {
        let scheme = text.split_once("://").map(|(front, _)| front.rsplit(['=', ' ']).next().unwrap_or_default());
        scheme.is_some_and(|scheme| !matches!(scheme, "http" | "https" | "file" | "git" | "ssh"))
            || text.contains("://-")
            || text.contains("/vsi")
    };
    match words.iter().find(|word| is_remote(&word.text)) {
        Some(word) => Err(unknown(&format!("what `{shown}` sends to `{}` is", word.text))),
        None => Ok(()),
    }
}

/// Programs that take files away, or put them elsewhere.
const MOVERS: [&str; 12] =
    ["cp", "mv", "rm", "rmdir", "unlink", "install", "ln", "rsync", "tee", "touch", "truncate", "shred"];
/// Programs that copy what they are given to another place.
const COPIERS: [&str; 7] = ["cp", "rsync", "tar", "zip", "7z", "ln", "install"];

/// Whether a word of a command that writes leads out of the folder where it runs, or brings nothing or what is private to where it writes.
fn leads_out(shown: &str, word: &Word, words: &[Word]) -> bool {
    let text = secrets::tidied(&word.text);
    let is_private = |text: &str| {
        let of_home = ["~/", "$HOME/", "${HOME}/"].iter().any(|home| text.starts_with(home));
        of_home
            && ["/Documents", "/Desktop", "/Downloads", "/Pictures", "/Library", "/Mail"]
                .iter()
                .any(|place| text.contains(place))
    };
    let program = shown.rsplit('/').next().unwrap_or(shown);
    // An answer that is thrown away (`curl -o /dev/null`) is no file that is emptied.
    let thrown_away = words.windows(2).any(|pair| {
        matches!(pair[0].text.as_str(), "-o" | "-O" | "--output" | "--output-document")
            && std::ptr::eq(&raw const pair[1], word)
    });
    if program != "touch" && word.text == "/dev/null" && words.len() > 1 && !thrown_away {
        return true;
    }
    if COPIERS.contains(&program) && is_private(&text) {
        return true;
    }
    let temporary = ["/tmp/", "/var/tmp/", "/dev/"].iter().any(|front| text.starts_with(front));
    let is_target = match program {
        "cp" | "install" | "ln" | "rsync" => words.last().is_some_and(|last| last.text == word.text),
        _ => true,
    };
    let climbs = text == ".." || text.starts_with("../");
    MOVERS.contains(&program) && is_target && (climbs || text.starts_with('/') && !temporary)
}

//! Words that no table can let pass, whatever the program: places that decide what runs later, code from elsewhere, and
//! operands that programs read as more than names.

use super::unknown;
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
];
/// Whether a command that writes or builds names none of these.
pub(super) fn check(shown: &str, words: &[Word], builds: bool) -> Result<(), Finding> {
    for word in words {
        let text = word.text.as_str();
        let value = text.split_once('=').map(|(_, value)| value);
        let attached = text.strip_prefix('-').and_then(|letters| letters.get(1..)).filter(|_| !text.starts_with("--"));
        let mut parts = [Some(text), value, attached].into_iter().flatten();
        if parts.clone().any(decides) || parts.any(|part| builds && comes_from_elsewhere(part)) {
            return Err(unknown(&format!("what `{shown}` does with `{text}` is")));
        }
        if !text.starts_with('-') && (text.starts_with(['\\', '|', '!']) || text.contains(":@") || text.contains("=@"))
        {
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
    let is_home = path == "~" || path == "~/" || path.starts_with("~/.") || path.starts_with("~root");
    let of_user = ["/home/", "/Users/"].iter().any(|homes| {
        path.strip_prefix(homes)
            .is_some_and(|rest| rest.split_once('/').is_none_or(|(_, rest)| rest.is_empty() || rest.starts_with('.')))
    });
    let has_place = path.contains(['/', '\\', '.']) && path.split(['/', '\\']).any(|step| PLACES.contains(&step));
    is_home
        || of_user
        || has_place
        || path.starts_with("/opt/")
        || files::is_system_path(path)
        || files::is_decisive(path)
}

/// Code that is fetched, or that somebody left where everybody may write.
pub(super) fn comes_from_elsewhere(text: &str) -> bool {
    text.contains("://")
        || text.starts_with("git+")
        || ["github:", "gitlab:", "bitbucket:", "gist:"].iter().any(|host| text.starts_with(host))
        || ["/tmp/", "/var/tmp/", "/private/tmp/"].iter().any(|folder| text.starts_with(folder))
        || text.split(['/', '\\']).any(|step| step == "..")
}

/// What some programs read out of their operands.
pub(super) fn check_special(name: &str, subcommand: Option<&str>, words: &[Word]) -> Result<(), Finding> {
    let any = |found: &dyn Fn(&str) -> bool| words.iter().any(|word| found(&word.text));
    let doubtful = match name {
        // They show the environment and read files by their own language.
        "jq" | "yq" | "gojq" | "jaq" | "dasel" => {
            any(&|text| ["env", "ENV", "load", "input_file"].iter().any(|word| text.contains(word)))
        }
        // `host:file` is on another machine.
        "tar" | "bsdtar" | "gtar" | "cpio" | "pax" => any(&|text| text.contains(':') && !text.contains("::")),
        // It throws away what was changed.
        "git" if matches!(subcommand, Some("checkout")) => any(&|text| matches!(text, "." | "--" | ":/" | "*")),
        _ => false,
    };
    if doubtful { Err(unknown(&format!("what `{name}` makes of its operands is"))) } else { Ok(()) }
}

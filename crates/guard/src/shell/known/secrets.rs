//! Files that a command would print and that may hold secrets, though no list knows them: what lies hidden in a home folder,
//! and what is called a secret. A person is asked.

use super::unknown;
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
/// Words in the name of a file that say what it holds.
const WORDS: &[&str] =
    &["credential", "secret", "token", "passwd", "password", "cookie", "apikey", "api_key", "keystore"];
/// Ends of names of files that hold data. Source code may be about tokens.
const DATA: &[&str] =
    &["", "json", "yml", "yaml", "toml", "txt", "env", "ini", "conf", "cfg", "db", "sqlite", "xml", "properties"];
/// Ends of names of files that hold keys or states with secrets.
const KEYS: &[&str] = &["key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "tfstate", "ovpn"];
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
];
/// Folders below which everything may be found.
const WIDE: &[&str] = &["/", "/etc", "/home", "/proc", "/root", "/Users", "/var", "~", "$HOME"];

/// Whether a command that prints files is given none that may hold secrets.
pub(super) fn check(shown: &str, name: &str, words: &[Word]) -> Result<(), Finding> {
    let of_history = name == "git" && !words.iter().any(|word| word.text == "--no-index");
    if files::looks_at_entries(name) && name != "du" || of_history || matches!(name, "echo" | "printf") {
        return Ok(());
    }
    match words.iter().find(|word| may_be_secret(&word.text)) {
        Some(word) => Err(unknown(&format!("what `{shown}` shows of `{}` is", word.text))),
        None => Ok(()),
    }
}

/// Whether a search that prints what it finds begins where everything may be found.
pub(super) fn is_wide(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let text = word.text.trim_end_matches('/');
        WIDE.contains(&text) || word.text == "/" || text.starts_with("/proc/") || hidden_at_home(&word.text).is_some()
    })
}

fn may_be_secret(text: &str) -> bool {
    let value = text.split_once('=').filter(|_| text.starts_with('-')).map_or(text, |(_, value)| value);
    if value.starts_with('-') || value.contains("://") {
        return false;
    }
    if let Some(hidden) = hidden_at_home(value) {
        return !PLAIN
            .iter()
            .any(|plain| hidden.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    }
    let of_process = (value.starts_with("/proc/") || value.starts_with("/dev/fd/")) && value.contains("environ");
    let name = value.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
    // A word alone may be anything: a pattern, a name, a subcommand.
    let is_file = value.contains('/') || !end.is_empty();
    let is_data = DATA.contains(&end) && WORDS.iter().any(|word| stem.contains(word));
    let of_system = OF_SYSTEM.iter().any(|place| value.starts_with(place));
    of_process
        || of_system
        || name == ".envrc"
        || is_file && !stem.is_empty() && (is_data || KEYS.contains(&end) || name == "auth.json")
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
            let rest = ["/home/", "/Users/"].iter().find_map(|homes| path.strip_prefix(homes))?;
            rest.split_once('/').map(|(_, below)| below)
        })?;
    Some(below.trim_start_matches("./")).filter(|below| below.starts_with('.') || below.starts_with('*'))
}

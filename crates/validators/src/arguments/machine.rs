//! Which keys name a machine, so that a name without a dot under them (`db1`, `db1:5432`) is a host.
//!
//! Used where a grant limits hosts: there, what cannot be shown to lie inside is refused. Some keys name machines in every
//! tool, others in some tools and streets, branches or elements of a page in others. What the schema says of a value
//! counts for more than its key.

use switchboard_policy::keys::{self, Key, Mark};
use switchboard_policy::schema::Evidence;
use switchboard_wire::{Object, Raw};

/// Codes of languages (ISO 639-1) that tools for texts take as a target.
const LANGUAGES: [&str; 61] = [
    "af", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et", "eu", "fa",
    "fi", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "kn", "ko", "la",
    "lt", "lv", "mk", "ml", "mr", "ms", "nl", "no", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "ta", "te",
    "th", "tr", "uk", "zh",
];
/// Formats of hosts.
const HOST_FORMATS: [&str; 4] = ["hostname", "idn-hostname", "ipv4", "ipv6"];

/// Whether a key names a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Machine {
    /// It names something else, or nothing is known.
    No,
    /// It names a machine where a port stands behind.
    WithPort,
    /// It names what git calls by a name of its own, or an address of git.
    OfGit,
    /// It does in some tools; in others mail goes there, or the post.
    Address,
    /// It does in some tools: text of several words is no list of hosts.
    Perhaps,
    /// It does: every word is a host.
    Surely,
}

impl Machine {
    /// Beside a command, what is a machine only perhaps is more likely a word of it (`make`, and `all` as its target).
    pub(super) const fn beside_command(self) -> Self {
        match self {
            Self::Surely => Self::Surely,
            Self::Perhaps | Self::Address | Self::OfGit | Self::WithPort | Self::No => Self::No,
        }
    }

    /// What a key says, with what the schema says of its value and of the object around it.
    pub(super) fn of(key: &str, evidence: &Evidence<'_>, around: &Evidence<'_>) -> Self {
        if evidence.has_format(&HOST_FORMATS) || evidence.speaks_of_host() {
            return Self::Surely;
        }
        let by_key = Self::of_key(key);
        let of_git = || {
            matches!(Key::of(key).last(), "remote" | "target" | "origin" | "upstream")
                && keys::marked(Mark::OfGit).any(|name| around.member(name).is_declared())
        };
        if by_key > Self::No && of_git() { Self::OfGit } else { by_key }
    }

    fn of_key(key: &str) -> Self {
        let key = Key::of(key);
        if key.said().has(Mark::Machine) {
            return Self::Surely;
        }
        // `server_2`, `host1`.
        let qualifies =
            |part: &&str| keys::of_word(part).has(Mark::Qualifies) || part.bytes().all(|byte| byte.is_ascii_digit());
        let behind = key.words().rev().take_while(qualifies).count().min(key.words().count().saturating_sub(1));
        let mut words = key.words().rev().skip(behind);
        let (Some(last), qualified) = (words.next(), behind > 0) else { return Self::No };
        let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
        let said = keys::of_word(last);
        let ends = |(at, _): (usize, char)| at > 0 && keys::of_word(&last[at..]).has(Mark::EndsMachine);
        let glued = || !said.has(Mark::NoMachine) && last.char_indices().any(ends);
        if last.starts_with("address") && words.any(|word| keys::of_word(word).has(Mark::NoNetwork)) {
            Self::No
        } else if said.has(Mark::Machine) || glued() {
            Self::Surely
        } else if said.has(Mark::Address) && !qualified {
            Self::Address
        } else if said.has(Mark::PerhapsMachine) && !qualified {
            // `node_name` and `site_name` are labels in most tools.
            Self::Perhaps
        } else if said.has(Mark::WithPort) {
            Self::WithPort
        } else {
            Self::No
        }
    }

    /// Whether a key, or a name of a pair or a variable, surely names a machine: `server`, `PGHOST`.
    pub(super) fn is_surely(name: &str) -> bool {
        Self::of_key(name) == Self::Surely
    }

    /// Whether a word under the key is to be taken for a host although its form alone does not say so.
    pub(super) fn takes(self, word: &str) -> bool {
        let number = || word.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::No => false,
            Self::WithPort => has_port(word) && !is_range(word),
            Self::OfGit => word.contains([':', '@']) && is_plain_host(word),
            Self::Surely => !number(),
            Self::Address => is_plain_host(word) && !is_range(word) && !is_account(word),
            // Who logs in somewhere names a machine, with dots or without.
            Self::Perhaps => is_plain_host(word) && !is_language(word) || word.contains('@') && !word.starts_with('@'),
        }
    }

    /// The words of a string that holds several, as far as they may be hosts.
    pub(super) fn words(self, text: &str) -> Vec<&str> {
        let listed = |c: char| matches!(c, ',' | ';');
        let pieces = || text.split(listed).map(str::trim).filter(|piece| !piece.is_empty());
        let every_word = || text.split(|c: char| c.is_whitespace() || listed(c)).filter(|word| !word.is_empty());
        match self {
            Self::No | Self::OfGit => Vec::new(),
            Self::Surely => every_word().collect(),
            _ if pieces().all(|piece| !piece.contains(char::is_whitespace)) => pieces().collect(),
            // A sentence, or hosts that say so by their ports.
            Self::Address | Self::Perhaps | Self::WithPort => every_word().filter(|word| has_port(word)).collect(),
        }
    }
}

/// `db1`, `db1:5432`, `root@db1`, `db1:folder`. A number is none, and neither is a path.
fn is_plain_host(word: &str) -> bool {
    let (user, host) = word.rsplit_once('@').unwrap_or(("", word));
    let (name, behind) = host.split_once(':').unwrap_or((host, ""));
    let is_label = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    // `ann@mail.example` may be somebody's address, `ann@db1` is none; `C:/x` is a place.
    let is_drive = name.chars().count() == 1 && behind.starts_with(['/', '\\']);
    let number = name.bytes().all(|byte| byte.is_ascii_digit()) && user.is_empty();
    let begins = name.starts_with(char::is_alphanumeric);
    !number && !is_drive && begins && name.chars().all(is_label)
}

/// Cells of a table: `A1:B5`.
fn is_range(word: &str) -> bool {
    let is_cell = |text: &str| {
        let digits = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let letters = text.len() - digits.len();
        (1..=3).contains(&letters)
            && (1..=7).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    word.split_once(':').is_some_and(|(from, to)| is_cell(from) && is_cell(to))
}

/// An account of a ledger: too long for an address of the network, and called like no machine.
fn is_account(word: &str) -> bool {
    let hex =
        word.strip_prefix("0x").is_some_and(|hex| hex.len() >= 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_plain = word.len() >= 26 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    hex || is_plain && ["bc1q", "bc1p", "tb1q", "tb1p", "ltc1q"].iter().any(|start| word.starts_with(start))
}

/// The code of a language, perhaps with that of a country: `de`, `pt-BR`.
fn is_language(word: &str) -> bool {
    let (code, country) = word.split_once(['-', '_']).map_or((word, None), |(code, country)| (code, Some(country)));
    let is_country = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    LANGUAGES.contains(&code) && country.is_none_or(is_country)
}

/// Whether a member of an object about a machine is for something else than its name: a port, a user, an option.
pub(super) fn is_setting(key: &str) -> bool {
    let key = Key::of(key);
    let counted = || key.last().strip_suffix('s').is_some_and(|one| keys::of_word(one).has(Mark::Setting));
    key.said_last().has(Mark::Setting) || counted()
}

/// Whether a key is for where a journey begins: another one says where it ends, and its value is a name in letters.
pub(super) fn is_departure(object: &Object, key: &str) -> bool {
    let is_name = |value: &Raw| {
        value
            .as_text()
            .is_some_and(|text| text.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | ',' | '-' | '\'')))
    };
    let ends = ["destination", "dest", "to", "arrival"];
    key.eq_ignore_ascii_case("origin")
        && object.get(key).as_ref().is_some_and(is_name)
        && ends.iter().any(|end| object.get(end).as_ref().is_some_and(is_name))
}

fn has_port(word: &str) -> bool {
    let port =
        word.rsplit_once(':').filter(|(host, _)| is_plain_host(host) && !host.contains(':')).map(|(_, port)| port);
    port.is_some_and(|port| port.parse::<u16>().is_ok())
}

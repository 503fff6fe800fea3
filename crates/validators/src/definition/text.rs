//! Whether two texts say the same: word by word, where a folder, a version, a date and the order of a list do not count.
//!
//! A word is never exchanged for another one, left out or added. What may differ is what cannot be an order: an absolute
//! path of plain names outside of system and hidden folders, a version number, a date. The order of a list counts for
//! nothing only where each of its items is one plain word and the list stands by itself, after a colon, in brackets or
//! without blanks; in a sentence, order is meaning.

/// Bytes of texts that are compared word by word.
const MAX_BYTES: usize = 256 << 10;
/// Characters of a path that may be exchanged for another one.
const MAX_PATH_CHARS: usize = 256;
/// Folders at the root whose mention is no detail.
const SYSTEM: [&str; 13] =
    ["etc", "proc", "sys", "dev", "boot", "bin", "sbin", "lib", "run", "windows", "system32", "programdata", "private"];
const DATE_WORDS: [&str; 38] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "utc",
];

/// Whether the second text says what the first one does.
pub(super) fn is_alike(old: &str, new: &str) -> bool {
    if old == new {
        return true;
    }
    if old.len() > MAX_BYTES || new.len() > MAX_BYTES {
        return false;
    }
    let (old, new) = (words(old), words(new));
    if old.len() != new.len() {
        return false;
    }
    let (old_dates, new_dates) = (dates(&old), dates(&new));
    old.iter().zip(&new).enumerate().all(|(place, (old, new))| {
        old.text == new.text
            || old.around == new.around && (old_dates[place] && new_dates[place] || is_detail(&old.text, &new.text))
    })
}

/// Whether a title is made of a name: `Path` of `path`, `readArguments` of `read`.
pub(super) fn is_title_of(title: &str, name: &str) -> bool {
    let plain =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let only_words = title.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.'));
    let (title, name) = (plain(title), plain(name));
    let rest = title.strip_prefix(&name);
    only_words
        && !name.is_empty()
        && rest.is_some_and(|rest| matches!(rest, "" | "arguments" | "args" | "input" | "params" | "schema"))
}

/// A word, and the signs around it.
struct Word {
    around: (String, String),
    text: String,
}

/// The words of a text, small, with lists in order.
fn words(text: &str) -> Vec<Word> {
    let lines = text.trim().trim_end_matches('.').split(['\n', '\r']);
    let lists = lines.map(in_order).collect::<Vec<_>>().join("\n");
    let blank = |c: char| c.is_ascii_whitespace() || c == '\u{a0}';
    lists.split(blank).filter(|word| !word.is_empty()).map(word).collect()
}

fn word(token: &str) -> Word {
    let token = token.to_lowercase();
    let sign =
        |c: char| matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`' | ',' | ';' | ':' | '.' | '=');
    let end = token.trim_end_matches(sign);
    let text = end.trim_start_matches(|c| c != '.' && sign(c));
    let before = end[..end.len() - text.len()].to_owned();
    Word { around: (before, token[end.len()..].to_owned()), text: text.to_owned() }
}

/// The line with each list of plain words in one order.
pub(super) fn in_order(line: &str) -> String {
    // Brackets first: what stands in them is a list or is not, whatever stands around.
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find(['[', '{', '(']) {
        let close = match rest.as_bytes()[open] {
            b'[' => ']',
            b'{' => '}',
            _ => ')',
        };
        let inner = &rest[open + 1..];
        let Some(end) = inner.find(['[', '{', '(', ']', '}', ')']).filter(|end| inner[*end..].starts_with(close))
        else {
            out.push_str(&rest[..=open]);
            rest = inner;
            continue;
        };
        out.push_str(&rest[..=open]);
        out.push_str(&sorted(&inner[..end]).unwrap_or_else(|| inner[..end].to_owned()));
        rest = &inner[end..];
    }
    out.push_str(rest);
    if let Some((head, tail)) = out.rsplit_once(": ").map(|(head, tail)| (head.to_owned(), tail.to_owned())) {
        let list = tail.trim().trim_end_matches(['.', ';']);
        if let Some(list) = sorted(list) {
            out = format!("{head}: {list}");
        }
    } else if let Some(list) = sorted(out.trim()) {
        out = list;
    }
    let blank = |c: char| c.is_ascii_whitespace();
    let word = |word: &str| {
        let quote = |c: char| matches!(c, '\'' | '"' | '`');
        let inner = word.trim_matches(quote);
        match sorted(inner) {
            Some(list) if !inner.is_empty() => word.replacen(inner, &list, 1),
            _ => word.to_owned(),
        }
    };
    out.split(blank).map(word).collect::<Vec<_>>().join(" ")
}

/// The items of a list of plain words, sorted; `None` for what is no such list.
fn sorted(list: &str) -> Option<String> {
    let quote = |c: char| matches!(c, '\'' | '"' | '`');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*' | '+' | '@');
    let is_item = |item: &&str| {
        let item = item.trim_matches(quote);
        !item.is_empty() && item.len() <= 64 && item.chars().all(plain)
    };
    let mut items: Vec<&str> = list.split(',').map(str::trim).collect();
    if items.len() < 2 || !items.iter().all(is_item) {
        return None;
    }
    items.sort_unstable();
    Some(items.join(", "))
}

/// Which words belong to a date that is written in words.
fn dates(words: &[Word]) -> Vec<bool> {
    let mut dates: Vec<bool> = words.iter().map(|word| DATE_WORDS.contains(&word.text.as_str())).collect();
    let is_number = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let ending = &text[digits.len()..];
        matches!(ending, "" | "st" | "nd" | "rd" | "th")
            && digits.parse::<u16>().is_ok_and(|number| (1..=31).contains(&number) || (1900..=2199).contains(&number))
    };
    // A day stands beside its month, and a year beside the day.
    for _ in 0..2 {
        let before = dates.clone();
        for place in 0..words.len() {
            let beside = place > 0 && before[place - 1] || before.get(place + 1).copied().unwrap_or_default();
            dates[place] |= beside && (is_number(&words[place].text) || is_clock(&words[place].text));
        }
    }
    // A month alone is a word: `may` is one as well.
    let alone = |place: usize| {
        let is = |at: Option<usize>| at.and_then(|at| dates.get(at)).copied().unwrap_or_default();
        !is(place.checked_sub(1)) && !is(Some(place + 1))
    };
    (0..words.len()).map(|place| dates[place] && !alone(place)).collect()
}

/// Whether two words differ in nothing but a folder, a version or a date.
fn is_detail(old: &str, new: &str) -> bool {
    let both = |is: fn(&str) -> bool| is(old) && is(new);
    both(is_path) || both(is_version) || both(is_date) || both(is_clock)
}

/// An absolute path of plain names, neither hidden nor of the system.
pub(super) fn is_path(word: &str) -> bool {
    let rest = match word.as_bytes() {
        [b'/', b'/' | b'\\', ..] => return false,
        [b'/', ..] => &word[1..],
        [b'~', b'/', ..] => &word[2..],
        [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic() => &word[3..],
        _ => return false,
    };
    let parts: Vec<&str> = rest.trim_end_matches(['/', '\\']).split(['/', '\\']).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '@');
    let is_name =
        |part: &&str| !part.is_empty() && part.len() <= 64 && !part.starts_with('.') && part.chars().all(plain);
    word.len() <= MAX_PATH_CHARS
        && (2..=24).contains(&parts.len())
        && parts.iter().all(is_name)
        && !SYSTEM.contains(&parts[0])
}

/// `1.2.3`, `v2.1`, `1.2.3-rc.1`; never what could be an address.
fn is_version(word: &str) -> bool {
    let (marked, rest) = word.strip_prefix('v').map_or((false, word), |rest| (true, rest));
    let (numbers, ending) = rest.split_once(['-', '+']).unwrap_or((rest, ""));
    let parts: Vec<&str> = numbers.split('.').collect();
    let is_number = |part: &&str| (1..=6).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok());
    let is_stage = |part: &str| {
        let stage = part.trim_end_matches(|c: char| c.is_ascii_digit());
        matches!(stage, "" | "alpha" | "beta" | "rc" | "dev" | "pre" | "next" | "canary" | "preview")
    };
    parts.iter().all(is_number)
        && (parts.len() == 3 || parts.len() == 4 && !is_address || marked && parts.len() == 2)
        && ending.len() <= 32
        && ending.split('.').all(is_stage)
}

/// `2026-11-16`, `2026-11-16T10:00:00Z`.
fn is_date(word: &str) -> bool {
    let (date, time) = word.split_once('t').unwrap_or((word, ""));
    let parts: Vec<&str> = date.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2]
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        && time.len() <= 24
        && time.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'z'))
}

/// `10:00`, `10:00:00`.
fn is_clock(word: &str) -> bool {
    let word = word.trim_end_matches('z');
    (4..=8).contains(&word.len())
        && word.contains(':')
        && word.split(':').all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
}

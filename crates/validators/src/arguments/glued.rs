//! Paths that are glued to something else: values of options and of pairs, lists in one string, patterns of a shell.

use switchboard_policy::path;

use super::uri::{self, scheme_of};
use super::{body, place};

/// A name that nobody gives to a file, for what a shell puts in place of a pattern.
pub(super) const ANY_NAME: &str = "q7zk2";
/// More letters in front of a value are no options of one letter.
const MAX_LETTERS: usize = 5;

/// Further paths in one string: lists with commas, options with values, quoted words. Only what begins as an absolute
/// path does, and what climbs.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|' | '&' | '=' | '"' | '\'' | '`' | '(' | '@');
    let whole = text.len();
    // A colon parts lists too, but `x://` is a URL.
    let pieces = text.split(ends).flat_map(|piece| {
        // Behind a closing bracket a path goes on (`a/(b)/c`), but none begins.
        let piece = piece.split(')').next().unwrap_or_default();
        let lists = if piece.contains(":/") && piece.contains("://") { usize::MAX } else { 0 };
        piece.split(move |c: char| lists == 0 && c == ':')
    });
    pieces.filter(move |piece| {
        piece.len() < whole && (piece.starts_with(['/', '~', '\\']) && piece.len() > 1 || has_step_up(piece))
    })
}

/// Whether a step of a path leads up.
fn has_step_up(piece: &str) -> bool {
    piece.contains("..") && piece.split(['/', '\\']).any(|step| step == "..")
}

/// Whether one word leads up behind a sign that parts it: `x=..`, `a,..`.
pub(super) fn climbs_in_part(word: &str) -> bool {
    word.contains("..") && word.split(['=', ',', ';', '|', '@', ':']).any(|part| part == "..")
}

/// The value that stands right behind an option of one letter: `-C/etc`, `-xf/etc/x`, `-C..`, `-Isrc/include`.
fn behind_letter<'a>(places: &[path::Scope], word: &'a str) -> Option<&'a str> {
    // `--/etc/x` has no name of an option: who takes the dashes away has a path.
    let bare = word.strip_prefix('-')?.trim_start_matches('-');
    if word.contains(char::is_whitespace) {
        return None;
    }
    if bare.len() > 1 && bare.starts_with(['/', '~']) {
        return Some(bare);
    }
    if let Some(climb) = step_behind(bare) {
        return Some(climb);
    }
    let letters = word.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let value = letters.get(1..)?;
    // `-f\etc\x` has several; `-d\t` is a sign that parts columns.
    let several = letters.matches('\\').count() > 1;
    let at = letters.find(|c: char| matches!(c, '/' | '~' | '$') || several && c == '\\')?;
    let behind = letters.get(at..).filter(|_| at < MAX_LETTERS)?;
    let absolute = body::is_there(places, behind) || behind.starts_with("~/") || behind.starts_with(['$', '\\']);
    if absolute { Some(behind) } else { Some(value).filter(|value| place::is_separated(value)) }
}

/// What an option has as its value, as far as it may be a path: behind `=`, or glued to it, also where nobody knows how many
/// letters stand in front (`-nflink/x`).
pub(super) fn values_of_option<'a>(places: &[path::Scope], word: &'a str) -> impl Iterator<Item = &'a str> {
    let named = word.strip_prefix('-').and_then(|_| word.split_once('=')).map(|(_, value)| value);
    let named =
        named.filter(|value| !value.is_empty() && (place::is_separated(value) || value.starts_with(['~', '$'])));
    let glued = behind_letter(places, word);
    let letters = word.strip_prefix('-').filter(|_| named.is_none() && glued.is_some_and(|value| !is_absolute(value)));
    let later = letters.into_iter().flat_map(|letters| (2..MAX_LETTERS).filter_map(|at| letters.get(at..)));
    let later = later.filter(|value| place::is_separated(value) && value.starts_with(|c: char| c.is_alphanumeric()));
    named.into_iter().chain(glued).chain(later)
}

/// Whether a word is an option whose value is a whole path: then it is no name of a file in some folder.
pub(super) fn has_absolute_value(places: &[path::Scope], word: &str) -> bool {
    !word.contains(char::is_whitespace) && values_of_option(places, word).next().is_some_and(is_absolute)
}

/// Whether a word is an option with its value glued to it.
pub(super) fn has_glued_value(places: &[path::Scope], word: &str) -> bool {
    behind_letter(places, word).is_some()
}

fn is_absolute(value: &str) -> bool {
    value.starts_with(['/', '~', '$', '\\'])
}

/// What begins with a step up behind a few letters: `C..`, `xf../x`, `w../x`.
pub(super) fn step_behind(letters: &str) -> Option<&str> {
    let at = letters.find("..").filter(|at| (1..MAX_LETTERS).contains(at))?;
    let (front, climb) = letters.split_at(at);
    let glued = front.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (glued && climb.split(['/', '\\']).next() == Some("..")).then_some(climb)
}

/// What a shell may put in place of a word with signs of a pattern: one path for each kind of name that fits. `None` where
/// it has none.
pub(super) fn filled_in(word: &str) -> Option<Vec<String>> {
    let elsewhere = scheme_of(word).is_some_and(|(scheme, rest)| uri::leads_elsewhere(scheme, rest));
    if elsewhere || !word.contains(['*', '?', '[']) || word.contains(char::is_whitespace) {
        return None;
    }
    let is_pattern = |name: &&str| name.contains(['*', '?', '[']);
    let fill = |climbing: bool| {
        let names = word.split('/').map(|name| match name {
            name if !is_pattern(&name) => name.to_owned(),
            name if climbing && path::may_climb(name) => "..".to_owned(),
            // Without the signs that a path has none of, a bracket is a sign like others.
            name => name.replace(['*', '?'], ANY_NAME),
        });
        names.collect::<Vec<_>>().join("/")
    };
    let deeper =
        word.contains("**").then(|| word.replace("**", "a/b/c")).map(|word| word.replace(['*', '?'], ANY_NAME));
    let climbing = word.split('/').filter(is_pattern).any(path::may_climb).then(|| fill(true));
    Some([Some(fill(false)), deeper, climbing].into_iter().flatten().collect())
}

/// Whether a word has signs of a pattern, to a shell or to a library for patterns.
pub(super) fn is_pattern(word: &str) -> bool {
    let chooses = |inside: &str| inside.contains(',') || inside.contains("..");
    let braces = || word.split('{').skip(1).any(|rest| rest.split_once('}').is_some_and(|(inside, _)| chooses(inside)));
    let groups = || ["@(", "!(", "+("].iter().any(|sign| word.contains(sign));
    !word.contains(char::is_whitespace) && (word.contains(['*', '?', '[']) || braces() || groups())
}

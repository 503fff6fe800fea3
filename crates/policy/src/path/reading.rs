//! The readings of a path: what a server might open when it is handed this string.

use super::pattern;
use crate::{Finding, Verdict};
use unicode_normalization::UnicodeNormalization as _;

/// How often a server, a proxy in front of it and a framework inside it may each decode once.
const DECODE_ROUNDS: usize = 3;
const MAX_NAME_BYTES: usize = 255;

/// Every reading that has to stay in the scope, or why the path can have none.
pub(super) fn all(path: &str) -> Result<Vec<String>, Finding> {
    if path.len() > super::MAX_PATH_BYTES {
        return Err(Finding::new("path-size", format!("the path is longer than {} bytes", super::MAX_PATH_BYTES)));
    }
    if path.trim().is_empty() {
        return Err(Finding::new("path-shape", "the path is empty"));
    }
    if is_plain(path) {
        return Ok(vec![path.to_owned()]);
    }
    every_reading(path)
}

/// Whether everybody reads this path in the same way: nothing in it is ever decoded, folded or expanded.
fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-'))
        && !path.contains("..")
        && !path.contains("0x")
        && !path.contains("0X")
        && path.split('/').all(|name| name.len() <= MAX_NAME_BYTES && !is_device(name))
}

fn every_reading(path: &str) -> Result<Vec<String>, Finding> {
    let mut readings = Vec::new();
    let mut current = without_file_scheme(path)?.to_owned();
    check_text(path)?;
    // What follows `#` or `?` in a URL belongs to no path, to those who read it as one.
    if current.len() < path.len()
        && let Some(end) = current.find(['#', '?'])
    {
        let mut cut = every_reading(&current[..end])?;
        readings.append(&mut cut);
    }
    for round in 0..=DECODE_ROUNDS {
        check_text(&current)?;
        add_readings(&mut readings, &current)?;
        let decoded = decode(&current)?;
        if decoded == current {
            return Ok(readings);
        }
        if round == DECODE_ROUNDS {
            break;
        }
        // A scheme may have been hidden by the encoding.
        current = without_file_scheme(&decoded)?.to_owned();
    }
    Err(Finding::new("path-encoding", "the path is percent-encoded more than three times"))
}

fn add_readings(readings: &mut Vec<String>, text: &str) -> Verdict {
    let folded = fold_look_alikes(text);
    check_text(&folded)?;
    check_shape(&folded)?;
    if text.contains("/\\") || text.contains("\\/") {
        return Err(Finding::new("path-separator", "a slash next to a backslash is read differently by servers"));
    }
    let unescaped = text.replace('\\', "");
    let mut own = vec![text.to_owned(), unescaped, folded.trim().to_owned(), lenient_names(&folded)];
    let found = own.iter().map(|reading| as_pattern(reading)).collect::<Result<Vec<_>, _>>()?;
    own.extend(found.into_iter().flatten());
    for reading in own {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    Ok(())
}

/// What a name stands for where it is taken for a pattern, as far as that leads up: `[.][.]/x`, `@(..)/x`. Names with brackets are
/// ordinary (`[id]/page.tsx`), and lead where they say.
fn as_pattern(text: &str) -> Result<Vec<String>, Finding> {
    if !text.contains(['[', '(', '{']) || !pattern::may_climb(text) {
        return Ok(Vec::new());
    }
    let found = pattern::readings(text);
    if !found.whole {
        return Err(
            Finding::new("path-shape", "a name with that many choices is not a path").suggest("pass one plain path")
        );
    }
    Ok(found.texts)
}

/// `file:` URLs name a local path if they name no other host; any other scheme is not a path.
fn without_file_scheme(path: &str) -> Result<&str, Finding> {
    let Some((scheme, rest)) = path.split_once(':') else { return Ok(path) };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !is_scheme {
        return Ok(path);
    }
    if scheme.eq_ignore_ascii_case("file") {
        let local = match rest.strip_prefix("//") {
            Some(after) => after.strip_prefix("localhost").unwrap_or(after),
            None => rest,
        };
        if local.starts_with('/') && !local.starts_with("//") {
            return Ok(local);
        }
        return Err(Finding::new("path-shape", "the file URL names another host or no absolute path"));
    }
    if rest.starts_with('/') || rest.starts_with('\\') || scheme.len() == 1 {
        return Err(Finding::new("path-shape", "a URL or drive is not a path here").suggest("pass a plain path"));
    }
    Ok(path)
}

fn check_text(text: &str) -> Verdict {
    match text.chars().find(|c| is_forbidden(*c)) {
        None => Ok(()),
        Some(c) => Err(Finding::new("path-control", format!("the path contains the character U+{:04X}", u32::from(c)))),
    }
}

/// Control characters, line separators, and marks that reverse how a name is shown.
fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffd}')
}

/// One round of percent decoding, with the `%uXXXX` form of old servers. What is no escape stays as it is.
fn decode(text: &str) -> Result<String, Finding> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if let [b'%', b'u' | b'U', digits @ ..] = rest
            && let Some(c) = digits.get(..4).and_then(hex).and_then(char::from_u32)
        {
            // Two private characters that old decoders took for a slash.
            let c = if matches!(c, '\u{f025}' | '\u{efc8}') { '/' } else { c };
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at += 6;
        } else if rest[0] == b'%'
            && let Some(value) = rest.get(1..3).and_then(hex).and_then(|value| u8::try_from(value).ok())
        {
            out.push(value);
            at += 3;
        } else {
            out.push(rest[0]);
            at += 1;
        }
    }
    String::from_utf8(out).map_err(|_| Finding::new("path-encoding", "the path is not valid UTF-8 once decoded"))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(digits).ok()?;
    if text.bytes().all(|b| b.is_ascii_hexdigit()) { u32::from_str_radix(text, 16).ok() } else { None }
}

/// Compatibility forms (full-width letters, leaders), other slashes and invisible characters, as the plain characters
/// they pass for.
#[must_use]
pub fn fold_look_alikes(text: &str) -> String {
    text.chars()
        .filter(|c| !is_invisible(*c))
        .nfkc()
        .map(|c| match c {
            '\\' | '\u{2044}' | '\u{2215}' | '\u{2216}' | '\u{29f5}' | '\u{29f8}' | '\u{29f9}' | '\u{2571}'
            | '\u{2572}' | '\u{27cb}' | '\u{27cd}' | '\u{1735}' | '\u{244a}' | '\u{f025}' | '\u{efc8}' => '/',
            '\u{3002}' | '\u{06d4}' | '\u{0701}' | '\u{0702}' | '\u{a4f8}' | '\u{a60e}' | '\u{10a50}' | '\u{1d16d}' => {
                '.'
            }
            c => c,
        })
        .collect()
}

const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Names as sloppy servers see them: with path parameters and trailing blanks cut off, and with longer runs of dots
/// taken for `..`, because a filter that deletes `../` once turns `....//` into it.
fn lenient_names(text: &str) -> String {
    let names: Vec<&str> = text.split('/').collect();
    let runs = names.iter().filter(|name| is_dots(name) && name.len() > 2).count();
    let doubtful = runs > 1
        || text.starts_with("...")
        || names.iter().any(|name| is_dots(name) && name.len() > 3)
        || names.windows(2).any(|pair| pair == ["...", "."]);
    let lenient = names.iter().map(|name| {
        let cut = name.split(';').next().unwrap_or_default().trim();
        if is_dots(cut) && (cut.len() == 2 || (cut.len() > 2 && doubtful)) { ".." } else { cut }
    });
    lenient.collect::<Vec<_>>().join("/")
}

fn is_dots(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b == b'.')
}

/// What is a pattern, an expansion or a device rather than a path.
fn check_shape(text: &str) -> Verdict {
    let refuse = |what: &str| Err(Finding::new("path-shape", what).suggest("pass one plain path"));
    if text.starts_with('~') {
        return refuse("`~` at the start is expanded to a home directory");
    }
    if text.contains(['*', '?']) {
        return refuse("a pattern is not a path");
    }
    if text.contains('`') || has_variable(text) {
        return refuse("a variable or command in the path is expanded by some servers");
    }
    if has_braces(text) {
        return refuse("braces in the path are expanded by some servers");
    }
    for name in text.split('/') {
        if name.len() > MAX_NAME_BYTES {
            return refuse("a name in the path is longer than 255 bytes");
        }
        if has_stream(name) || is_device(name) || is_short_name(name) {
            return refuse("a drive, device or stream name is not a path here");
        }
        if let Some(after) = name.strip_prefix("..")
            && after.starts_with(|c: char| !c.is_alphanumeric() && !"._- ;(),[]@+=#~!'\"&^".contains(c))
        {
            return refuse("a name that starts with `..` and an odd character hides a step up");
        }
        if is_odd_step(name) {
            return refuse("a name of dots and letters that pass for them hides a step up");
        }
        if has_hex_escape(name) || has_bare_escape(name) {
            return refuse("a hexadecimal escape hides a separator or dot");
        }
    }
    Ok(())
}

/// Two signs that pass for dots, two dots in front of a letter that passes for a slash, and the fork of a file.
fn is_odd_step(name: &str) -> bool {
    const LIKE_SLASHES: [char; 6] = ['\u{3033}', '\u{30ce}', '\u{4e3f}', '\u{2f03}', '\u{141f}', '\u{2cc7}'];
    const LIKE_DOTS: [char; 4] = ['\u{660}', '\u{6f0}', '\u{b7}', '\u{1802}'];
    let dots = name.chars().count() == 2 && name.chars().all(|c| c == '.' || LIKE_DOTS.contains(&c)) && name != "..";
    let step = name.strip_prefix("..").is_some_and(|after| after.starts_with(LIKE_SLASHES));
    dots || step || name == "..namedfork"
}

/// `$NAME`, `${..}`, `$(..)` and `%NAME%`. Lower-case names after `$` are ordinary: routers use them for parameters.
fn has_variable(text: &str) -> bool {
    let dollar = text.split('$').skip(1).any(|rest| {
        let name: &str = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())];
        rest.starts_with(['{', '('])
            || (name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.bytes().any(|b| b.is_ascii_lowercase()))
    });
    let parts: Vec<&str> = text.split('%').collect();
    let percent = parts.len() > 2
        && parts[1..parts.len() - 1].iter().any(|name| {
            name.len() > 1
                && name.as_bytes().get(..2).and_then(hex).is_none()
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_()".contains(&b))
        });
    dollar || percent
}

/// `{a,b}` and `{1..3}`; a single word in braces stands for itself.
fn has_braces(text: &str) -> bool {
    text.split('{').skip(1).any(|rest| {
        let inside = rest.split('}').next().unwrap_or_default();
        inside.len() < rest.len() && (inside.contains(',') || inside.contains(".."))
    })
}

/// `name:stream`. Between digits a colon belongs to a time of day.
fn has_stream(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.iter().enumerate().any(|(at, b)| {
        let digit = |index: Option<usize>| index.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
        *b == b':' && !(digit(at.checked_sub(1)) && digit(Some(at + 1)))
    })
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim();
    if !matches!(stem.len(), 3 | 4 | 6 | 7) {
        return false;
    }
    // Source code may be called `con.rs`.
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if ["go", "java", "js", "jsx", "kt", "py", "rb", "rs", "swift", "ts", "tsx"].contains(&ending) {
        return false;
    }
    let stem = stem.to_ascii_lowercase();
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" | "clock$")
        || (stem.len() == 4
            && (stem.starts_with("com") || stem.starts_with("lpt"))
            && stem.ends_with(|c: char| ('1'..='9').contains(&c)))
}

/// `SECRET~1`: the short form under which some systems reach a longer name.
fn is_short_name(name: &str) -> bool {
    let Some((front, back)) = name.split_once('~') else { return false };
    let number = back.split('.').next().unwrap_or_default();
    (1..=6).contains(&front.len())
        && front.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && (1..=2).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// `..2f` and `%%32`: escapes that a filter on the way has damaged or will complete.
fn has_bare_escape(name: &str) -> bool {
    let after = name.trim_start_matches('.');
    let stripped = name.len() - after.len() >= 2
        && after.get(..2).is_some_and(|code| code.eq_ignore_ascii_case("2f") || code.eq_ignore_ascii_case("5c"));
    stripped || name.split("%%").skip(1).any(|rest| rest.as_bytes().get(..2).and_then(hex).is_some())
}

fn has_hex_escape(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    const ESCAPES: [&str; 12] =
        ["0x2e", "0x2f", "0x5c", "\\x2e", "\\x2f", "\\x5c", "&#46", "&#47", "&#x2e", "&#x2f", "&sol;", "&period;"];
    ESCAPES.iter().any(|escape| name.contains(escape))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The short way may only be taken where it leads to the same place.
        #[test]
        fn a_plain_path_has_one_reading(path in "[a-cA-C0xX2ef_/.-]{1,24}|(/?(con|AUX|com1|lpt0|src|[.]{1,3}|0x2f|[a-z]{1,4}[.]rs)){1,6}") {
            if is_plain(&path) {
                prop_assert_eq!(every_reading(&path), Ok(vec![path]));
            }
        }
    }
}

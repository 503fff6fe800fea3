//! The ways to write a text so that it does not look like one, undone: what comes out is read again.

mod letters;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use unicode_normalization::UnicodeNormalization as _;

use super::hidden::look_alike;

/// Characters of an encoded text, at least and at most.
pub(super) const MIN_ENCODED: usize = 16;
const MAX_ENCODED: usize = 20_000;

/// The text as a reader means it: compatibility forms, look-alikes and invisible characters undone, in lower case.
pub(super) fn plain(text: &str) -> String {
    text.nfkc()
        .filter(|c| !is_invisible(*c))
        .map(|c| {
            if c == '’' || c == '‘' || c == '`' {
                '\''
            } else if c == '“' || c == '”' {
                '"'
            } else {
                c
            }
        })
        .flat_map(char::to_lowercase)
        .collect()
}

const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}')
}

/// Other readings of the text, each of which only somebody who hides something would write.
pub(super) fn readings(text: &str, is_word: impl Fn(&str) -> bool) -> Vec<String> {
    let mut readings = Vec::new();
    let mut add = |reading: String| {
        if !reading.trim().is_empty() && reading != text && readings.len() < 24 {
            readings.push(reading);
        }
    };
    let tags: String = text
        .chars()
        .filter_map(|c| char::from_u32(u32::from(c).checked_sub(0xe0000)?).filter(|c| matches!(c, ' '..='~')))
        .collect();
    add(tags);
    if text.chars().any(|c| look_alike(c).is_some()) {
        add(text.chars().map(|c| look_alike(c).unwrap_or(c)).collect());
    }
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '='))) {
        decoded(word).or_else(|| letters::base32(word)).into_iter().for_each(&mut add);
    }
    letters::pieces(text, decoded).into_iter().for_each(&mut add);
    letters::numbers(text).into_iter().for_each(&mut add);
    letters::signs(text).into_iter().for_each(&mut add);
    letters::rejoined(text, &is_word).into_iter().for_each(&mut add);
    if text.contains('%') || text.contains("\\u") || text.contains("\\x") || text.contains("&#") {
        add(unescaped(text));
    }
    let lettered = letters_for_digits(text);
    // A name such as utf8, base64 or v2 is no disguise: what is written for a word becomes one.
    let changed = lettered.split_whitespace().zip(text.split_whitespace()).filter(|(new, old)| new != old);
    if changed.filter(|(new, _)| is_word(&new.to_lowercase())).take(2).count() == 2 {
        add(lettered);
    }
    add(without_gaps(text));
    if text.len() >= 20 {
        // Nearly every text read this way is noise; only one in which words appear is read on.
        for turned in [text.chars().rev().collect::<String>(), text.chars().map(rot13).collect()] {
            if has_words(&turned) {
                add(turned);
            }
        }
    }
    readings
}

/// Whether some of the commonest English words stand in a text.
fn has_words(text: &str) -> bool {
    const COMMON: [&str; 12] =
        ["the", "and", "all", "user", "not", "tell", "ignore", "instructions", "send", "read", "this", "you"];
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    words.filter(|word| COMMON.iter().any(|common| word.eq_ignore_ascii_case(common))).take(2).count() == 2
}

/// Base 64 or hexadecimal that holds readable text.
fn decoded(word: &str) -> Option<String> {
    if word.len() < MIN_ENCODED || word.len() > MAX_ENCODED {
        return None;
    }
    let hex = word.len().is_multiple_of(2) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let bytes = if hex {
        (0..word.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&word[at..at + 2], 16).ok())
            .collect::<Option<Vec<u8>>>()?
    } else {
        let config = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true);
        GeneralPurpose::new(&alphabet::STANDARD, config)
            .decode(word)
            .or_else(|_| GeneralPurpose::new(&alphabet::URL_SAFE, config).decode(word))
            .ok()?
    };
    let text = String::from_utf8(bytes).ok()?;
    is_readable(&text).then_some(text)
}

/// Whether a decoded text is one: no signs that nobody writes, and more than one word.
fn is_readable(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || c.is_whitespace())
        && text.chars().any(|c| c.is_whitespace() || matches!(c, '/' | '_' | '.'))
}

/// `%41`, `\u0041`, `\x41`, `&#65;` and `&#x41;` as what they stand for.
fn unescaped(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let code = |digits: Option<&str>| {
            digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32)
        };
        let (replaced, length) = if let Some(after) = rest.strip_prefix("\\u") {
            (code(after.get(..4)), 6)
        } else if let Some(after) = rest.strip_prefix("\\x") {
            (code(after.get(..2)), 4)
        } else if let Some(after) = rest.strip_prefix('%') {
            (code(after.get(..2)), 3)
        } else if let Some(after) = rest.strip_prefix("&#") {
            let end = after.find(';').unwrap_or(0);
            let digits = after.get(..end).unwrap_or_default();
            let value = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            };
            (value.and_then(char::from_u32), end + 3)
        } else {
            (None, 0)
        };
        match replaced.filter(|_| rest.is_char_boundary(length.min(rest.len()))) {
            Some(c) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = rest.get(length..).unwrap_or_default();
            }
            None => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Digits that stand for letters, inside words that have both.
fn letters_for_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| c.is_whitespace()) {
        let letters = piece.chars().filter(char::is_ascii_alphabetic).count();
        let signs = piece.chars().filter(|c| matches!(c, '0' | '1' | '3' | '4' | '5' | '7' | '@' | '$')).count();
        if letters > 0 && signs > 0 && letters >= signs {
            out.extend(piece.chars().map(|c| match c {
                '0' => 'o',
                '1' => 'i',
                '3' => 'e',
                '4' | '@' => 'a',
                '5' | '$' => 's',
                '7' => 't',
                c => c,
            }));
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// `i g n o r e` as `ignore`: letters that stand alone, many in a row. Two gaps divide words.
fn without_gaps(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut found = false;
    while at < characters.len() {
        let mut end = at;
        let mut letters = String::new();
        while end < characters.len()
            && characters[end].is_alphanumeric()
            && characters.get(end + 1).is_none_or(|c| !c.is_alphanumeric())
        {
            letters.push(characters[end]);
            end += 1;
            let gap = characters[end..].iter().take_while(|c| matches!(c, ' ' | '.' | '-' | '_' | '*')).count();
            if gap == 0 {
                break;
            }
            if gap > 1 {
                letters.push(' ');
            }
            end += gap;
        }
        if letters.chars().filter(|c| c.is_alphanumeric()).count() >= 5 {
            found = true;
            out.push_str(&letters);
            out.push(' ');
            at = end;
        } else {
            out.push(characters[at]);
            at += 1;
        }
    }
    if found { out } else { String::new() }
}

const fn rot13(c: char) -> char {
    match c {
        'a'..='z' => ((c as u8 - b'a' + 13) % 26 + b'a') as char,
        'A'..='Z' => ((c as u8 - b'A' + 13) % 26 + b'A') as char,
        other => other,
    }
}

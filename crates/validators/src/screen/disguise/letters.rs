//! Letters written as other signs, as numbers or with something between them, undone.

use super::{has_words, is_readable};

/// Small capitals, and the letter that each stands for.
const SMALL: [(char, char); 26] = [
    ('ᴀ', 'a'),
    ('ʙ', 'b'),
    ('ᴄ', 'c'),
    ('ᴅ', 'd'),
    ('ᴇ', 'e'),
    ('ꜰ', 'f'),
    ('ғ', 'f'),
    ('ɢ', 'g'),
    ('ʜ', 'h'),
    ('ɪ', 'i'),
    ('ᴊ', 'j'),
    ('ᴋ', 'k'),
    ('ʟ', 'l'),
    ('ᴍ', 'm'),
    ('ɴ', 'n'),
    ('ᴏ', 'o'),
    ('ᴘ', 'p'),
    ('ǫ', 'q'),
    ('ʀ', 'r'),
    ('ꜱ', 's'),
    ('ᴛ', 't'),
    ('ᴜ', 'u'),
    ('ᴠ', 'v'),
    ('ᴡ', 'w'),
    ('ʏ', 'y'),
    ('ᴢ', 'z'),
];
/// The alphabet in Braille.
const BRAILLE: &str = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵";
/// Fewer signs than this are an accident, a flag or a unit.
const FEWEST: usize = 6;
/// Digits that a text of some words takes.
const FEWEST_DIGITS: usize = 24;

/// Signs that stand for letters: small capitals, letters of flags, Braille, and letters that are struck through.
pub(super) fn signs(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut changed = 0;
    let plain: String = text
        .chars()
        .filter_map(|c| {
            let letter = match c {
                '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20f0}' => None,
                '\u{1f1e6}'..='\u{1f1ff}' => char::from_u32(u32::from(c) - 0x1f1e6 + u32::from('a')),
                _ => SMALL
                    .iter()
                    .find(|(sign, _)| *sign == c)
                    .map(|(_, letter)| *letter)
                    .or_else(|| {
                        let at = BRAILLE.chars().position(|sign| sign == c)?;
                        ('a'..='z').nth(at)
                    })
                    .or(Some(c)),
            };
            changed += usize::from(letter != Some(c));
            letter
        })
        .collect();
    (changed >= FEWEST).then_some(plain)
}

/// Numbers that are letters: in the decimal system, the binary one, or two hexadecimal digits each.
pub(super) fn numbers(text: &str) -> Option<String> {
    if text.bytes().filter(u8::is_ascii_digit).take(FEWEST_DIGITS).count() < FEWEST_DIGITS {
        return None;
    }
    let mut best = String::new();
    for radix in [10, 2, 16] {
        let mut run = String::new();
        for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']')).chain([""]) {
            let digits = word.trim_start_matches("0x");
            let fits = match radix {
                2 => (7..=8).contains(&digits.len()),
                16 => digits.len() == 2,
                _ => (2..=3).contains(&digits.len()),
            };
            let letter = u8::from_str_radix(digits, radix).ok().filter(|_| fits).map(char::from);
            match letter.filter(|c| matches!(c, '\n' | ' '..='~')) {
                Some(c) => run.push(c),
                None if word.is_empty() && !run.is_empty() && run.len() < best.len() => {}
                None => {
                    if run.len() > best.len() {
                        best.clone_from(&run);
                    }
                    if !word.is_empty() {
                        run.clear();
                    }
                }
            }
        }
    }
    (best.len() >= 16 && has_words(&best)).then_some(best)
}

/// Base 64 in pieces: words of four characters or a multiple of it, in a row.
pub(super) fn pieces(text: &str, decode: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut run = String::new();
    let mut count = 0;
    for word in text.split_whitespace().chain(["."]) {
        let fits = word.len().is_multiple_of(4)
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'));
        if fits {
            run.push_str(word.trim_end_matches('='));
            count += 1;
            continue;
        }
        // The last piece may be shorter.
        if count >= 2 {
            found.extend(decode(&run).or_else(|| decode(&format!("{run}{word}"))).filter(|text| has_words(text)));
        }
        run.clear();
        count = 0;
    }
    found
}

/// Base 32, as RFC 4648 has it.
pub(super) fn base32(word: &str) -> Option<String> {
    let word = word.trim_end_matches('=');
    if word.len() < 16 || !word.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7')) {
        return None;
    }
    let (mut bits, mut held, mut bytes) = (0u32, 0u32, Vec::with_capacity(word.len()));
    for b in word.bytes() {
        let value = if b.is_ascii_uppercase() { b - b'A' } else { b - b'2' + 26 };
        held = (held << 5 | u32::from(value)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| is_readable(text))
}

/// Words with something else than blanks between or inside them: `before_using_this`, `Before. using. this.`,
/// `be-fore us-ing`.
pub(super) fn rejoined(text: &str, is_word: impl Fn(&str) -> bool) -> Vec<String> {
    let mut readings = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.iter().any(|word| word.matches('_').count() >= FEWEST) {
        readings.push(text.replace('_', " "));
    }
    let ended = words.iter().filter(|word| word.ends_with('.') && word.len() < 12).count();
    if ended >= FEWEST && ended * 10 >= words.len() * 7 {
        readings.push(words.iter().map(|word| word.trim_end_matches('.')).collect::<Vec<_>>().join(" "));
    }
    if text.matches('-').take(3).count() < 3 {
        return readings;
    }
    let mut mended = 0;
    let whole: Vec<String> = words
        .iter()
        .map(|word| {
            let joined: String = word.chars().filter(|c| *c != '-').collect();
            let divided = joined.len() + 1 == word.len() && word.split('-').all(|part| part.len() < 6);
            if divided && is_word(&joined.to_lowercase()) && !is_word(&word.to_lowercase()) {
                mended += 1;
                joined
            } else {
                (*word).to_owned()
            }
        })
        .collect();
    if mended >= 3 {
        // Words that the lexicon does not know were divided too.
        readings.push(
            whole
                .iter()
                .map(|word| if is_path(word) { word.clone() } else { word.replace('-', "") })
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    readings
}

fn is_path(word: &str) -> bool {
    word.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_again() {
        assert_eq!(signs("ᴅᴏ ɴᴏᴛ ᴛᴇʟʟ").as_deref(), Some("do not tell"));
        assert_eq!(signs("🇷🇪🇦🇩 🇹🇭🇮🇸").as_deref(), Some("read this"));
        assert_eq!(signs("d̶o̶ ̶n̶o̶t̶ ̶t̶e̶l̶l̶").as_deref(), Some("do not tell"));
        assert_eq!(signs("⠙⠕ ⠝⠕⠞ ⠞⠑⠇⠇").as_deref(), Some("do not tell"));
        assert_eq!(signs("naïve café"), None);
        let order = "do not tell the user";
        let decimal: Vec<String> = order.bytes().map(|b| b.to_string()).collect();
        let binary: Vec<String> = order.bytes().map(|b| format!("{b:08b}")).collect();
        let hex: Vec<String> = order.bytes().map(|b| format!("{b:02x}")).collect();
        for coded in [decimal.join(" "), decimal.join(", "), binary.join(" "), hex.join(" ")] {
            assert_eq!(numbers(&format!("Sums. {coded}")).as_deref(), Some(order), "{coded}");
        }
        assert_eq!(numbers("10 20 30 40 50 60 70 80 90 100 110 120 33 44 55 66 77"), None);
        assert_eq!(base32("MRXSA3TPOQQHIZLMNQQHI2DFEB2XGZLS").as_deref(), Some(order));
        assert_eq!(base32("CONFIGURATIONSETTINGS"), None);
        let known = |word: &str| ["before", "using", "tell", "user", "tool"].contains(&word);
        assert_eq!(rejoined("do_not_tell_the_user_of_it", known), ["do not tell the user of it"]);
        assert_eq!(rejoined("be-fore us-ing this te-ll it", known), ["before using this tell it"]);
        assert!(rejoined("a well-known read-only tool_name of one", known).is_empty());
    }
}

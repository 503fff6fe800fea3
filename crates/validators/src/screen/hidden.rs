//! Characters that a person does not see, or that make them see something else.

use crate::Finding;

/// How many characters of no width, or of control, slip into a text by copying it from elsewhere.
const MAX_STRAY: usize = 3;

/// The first hidden thing in a text.
pub(super) fn check(text: &str) -> Option<Finding> {
    character(text).or_else(|| out_of_sight(text)).or_else(|| mixed_word(text)).or_else(|| morse(text))
}

/// The fewest letters of Morse code in a row that are a message, and those of them with both signs.
const MIN_MORSE: usize = 10;
const MIN_MIXED: usize = 4;

/// Text in Morse code: rules of tables and rows of dots are made of one sign.
fn morse(text: &str) -> Option<Finding> {
    let (mut letters, mut mixed) = (0, 0);
    for word in text.split_whitespace() {
        let is_letter = word.len() <= 6 && word.bytes().all(|byte| matches!(byte, b'.' | b'-'));
        match (is_letter, word) {
            (true, _) => {
                letters += 1;
                mixed += usize::from(word.contains('.') && word.contains('-'));
            }
            (false, "/") => {}
            (false, _) => (letters, mixed) = (0, 0),
        }
        if letters >= MIN_MORSE && mixed >= MIN_MIXED {
            return Some(Finding::new("hidden-text", "text in Morse code"));
        }
    }
    None
}

/// Whether what [`check`] found may have slipped in: a few stray characters that divide no word, hide no other
/// character and carry no data.
pub(super) fn is_stray(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let mut strays = 0;
    for (at, &c) in characters.iter().enumerate() {
        if !is_stray_kind(c) {
            continue;
        }
        let letter = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphabetic());
        if letter(at.checked_sub(1)) && letter(Some(at + 1)) {
            return false;
        }
        strays += 1;
    }
    let rest: String = characters.into_iter().filter(|c| !is_stray_kind(*c)).collect();
    (1..=MAX_STRAY).contains(&strays) && check(&rest).is_none()
}

fn is_stray_kind(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}')
        || c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{8}' | '\u{1b}' | '\u{7f}'..='\u{9f}')
}

fn character(text: &str) -> Option<Finding> {
    let characters: Vec<char> = text.chars().collect();
    for (at, &c) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| characters[at]);
        let after = characters.get(at + 1).copied();
        let why = match c {
            '\t' | '\n' | '\r' => continue,
            '\u{1b}' | '\u{9b}' => "a terminal escape",
            c if c.is_control() => "a control character",
            '\u{e0000}'..='\u{e007f}' => "an invisible tag character",
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "a character that reverses the direction of text",
            // Joiners shape letters of some scripts and join emoji; a byte order mark may begin a text.
            '\u{200c}' | '\u{200d}' if before.is_some_and(shapes) || after.is_some_and(shapes) => continue,
            '\u{feff}' if at == 0 => continue,
            '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{180e}'
            | '\u{034f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{206a}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}' => "a character of no width",
            '\u{ad}' if before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric) => {
                "a soft hyphen inside a word"
            }
            '\u{e0100}'..='\u{e01ef}' => "a variation selector used as data",
            // One selects how an emoji looks; several in a row carry data.
            '\u{fe00}'..='\u{fe0f}'
                if after.is_some_and(|c| matches!(c, '\u{fe00}'..='\u{fe0f}'))
                    || before.is_none_or(char::is_alphabetic) && c != '\u{fe0f}' =>
            {
                "a variation selector used as data"
            }
            '\u{f0000}'..='\u{10ffff}' => "a character of a private plane",
            _ => continue,
        };
        return Some(Finding::new("hidden-text", format!("{why} (U+{:04X})", u32::from(c))));
    }
    None
}

/// Whether a joiner beside this character has a use: letters of joining scripts, emoji.
const fn shapes(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{08ff}' | '\u{0900}'..='\u{0dff}' | '\u{0f00}'..='\u{109f}' | '\u{1800}'..='\u{18af}'
        | '\u{2600}'..='\u{27bf}' | '\u{2190}'..='\u{21ff}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}')
}

/// Text pushed out of sight by a stretch of nothing.
fn out_of_sight(text: &str) -> Option<Finding> {
    let (mut lines, mut spaces) = (0, 0);
    let mut begun = false;
    for c in text.chars() {
        match c {
            '\n' => {
                lines += 1;
                spaces = 0;
            }
            c if c.is_whitespace() || c == '\u{2800}' => spaces += 1,
            _ => {
                if begun && (lines >= 15 || spaces >= 120) {
                    return Some(Finding::new("hidden-text", "text behind a long stretch of blank space"));
                }
                begun = true;
                lines = 0;
                spaces = 0;
            }
        }
    }
    None
}

/// A word in which Latin letters stand beside look-alikes of another alphabet.
fn mixed_word(text: &str) -> Option<Finding> {
    for word in text.split(|c: char| !c.is_alphabetic()) {
        let latin = word.chars().filter(char::is_ascii_alphabetic).count();
        let alike = word.chars().filter(|c| look_alike(*c).is_some()).count();
        // A unit such as µm or a Δx has one; a disguised word keeps most of its letters. An abbreviation takes the
        // endings of another language: the Latin letters come first, in capitals.
        let rest = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let is_abbreviation = rest.len() < word.len() && !rest.contains(|c: char| c.is_ascii_alphabetic());
        if latin >= 2 && alike > 0 && word.chars().count() >= 4 && !is_abbreviation {
            return Some(Finding::new("look-alike", format!("the word {word:?} mixes alphabets")));
        }
    }
    None
}

/// The Latin letter that a letter of another alphabet looks like.
pub(super) const fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' | 'ɑ' => 'a',
        'Ь' | 'в' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'ɡ' => 'g',
        'һ' | 'н' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'ո' | 'п' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ѡ' | 'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' => 'C',
        'Е' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' => 'I',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        'У' | 'Υ' => 'Y',
        _ => return None,
    })
}

//! Options and operands, as programs take their arguments apart.

use super::lexer::Word;

/// What a program sees. Which short options take a value must be told (behind a colon: those that take it only if it
/// is attached); long ones with a separate value leave it among the operands.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    short: Vec<(char, Option<&'a str>)>,
    long: Vec<(&'a str, Option<&'a str>)>,
    /// What is no option, in order.
    pub(super) operands: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Reads all arguments; options may stand anywhere.
    pub(super) fn read(words: &'a [Word], with_value: &str) -> Self {
        Self::scan(words, with_value, false).0
    }

    /// Reads the options in front of the first operand. The second part is what follows them.
    pub(super) fn leading(words: &'a [Word], with_value: &str) -> (Self, &'a [Word]) {
        let (arguments, used) = Self::scan(words, with_value, true);
        (arguments, &words[used..])
    }

    fn scan(words: &'a [Word], with_value: &str, leading: bool) -> (Self, usize) {
        let (with_value, attached_only) = with_value.split_once(':').unwrap_or((with_value, ""));
        let mut found = Self::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                at += 1;
                if leading {
                    break;
                }
                found.operands.extend(words[at..].iter().map(|word| word.text.as_str()));
                at = words.len();
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                found.long.push((name, value));
            } else if text.len() > 1 && text.starts_with('-') {
                let cluster = &text[1..];
                for (index, letter) in cluster.char_indices() {
                    if attached_only.contains(letter) {
                        found.short.push((letter, Some(&cluster[index + letter.len_utf8()..])));
                        break;
                    }
                    if with_value.contains(letter) {
                        let attached = &cluster[index + letter.len_utf8()..];
                        let value = if attached.is_empty() {
                            at += 1;
                            words.get(at).map(|word| word.text.as_str())
                        } else {
                            Some(attached)
                        };
                        found.short.push((letter, value));
                        break;
                    }
                    found.short.push((letter, None));
                }
            } else if leading {
                break;
            } else {
                found.operands.push(text);
            }
            at += 1;
        }
        (found, at.min(words.len()))
    }

    /// Whether one of these letters was given as an option.
    pub(super) fn has(&self, letters: &str) -> bool {
        self.short.iter().any(|(letter, _)| letters.contains(*letter))
    }

    /// Whether one of these long options was given, also if it was cut short: most programs accept that.
    pub(super) fn has_long(&self, names: &[&str]) -> bool {
        self.long.iter().any(|(given, _)| names.iter().any(|name| is_abbreviation(given, name)))
    }

    /// The values of a short option.
    pub(super) fn values(&self, letter: char) -> impl Iterator<Item = &'a str> {
        self.short.iter().filter(move |(short, _)| *short == letter).filter_map(|(_, value)| *value)
    }

    /// The values of a long option that were attached with `=`.
    pub(super) fn long_values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.long.iter().filter(move |(given, _)| is_abbreviation(given, name)).filter_map(|(_, value)| *value)
    }

    /// Whether a long option was given without `=`: the word behind it may be its value.
    pub(super) fn has_open_long(&self) -> bool {
        self.long.iter().any(|(_, value)| value.is_none())
    }

    /// The names of all long options.
    pub(super) fn long_names(&self) -> impl Iterator<Item = &'a str> {
        self.long.iter().map(|(name, _)| *name)
    }
}

/// `--recurs` means `--recursive`, but one or two letters are rather another option.
fn is_abbreviation(given: &str, name: &str) -> bool {
    given == name || (given.len() >= 3 && name.starts_with(given))
}

//! Word stems: `connect`, `connected` and `connections` become one term.
//!
//! It decides the stem of an English word, by the five steps that M. F. Porter published in 1980. It does not know what is
//! a word, and leaves everything but small ASCII letters alone.

/// The stem of a word of small ASCII letters; other words come back as they are.
pub(crate) fn stem(word: &mut String) {
    if word.len() <= 2 || !word.bytes().all(|letter| letter.is_ascii_lowercase()) {
        return;
    }
    plurals(word);
    past_and_progressive(word);
    if word.ends_with('y') && has_vowel(&word[..word.len() - 1]) {
        word.pop();
        word.push('i');
    }
    replace_first(word, DOUBLE_SUFFIXES, 0);
    replace_first(word, SINGLE_SUFFIXES, 0);
    long_suffixes(word);
    last_letters(word);
}

const DOUBLE_SUFFIXES: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const SINGLE_SUFFIXES: &[(&str, &str)] =
    &[("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

const LONG_SUFFIXES: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
];

fn plurals(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

fn past_and_progressive(word: &mut String) {
    if word.ends_with("eed") {
        if measure(&word[..word.len() - 3]) > 0 {
            word.pop();
        }
        return;
    }
    let cut = ["ed", "ing"].iter().find(|suffix| word.ends_with(**suffix)).map(|suffix| word.len() - suffix.len());
    let Some(cut) = cut.filter(|cut| has_vowel(&word[..*cut])) else { return };
    word.truncate(cut);
    if word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz") {
        word.push('e');
    } else if ends_double(word) && !word.ends_with(['l', 's', 'z']) {
        word.pop();
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

/// Takes the first suffix that the word has and exchanges it if enough is left before it.
fn replace_first(word: &mut String, table: &[(&str, &str)], least: usize) {
    let found = table.iter().filter(|(suffix, _)| word.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len());
    if let Some((suffix, instead)) = found
        && measure(&word[..word.len() - suffix.len()]) > least
    {
        word.truncate(word.len() - suffix.len());
        word.push_str(instead);
    }
}

fn long_suffixes(word: &mut String) {
    let found = LONG_SUFFIXES.iter().find(|suffix| word.ends_with(**suffix));
    let Some(suffix) = found else { return };
    let rest = &word[..word.len() - suffix.len()];
    let fits = *suffix != "ion" || rest.ends_with(['s', 't']);
    if fits && measure(rest) > 1 {
        word.truncate(rest.len());
    }
}

fn last_letters(word: &mut String) {
    if word.ends_with('e') {
        let rest = &word[..word.len() - 1];
        let count = measure(rest);
        if count > 1 || (count == 1 && !ends_short(rest)) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
}

fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

fn has_vowel(word: &str) -> bool {
    (0..word.len()).any(|at| !is_consonant(word.as_bytes(), at))
}

/// How often a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    let word = word.as_bytes();
    let mut count = 0;
    let mut after_vowel = false;
    for at in 0..word.len() {
        let consonant = is_consonant(word, at);
        count += usize::from(consonant && after_vowel);
        after_vowel = !consonant;
    }
    count
}

fn ends_double(word: &str) -> bool {
    let word = word.as_bytes();
    let end = word.len();
    end >= 2 && word[end - 1] == word[end - 2] && is_consonant(word, end - 1)
}

/// Consonant, vowel, consonant, and the last one is none of w, x and y: such a stem is short and takes an `e`.
fn ends_short(word: &str) -> bool {
    let word = word.as_bytes();
    let end = word.len();
    end >= 3
        && is_consonant(word, end - 3)
        && !is_consonant(word, end - 2)
        && is_consonant(word, end - 1)
        && !matches!(word[end - 1], b'w' | b'x' | b'y')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn words_of_one_family_have_one_stem() {
        for family in [
            &["connect", "connected", "connecting", "connection", "connections"][..],
            &["translate", "translated", "translating", "translation"],
            &["file", "files"],
            &["query", "queries"],
            &["run", "running", "runs"],
            &["create", "creates", "created", "creating"],
            &["notify", "notifies", "notified"],
            &["image", "images", "imaging"],
        ] {
            for word in family {
                assert_eq!(stemmed(word), stemmed(family[0]), "{word}");
            }
        }
    }

    /// Examples of the published steps.
    #[test]
    fn the_steps_are_those_of_the_paper() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("vietnamization", "vietnam"),
            ("electrical", "electr"),
            ("hopefulness", "hope"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("controller", "control"),
            ("is", "is"),
            ("2024s", "2024s"),
        ] {
            assert_eq!(stemmed(word), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn a_stem_is_never_empty_and_never_much_longer(word in "[a-z]{1,20}") {
            let stemmed = stemmed(&word);
            prop_assert!(!stemmed.is_empty() && stemmed.len() <= word.len() + 1);
        }
    }
}

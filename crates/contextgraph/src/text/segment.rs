//! Words of scripts that do not put spaces between them (Han, Kana, Thai, Khmer, Lao, Burmese) or that glue particles to
//! words (Hangul): each pair of neighbouring characters is a word, as keyword searches of these languages have it.
//!
//! A sign that changes the one before it (a vowel of Thai) belongs to it. A run of one character is a word by itself.

/// Whether a character belongs to such a script.
#[must_use]
pub fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff // Thai, Lao
        | 0x1000..=0x109f // Burmese
        | 0x1780..=0x17ff // Khmer
        | 0x1100..=0x11ff | 0xac00..=0xd7af // Hangul
        | 0x3041..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9d // Kana
        | 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3134f) // Han
}

/// Whether a sign only changes the character before it.
const fn is_mark(c: char) -> bool {
    matches!(c as u32, 0x0e31 | 0x0e34..=0x0e3a | 0x0e47..=0x0e4e | 0x0eb1 | 0x0eb4..=0x0ebc | 0x0ec8..=0x0ecd
        | 0x102b..=0x103e | 0x17b4..=0x17d3)
}

/// Signs of Han that say nothing by themselves: particles, pronouns, what asks, denies and counts.
const EMPTY: &str = "的了着过吗呢吧啊和与及或在是有不没沒無无也都就还還又被把给給从從到对對为為以于于向这這那哪谁誰什么麼甚几幾多少怎我你您他她它们們个個一二两三四五六七八九十";

/// The signs of Han in a text that say something by themselves, each once. They are pairs otherwise.
#[must_use]
pub fn meanings(text: &str) -> Vec<char> {
    let is_han = |c: char| matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0x20000..=0x3134f);
    let mut signs: Vec<char> = text.chars().filter(|c| is_han(*c) && !EMPTY.contains(*c)).collect();
    signs.sort_unstable();
    signs.dedup();
    signs
}

/// Cuts a run of letters and digits in lower case at changes of script, and runs without spaces into pairs.
pub(super) fn cut(run: &str, into: &mut Vec<String>) {
    if !run.chars().any(is_spaceless) {
        into.push(run.to_owned());
        return;
    }
    let mut plain = String::new();
    let mut signs: Vec<String> = Vec::new();
    for c in run.chars() {
        if is_spaceless(c) {
            if !plain.is_empty() {
                into.push(std::mem::take(&mut plain));
            }
            match signs.last_mut() {
                Some(before) if is_mark(c) => before.push(c),
                _ => signs.push(c.to_string()),
            }
        } else {
            pairs(&mut signs, into);
            plain.push(c);
        }
    }
    pairs(&mut signs, into);
    if !plain.is_empty() {
        into.push(plain);
    }
}

fn pairs(signs: &mut Vec<String>, into: &mut Vec<String>) {
    match signs.as_slice() {
        [] => {}
        [alone] => into.push(alone.clone()),
        many => into.extend(many.windows(2).map(|pair| pair.concat())),
    }
    signs.clear();
}

#[cfg(test)]
mod tests {

    #[test]
    fn runs_are_cut_at_scripts_and_into_pairs() {
        let cut = |text: &str| {
            let mut out = Vec::new();
            super::cut(text, &mut out);
            out
        };
        assert_eq!(cut("server"), ["server"]);
        assert_eq!(cut("黒猫を飼う"), ["黒猫", "猫を", "を飼", "飼う"]);
        assert_eq!(cut("猫"), ["猫"]);
        assert_eq!(cut("web11で動く"), ["web11", "で動", "動く"]);
        assert_eq!(cut("고양이를"), ["고양", "양이", "이를"]);
        assert_eq!(cut("กุญแจ"), ["กุญ", "ญแ", "แจ"]);
        assert_eq!(super::meanings("谁在小学上小课 abc かな"), ['上', '学', '小', '课']);
    }
}

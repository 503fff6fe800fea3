//! The difference of two definitions, for a person: member by member, texts as texts, line by line.

use serde_json::Value;

use crate::commands::operator_session::visible;

/// Lines times lines that are compared one by one; beyond, the parts that differ are shown whole.
const MAX_COMPARED_PAIRS: usize = 4_000_000;

/// A definition as lines that a person can read. What cannot be seen is written out.
pub(crate) fn readable(definition: &str) -> Vec<String> {
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(definition) else {
        return visible(definition).lines().map(str::to_owned).collect();
    };
    let mut lines = Vec::new();
    for (name, value) in &members {
        let text = match value {
            Value::String(text) => text.clone(),
            value => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        let text = visible(&text);
        let several = text.contains('\n');
        if several {
            lines.push(format!("{}:", visible(name)));
            lines.extend(text.split('\n').map(|line| format!("    {line}")));
        } else {
            lines.push(format!("{}: {text}", visible(name)));
        }
    }
    lines
}

/// The lines of both: `-` only in the first, `+` only in the second, a blank for those in both.
pub(crate) fn lines(old: &[String], new: &[String]) -> Vec<(char, String)> {
    let same = |pair: &(&String, &String)| pair.0 == pair.1;
    let before = old.iter().zip(new).take_while(same).count();
    let after = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(same).count();
    let (old_middle, new_middle) = (&old[before..old.len() - after], &new[before..new.len() - after]);
    let signed = |sign: char, lines: &[String]| lines.iter().map(|line| (sign, line.clone())).collect::<Vec<_>>();
    let mut shown = signed(' ', &old[..before]);
    if old_middle.len().saturating_mul(new_middle.len()) > MAX_COMPARED_PAIRS {
        shown.extend(signed('-', old_middle));
        shown.extend(signed('+', new_middle));
    } else {
        shown.extend(compare(old_middle, new_middle));
    }
    shown.extend(signed(' ', &old[old.len() - after..]));
    shown
}

/// By the longest common sequence of lines.
fn compare(old: &[String], new: &[String]) -> Vec<(char, String)> {
    let width = new.len() + 1;
    // How many lines the rests have in common, from each pair of places on.
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut shown) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            shown.push((' ', old[i].clone()));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1] {
            shown.push(('-', old[i].clone()));
            i += 1;
        } else {
            shown.push(('+', new[j].clone()));
            j += 1;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(old: &str, new: &str) -> Vec<String> {
        let split = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        lines(&split(old), &split(new)).into_iter().map(|(sign, line)| format!("{sign}{line}")).collect()
    }

    #[test]
    fn differences() {
        for (old, new, expected) in [
            ("", "", ""),
            ("ab", "ab", " a b"),
            ("abc", "axc", " a-b+x c"),
            ("abc", "ac", " a-b c"),
            ("ac", "abc", " a+b c"),
            ("aa", "a", " a-a"),
            ("abcd", "bd", "-a b-c d"),
            ("", "ab", "+a+b"),
        ] {
            assert_eq!(signed(old, new).concat(), expected, "{old} {new}");
        }
    }

    /// Whatever they are, leaving out one sign gives one side back.
    #[test]
    fn both_sides_can_be_read_off() {
        let mut seed = 7u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..300 {
            let mut text =
                || (0..next(9)).map(|_| char::from(b'a' + (next(3) % 3) as u8).to_string()).collect::<Vec<_>>();
            let (old, new) = (text(), text());
            let shown = lines(&old, &new);
            let side = |other: char| shown.iter().filter(move |(sign, _)| *sign != other).map(|(_, line)| line.clone());
            assert!(side('+').eq(old.clone()) && side('-').eq(new.clone()), "{old:?} {new:?}");
        }
    }

    #[test]
    fn what_is_hidden_is_shown() {
        let shown = readable(r#"{"description":"a\u200bb\nc","inputSchema":{"type":"object"},"name":"x\u001b[2J"}"#);
        let expected = [
            "description:",
            "    a\\u{200b}b",
            "    c",
            "inputSchema:",
            "    {",
            "      \"type\": \"object\"",
            "    }",
            "name: x\\u{1b}[2J",
        ];
        assert_eq!(shown, expected);
    }
}

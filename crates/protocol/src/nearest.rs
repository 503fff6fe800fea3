//! "Did you mean": the known word closest to a mistyped one.

/// The known word nearest to `word`, if one is near enough to be a likely slip.
#[must_use]
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // Long input cannot be a slip of a short key; cutting here bounds the quadratic work below.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    known
        .iter()
        .map(|candidate| (distance(&word, &candidate.replace('-', "_")), *candidate))
        .filter(|(steps, candidate)| *steps <= (candidate.len() / 3).clamp(1, 3))
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips() {
        let known = ["command", "args", "env", "url", "call_timeout_ms"];
        for (word, expected) in [
            ("comand", Some("command")),
            ("Command", Some("command")),
            ("agrs", Some("args")),
            ("call-timeout-ms", Some("call_timeout_ms")),
            ("calltimeoutms", Some("call_timeout_ms")),
            ("uri", Some("url")),
            ("banana", None),
        ] {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}

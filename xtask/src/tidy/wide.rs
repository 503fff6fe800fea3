//! Names by which everything can be reached, and the few files that may say them. Elsewhere a part is taken: what something can
//! reach is then what it says.

use std::path::Path;

use super::code::{code, is_source};

/// A name of the whole.
struct Wide {
    words: &'static [&'static str],
    /// Where it may be said.
    files: &'static [&'static str],
    instead: &'static str,
}

const WIDE: &[Wide] = &[Wide {
    words: &["DynHouse", "dyn House"],
    files: &[
        "crates/services/src/house.rs",
        "crates/services/src/lib.rs",
        "crates/services/src/row.rs",
        "crates/services/src/table.rs",
    ],
    instead: "a service takes the traits of services/src/house.rs that it uses",
}];

/// Places of a source that say such a name.
pub(super) fn check(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display().to_string();
    if !is_source(path) || !shown.starts_with("crates/services/") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in code(text) {
        for wide in WIDE.iter().filter(|wide| !wide.files.contains(&shown.as_str())) {
            for word in wide.words.iter().filter(|word| says(line, word)) {
                found.push(format!("{shown}:{}: `{word}` reaches everything; {}", number + 1, wide.instead));
            }
        }
    }
    found
}

fn says(line: &str, word: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_name) && !line[at + word.len()..].starts_with(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_is_taken_by_the_table_alone() {
        for (path, text, expected) in [
            ("crates/services/src/access.rs", "fn of(house: &DynHouse) {}", 1),
            ("crates/services/src/access.rs", "fn of(house: &dyn House) {}", 1),
            ("crates/services/src/access.rs", "fn of(house: &dyn HouseOfCards) {}", 0),
            ("crates/services/src/access.rs", "// DynHouse", 0),
            ("crates/services/src/row.rs", "fn of(house: &DynHouse) {}", 0),
            ("crates/services/tests/it/main.rs", "fn of(house: &DynHouse) {}", 0),
        ] {
            assert_eq!(check(Path::new(path), text).len(), expected, "{path}: {text}");
        }
    }
}

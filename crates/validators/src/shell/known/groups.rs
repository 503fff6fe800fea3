//! Tables of words in groups: `[name]`, and below it words parted by blanks. Lines that begin with `#` say something about them.

use std::collections::{HashMap, HashSet};

/// The words of a table by the names of their groups.
pub(super) struct Groups(HashMap<&'static str, HashSet<&'static str>>);

impl Groups {
    pub(super) fn read(table: &'static str) -> Self {
        let mut groups: HashMap<&str, HashSet<&str>> = HashMap::new();
        let mut current = "";
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(name) => current = name,
                None => groups.entry(current).or_default().extend(line.split_ascii_whitespace()),
            }
        }
        Self(groups)
    }

    /// Takes the words of one group out.
    pub(super) fn take(&mut self, name: &str) -> HashSet<&'static str> {
        self.0.remove(name).unwrap_or_default()
    }
}

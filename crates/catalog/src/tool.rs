//! What the index is told of a tool.
//!
//! It decides which categories a tool is in. It keeps no definition: whoever asks has it by the tool's id.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::words::spaced;

/// A category longer than this is a sentence.
const LONGEST_CATEGORY: usize = 64;
const MOST_CATEGORIES: usize = 16;

/// A tool, as far as it is searched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Tool {
    /// What the tool is called by; no two tools share one.
    pub id: String,
    /// The server it belongs to.
    pub server: String,
    /// What that server is called by people.
    pub server_title: String,
    /// Its name at the server.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// The words of its parameters, from [`crate::schema_text`].
    pub schema: String,
    /// Declared categories. `filesystem/read` is in `filesystem` as well. Two more follow from the names.
    pub categories: Vec<String>,
    /// Further words it is found by.
    pub keywords: Vec<String>,
}

impl Tool {
    /// All categories, in small letters: the declared ones with those above them, the last part of the server's id, and
    /// the first part of the tool's name.
    #[must_use]
    pub fn all_categories(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut add = |category: &str| {
            let category = category.trim().to_lowercase();
            if !category.is_empty() && category.len() <= LONGEST_CATEGORY && !found.contains(&category) {
                found.push(category);
            }
        };
        for category in self.categories.iter().take(MOST_CATEGORIES) {
            add(category);
            category.match_indices('/').for_each(|(at, _)| add(&category[..at]));
        }
        add(self.server.rsplit('.').next().unwrap_or_default());
        if let Some((first, _)) = self.name.split_once(['_', '-', '.']) {
            add(first);
        }
        found
    }

    /// The tool in one sentence: its name as words, and what it says of itself.
    #[must_use]
    pub fn about(&self) -> String {
        format!("{}: {}", spaced(&self.name), self.description)
    }

    /// Tells a changed tool from an unchanged one.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_come_from_declarations_and_names() {
        let tool = Tool {
            server: "tool.Terminal".to_owned(),
            name: "read_file".to_owned(),
            categories: vec!["Filesystem/Read".to_owned(), String::new(), "x".repeat(99)],
            ..Tool::default()
        };
        assert_eq!(tool.all_categories(), ["filesystem/read", "filesystem", "terminal", "read"]);
    }
}

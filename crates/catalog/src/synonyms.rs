//! Words that people say and the words that tools are described in.
//!
//! It holds only words that mean the same in a request for a tool. What merely has to do with it is the table's matter: loose
//! associations were tried, and help on the requests they were made for alone.

/// What people say, in small letters, and what tools say.
const SAME: &[(&[&str], &[&str])] = &[
    (&["ticket", "tickets"], &["issue"]),
    (&["picture", "pictures", "photo", "photos"], &["image"]),
    (&["folder", "folders"], &["directory"]),
    (&["mail", "mails"], &["email"]),
    (&["appointment", "appointments", "meeting", "meetings"], &["event"]),
    (&["undo"], &["revert", "reset"]),
    (&["rename"], &["move"]),
    (&["remark", "remarks"], &["comment"]),
    (&["rows"], &["records"]),
    (&["aloud"], &["speech"]),
    (&["car", "drive", "driving"], &["directions", "route"]),
    (&["price", "cost", "costs"], &["pricing"]),
    (&["cheap", "cheapest"], &["price"]),
    (&["restart"], &["reboot", "rollout"]),
    (&["online"], &["deploy"]),
    (&["graph", "plot"], &["chart"]),
    (&["film", "movie", "clip"], &["video"]),
    (&["song", "music"], &["audio"]),
    (&["repo"], &["repository"]),
    (&["docs", "manual", "handbook"], &["documentation"]),
    (&["spreadsheet"], &["workbook", "sheet"]),
    (&["slides", "slideshow", "deck"], &["presentation"]),
    (&["trash", "discard"], &["delete"]),
    (&["website", "webpage"], &["web", "page", "url"]),
];

/// The words of tools for a word that somebody said, in small letters.
pub(crate) fn of(word: &str) -> &'static [&'static str] {
    SAME.iter().find(|(said, _)| said.contains(&word)).map_or(&[], |(_, meant)| meant)
}

/// All words of tools for the words of a text.
pub(crate) fn of_text(text: &str) -> Vec<&'static str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| of(&word.to_lowercase())).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_stands_for_itself_or_twice() {
        let mut all: Vec<&str> = SAME.iter().flat_map(|(said, _)| *said).copied().collect();
        for (said, meant) in SAME {
            assert!(said.iter().all(|word| !meant.contains(word) && *word == word.to_lowercase()), "{said:?}");
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(of_text("Which Tickets, by e-mail?"), ["issue", "email"]);
    }
}

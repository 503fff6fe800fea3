//! What may have been meant by the name of a tool that there is not: what has that name at its server, else what is a slip away from
//! it, else what shares its words. Nothing else is proposed: a name that is far from all is not made better by guesses.

use switchboard_protocol::nearest;

use super::{SEPARATOR, is_reserved};

/// Tools that are proposed, at most.
const MAX_NAMED: usize = 3;
/// Letters of a name that is looked for, at most.
const MAX_NAME_CHARS: usize = 128;
/// A word alone tells something with this many letters.
const MIN_WORD_CHARS: usize = 4;

/// The tools, by the names that clients and servers call them by, that may be meant. The server in the name decides nothing: it may
/// be one that the client may not know of.
#[must_use]
pub fn meant_among(wanted: &str, tools: &[(String, String)]) -> Vec<String> {
    if wanted.len() > MAX_NAME_CHARS {
        return Vec::new();
    }
    let own = wanted.rsplit(SEPARATOR).next().unwrap_or(wanted);
    let exposed = |found: &mut dyn Iterator<Item = &(String, String)>| -> Vec<String> {
        found.take(MAX_NAMED).map(|(exposed, _)| exposed.clone()).collect()
    };
    let same = exposed(&mut tools.iter().filter(|(_, original)| original.eq_ignore_ascii_case(own)));
    if !same.is_empty() {
        return same;
    }
    let originals: Vec<&str> = tools.iter().map(|(_, original)| original.as_str()).collect();
    if let Some(near) = nearest(own, &originals) {
        return exposed(&mut tools.iter().filter(|(_, original)| original == near));
    }
    // The kernel's own names have their words in common.
    let words = if is_reserved(wanted) { Vec::new() } else { words(own) };
    let mut shared: Vec<(usize, usize, &(String, String))> = tools
        .iter()
        .filter_map(|tool| {
            let own = self::words(&tool.1);
            let common: Vec<&String> = words.iter().filter(|word| own.contains(word)).collect();
            // One word of several tells nothing: `read` is in too many names.
            let is_near = common.len() >= 2
                || words.len() == 1 && common.first().is_some_and(|word| word.chars().count() >= MIN_WORD_CHARS);
            is_near.then_some((common.len(), own.len(), tool))
        })
        .collect();
    shared.sort_by_key(|(common, own, _)| (std::cmp::Reverse(*common), *own));
    exposed(&mut shared.into_iter().map(|(_, _, tool)| tool))
}

/// The words of a name, each once: `readFile`, `read-file` and `read_file` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String| {
        let word = std::mem::take(word);
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    };
    let mut before_is_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || before_is_lower && letter.is_uppercase() {
            end(&mut word);
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before_is_lower = letter.is_lowercase();
    }
    end(&mut word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_other_servers_bare_names_and_shared_words() {
        let tools = |names: &[(&str, &str)]| -> Vec<(String, String)> {
            names.iter().map(|(exposed, original)| ((*exposed).to_owned(), (*original).to_owned())).collect()
        };
        let tools = tools(&[
            ("git__git_status", "git_status"),
            ("a__search", "search"),
            ("b__search", "search"),
            ("files__read_text_file", "read_text_file"),
            ("word__get_document_text", "get_document_text"),
            ("js__readManyFiles", "readManyFiles"),
        ]);
        for (wanted, expected) in [
            ("git__git_statuss", &["git__git_status"][..]),
            ("git_status", &["git__git_status"]),
            ("svn__git_status", &["git__git_status"]),
            ("git_statsu", &["git__git_status"]),
            ("search", &["a__search", "b__search"]),
            ("Search", &["a__search", "b__search"]),
            ("git__status", &["git__git_status"]),
            ("word__document_text", &["word__get_document_text"]),
            ("files__file_read", &["files__read_text_file"]),
            ("files__read_many_of_them", &["js__readManyFiles"]),
            ("delete_everything", &[]),
            ("read_mail", &[]),
            ("mgp_git_status_all", &[]),
            ("nosuch__x", &[]),
            ("x", &[]),
            ("", &[]),
        ] {
            assert_eq!(meant_among(wanted, &tools), expected, "{wanted}");
        }
    }
}

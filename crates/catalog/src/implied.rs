//! Words that a request implies without saying them: phrases of everyday, names of files, addresses, sums.
//!
//! A person says "rename draft.txt" and means a file, "how many" and wants a count, "12 % of 300" and wants it calculated. It holds
//! only what the form of a request tells by itself; words that mean the same are in `synonyms.rs`.

/// What people say in several words, in small letters, and the words of tools for it.
const PHRASES: &[(&[&str], &[&str])] = &[
    (&["how", "many"], &["count"]),
    (&["what", "time"], &["current", "time"]),
    (&["what", "day"], &["current", "date"]),
    (&["what", "date"], &["current", "date"]),
    (&["look", "up"], &["search"]),
    (&["switch", "off"], &["turn", "off", "control"]),
    (&["switch", "on"], &["turn", "on", "control"]),
    (&["turn", "off"], &["off", "control"]),
    (&["turn", "on"], &["on", "control"]),
    (&["code", "style"], &["lint"]),
    (&["style", "problems"], &["lint"]),
    (&["style", "errors"], &["lint"]),
    (&["get", "rid", "of"], &["delete"]),
    (&["throw", "away"], &["delete"]),
    (&["write", "down"], &["create", "note"]),
    (&["find", "out"], &["search"]),
];
/// How names of files end, and what such a file is.
const ENDINGS: &[(&[&str], &[&str])] = &[
    (&["txt", "log", "ini", "conf", "toml", "yaml", "yml", "json", "xml"], &["file"]),
    (&["md"], &["file", "markdown"]),
    (&["docx", "doc"], &["file", "word", "document"]),
    (&["xlsx", "xls"], &["file", "excel", "workbook"]),
    (&["csv", "tsv"], &["file", "csv"]),
    (&["pptx", "ppt"], &["file", "powerpoint", "presentation"]),
    (&["pdf"], &["file", "pdf"]),
    (&["html", "htm"], &["file", "html"]),
    (&["png", "jpg", "jpeg", "gif", "webp", "svg"], &["file", "image"]),
    (&["mp3", "wav", "ogg", "flac"], &["file", "audio"]),
    (&["mp4", "mov", "mkv", "webm"], &["file", "video"]),
    (&["zip", "tar", "gz"], &["file", "archive"]),
    (&["db", "sqlite"], &["file", "database"]),
    (&["py", "js", "ts", "rs", "go", "java", "c", "cpp", "sh"], &["file", "code"]),
];
/// Words that make a sum of a request with a number in it.
const SUMS: &[&str] = &["percent", "plus", "minus", "times", "divided", "multiplied", "squared"];

/// The words that a request implies, each once.
pub(crate) fn words(request: &str) -> Vec<&'static str> {
    let small = request.to_lowercase();
    let said: Vec<&str> =
        small.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut implied: Vec<&'static str> = Vec::new();
    let mut add = |words: &[&'static str]| {
        for word in words.iter().filter(|word| !said.contains(word)) {
            if !implied.contains(word) {
                implied.push(word);
            }
        }
    };
    // Who asks which of many it is wants them looked for.
    if said.first() == Some(&"which") {
        add(&["search", "list"]);
    }
    for (phrase, words) in PHRASES {
        if said.windows(phrase.len()).any(|part| part == *phrase) {
            add(words);
        }
    }
    for piece in small.split_whitespace() {
        if piece.starts_with("http://") || piece.starts_with("https://") {
            add(&["url"]);
            continue;
        }
        let piece = piece.trim_matches(|letter: char| !letter.is_alphanumeric());
        let ending = piece.rsplit_once('.').filter(|(name, _)| !name.is_empty()).map(|(_, ending)| ending);
        if let Some((_, words)) = ENDINGS.iter().find(|(endings, _)| ending.is_some_and(|one| endings.contains(&one))) {
            add(words);
        }
    }
    if is_sum(&small, &said) {
        add(&["calculate", "expression"]);
    }
    implied
}

/// Whether something is to be reckoned: a word for it beside a number, or a sign between two numbers.
fn is_sum(small: &str, said: &[&str]) -> bool {
    let has_number = said.iter().any(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    if has_number && said.iter().any(|word| SUMS.contains(word)) {
        return true;
    }
    let tight: Vec<u8> = small.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    tight.windows(3).any(|part| {
        // A stroke or a line between numbers is more often a date, a version or a path.
        part[0].is_ascii_digit() && matches!(part[1], b'*' | b'+' | b'^') && part[2].is_ascii_digit()
    }) || has_number && small.contains('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_imply_what_they_do_not_say() {
        for (request, expected) in [
            ("Rename draft.txt to final.txt", &["file"][..]),
            ("How many documents are there?", &["count"]),
            ("Which deals close this month?", &["search", "list"]),
            ("What is 17.5 percent of 2340?", &["calculate", "expression"]),
            ("12 * 31", &["calculate", "expression"]),
            ("What time is it in Tokyo?", &["current"]),
            ("Replace a word in report.docx.", &["file", "word", "document"]),
            ("Read https://example.org/a.html", &["url"]),
            ("what changed between 1.2 and 1.3 on 2026-11-18", &[]),
            ("show the percentage of users", &[]),
            ("", &[]),
            ("...", &[]),
            ("a.b. c..d .txt", &[]),
        ] {
            let expected: Vec<&str> = expected
                .iter()
                .copied()
                .filter(|word| !request.to_lowercase().split(' ').any(|said| said == *word))
                .collect();
            assert_eq!(words(request), expected, "{request}");
        }
    }

    #[test]
    fn tables_are_in_small_letters() {
        let all = PHRASES.iter().chain(ENDINGS).flat_map(|(said, meant)| said.iter().chain(*meant));
        for word in all.chain(SUMS) {
            assert_eq!(word.to_lowercase(), **word);
        }
    }
}

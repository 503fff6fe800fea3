//! Names in the headers of patches, as readers of each kind find them.

/// What stands in front of a name that is the rest of its line.
const FRONTS: [&str; 9] = [
    "---",
    "+++",
    "rename from",
    "rename to",
    "rename old",
    "rename new",
    "copy from",
    "copy to",
    "Property changes on:",
];
/// What git says of a file between its headers.
const ABOUT: [&str; 9] = [
    "index ",
    "new file mode ",
    "deleted file mode ",
    "old mode ",
    "new mode ",
    "new file executable mode ",
    "similarity index ",
    "dissimilarity index ",
    "mode ",
];

/// So many signs in front of a line make a mark of it; fewer are quotes of mail.
const MARKS: usize = 5;

/// Whether some reader ends a line here, besides those that are ended by `\n`.
pub(super) const fn ends_line(c: char) -> bool {
    matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{1c}' | '\u{1d}' | '\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The line without what readers leave out in front: blanks, marks of quoted mail, what cannot be seen.
pub(super) fn bare(line: &str) -> &str {
    let is_left_out = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '>' | '|' | '\u{feff}' | '\u{200b}');
    let marks = line.len() - line.trim_start_matches('>').len();
    if marks >= MARKS {
        // The end of a block of search and replace.
        return line;
    }
    let bare = line.trim_start_matches(is_left_out);
    let inner = bare.trim_start_matches(['X', ' ', '\t']);
    if bare.starts_with('X') && (inner.starts_with("---") || inner.starts_with("+++") || inner.starts_with("***")) {
        inner
    } else {
        bare
    }
}

/// Whether a line is a mark of a block of search and replace, or of a conflict.
pub(super) fn is_mark(bare: &str) -> bool {
    let of = |sign: char, count: usize| {
        let rest = bare.trim_start_matches(sign);
        bare.len() - rest.len() >= count && (rest.is_empty() || rest.starts_with(char::is_whitespace))
    };
    let searches = |mark: &str| bare.strip_prefix(mark).is_some_and(|rest| rest.trim_start().starts_with("SEARCH"));
    let replaces = |mark: &str| bare.strip_prefix(mark).is_some_and(|rest| rest.trim_start().starts_with("REPLACE"));
    of('<', MARKS) || of('>', MARKS) || searches("-------") || replaces("+++++++")
}

/// `*** Update File: x`, `***Delete: x`.
pub(super) fn is_action(bare: &str) -> bool {
    action(bare).is_some()
}

/// Whether an action says that it is about a file.
pub(super) fn acts_on_file(bare: &str) -> bool {
    let action = action(bare).and_then(|_| bare.split_once(':')).map(|(action, _)| action.to_ascii_lowercase());
    let words = ["file", "move", "rename", "copy", "update", "add", "delete", "create"];
    action.is_some_and(|action| words.iter().any(|word| action.contains(word)))
}

/// `*** Begin Patch` and the like, which name nothing.
pub(super) fn is_frame(bare: &str) -> bool {
    let rest = bare.strip_prefix("***").map(|rest| rest.trim().to_ascii_lowercase());
    rest.is_some_and(|rest| matches!(rest.as_str(), "begin patch" | "end patch" | "end of file" | "end of patch"))
}

fn action(bare: &str) -> Option<&str> {
    let (action, name) = bare.strip_prefix("***")?.split_once(':')?;
    let action = action.trim();
    let is_words = !action.is_empty() && action.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
    (is_words && action.len() <= 32 && !name.trim().is_empty()).then_some(name)
}

/// Whether a line says something about a file, and names none.
pub(super) fn says_of_file(bare: &str) -> bool {
    ABOUT.iter().any(|front| bare.starts_with(front))
}

/// `1c1`, `2,3d4`, `5a6,7`.
pub(super) fn is_command_of_diff(bare: &str) -> bool {
    let Some(at) = bare.find(['a', 'c', 'd']) else { return false };
    let is_range = |range: &str| {
        !range.is_empty()
            && range.split(',').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_range(&bare[..at]) && is_range(bare[at + 1..].trim_end())
}

/// The names in a line that some reader takes for a header. `is_named` is whether the text is a patch: some words begin
/// sentences as well.
pub(super) fn in_header(bare: &str, is_named: bool) -> Option<Vec<String>> {
    for front in FRONTS {
        if let Some(rest) = bare.strip_prefix(front) {
            let begins = rest.starts_with(char::is_whitespace) || front.ends_with(':');
            let is_range = front == "---" && rest.ends_with("----");
            return (begins && !rest.trim().is_empty() && !is_range).then(|| written(rest));
        }
    }
    if let Some(name) = action(bare) {
        return Some(written(name));
    }
    if let Some(rest) = bare.strip_prefix("Index:") {
        return Some(written(rest));
    }
    if let Some(rest) = bare.strip_prefix("diff ").or_else(|| bare.strip_prefix("diff\t")) {
        return (is_named || rest.trim_start().starts_with('-')).then(|| of_words(rest));
    }
    if let Some(rest) = bare.strip_prefix("Binary files ") {
        let (old, new) = rest.trim_end().strip_suffix(" differ")?.split_once(" and ")?;
        return Some(written(old).into_iter().chain(written(new)).collect());
    }
    let rest = bare.strip_prefix("===").filter(|_| is_named)?.trim_start_matches('=');
    let inner = rest.trim().trim_end_matches('=').trim();
    if !rest.starts_with(char::is_whitespace) || inner.is_empty() {
        return None;
    }
    let parts = inner.split(" - ").flat_map(|part| {
        let quoted = part.split('\'').nth(1).map(str::to_owned);
        [Some(part.to_owned()), part.split_once('#').map(|(front, _)| front.to_owned()), quoted]
    });
    Some(parts.flatten().collect())
}

/// What stands behind a front: a name, perhaps with a date.
pub(super) fn written(text: &str) -> Vec<String> {
    let text = text.trim();
    if let Some(name) = unquoted(text) {
        return vec![name];
    }
    let dated = text.split('\t').next().unwrap_or_default().trim();
    let first = dated.split_whitespace().next().unwrap_or_default();
    let mut names = vec![plain(dated)];
    if first.len() < dated.len() {
        names.push(plain(first));
    }
    names.retain(|name| !name.is_empty());
    names
}

fn plain(name: &str) -> String {
    name.trim_matches(['"', '\'', '`']).trim().to_owned()
}

/// The names behind `diff`: its words, and both halves of a line whose names have blanks.
fn of_words(text: &str) -> Vec<String> {
    let mut rest = text.trim();
    let behind = |text: &'_ str| text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).len();
    let mut names = Vec::new();
    let mut has_revision = false;
    while rest.starts_with('-') {
        let is_revision = rest.starts_with("-r ");
        rest = rest[rest.len() - behind(rest)..].trim_start();
        if is_revision {
            // Mercurial names the file behind its revisions, with blanks or without.
            has_revision = true;
            rest = rest[rest.len() - behind(rest)..].trim_start();
        }
    }
    names.extend(has_revision.then(|| plain(rest)));
    // Names with blanks stand there unquoted: both halves are the same but for the first folder.
    let halves = rest.split_at_checked(rest.len() / 2).filter(|_| !rest.starts_with('"'));
    if let Some((old, new)) = halves.and_then(|(old, new)| Some((old, new.strip_prefix(' ')?))) {
        names.extend([plain(old), plain(new)]);
    }
    while !rest.is_empty() {
        let end = match rest.strip_prefix('"') {
            Some(inner) => closing(inner).map_or(rest.len(), |at| at + 2),
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (name, behind) = rest.split_at(end);
        names.push(unquoted(name).unwrap_or_else(|| plain(name)));
        rest = behind.trim_start();
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The names in a line above a block of search and replace, or behind its mark: `### a.txt`, `**a.txt**`, `File: a.txt`. A sentence
/// names none.
pub(super) fn decorated(line: &str) -> Vec<String> {
    let is_mark =
        |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '`' | '"' | '\'' | '>' | '[' | ']' | '(' | ')' | '<');
    let inner = line.trim().trim_matches(is_mark).trim_end_matches(':').trim_matches(is_mark);
    let is_label =
        |label: &str| label.len() > 1 && label.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
    let labelled =
        inner.split_once(':').filter(|(label, _)| is_label(label)).map(|(_, name)| name.trim_matches(is_mark));
    let inner = labelled.unwrap_or(inner);
    let is_name = |name: &&str| !name.contains(char::is_whitespace) || name.contains(['/', '\\', '~', '.', '$']);
    let last = inner.split_whitespace().next_back().filter(|last| last.len() < inner.len());
    let first = inner.split_whitespace().next().filter(|first| first.len() < inner.len());
    let parts = last.into_iter().chain(first).map(|word| word.trim_matches(is_mark).trim_matches([':', ',']));
    let parts = parts.filter(|word| word.contains(['/', '\\', '~', '.']));
    let names = Some(inner).into_iter().filter(is_name).chain(parts);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A name beside another one: where a link leads.
pub(super) fn beside(link: &str, target: &str) -> String {
    let target = target.trim();
    match link.rsplit_once('/') {
        Some((folder, _)) if !target.starts_with(['/', '\\', '~']) => format!("{folder}/{target}"),
        _ => target.to_owned(),
    }
}

/// Whether a name stands for no file.
pub(super) fn is_nothing(name: &str) -> bool {
    name.is_empty() || matches!(name, "/dev/null" | "NUL" | "nul")
}

/// Where a name in quotes ends.
fn closing(inner: &str) -> Option<usize> {
    let mut is_escaped = false;
    inner.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

/// A name in quotes with its escapes read, as git writes them: `"b/\303\244"`.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let inner = &inner[..closing(inner)?];
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut number = 0_u32;
        let mut digits = 0;
        while let Some(digit) = rest.next_if(|byte| digits < 3 && (b'0'..=b'7').contains(byte)) {
            number = number * 8 + u32::from(digit - b'0');
            digits += 1;
        }
        match digits {
            0 => bytes.push(match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => other,
            }),
            _ => bytes.push(u8::try_from(number & 0xff).unwrap_or_default()),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

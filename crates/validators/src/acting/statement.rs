//! A statement for a database that writes, in a value that nothing is known about.

/// The same of one word that is a statement.
pub(super) fn of_word(word: &str) -> Option<String> {
    matches!(word, "FLUSHALL" | "FLUSHDB" | "SHUTDOWN").then(told)
}

fn told() -> String {
    "it reads as a statement that writes to a database".to_owned()
}

/// What a text is, where it is such a statement, or several of which one is.
pub(super) fn within(text: &str) -> Option<String> {
    let text = without_comments(text);
    one(text).or_else(|| {
        // What stands behind a name with a semicolon is a part of it; behind a statement it is the next one.
        let first: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
        let begins =
            ["SELECT", "SET", "USE", "BEGIN", "COMMIT", "START", "SHOW", "INSERT", "WITH"].contains(&first.as_str());
        let mut others = text.split(';').skip(1).map(without_comments);
        if begins { others.find_map(one) } else { None }
    })
}

/// A text without the comments, brackets and words that may stand in front of a statement and change nothing about it.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    loop {
        let behind = match (rest.get(..2), rest.split_once(char::is_whitespace)) {
            (Some("/*"), _) => rest.split_once("*/").map(|(_, behind)| behind),
            (Some("--"), _) => rest.split_once('\n').map(|(_, behind)| behind),
            (_, Some(("EXPLAIN" | "ANALYZE" | "VERBOSE" | "BEGIN", behind))) => Some(behind),
            _ => None,
        };
        match behind {
            Some(behind) => rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '('),
            None => return rest,
        }
    }
}

/// Whether a statement writes inside of brackets, as what stands behind `WITH a AS` may.
fn writes_inside(text: &str) -> bool {
    text.split('(').skip(1).any(|inner| {
        let mut words = inner.split_whitespace().map(str::to_ascii_uppercase);
        match (words.next().as_deref(), words.next().as_deref()) {
            (Some("DELETE"), Some("FROM")) | (Some("INSERT" | "MERGE"), Some("INTO")) => true,
            (Some("UPDATE"), Some(_)) => words.next().is_some_and(|word| word == "SET"),
            _ => false,
        }
    })
}

fn one(text: &str) -> Option<String> {
    // People write `Delete from list`: statements stand in capitals, or end and compare as no sentence does.
    let formal = text.bytes().take_while(u8::is_ascii_alphabetic).all(|byte| byte.is_ascii_uppercase())
        || text.contains([';', '=', '*', '{']);
    if !formal || !text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let upper: Vec<String> = text.split_whitespace().take(12).map(str::to_ascii_uppercase).collect();
    let word = |at: usize| upper.get(at).map_or("", |word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let has = |wanted: &str| upper.iter().any(|word| word == wanted);
    let object = matches!(
        word(1),
        "TABLE"
            | "DATABASE"
            | "SCHEMA"
            | "INDEX"
            | "VIEW"
            | "USER"
            | "ROLE"
            | "KEYSPACE"
            | "FUNCTION"
            | "PROCEDURE"
            | "TRIGGER"
            | "SEQUENCE"
            | "COLLECTION"
            | "MATERIALIZED"
            | "EXTENSION"
            | "POLICY"
    );
    let writes = match word(0) {
        "DROP" | "ALTER" | "CREATE" => object && upper.len() > 2,
        "TRUNCATE" => object || upper.len() == 2,
        "GRANT" | "REVOKE" => has("ON") && (has("TO") || has("FROM")),
        "DELETE" => word(1) == "FROM" && (upper.len() == 3 || has("WHERE") || has("USING")),
        "INSERT" | "REPLACE" | "MERGE" => word(1) == "INTO",
        "UPDATE" => has("SET"),
        "WITH" => writes_inside(text) || has("DELETE") && has("FROM"),
        "COPY" => has("PROGRAM"),
        "DETACH" => word(1) == "DELETE",
        "MATCH" => text.contains('(') && (has("DELETE") || has("SET") || has("REMOVE") || has("MERGE")),
        first if first.starts_with("MUTATION") => {
            text["mutation".len()..].trim_start().starts_with(['{', '(']) || text.contains('{')
        }
        "FLUSHALL" | "FLUSHDB" => upper.len() == 2,
        _ => false,
    };
    writes.then(told)
}

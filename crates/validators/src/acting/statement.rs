//! A statement for a database that writes, in a value that nothing is known about.

/// The same of one word that is a statement.
pub(super) fn of_word(word: &str) -> Option<String> {
    matches!(word, "FLUSHALL" | "FLUSHDB" | "SHUTDOWN").then(told)
}

fn told() -> String {
    "it reads as a statement that writes to a database".to_owned()
}

/// What a text is, where it is such a statement.
pub(super) fn within(text: &str) -> Option<String> {
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

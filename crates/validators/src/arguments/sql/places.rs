//! Places that a query reads from besides its own tables: files, other machines and the database itself; and queries
//! without measure.

use super::lexer::Token;
use super::tables::Places;
use super::words::FILE_READERS;
use super::{MAX_ARGUMENT_TOKENS, arguments, catalogs, cost, dual, files, fragment, grammar, named_files};

/// Words in front of a name in quotes that say what kind of file it is.
const FORMATS: &[&str] = &["csv", "json", "parquet", "orc", "avro", "text", "delta", "iceberg"];
/// Settings of ClickHouse that lift limits.
const LIFTING: &[&str] = &["readonly", "allow_ddl", "allow_introspection_functions"];

/// What a person should look at, if anything.
pub(super) fn doubt(statement: &[Token]) -> Option<String> {
    let told = statement.first().and_then(Token::word).filter(|verb| matches!(*verb, "show" | "describe" | "desc"));
    let places = Places::of(statement);
    let mut set = false;
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        let next = statement.get(at + 1);
        let owner = before.filter(|token| token.is('.')).and_then(|_| statement.get(at.checked_sub(2)?));
        if let Some(name) = fragment::name(token) {
            let reads = FILE_READERS.contains(&name.as_ref()) || name == "glob" && is_source(before);
            if reads && next.is_some_and(|next| next.is('(')) && !takes_literal(&statement[at + 1..]) {
                return Some(format!("`{name}(..)` is given a name that is computed"));
            }
            if name == "merge" && is_source(before) && next.is_some_and(|next| next.is('(')) {
                return Some("`merge(..)` reads all tables that a pattern matches".to_owned());
            }
            if reads && next.is_some_and(|next| next.is('(')) {
                let folder = matches!(name.as_ref(), "iceberg_scan" | "iceberg_metadata" | "delta_scan");
                if let Some(why) = named_files(&statement[at + 1..]).find_map(|file| files::doubt(file, folder)) {
                    return Some(format!("`{name}(..)`: {why}"));
                }
            }
        }
        // `'user'@'host'`
        let user = told.is_some() && [before, next].iter().all(|part| part.is_some_and(|part| part.quoted().is_some()));
        if token.is('@') && !user && is_elsewhere(before, next) {
            return Some("`@` leads to another database or to a stage".to_owned());
        }
        if let Some(text) = token.quoted() {
            let format = owner.and_then(Token::word).is_some_and(|owner| FORMATS.contains(&owner));
            if owner.is_some() && text.contains('/') && !format {
                return Some(format!("`{text}` may be a file"));
            }
            if told.is_some() && before.and_then(Token::word) != Some("like") && super::is_outside(text) {
                return Some(format!("`{text}` is a file or another machine"));
            }
            if places.is_table(at)
                && files::is_file(text)
                && let Some(why) = files::doubt(text, format)
            {
                return Some(format!("`{text}`: {why}"));
            }
            if format && let Some(why) = files::doubt(text, true) {
                return Some(format!("`{text}`: {why}"));
            }
            if is_document(text) && before.is_some_and(|token| token.is('(')) {
                return Some("a document is read from another place".to_owned());
            }
        }
        set |= token.word() == Some("settings");
        if set && token.word().is_some_and(|word| LIFTING.contains(&word)) {
            return Some("the settings lift limits".to_owned());
        }
        if is_source(before) && is_remote(&statement[at..]) {
            return Some("a name of four parts leads to another server".to_owned());
        }
    }
    let endless = || is_endless(statement).then(|| "the recursion has no end".to_owned());
    catalogs::doubt(statement, &places)
        .or_else(|| cost::doubt(statement, &places))
        .or_else(|| dual::doubt(statement))
        .or_else(endless)
}

fn is_source(before: Option<&Token>) -> bool {
    before.and_then(Token::word).is_some_and(|word| matches!(word, "from" | "join"))
}

/// Whether the first argument of a function that reads files is a string, or a list of strings.
fn takes_literal(call: &[Token]) -> bool {
    let inside: Vec<&Token> = arguments(call).skip(1).take(MAX_ARGUMENT_TOKENS).collect();
    let first: Vec<&Token> = match inside.first() {
        Some(token) if token.is('[') => {
            let end = inside.iter().position(|token| token.is(']')).unwrap_or(inside.len());
            let list = &inside[1..end];
            let literal = |token: &&Token| token.quoted().is_some() || token.is(',');
            let ends = inside.get(end + 1).is_none_or(|token| token.is(','));
            return !list.is_empty() && list.iter().all(literal) && ends;
        }
        _ => inside.into_iter().take_while(|token| !token.is(',')).collect(),
    };
    matches!(first.as_slice(), [Token::Quoted(_)])
}

/// `t@link` of Oracle, and `from @stage` of Snowflake. A parameter stands where a value is wanted, and `@>` compares.
fn is_elsewhere(before: Option<&Token>, next: Option<&Token>) -> bool {
    let named = next.is_some_and(|next| matches!(next, Token::Word(..) | Token::Quoted(_)));
    let staged = next.is_some_and(|next| next.is('~') || next.is('%'));
    let linked = before.is_some_and(|before| match before {
        Token::Word(word, _) => !grammar::is_keyword(word) && !matches!(word.as_str(), "next" | "first"),
        Token::Quoted(_) => true,
        _ => false,
    });
    named && linked || (named || staged) && is_source(before)
}

/// Whether an expression of XQuery fetches something.
fn is_document(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["doc(", "collection(", "unparsed-text(", "doc-available("].iter().any(|function| text.contains(function))
}

/// `server.database.dbo.table` of SQL Server.
fn is_remote(tokens: &[Token]) -> bool {
    let dot = |at: usize| tokens.get(at).is_some_and(|token| token.is('.'));
    let name = |at: usize| tokens.get(at).and_then(fragment::name);
    let owner = name(4).is_some_and(|name| matches!(name.as_ref(), "dbo" | "sys" | "guest"));
    let whole = dot(1) && dot(3) && dot(5) && owner && name(6).is_some();
    // `server.database..table`
    whole || dot(1) && dot(3) && dot(4) && name(5).is_some()
}

/// Whether a recursive query has nothing that could end it.
fn is_endless(statement: &[Token]) -> bool {
    const ENDING: &[&str] = &["where", "limit", "join", "on", "having", "fetch", "top", "cycle", "except"];
    let word = |at: usize| statement.get(at).and_then(Token::word);
    let all = statement.windows(2).any(|two| two[0].word() == Some("union") && two[1].word() == Some("all"));
    word(0) == Some("with")
        && word(1) == Some("recursive")
        && all
        && !statement.iter().filter_map(Token::word).any(|word| ENDING.contains(&word))
}

//! Places that a query reads from besides its own tables: files, other machines, and tables that hold secrets.

use super::lexer::Token;
use super::words::FILE_READERS;
use super::{arguments, fragment, grammar};

/// Tables and columns of databases that hold passwords, their hashes or keys.
const SECRETS: &[&str] = &[
    "pg_authid",
    "pg_shadow",
    "pg_user_mapping",
    "pg_user_mappings",
    "pg_subscription",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "sql_logins",
    "sysxlogins",
    "linked_logins",
    "user$",
    "link$",
    "user_history$",
    "decrypted_secrets",
    "duckdb_secrets",
    "rolpassword",
    "authentication_string",
    "umoptions",
    "subconninfo",
];
/// The same for names that others use for their own tables.
const OWNED_SECRETS: &[(&str, &str)] = &[
    ("mysql", "global_priv"),
    ("mysql", "servers"),
    ("vault", "secrets"),
    ("auth", "refresh_tokens"),
    ("auth", "sessions"),
    ("auth", "mfa_factors"),
    ("sys", "credentials"),
    ("sys", "key_encryptions"),
];
/// Tables that people list users and settings from: some of their columns are secret.
const PARTLY_SECRET: &[(&str, &str)] = &[("mysql", "user"), ("system", "users"), ("system", "server_settings")];
/// Functions that make a long text of a short one, and those that count.
const GROWING: &[&str] = &["repeat", "replicate", "randomblob", "zeroblob", "space", "lpad", "rpad", "array_repeat"];
const COUNTING: &[&str] = &["generate_series", "range", "sequence", "numbers", "generate_array"];
/// No honest text is longer, and no honest count goes further.
const MANY: u64 = 100_000_000;
/// Words in front of a name in quotes that say what kind of file it is.
const FORMATS: &[&str] = &["csv", "json", "parquet", "orc", "avro", "text", "delta", "iceberg"];
/// Settings of ClickHouse that lift limits.
const LIFTING: &[&str] = &["readonly", "allow_ddl", "allow_introspection_functions"];

/// What a person should look at, if anything.
pub(super) fn doubt(statement: &[Token]) -> Option<String> {
    let told = statement.first().and_then(Token::word).filter(|verb| matches!(*verb, "show" | "describe" | "desc"));
    let mut set = false;
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        let next = statement.get(at + 1);
        let owner = before.filter(|token| token.is('.')).and_then(|_| statement.get(at.checked_sub(2)?));
        if let Some(name) = fragment::name(token) {
            let owner = owner.and_then(fragment::name);
            let owned = |(of, table): &(&str, &str)| owner.as_deref() == Some(*of) && name == *table;
            let partly = PARTLY_SECRET.iter().any(owned) && shows_secrets(statement);
            if is_secret(token, &name) || OWNED_SECRETS.iter().any(owned) || partly {
                return Some(format!("`{name}` may hold passwords or keys"));
            }
            if next.is_some_and(|next| next.is('(')) && grows(&name, &statement[at + 1..]) {
                return Some(format!("`{name}(..)` may hold up the server"));
            }
            let reads = FILE_READERS.contains(&name.as_ref()) || name == "glob" && is_source(before);
            if reads && next.is_some_and(|next| next.is('(')) && !takes_literal(&statement[at + 1..]) {
                return Some(format!("`{name}(..)` is given a name that is computed"));
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
            if is_document(text) && before.is_some_and(|token| token.is('(')) {
                return Some("a document is read from another place".to_owned());
            }
        }
        set |= token.word() == Some("settings");
        if set && token.word().is_some_and(|word| LIFTING.contains(&word)) {
            return Some("the settings lift limits".to_owned());
        }
        let bound = |at: usize| matches!(statement.get(at), Some(Token::Number(number)) if *number >= MANY);
        if token.word() == Some("level") && (bound(at + 2) || bound(at + 3)) {
            return Some("the query counts very far".to_owned());
        }
        if is_source(before) && is_remote(&statement[at..]) {
            return Some("a name of four parts leads to another server".to_owned());
        }
    }
    is_endless(statement).then(|| "the recursion has no end".to_owned())
}

/// Whether a query of a table with secret columns shows all of them, or one that is called so.
fn shows_secrets(statement: &[Token]) -> bool {
    const SECRET: [&str; 6] = ["passw", "auth", "secret", "token", "hash", "value"];
    let all = statement.windows(2).any(|two| !two[0].is('(') && two[1].is('*'));
    let whole = statement.first().and_then(Token::word) != Some("select");
    all || whole || statement.iter().filter_map(Token::word).any(|word| SECRET.iter().any(|part| word.contains(part)))
}

/// Whether a function is told to make more than anybody reads.
fn grows(name: &str, call: &[Token]) -> bool {
    if !GROWING.contains(&name) && !COUNTING.contains(&name) {
        return false;
    }
    let numbers: Vec<u64> = arguments(call)
        .filter_map(|token| match token {
            Token::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    let span = match numbers.as_slice() {
        [one] => *one,
        [from, to, ..] => from.abs_diff(*to),
        [] => 0,
    };
    GROWING.contains(&name) && numbers.iter().any(|number| *number >= MANY) || COUNTING.contains(&name) && span >= MANY
}

/// A string is no name of a table.
fn is_secret(token: &Token, name: &str) -> bool {
    let quoted = token.quoted().is_some();
    SECRETS.contains(&name) && (!quoted || name.starts_with("pg_") || name.ends_with('$'))
}

fn is_source(before: Option<&Token>) -> bool {
    before.and_then(Token::word).is_some_and(|word| matches!(word, "from" | "join"))
}

/// Whether the first argument of a function that reads files is a string, or a list of strings.
fn takes_literal(call: &[Token]) -> bool {
    let inside: Vec<&Token> = arguments(call).skip(1).collect();
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

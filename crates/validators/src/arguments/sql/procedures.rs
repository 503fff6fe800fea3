//! Procedures of SQL Server that only tell of the database: `exec sp_help 'orders'`.

use super::lexer::Token;

/// Procedures that list tables, columns, keys, indexes, sizes, sessions and definitions, and change nothing.
const TELLING: &[&str] = &[
    "sp_column_privileges",
    "sp_columns",
    "sp_databases",
    "sp_datatype_info",
    "sp_depends",
    "sp_describe_first_result_set",
    "sp_fkeys",
    "sp_help",
    "sp_helpconstraint",
    "sp_helpdb",
    "sp_helpfile",
    "sp_helpfilegroup",
    "sp_helpindex",
    "sp_helplanguage",
    "sp_helpsort",
    "sp_helpstats",
    "sp_helptext",
    "sp_helptrigger",
    "sp_lock",
    "sp_monitor",
    "sp_pkeys",
    "sp_server_info",
    "sp_spaceused",
    "sp_special_columns",
    "sp_sproc_columns",
    "sp_statistics",
    "sp_stored_procedures",
    "sp_table_privileges",
    "sp_tables",
    "sp_who",
    "sp_who2",
];

/// Whether a statement runs one of these and nothing else. What it is given are single values with commas between them: a second
/// word would begin another statement, which needs no semicolon there.
pub(super) fn tells(statement: &[Token]) -> bool {
    let [verb, rest @ ..] = statement else { return false };
    if !matches!(verb.word(), Some("exec" | "execute")) {
        return false;
    }
    let rest = match rest {
        [owner, dot, rest @ ..] if owner.word() == Some("sys") && dot.is('.') => rest,
        rest => rest,
    };
    let [procedure, values @ ..] = rest else { return false };
    let is_telling = procedure.word().is_some_and(|name| TELLING.contains(&name));
    is_telling && (values.is_empty() || values.split(|token| token.is(',')).all(is_value))
}

/// `'orders'`, `orders`, `5`, `@objname = 'orders'`.
fn is_value(tokens: &[Token]) -> bool {
    match tokens {
        [value] => !matches!(value, Token::Symbol(_)),
        [at, name, equals, value] => {
            at.is('@') && name.word().is_some() && equals.is('=') && !matches!(value, Token::Symbol(_))
        }
        _ => false,
    }
}

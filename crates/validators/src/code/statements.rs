//! Statements that programs hand to databases: which of them destroy what nobody can bring back. What only leaves the
//! database is judged by [`crate::arguments`].

/// Methods and functions that hand a statement to a database.
const TAKES: &str = "$executeRawUnsafe $queryRawUnsafe all batch command cypher exec exec_driver_sql execute execute_query \
     execute_read execute_write execute_sql executemany executescript executeMultiple fetch fetchrow fetchval \
     from_query get gql multiStatement none one oneOrNone many any prepare query queryRaw raw raw_sql read_database \
     read_sql read_sql_query run sql text unsafe SQL DDL executeQuery run_query query_df mogrify copy_expert submit \
     client_query write_transaction";

/// Whether a method takes a statement.
pub(super) fn takes(method: &str) -> bool {
    crate::listed(TAKES, method)
}

/// Whether one of the statements in a text destroys: a table, everything in one, or more.
pub(super) fn destroys(text: &str) -> bool {
    if text.len() > 8_192 {
        return false;
    }
    let text = plain(text);
    text.split(';').any(|statement| {
        let words: Vec<&str> =
            statement.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        // Behind words that only say how a statement is run.
        let at =
            words.iter().position(|word| !matches!(*word, "explain" | "analyze" | "begin" | "optional")).unwrap_or(0);
        let words = &words[at..];
        let has = |word: &str| words.contains(&word);
        let bounded = || statement.split_once("where").is_some_and(|(_, rest)| !is_always(rest));
        match words {
            ["drop", object, ..] => {
                matches!(
                    *object,
                    "table"
                        | "database"
                        | "schema"
                        | "view"
                        | "index"
                        | "collection"
                        | "keyspace"
                        | "user"
                        | "role"
                        | "column"
                        | "materialized"
                        | "tablespace"
                        | "type"
                        | "function"
                        | "trigger"
                        | "sequence"
                        | "owned"
                        | "all"
                        | "constraint"
                        | "stream"
                        | "extension"
                        | "server"
                        | "foreign"
                        | "policy"
                        | "rule"
                        | "domain"
                )
            }
            ["truncate", _, ..] => true,
            ["delete", second, ..] => {
                (*second == "from" || words.len() == 2 || has("where")) && (!bounded() || has("limit") && !has("where"))
            }
            ["update", _, rest @ ..] => rest.contains(&"set") && !bounded(),
            ["replace", "into", ..] | ["insert", "or", "replace", ..] => has("select"),
            ["alter", _, rest @ ..] => rest.contains(&"drop"),
            ["merge" | "match" | "call" | "unwind", ..] => has("delete") && (has("match") || has("detach")),
            ["with", rest @ ..] => {
                let deletes = rest.windows(2).any(|pair| matches!(pair, ["delete", "from"]));
                deletes && !bounded()
            }
            ["flushall" | "flushdb", ..] => true,
            ["grant" | "revoke", _, ..] => has("to") || has("from"),
            ["put", file, ..] => *file == "file",
            ["attach", _, ..] => true,
            _ => false,
        }
    })
}

/// Whether a text asks a graph for a change that destroys.
pub(super) fn mutates(text: &str) -> bool {
    text.len() <= 8_192
        && text.trim_start().starts_with("mutation")
        && text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(|word| super::verbs::plainly_acts(&super::verbs::snake(word)))
}

/// Whether a statement writes its rows over a file that decides what runs later.
pub(super) fn writes_code(text: &str) -> bool {
    if text.len() > 8_192 {
        return false;
    }
    let small = text.to_ascii_lowercase();
    ["to '", "into '", "outfile '", "dumpfile '"].iter().any(|word| {
        small.match_indices(word).any(|(at, word)| {
            let rest = &small[at + word.len()..];
            rest.split('\'').next().is_some_and(super::places::decides)
        })
    })
}

/// Whether a condition holds for every row.
fn is_always(condition: &str) -> bool {
    let tight: String = condition.chars().filter(|c| !c.is_whitespace()).collect();
    let never_false = [">0", ">=0", ">-1", "isnotnull", "like'%'", "<>''", "!=''"];
    if never_false.iter().any(|end| tight.trim_end_matches(';').ends_with(end)) && !tight.contains("and") {
        return true;
    }
    ["1=1", "true", "1", "'a'='a'", "1<>0", "1>0", "2>1", "notfalse", "0=0", "idisnotnull"].contains(&tight.as_str())
        || tight.ends_with("or1=1")
        || tight.ends_with("ortrue")
}

/// A text in small letters and without comments; what stands in quotes stays.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['-', '/', '#']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("--") || rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else {
            let inside = rest.strip_prefix("/*");
            inside.map(|inside| inside.find("*/").map_or(rest.len(), |end| end + 4))
        };
        match end {
            Some(end) => {
                out.push(' ');
                rest = &rest[end..];
            }
            None => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out.make_ascii_lowercase();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_destroys_is_told_from_ordinary_changes() {
        for text in [
            "DROP TABLE users",
            "drop/**/table x",
            "DELETE FROM users",
            "DELETE FROM users WHERE 1=1",
            "TRUNCATE orders",
            "SELECT 1; DROP DATABASE x",
            "UPDATE users SET admin = 1",
            "ALTER TABLE a DROP COLUMN b",
            "MATCH (n) DETACH DELETE n",
            "-- x\nDELETE FROM x",
            "DELETE FROM x",
            "WITH a AS (SELECT 1) DELETE FROM b",
        ] {
            assert!(destroys(text), "{text}");
        }
        for text in [
            "SELECT * FROM dropped",
            "INSERT INTO t VALUES (1)",
            "DELETE FROM t WHERE id = ?",
            "CREATE TABLE t (a int)",
            "UPDATE t SET a = 1 WHERE id = 3",
            "drop me a line",
            "delete the file",
            "select 'drop table x'",
            "",
            "MATCH (n) RETURN n",
            "update the readme",
        ] {
            assert!(!destroys(text), "{text}");
        }
    }
}

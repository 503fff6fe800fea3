//! Functions that Oracle calls without brackets: `select purge_orders from dual`. `dual` has one column, so every other
//! name that stands alone in such a query is a function, a pseudo-column or a name that the query itself gave.

use std::collections::HashSet;

use super::grammar;
use super::lexer::Token;

/// What Oracle and others know without brackets, and words of their types and clauses.
const KNOWN: &str = "sysdate systimestamp current_date current_timestamp localtimestamp sessiontimezone dbtimezone user uid rownum \
     rowid level dummy null true false dual sys currval connect_by_root connect_by_isleaf connect_by_iscycle \
     session_user current_user current_schema day month year hour minute second timezone_hour timezone_minute \
     timezone_region both leading trailing date timestamp interval number varchar2 varchar char integer int decimal \
     float clob raw precision end to with local conversion error default key value returning pretty absent first last \
     next separator signed unsigned datetime time binary_double binary_float nchar nvarchar2 zone week quarter \
     current_time localtime utc_date utc_time utc_timestamp q n x b";

/// The name that may be a function, if there is one.
pub(super) fn doubt(statement: &[Token]) -> Option<String> {
    let word = |at: usize| statement.get(at).and_then(Token::word);
    let is_dual = |at: usize| {
        word(at) == Some("dual")
            && (matches!(word(at.wrapping_sub(1)), Some("from" | "join"))
                || at > 0 && statement[at - 1].is(',')
                || at > 1 && statement[at - 1].is('.') && word(at - 2) == Some("sys"))
    };
    if !(0..statement.len()).any(is_dual) {
        return None;
    }
    let given = given(statement);
    let unknown = |at: &usize| {
        let Some(name) = word(*at) else { return false };
        let called = statement.get(at + 1).is_some_and(|next| next.is('('));
        let bound = *at > 0 && (statement[at - 1].is(':') || statement[at - 1].is('@') || statement[at - 1].is('&'));
        !called && !bound && !grammar::is_keyword(name) && !crate::listed(KNOWN, name) && !given.contains(name)
    };
    (0..statement.len()).find(unknown).and_then(word).map(|name| {
        let name: String = name.chars().take(64).collect();
        format!("`{name}` may be a function that is called without brackets")
    })
}

/// Names that the query gives itself: aliases, columns and tables in front of `as`, tables behind `from`.
fn given(statement: &[Token]) -> HashSet<&str> {
    let mut given = HashSet::new();
    let mut columns = false;
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        columns &= !token.is(')');
        let Some(name) = token.word() else { continue };
        let next = statement.get(at + 1);
        let behind_value = before.is_some_and(|before| match before {
            Token::Number(_) | Token::Quoted(_) => true,
            Token::Symbol(symbol) => *symbol == ')',
            Token::Word(word, _) => {
                matches!(word.as_str(), "as" | "from" | "join" | "end" | "with" | "dual" | "sysdate" | "user")
            }
        });
        // `with t(a, b) as (..)`
        if before.and_then(Token::word) == Some("with") && next.is_some_and(|next| next.is('(')) {
            columns = true;
        }
        let named =
            next.and_then(Token::word) == Some("as") && statement.get(at + 2).is_some_and(|token| token.is('('));
        if behind_value || named || columns {
            given.insert(name);
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::super::lexer::{DIALECTS, tokens};
    use super::*;

    #[test]
    fn names_alone_beside_dual_are_functions() {
        let asked = |text: &str| doubt(&tokens(text, DIALECTS[0])).is_some();
        for honest in [
            "select sysdate, user from dual",
            "select 1 as one, 2 two from dual",
            "select to_char(sysdate, 'YYYY') from sys.dual",
            "with t(a, b) as (select 1, 2 from dual) select a + b from t",
            "select level from dual connect by level <= 10",
            "select :name from dual",
            "select purge_orders from orders",
        ] {
            assert!(!asked(honest), "{honest}");
        }
        for acting in [
            "select purge_orders from dual",
            "select app.close_books from dual",
            "select hr.pay_pkg.pay_everybody from dual",
            "select 1 + wipe from dual",
            "select 1 from dual where wipe = 1",
        ] {
            assert!(asked(acting), "{acting}");
        }
    }
}

//! Where a table may stand in a query: behind `from` and `join`, and behind a comma there. One pass over a statement,
//! since a list of a hundred thousand strings has as many commas.

use super::lexer::Token;

const LEADING: &[&str] = &["from", "join", "summarize", "describe", "desc", "table", "pivot"];
/// Of these, what is one only where a statement begins: `order by a desc limit 1`.
const AT_BEGINNING: &[&str] = &["desc"];
const ENDING: &[&str] = &["where", "on", "using", "group", "order", "limit", "having", "select", "set", "values"];
/// Functions with a `from` in their brackets that names no table: `trim(both '/' from '/a/')`.
const CUTTING: &[&str] = &["trim", "substring", "substr", "overlay", "extract", "position"];

/// What is known inside of one pair of brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Whether tables are named here.
    named: bool,
    /// Whether the bracket belongs to a function that cuts a text.
    cuts: bool,
    /// Whether the bracket stands in place of a table.
    grouped: bool,
    /// Whether a word was passed that stands between `from` and its table.
    passes: bool,
    /// How many tables were joined here with nothing that ties them together, and whether something does.
    joined: usize,
    tied: bool,
}

/// The places of tables in a statement.
#[derive(Debug, Default)]
pub(super) struct Places {
    tables: Vec<bool>,
    /// The most tables that are joined in one place with no condition.
    pub(super) untied: usize,
}

impl Places {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut outside: Vec<Level> = Vec::new();
        let mut level = Level::default();
        let mut places = Self { tables: Vec::with_capacity(tokens.len()), untied: 0 };
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let is_leading =
                |word: &str, at: usize| LEADING.contains(&word) && (at <= 1 || !AT_BEGINNING.contains(&word));
            let leads =
                before.is_some_and(|before| before.word().is_some_and(|word| is_leading(word, at.saturating_sub(1))));
            let opens = level.grouped && before.is_some_and(|before| before.is('('));
            let follows = leads || opens || level.passes || before.is_some_and(|before| before.is(','));
            let passes = follows && token.word().is_some_and(|word| matches!(word, "only" | "lateral"));
            let table = level.named && !level.cuts && follows && !passes;
            level.passes = passes;
            places.tables.push(table);
            // A function makes rows of the table beside it, and says so by its argument.
            let plain = matches!(token, Token::Word(..) | Token::Quoted(_))
                && !tokens.get(at + 1).is_some_and(|next| next.is('('));
            level.joined += usize::from(table && plain);
            match token {
                Token::Symbol('(') => {
                    let cuts = before.and_then(Token::word).is_some_and(|word| CUTTING.contains(&word));
                    outside.push(level);
                    // `from (a join b ..)`: tables are named in these brackets too.
                    level = Level { cuts, grouped: table, named: table, ..Level::default() };
                }
                Token::Symbol(')') => {
                    places.untied = places.untied.max(level.untied());
                    level = outside.pop().unwrap_or_default();
                }
                Token::Word(word, _) => {
                    let word = word.as_str();
                    let ties = matches!(word, "where" | "on" | "using" | "natural" | "lateral");
                    level.tied |= ties && !is_always_true(tokens.get(at + 1..).unwrap_or_default());
                    if ENDING.contains(&word) {
                        level.named = false;
                    } else if is_leading(word, at) {
                        level.named = true;
                    }
                    if matches!(word, "union" | "except" | "intersect") {
                        places.untied = places.untied.max(level.untied());
                        level = Level { cuts: level.cuts, ..Level::default() };
                    }
                }
                _ => {}
            }
        }
        let open = outside.iter().chain([&level]).map(Level::untied).max().unwrap_or_default();
        places.untied = places.untied.max(open);
        places
    }

    /// Whether the token with this number stands in place of a table.
    pub(super) fn is_table(&self, at: usize) -> bool {
        self.tables.get(at).copied().unwrap_or_default()
    }
}

/// Whether a condition holds for everything: `true`, `1`, `1 = 1`, `not false`.
fn is_always_true(condition: &[Token]) -> bool {
    let rest: Vec<&Token> = condition.iter().take(8).skip_while(|token| token.is('(')).collect();
    let ends = |at: usize| {
        rest.get(at).is_none_or(|token| {
            token.is(')')
                || token.word().is_some_and(|word| {
                    matches!(
                        word,
                        "join"
                            | "left"
                            | "right"
                            | "inner"
                            | "cross"
                            | "full"
                            | "group"
                            | "order"
                            | "limit"
                            | "where"
                            | "having"
                            | "union"
                    )
                })
        })
    };
    match rest.as_slice() {
        [Token::Word(word, _), ..] if word == "true" => ends(1),
        [Token::Word(not, _), Token::Word(word, _), ..] if not == "not" && word == "false" => ends(2),
        [Token::Number(one), sign, Token::Number(other), ..] if sign.is('=') => one == other && ends(3),
        [Token::Quoted(one), sign, Token::Quoted(other), ..] if sign.is('=') => one == other && ends(3),
        [Token::Number(_), sign, Token::Number(_), ..] if sign.is('<') || sign.is('>') => ends(3),
        [Token::Number(_), ..] => ends(1),
        _ => false,
    }
}

impl Level {
    const fn untied(&self) -> usize {
        if self.tied { 0 } else { self.joined }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::{DIALECTS, tokens};
    use super::*;

    fn tables(text: &str) -> Vec<String> {
        let tokens = tokens(text, DIALECTS[0]);
        let places = Places::of(&tokens);
        let shown = |token: &Token| match token {
            Token::Word(word, _) => word.clone(),
            Token::Quoted(text) => format!("'{text}'"),
            Token::Number(number) => number.to_string(),
            Token::Symbol(symbol) => symbol.to_string(),
        };
        tokens.iter().enumerate().filter(|(at, _)| places.is_table(*at)).map(|(_, token)| shown(token)).collect()
    }

    #[test]
    fn tables_are_found() {
        for (text, expected) in [
            ("select a, 'x' from t, 'y.csv' where b in ('p', 'q')", vec!["t", "'y.csv'"]),
            ("select * from a join b on a.x = b.x, c", vec!["a", "b"]),
            ("select trim(both '/' from '/a/') from t", vec!["t"]),
            ("select (select max(x) from u) from t", vec!["u", "t"]),
            ("table t", vec!["t"]),
            ("select * from (a join 'b' on true), only c", vec!["(", "a", "'b'", "c"]),
            ("select * from only (t)", vec!["(", "t"]),
            ("select * from t where a in ('x', 'y')", vec!["t"]),
            ("select 1", vec![]),
        ] {
            assert_eq!(tables(text), expected, "{text}");
        }
    }

    #[test]
    fn tables_that_nothing_ties_together_are_counted() {
        for (text, untied) in [
            ("select 1 from a, b, c", 3),
            ("select 1 from a cross join b cross join c", 3),
            ("select 1 from a, b, c where a.x = b.x", 0),
            ("select 1 from a union select 1 from b", 1),
            ("select 1 from a, unnest(a.x) u", 1),
        ] {
            assert_eq!(Places::of(&tokens(text, DIALECTS[0])).untied, untied, "{text}");
        }
    }
}

//! Queries that hold up the server: texts and counts without measure, joins that multiply, patterns that go back and
//! forth. Numbers are read as they stand; what a table holds is not known.

use super::lexer::Token;
use super::tables::Places;

/// Functions that make a long text or list of a short one, and those that count.
const GROWING: &[&str] = &[
    "repeat",
    "replicate",
    "randomblob",
    "zeroblob",
    "space",
    "lpad",
    "rpad",
    "array_repeat",
    "array_fill",
    "list_resize",
    "arrayresize",
    "randomstring",
    "gen_random_bytes",
    "random_bytes",
    "factorial",
];
const COUNTING: &[&str] =
    &["generate_series", "range", "sequence", "numbers", "numbers_mt", "zeros", "generate_array", "generator"];
/// Functions that fill a text up to a width that their format says.
const FORMATTING: &[&str] = &["printf", "format", "sprintf"];
/// Functions and operators that take a pattern.
const MATCHING: &[&str] = &["regexp", "rlike", "similar", "match", "regexp_match", "regexp_matches", "regexp_like"];

/// No honest text is longer, no honest count goes further, and no honest recursion.
const MAX_GROWTH: u64 = 10_000_000;
const MAX_COUNT: u64 = 50_000_000;
const MAX_DEPTH: u64 = 10_000_000;
/// A number whose factorial fills a page.
const MAX_FACTORIAL: u64 = 5_000;
/// The widest format, and the most tables that nothing ties together.
const MAX_WIDTH: u64 = 1_000_000;
const MAX_UNTIED: usize = 2;

/// What a person should look at, if anything.
pub(super) fn doubt(statement: &[Token], places: &Places) -> Option<String> {
    let word = |at: usize| statement.get(at).and_then(Token::word);
    let recursive = word(0) == Some("with") && word(1) == Some("recursive");
    // A table with itself is as large as its square.
    let doubled = || {
        let tables: Vec<&str> = statement
            .iter()
            .enumerate()
            .filter(|(at, _)| places.is_table(*at))
            .filter_map(|(_, token)| token.word())
            .take(MAX_UNTIED + 1)
            .collect();
        tables.len() == MAX_UNTIED && tables[0] == tables[1]
    };
    if places.untied > MAX_UNTIED || places.untied == MAX_UNTIED && doubled() {
        return Some("tables are multiplied with each other".to_owned());
    }
    let mut calls: Vec<Call<'_>> = Vec::new();
    let (mut growth, mut count) = (1_u64, 1_u64);
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before)).and_then(Token::word);
        match token {
            Token::Symbol('(') => calls.push(Call { name: before.unwrap_or_default(), ..Call::default() }),
            Token::Symbol(')') => {
                if let Some(call) = calls.pop() {
                    let raised = matches!(call.name, "power" | "pow" | "exp");
                    let grows = |outer: &Call<'_>| GROWING.contains(&outer.name) || COUNTING.contains(&outer.name);
                    if raised && calls.last().is_some_and(grows) {
                        return Some(format!("`{}(..)` says how much is made", call.name));
                    }
                    growth = growth.saturating_mul(call.growth());
                    count = count.saturating_mul(call.count());
                    if let Some(why) = call.doubt() {
                        return Some(why);
                    }
                }
            }
            Token::Number(number) => {
                if *number >= MAX_DEPTH && (recursive || counts_levels(statement, at)) {
                    return Some("the query counts very far".to_owned());
                }
                if let Some(call) = calls.last_mut() {
                    call.numbers(*number);
                }
            }
            Token::Quoted(text) => {
                let call = calls.last().map_or("", |call| call.name);
                let pattern = call.starts_with("regexp") || call.starts_with("regex") || MATCHING.contains(&call);
                let compared = before.is_some_and(|word| MATCHING.contains(&word));
                let operator = at.checked_sub(1).and_then(|at| statement.get(at)).is_some_and(|token| token.is('~'));
                if (pattern || compared || operator) && repeats_itself(text) {
                    return Some("the pattern may take forever".to_owned());
                }
                let is_fine =
                    ["second", "millisecond", "microsecond"].iter().any(|unit| text.to_lowercase().contains(unit));
                if COUNTING.contains(&call) && is_fine {
                    return Some(format!("`{call}(..)` counts seconds"));
                }
                if FORMATTING.contains(&call) && widest(text) >= MAX_WIDTH {
                    return Some(format!("`{call}(..)` makes a very long text"));
                }
            }
            Token::Word(word, _) => {
                if word == "maxrecursion" && matches!(statement.get(at + 1), Some(Token::Number(0))) {
                    return Some("the recursion has no bound".to_owned());
                }
                if word == "timelimit" && calls.last().is_some_and(|call| call.name == "generator") {
                    return Some("`generator(..)` runs for a time".to_owned());
                }
            }
            Token::Symbol(symbol) => {
                if let Some(call) = calls.last_mut() {
                    call.multiplies |= *symbol == '*';
                    let shifts = at.checked_sub(1).and_then(|at| statement.get(at)).is_some_and(|token| token.is('<'));
                    call.raises |= *symbol == '^' || *symbol == '<' && shifts;
                }
            }
        }
    }
    if growth >= MAX_GROWTH || count >= MAX_COUNT || growth.saturating_mul(count) >= MAX_GROWTH.saturating_mul(100) {
        return Some("the query makes more than anybody reads".to_owned());
    }
    None
}

/// A call of a function, with the numbers that stand in its brackets.
#[derive(Default)]
struct Call<'a> {
    name: &'a str,
    first: Option<u64>,
    second: Option<u64>,
    product: Option<u64>,
    largest: u64,
    /// Whether its numbers are multiplied with each other, or raised to a power.
    multiplies: bool,
    raises: bool,
}

impl Call<'_> {
    fn numbers(&mut self, number: u64) {
        if self.first.is_none() {
            self.first = Some(number);
        } else if self.second.is_none() {
            self.second = Some(number);
        }
        self.product = Some(self.product.unwrap_or(1).saturating_mul(number.max(1)));
        self.largest = self.largest.max(number);
    }

    fn growth(&self) -> u64 {
        if GROWING.contains(&self.name) { self.product.unwrap_or(1) } else { 1 }
    }

    fn count(&self) -> u64 {
        if !COUNTING.contains(&self.name) {
            return 1;
        }
        let span = match (self.first, self.second) {
            _ if self.multiplies => self.product.unwrap_or(1),
            (Some(from), Some(to)) if self.name != "generator" => from.abs_diff(to),
            (Some(_), _) => self.largest,
            _ => 1,
        };
        span.max(1)
    }

    fn doubt(&self) -> Option<String> {
        let factorial = self.name == "factorial" && self.largest > MAX_FACTORIAL;
        let wide = FORMATTING.contains(&self.name) && self.largest >= MAX_WIDTH;
        let raised = self.raises && (GROWING.contains(&self.name) || COUNTING.contains(&self.name));
        (factorial || wide || raised).then(|| format!("`{}(..)` may hold up the server", self.name))
    }
}

/// `connect by level <= 1000`.
fn counts_levels(statement: &[Token], at: usize) -> bool {
    statement[at.saturating_sub(3)..at].iter().any(|token| token.word() == Some("level"))
}

/// The largest number in a format: `%999999s`.
fn widest(format: &str) -> u64 {
    let numbers = format.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).max().unwrap_or_default()
}

/// Whether a group that repeats has a repetition in it: `(a+)+`.
fn repeats_itself(pattern: &str) -> bool {
    let mut repeats = vec![false];
    let mut letters = pattern.chars().peekable();
    let mut class = false;
    while let Some(c) = letters.next() {
        match c {
            '\\' => {
                letters.next();
            }
            '[' => class = true,
            ']' => class = false,
            _ if class => {}
            '(' => repeats.push(false),
            ')' => {
                let inner = repeats.pop().unwrap_or_default();
                let again = matches!(letters.peek(), Some('*' | '+' | '{'));
                if inner && again {
                    return true;
                }
                if let Some(outer) = repeats.last_mut() {
                    *outer |= inner;
                }
            }
            '*' | '+' => {
                if let Some(here) = repeats.last_mut() {
                    *here = true;
                }
            }
            // `{2,}` repeats without an end as well.
            '{' => {
                let open = letters.clone().take_while(|c| *c != '}').any(|c| c == ',');
                if let Some(here) = repeats.last_mut().filter(|_| open) {
                    *here = true;
                }
            }
            _ => {}
        }
    }
    has_twin_branches(pattern)
        || [".*", ".+", "\\w*", "\\s*"].iter().any(|any| pattern.matches(any).count() > MAX_ANYTHING)
}

/// How often a pattern may have a place for anything.
const MAX_ANYTHING: usize = 6;

/// Whether a group that repeats has two branches of which one begins as the other: `(a|aa)+`.
fn has_twin_branches(pattern: &str) -> bool {
    pattern.match_indices('(').take(MAX_GROUPS).any(|(at, _)| {
        let inner = &pattern[at + 1..];
        let Some(end) = inner.find([')', '(']).filter(|end| inner[*end..].starts_with(')')) else { return false };
        if !inner[end + 1..].starts_with(['*', '+', '{']) {
            return false;
        }
        let branches: Vec<&str> = inner[..end].trim_start_matches("?:").split('|').take(MAX_GROUPS).collect();
        branches.len() > 1
            && branches.iter().enumerate().any(|(at, one)| {
                branches
                    .iter()
                    .enumerate()
                    .any(|(other_at, other)| at != other_at && !one.is_empty() && other.starts_with(one))
            })
    })
}

/// How many groups and branches of a pattern are looked at.
const MAX_GROUPS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_repeat_themselves() {
        for (pattern, expected) in [
            ("^(a+)+$", true),
            ("(a*)*b", true),
            ("((ab)+c)*", true),
            ("(a|aa)+$", true),
            ("(\\d{2,})*x", true),
            ("^[a-z]+@[a-z]+$", false),
            ("(foo|bar)+", false),
            ("(\\d{3})-(\\d+)", false),
            ("[(+]+", false),
        ] {
            assert_eq!(repeats_itself(pattern), expected, "{pattern}");
        }
    }
}

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
    if let Some(why) = unbounded(statement) {
        return Some(why.to_owned());
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
                if let Some(call) = calls.last_mut().filter(|call| COUNTING.contains(&call.name)) {
                    // A number in quotes is one, and years are apart.
                    if let Ok(number) = text.trim().parse::<u64>() {
                        call.numbers(number);
                    }
                    call.dates(text);
                    if call.spans_too_much() {
                        return Some(format!("`{}(..)` counts through centuries", call.name));
                    }
                }
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
    /// The years of dates between which it counts, and whether by less than a day.
    years: Option<(u64, u64)>,
    fine: bool,
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

    fn dates(&mut self, text: &str) {
        let year = text.get(..4).filter(|_| text.get(4..5) == Some("-")).and_then(|year| year.parse::<u64>().ok());
        if let Some(year) = year {
            let (from, to) = self.years.unwrap_or((year, year));
            self.years = Some((from.min(year), to.max(year)));
        }
        let lower = text.to_lowercase();
        self.fine |= lower.contains("minute") || lower.contains("hour");
    }

    /// More days than a century has, or more hours than some years.
    fn spans_too_much(&self) -> bool {
        let span = self.years.map_or(0, |(from, to)| to - from);
        span > 150 || self.fine && span > 5
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

/// Words in hints that say how a query is worked out, and not what it does.
const HINTS: &str = "all_rows append bka broadcast broadcastjoin bnl cardinality coalesce dynamic_sampling first_rows full \
     gather_optimizer_statistics group_index hash hash_join hashjoin index index_desc index_ffs index_merge index_ss \
     indexonlyscan indexscan join_fixed_order join_order join_prefix join_suffix leading mapjoin max_execution_time \
     merge merge_join mergejoin monitor mrr nestloop no_bka no_bnl no_hash_join no_index no_index_merge no_merge \
     no_parallel no_unnest nolock noparallel opt_estimate optimizer_features_enable order_index ordered parallel \
     push_pred qb_name read_from_storage rebalance repartition result_cache rows semijoin seqscan shuffle_hash \
     skewjoin straight_join subquery unnest use_concat use_hash use_index use_merge use_nl";

/// Whether a hint in a comment does more than say how the query is worked out: some set variables.
pub(super) fn hints_more(text: &str) -> bool {
    text.match_indices("/*+").any(|(at, _)| {
        let inner = &text[at + 3..];
        let inner = inner.find("*/").map_or(inner, |end| &inner[..end]);
        let mut depth = 0_usize;
        let mut word = String::new();
        let mut known = true;
        for c in inner.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.extend(c.to_lowercase());
                continue;
            }
            known &= depth > 0 || word.is_empty() || crate::listed(HINTS, word.as_str());
            word.clear();
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        !known
    })
}

/// The most texts that are put together, and calls of one function in each other, that somebody means.
const MAX_JOINED: usize = 24;
const MAX_NESTED: usize = 4;

/// What goes on without a measure, whatever the numbers say.
fn unbounded(statement: &[Token]) -> Option<&'static str> {
    let word = |at: usize| statement.get(at).and_then(Token::word);
    let symbol = |at: usize, symbol: char| statement.get(at).is_some_and(|token| token.is(symbol));
    let (mut joined, mut replaced, mut is_joined) = (0, 0, false);
    for at in 0..statement.len() {
        joined += usize::from(symbol(at, '|') && symbol(at + 1, '|'));
        match word(at) {
            Some("connect") if word(at + 1) == Some("by") => {
                let rest = &statement[at..];
                let ties = rest.iter().any(|token| token.word() == Some("prior"));
                let counts =
                    rest.windows(2).any(|two| matches!(two[0].word(), Some("level" | "rownum")) && two[1].is('<'));
                if !ties && !counts {
                    return Some("the levels have no bound");
                }
            }
            // Limits of the server are set by the query itself.
            Some("settings") if word(at + 1).is_some_and(|name| name != "max_threads") && symbol(at + 2, '=') => {
                return Some("the statement has settings of its own");
            }
            Some("combinations" | "permutations" | "cartesian_product") if symbol(at + 1, '(') => {
                return Some("all combinations of something are made");
            }
            Some("replace" | "translate" | "concat" | "regexp_replace") if symbol(at + 1, '(') => {
                replaced += usize::from(word(at) == word(at + 2));
            }
            Some("join") => is_joined = true,
            Some("on")
                if is_joined
                    && at.checked_sub(1).and_then(word) != Some("distinct")
                    && joins_by_difference(&statement[at + 1..]) =>
            {
                return Some("tables are multiplied with each other");
            }
            _ => {}
        }
    }
    (joined > MAX_JOINED || replaced >= MAX_NESTED).then_some("a text is put together again and again")
}

/// Whether a condition of a join holds for many of all pairs of rows: it says what differs, what is less or like another, or nothing.
fn joins_by_difference(condition: &[Token]) -> bool {
    const ENDS: [&str; 16] = [
        "join", "left", "right", "inner", "cross", "full", "where", "group", "order", "limit", "having", "union",
        "qualify", "window", "except", "on",
    ];
    let end = condition
        .iter()
        .position(|token| token.word().is_some_and(|word| ENDS.contains(&word)) || token.is(')'))
        .unwrap_or(condition.len());
    let condition = &condition[..end];
    let differs = condition.windows(2).any(|two| two[1].is('=') && two[0].is('!') || two[0].is('<') && two[1].is('>'));
    let equal = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| condition.get(before));
        condition[at].is('=') && !before.is_some_and(|before| before.is('!') || before.is('<') || before.is('>'))
    };
    // `a.id = a.id` holds for every row.
    let itself = |at: usize| {
        let side = |from: usize| condition.get(from..from + 3);
        at >= 3
            && side(at - 3).is_some()
            && side(at - 3) == side(at + 1)
            && condition.get(at - 2).is_some_and(|dot| dot.is('.'))
    };
    let same = (0..condition.len()).any(|at| equal(at) && !itself(at));
    let none = !condition.iter().any(|token| {
        token.is('=')
            || token.word().is_some_and(|word| {
                matches!(word, "true" | "between" | "in" | "using")
                    || word.starts_with("st_")
                    || word.contains("overlap")
                    || word.contains("contain")
            })
            || token.is('@')
            || token.is('&')
    });
    !condition.is_empty() && !same && (differs || none || (0..condition.len()).any(|at| equal(at) && itself(at)))
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

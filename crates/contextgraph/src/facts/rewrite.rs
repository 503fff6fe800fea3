//! Many ways to put one thing become one: contractions, numerals, dates, times, units, listed phrases, passive, inversion, lists.

use super::lexicon;
use super::phrases::{self, BEEN};
use crate::text;

/// Words of a sentence that are read; one with more says the same as another only if it is the same.
pub(super) const MAX_TOKENS: usize = 512;

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) lower: String,
    /// Whether it is written as a name is.
    pub(super) named: bool,
    /// Whether a comma stands before it.
    pub(super) comma: bool,
    /// Whether it owns what follows.
    pub(super) owns: bool,
}

impl Token {
    fn of(lower: &str) -> Self {
        Self { lower: lower.to_owned(), named: false, comma: false, owns: false }
    }
}

pub(super) fn is_verb(lower: &str) -> bool {
    lexicon::verb(lower).is_some() || matches!(lower, "steht" | "liegt" | "hängt" | "sits" | "stands" | "can" | "must")
}

/// The sentences of a text. A point between digits, or between a number and a month, ends none.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + c.len_utf8()).copied();
        let digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        let ends = match c {
            '.' => !digit(before) && after.is_none_or(|byte| !byte.is_ascii_alphanumeric()),
            '!' | '?' | ';' | '\n' | '。' => true,
            _ => false,
        };
        if ends {
            out.push(&text[from..at]);
            from = at + c.len_utf8();
        }
    }
    out.push(&text[from..]);
    out.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

/// Numerals, days and endings in scripts without spaces, as one of the ways to write them.
pub(super) fn spaceless(text: &str) -> String {
    let asian = |c: char| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    if !text.chars().any(asian) {
        return text.to_owned();
    }
    let mut out = text.trim().trim_end_matches(['。', '.', '!', '！']).to_owned();
    for (written, stands) in phrases::SPACELESS {
        // Days keep their numeral: it is one in both ways to write them.
        if out.contains(written) {
            out = out.replace(written, stands);
        }
    }
    out = korean_numerals(&days_of_month(&out));
    if let Some((ending, stands)) = phrases::ENDINGS.iter().find(|(ending, _)| out.ends_with(ending)) {
        out.truncate(out.len() - ending.len());
        out.push_str(stands);
    }
    out
}

/// The sign that Chinese says for the day of a month, as the one it writes.
fn days_of_month(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let digit = out.chars().next_back().is_some_and(|before| before.is_ascii_digit());
        out.push(if c == '号' && digit && out.contains('月') { '日' } else { c });
    }
    out
}

/// Korean numerals before what they count, and of dates, as digits: `세 시`, `오월 이일`.
fn korean_numerals(text: &str) -> String {
    let sino = |word: &str| -> Option<u32> {
        let mut sum = 0;
        let mut last = None;
        for c in word.chars() {
            if c == '십' {
                sum += 10 * last.take().unwrap_or(1);
            } else {
                let value = "일이삼사오육칠팔구".chars().position(|digit| digit == c)? as u32 + 1;
                last = last.is_none().then_some(value);
                last?;
            }
        }
        (!word.is_empty()).then_some(sum + last.unwrap_or(0))
    };
    let mut out: Vec<String> = Vec::new();
    let (mut native, mut month) = (None, false);
    for word in text.split_whitespace() {
        if let Some(number) = native.take() {
            match out.last_mut().filter(|_| phrases::KOREAN_COUNTERS.iter().any(|counter| word.starts_with(counter))) {
                Some(last) => *last = format!("{number}{word}"),
                None => out.push(word.to_owned()),
            }
            month = false;
            continue;
        }
        native = phrases::KOREAN_NUMERALS.iter().find(|(written, _)| *written == word).map(|(_, number)| *number);
        let of_date = |sign: char| {
            let (number, rest) = word.rsplit_once(sign)?;
            Some(format!("{}{sign}{rest}", sino(number)?))
        };
        let date = of_date('월').or_else(|| of_date('일').filter(|_| month));
        month = word.contains('월');
        out.push(date.unwrap_or_else(|| word.to_owned()));
    }
    out.join(" ")
}

/// Thousands without a point or a space between them, where the language writes them so: `12.000`, `12 000`.
pub(super) fn thousands(text: &str) -> String {
    use crate::text::language::TextLanguage;
    let digit = |c: Option<&char>| c.is_some_and(char::is_ascii_digit);
    if !text.contains(|c: char| c.is_ascii_digit())
        || matches!(TextLanguage::of(text), None | Some(TextLanguage::English | TextLanguage::Spaceless))
    {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    for (at, c) in letters.iter().enumerate() {
        let before = letters[..at].iter().rev().take_while(|c| c.is_ascii_digit()).count();
        let after = letters[at + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
        // A fourth group, or a point behind them, is of an address, a date or a version.
        let alone = !matches!(letters.get(at + 4), Some('.')) || !digit(letters.get(at + 5));
        let first = letters[..at].get(at.wrapping_sub(before + 1)).is_none_or(|c| !"./:-".contains(*c));
        let groups = matches!(c, '.' | ' ' | '\u{a0}' | '\u{202f}') && (1..=3).contains(&before) && after == 3;
        if groups && alone && first && letters[at - before] != '0' {
            continue;
        }
        out.push(*c);
    }
    out
}

pub(super) fn read(sentence: &str, out: &mut Vec<Token>) {
    let mut comma = false;
    let mut first = true;
    // What is all in capitals has no names by them.
    let shouts = !sentence.chars().any(char::is_lowercase);
    let timed = has_time(sentence);
    let cuts =
        |c: char| c.is_whitespace() || "/()[]{}\"\u{201c}\u{201d}\u{ab}\u{bb}".contains(c) || (c == ':' && !timed);
    for raw in sentence.split(cuts) {
        if out.len() > MAX_TOKENS {
            return;
        }
        let starts = raw.starts_with(',');
        let ends = raw.ends_with(',');
        for (part_at, part) in raw.split(',').enumerate() {
            let inner = part_at > 0;
            let joined = inner && part.chars().next().is_some_and(|c| c.is_ascii_digit());
            if joined && out.last().is_some_and(|token| token.lower.chars().all(|c| c.is_ascii_digit())) {
                // A thousand.
                if let Some(token) = out.last_mut() {
                    token.lower.push_str(part.trim_matches(|c: char| !c.is_alphanumeric()));
                }
                continue;
            }
            let bare = part.trim_matches(|c: char| !c.is_alphanumeric() && !"$€£¥%".contains(c));
            if bare.is_empty() {
                continue;
            }
            split(bare, first || shouts, comma || starts || inner, out);
            first = false;
            comma = false;
        }
        comma |= ends;
    }
}

/// Whether a colon stands between digits: it is of a time.
fn has_time(sentence: &str) -> bool {
    let is_time = |three: &[u8]| three[1] == b':' && three[0].is_ascii_digit() && three[2].is_ascii_digit();
    sentence.as_bytes().windows(3).any(is_time)
}

/// One written word as tokens: without what is drawn together with it.
fn split(written: &str, first: bool, comma: bool, out: &mut Vec<Token>) {
    let lower = written.to_lowercase();
    let mut letters = written.chars();
    let capital = letters.next().is_some_and(char::is_uppercase);
    let shout = written.chars().count() > 1 && !written.chars().any(char::is_lowercase);
    let named = (capital && !first) || (letters.any(char::is_uppercase) && !shout);
    let mut comma = comma;
    let mut push = |lower: &str, named: bool, owns: bool| {
        out.push(Token { lower: lower.to_owned(), named, comma: std::mem::take(&mut comma), owns });
    };
    if let Some(base) = lower.strip_suffix("n't") {
        let base = match base {
            "ca" => "can",
            "wo" => "will",
            "sha" => "shall",
            base => base,
        };
        push(base, false, false);
        push("not", false, false);
        return;
    }
    if lower == "cannot" {
        push("can", false, false);
        push("not", false, false);
        return;
    }
    for (ending, stands) in [("'re", "are"), ("'ll", "will"), ("'ve", "have"), ("'m", "am")] {
        if let Some(base) = lower.strip_suffix(ending) {
            push(base, named, false);
            push(stands, false, false);
            return;
        }
    }
    if let Some(base) = lower.strip_suffix("'s") {
        push(base, named, true);
        return;
    }
    for article in ["l'", "d'", "n'", "j'", "s'", "c'", "m'", "t'", "qu'"] {
        if let Some(base) = lower.strip_prefix(article).filter(|base| !base.is_empty()) {
            if article == "n'" {
                push("ne", false, false);
            }
            push(base, named && !first, false);
            return;
        }
    }
    // A unit that is written to its number.
    let digits = lower.trim_start_matches(['$', '€', '£', '¥']);
    let sign = &lower[..lower.len() - digits.len()];
    let end = digits.find(|c: char| !c.is_ascii_digit() && !".:".contains(c)).unwrap_or(digits.len());
    let (number, unit) = digits.split_at(end);
    let is_unit = unit.is_empty() || ["am", "pm", "st", "nd", "rd", "th"].contains(&unit) || unit_word(unit).is_some();
    if number.starts_with(|c: char| c.is_ascii_digit()) && is_unit {
        push(number.trim_end_matches(['.', ':']), false, false);
        let ordinal = ["st", "nd", "rd", "th"].contains(&unit);
        for unit in [unit, sign].into_iter().filter(|unit| !unit.is_empty() && !ordinal) {
            push(unit_word(unit).unwrap_or(unit), false, false);
        }
        return;
    }
    if let Some(unit) = unit_word(&lower).filter(|_| digits.is_empty() || lower == "%") {
        // A sign that stands apart from its number.
        push(unit, false, false);
        return;
    }
    if let Some(joined) = lexicon::compound_numeral(&lower) {
        push(&joined, false, false);
        return;
    }
    let lower = if named { lower } else { one_spelling(lower) };
    let hyphenless = lower.replace('-', "");
    let plain = !named && lower.contains('-') && lower.chars().all(|c| c.is_alphabetic() || c == '-');
    // Where a word is cut is a habit; a name of a thing is not cut.
    let spelt = if plain || (hyphenless == "wifi" || hyphenless == "email") { hyphenless } else { lower };
    let named = named && spelt != "wifi" && spelt != "email";
    push(&spelt, named, false);
}

/// British and American English as one: neighbour and neighbor, travelled and traveled, centre and center, organise and organize. Short
/// words are left alone: a filling is no filing.
fn one_spelling(lower: String) -> String {
    if lower.len() < 5 || !lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return lower;
    }
    const ENDINGS: &[(usize, &str, &str)] = &[
        (8, "lled", "led"),
        (8, "lling", "ling"),
        (8, "ller", "ler"),
        (8, "llers", "lers"),
        (5, "metre", "meter"),
        (6, "metres", "meters"),
        (5, "litre", "liter"),
        (6, "litres", "liters"),
        (6, "centre", "center"),
        (7, "centres", "centers"),
        (7, "theatre", "theater"),
        (5, "fibre", "fiber"),
        (7, "ogue", "og"),
        (8, "ogues", "ogs"),
        (7, "ise", "ize"),
        (8, "ised", "ized"),
        (8, "ises", "izes"),
        (8, "ising", "izing"),
        (8, "isation", "ization"),
        (7, "yse", "yze"),
        (8, "ysed", "yzed"),
    ];
    if let Some((_, british, american)) =
        ENDINGS.iter().find(|(least, british, _)| lower.len() >= *least && lower.ends_with(british))
    {
        return format!("{}{american}", &lower[..lower.len() - british.len()]);
    }
    match lower.find("our").filter(|at| *at > 2 && lower.len() > 5) {
        // Not of the numerals, nor of `hour` and `tour` at the beginning of a word.
        Some(at) if !lower.starts_with("four") => format!("{}or{}", &lower[..at], &lower[at + 3..]),
        _ => lower,
    }
}

fn unit_word(unit: &str) -> Option<&'static str> {
    phrases::UNITS.iter().find(|(written, _)| *written == unit).map(|(_, word)| *word)
}

/// Brings the tokens of a sentence to one of the ways to put it.
pub(super) fn rewrite(tokens: &mut Vec<Token>) {
    numerals(tokens);
    contracted(tokens);
    regular_days(tokens);
    for token in tokens.iter_mut() {
        if let Some((_, day)) = phrases::DAYS.iter().find(|(short, _)| *short == token.lower) {
            (*day).clone_into(&mut token.lower);
        }
    }
    times(tokens);
    dates(tokens);
    for (pattern, stands) in phrases::PHRASES {
        replace(tokens, pattern, stands);
    }
    for (verbs, mark, stands) in phrases::PREFERENCES {
        preference(tokens, verbs, mark, stands);
    }
    for (verb, behind, whole) in phrases::SEPARABLE {
        if let Some(at) = tokens.iter().position(|token| token.lower == *verb)
            && let Some(last) = tokens.iter().rposition(|token| token.lower == *behind).filter(|last| *last > at)
        {
            tokens.remove(last);
            (*whole).clone_into(&mut tokens[at].lower);
        }
    }
    there_is(tokens);
    active(tokens);
    inverted(tokens);
    lists(tokens);
}

fn replace(tokens: &mut Vec<Token>, pattern: &[&str], stands: &[&str]) {
    let mut at = 0;
    while at + pattern.len() <= tokens.len() {
        let run = &tokens[at..at + pattern.len()];
        if run.iter().zip(pattern).all(|(token, word)| token.lower == *word && !token.owns) {
            let comma = run[0].comma;
            let with: Vec<Token> = stands
                .iter()
                .enumerate()
                .map(|(place, word)| Token { comma: comma && place == 0, ..Token::of(word) })
                .collect();
            let length = with.len();
            tokens.splice(at..at + pattern.len(), with);
            at += length.max(1);
        } else {
            at += 1;
        }
    }
}

/// `'s` that is `is`: before an article, a preposition, a participle.
fn contracted(tokens: &mut Vec<Token>) {
    let mut at = 0;
    while at < tokens.len() {
        let verb = tokens.get(at + 1).is_some_and(|next| {
            let lower = next.lower.as_str();
            matches!(lower, "a" | "an" | "the" | "not" | "been" | "now" | "in" | "on" | "at" | "going" | "under")
                || (lower.len() > 4 && (lower.ends_with("ing") || lower.ends_with("ed")))
        });
        let pronoun =
            matches!(tokens[at].lower.as_str(), "it" | "he" | "she" | "that" | "there" | "what" | "who" | "here");
        if tokens[at].owns && (verb || pronoun) {
            tokens[at].owns = false;
            let is = if tokens.get(at + 1).is_some_and(|next| next.lower == "been") { "has" } else { "is" };
            tokens.insert(at + 1, Token::of(is));
            at += 1;
        }
        at += 1;
    }
}

/// "On Mondays" is "every Monday", and not "on Monday".
fn regular_days(tokens: &mut Vec<Token>) {
    let mut at = 0;
    while at < tokens.len() {
        let word = tokens[at].lower.as_str();
        let day = phrases::DAYS.iter().find(|(written, _)| *written == word && word.ends_with('s') && word.len() > 5);
        if let Some((_, day)) = day {
            let every = if phrases::is_english_day(day) { "every" } else { "jeden" };
            (*day).clone_into(&mut tokens[at].lower);
            let told =
                at.checked_sub(1).is_some_and(|before| matches!(tokens[before].lower.as_str(), "every" | "jeden"));
            match at.checked_sub(1).filter(|before| tokens[*before].lower == "on") {
                Some(before) => every.clone_into(&mut tokens[before].lower),
                None if told => {}
                None => {
                    let comma = std::mem::take(&mut tokens[at].comma);
                    tokens.insert(at, Token { comma, ..Token::of(every) });
                    at += 1;
                }
            }
        }
        at += 1;
    }
}

/// Numerals as digits: `twenty four`, `two hundred`.
fn numerals(tokens: &mut Vec<Token>) {
    for token in tokens.iter_mut() {
        if let Some(digits) = lexicon::numeral(&token.lower).or_else(|| lexicon::ordinal(&token.lower)) {
            digits.clone_into(&mut token.lower);
            token.named = false;
        }
    }
    let value = |token: &Token| token.lower.parse::<u64>().ok();
    let mut at = 0;
    while at + 1 < tokens.len() {
        let joined = match (value(&tokens[at]), value(&tokens[at + 1])) {
            (Some(tens @ (20 | 30 | 40 | 50 | 60 | 70 | 80 | 90)), Some(ones @ 1..=9)) => Some(tens + ones),
            (Some(few @ 1..=99), Some(hundred @ (100 | 1_000))) => Some(few * hundred),
            (Some(many), Some(rest)) if many >= 100 && many % 100 == 0 && rest < 100 && rest > 0 => Some(many + rest),
            _ => None,
        };
        match joined {
            // Only words are put together: digits that stand side by side are two numbers.
            Some(joined) if tokens[at].comma == tokens[at + 1].comma && !tokens[at + 1].comma => {
                tokens[at].lower = joined.to_string();
                tokens.remove(at + 1);
            }
            _ => at += 1,
        }
    }
}

/// Times of the day by 24 hours; full hours as a number.
fn times(tokens: &mut Vec<Token>) {
    let hour =
        |token: Option<&Token>| token.and_then(|token| token.lower.parse::<u32>().ok()).filter(|hour| *hour <= 24);
    let mut at = 0;
    while at < tokens.len() {
        let lower = tokens[at].lower.clone();
        let clock = |hour: u32, minute: u32| if minute == 0 { hour.to_string() } else { format!("{hour}:{minute:02}") };
        let past =
            (lower == "half" || lower == "quarter") && tokens.get(at + 1).is_some_and(|token| token.lower == "past");
        let to = lower == "quarter" && tokens.get(at + 1).is_some_and(|token| token.lower == "to");
        let halb = lower == "halb" && hour(tokens.get(at + 1)).is_some();
        if (past || to)
            && let Some(hour) = hour(tokens.get(at + 2))
        {
            let minute = if lower == "half" { 30 } else { 15 };
            tokens[at].lower = if past { clock(hour, minute) } else { clock(hour.max(1) - 1, 45) };
            tokens.drain(at + 1..at + 3);
        } else if halb && let Some(hour) = hour(tokens.get(at + 1)) {
            tokens[at].lower = clock(hour.max(1) - 1, 30);
            tokens.remove(at + 1);
        } else if let Some((hours, minutes)) = lower.split_once(':')
            && let (Ok(hours), Ok(minutes)) = (hours.parse::<u32>(), minutes.parse::<u32>())
            && hours <= 24
            && minutes < 60
        {
            tokens[at].lower = clock(hours, minutes);
        }
        let (hours, minutes) = match tokens[at].lower.split_once(':') {
            Some((hours, minutes)) => (hours.parse::<u32>().ok(), minutes.parse::<u32>().unwrap_or(0)),
            None => (tokens[at].lower.parse::<u32>().ok(), 0),
        };
        let half_day = tokens.get(at + 1).map(|token| token.lower.as_str()).filter(|half| matches!(*half, "am" | "pm"));
        if let (Some(hours @ 1..=12), Some(half)) = (hours, half_day) {
            let hours = hours % 12 + if half == "pm" { 12 } else { 0 };
            tokens[at].lower = clock(hours, minutes);
            tokens.remove(at + 1);
        }
        let is_number = tokens[at].lower.starts_with(|c: char| c.is_ascii_digit());
        if is_number && tokens.get(at + 1).is_some_and(|token| phrases::OF_THE_CLOCK.contains(&token.lower.as_str())) {
            tokens.remove(at + 1);
        }
        at += 1;
    }
}

/// Dates in one form: the year where there is one, month and day.
fn dates(tokens: &mut Vec<Token>) {
    let number = |token: Option<&Token>, most: u32| {
        token.and_then(|token| token.lower.parse::<u32>().ok()).filter(|number| (1..=most).contains(number))
    };
    let year = |token: Option<&Token>| number(token, 2_999).filter(|year| *year >= 1_000);
    let mut at = 0;
    while at < tokens.len() {
        let lower = tokens[at].lower.clone();
        let parts: Vec<u32> = lower.split(['-', '.']).map_while(|part| part.parse().ok()).collect();
        if let [first, month @ 1..=12, last] = parts[..]
            && lower.split(['-', '.']).count() == 3
        {
            let date = if first >= 1_000 && last <= 31 {
                Some((first, last))
            } else if last >= 1_000 && first <= 31 && lower.contains('.') {
                Some((last, first))
            } else {
                None
            };
            if let Some((year, day)) = date {
                tokens[at].lower = format!("{year:04}-{month:02}-{day:02}");
            }
        } else if let Some(month) = phrases::month(&lower) {
            let of = at.checked_sub(1).is_some_and(|before| matches!(tokens[before].lower.as_str(), "of" | "de"));
            let before = at.checked_sub(1 + usize::from(of));
            let day_before = before.and_then(|before| number(tokens.get(before), 31));
            let day_after = number(tokens.get(at + 1), 31);
            let (from, mut to, day) = match (day_before, day_after) {
                (Some(day), _) => (before.unwrap_or(at), at + 1, Some(day)),
                (None, Some(day)) => (at, at + 2, Some(day)),
                (None, None) => (at, at + 1, None),
            };
            to += usize::from(
                tokens.get(to).is_some_and(|token| matches!(token.lower.as_str(), "of" | "de" | "del"))
                    && year(tokens.get(to + 1)).is_some(),
            );
            let year = year(tokens.get(to));
            to += usize::from(year.is_some());
            let date = match (year, day) {
                (Some(year), Some(day)) => Some(format!("{year:04}-{month:02}-{day:02}")),
                (None, Some(day)) => Some(format!("-{month:02}-{day:02}")),
                // "May" alone may be a verb; others are a month in any language.
                (Some(year), None) => Some(format!("{year:04}-{month:02}")),
                (None, None) => None,
            };
            if let Some(date) = date {
                tokens.splice(from..to, [Token::of(&date)]);
                at = from;
            }
        }
        at += 1;
    }
}

/// "Likes tea best" is "prefers tea".
fn preference(tokens: &mut Vec<Token>, verbs: &[&str], mark: &[&str], stands: &str) {
    let Some(at) = tokens.iter().position(|token| verbs.contains(&token.lower.as_str())) else { return };
    let Some(last) = tokens.iter().rposition(|token| mark.contains(&token.lower.as_str())).filter(|last| *last > at)
    else {
        return;
    };
    tokens.remove(last);
    if last > 0 && tokens.get(last - 1).is_some_and(|token| matches!(token.lower.as_str(), "the" | "le")) {
        tokens.remove(last - 1);
    }
    stands.clone_into(&mut tokens[at].lower);
}

/// "There are three rooms in the house" is "the house has three rooms".
fn there_is(tokens: &mut Vec<Token>) {
    if tokens.len() < 5 || tokens[0].lower != "there" || !matches!(tokens[1].lower.as_str(), "is" | "are") {
        return;
    }
    if tokens.iter().any(|token| lexicon::is_negation(&token.lower)) {
        return;
    }
    let Some(inside) = tokens.iter().rposition(|token| token.lower == "in").filter(|at| *at > 2) else { return };
    let what = tokens[2..inside].to_vec();
    let place = tokens[inside + 1..].to_vec();
    if place.is_empty() {
        return;
    }
    *tokens = place;
    tokens.push(Token::of("has"));
    tokens.extend(what);
}

/// "The boiler was repaired by Tom" is "Tom repaired the boiler".
fn active(tokens: &mut Vec<Token>) {
    let Some(by) = tokens.iter().position(|token| token.lower == "by").filter(|at| *at >= 3) else { return };
    let Some(be) = tokens[..by]
        .iter()
        .rposition(|token| matches!(token.lower.as_str(), "is" | "are" | "was" | "were") || token.lower == BEEN)
    else {
        return;
    };
    let verb = &tokens[by - 1].lower;
    let participle = verb.ends_with("ed") || lexicon::participle(verb).is_some();
    if be == 0 || by - be > 3 || by - be < 2 || !participle {
        return;
    }
    let ends = |token: &Token| {
        let lower = token.lower.as_str();
        phrases::PREPOSITIONS.contains(&lower) || phrases::month(lower).is_some()
    };
    let end = (by + 1..tokens.len()).find(|at| ends(&tokens[*at])).unwrap_or(tokens.len());
    if end == by + 1 {
        return;
    }
    let now = matches!(tokens[be].lower.as_str(), "is" | "are");
    let mut verb = tokens[by - 1].clone();
    if let Some(past) = lexicon::participle(&verb.lower) {
        past.clone_into(&mut verb.lower);
    }
    if now {
        // "Is owned by" is "owns", and not "owned".
        verb.lower = text::stem(&verb.lower);
    }
    let mut out: Vec<Token> = tokens[by + 1..end].to_vec();
    out.extend(tokens[be + 1..by - 1].iter().cloned());
    out.push(verb);
    out.extend(tokens[..be].iter().cloned());
    out.extend(tokens[end..].iter().cloned());
    *tokens = out;
}

/// "The owner of the van is Paul" is "Paul is the owner of the van": of two sides that are the same the one that sorts first stands first.
fn inverted(tokens: &mut Vec<Token>) {
    let copula = |token: &Token| matches!(token.lower.as_str(), "is" | "are" | "named" | "ist" | "est" | "es");
    let mut found = (0..tokens.len()).filter(|at| copula(&tokens[*at]));
    let (Some(at), None) = (found.next(), found.next()) else { return };
    let (left, right) = (&tokens[..at], &tokens[at + 1..]);
    let definite = |side: &[Token]| {
        side.first().is_some_and(|first| {
            first.owns
                || matches!(
                    first.lower.as_str(),
                    "the" | "my" | "our" | "der" | "die" | "das" | "mein" | "meine" | "le" | "la" | "el"
                )
        }) && side.len() > 1
    };
    let single = |side: &[Token]| side.len() == 1 || side.iter().all(|token| token.named);
    let same = (definite(right) && (definite(left) || single(left)))
        || (definite(left) && single(right) && (names_one(left) || is_digits(right)));
    if left.is_empty() || right.is_empty() || !same || tokens.iter().any(|token| lexicon::is_negation(&token.lower)) {
        return;
    }
    // What is one word or a name stands first; else what sorts first by its words.
    let place = |side: &[Token]| {
        let mut words: Vec<&str> =
            side.iter().map(|token| token.lower.as_str()).filter(|word| !lexicon::is_filler(word)).collect();
        words.sort_unstable();
        (!single(side), words.join(" "))
    };
    if place(right) < place(left) {
        let mut out = right.to_vec();
        out.push(tokens[at].clone());
        out.extend(left.iter().cloned());
        *tokens = out;
    }
}

/// Whether a side is digits alone: a code, a number, a year, of which there is one.
fn is_digits(side: &[Token]) -> bool {
    matches!(side, [one] if one.lower.len() > 2 && one.lower.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a side is of something of which there is one: then what it is is the same thing.
fn names_one(side: &[Token]) -> bool {
    side.iter().any(|token| lexicon::has_one_value(&token.lower, &text::stem(&token.lower)))
        || side
            .iter()
            .any(|token| matches!(token.lower.as_str(), "owner" | "head" | "sister" | "brother" | "wife" | "husband"))
}

/// Sorts what is told in a list: "A, B and C". Items of one word each.
fn lists(tokens: &mut [Token]) {
    let conjunction =
        |token: &Token| matches!(token.lower.as_str(), "and" | "und" | "et" | "y" | "и" | "e" | "as well as");
    for last in (1..tokens.len().saturating_sub(1)).rev() {
        if !conjunction(&tokens[last]) {
            continue;
        }
        let item = |token: &Token| {
            !conjunction(token)
                && !lexicon::is_filler(&token.lower)
                && !lexicon::is_negation(&token.lower)
                && !phrases::PREPOSITIONS.contains(&token.lower.as_str())
                && !token.lower.starts_with(|c: char| c.is_ascii_digit())
                && !token.owns
        };
        // Behind the last item something else begins, or nothing.
        let free = tokens.get(last + 2).is_none_or(|next| !item(next) || is_verb(&next.lower));
        if !item(&tokens[last - 1]) || !item(&tokens[last + 1]) || !free {
            continue;
        }
        let mut from = last - 1;
        while from > 0 && tokens[from].comma && item(&tokens[from - 1]) {
            from -= 1;
        }
        let mut items: Vec<Token> = tokens[from..last].to_vec();
        items.push(tokens[last + 1].clone());
        let before_verb =
            from > 0 && !is_verb(&tokens[from - 1].lower) && items.len() == 2 && !items.iter().all(|one| one.named);
        if before_verb {
            // "big red and green": the first word may belong to what stands before it.
            continue;
        }
        items.sort_by(|a, b| a.lower.cmp(&b.lower));
        let named = items.iter().any(|one| one.named);
        for (place, mut item) in items.into_iter().enumerate() {
            item.comma = false;
            item.named |= named;
            let at = if from + place < last { from + place } else { last + 1 };
            tokens[at] = item;
        }
    }
}

//! Patterns of a schema: whether they compile as ECMAScript, and whether a backtracking reader could be held up by them.
//!
//! A loop is refused when the same text can go through it in more than one way: then a text that fails in the end is
//! tried in exponentially many. Sets of characters are compared over ASCII and one class for everything else.

use oxc_allocator::Allocator;
use oxc_regular_expression::ast::{Alternative, CharacterClassContents, CharacterClassEscapeKind, Disjunction, Term};
use oxc_regular_expression::{LiteralParser, Options};

const MOST_BYTES: usize = 4_000;
const DEEPEST: usize = 40;
/// Groups and classes of a pattern that is only compiled: however they nest, the parser gets through.
const MOST_GROUPS: usize = 400;
/// The most copies that counted repetitions inside each other make of their body.
const MOST_COPIES: u64 = 100_000;
/// A counted repetition of more than this is taken as unbounded.
const MANY: u64 = 20;

/// Whether a pattern compiles as ECMAScript with the Unicode flag.
pub(super) fn is_pattern(pattern: &str) -> bool {
    let allocator = Allocator::default();
    let nested = pattern.bytes().filter(|byte| matches!(byte, b'(' | b'[')).count();
    pattern.len() <= MOST_BYTES
        && nested <= MOST_GROUPS
        && LiteralParser::new(&allocator, pattern, Some("u"), Options::default()).parse().is_ok()
}

/// Why a pattern is not accepted.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    if pattern.len() > MOST_BYTES {
        return Err(format!("longer than {MOST_BYTES} bytes"));
    }
    let mut depth = 0usize;
    for byte in pattern.bytes() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err("nested too deeply".to_owned());
        }
    }
    let allocator = Allocator::default();
    let parse = |flags: &'static str| LiteralParser::new(&allocator, pattern, Some(flags), Options::default()).parse();
    // Schemas are written for readers with and without the Unicode flag.
    let parsed = parse("u").or_else(|_| parse("")).map_err(|error| format!("does not compile: {}", error.message))?;
    disjunction(&parsed.body, 1)
}

type Set = [bool; 129];

fn disjunction(body: &Disjunction<'_>, copies: u64) -> Result<(), String> {
    body.body.iter().try_for_each(|alternative| terms(alternative, copies))
}

fn terms(alternative: &Alternative<'_>, copies: u64) -> Result<(), String> {
    alternative.body.iter().try_for_each(|term| match term {
        Term::Quantifier(quantifier) => {
            let copies = copies.saturating_mul(quantifier.max.unwrap_or(quantifier.min).max(1));
            if copies > MOST_COPIES {
                return Err("repeats too often".to_owned());
            }
            if quantifier.max.is_none_or(|max| max > MANY)
                && let Some(inner) = group(&quantifier.body)
                && ambiguous(inner)
            {
                return Err("a loop that can match the same text in many ways".to_owned());
            }
            match group(&quantifier.body) {
                Some(inner) => disjunction(inner, copies),
                None => Ok(()),
            }
        }
        term => group(term).map_or(Ok(()), |inner| disjunction(inner, copies)),
    })
}

fn group<'t, 'a>(term: &'t Term<'a>) -> Option<&'t Disjunction<'a>> {
    match term {
        Term::CapturingGroup(group) => Some(&group.body),
        Term::IgnoreGroup(group) => Some(&group.body),
        Term::LookAroundAssertion(look) => Some(&look.body),
        _ => None,
    }
}

/// Whether going round a loop over this body can match one text in several ways.
fn ambiguous(body: &Disjunction<'_>) -> bool {
    for alternative in &body.body {
        for (at, term) in alternative.body.iter().enumerate() {
            let (set, loops) = match term {
                Term::Quantifier(inner) => {
                    let unbounded = inner.max.is_none_or(|max| max > MANY) && Some(inner.min) != inner.max;
                    (term_set(&inner.body), unbounded)
                }
                // A loop in a group of its own inside the loop.
                term => (term_set(term), group(term).is_some_and(ambiguous)),
            };
            if !loops {
                continue;
            }
            // What else one round has to match: where all of it can be eaten by the inner loop, rounds have no end
            // of their own.
            let rest = alternative.body.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, term)| term);
            let separated = rest.into_iter().any(|term| !nullable(term) && !overlaps(&term_set(term), &set));
            if !separated {
                return true;
            }
        }
    }
    let alternatives: Vec<&Alternative<'_>> = body.body.iter().collect();
    alternatives.iter().enumerate().any(|(at, one)| alternatives[..at].iter().any(|other| same_text(one, other)))
}

/// Whether two alternatives can match one text, as far as their single characters tell.
fn same_text(one: &Alternative<'_>, other: &Alternative<'_>) -> bool {
    let length = one.body.len().min(other.body.len());
    if length == 0 {
        return true;
    }
    (0..length).all(|at| overlaps(&term_set(&one.body[at]), &term_set(&other.body[at])))
        && (one.body.len() == other.body.len() || length == 1)
}

fn overlaps(one: &Set, other: &Set) -> bool {
    one.iter().zip(other).any(|(a, b)| *a && *b)
}

fn nullable(term: &Term<'_>) -> bool {
    match term {
        Term::BoundaryAssertion(_) | Term::LookAroundAssertion(_) => true,
        Term::Quantifier(quantifier) => quantifier.min == 0 || nullable(&quantifier.body),
        Term::CapturingGroup(_) | Term::IgnoreGroup(_) => {
            group(term).is_some_and(|body| body.body.iter().any(|alternative| alternative.body.iter().all(nullable)))
        }
        _ => false,
    }
}

/// The characters that a term can contain.
fn term_set(term: &Term<'_>) -> Set {
    let mut set = [false; 129];
    match term {
        Term::Character(character) => insert(&mut set, character.value, character.value),
        Term::Dot(_) | Term::UnicodePropertyEscape(_) | Term::IndexedReference(_) | Term::NamedReference(_) => {
            set = [true; 129]
        }
        Term::CharacterClassEscape(escape) => set = escaped(escape.kind),
        Term::CharacterClass(class) => {
            set = contents(&class.body);
            if class.negative {
                set.iter_mut().for_each(|member| *member = !*member);
                set[128] = true;
            }
        }
        Term::Quantifier(quantifier) => set = term_set(&quantifier.body),
        Term::CapturingGroup(_) | Term::IgnoreGroup(_) => {
            for alternative in group(term).into_iter().flat_map(|body| &body.body) {
                for term in &alternative.body {
                    join(&mut set, &term_set(term));
                }
            }
        }
        Term::BoundaryAssertion(_) | Term::LookAroundAssertion(_) => {}
    }
    set
}

/// Every part of a class; intersections and subtractions leave less than this, never more.
fn contents(body: &[CharacterClassContents<'_>]) -> Set {
    let mut set = [false; 129];
    for part in body {
        match part {
            CharacterClassContents::CharacterClassRange(range) => insert(&mut set, range.min.value, range.max.value),
            CharacterClassContents::Character(character) => insert(&mut set, character.value, character.value),
            CharacterClassContents::CharacterClassEscape(escape) => join(&mut set, &escaped(escape.kind)),
            CharacterClassContents::NestedCharacterClass(class) => join(&mut set, &contents(&class.body)),
            CharacterClassContents::UnicodePropertyEscape(_) | CharacterClassContents::ClassStringDisjunction(_) => {
                set = [true; 129]
            }
        }
    }
    set
}

fn join(set: &mut Set, other: &Set) {
    for (member, also) in set.iter_mut().zip(other) {
        *member |= also;
    }
}

fn insert(set: &mut Set, from: u32, to: u32) {
    for value in from..=to.min(127) {
        set[value as usize] = true;
    }
    set[128] |= to > 127;
}

fn escaped(kind: CharacterClassEscapeKind) -> Set {
    let mut set = [false; 129];
    for (value, member) in set.iter_mut().enumerate() {
        let c = u8::try_from(value).map_or('é', char::from);
        *member = match kind {
            CharacterClassEscapeKind::D => c.is_ascii_digit(),
            CharacterClassEscapeKind::NegativeD => !c.is_ascii_digit(),
            CharacterClassEscapeKind::S => c.is_ascii_whitespace(),
            CharacterClassEscapeKind::NegativeS => !c.is_ascii_whitespace(),
            CharacterClassEscapeKind::W => c.is_ascii_alphanumeric() || c == '_',
            CharacterClassEscapeKind::NegativeW => !(c.is_ascii_alphanumeric() || c == '_'),
        };
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for good in [
            "",
            "^[a-z]+$",
            "^[a-z]+(\\.[a-z]+)*$",
            "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$",
            "^\\d{4}-\\d{2}$",
            "^(foo|bar)+$",
            "^\\S+@\\S+\\.\\S+$",
            "^(?=.*\\d).{8,}$",
            "^#[0-9a-f]{6}$",
            "^\\p{L}+$",
            "^[\\w.-]+$",
            "^(\\d+,)*\\d+$",
            "^[0-9]{1,5000}$",
            "^/([^/]+/)*[^/]*$",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "(a+)+$",
            "^(a*)*$",
            "([a-z]+)*x",
            "(\\w+\\s?)+$",
            "(a|a)*b",
            "(a|aa)+$",
            "(.*a){25}",
            "((a+)b?)*",
            "[",
            "(",
            "a**",
            "(?P<x>a)",
            "(x{300}){400}",
            "a{9999999}",
            "(\\d+\\d*)+$",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check(&"(".repeat(3_000)).is_err());
    }
}

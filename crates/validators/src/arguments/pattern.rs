//! What a pattern for names leads to: every choice of its braces and groups, as the path that it begins.
//!
//! A pattern goes down from a place that another argument names, or from where its server was started. Libraries put braces
//! and groups apart before they look at any folder, so `{../x,a}/*` is `../x/*` and `a/*`; signs like `*` stand for names
//! that are there, which `..` is to some shells. The part before the first sign is walked like a path, links included.

use std::slice;

use switchboard_policy::keys::{Key, Mark};
use switchboard_policy::path;

use super::{body, glued, place};
use crate::arguments::World;
use crate::{Finding, Verdict, percent};

/// Whether everything that a pattern finds lies inside. `anchored` is whether another argument is the place that it goes
/// down from.
pub(super) fn check(places: &[path::Scope], anchored: bool, text: &str, world: &dyn World) -> Verdict {
    // To many readers a backslash in front of a sign only says that the sign is meant; to some it parts names, and escapes are read.
    let mut readings = vec![text.replace('\\', "")];
    if !is_expression(text) {
        readings.push(text.replace('\\', "/"));
        readings.extend(percent::stages(text).into_iter().map(|read| read.replace('\\', "/")));
    }
    let mut others = readings.iter().filter(|read| *read != text && path::may_climb(read));
    others.try_for_each(|read| each(read, |choice| place::inside(places, &filled(choice), world)))?;
    if anchored && text.starts_with('\\') || is_expression(text) {
        return check_choices(places, anchored, text, world);
    }
    each(text, |choice| {
        one(places, anchored, choice, world)?;
        glued::parts(choice).try_for_each(|part| one(places, anchored, part, world))
    })
}

/// Judges each choice of a pattern. One with too many of them has to go down in all of them, from where it begins.
fn each(text: &str, judge: impl Fn(&str) -> Verdict) -> Verdict {
    let choices = path::choices(text);
    let begins_anew = || ["{/", ",/", "(/", "|/", "{~", ",~", "(~", "|~"].iter().any(|begin| text.contains(begin));
    if !choices.whole && (path::may_climb(text) || begins_anew()) {
        let why = "the pattern has more choices than can be looked at, and some may lead outside";
        return Err(Finding::new("path-shape", why));
    }
    choices.texts.iter().try_for_each(|choice| judge(choice))
}

/// Whether a key is for a list of files: tools take patterns there as well (`{"files": ["src/**/*.ts"]}`).
pub(super) fn is_key_of_files(key: &str) -> bool {
    Key::of(key).said_last().has(Mark::Files)
}

/// Whether a name that is written out is what a search may look for: then a denial of such names speaks of it.
pub(super) fn may_name_file(text: &str) -> bool {
    !text.contains(char::is_whitespace) && place::may_be_path(text)
}

fn one(places: &[path::Scope], anchored: bool, choice: &str, world: &dyn World) -> Verdict {
    if choice.is_empty() {
        return Ok(());
    }
    let filled = filled(choice);
    let climbs = filled.split(['/', '\\']).any(|name| name == "..");
    // As a pattern `/**/x` is no comment.
    let is_absolute = choice.starts_with('/') && !choice.contains(char::is_whitespace);
    if is_absolute || climbs || place::begins_as_path(choice) {
        // A route of an interface begins as a path does, but no system has a folder of that name.
        let is_route = anchored && choice.starts_with('/') && !climbs && !may_be_there(places, choice);
        return if is_route { Ok(()) } else { place::inside(places, &filled, world) };
    }
    if choice.contains(char::is_whitespace) {
        return Ok(());
    }
    if !anchored {
        let counts = place::is_separated(choice) || glued::is_pattern(choice);
        return if counts { place::inside(places, &filled, world) } else { Ok(()) };
    }
    // Signs of an expression stand in no name of a link.
    let is_plain = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || "._-@ ~#,=".contains(c));
    let names = choice.split('/').take_while(is_plain).collect::<Vec<_>>();
    let front = names.join("/");
    if front.is_empty() || !place::is_separated(choice) {
        return Ok(());
    }
    below(places, &front, world)
}

/// Whether a relative path lies inside that goes down from a place which is allowed: from others nothing is reached at all.
pub(super) fn below(places: &[path::Scope], relative: &str, world: &dyn World) -> Verdict {
    let starts = places.iter().map(slice::from_ref).filter(|place| place::inside(place, ".", world).is_ok());
    starts.into_iter().try_for_each(|place| place::inside(place, relative, world))
}

fn is_sign(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// A choice with a name in the place of each sign, and a step up where some shell could read one.
fn filled(choice: &str) -> String {
    let count = choice.split('/').count();
    let names = choice.split('/').enumerate().map(|(index, name)| match name {
        name if !is_sign(name) => name.to_owned(),
        // As an expression it stands for everything.
        ".*" if index + 1 == count => glued::ANY_NAME.to_owned(),
        name if path::may_climb(name) => "..".to_owned(),
        name => name.replace(['*', '?'], glued::ANY_NAME),
    });
    let mut names: Vec<String> = names.collect();
    // `**` may find no folder at all: in front of a step up it leads no step down.
    if names.iter().any(|name| name == "..") {
        let finds_none: Vec<bool> =
            choice.split('/').map(|name| name.len() > 1 && name.bytes().all(|b| b == b'*')).collect();
        let mut at = finds_none.iter();
        names.retain(|_| !at.next().is_some_and(|none| *none));
    }
    names.join("/")
}

/// Whether a text is an expression for what stands in files: every backslash escapes a sign or names a class (`fn \w+`), it has a
/// sign that no name needs, and without its escapes it climbs for no reader.
pub(super) fn is_expression(text: &str) -> bool {
    let Some(plain) = unescaped(text) else { return false };
    // Several words without a slash lead nowhere.
    let climbs = |text: &str| (text.contains('/') || !text.contains(char::is_whitespace)) && path::may_climb(text);
    let is_bounded = text.starts_with("\\b") && text.ends_with("\\b");
    let repeats = ["*", "+", "?", "(", "{", "|", "$"].iter().any(|sign| text.contains(sign));
    let escapes = |sign: char| text.contains(['\\']) && text.contains(&format!("\\{sign}"));
    let is_signed = is_bounded || repeats || ".()[]{}+*?|^$".chars().any(escapes);
    text.contains('\\')
        && is_signed
        && !text.starts_with("\\\\")
        && !climbs(&plain)
        && !text.split(['/', '\\']).any(|step| step == "..")
        && !place::begins_as_path(&plain)
}

/// Whether what an expression has in it lies inside where it is taken for a choice of paths.
pub(super) fn check_choices(places: &[path::Scope], anchored: bool, text: &str, world: &dyn World) -> Verdict {
    let plain = unescaped(text).unwrap_or_else(|| text.to_owned());
    let begins = |c: char| c.is_whitespace() || "({[|,;='\"`<".contains(c);
    let ends = |c: char| ")]}>*+?".contains(c);
    let is_path = |piece: &str| {
        let mut letters = piece.strip_prefix('/').unwrap_or_default().chars();
        let is_absolute = letters.next().is_some_and(|c| c.is_alphanumeric() || "._".contains(c));
        body::names_path(places, piece) || is_absolute && (!anchored || may_be_there(places, piece))
    };
    let pieces = plain.split(begins).map(|piece| piece.split(ends).next().unwrap_or_default());
    pieces.filter(|piece| is_path(piece)).try_for_each(|piece| place::inside(places, piece, world))
}

/// Whether an expression finds no name by itself that is denied: `(\.env)`, `x/(\.env)$`. What it has beside its escapes and
/// anchors is read as a name.
pub(super) fn check_escaped(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    if places.iter().all(|place| place.deny.is_empty()) {
        return Ok(());
    }
    let bare = text.replace("\\b", "").replace("\\A", "").replace("\\z", "").replace("\\Z", "");
    let plain = unescaped(&bare).unwrap_or(bare);
    let is_anchor = |c: char| matches!(c, '^' | '$');
    let whole = path::choices(plain.trim_matches(is_anchor));
    let splits = |c: char| c.is_whitespace() || "()[]{}|,;='\"`<>".contains(c);
    let pieces = plain.split(splits).map(|piece| piece.trim_matches(is_anchor));
    let mut names = whole.texts.iter().map(|text| text.trim_matches(is_anchor)).chain(pieces);
    names.try_for_each(|name| match may_name_file(name) {
        true if glued::is_pattern(name) && name.contains('/') => place::finds_nothing_denied(places, name),
        true => place::not_denied(places, name, world),
        false => Ok(()),
    })
}

/// An expression without its backslashes, classes as a letter each; nothing where one stands in front of what no expression
/// escapes.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next()? {
            class if "wdsbWDSBntr".contains(class) => plain.push('w'),
            sign if "(){}[]+*?|^$\"'-.\\/<>@#&=!:,~`%".contains(sign) => plain.push(sign),
            _ => return None,
        }
    }
    Some(plain)
}

/// Whether the first name of an absolute pattern may be that of a folder which is there.
fn may_be_there(places: &[path::Scope], choice: &str) -> bool {
    let mut names = choice.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".");
    let Some(first) = names.next() else { return true };
    match first.find(['*', '?', '[', '(', '$', '{']) {
        Some(at) => body::roots(places).any(|root| root.starts_with(&first[..at])),
        None => body::is_there(places, choice) || body::roots(places).any(|root| root == first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_told_by_their_escapes() {
        for text in [
            "fn (\\w+)",
            "(async )?function \\w+",
            "x \\d+",
            "if \\(.*\\) \\{",
            "(\\w+)\\.(\\w+)\\(",
            "\\d+\\.\\d+",
            "\\bword\\b",
            "\\.ts$",
            "^\\s*import",
            "@\\w+/\\w+",
        ] {
            assert!(is_expression(text), "{text}");
        }
        for text in [
            "a\\x",
            "C:\\w",
            "..\\w",
            "a\\..\\..\\w",
            "fn w+",
            "\\\\w\\x",
            "a\\",
            "\\.\\./x+",
            "\\data\\secrets",
            "\\/etc\\/x+",
            "\\\\s\\d+",
            "(\\.\\.)/x",
        ] {
            assert!(!is_expression(text), "{text}");
        }
    }

    #[test]
    fn signs_are_filled_as_shells_may() {
        for (choice, expected) in [
            ("[.]./x", "../x"),
            (".?/x", "../x"),
            ("..*/x", "../x"),
            (".*", glued::ANY_NAME),
            ("a/b", "a/b"),
            ("src/**/x", &format!("src/{0}{0}/x", glued::ANY_NAME)),
            ("**/../x", "../x"),
            ("a/**/b/../../../x", "a/b/../../../x"),
            ("*/**/../../x", &format!("{}/../../x", glued::ANY_NAME)),
        ] {
            assert_eq!(filled(choice), expected, "{choice}");
        }
    }
}

//! The shapes that members may have, and what becomes of a value that has another one.

use switchboard_wire::{Edit, Kind, Object, Raw};

/// What a value must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A string.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number from 0 to 1.
    Share,
    /// A whole number.
    Count,
    /// A time of day with its date and offset, as ISO 8601 writes it.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Something of this kind, whatever is in it.
    Any(Kind),
    /// An object with these members, among others.
    Object(&'static [Row]),
    /// A list whose elements all have this shape.
    List(&'static Self),
    /// A list from which elements of another shape are taken out.
    Sieve(&'static Self),
}

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) key: &'static str,
    pub(super) shape: Shape,
    pub(super) need: Need,
}

/// What becomes of an object whose member has another shape. A `null` is taken for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The member is left out.
    Dropped,
    /// The object is unfit, because the member says what matters.
    Kept,
    /// The same, also where the member is missing.
    Required,
}

/// How a value compares with a shape.
#[derive(Debug)]
pub(super) enum Verdict {
    Same,
    Mended(Raw),
    Unfit(String),
}

impl Shape {
    pub(super) fn fit(self, value: &Raw, mended: &mut Vec<String>) -> Verdict {
        let fits = |fits: bool, what: &str| if fits { Verdict::Same } else { Verdict::Unfit(format!("is no {what}")) };
        match self {
            Self::Text => fits(value.kind() == Kind::String, "text"),
            Self::Flag => fits(value.kind() == Kind::Bool, "true or false"),
            Self::Share => {
                fits(value.view::<f64>().is_ok_and(|share| (0.0..=1.0).contains(&share)), "number from 0 to 1")
            }
            Self::Count => fits(is_count(value), "whole number"),
            Self::Time => fits(value.as_text().is_some_and(|text| is_time(&text)), "time"),
            Self::Word(words) => {
                fits(value.as_text().is_some_and(|word| words.contains(&&*word)), "word that is known")
            }
            Self::Any(kind) => fits(value.kind() == kind, "object"),
            Self::Object(rows) => object(value, rows, mended),
            Self::List(shape) => list(value, *shape, false, mended),
            Self::Sieve(shape) => list(value, *shape, true, mended),
        }
    }
}

fn object(value: &Raw, rows: &[Row], mended: &mut Vec<String>) -> Verdict {
    let Ok(object) = Object::open(value) else {
        return Verdict::Unfit("is no object, or has a key twice".to_owned());
    };
    let mut edit: Option<Edit> = None;
    for Row { key, shape, need } in rows {
        let Some(member) = object.get(key) else {
            if *need == Need::Required {
                return Verdict::Unfit(format!("`{key}` is missing"));
            }
            continue;
        };
        let begun = mended.len();
        let change = if member.kind() == Kind::Null && *need != Need::Required {
            mended.push(format!("`{key}` was null"));
            None
        } else {
            match shape.fit(&member, mended) {
                Verdict::Same => continue,
                Verdict::Mended(other) => {
                    for note in &mut mended[begun..] {
                        *note = format!("`{key}`: {note}");
                    }
                    Some(other)
                }
                Verdict::Unfit(why) if *need == Need::Dropped => {
                    mended.truncate(begun);
                    mended.push(format!("`{key}` {why}"));
                    None
                }
                Verdict::Unfit(why) => return Verdict::Unfit(format!("`{key}` {why}")),
            }
        };
        let Some(open) = edit.take().or_else(|| Edit::of(value).ok()) else { return Verdict::Same };
        edit = Some(match change {
            Some(other) => open.set(key, other),
            None => open.remove(key),
        });
    }
    edit.map_or(Verdict::Same, |edit| Verdict::Mended(edit.finish()))
}

fn list(value: &Raw, shape: Shape, sieve: bool, mended: &mut Vec<String>) -> Verdict {
    let Some(elements) = value.elements() else {
        // PHP writes an empty list and an empty object alike.
        return match Object::open(value) {
            Ok(object) if object.is_empty() => {
                mended.push("was an empty object".to_owned());
                Verdict::Mended(Raw::array([]))
            }
            _ => Verdict::Unfit("is no list".to_owned()),
        };
    };
    let mut changed = false;
    let mut kept = Vec::with_capacity(elements.len());
    for (index, element) in elements.into_iter().enumerate() {
        let begun = mended.len();
        match shape.fit(&element, mended) {
            Verdict::Same => kept.push(element),
            Verdict::Mended(other) => {
                for note in &mut mended[begun..] {
                    *note = format!("{index}: {note}");
                }
                changed = true;
                kept.push(other);
            }
            Verdict::Unfit(why) if sieve => {
                mended.truncate(begun);
                mended.push(format!("{index}: {why}"));
                changed = true;
            }
            Verdict::Unfit(why) => return Verdict::Unfit(format!("{index}: {why}")),
        }
    }
    if changed { Verdict::Mended(Raw::array(&kept)) } else { Verdict::Same }
}

/// A whole number that every client can hold.
fn is_count(value: &Raw) -> bool {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    value.kind() == Kind::Number
        && value.view::<f64>().is_ok_and(|number| number.fract() == 0.0 && number.abs() <= EXACT)
}

/// `YYYY-MM-DDThh:mm:ss`, perhaps with a fraction, and `Z` or an offset: what zod calls a date and time.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<u32> {
        let part = bytes.get(from..to)?;
        part.iter().all(u8::is_ascii_digit).then(|| part.iter().fold(0, |sum, byte| sum * 10 + u32::from(byte - b'0')))
    };
    let at = |place: usize, byte: u8| bytes.get(place) == Some(&byte);
    let marks = at(4, b'-') && at(7, b'-') && at(10, b'T') && at(13, b':') && at(16, b':');
    let parts = (digits(0, 4), digits(5, 7), digits(8, 10), digits(11, 13), digits(14, 16), digits(17, 19));
    let (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) = parts else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !marks || !(1..=12).contains(&month) || !(1..=last).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return false;
    }
    let mut rest = &text[19..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let end = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if end == 0 {
            return false;
        }
        rest = &fraction[end..];
    }
    let offset = || {
        let hour = rest.get(1..3).and_then(|hour| hour.parse::<u32>().ok()).filter(|_| digits_only(rest));
        let minute = rest.get(4..6).and_then(|minute| minute.parse::<u32>().ok());
        rest.len() == 6 && hour.is_some_and(|hour| hour < 24) && minute.is_some_and(|minute| minute < 60)
    };
    rest == "Z" || offset()
}

fn digits_only(offset: &str) -> bool {
    let bytes = offset.as_bytes();
    matches!(bytes.first(), Some(b'+' | b'-'))
        && bytes.get(3) == Some(&b':')
        && bytes.iter().skip(1).enumerate().all(|(index, byte)| index == 2 || byte.is_ascii_digit())
}

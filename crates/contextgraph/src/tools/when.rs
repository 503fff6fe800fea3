//! Times as people and models write them: a moment, a day, a month, a year. And how they are shown.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::args::Args;
use crate::error::{Outcome, Problem};

/// A time as it is shown: RFC 3339, in UTC.
pub(crate) fn shown(milliseconds: u64) -> String {
    let at = i64::try_from(milliseconds).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| milliseconds.to_string(), |at| at.to_string())
}

/// The time that a text means, from the first millisecond of it up to the one after the last: `2026-03-01T12:00:00Z`,
/// `2026-03-01`, `2026-03`, `2026`, or milliseconds since 1970.
pub(crate) fn read(name: &str, text: &str) -> Outcome<(u64, u64)> {
    let text = text.trim();
    range(text).ok_or_else(|| {
        Problem::params(format!(
            "`{name}` is a time such as 2026-03-01T12:00:00Z, 2026-03-01, 2026-03 or 2026, not {:?}",
            text.chars().take(40).collect::<String>()
        ))
    })
}

/// The time of an argument, if it was given.
pub(crate) fn argument(args: &Args, name: &str) -> Outcome<Option<(u64, u64)>> {
    args.maybe_text(name).filter(|text| !text.trim().is_empty()).map(|text| read(name, text)).transpose()
}

fn range(text: &str) -> Option<(u64, u64)> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits && text.len() >= 9 {
        let at: u64 = text.parse().ok()?;
        return Some((at, at + 1));
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        let at = u64::try_from(at.as_millisecond()).ok()?;
        return Some((at, at + 1));
    }
    let (date, span) = match text.len() {
        4 if digits => (format!("{text}-01-01"), Span::new().years(1)),
        7 => (format!("{text}-01"), Span::new().months(1)),
        10 => (text.to_owned(), Span::new().days(1)),
        _ => return None,
    };
    let date: Date = date.parse().ok()?;
    // The end of the calendar is written for what has no end, and is a day beyond the last moment.
    let moment = |date: Date| -> Option<u64> {
        let date = date.min(Date::constant(9999, 12, 30));
        let zoned = date.to_zoned(TimeZone::UTC).ok()?;
        u64::try_from(zoned.timestamp().as_millisecond()).ok()
    };
    Some((moment(date)?, moment(date.checked_add(span).unwrap_or(Date::MAX))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let day = 86_400_000;
        let march = 1_772_323_200_000;
        for (text, expected) in [
            ("2026-03", Some((march, march + 31 * day))),
            ("2026-03-01", Some((march, march + day))),
            ("2026-03-01T00:00:01Z", Some((march + 1_000, march + 1_001))),
            ("2026-03-01T02:00:01+02:00", Some((march + 1_000, march + 1_001))),
            ("2026", Some((march - 59 * day, march + 306 * day))),
            ("1772323200000", Some((march, march + 1))),
            ("9999-12-31", Some((253_402_128_000_000, 253_402_128_000_000))),
            ("March", None),
            ("2026-13", None),
            ("", None),
            ("-1", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
        assert_eq!(shown(march), "2026-03-01T00:00:00Z");
        assert_eq!(shown(u64::MAX), u64::MAX.to_string());
    }
}

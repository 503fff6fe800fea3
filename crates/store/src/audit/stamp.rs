//! Times in the text of an event: `2026-02-27T12:00:00.123Z`, always to the millisecond.
//!
//! Every call writes two of them, so the four-digit years are written here. Any other is left to [`jiff`], which both
//! agree with.

use std::fmt::Write as _;

use jiff::Timestamp;

use switchboard_wire::canonical::digit;

/// 0001-01-01 and 9999-12-31, in days since 1970.
const DAYS: std::ops::RangeInclusive<i64> = -719_162..=2_932_896;
const SECONDS_OF_DAY: i64 = 86_400;

/// Writes a time, cut to the millisecond.
pub(super) fn write_time(time: Timestamp, text: &mut String) {
    // Before 1970 the fraction is negative as well.
    let borrow = i64::from(time.subsec_nanosecond() < 0);
    let second = time.as_second() - borrow;
    let milli = (i64::from(time.subsec_nanosecond()) + borrow * 1_000_000_000) / 1_000_000;
    let (day, second) = (second.div_euclid(SECONDS_OF_DAY), second.rem_euclid(SECONDS_OF_DAY));
    if !DAYS.contains(&day) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{time:.3}");
        return;
    }
    let (year, month, day) = date(day);
    let mut stamp = *b"0000-00-00T00:00:00.000Z";
    put(&mut stamp[0..4], year);
    put(&mut stamp[5..7], month);
    put(&mut stamp[8..10], day);
    put(&mut stamp[11..13], second / 3_600);
    put(&mut stamp[14..16], second / 60 % 60);
    put(&mut stamp[17..19], second % 60);
    put(&mut stamp[20..23], milli);
    // Digits are always text.
    text.push_str(str::from_utf8(&stamp).unwrap_or_default());
}

/// Year, month and day of a day since 1970, for [`DAYS`].
///
/// Years are counted from March here, so that the day that not every year has is the last; 400 years always have the
/// same length.
const fn date(day: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    // From 0000-03-01, which is before all of them, to 1970-01-01.
    const DAYS_BEFORE_1970: i64 = 719_468;
    let day = day + DAYS_BEFORE_1970;
    let (era, day) = (day / DAYS_OF_400_YEARS, day % DAYS_OF_400_YEARS);
    // Without the leap days so far: every 4 years, but not every 100. The last day of the 400 years is one as well.
    let year = (day - day / 1_460 + day / 36_524 - day / (DAYS_OF_400_YEARS - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months from March or August on have 153 days together.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let next_year = if month < 10 { 0 } else { 1 };
    (era * 400 + year + next_year, month + 3 - 12 * next_year, day)
}

/// Puts a number into as many digits as there is room for.
fn put(room: &mut [u8], mut number: i64) {
    for place in room.iter_mut().rev() {
        *place = digit(number.unsigned_abs());
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(time: Timestamp) -> String {
        let mut text = String::new();
        write_time(time, &mut text);
        text
    }

    #[test]
    fn borders_are_written_as_jiff_does() {
        let times = [
            "0001-01-01T00:00:00Z",
            "0000-12-31T23:59:59.999999999Z",
            "-000001-06-01T12:00:00.5Z",
            "0004-02-29T23:59:59.999Z",
            "1600-02-29T00:00:00Z",
            "1900-02-28T23:59:59.999999999Z",
            "1900-03-01T00:00:00Z",
            "1969-12-31T23:59:59.999999999Z",
            "1969-12-31T23:59:59.0000001Z",
            "1970-01-01T00:00:00Z",
            "2000-02-29T12:30:45.6789Z",
            "2000-12-31T23:59:59.9999Z",
            "2024-12-31T00:00:00.001Z",
        ];
        let read = times.map(|time| time.parse().unwrap());
        for time in read.into_iter().chain([Timestamp::MIN, Timestamp::MAX]) {
            assert_eq!(written(time), format!("{time:.3}"));
        }
    }

    /// A day of every week that a time can have, and every day around the borders.
    #[test]
    fn all_years_are_written_as_jiff_does() {
        let first = Timestamp::MIN.as_second().div_euclid(SECONDS_OF_DAY) + 1;
        let last = Timestamp::MAX.as_second().div_euclid(SECONDS_OF_DAY) - 1;
        for day in (first..=last).step_by(7).chain(-719_162..-718_000).chain(-800..800) {
            let time = Timestamp::new(day * SECONDS_OF_DAY + day.rem_euclid(SECONDS_OF_DAY), 7_654_321).unwrap();
            assert_eq!(written(time), format!("{time:.3}"));
        }
    }

    proptest! {
        #[test]
        fn any_time_is_written_as_jiff_does(
            second in Timestamp::MIN.as_second() + 1..Timestamp::MAX.as_second(),
            nano in -999_999_999..=999_999_999_i32,
        ) {
            let time = Timestamp::new(second, nano).unwrap();
            prop_assert_eq!(written(time), format!("{time:.3}"));
        }
    }
}

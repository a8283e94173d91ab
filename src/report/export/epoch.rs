//! The start of a run as seconds since 1970, which other formats want where the result has a date.
//!
//! Owns that one conversion.

/// Seconds since 1970 of a time like `2026-11-30T16:05:09Z`; none when the text is no such time.
pub(super) fn seconds(utc: &str) -> Option<i64> {
    let (date, time) = utc.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, separator| {
        let mut parts = text.split(separator).map(|part: &str| part.parse::<i64>().ok());
        let three = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(three)
    };
    let ([year, month, day], [hours, minutes, seconds]) = (numbers(date, '-')?, numbers(time, ':')?);
    if !(1..=12).contains(&month) {
        return None;
    }
    // Days from a date after H. Hinnant, "chrono-compatible low-level date algorithms".
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn dates_are_counted_from_1970() {
        for (utc, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T00:00:00Z", Some(951_782_400)),
            ("2026-11-30T16:05:09Z", Some(1_796_054_709)),
            ("2100-03-01T00:00:00Z", Some(4_107_542_400)),
            ("2026-11-30 16:05:09", None),
            ("2026-13-30T16:05:09Z", None),
            ("", None),
        ] {
            assert_eq!(seconds(utc), expected, "{utc}");
        }
    }
}

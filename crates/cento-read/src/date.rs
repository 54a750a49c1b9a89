//! Dates written as numbers.

use std::borrow::Cow;

use jiff::Timestamp;

/// Converts a publication date from a table. A number is converted by its number of digits; any
/// other text is returned unchanged.
///
/// | digits | meaning |
/// |---|---|
/// | `2019` | a year |
/// | `20190503` | a day |
/// | `20190503142530` | a second of an unknown zone |
/// | `1556893530` and longer | seconds, milli-, micro- or nanoseconds since 1970 |
pub(crate) fn from_text(text: &str) -> Cow<'_, str> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let fraction = text.len() - whole.len();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(&text[text.len() - fraction.saturating_sub(1)..]) {
        return Cow::Borrowed(text);
    }
    from_digits(whole).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn from_digits(digits: &str) -> Option<String> {
    let part = |from: usize, to: usize| digits.get(from..to)?.parse::<u32>().ok();
    let day = || {
        let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
        let fits =
            (1..=12).contains(&month) && (1..=31).contains(&day) && (1000..3000).contains(&year);
        fits.then(|| format!("{year:04}-{month:02}-{day:02}"))
    };
    let number: u64 = digits.parse().ok()?;
    let second = || {
        let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
        let fits = hour < 24 && minute < 60 && second < 61;
        Some(day()?)
            .filter(|_| fits)
            .map(|day| format!("{day}T{hour:02}:{minute:02}:{second:02}"))
    };
    match digits.len() {
        8 => day(),
        9..=11 => from_seconds(number),
        12..=14 => second().or_else(|| from_seconds(number / 1_000)),
        15..=17 => from_seconds(number / 1_000_000),
        18..=20 => from_seconds(number / 1_000_000_000),
        _ => None,
    }
}

/// Formats seconds since 1970 in UTC.
fn from_seconds(seconds: u64) -> Option<String> {
    let timestamp = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(timestamp.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_dates_by_their_number_of_digits() {
        for (number, date) in [
            ("2019", "2019"),
            ("20190503", "2019-05-03"),
            ("20190503142530", "2019-05-03T14:25:30"),
            ("1556893530", "2019-05-03T14:25:30Z"),
            ("1556893530.25", "2019-05-03T14:25:30Z"),
            ("1556893530250", "2019-05-03T14:25:30Z"),
            ("1556893530250000", "2019-05-03T14:25:30Z"),
            ("1556893530250000000", "2019-05-03T14:25:30Z"),
            ("951782400", "2000-02-29T00:00:00Z"),
            ("951868800", "2000-03-01T00:00:00Z"),
            ("4107542400", "2100-03-01T00:00:00Z"),
            ("99999999999", "5138-11-16T09:46:39Z"),
        ] {
            assert_eq!(from_text(number), date);
        }
    }

    #[test]
    fn other_texts_are_returned_unchanged() {
        for text in [
            "",
            ".",
            "3 May 2019",
            "2019-05-03",
            "20191399",
            "-5",
            "7",
            "99999999999999999999999",
            "12.a",
        ] {
            assert_eq!(from_text(text), text);
        }
    }
}

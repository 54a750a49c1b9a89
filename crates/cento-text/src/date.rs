//! Parses and formats dates.
//!
//! Pages and archives state dates in many formats. [`parse`] accepts those that denote one moment
//! unambiguously and rejects the rest: a wrong date would mislead the question of which page is
//! older, a missing one does not.
//!
//! | format | example |
//! |---|---|
//! | ISO 8601, RFC 3339 | `2024-03-05T10:30:00.5+01:00`, `20240305T103000Z`, `2024-03` |
//! | similar formats | `2024/3/5 10:30`, `2024.03.05` |
//! | archive timestamps | `20240305103000`, `20240305` |
//! | seconds or milliseconds since 1970 | `1709634600`, `1709634600000` |
//! | mail and HTTP | `Tue, 05 Mar 2024 10:30:00 GMT`, `Tuesday, 05-Mar-24 10:30:00 GMT` |
//! | C | `Tue Mar  5 10:30:00 2024` |
//! | English | `March 5, 2024`, `5th of March 2024, 10:30 am EST`, `Mar 2024` |
//! | other languages | `5. März 2024`, `5 de marzo de 2024`, `2024年3月5日` |
//! | with dots, or unambiguous slashes | `5.3.2024`, `25/12/2024`, `12/25/2024` |
//!
//! Missing parts have the smallest value: a date without a time is midnight, a month is its first
//! day, a year its first. [`latest`] is the other end of what such a date may mean. Years from 1 to
//! 9999 are accepted, except for the first moment of the year 1, which programs write for a missing
//! date.
//!
//! A time without a zone is UTC: archives and crawlers write times so. Publication dates are local
//! times, and nobody knows of which place. So [`parse_published`] reads such a time as its day, and
//! [`is_before`] compares publication dates such that no zone could change the answer.

mod cursor;
mod zone;

use std::borrow::Cow;

use cursor::DateCursor;
use jiff::civil::{Date, DateTime};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// The first moment of the year 1000.
const YEAR_1000: i64 = -30_610_224_000_000;
/// The first moment of the year 1, which programs write for a missing date.
const MISSING: i64 = -62_135_596_800_000;

/// The end of the year 2100.
const YEAR_2101: i64 = 4_133_980_800_000;
/// Where a day begins first, and where last: in UTC+14 and in UTC-12.
const ZONE_AHEAD: i64 = 14 * 3_600_000;
const ZONE_BEHIND: i64 = 12 * 3_600_000;

/// The maximum length of a date.
const LONGEST: usize = 100;

/// Parses a date and returns it in milliseconds since 1970 (UTC).
///
/// ```
/// use cento_text::date::parse;
///
/// assert_eq!(parse("2024-03-05"), Some(1_709_596_800_000));
/// assert_eq!(parse("Tue, 05 Mar 2024 01:00:00 +0100"), parse("2024-03-05"));
/// assert_eq!(parse("03/05/2024"), None); // in March or in May
/// ```
pub fn parse(text: &str) -> Option<i64> {
    read(text).map(|date| date.millis)
}

/// Parses a publication date. It is a moment only if it has a time and a zone: otherwise it is a
/// day, a month or a year, given by its first moment in UTC. Dates after the year 2100 are mistakes
/// or mean "never", and the first moment of 1970 means that there is no date. A moment that is
/// midnight in UTC, but not where it is stated, is returned as a millisecond later: it is no day.
///
/// ```
/// use cento_text::date::{parse, parse_published};
///
/// assert_eq!(parse_published("2024-03-05T10:30:00Z"), parse("2024-03-05T10:30:00Z"));
/// assert_eq!(parse_published("2024-03-05T10:30:00"), parse("2024-03-05"));
/// let midnight = parse("2024-03-05").unwrap();
/// assert_eq!(parse_published("2024-03-04T19:00:00-05:00"), Some(midnight + 1));
/// assert_eq!(parse_published("2999-12-31"), None);
/// assert_eq!(parse_published("1970-01-01T00:00:00Z"), None);
/// ```
pub fn parse_published(text: &str) -> Option<i64> {
    let date = read(text).filter(|date| !date.is_null())?;
    Some(date.day.unwrap_or(date.millis)).filter(|&millis| millis < YEAR_2101)
}

/// Whether a text is the first moment of 1970, which programs write for a missing date. A day, a
/// month and a year without a time are meant: RFCs and books are of 1970.
pub(crate) fn is_null(text: &str) -> bool {
    read(text).is_some_and(|date| date.is_null())
}

/// Whether a text states no date: it is empty, or what programs write for a missing one.
///
/// ```
/// use cento_text::date::is_missing;
///
/// assert!(is_missing(" ") && is_missing("null") && is_missing("0000-00-00 00:00:00"));
/// assert!(!is_missing("c. 1600") && !is_missing("1970-01-01"));
/// ```
pub fn is_missing(text: &str) -> bool {
    const NONE: [&str; 6] = ["", "null", "none", "nan", "nat", "undefined"];
    let text = text.trim();
    let is_zero = |text: &str| text.starts_with("0000") || text.starts_with("0001-01-01");
    NONE.iter().any(|none| text.eq_ignore_ascii_case(none)) || is_zero(text) || is_null(text)
}

fn read(text: &str) -> Option<ReadDate> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let text = in_ascii(text)?;
    let text = text.as_ref();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits(text);
    }
    since_1970(text)
        .or_else(|| year_first(text))
        .or_else(|| day_first(text))
        .or_else(|| in_words(text))
}

/// Parses a publication date that an HTML page states, as [`parse_published`] does. Years below
/// 1000 are mistakes there, such as `0024-03-05`, and the page would be called older than all
/// others; in a table of old books they are meant.
pub fn parse_of_page(text: &str) -> Option<i64> {
    parse_published(text).filter(|&millis| millis >= YEAR_1000)
}

/// Returns the last millisecond that a date may mean in UTC, given what [`parse`] made of it.
///
/// A page that states `2024-03-05` was published at any time of that day, and one that states only
/// a year at any time of that year. Milliseconds do not tell `2024` from `2024-01-01`, so a date
/// that is the first moment of a year, a month or a day may be all of it.
///
/// ```
/// use cento_text::date::{latest, parse};
///
/// let of = |text| latest(parse(text).unwrap());
/// assert_eq!(of("2024-03-05T10:30:00Z"), parse("2024-03-05T10:30:00Z").unwrap());
/// assert_eq!(of("2024-03-05"), parse("2024-03-05T23:59:59.999Z").unwrap());
/// assert_eq!(of("2024-02"), parse("2024-02-29T23:59:59.999Z").unwrap());
/// assert_eq!(of("1811"), parse("1811-12-31T23:59:59.999Z").unwrap());
/// ```
pub fn latest(millis: i64) -> i64 {
    if millis.rem_euclid(DAY) != 0 {
        return millis;
    }
    let last = jiff::Timestamp::from_millisecond(millis)
        .ok()
        .map(|moment| {
            let day = jiff::tz::Offset::UTC.to_datetime(moment).date();
            match (day.month(), day.day()) {
                (1, 1) => day.last_of_year(),
                (_, 1) => day.last_of_month(),
                _ => day,
            }
        });
    let begin = |day: Date| {
        let moment = jiff::tz::Offset::UTC.to_timestamp(day.to_datetime(jiff::civil::Time::MIN));
        moment.ok().map(jiff::Timestamp::as_millisecond)
    };
    last.and_then(begin)
        .unwrap_or(millis)
        .saturating_add(DAY - 1)
}

/// Whether a date may be a whole day, month or year, because it is the first moment of one.
pub fn is_calendar(millis: i64) -> bool {
    millis.rem_euclid(DAY) == 0
}

/// Returns the first millisecond that a publication date may mean: a day begins earliest in UTC+14.
pub fn earliest(millis: i64) -> i64 {
    match is_calendar(millis) {
        true => millis.saturating_sub(ZONE_AHEAD),
        false => millis,
    }
}

/// Whether a publication date is before another one.
///
/// Two days, months or years are compared as they are stated: `2020-05-05` is before `2020-05-06`,
/// wherever that is. A day is before a moment only if it is over in all time zones, and after it
/// only if it has begun in none.
///
/// ```
/// use cento_text::date::{is_before, parse_published};
///
/// let compare = |one, other| {
///     let [one, other] = [one, other].map(|text| parse_published(text).unwrap());
///     (is_before(one, other), is_before(other, one))
/// };
/// assert_eq!(compare("2020-05-05", "2020-05-06"), (true, false));
/// // In Tokyo, that day had begun.
/// assert_eq!(compare("2020-05-05T20:00Z", "2020-05-06"), (false, false));
/// assert_eq!(compare("2020-05-05T09:00Z", "2020-05-06"), (true, false));
/// // In Honolulu, that day had not ended.
/// assert_eq!(compare("2020-05-05", "2020-05-06T08:00Z"), (false, false));
/// assert_eq!(compare("2020-05-05", "2020-05-06T12:00Z"), (true, false));
/// ```
pub fn is_before(one: i64, other: i64) -> bool {
    match (is_calendar(one), is_calendar(other)) {
        (true, false) => latest(one).saturating_add(ZONE_BEHIND) < other,
        (false, true) => one < earliest(other),
        _ => latest(one) < other,
    }
}

/// Formats milliseconds since 1970 by RFC 3339, in UTC, with as many fractional digits as needed.
///
/// ```
/// use cento_text::date::render;
///
/// assert_eq!(render(1_709_634_600_000), "2024-03-05T10:30:00Z");
/// assert_eq!(render(1_709_634_600_500), "2024-03-05T10:30:00.5Z");
/// ```
pub fn render(millis: i64) -> String {
    // [`parse_published`] marks a moment at midnight by one millisecond.
    let millis = millis - i64::from(millis.rem_euclid(DAY) == 1);
    // [`parse`] never returns a value outside the range of `Timestamp`.
    jiff::Timestamp::from_millisecond(millis)
        .map_or_else(|_| millis.to_string(), |moment| moment.to_string())
}

/// What a text says about a moment.
#[derive(Clone, Copy, Debug)]
struct ReadDate {
    /// The moment, in milliseconds since 1970; UTC if there is no zone.
    millis: i64,
    /// The first moment of the day, month or year in UTC, unless there are both a time and a zone.
    day: Option<i64>,
    /// Whether a time is stated.
    timed: bool,
}

impl ReadDate {
    fn moment(millis: i64) -> Self {
        ReadDate {
            millis,
            day: None,
            timed: true,
        }
    }

    fn is_null(self) -> bool {
        self.millis == 0 && self.timed
    }
}

/// The fields of a date and time.
#[derive(Clone, Copy, Debug, Default)]
struct DateFields {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    millis: u32,
    /// The offset of local time from UTC, in seconds.
    offset: i64,
    /// Whether a time and a zone are stated.
    timed: bool,
    zoned: bool,
}

impl DateFields {
    fn date(year: u32, month: u32, day: u32) -> Self {
        DateFields {
            year,
            month,
            day,
            ..DateFields::default()
        }
    }

    /// Converts to a moment, and to a day if that is all that is known.
    fn finish(self) -> Option<ReadDate> {
        let millis = self.millis()?;
        let day = DateFields::date(self.year, self.month, self.day);
        let day = match self.timed && self.zoned {
            // Midnight in UTC stands for a day. This moment is midnight only there.
            true if self.offset != 0 && millis.rem_euclid(DAY) == 0 => Some(millis + 1),
            true => None,
            false => day.millis(),
        };
        Some(ReadDate {
            millis,
            day,
            timed: self.timed,
        })
    }

    /// Converts to milliseconds since 1970; `None` if there is no such day or time.
    fn millis(self) -> Option<i64> {
        if !(1..=9999).contains(&self.year) {
            return None;
        }
        // Midnight at the end of a day and leap seconds occur, but calendars do not represent them.
        let (hour, days) = match (self.hour, self.minute, self.second) {
            (24, 0, 0) => (0, 1),
            _ => (self.hour, 0),
        };
        let second = if self.second == 60 { 59 } else { self.second };
        let civil = DateTime::new(
            self.year.try_into().ok()?,
            self.month.try_into().ok()?,
            self.day.try_into().ok()?,
            hour.try_into().ok()?,
            self.minute.try_into().ok()?,
            second.try_into().ok()?,
            i32::try_from(self.millis).ok()?.checked_mul(1_000_000)?,
        )
        .ok()?;
        let utc = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?;
        let millis = utc.as_millisecond() + (days * 86_400 - self.offset) * 1000;
        (millis != MISSING).then_some(millis)
    }
}

/// Digits only: their number determines the format.
fn digits(text: &str) -> Option<ReadDate> {
    let number = |begin: usize, end: usize| -> Option<u32> { text.get(begin..end)?.parse().ok() };
    let mut moment = DateFields::date(number(0, 4)?, 1, 1);
    match text.len() {
        4 => return moment.finish(),
        9 | 10 => {
            return text
                .parse::<i64>()
                .ok()?
                .checked_mul(1000)
                .map(ReadDate::moment);
        }
        13 => return text.parse().ok().map(ReadDate::moment),
        // With this many digits, a year below 1000 is another format, such as day, month and year.
        6 | 8 | 12 | 14 | 17 if moment.year >= 1000 => {}
        _ => return None,
    }
    moment.month = number(4, 6)?;
    moment.day = number(6, 8).unwrap_or(1);
    moment.hour = number(8, 10).unwrap_or(0);
    moment.minute = number(10, 12).unwrap_or(0);
    moment.second = number(12, 14).unwrap_or(0);
    moment.millis = number(14, 17).unwrap_or(0);
    moment.timed = text.len() > 8;
    moment.finish()
}

/// Seconds since 1970 with a fraction.
fn since_1970(text: &str) -> Option<ReadDate> {
    let (whole, fraction) = text.split_once('.')?;
    if !matches!(whole.len(), 9 | 10) {
        return None;
    }
    let mut cursor = DateCursor::new(fraction);
    let millis = cursor.fraction()?;
    let whole: i64 = whole.parse().ok()?;
    (cursor.is_done() && whole >= 0).then_some(ReadDate::moment(whole * 1000 + i64::from(millis)))
}

/// Year, month and optionally day and time: ISO 8601 and similar formats.
fn year_first(text: &str) -> Option<ReadDate> {
    let mut cursor = DateCursor::new(text);
    let mut moment = DateFields::date(cursor.number(4, 4)?, 1, 1);
    if let Some(separator) = cursor.take_any(b"-/.") {
        moment.month = cursor.number(1, 2)?;
        if cursor.take(separator) {
            moment.day = cursor.number(1, 2)?;
        }
    } else {
        moment.month = cursor.number(2, 2)?;
        moment.day = cursor.number(2, 2)?;
        if moment.year < 1000 {
            return None;
        }
    }
    finish(cursor, moment)
}

/// Day, month and year as numbers.
fn day_first(text: &str) -> Option<ReadDate> {
    let mut cursor = DateCursor::new(text);
    let first = cursor.number(1, 2)?;
    let separator = cursor.take_any(b"./")?;
    let second = cursor.number(1, 2)?;
    let year = cursor.take(separator).then(|| cursor.number(4, 4))??;
    let (day, month) = match separator {
        // With dots, the day comes first.
        b'.' => (first, second),
        _ if first > 12 || first == second => (first, second),
        _ if second > 12 => (second, first),
        _ => return None,
    };
    finish(cursor, DateFields::date(year, month, day))
}

/// Parses the optional time and zone after a date.
fn finish(mut cursor: DateCursor<'_>, mut moment: DateFields) -> Option<ReadDate> {
    let marked = cursor.take_any(b"Tt_").is_some();
    let spaced = cursor.take_spaces();
    let comma = cursor.take(b',');
    if (marked || spaced || comma) && !cursor.is_done() {
        cursor.take_spaces();
        cursor.time(&mut moment)?;
        moment.timed = true;
    }
    zone::read(&mut cursor, &mut moment)?;
    cursor.is_done().then_some(moment)?.finish()
}

/// A date with the name of the month. Every word must be part of a date, and each part must occur
/// only once.
fn in_words(text: &str) -> Option<ReadDate> {
    let mut cursor = DateCursor::new(text);
    let (mut year, mut month, mut day) = (None, None, None);
    let mut moment = DateFields::default();
    let (mut timed, mut zoned) = (false, false);
    loop {
        // After the time, a hyphen is the sign of the zone.
        let separators: &[u8] = if timed { b" \t\r\n,." } else { b" \t\r\n,.-/" };
        while cursor.take_any(separators).is_some() {}
        if cursor.is_done() {
            break;
        }
        let ahead = cursor;
        if let Some(word) = cursor.word() {
            if let Some(number) = month_number(word) {
                if month.replace(number).is_some() {
                    return None;
                }
            } else if !is_filler(word) {
                cursor = ahead;
                if !timed || std::mem::replace(&mut zoned, true) {
                    return None;
                }
                zone::read(&mut cursor, &mut moment)?;
            }
            continue;
        }
        if timed && !zoned && matches!(cursor.peek(), Some(b'+' | b'-')) {
            zoned = true;
            zone::read(&mut cursor, &mut moment)?;
            continue;
        }
        let (number, length) = cursor.digits()?;
        if cursor.peek() == Some(b':') || cursor.at_half_day() {
            if std::mem::replace(&mut timed, true) {
                return None;
            }
            cursor = ahead;
            cursor.time(&mut moment)?;
        } else if length == 4 && year.is_none() {
            year = Some(number);
        } else if length <= 2 && day.is_none() {
            day = Some(number);
            cursor.take_ordinal();
        } else if length == 2 && year.is_none() {
            // As in RFC 2822.
            year = Some(if number < 50 {
                2000 + number
            } else {
                1900 + number
            });
        } else {
            return None;
        }
    }
    moment.year = year?;
    moment.month = month?;
    moment.day = day.unwrap_or(1);
    moment.timed = timed;
    moment.finish()
}

/// The names of the months, without accents, in English, German, Dutch, Danish, Swedish, French,
/// Spanish, Portuguese, Italian and Polish. A name has one meaning in all of them.
const MONTHS: [&[&str]; 12] = [
    &[
        "january", "jan", "januar", "janner", "januari", "janvier", "enero", "janeiro", "gennaio",
        "stycznia",
    ],
    &[
        "february",
        "feb",
        "februar",
        "feber",
        "februari",
        "fevrier",
        "febrero",
        "fevereiro",
        "febbraio",
        "lutego",
    ],
    &[
        "march", "mar", "marz", "maerz", "maart", "marts", "mars", "marzo", "marco", "marca",
    ],
    &["april", "apr", "avril", "abril", "aprile", "kwietnia"],
    &["may", "mai", "mei", "maj", "mayo", "maio", "maggio", "maja"],
    &[
        "june", "jun", "juni", "juin", "junio", "junho", "giugno", "czerwca",
    ],
    &[
        "july", "jul", "juli", "juillet", "julio", "julho", "luglio", "lipca",
    ],
    &[
        "august", "aug", "augustus", "augusti", "aout", "agosto", "sierpnia",
    ],
    &[
        "september",
        "sep",
        "sept",
        "septembre",
        "septiembre",
        "setiembre",
        "setembro",
        "settembre",
        "wrzesnia",
    ],
    &[
        "october",
        "oct",
        "oktober",
        "okt",
        "octobre",
        "octubre",
        "outubro",
        "ottobre",
        "pazdziernika",
    ],
    &[
        "november",
        "nov",
        "novembre",
        "noviembre",
        "novembro",
        "listopada",
    ],
    &[
        "december",
        "dec",
        "dezember",
        "dez",
        "decembre",
        "diciembre",
        "dezembro",
        "dicembre",
        "grudnia",
    ],
];

fn month_number(word: &str) -> Option<u32> {
    let word = word.to_ascii_lowercase();
    let position = MONTHS
        .iter()
        .position(|names| names.contains(&word.as_str()))?;
    u32::try_from(position + 1).ok()
}

/// Days of the week and other words of dates, without accents.
const FILLERS: [&[&str]; 8] = [
    &[
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "sat",
        "sun",
        "at",
        "on",
        "of",
        "the",
        "t",
    ],
    &[
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonnabend",
        "sonntag",
        "den",
        "am",
        "um",
    ],
    &[
        "maandag",
        "dinsdag",
        "woensdag",
        "donderdag",
        "vrijdag",
        "zaterdag",
        "zondag",
        "om",
    ],
    &[
        "mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lordag", "sondag", "mandag",
    ],
    &[
        "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "le", "a",
    ],
    &[
        "lunes",
        "martes",
        "miercoles",
        "jueves",
        "viernes",
        "sabado",
        "domingo",
        "de",
        "del",
        "el",
    ],
    &[
        "lunedi",
        "martedi",
        "mercoledi",
        "giovedi",
        "venerdi",
        "domenica",
        "il",
        "alle",
    ],
    &["segunda", "terca", "quarta", "quinta", "sexta", "feira"],
];

fn is_filler(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    FILLERS.iter().any(|words| words.contains(&word.as_str()))
}

/// A date in ASCII: letters without their accents, and the East Asian signs of years, months and
/// days as hyphens. `None` if other characters remain.
fn in_ascii(text: &str) -> Option<Cow<'_, str>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push(match c {
            'ä' | 'á' | 'à' | 'â' | 'ã' => 'a',
            'é' | 'è' | 'ê' => 'e',
            'í' | 'ì' => 'i',
            'ö' | 'ó' | 'ø' => 'o',
            'ü' | 'û' | 'ú' => 'u',
            'ç' => 'c',
            'ś' => 's',
            'ź' => 'z',
            'Ä' => 'A',
            '\u{a0}' | '\u{202f}' => ' ',
            '年' | '月' | '년' | '월' => '-',
            '日' | '일' => continue,
            c if c.is_ascii() => c,
            _ => return None,
        });
    }
    // `2024-` is a year, and `2024- 5- 1` a day.
    let compact = out
        .trim_end_matches('-')
        .replace("- ", "-")
        .replace(" -", "-");
    Some(Cow::Owned(compact))
}

#[cfg(test)]
mod tests;

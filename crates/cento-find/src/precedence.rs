//! Which of two pages came first, and what the evidence is.
//!
//! The date of a page is its publication date where it states one, else the date it was fetched. A
//! publication date after the fetch is wrong, whoever stated it, and does not count; without a
//! fetch date, only one after the year 2100 is known to be wrong ([`cento_text::date`]), because
//! results must not depend on the day of the analysis.
//! Every analysis that names a source, keeps one of several duplicates, or states who copied whom
//! uses this module, so that they do not contradict each other:
//!
//! * [`earlier`] compares two pages by their dates alone. It returns [`Earlier::Unknown`] if the
//!   dates do not decide, and then no sentence may state who copied whom.
//! * [`date_relation`] says what a comparison is based on.
//! * [`Precedence`] is a total order for choosing a representative: dated pages by date, then
//!   undated ones; of equal dates, a URL without tracking parameters before one with; then the
//!   lower page number. It chooses where [`earlier`] does not decide, and never contradicts it.
//!
//! A page is published at or before its fetch. So a page that was fetched before another one was
//! published is earlier; but a page that was published before another one was *fetched* need not
//! be, because nobody knows when the other was published. And a publication date may be a whole
//! day, month or year ([`cento_text::date::latest`]): `2024-03-05` is not earlier than 10:30 of
//! that day.
//!
//! A day begins at different moments in different places, and nobody knows where a page states its
//! date. So a day and a moment are compared only outside of the day in all time zones: from UTC+14
//! to UTC-12, a day is 50 hours long. A time without a zone is read as its day
//! ([`cento_text::date::parse_published`]). Two days are compared as they are stated, although the
//! later one may have begun in Auckland before the earlier one began in Honolulu: `published
//! 2020-05-05` and `published 2020-05-06` say what the pages say, and to decide only days with a
//! day between them would ignore most of what pages state.
//!
//! ```text
//!   first       second      earlier
//!   published   published   of two days, months or years: the one that is over when the other
//!                           begins; of a day and a moment: the same, in any time zone; of two
//!                           moments: the first; else unknown. Of two years that are the same, too:
//!                           they need not be of one day
//!   fetched     fetched     the one that was fetched earlier: only this is claimed
//!   fetched     published   the first, if it was fetched before the second was published, in any
//!                           time zone; else unknown
//! ```
//!
//! ```
//! use cento_find::precedence::{Dates, Earlier, earlier};
//!
//! let fetched_in_2020 = Dates { published: None, fetched: Some(1_600_000_000_000) };
//! let published_in_2023 = Dates { published: Some(1_700_000_000_000), fetched: None };
//! let published_in_1811 = Dates { published: Some(-5_000_000_000_000), fetched: None };
//! assert_eq!(earlier(fetched_in_2020, published_in_2023), Earlier::First);
//! // The page that was fetched in 2020 may be older than 1811's, for all its dates say.
//! assert_eq!(earlier(published_in_1811, fetched_in_2020), Earlier::Unknown);
//! assert_eq!(earlier(published_in_1811, published_in_2023), Earlier::First);
//! ```

use std::borrow::Cow;

use cento_text::date::{earliest, is_before, is_calendar, latest};
use cento_text::url::has_tracking_parameters;

use crate::corpus_pages::PageFacts;
use crate::names::PageName;

/// The dates of a page, in milliseconds since 1970; negative ones are before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dates {
    /// When it was published, according to the page.
    pub published: Option<i64>,
    /// When it was fetched.
    pub fetched: Option<i64>,
}

/// Which of its dates decides the precedence of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatedBy {
    /// The publication date.
    Published,
    /// The fetch date.
    Fetched,
}

impl DatedBy {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            DatedBy::Published => "published",
            DatedBy::Fetched => "fetched",
        }
    }
}

impl Dates {
    /// Returns the date that decides: of publication, else of fetching.
    ///
    /// A page that was fetched in 2019 and states that it was published in 2099 was published in
    /// 2019 at the latest. Its publication date must not make it the later of two pages.
    pub fn decisive(self) -> Option<(i64, DatedBy)> {
        let fetched = self.fetched.map(|date| (date, DatedBy::Fetched));
        let is_possible = |date: &i64| {
            self.fetched
                .is_none_or(|fetched| earliest(*date) <= fetched)
        };
        let published = self.published.filter(is_possible);
        published.map(|date| (date, DatedBy::Published)).or(fetched)
    }
}

/// Returns a date in RFC 3339 as precisely as it is known: `2024` and `2024-03` if it is the first
/// moment of a year or a month, `2024-03-05` if it is the first moment of a day, and all of it
/// otherwise.
///
/// A corpus stores no precision ([`cento_text::date::latest`]). Of a page that states `1811`, it
/// would be false to say that it was published on 1 January; of one that states that day, it is
/// true to say 1811.
///
/// ```
/// use cento_find::precedence::precise_date;
///
/// assert_eq!(precise_date("1811-01-01T00:00:00Z"), "1811");
/// assert_eq!(precise_date("2024-03-01T00:00:00Z"), "2024-03");
/// assert_eq!(precise_date("2024-03-05T00:00:00Z"), "2024-03-05");
/// assert_eq!(precise_date("2024-03-05T10:30:00Z"), "2024-03-05T10:30:00Z");
/// ```
pub fn precise_date(date: &str) -> &str {
    let ends = ["-01-01T00:00:00Z", "-01T00:00:00Z", "T00:00:00Z"];
    let shorter = ends.iter().find_map(|end| date.strip_suffix(end));
    shorter.unwrap_or(date)
}

/// Returns the day of a date in RFC 3339, or the month or year if no more is known
/// ([`precise_date`]). The moment of a fetch is known, so its day always is.
pub fn shown_day<'d>(date: &'d str, dated_by: &str) -> &'d str {
    let known = match dated_by == DatedBy::Fetched.name() {
        true => date,
        false => precise_date(date),
    };
    known.split('T').next().unwrap_or_default()
}

/// Returns what a page states as its publication date, as far as a corpus knows it: `2024 or
/// 2024-01-01`, because the first moment of a year may be all of it. Sentences that quote a page
/// say this; tables have [`precise_date`], which is true of both.
///
/// ```
/// use cento_find::precedence::stated_date;
///
/// assert_eq!(stated_date("2024-01-01T00:00:00Z"), "2024 or 2024-01-01");
/// assert_eq!(stated_date("2024-03-01T00:00:00Z"), "2024-03 or 2024-03-01");
/// assert_eq!(stated_date("2024-03-05T00:00:00Z"), "2024-03-05");
/// ```
pub fn stated_date(date: &str) -> Cow<'_, str> {
    let known = precise_date(date);
    match date.split_once('T') {
        Some((day, _)) if known.len() < day.len() => Cow::Owned(format!("{known} or {day}")),
        _ => Cow::Borrowed(known),
    }
}

/// Returns the day of a date as [`stated_date`] does, and of the moment of a fetch.
pub fn stated_day<'d>(date: &'d str, dated_by: &str) -> Cow<'d, str> {
    match dated_by == DatedBy::Fetched.name() || precise_date(date) == date {
        true => Cow::Borrowed(shown_day(date, dated_by)),
        false => stated_date(date),
    }
}

/// Whether the times of two dates must be shown to understand how they compare: they are on one
/// day, or one is a moment near a day, which begins at different moments in different places.
pub fn needs_times(one: (i64, DatedBy), other: (i64, DatedBy)) -> bool {
    const DAY: i64 = 86_400_000;
    let is_day = |(date, by): (i64, DatedBy)| by == DatedBy::Published && is_calendar(date);
    let is_near = one.0.abs_diff(other.0) <= 2 * DAY.unsigned_abs();
    let is_one_day = one.0.div_euclid(DAY) == other.0.div_euclid(DAY);
    one.0 != other.0 && (is_one_day || (is_near && is_day(one) != is_day(other)))
}

/// Returns what two dates are, for a sentence that compares them: their days, or with their times
/// if they matter ([`needs_times`]).
pub fn stated_days<'d>(dates: [Option<(&'d str, &str)>; 2]) -> [Option<Cow<'d, str>>; 2] {
    let millis = |(date, by): (&str, &str)| {
        let by = match by == DatedBy::Fetched.name() {
            true => DatedBy::Fetched,
            false => DatedBy::Published,
        };
        cento_text::date::parse(date).map(|millis| (millis, by))
    };
    let times = match dates.map(|date| date.and_then(millis)) {
        [Some(one), Some(other)] => needs_times(one, other),
        _ => false,
    };
    dates.map(|date| {
        let (date, by) = date?;
        Some(match times {
            true if by == DatedBy::Fetched.name() => Cow::Borrowed(date),
            true => stated_date(date),
            false => stated_day(date, by),
        })
    })
}

impl From<&PageFacts<'_>> for Dates {
    fn from(facts: &PageFacts<'_>) -> Dates {
        Dates {
            published: facts.published_at,
            fetched: facts.fetched_at,
        }
    }
}

impl From<&PageName> for Dates {
    fn from(name: &PageName) -> Dates {
        Dates {
            published: name.published_at,
            fetched: name.fetched_at,
        }
    }
}

/// Which of two pages is earlier by their dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// The first of the two.
    First,
    /// The second.
    Second,
    /// Both were fetched at the same moment, or published at the same moment or on the same day.
    Same,
    /// The dates do not decide: one is missing, one is part of the other (a day of a year), or one
    /// page was published before the other was fetched, which may have been published long before.
    Unknown,
}

/// Returns which of two pages is earlier by their dates.
pub fn earlier(first: Dates, second: Dates) -> Earlier {
    let (Some((one, one_by)), Some((other, other_by))) = (first.decisive(), second.decisive())
    else {
        return Earlier::Unknown;
    };
    let is_earlier = |date: i64, by: DatedBy, other: i64, other_by: DatedBy| match (by, other_by) {
        (DatedBy::Fetched, DatedBy::Fetched) => date < other,
        (DatedBy::Fetched, DatedBy::Published) => date < earliest(other),
        (DatedBy::Published, DatedBy::Published) => is_before(date, other),
        (DatedBy::Published, DatedBy::Fetched) => false,
    };
    // Two pages of one year need not be of the same day.
    const DAY: i64 = 86_400_000;
    let is_same_day = |by| by == DatedBy::Fetched || latest(one).saturating_sub(one) < DAY;
    match one == other {
        true if one_by == other_by && is_same_day(one_by) => Earlier::Same,
        true => Earlier::Unknown,
        false if is_earlier(one, one_by, other, other_by) => Earlier::First,
        false if is_earlier(other, other_by, one, one_by) => Earlier::Second,
        false => Earlier::Unknown,
    }
}

/// Says how the date of a page relates to that of `other`, given by which dates the two are dated,
/// by their names in tables.
///
/// ```
/// use cento_find::precedence::date_relation;
///
/// let say = |this, other, is_earlier| date_relation(this, other, is_earlier, "the page");
/// assert_eq!(say("published", "published", true), "published earlier than the page");
/// assert_eq!(say("fetched", "fetched", false), "fetched later than the page");
/// assert_eq!(say("fetched", "published", true), "fetched before the page was published");
/// assert_eq!(say("published", "fetched", false), "published after the page was fetched");
/// ```
pub fn date_relation(this_by: &str, other_by: &str, is_earlier: bool, other: &str) -> String {
    match (this_by == other_by, is_earlier) {
        (true, true) => format!("{this_by} earlier than {other}"),
        (true, false) => format!("{this_by} later than {other}"),
        (false, true) => format!("{this_by} before {other} was {other_by}"),
        (false, false) => format!("{this_by} after {other} was {other_by}"),
    }
}

/// The sort key for choosing a representative of several pages: the smallest is kept, and named as
/// the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// The decisive date, shifted to be unsigned; the largest number for a page without one.
    pub date: u64,
    /// Whether the URL has tracking parameters.
    pub tracked: bool,
    /// The page's number in the run.
    pub number: u32,
}

impl Precedence {
    /// Returns the precedence of a page.
    pub fn of(facts: &PageFacts<'_>) -> Precedence {
        let date = Dates::from(facts).decisive();
        Precedence {
            date: date.map_or(u64::MAX, |(millis, _)| millis.cast_unsigned() ^ (1 << 63)),
            tracked: has_tracking_parameters(facts.url),
            number: facts.number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn years_before_1970_compare_and_publication_comes_before_fetching() {
        let published = |date| Dates {
            published: Some(date),
            fetched: Some(5),
        };
        assert_eq!(earlier(published(-20), published(-10)), Earlier::First);
        assert_eq!(earlier(published(-10), published(-20)), Earlier::Second);
        assert_eq!(earlier(published(-10), published(-10)), Earlier::Same);
        let fetched = Dates {
            published: None,
            fetched: Some(-15),
        };
        // Fetched before the other was published.
        assert_eq!(earlier(published(-10), fetched), Earlier::Second);
        assert_eq!(earlier(fetched, published(-10)), Earlier::First);
        assert_eq!(earlier(fetched, published(-15)), Earlier::Unknown);
        // Published before the other was fetched: the other may have been published at any time.
        assert_eq!(earlier(published(-20), fetched), Earlier::Unknown);
        assert_eq!(earlier(fetched, published(-20)), Earlier::Unknown);
        let later = Dates {
            published: None,
            fetched: Some(7),
        };
        assert_eq!(earlier(fetched, later), Earlier::First);
        assert_eq!(earlier(fetched, Dates::default()), Earlier::Unknown);
    }

    #[test]
    fn a_page_published_after_its_fetch_is_dated_by_the_fetch() {
        let of = |published: &str, fetched: &str| Dates {
            published: cento_text::date::parse(published),
            fetched: cento_text::date::parse(fetched),
        };
        let original = of("2099-01-05", "2019-03-03T10:00:00Z");
        let copy = of("2022-05-05", "2023-03-03T10:00:00Z");
        assert_eq!(
            original.decisive().map(|(_, by)| by),
            Some(DatedBy::Fetched)
        );
        assert_eq!(earlier(original, copy), Earlier::First);
        // Before the fetch, a day had begun in Auckland or not.
        let of_fetch = |published| of(published, "2019-03-03T10:30:00Z").decisive();
        assert_eq!(
            of_fetch("2019-03-04").map(|(_, by)| by),
            Some(DatedBy::Published)
        );
        assert_eq!(
            of_fetch("2019-03-05").map(|(_, by)| by),
            Some(DatedBy::Fetched)
        );
        // So a page that was fetched then is not earlier than one of that day.
        let fetched = Dates {
            published: None,
            fetched: cento_text::date::parse("2019-03-03T10:30:00Z"),
        };
        let [next, after] = ["2019-03-04", "2019-03-05"].map(|day| Dates {
            published: cento_text::date::parse_published(day),
            fetched: None,
        });
        assert_eq!(earlier(fetched, next), Earlier::Unknown);
        assert_eq!(earlier(fetched, after), Earlier::First);
        // Of the day of the fetch, a date without a time is possible.
        let same_day = of("2019-03-03", "2019-03-03T10:00:00Z");
        assert_eq!(
            same_day.decisive().map(|(_, by)| by),
            Some(DatedBy::Published)
        );
    }

    #[test]
    fn dates_are_shown_as_precisely_as_they_are_known() {
        let (published, fetched) = ("published", "fetched");
        assert_eq!(shown_day("2024-01-01T00:00:00Z", published), "2024");
        assert_eq!(shown_day("2024-01-01T00:00:00Z", fetched), "2024-01-01");
        assert_eq!(shown_day("2024-03-05T10:30:00Z", published), "2024-03-05");
        let days = |one, other, by| {
            let [one, other] = stated_days([Some((one, published)), Some((other, by))]);
            [one, other].map(|day| day.unwrap_or_default().into_owned())
        };
        assert_eq!(
            days("2024-03-05T08:00:00Z", "2024-03-05T10:30:00Z", published),
            ["2024-03-05T08:00:00Z", "2024-03-05T10:30:00Z"]
        );
        assert_eq!(
            days("2024-03-05T00:00:00Z", "2024-03-05T10:30:00Z", published),
            ["2024-03-05", "2024-03-05T10:30:00Z"]
        );
        assert_eq!(
            days("2024-03-05T10:30:00Z", "2024-03-05T10:30:00Z", published),
            ["2024-03-05", "2024-03-05"]
        );
        // The day may have begun before.
        assert_eq!(
            days("2024-03-06T00:00:00Z", "2024-03-05T20:00:00Z", fetched),
            ["2024-03-06", "2024-03-05T20:00:00Z"]
        );
        assert_eq!(
            days("2024-01-01T00:00:00Z", "2024-03-01T00:00:00Z", published),
            ["2024 or 2024-01-01", "2024-03 or 2024-03-01"]
        );
        assert_eq!(
            days("2024-01-01T00:00:00Z", "2024-03-01T00:00:00Z", fetched),
            ["2024 or 2024-01-01", "2024-03-01"]
        );
        assert_eq!(
            stated_days([None, Some(("2024-03-05T08:00:00Z", fetched))])[0],
            None
        );
    }

    #[test]
    fn a_date_without_a_time_a_month_or_a_day_is_not_earlier_than_a_part_of_it() {
        let published = |text: &str| Dates {
            published: cento_text::date::parse_published(text),
            fetched: None,
        };
        for (one, other, expected) in [
            ("2024-03-05", "2024-03-05T10:30:00Z", Earlier::Unknown),
            ("2024-03-05", "2024-03-05", Earlier::Same),
            ("2024-03-05", "2024-03-06T00:30:00Z", Earlier::Unknown),
            ("2024-03-05", "2024-03-06T11:59:59Z", Earlier::Unknown),
            ("2024-03-05", "2024-03-06T12:00:00Z", Earlier::First),
            ("2024-03-06", "2024-03-05T10:00:00Z", Earlier::Unknown),
            ("2024-03-06", "2024-03-05T09:59:59Z", Earlier::Second),
            (
                "2024-03-05T10:00:00",
                "2024-03-05T12:00:00Z",
                Earlier::Unknown,
            ),
            ("2024-03-05T10:00:00", "2024-03-05T09:00:00", Earlier::Same),
            ("2024-03-05T23:00:00", "2024-03-06", Earlier::First),
            ("2024-03-05", "2024-03-06", Earlier::First),
            ("2024-03", "2024-03-20", Earlier::Unknown),
            ("2024-03", "2024-04-01T08:00:00Z", Earlier::Unknown),
            ("2024-03", "2024-04-01T12:00:00Z", Earlier::First),
            ("1811", "1811-05-03", Earlier::Unknown),
            ("1811", "1812", Earlier::First),
            ("1811", "1811", Earlier::Unknown),
            ("2024-03", "2024-03", Earlier::Unknown),
            ("2024-03-01", "2024-03", Earlier::Unknown),
            ("0850", "1811", Earlier::First),
        ] {
            assert_eq!(
                earlier(published(one), published(other)),
                expected,
                "{one} {other}"
            );
        }
    }

    /// Dates in half days around 1970, among them first days of years and months.
    fn half_days() -> impl Strategy<Value = i64> {
        (-800i64..800).prop_map(|half_days| half_days * 43_200_000)
    }

    proptest! {
        #[test]
        fn the_order_of_representatives_never_contradicts_dates(
            dates in prop::array::uniform4(prop::option::of(half_days())),
        ) {
            let first = Dates { published: dates[0], fetched: dates[1] };
            let second = Dates { published: dates[2], fetched: dates[3] };
            let date = |dates: Dates| dates.decisive().map_or(i64::MAX, |(date, _)| date);
            match earlier(first, second) {
                Earlier::First => prop_assert!(date(first) < date(second)),
                Earlier::Second => prop_assert!(date(first) > date(second)),
                Earlier::Same => prop_assert_eq!(date(first), date(second)),
                Earlier::Unknown => {}
            }
            // The other way round it is the other one.
            prop_assert_eq!(earlier(second, first), match earlier(first, second) {
                Earlier::First => Earlier::Second,
                Earlier::Second => Earlier::First,
                other => other,
            });
        }
    }

    #[test]
    fn tracking_parameters_are_known_by_name() {
        for url in [
            "https://a.org/x?utm_source=feed",
            "https://a.org/x?id=1&UTM_Campaign=c#top",
            "https://a.org/x?fbclid=abc",
            "https://a.org/x?ref",
        ] {
            assert!(has_tracking_parameters(url), "{url}");
        }
        for url in [
            "https://a.org/x",
            "https://a.org/x?id=1",
            "https://a.org/utm_source=1",
            "https://a.org/x#?utm_source=1",
            "https://a.org/x?preference=1",
        ] {
            assert!(!has_tracking_parameters(url), "{url}");
        }
    }
}

//! Every format that is accepted, and text that is not.

use proptest::prelude::*;

use super::*;

/// Half past ten on the fifth of March 2024.
const MOMENT: i64 = 1_709_634_600_000;
const DAY: i64 = 1_709_596_800_000;
const MONTH: i64 = 1_709_251_200_000;

#[test]
fn dates_of_other_languages_are_read() {
    for text in [
        "5. März 2024",
        "Dienstag, den 5. März 2024",
        "am 5. Maerz 2024",
        "5 mars 2024",
        "le mardi 5 mars 2024",
        "martes 5 de marzo de 2024",
        "5 de março de 2024",
        "terça-feira, 5 de março de 2024",
        "martedì 5 marzo 2024",
        "dinsdag 5 maart 2024",
        "5. marts 2024",
        "5 marca 2024",
        "2024年3月5日",
        "2024 年 3 月 5 日",
        "2024년 3월 5일",
        "5\u{a0}mars\u{202f}2024",
    ] {
        assert_eq!(parse(text), Some(DAY), "{text}");
    }
    for text in [
        "März 2024",
        "mars 2024",
        "marzo de 2024",
        "2024年3月",
        "2024년 3월",
    ] {
        assert_eq!(parse(text), Some(MONTH), "{text}");
    }
    assert_eq!(parse("1er mai 2024"), parse("2024-05-01"));
    assert_eq!(parse("12 août 1998"), parse("1998-08-12"));
    assert_eq!(parse("2024年3月5日 10:30"), Some(MOMENT));
    assert_eq!(parse("2024年"), parse("2024"));
    for text in [
        "vers 1600",
        "5 марта 2024",
        "令和6年3月5日",
        "3月5日",
        "mardi 2024",
        "5 mars",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn every_format_of_one_moment_is_read() {
    for text in [
        "2024-03-05T10:30:00Z",
        "2024-03-05T10:30:00",
        "2024-03-05t10:30:00z",
        "2024-03-05 10:30:00",
        "2024-03-05 10:30",
        "2024-03-05T10:30Z",
        "2024-03-05T10:30:00.000Z",
        "2024-03-05T10:30:00,0004567+00:00",
        "2024-03-05T11:30:00+01:00",
        "2024-03-05T11:30:00+0100",
        "2024-03-05T11:30:00+01",
        "2024-03-05 05:30:00 -0500",
        "2024-03-05T11:30:00+01:00[Europe/Paris]",
        "2024-03-05 10:30:00 UTC",
        "2024-03-05 10:30:00.000 GMT",
        "2024-03-05_10:30:00",
        "2024/03/05 10:30",
        "2024/3/5, 10:30 am",
        "2024.03.05 10:30:00",
        "20240305T103000Z",
        "20240305T1030",
        "20240305 103000",
        "20240305103000",
        "20240305103000000",
        "202403051030",
        "1709634600",
        "1709634600.0",
        "1709634600000",
        "Tue, 05 Mar 2024 10:30:00 GMT",
        "Tue, 5 Mar 2024 11:30:00 +0100",
        "Tue, 5 Mar 2024 05:30:00 -0500 (EST)",
        "5 Mar 2024 10:30 GMT",
        "Tuesday, 05-Mar-24 10:30:00 GMT",
        "Tue Mar  5 10:30:00 2024",
        "Tue Mar 5 10:30:00 UTC 2024",
        "Tue Mar 05 2024 11:30:00 GMT+0100 (Central European Standard Time)",
        "March 5, 2024 10:30 AM",
        "March 5th, 2024 at 5:30 a.m. EST",
        "the 5th of March 2024, 10:30:00",
        "Tuesday 5 March 2024 10:30 a.m.",
        "5.3.2024 10:30",
        "05.03.2024, 10:30:00",
        "\n 2024-03-05T10:30:00Z\t",
    ] {
        assert_eq!(parse(text), Some(MOMENT), "{text}");
    }
}

#[test]
fn a_date_without_a_time_is_midnight() {
    for text in [
        "2024-03-05",
        "2024-3-5",
        "2024/03/05",
        "20240305",
        "March 5, 2024",
        "5 March 2024",
        "Mar. 5, 2024",
        "05-Mar-2024",
        "5-Mar-24",
        "Tuesday, March 5th, 2024",
        "5.3.2024",
        "2024-03-05Z",
        "2024-03-05T",
    ] {
        assert_eq!(parse(text), Some(DAY), "{text}");
    }
    assert_eq!(parse("2024-03-05+01:00"), Some(DAY - 3_600_000));
}

#[test]
fn a_publication_date_without_a_time_and_a_zone_is_a_day() {
    for text in [
        "2024-03-05T10:30:00",
        "2024-03-05 00:00",
        "2024-03-05 23:59:59.9",
        "20240305T103000",
        "20240305103000",
        "20240305103000000",
        "March 5, 2024 10:30 PM",
        "Tue Mar  5 10:30:00 2024",
        "5.3.2024 10:30",
        "2024-03-05 10:30 (local time)",
        "2024-03-05+01:00",
        "2024-03-05",
    ] {
        assert_eq!(parse_published(text), Some(DAY), "{text}");
    }
    for text in [
        "2024-03-05T10:30:00Z",
        "2024-03-05 05:30 EST",
        "1709634600",
        "1709634600000",
        "1709634600.0",
        "Tue, 05 Mar 2024 10:30:00 GMT",
        "Tue Mar 5 11:30:00 +0100 2024",
    ] {
        assert_eq!(parse_published(text), Some(MOMENT), "{text}");
    }
    assert_eq!(parse_published("March 2024"), Some(MONTH));
}

#[test]
fn a_publication_date_after_2100_is_a_mistake() {
    assert!(parse_published("2100-12-31T23:59:59Z").is_some());
    for text in ["2101", "2999-12-31", "9998-12-31", "4133980800"] {
        assert_eq!(parse_published(text), None, "{text}");
        assert_eq!(parse_of_page(text), None, "{text}");
        assert!(parse(text).is_some(), "{text}");
    }
}

#[test]
fn the_first_moment_of_1970_is_no_publication_date() {
    for text in [
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00.000+00:00",
        "1970-01-01T01:00:00+01:00",
        "1970-01-01 00:00:00",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "19700101000000",
        "0000000000",
        "0000000000000",
    ] {
        assert_eq!(parse(text), Some(0), "{text}");
        assert_eq!(parse_published(text), None, "{text}");
        assert_eq!(parse_of_page(text), None, "{text}");
    }
    for text in ["1970", "January 1970", "1970-01-01"] {
        assert_eq!(parse_published(text), Some(0), "{text}");
    }
    assert_eq!(parse_published("1970-01-01T00:00:01Z"), Some(1000));
    // A day, so its time does not matter.
    assert_eq!(parse_published("1970-01-01T10:00"), Some(0));
}

#[test]
fn a_missing_day_or_month_is_the_first() {
    for text in ["2024-03", "2024/03", "202403", "March 2024", "Mar 2024"] {
        assert_eq!(parse(text), Some(MONTH), "{text}");
    }
    assert_eq!(parse("2024"), parse("2024-01-01"));
}

#[test]
fn slashes_are_accepted_if_only_one_order_is_possible() {
    assert_eq!(parse("25/12/2024"), parse("2024-12-25"));
    assert_eq!(parse("12/25/2024 1:05 pm"), parse("2024-12-25T13:05"));
    assert_eq!(parse("3/3/2024"), parse("2024-03-03"));
    assert_eq!(parse("3/5/2024"), None);
}

#[test]
fn unusual_but_valid_times_are_read() {
    assert_eq!(parse("2024-03-05T24:00:00"), parse("2024-03-06"));
    assert_eq!(parse("2016-12-31T23:59:60Z"), parse("2016-12-31T23:59:59Z"));
    assert_eq!(parse("March 5, 2024 12:00 am"), Some(DAY));
    assert_eq!(parse("March 5, 2024 12 pm"), Some(DAY + 12 * 3_600_000));
    assert_eq!(parse("2024-03-05T10:30:00.123456Z"), Some(MOMENT + 123));
    assert_eq!(parse("2024-02-29"), Some(1_709_164_800_000));
    assert_eq!(parse("1969-12-31T23:59:59Z"), Some(-1000));
    assert_eq!(parse("1215-06-15"), Some(-23_811_235_200_000));
    assert_eq!(parse("999999999"), Some(999_999_999_000));
}

#[test]
fn text_that_is_not_a_date_is_rejected() {
    for text in [
        "",
        " ",
        "yesterday",
        "2024-13-01",
        "2024-02-30",
        "2023-02-29",
        "0000-01-01",
        "0001-01-01",
        "0001-01-01T00:00:00Z",
        "010203",
        "01020304",
        "01020304T10:30",
        "10000-01-01",
        "2024-03-05T25:00",
        "2024-03-05T10:61",
        "2024-03-05T10:30:00+99:00",
        "2024-03-05 10:30 XYZ",
        "2024-03-05 and more",
        "March",
        "May 5",
        "12",
        "123",
        "12345",
        "99999999999999",
        "5 March March 2024",
        "2024-",
        "-2024-01-01",
        "1.2.3.4",
        "３月５日",
        "T10:30",
        "10:30",
        "2024-03-05T10:30:00Z Z",
        "March 5, 2024 13:00 pm",
        "v2024.1",
        "00000000",
        "2024-00-00",
        "(",
        "2024-03-05 (",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
    assert_eq!(parse(&"2024-03-05 ".repeat(20)), None);
}

#[test]
fn rendered_dates_parse_to_the_same_moment() {
    for millis in [0, -1, MOMENT, MOMENT + 1, DAY, 253_402_000_000_000] {
        assert_eq!(parse(&render(millis)), Some(millis), "{}", render(millis));
    }
    assert_eq!(render(i64::MAX), i64::MAX.to_string());
}

proptest! {
    #[test]
    fn any_text_is_accepted(text in "\\PC{0,30}|[0-9A-Za-z:/.,+ \\[\\]()-]{0,40}") {
        if let Some(millis) = parse(&text) {
            // Years 1 to 9999, plus or minus a zone offset, and seconds since 1970.
            prop_assert!((-62_135_683_200_000..=253_402_387_200_000).contains(&millis));
            prop_assert!(latest(millis) >= millis);
        }
    }

    #[test]
    fn the_latest_moment_of_a_date_is_the_end_of_its_day_month_or_year(days in -700_000i64..2_900_000, hour in 0i64..24) {
        let millis = days * 86_400_000 + hour * 3_600_000;
        let text = render(millis);
        let stated = |text: &str| parse(text).unwrap();
        let next = |text: String| stated(&text) - 1;
        let (year, month) = (text[..4].parse::<u32>().unwrap(), text[5..7].parse::<u32>().unwrap());
        let expected = match &text[4..] {
            "-01-01T00:00:00Z" => next(format!("{:04}-01-01", year + 1)),
            rest if rest.ends_with("-01T00:00:00Z") && month == 12 => next(format!("{:04}-01-01", year + 1)),
            rest if rest.ends_with("-01T00:00:00Z") => next(format!("{year:04}-{:02}-01", month + 1)),
            rest if rest.ends_with("T00:00:00Z") => millis + 86_400_000 - 1,
            _ => millis,
        };
        prop_assert_eq!(latest(millis), expected);
    }

    #[test]
    fn no_time_zone_changes_which_publication_date_is_before_another(
        days in prop::array::uniform2(-3i64..3), hours in prop::array::uniform2(prop::option::of(1i64..24)),
        zones in prop::array::uniform2(-12i64..=14),
    ) {
        let dates = [0, 1].map(|date| (20_000 + days[date]) * 86_400_000 + hours[date].unwrap_or(0) * 3_600_000);
        // A day begins somewhere; a moment is known.
        let first = [0, 1].map(|date| match hours[date] {
            Some(_) => dates[date],
            None => dates[date] - zones[date] * 3_600_000,
        });
        if hours[0].is_some() != hours[1].is_some() && is_before(dates[0], dates[1]) {
            let end = if hours[0].is_some() { 0 } else { 86_400_000 - 1 };
            prop_assert!(first[0] + end < first[1]);
        }
        prop_assert!(!(is_before(dates[0], dates[1]) && is_before(dates[1], dates[0])));
        prop_assert!(!is_before(dates[0], dates[1]) || dates[0] < dates[1]);
    }

    #[test]
    fn years_of_old_books_are_read_but_not_from_pages(year in 2u32..1000) {
        let text = format!("{year:04}-03-05");
        prop_assert!(parse(&text).is_some_and(|millis| render(millis).starts_with(&text)));
        prop_assert_eq!(parse_of_page(&text), None);
        prop_assert!(parse_of_page("1000-01-01").is_some());
    }

    #[test]
    fn dates_agree_with_jiff(millis in -30_000_000_000_000i64..250_000_000_000_000) {
        let moment = jiff::Timestamp::from_millisecond(millis).unwrap();
        prop_assert_eq!(parse(&moment.to_string()), Some(millis));
        let seconds = millis.div_euclid(1000) * 1000;
        let zoned = moment.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(-7)));
        prop_assert_eq!(parse(&zoned.strftime("%Y-%m-%d %H:%M:%S %z").to_string()), Some(seconds));
        prop_assert_eq!(parse(&zoned.strftime("%a, %d %b %Y %H:%M:%S %z").to_string()), Some(seconds));
        prop_assert_eq!(parse(&moment.strftime("%A %B %-d, %Y %I:%M:%S %p").to_string()), Some(seconds));
        prop_assert_eq!(parse(&moment.strftime("%Y%m%d%H%M%S").to_string()), Some(seconds));
    }
}

//! Dates as people and archives write them.

/// The moment that `text` names, in milliseconds since 1970 (UTC).
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let parser = jiff::fmt::temporal::DateTimeParser::new();
    if let Ok(moment) = parser.parse_timestamp(text) {
        return Some(moment.as_millisecond());
    }
    if let Ok(moment) = parser.parse_datetime(text) {
        return Some(
            moment
                .to_zoned(jiff::tz::TimeZone::UTC)
                .ok()?
                .timestamp()
                .as_millisecond(),
        );
    }
    let moment = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text)
        .ok()?;
    Some(moment.as_millisecond())
}

//! Time zones that are unambiguous in a date.

use super::DateFields;
use super::cursor::DateCursor;

/// Consumes a zone, if there is one, and an optional remark in brackets.
pub(super) fn read(cursor: &mut DateCursor<'_>, moment: &mut DateFields) -> Option<()> {
    cursor.take_spaces();
    let mut hours = 0;
    if let Some(name) = cursor.word() {
        hours = named(name)?;
        moment.zoned = true;
    }
    // As in `GMT+0100`, or alone.
    let mut seconds = hours * 3600;
    if let Some(sign) = cursor.take_any(b"+-") {
        moment.zoned = true;
        let ahead = i64::from(cursor.number(1, 2)?) * 60;
        cursor.take(b':');
        let minutes = ahead + i64::from(cursor.number(2, 2).unwrap_or(0));
        if minutes > 24 * 60 {
            return None;
        }
        seconds += 60 * if sign == b'-' { -minutes } else { minutes };
    }
    moment.offset = seconds;
    let remark = *cursor;
    cursor.take_spaces();
    match cursor.take_any(b"([") {
        Some(b'(') => cursor.take_until(b')').then_some(()),
        Some(_) => cursor.take_until(b']').then_some(()),
        None => {
            *cursor = remark;
            Some(())
        }
    }
}

/// The offset of a named zone in hours: those of RFC 2822 and those of Europe. Other abbreviations
/// are ambiguous.
fn named(name: &str) -> Option<i64> {
    Some(match name.to_ascii_uppercase().as_str() {
        "Z" | "UT" | "UTC" | "GMT" | "WET" => 0,
        "CET" | "WEST" => 1,
        "CEST" | "EET" => 2,
        "EEST" => 3,
        "EST" | "CDT" => -5,
        "EDT" => -4,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => return None,
    })
}

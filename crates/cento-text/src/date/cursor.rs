//! A cursor that reads a date from left to right.

use super::DateFields;

/// The remainder of an ASCII text.
#[derive(Clone, Copy, Debug)]
pub(super) struct DateCursor<'text> {
    rest: &'text str,
}

impl<'text> DateCursor<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        DateCursor { rest: text }
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.bytes().next()
    }

    fn skip(&mut self, length: usize) -> &'text str {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Consumes the next byte if it is `byte`.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        self.take_any(&[byte]).is_some()
    }

    /// Consumes the next byte if it is one of `bytes`.
    pub(super) fn take_any(&mut self, bytes: &[u8]) -> Option<u8> {
        let next = self.peek().filter(|next| bytes.contains(next))?;
        self.skip(1);
        Some(next)
    }

    /// Consumes white space; returns whether there was any.
    pub(super) fn take_spaces(&mut self) -> bool {
        let trimmed = self.rest.trim_ascii_start();
        let taken = trimmed.len() < self.rest.len();
        self.rest = trimmed;
        taken
    }

    /// Consumes a run of letters.
    pub(super) fn word(&mut self) -> Option<&'text str> {
        let length = self.run(|byte| byte.is_ascii_alphabetic());
        (length > 0).then(|| self.skip(length))
    }

    /// Consumes a run of digits; returns the number and how many digits it has.
    pub(super) fn digits(&mut self) -> Option<(u32, usize)> {
        let length = self.run(|byte| byte.is_ascii_digit());
        let number = self.rest.get(..length)?.parse().ok()?;
        self.skip(length);
        Some((number, length))
    }

    /// Consumes everything up to and including the closing bracket; false if it is missing.
    pub(super) fn take_until(&mut self, closing: u8) -> bool {
        let found = self.rest.bytes().position(|byte| byte == closing);
        found.is_some_and(|position| !self.skip(position + 1).is_empty())
    }

    /// Consumes a number of `least` to `most` digits.
    pub(super) fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let length = self.run(|byte| byte.is_ascii_digit()).min(most);
        if length < least {
            return None;
        }
        self.skip(length).parse().ok()
    }

    /// Consumes the digits of a fraction of a second and returns the milliseconds.
    pub(super) fn fraction(&mut self) -> Option<u32> {
        let length = self.run(|byte| byte.is_ascii_digit());
        let digits = self.skip(length);
        let padded = format!("{digits:0<3}");
        (!digits.is_empty()).then(|| padded.get(..3)?.parse().ok())?
    }

    /// Consumes an ordinal suffix such as `th` after the day.
    pub(super) fn take_ordinal(&mut self) {
        let ahead = *self;
        let word = self.word().unwrap_or_default().to_ascii_lowercase();
        if !matches!(word.as_str(), "st" | "nd" | "rd" | "th" | "er") {
            *self = ahead;
        }
    }

    /// Consumes a time of day: hours and optionally minutes, seconds and a fraction, with or
    /// without colons, and optionally `am` or `pm`.
    pub(super) fn time(&mut self, moment: &mut DateFields) -> Option<()> {
        moment.hour = self.number(1, 2)?;
        let colon = self.take(b':');
        if colon || self.peek().is_some_and(|next| next.is_ascii_digit()) {
            moment.minute = self.number(2, 2)?;
            if self.take(b':') || (!colon && self.peek().is_some_and(|next| next.is_ascii_digit()))
            {
                moment.second = self.number(2, 2)?;
                if self.take_any(b".,").is_some() {
                    moment.millis = self.fraction()?;
                }
            }
        }
        if let Some(afternoon) = self.half_day() {
            moment.hour = match moment.hour {
                12 => 0,
                1..=11 => moment.hour,
                _ => return None,
            };
            moment.hour += if afternoon { 12 } else { 0 };
        }
        Some(())
    }

    /// Whether `am` or `pm` is next.
    pub(super) fn at_half_day(&self) -> bool {
        { *self }.half_day().is_some()
    }

    /// Consumes `am` or `pm`, with or without dots; returns whether it is `pm`.
    fn half_day(&mut self) -> Option<bool> {
        let ahead = *self;
        self.take_spaces();
        let first = self.take_any(b"aApP");
        let dotted = self.take(b'.');
        let second = self.take_any(b"mM");
        let whole = self.peek().is_none_or(|next| !next.is_ascii_alphanumeric());
        match (first, second) {
            (Some(first), Some(_)) if whole => {
                if dotted {
                    self.take(b'.');
                }
                Some(first.eq_ignore_ascii_case(&b'p'))
            }
            _ => {
                *self = ahead;
                None
            }
        }
    }

    fn run(&self, belongs: impl Fn(u8) -> bool) -> usize {
        self.rest.bytes().take_while(|&byte| belongs(byte)).count()
    }
}

//! Reading a date from left to right.

use super::Moment;

/// What is left of a text that is ASCII.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'text> {
    rest: &'text str,
}

impl<'text> Cursor<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Cursor { rest: text }
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

    /// Takes the byte if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        self.take_any(&[byte]).is_some()
    }

    /// Takes the next byte if it is one of these.
    pub(super) fn take_any(&mut self, bytes: &[u8]) -> Option<u8> {
        let next = self.peek().filter(|next| bytes.contains(next))?;
        self.skip(1);
        Some(next)
    }

    /// Takes all white space that comes next; false if there is none.
    pub(super) fn take_spaces(&mut self) -> bool {
        let trimmed = self.rest.trim_ascii_start();
        let taken = trimmed.len() < self.rest.len();
        self.rest = trimmed;
        taken
    }

    /// Takes the letters that come next.
    pub(super) fn word(&mut self) -> Option<&'text str> {
        let length = self.run(|byte| byte.is_ascii_alphabetic());
        (length > 0).then(|| self.skip(length))
    }

    /// Takes the digits that come next: the number and how many there were.
    pub(super) fn digits(&mut self) -> Option<(u32, usize)> {
        let length = self.run(|byte| byte.is_ascii_digit());
        let number = self.rest.get(..length)?.parse().ok()?;
        self.skip(length);
        Some((number, length))
    }

    /// Takes what comes next up to and with the closing bracket; false if that is missing.
    pub(super) fn take_until(&mut self, closing: u8) -> bool {
        let found = self.rest.bytes().position(|byte| byte == closing);
        found.is_some_and(|position| !self.skip(position + 1).is_empty())
    }

    /// Takes a number of so many digits, and no more than are there.
    pub(super) fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let length = self.run(|byte| byte.is_ascii_digit()).min(most);
        if length < least {
            return None;
        }
        self.skip(length).parse().ok()
    }

    /// Takes the digits of a fraction of a second, of which milliseconds are kept.
    pub(super) fn fraction(&mut self) -> Option<u32> {
        let length = self.run(|byte| byte.is_ascii_digit());
        let digits = self.skip(length);
        let padded = format!("{digits:0<3}");
        (!digits.is_empty()).then(|| padded.get(..3)?.parse().ok())?
    }

    /// Takes `th` and the like after the number of a day.
    pub(super) fn take_ordinal(&mut self) {
        let ahead = *self;
        let word = self.word().unwrap_or_default().to_ascii_lowercase();
        if !matches!(word.as_str(), "st" | "nd" | "rd" | "th") {
            *self = ahead;
        }
    }

    /// Takes a time of day: hours and perhaps minutes, seconds and a fraction, with or without
    /// colons, and then perhaps the half of the day.
    pub(super) fn time(&mut self, moment: &mut Moment) -> Option<()> {
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

    /// Whether `am` or `pm` comes next.
    pub(super) fn at_half_day(&self) -> bool {
        { *self }.half_day().is_some()
    }

    /// Takes `am` or `pm`, with or without dots: whether it is the latter.
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

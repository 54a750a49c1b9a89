//! Which page came first, in eight bytes per page.
//!
//! The order is that of [`Precedence`]: by date (publication, else fetch), then undated pages;
//! among equal dates an address without tracking parameters comes first. The page number, which
//! breaks the remaining ties, is not part of the key. The lowest bit of a key says that the date is
//! that of a fetch; it is not part of the order.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use cento_flow::{StageError, State};
use cento_text::date::{earliest, is_before, is_calendar};
use serde_json::Value;

use crate::page_minima::PageMinima;
use crate::precedence::{DatedBy, Precedence};

/// Dates are shifted by this many milliseconds, about 73 million years, so that dates before 1970
/// are positive.
const SHIFT: i64 = 1 << 61;
/// The date of an undated page.
const UNDATED: u64 = (1 << 62) - 1;

/// The key of a page; lower keys come first.
pub(super) fn key(precedence: &Precedence, dated_by: Option<DatedBy>) -> u64 {
    let date = match precedence.date {
        u64::MAX => UNDATED,
        date => {
            let millis = (date ^ (1 << 63)).cast_signed();
            (millis.clamp(-SHIFT / 2, SHIFT / 2) + SHIFT).cast_unsigned()
        }
    };
    let is_fetched = dated_by == Some(DatedBy::Fetched);
    date << 2 | u64::from(precedence.tracked) << 1 | u64::from(is_fetched)
}

/// The key of each page: a broadcast state.
pub(super) struct DateOrder {
    keys: PageMinima<AtomicU64>,
}

impl DateOrder {
    pub(super) fn set(&self, page: u32, key: u64) {
        self.keys.set(page, key);
    }

    /// The rank of a page: lower ones come first.
    #[inline]
    pub(super) fn rank(&self, page: u32) -> u64 {
        self.get(page) >> 1
    }

    /// The key of a page; the largest if none was set.
    #[inline]
    pub(super) fn get(&self, page: u32) -> u64 {
        self.keys.get(page)
    }
}

fn pages_of(parameters: &Value) -> u64 {
    parameters.get("pages").and_then(Value::as_u64).unwrap_or(0)
}

impl State for DateOrder {
    fn create(parameters: &Value) -> Result<DateOrder, StageError> {
        let keys = PageMinima::dense(pages_of(parameters));
        Ok(DateOrder { keys })
    }

    fn weight(parameters: &Value) -> u64 {
        pages_of(parameters) * size_of::<AtomicU64>() as u64
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        self.keys.absorb(other)
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        self.keys.write(output)
    }

    fn sparse(parameters: &Value) -> Result<DateOrder, StageError> {
        let keys = PageMinima::sparse(pages_of(parameters));
        Ok(DateOrder { keys })
    }

    const HAS_VIEW: bool = true;

    fn view(parameters: &Value, bytes: Bytes) -> Option<DateOrder> {
        let keys = PageMinima::view(pages_of(parameters), bytes)?;
        Some(DateOrder { keys })
    }
}

/// Finds the page that had a gram before all others, as [`crate::precedence::earlier`] compares
/// them. There is no such page if two share the earliest date, or one date may be part of the
/// other, if any has no date, or if the earliest date is that of a publication and another page is
/// dated by its fetch.
pub(super) struct Earliest {
    /// The earliest date, and the page that has it.
    date: u64,
    page: u32,
    /// The earliest date of the other pages: of a moment, and of a publication on a day.
    next: u64,
    next_day: u64,
    undated: bool,
    /// Whether the earliest date is that of a publication.
    published: bool,
    /// Whether any page is dated by its fetch.
    fetched: bool,
}

impl Earliest {
    pub(super) fn new() -> Earliest {
        Earliest {
            date: u64::MAX,
            page: 0,
            next: u64::MAX,
            next_day: u64::MAX,
            undated: false,
            published: false,
            fetched: false,
        }
    }

    #[inline]
    pub(super) fn see(&mut self, page: u32, key: u64) {
        let (date, is_fetched) = (key >> 2, key & 1 == 1);
        self.undated |= date == UNDATED;
        self.fetched |= is_fetched;
        if date < self.date {
            let (known, by_publication) = (self.date, self.published);
            (self.date, self.page, self.published) = (date, page, !is_fetched);
            self.see_other(known, by_publication);
        } else {
            self.see_other(date, !is_fetched);
        }
    }

    #[inline]
    fn see_other(&mut self, date: u64, is_published: bool) {
        // A date that is later than both kinds is not looked at: most are.
        if date >= self.next.max(self.next_day) {
            return;
        }
        match is_published && is_calendar(millis_of(date)) {
            true => self.next_day = self.next_day.min(date),
            false => self.next = self.next.min(date),
        }
    }

    /// Whether there is no such page, whatever pages follow.
    #[inline]
    pub(super) fn is_undecidable(&self) -> bool {
        self.undated
    }

    pub(super) fn first(&self) -> Option<u32> {
        let undecided = self.published && self.fetched;
        if self.undated || undecided || self.next.min(self.next_day) <= self.date {
            return None;
        }
        // Not computed for most grams: it needs a calendar.
        let date = millis_of(self.date);
        let is_earlier = |other: u64| {
            let millis = millis_of(other);
            other == u64::MAX
                || match self.published {
                    true => is_before(date, millis),
                    false if other == self.next_day => date < earliest(millis),
                    false => date < millis,
                }
        };
        (is_earlier(self.next) && is_earlier(self.next_day)).then_some(self.page)
    }
}

/// The milliseconds since 1970 of the date of a key.
fn millis_of(date: u64) -> i64 {
    date.cast_signed().wrapping_sub(SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precedence::{Dates, Earlier, earlier};
    use proptest::prelude::*;
    use serde_json::json;

    /// Dates in half days around 1970, among them first days of years and months.
    fn dates() -> impl Strategy<Value = Dates> {
        let date = (-800i64..800).prop_map(|half_days| half_days * 43_200_000);
        let date = prop::option::weighted(0.9, date);
        (date.clone(), date).prop_map(|(published, fetched)| Dates { published, fetched })
    }

    fn precedence(dates: Dates, tracked: bool) -> Precedence {
        let date = dates.decisive();
        Precedence {
            date: date.map_or(u64::MAX, |(millis, _)| millis.cast_unsigned() ^ (1 << 63)),
            tracked,
            number: 0,
        }
    }

    proptest! {
        #[test]
        fn the_first_page_is_earlier_than_every_other(dates in prop::collection::vec(dates(), 2..6)) {
            let mut earliest = Earliest::new();
            for (page, &dates) in (0..).zip(&dates) {
                let by = dates.decisive().map(|(_, by)| by);
                earliest.see(page, key(&precedence(dates, page % 2 == 0), by));
            }
            let naive = (0..dates.len()).find(|&page| {
                (0..dates.len())
                    .all(|other| other == page || earlier(dates[page], dates[other]) == Earlier::First)
            });
            prop_assert_eq!(earliest.first(), naive.map(|page| page as u32));
        }

        #[test]
        fn keys_are_in_the_order_of_precedence(one in (dates(), any::<bool>()), other in (dates(), any::<bool>())) {
            let rank = |dates: Dates, precedence: &Precedence| {
                key(precedence, dates.decisive().map(|(_, by)| by)) >> 1
            };
            let (first, second) = (precedence(one.0, one.1), precedence(other.0, other.1));
            let ranks = (rank(one.0, &first), rank(other.0, &second));
            prop_assert_eq!(ranks.0.cmp(&ranks.1), first.cmp(&second));
        }
    }

    #[test]
    fn years_from_1_to_9999_keep_their_order() {
        // Out of range, 0001-01-01, 1811, 1949, 1970, 2023 and 9999-12-31.
        let millis = [
            i64::MIN,
            -62_135_596_800_000,
            -5_000_000_000_000,
            -660_000_000_000,
            0,
            1,
            1_700_000_000_000,
            253_402_300_799_999,
        ];
        let keys = millis.map(|date| {
            let dates = Dates {
                published: Some(date),
                fetched: None,
            };
            key(&precedence(dates, false), Some(DatedBy::Published))
        });
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        assert!(keys[7] >> 2 < UNDATED);
    }

    #[test]
    fn the_state_reads_back() {
        let parameters = json!({ "pages": 20_000 });
        let [one, other] = [0, 1].map(|_| DateOrder::create(&parameters).unwrap());
        one.set(19_999, 7);
        let mut bytes = Vec::new();
        one.write(&mut bytes).unwrap();
        other.absorb(&mut bytes.as_slice()).unwrap();
        assert_eq!((other.get(19_999), other.get(0)), (7, u64::MAX));
    }
}

//! What must be known of pages before grams are compared: where they are, and since when.
//!
//! A server is known by the lowest number of its pages. It takes a shuffle to find that out, and then servers are compared exactly, in
//! four bytes a page.

use std::sync::Arc;

use cento_flow::{Registry, StageError};

use super::params::Foreign;
use super::rows::ServerPage;
use crate::numbers::{Numbers, UNSET};
use crate::source::{PageFacts, Source};

/// The first second of 1950: dates of pages are seconds since then, which lasts until 2086.
const EPOCH: i64 = -631_152_000;

/// A date in the number of a page. Two dates beyond the range are the same one.
pub(super) fn seconds(millis: i64) -> u32 {
    let seconds = millis.div_euclid(1000) - EPOCH;
    u32::try_from(seconds.max(0)).map_or(UNSET - 1, |seconds| seconds.min(UNSET - 1))
}

/// What a source must not share with a page.
fn server<'a>(foreign: Foreign, facts: &PageFacts<'a>) -> Option<&'a str> {
    match foreign {
        Foreign::Domain => facts.domain.or(facts.host),
        Foreign::Host => facts.host,
        Foreign::Ip => facts.ip,
        Foreign::None => None,
    }
}

/// Whether a page can be a source of another.
#[inline(always)]
pub(super) fn is_foreign(servers: &Numbers, page: u32, other: u32) -> bool {
    let server = servers.get(page);
    server == UNSET || server != servers.get(other)
}

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>, foreign: Foreign) {
    let pages = Arc::clone(source);
    registry.map("facts", move |context| {
        let writes = |name: &str| context.stage().writes.iter().any(|written| written == name);
        let mut by_server = match writes("by server") {
            true => Some(context.shuffle::<ServerPage>("by server")?),
            false => None,
        };
        let dates = match writes("published") {
            true => Some((
                context.state::<Numbers>("published")?,
                context.state::<Numbers>("fetched")?,
            )),
            false => None,
        };
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_some() {
                return Ok::<_, StageError>(());
            }
            if let Some((published, fetched)) = &dates {
                for (dates, date) in [(published, facts.published_at), (fetched, facts.fetched_at)]
                {
                    if let Some(date) = date {
                        dates.set(facts.number, seconds(date));
                    }
                }
            }
            if let Some(by_server) = &mut by_server {
                let Some(server) = server(foreign, &facts) else {
                    context.count("pages of no known server", 1);
                    return Ok(());
                };
                let hash = blake3::hash(server.as_bytes());
                let half = |at: usize| {
                    let bytes = hash.as_bytes().get(at..at + 8);
                    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
                    bytes.map_or(0, u64::from_be_bytes)
                };
                by_server.push(ServerPage {
                    server: [half(0), half(8)],
                    page: facts.number,
                    unused: 0,
                })?;
            }
            Ok(())
        })
    });
    registry.reduce::<ServerPage, _>("servers", |context, groups| {
        let servers = context.state::<Numbers>("servers")?;
        while let Some(group) = groups.next_group()? {
            let mut first = UNSET;
            for row in group {
                first = first.min(row.page);
                servers.set(row.page, first);
            }
        }
        Ok(())
    });
}

/// Finds the page that had a gram before all others, if it can be told.
///
/// A page is earlier than another by their dates of publication, where both have one, else by when they were fetched. So the first
/// one is the one that was published first, if those without such a date were fetched after it; or a page without such a date that was
/// fetched first of all.
pub(super) struct Earliest {
    published: Best,
    fetched: Best,
    /// When that page was fetched which was published first.
    published_fetched: u32,
    /// Whether the page that was fetched first has a date of publication.
    fetched_published: bool,
    /// The first fetch of a page without a date of publication.
    unpublished: u32,
    /// Whether there is a page without a date of publication.
    any_unpublished: bool,
    /// Whether there is one that has no date at all, or none of fetching.
    undated: bool,
    unfetched: bool,
}

/// The earliest date, and whose it is.
struct Best {
    date: u32,
    page: u32,
    tied: bool,
}

impl Best {
    const NONE: Best = Best {
        date: UNSET,
        page: UNSET,
        tied: false,
    };

    /// Whether this date is the earliest so far.
    fn see(&mut self, page: u32, date: u32) -> bool {
        if date == UNSET || date > self.date {
            return false;
        }
        let tied = date == self.date;
        *self = Best { date, page, tied };
        !tied
    }

    fn winner(&self) -> Option<u32> {
        (self.date != UNSET && !self.tied).then_some(self.page)
    }
}

impl Earliest {
    pub(super) fn new() -> Earliest {
        Earliest {
            published: Best::NONE,
            fetched: Best::NONE,
            published_fetched: UNSET,
            fetched_published: false,
            unpublished: UNSET,
            any_unpublished: false,
            undated: false,
            unfetched: false,
        }
    }

    #[inline]
    pub(super) fn see(&mut self, page: u32, published: u32, fetched: u32) {
        if self.published.see(page, published) {
            self.published_fetched = fetched;
        }
        if self.fetched.see(page, fetched) {
            self.fetched_published = published != UNSET;
        }
        self.unfetched |= fetched == UNSET;
        if published == UNSET {
            self.any_unpublished = true;
            self.unpublished = self.unpublished.min(fetched);
            self.undated |= fetched == UNSET;
        }
    }

    pub(super) fn first(&self) -> Option<u32> {
        let before_unpublished = !self.any_unpublished
            || (!self.undated
                && self.published_fetched != UNSET
                && self.published_fetched < self.unpublished);
        match self.published.winner() {
            Some(page) if before_unpublished => Some(page),
            _ if self.fetched_published || self.unfetched => None,
            _ => self.fetched.winner(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_earlier(one: (u32, u32), other: (u32, u32)) -> bool {
        if one.0 != UNSET && other.0 != UNSET {
            one.0 < other.0
        } else {
            one.1 != UNSET && other.1 != UNSET && one.1 < other.1
        }
    }

    proptest! {
        #[test]
        fn the_first_page_is_earlier_than_every_other(dates in prop::collection::vec((0u32..6, 0u32..6), 2..6)) {
            let dates: Vec<(u32, u32)> = dates
                .into_iter()
                .map(|(one, other)| (if one < 2 { UNSET } else { one }, if other < 1 { UNSET } else { other }))
                .collect();
            let mut earliest = Earliest::new();
            for (page, &(published, fetched)) in (0..).zip(&dates) {
                earliest.see(page, published, fetched);
            }
            let naive = (0..dates.len()).find(|&page| {
                (0..dates.len()).all(|other| other == page || is_earlier(dates[page], dates[other]))
            });
            prop_assert_eq!(earliest.first(), naive.map(|page| page as u32));
        }
    }

    #[test]
    fn dates_keep_their_order() {
        let dates = [
            i64::MIN,
            -700_000_000_000,
            0,
            999,
            1000,
            1_700_000_000_000,
            i64::MAX,
        ];
        assert!(
            dates
                .windows(2)
                .all(|pair| seconds(pair[0]) <= seconds(pair[1]))
        );
        assert_eq!(seconds(0), seconds(999));
        assert!(seconds(999) < seconds(1000) && seconds(i64::MAX) < UNSET);
    }
}

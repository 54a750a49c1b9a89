//! Exact copies: the same bytes, the same text, or a record that says so.

use std::sync::Arc;

use cento_flow::{Bitmap, Groups, Registry, StageError};

use super::params::{CopiesParams, Keep};
use super::rows::{Dated, Identity, PAYLOAD, Place, REVISIT, TEXT};
use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::numbers::Numbers;
use crate::precedence::Precedence;

/// How a page is related to the page that it points at. In order of weakness: a chain is as weak as
/// its weakest link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    /// The same payload.
    Bytes,
    /// A record without a payload that names one.
    Revisit,
    /// The same text in other bytes.
    Text,
    /// A near-copy; the bits of its resemblance, 0 if it was not verified.
    Near(u32),
}

/// Above all bits of numbers up to one.
const BYTES: u32 = 0x8000_0001;
const REVISITED: u32 = 0x8000_0002;
const SAME_TEXT: u32 = 0x8000_0003;

impl Link {
    /// As the number of a page.
    pub(super) fn number(self) -> u32 {
        match self {
            Link::Bytes => BYTES,
            Link::Revisit => REVISITED,
            Link::Text => SAME_TEXT,
            Link::Near(bits) => bits,
        }
    }

    pub(super) fn of_number(number: u32) -> Link {
        match number {
            BYTES => Link::Bytes,
            REVISITED => Link::Revisit,
            SAME_TEXT => Link::Text,
            bits => Link::Near(bits),
        }
    }
}

/// Ranks are below this; pages of a corpus that is compared with another one have it added, and so
/// come after all others.
const LATE: u32 = 1 << 31;

/// The rank of a page by a policy that needs no other page to tell it.
fn rank(keep: Keep, facts: &PageFacts<'_>) -> u32 {
    match keep {
        Keep::First | Keep::Earliest => 0,
        Keep::Longest => (LATE - 1).saturating_sub(facts.words),
        Keep::ShortestUrl => u32::try_from(facts.url.len()).unwrap_or(LATE).min(LATE - 1),
    }
}

/// Whether pages of these ranks may be compared: with a second corpus, only pages of one with pages
/// of the other.
pub(super) fn comparable(params: &CopiesParams, of: Place, page: Place) -> bool {
    !params.against || (of.rank >> 31 == 0 && page.rank >> 31 == 1)
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &CopiesParams) {
    let (pages, asked) = (Arc::clone(source), params.clone());
    registry.map("dates", move |context| {
        let ranks = context.state::<Numbers>("ranks")?;
        let mut by_date = context.shuffle::<Dated>("by date")?;
        pages.for_each_page(context.task()?, |facts| {
            let late = asked.against && facts.corpus > 0;
            if asked.keep == Keep::Earliest {
                let precedence = Precedence::of(&facts);
                by_date.push(Dated {
                    date: precedence.date,
                    page: facts.number,
                    tracked: u16::from(precedence.tracked),
                    late: u16::from(late),
                })?;
            } else {
                let rank = rank(asked.keep, &facts) + if late { LATE } else { 0 };
                ranks.set(facts.number, rank);
            }
            Ok::<_, StageError>(())
        })
    });
    // Dates of ten thousand years in milliseconds do not fit in 31 bits, but their ranks do.
    registry.reduce::<Dated, _>("rank", |context, groups| {
        let ranks = context.state::<Numbers>("ranks")?;
        let (mut rank, mut last) = (0u32, None);
        while let Some(group) = groups.next_group()? {
            for row in group {
                let now = (row.date, row.tracked);
                if last.is_some_and(|last| last != now) {
                    rank = (rank + 1).min(LATE - 1);
                }
                last = Some(now);
                ranks.set(row.page, rank + u32::from(row.late) * LATE);
            }
        }
        Ok(())
    });
    let pages = Arc::clone(source);
    registry.map("facts", move |context| {
        let ranks = context.state::<Numbers>("ranks")?;
        let mut by_text = context.shuffle::<Identity>("by text")?;
        let mut by_payload = context.shuffle::<Identity>("by payload")?;
        pages.for_each_page(context.task()?, |facts| {
            let rank = ranks.get(facts.number);
            let place = Place {
                rank,
                page: facts.number,
            };
            // An empty payload says nothing about who copied whom.
            let payload = facts
                .payload_sha1
                .filter(|_| facts.bytes > 0 || facts.revisit);
            // What others are compared with comes before them, whatever it is.
            let late = rank >> 31 << 2;
            if let Some(text) = facts.text_hash {
                by_text.push(Identity::new(text, place, payload, TEXT | late))?;
            }
            if let Some(payload) = payload {
                let sort = match (facts.text_hash, facts.revisit) {
                    (Some(_), _) => TEXT,
                    (None, false) => PAYLOAD,
                    (None, true) => REVISIT,
                };
                by_payload.push(Identity::new(payload, place, Some(payload), sort | late))?;
            }
            Ok::<_, StageError>(())
        })
    });
    let asked = params.clone();
    registry.reduce::<Identity, _>("same text", move |context, groups| {
        let duplicate = context.state::<Bitmap>("duplicate")?;
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
        );
        leaders(&asked, groups, |leader, row| {
            duplicate.set(u64::from(row.place.page));
            let same_bytes = row.payload == leader.payload && row.payload != 0;
            let link = if same_bytes { Link::Bytes } else { Link::Text };
            kept_of.set(row.place.page, leader.place.page);
            links.set(row.place.page, link.number());
        })
    });
    let asked = params.clone();
    registry.reduce::<Identity, _>("same payload", move |context, groups| {
        let same_bytes = context.state::<Bitmap>("same bytes")?;
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
        );
        leaders(&asked, groups, |leader, row| {
            // Pages with text have met by their text already, but perhaps one with this text and
            // other bytes.
            if row.sort & 3 == TEXT {
                same_bytes.set(u64::from(row.place.page));
                return;
            }
            let link = match row.sort & 3 {
                REVISIT => Link::Revisit,
                _ => Link::Bytes,
            };
            kept_of.set(row.place.page, leader.place.page);
            links.set(row.place.page, link.number());
        })
    });
}

/// Calls `each` with the first row of each group and every other one that may be compared with it.
fn leaders(
    params: &CopiesParams,
    groups: &mut Groups<'_, Identity>,
    mut each: impl FnMut(&Identity, &Identity),
) -> Result<(), StageError> {
    while let Some(mut group) = groups.next_group()? {
        let Some(leader) = group.next() else {
            continue;
        };
        for row in group {
            if comparable(params, leader.place, row.place) {
                each(&leader, &row);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_read_back_and_the_weakest_decides() {
        let near = Link::Near(0.9f32.to_bits());
        for link in [
            Link::Bytes,
            Link::Revisit,
            Link::Text,
            near,
            Link::Near(0),
            Link::Near(1f32.to_bits()),
        ] {
            assert_eq!(Link::of_number(link.number()), link);
        }
        assert_eq!(Link::Revisit.max(Link::Text), Link::Text);
        assert_eq!(Link::Revisit.max(Link::Bytes), Link::Revisit);
        assert_eq!(Link::Text.max(near), near);
    }
}

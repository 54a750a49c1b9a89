//! Exact duplicates: identical bytes, identical text, or a revisit record.

use std::sync::Arc;

use cento_flow::{Bitmap, Groups, Registry, StageError};

use super::copy_rows::{
    Dated, Identity, LATE_PAGE, MixedDate, PAGE, PAYLOAD, PageDate, RANK, REVISIT, RankedPage, TEXT,
};
use super::params::{CopiesParams, Keep};
use super::stage_names::{shuffle, stage, state};
use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::numbers::Numbers;
use crate::precedence::Precedence;

/// How a page is related to the page that it points to, strongest first: a chain is as strong as
/// its weakest link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CopyLink {
    /// Identical bytes.
    Bytes,
    /// A revisit record, which names a payload.
    Revisit,
    /// Identical text in different bytes.
    Text,
    /// A near-duplicate, with the bits of its resemblance as `f32`; 0 if it was not verified.
    Near(u32),
}

/// Numbers above the bits of every `f32` from 0 to 1.
const BYTES: u32 = 0x8000_0001;
const REVISITED: u32 = 0x8000_0002;
const SAME_TEXT: u32 = 0x8000_0003;

impl CopyLink {
    /// Returns the link as a value of a [`Numbers`] state.
    pub(super) fn number(self) -> u32 {
        match self {
            CopyLink::Bytes => BYTES,
            CopyLink::Revisit => REVISITED,
            CopyLink::Text => SAME_TEXT,
            CopyLink::Near(bits) => bits,
        }
    }

    pub(super) fn of_number(number: u32) -> CopyLink {
        match number {
            BYTES => CopyLink::Bytes,
            REVISITED => CopyLink::Revisit,
            SAME_TEXT => CopyLink::Text,
            bits => CopyLink::Near(bits),
        }
    }
}

/// Added to the ranks of pages of a corpus that is compared with another one, so that they come
/// after all others. Ranks are below it.
const LATE: u32 = 1 << 31;
/// The rank of pages without a date and without tracking parameters in their URLs; of those with,
/// it is one more. Dated pages have lower ranks.
const UNDATED: u32 = LATE - 2;

/// Returns the rank of a page by a policy that does not compare pages.
fn rank(keep: Keep, facts: &PageFacts<'_>) -> u32 {
    match keep {
        Keep::First | Keep::Earliest => 0,
        Keep::Longest => (LATE - 1).saturating_sub(facts.words),
        Keep::ShortestUrl => u32::try_from(facts.url.len()).unwrap_or(LATE).min(LATE - 1),
    }
}

/// Whether two pages may be compared: with a second corpus, only pages of one with pages of the
/// other.
pub(super) fn comparable(params: &CopiesParams, of: RankedPage, page: RankedPage) -> bool {
    !params.against || (of.rank >> 31 == 0 && page.rank >> 31 == 1)
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &CopiesParams) {
    register_ranks(registry, source, params);
    let pages = Arc::clone(source);
    registry.map(stage::FACTS, move |context| {
        let ranks = context.state::<Numbers>(state::RANKS)?;
        let mut by_text = context.shuffle::<Identity>(shuffle::BY_TEXT)?;
        let mut by_payload = context.shuffle::<Identity>(shuffle::BY_PAYLOAD)?;
        pages.for_each_page(context.task()?, |facts| {
            let rank = ranks.get(facts.number);
            let place = RankedPage {
                rank,
                page: facts.number,
            };
            // Pages with empty payloads are not duplicates of each other.
            let payload = facts
                .payload_sha1
                .filter(|_| facts.bytes > 0 || facts.revisit);
            // Pages of the first corpus precede all pages of the second.
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
    let settings = params.clone();
    registry.reduce::<Identity, _>(stage::SAME_TEXT, move |context, groups| {
        let duplicate = context.state::<Bitmap>(state::DUPLICATE)?;
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        leaders(&settings, groups, |leader, row| {
            duplicate.set(u64::from(row.place.page));
            let same_bytes = row.payload == leader.payload && row.payload != 0;
            let link = if same_bytes {
                CopyLink::Bytes
            } else {
                CopyLink::Text
            };
            kept_of.set(row.place.page, leader.place.page);
            links.set(row.place.page, link.number());
        })
    });
    let settings = params.clone();
    registry.reduce::<Identity, _>(stage::SAME_PAYLOAD, move |context, groups| {
        let same_bytes = context.state::<Bitmap>(state::SAME_BYTES)?;
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        leaders(&settings, groups, |leader, row| {
            // Pages with text are matched by their text, perhaps to a page with the same text in
            // different bytes.
            if row.sort & 3 == TEXT {
                same_bytes.set(u64::from(row.place.page));
                return;
            }
            let link = match row.sort & 3 {
                REVISIT => CopyLink::Revisit,
                _ => CopyLink::Bytes,
            };
            kept_of.set(row.place.page, leader.place.page);
            links.set(row.place.page, link.number());
        })
    });
}

/// Registers the stages that rank pages.
///
/// A date in milliseconds does not fit in 31 bits, but its rank does. Only distinct dates are
/// sorted by a single task; their ranks are then joined with the pages.
fn register_ranks(registry: &mut Registry, source: &Arc<CorpusPages>, params: &CopiesParams) {
    let (pages, settings) = (Arc::clone(source), params.clone());
    registry.map(stage::DATES, move |context| {
        let ranks = context.state::<Numbers>(state::RANKS)?;
        let mut dates = context.shuffle::<MixedDate>(shuffle::DATES)?;
        let mut by_date = context.shuffle::<Dated>(shuffle::BY_DATE)?;
        let mut last = None;
        pages.for_each_page(context.task()?, |facts| {
            let late = settings.against && facts.corpus > 0;
            if settings.keep != Keep::Earliest {
                let rank = rank(settings.keep, &facts) + if late { LATE } else { 0 };
                ranks.set(facts.number, rank);
                return Ok(());
            }
            let precedence = Precedence::of(&facts);
            let tracked = u32::from(precedence.tracked);
            if precedence.date == u64::MAX {
                // Without a date: after all others.
                ranks.set(facts.number, UNDATED + tracked + u32::from(late) * LATE);
                return Ok(());
            }
            let date = PageDate {
                date: precedence.date,
                tracked,
            };
            if last != Some(date) {
                last = Some(date);
                dates.push(MixedDate(date))?;
            }
            by_date.push(Dated {
                date,
                number: facts.number,
                kind: if late { LATE_PAGE } else { PAGE },
            })?;
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<MixedDate, _>(stage::DISTINCT_DATES, |context, groups| {
        let mut distinct = context.shuffle::<PageDate>(shuffle::DISTINCT_DATES)?;
        while let Some(group) = groups.next_group()? {
            let mut last = None;
            for MixedDate(date) in group {
                if last != Some(date) {
                    last = Some(date);
                    distinct.push(date)?;
                }
            }
        }
        Ok(())
    });
    registry.reduce::<PageDate, _>(stage::RANK, |context, groups| {
        let mut by_date = context.shuffle::<Dated>(shuffle::BY_DATE)?;
        let mut rank = 0u32;
        while let Some(group) = groups.next_group()? {
            for date in group {
                by_date.push(Dated {
                    date,
                    number: rank,
                    kind: RANK,
                })?;
                rank = (rank + 1).min(UNDATED - 1);
            }
        }
        Ok(())
    });
    registry.reduce::<Dated, _>(stage::RANK_PAGES, |context, groups| {
        let ranks = context.state::<Numbers>(state::RANKS)?;
        while let Some(group) = groups.next_group()? {
            let mut rank = 0;
            for row in group {
                match row.kind {
                    RANK => rank = row.number,
                    kind => ranks.set(row.number, rank + u32::from(kind == LATE_PAGE) * LATE),
                }
            }
        }
        Ok(())
    });
}

/// Calls `each` with the first row of each group and every other row that may be compared with it.
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
    fn links_survive_a_round_trip_and_the_weakest_decides() {
        let near = CopyLink::Near(0.9f32.to_bits());
        for link in [
            CopyLink::Bytes,
            CopyLink::Revisit,
            CopyLink::Text,
            near,
            CopyLink::Near(0),
            CopyLink::Near(1f32.to_bits()),
        ] {
            assert_eq!(CopyLink::of_number(link.number()), link);
        }
        assert_eq!(CopyLink::Revisit.max(CopyLink::Text), CopyLink::Text);
        assert_eq!(CopyLink::Revisit.max(CopyLink::Bytes), CopyLink::Revisit);
        assert_eq!(CopyLink::Text.max(near), near);
    }
}

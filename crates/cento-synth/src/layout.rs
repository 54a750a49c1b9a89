//! The kind of each page, and which pages it copies: computed from its number, not stored in a
//! table.
//!
//! ```text
//!   place in the archives   0 1 2 3 4 5 …            file = place / pages per file
//!        │  scatter: place × odd step mod pages       (kinds are mixed in every file)
//!        ▼
//!   number                  [articles …][exact …][near …][quilts …] …
//!                            └ block 0 ┘└ block 1 ┘    50 articles of one language on 9 sites
//! ```
//!
//! Every page with copied text belongs to a block of articles and copies from that block. Within a
//! block, each article serves one purpose: it is copied as a whole by exact copies, aliases,
//! revisits or near-duplicates, or as part of a mirrored site; or each of its three slots is the
//! source of one patch of one page. No passage has two sources, so a finding is either in the truth
//! or wrong.

use crate::error::{Error, Result};
use crate::language::Language;
use crate::random::{Purpose, Random};
use crate::settings::{PageKind, SynthSettings};

/// The number of articles of a block.
pub(crate) const BLOCK: u64 = 50;

/// The sizes of the sites of a block: a few large ones and many small ones.
pub(crate) const SITES: [u64; 9] = [22, 10, 6, 4, 3, 2, 1, 1, 1];

/// The mirrored site of a block, its first article and its number of articles.
pub(crate) const MIRRORED_SITE: u64 = 2;
const MIRRORED_FIRST: u64 = 32;
pub(crate) const MIRRORED: u64 = 6;

/// The number of slots of an article: parts that can be copied.
pub(crate) const SLOTS: u64 = 3;

/// The number of articles of a block for each kind of whole copy; and of those with slots.
const WHOLE: u64 = 4;
const SLOT_SOURCES: u64 = BLOCK - MIRRORED - 4 * WHOLE;

/// The number of slots of a block.
const SLOTS_PER_BLOCK: u64 = SLOT_SOURCES * SLOTS;

/// The maximum number of near-duplicates of an article. The truth has the resemblance of each pair
/// of them.
const MOST_SIBLINGS: u64 = 8;

/// The maximum number of passages of a page.
pub(crate) const MOST_PASSAGES: u64 = 2;

/// The number of originals on the site of a publisher.
pub(crate) const ORIGINALS_A_SITE: u64 = 25;

/// A page of the crawl: its kind, and its index among the pages of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageRole {
    pub(crate) kind: PageKind,
    pub(crate) index: u64,
}

/// A part of an article that is copied by one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(crate) article: u64,
    pub(crate) slot: u64,
}

/// The plan of a crawl.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) settings: SynthSettings,
    schedule: Vec<Language>,
    /// The number of pages of each kind.
    counts: [u64; PageKind::ALL.len()],
    /// The number of complete blocks of articles. Articles after the last one are not copied.
    pub(crate) blocks: u64,
    step: u64,
    shift: u64,
}

impl Layout {
    pub(crate) fn new(settings: SynthSettings) -> Result<Layout> {
        settings.validate()?;
        let schedule = settings.schedule()?;
        let mut counts = PageKind::ALL.map(|kind| match kind {
            PageKind::Article => 0,
            _ => (settings.mix.share(kind) * settings.pages as f64).round() as u64,
        });
        let others: u64 = counts.iter().sum();
        let articles = settings.pages.saturating_sub(others);
        if let Some(count) = counts.first_mut() {
            *count = articles;
        }
        let (step, shift) = scatter(&settings);
        let layout = Layout {
            settings,
            schedule,
            counts,
            blocks: articles / BLOCK,
            step,
            shift,
        };
        layout.check_capacity()?;
        Ok(layout)
    }

    /// Fails if there are too few articles to copy from.
    fn check_capacity(&self) -> Result<()> {
        let copying = [
            PageKind::Exact,
            PageKind::Near,
            PageKind::Quilt,
            PageKind::Aggregator,
            PageKind::Passage,
            PageKind::Mirror,
            PageKind::Alias,
            PageKind::Revisit,
        ];
        if self.blocks == 0 && copying.iter().any(|&kind| self.count(kind) > 0) {
            return Err(Error::wrong(
                format!(
                    "with {} pages there are {} articles to copy from; at least {BLOCK} are needed",
                    self.settings.pages,
                    self.count(PageKind::Article)
                ),
                "increase --pages, or reduce the shares of other kinds",
            ));
        }
        if self.each(PageKind::Near) > WHOLE * MOST_SIBLINGS {
            return Err(Error::wrong(
                "there are too few articles for this many near-duplicates".to_owned(),
                "reduce --near, or the shares of kinds that are not copied from articles",
            ));
        }
        if self.slots_of_quilts()
            + self.slots_of_aggregators()
            + self.each(PageKind::Passage) * MOST_PASSAGES
            > SLOTS_PER_BLOCK
        {
            return Err(Error::wrong(
                "there are too few articles for this many patches and passages".to_owned(),
                "reduce --quilts, --aggregators, --passages or --quilt-sources",
            ));
        }
        if self.count(PageKind::Stolen) > 0 && self.originals() == 0 {
            return Err(Error::wrong(
                "there are stolen pages, but no originals to copy".to_owned(),
                "set --originals to a share above 0, or --stolen to 0",
            ));
        }
        Ok(())
    }

    /// The number of pages of a kind.
    pub(crate) fn count(&self, kind: PageKind) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or_default()
    }

    /// The maximum number of pages of a kind per block.
    fn each(&self, kind: PageKind) -> u64 {
        self.count(kind).div_ceil(self.blocks.max(1))
    }

    pub(crate) fn most_sources(&self) -> u64 {
        self.settings.quilt_sources + 1
    }

    fn slots_of_quilts(&self) -> u64 {
        self.each(PageKind::Quilt) * self.most_sources()
    }

    fn slots_of_aggregators(&self) -> u64 {
        self.each(PageKind::Aggregator) * self.most_sources()
    }

    /// The role of the page at a place of the archives.
    pub(crate) fn at(&self, place: u64) -> PageRole {
        let pages = u128::from(self.settings.pages);
        let number = (u128::from(place) * u128::from(self.step) + u128::from(self.shift)) % pages;
        let mut number = number as u64;
        for kind in PageKind::ALL {
            let count = self.count(kind);
            if number < count {
                return PageRole {
                    kind,
                    index: number,
                };
            }
            number -= count;
        }
        // Counts sum to the number of pages, so this is never reached.
        PageRole {
            kind: PageKind::Article,
            index: 0,
        }
    }

    /// The places of a file.
    pub(crate) fn places(&self, file: u64) -> std::ops::Range<u64> {
        let (pages, files) = (
            u128::from(self.settings.pages),
            u128::from(self.settings.files),
        );
        let border = |file: u64| (pages * u128::from(file) / files) as u64;
        border(file)..border(file + 1)
    }

    /// The language with this number in the schedule.
    pub(crate) fn language(&self, number: u64) -> Language {
        let index = number % self.schedule.len().max(1) as u64;
        self.schedule
            .get(index as usize)
            .copied()
            .unwrap_or(Language::English)
    }

    pub(crate) fn languages(&self) -> u64 {
        self.schedule.len() as u64
    }

    /// All languages of the crawl, without repetitions.
    pub(crate) fn all_languages(&self) -> Vec<Language> {
        let mut languages = self.schedule.clone();
        languages.sort_unstable();
        languages.dedup();
        languages
    }

    pub(crate) fn article_language(&self, article: u64) -> Language {
        self.language(article / BLOCK)
    }

    fn block(&self, index: u64) -> (u64, u64) {
        let blocks = self.blocks.max(1);
        (index % blocks, index / blocks)
    }

    /// The article that a page copies as a whole, and the number of earlier copies of it.
    pub(crate) fn whole(&self, role: PageRole) -> (u64, u64) {
        let (block, turn) = self.block(role.index);
        let pool = match role.kind {
            PageKind::Exact => 0,
            PageKind::Alias => 1,
            PageKind::Revisit => 2,
            _ => 3,
        };
        let position = pooled(pool * WHOLE + turn % WHOLE);
        (block * BLOCK + position, turn / WHOLE)
    }

    /// The near-duplicate of the same article with this number.
    pub(crate) fn sibling(&self, index: u64, sibling: u64) -> PageRole {
        let (block, turn) = self.block(index);
        PageRole {
            kind: PageKind::Near,
            index: block + self.blocks * (turn % WHOLE + sibling * WHOLE),
        }
    }

    /// The article that a page of a mirror copies, and the number of the mirror.
    pub(crate) fn mirrored(&self, index: u64) -> (u64, u64) {
        let (block, turn) = self.block(index / MIRRORED);
        (block * BLOCK + MIRRORED_FIRST + index % MIRRORED, turn)
    }

    /// The slots that are reserved for a page. It may use fewer.
    pub(crate) fn slots(&self, role: PageRole) -> Vec<Slot> {
        let (block, turn) = self.block(role.index);
        let (first, count) = match role.kind {
            PageKind::Quilt => (turn * self.most_sources(), self.most_sources()),
            PageKind::Aggregator => (
                self.slots_of_quilts() + turn * self.most_sources(),
                self.most_sources(),
            ),
            _ => (
                self.slots_of_quilts() + self.slots_of_aggregators() + turn * MOST_PASSAGES,
                MOST_PASSAGES,
            ),
        };
        (first..first + count)
            .map(|number| Slot {
                // Consecutive numbers are different articles; each round through them takes the
                // next slot.
                article: block * BLOCK + pooled(4 * WHOLE + number % SLOT_SOURCES),
                slot: number / SLOT_SOURCES % SLOTS,
            })
            .collect()
    }

    /// The number of originals. The first third is only in the archives, the last third only in the
    /// folder of originals.
    pub(crate) fn originals(&self) -> u64 {
        self.count(PageKind::Original) * 3 / 2
    }

    /// Whether an original is a page of the crawl.
    pub(crate) fn is_crawled(&self, original: u64) -> bool {
        original < self.count(PageKind::Original)
    }

    /// Whether an original is in the folder of originals.
    pub(crate) fn is_filed(&self, original: u64) -> bool {
        original >= self.first_filed()
    }

    /// The first original in the folder of originals. All later ones are in it too.
    pub(crate) fn first_filed(&self) -> u64 {
        self.count(PageKind::Original) / 2
    }
}

/// The position in a block of the n-th article that is not mirrored, in an order that cycles
/// through all sites.
fn pooled(number: u64) -> u64 {
    // 44 articles are not mirrored. 17 and 44 have no common divisor, so each article has its turn.
    let position = number % (BLOCK - MIRRORED) * 17 % (BLOCK - MIRRORED);
    if position < MIRRORED_FIRST {
        position
    } else {
        position + MIRRORED
    }
}

/// A step near the golden section of the number of pages, without a common divisor with it, and a
/// shift.
fn scatter(settings: &SynthSettings) -> (u64, u64) {
    let pages = settings.pages;
    let mut random = Random::new(settings.seed, Purpose::Order, 0);
    let mut step = ((pages as f64 * 0.618_034) as u64).max(1);
    while divisor(step, pages) != 1 {
        step += 1;
    }
    (step, random.below(pages))
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn layout(pages: u64) -> Layout {
        Layout::new(SynthSettings::new(1, pages)).unwrap()
    }

    #[test]
    fn every_page_has_one_place() {
        for pages in [200, 997, 5_000, 12_345] {
            let layout = layout(pages);
            let mut seen = HashSet::new();
            for file in 0..layout.settings.files {
                for place in layout.places(file) {
                    assert!(seen.insert(layout.at(place)));
                }
            }
            assert_eq!(seen.len() as u64, pages);
            for kind in PageKind::ALL {
                let found = seen.iter().filter(|role| role.kind == kind).count() as u64;
                assert_eq!(found, layout.count(kind), "{kind:?}");
            }
        }
    }

    #[test]
    fn no_slot_is_used_twice_and_no_article_serves_two_purposes() {
        let layout = layout(9_000);
        let mut slots = HashSet::new();
        let mut purposes: HashMap<u64, PageKind> = HashMap::new();
        let mut serves = |article: u64, kind: PageKind| {
            assert!(article < layout.count(PageKind::Article));
            assert_eq!(*purposes.entry(article).or_insert(kind), kind, "{article}");
        };
        for kind in [PageKind::Quilt, PageKind::Aggregator, PageKind::Passage] {
            for index in 0..layout.count(kind) {
                let slots_of_page = layout.slots(PageRole { kind, index });
                let articles: HashSet<u64> =
                    slots_of_page.iter().map(|slot| slot.article).collect();
                assert_eq!(articles.len(), slots_of_page.len());
                for slot in slots_of_page {
                    assert!(slots.insert(slot), "{slot:?}");
                    serves(slot.article, PageKind::Quilt);
                }
            }
        }
        for kind in [
            PageKind::Exact,
            PageKind::Alias,
            PageKind::Revisit,
            PageKind::Near,
        ] {
            for index in 0..layout.count(kind) {
                serves(layout.whole(PageRole { kind, index }).0, kind);
            }
        }
        for index in 0..layout.count(PageKind::Mirror) {
            serves(layout.mirrored(index).0, PageKind::Mirror);
        }
    }

    #[test]
    fn siblings_are_copies_of_the_same_article() {
        let mut settings = SynthSettings::new(1, 9_000);
        settings.mix.set(PageKind::Near, 0.1);
        let layout = Layout::new(settings).unwrap();
        for index in 0..layout.count(PageKind::Near) {
            let role = PageRole {
                kind: PageKind::Near,
                index,
            };
            let (article, before) = layout.whole(role);
            for sibling in 0..before {
                let other = layout.sibling(index, sibling);
                assert!(other.index < index);
                assert_eq!(layout.whole(other), (article, sibling));
            }
            assert_eq!(layout.sibling(index, before), role);
        }
    }

    #[test]
    fn invalid_settings_are_refused_with_a_hint() {
        let refused = |change: &dyn Fn(&mut SynthSettings)| {
            let mut settings = SynthSettings::new(1, 1_000);
            change(&mut settings);
            let error = Layout::new(settings).unwrap_err();
            assert!(error.hint().is_some());
            error.to_string()
        };
        assert!(refused(&|settings| settings.pages = 60).contains("to copy from"));
        assert!(refused(&|settings| settings.mix.set(PageKind::News, 0.9)).contains("sum to"));
        assert!(
            refused(&|settings| settings.mix.set(PageKind::Near, 0.55)).contains("near-duplicates")
        );
        assert!(refused(&|settings| settings.mix.set(PageKind::Quilt, 0.3)).contains("patches"));
        assert!(
            refused(&|settings| settings.languages = vec![("xx".to_owned(), 1)]).contains("`xx`")
        );
        assert!(refused(&|settings| settings.edit_rates = vec![0.7]).contains("edit rates"));
    }
}

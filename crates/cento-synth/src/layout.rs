//! Which page is what, and who copies whom: worked out from numbers, never looked up in a table.
//!
//! ```text
//!   place in the archives   0 1 2 3 4 5 …            file = place / pages a file
//!        │  scatter: place × odd step mod pages       (kinds are mixed in every file)
//!        ▼
//!   number                  [articles …][exact …][near …][quilts …] …
//!                            └ block 0 ┘└ block 1 ┘    50 articles of one language on 9 sites
//! ```
//!
//! Every page that copies belongs to a block of articles and copies from it. Within a block, each
//! article serves one purpose: it is copied as a whole by exact copies, or by aliases, or by
//! revisits, or by near-copies, or as part of a site that is mirrored; or it gives its three slots,
//! each to one patch of one page. So whoever finds a patch elsewhere has found an error, or has
//! found what truth says: no passage has two sources.

use crate::error::{Error, Result};
use crate::language::Language;
use crate::random::{Purpose, Random};
use crate::settings::{Kind, Settings};

/// Articles of a block.
pub(crate) const BLOCK: u64 = 50;

/// How the articles of a block are spread over sites: a few large ones and many small ones.
pub(crate) const SITES: [u64; 9] = [22, 10, 6, 4, 3, 2, 1, 1, 1];

/// The site of a block that is mirrored, its first article and how many it has.
pub(crate) const MIRRORED_SITE: u64 = 2;
const MIRRORED_FIRST: u64 = 32;
pub(crate) const MIRRORED: u64 = 6;

/// Parts of an article that can be given away.
pub(crate) const SLOTS: u64 = 3;

/// Articles of a block that serve each purpose, besides those that are mirrored.
const WHOLE: u64 = 4;
const GIVERS: u64 = BLOCK - MIRRORED - 4 * WHOLE;

/// Slots of a block.
const GIVEN: u64 = GIVERS * SLOTS;

/// Near-copies that one article may have: truth tells the resemblance of each two of them.
const MOST_SIBLINGS: u64 = 8;

/// Passages that a page of passages may have.
pub(crate) const MOST_PASSAGES: u64 = 2;

/// How many publishers' pages there are on a site.
pub(crate) const ORIGINALS_A_SITE: u64 = 25;

/// A page of the crawl: what it is, and the how-manieth of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Role {
    pub(crate) kind: Kind,
    pub(crate) index: u64,
}

/// A part of an article that is given to one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(crate) article: u64,
    pub(crate) slot: u64,
}

/// The plan of a crawl.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) settings: Settings,
    schedule: Vec<Language>,
    /// How many pages each kind has.
    counts: [u64; Kind::ALL.len()],
    /// Whole blocks of articles; articles beyond the last whole one are copied by none.
    pub(crate) blocks: u64,
    step: u64,
    shift: u64,
}

impl Layout {
    pub(crate) fn new(settings: Settings) -> Result<Layout> {
        settings.validate()?;
        let schedule = settings.schedule()?;
        let mut counts = Kind::ALL.map(|kind| match kind {
            Kind::Article => 0,
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

    /// Refuses more copying than there are articles to copy from.
    fn check_capacity(&self) -> Result<()> {
        let copying = [
            Kind::Exact,
            Kind::Near,
            Kind::Quilt,
            Kind::Aggregator,
            Kind::Passage,
            Kind::Mirror,
            Kind::Alias,
            Kind::Revisit,
        ];
        if self.blocks == 0 && copying.iter().any(|&kind| self.count(kind) > 0) {
            return Err(Error::wrong(
                format!(
                    "{} pages leave {} articles to copy from, and {BLOCK} are needed",
                    self.settings.pages,
                    self.count(Kind::Article)
                ),
                "give more --pages, or lower the shares of other content",
            ));
        }
        if self.each(Kind::Near) > WHOLE * MOST_SIBLINGS {
            return Err(Error::wrong(
                "there are too few articles for so many near-copies".to_owned(),
                "lower --near, or the shares of content that is not copied from articles",
            ));
        }
        if self.slots_of_quilts()
            + self.slots_of_aggregators()
            + self.each(Kind::Passage) * MOST_PASSAGES
            > GIVEN
        {
            return Err(Error::wrong(
                "there are too few articles for so many patches and passages".to_owned(),
                "lower --quilts, --aggregators, --passages or --quilt-sources",
            ));
        }
        if self.count(Kind::Stolen) > 0 && self.originals() == 0 {
            return Err(Error::wrong(
                "there are stolen pages, and no originals to steal".to_owned(),
                "give --originals a share, or set --stolen 0",
            ));
        }
        Ok(())
    }

    /// How many pages there are of a kind.
    pub(crate) fn count(&self, kind: Kind) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or_default()
    }

    /// How many pages of a kind fall to one block, at most.
    fn each(&self, kind: Kind) -> u64 {
        self.count(kind).div_ceil(self.blocks.max(1))
    }

    pub(crate) fn most_sources(&self) -> u64 {
        self.settings.quilt_sources + 1
    }

    fn slots_of_quilts(&self) -> u64 {
        self.each(Kind::Quilt) * self.most_sources()
    }

    fn slots_of_aggregators(&self) -> u64 {
        self.each(Kind::Aggregator) * self.most_sources()
    }

    /// What stands at a place of the archives.
    pub(crate) fn at(&self, place: u64) -> Role {
        let pages = u128::from(self.settings.pages);
        let number = (u128::from(place) * u128::from(self.step) + u128::from(self.shift)) % pages;
        let mut number = number as u64;
        for kind in Kind::ALL {
            let count = self.count(kind);
            if number < count {
                return Role {
                    kind,
                    index: number,
                };
            }
            number -= count;
        }
        // Counts sum to the number of pages, so this is never reached.
        Role {
            kind: Kind::Article,
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

    /// The language of the n-th of anything.
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

    /// The languages that there are, each once.
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

    /// The article that a page copies as a whole, and how many such copies of it come before this
    /// one.
    pub(crate) fn whole(&self, role: Role) -> (u64, u64) {
        let (block, turn) = self.block(role.index);
        let pool = match role.kind {
            Kind::Exact => 0,
            Kind::Alias => 1,
            Kind::Revisit => 2,
            _ => 3,
        };
        let position = pooled(pool * WHOLE + turn % WHOLE);
        (block * BLOCK + position, turn / WHOLE)
    }

    /// The near-copy that came before as the `sibling`-th of the same article.
    pub(crate) fn sibling(&self, index: u64, sibling: u64) -> Role {
        let (block, turn) = self.block(index);
        Role {
            kind: Kind::Near,
            index: block + self.blocks * (turn % WHOLE + sibling * WHOLE),
        }
    }

    /// The article that a page of a mirror repeats, and which mirror of its site it is.
    pub(crate) fn mirrored(&self, index: u64) -> (u64, u64) {
        let (block, turn) = self.block(index / MIRRORED);
        (block * BLOCK + MIRRORED_FIRST + index % MIRRORED, turn)
    }

    /// The slots that a page was given, most of them first; it may use fewer.
    pub(crate) fn slots(&self, role: Role) -> Vec<Slot> {
        let (block, turn) = self.block(role.index);
        let (first, count) = match role.kind {
            Kind::Quilt => (turn * self.most_sources(), self.most_sources()),
            Kind::Aggregator => (
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
                // Neighbouring numbers are different articles; each round through them gives the
                // next slot.
                article: block * BLOCK + pooled(4 * WHOLE + number % GIVERS),
                slot: number / GIVERS % SLOTS,
            })
            .collect()
    }

    /// All originals. The first third is in the archives alone, the last third in the folder alone.
    pub(crate) fn originals(&self) -> u64 {
        self.count(Kind::Original) * 3 / 2
    }

    /// Whether an original is a page of the crawl.
    pub(crate) fn is_crawled(&self, original: u64) -> bool {
        original < self.count(Kind::Original)
    }

    /// Whether an original is in the folder of originals.
    pub(crate) fn is_filed(&self, original: u64) -> bool {
        original >= self.first_filed()
    }

    /// The first original that is in the folder; all after it are.
    pub(crate) fn first_filed(&self) -> u64 {
        self.count(Kind::Original) / 2
    }
}

/// The position in a block of the n-th article that is not mirrored, in an order that goes through
/// all sites.
fn pooled(number: u64) -> u64 {
    // 44 articles are not mirrored; 17 has no divisor in common with 44, so every one has its turn.
    let position = number % (BLOCK - MIRRORED) * 17 % (BLOCK - MIRRORED);
    if position < MIRRORED_FIRST {
        position
    } else {
        position + MIRRORED
    }
}

/// A step without a common divisor with the number of pages, near the golden section of it, and a
/// shift.
fn scatter(settings: &Settings) -> (u64, u64) {
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
        Layout::new(Settings::new(1, pages)).unwrap()
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
            for kind in Kind::ALL {
                let found = seen.iter().filter(|role| role.kind == kind).count() as u64;
                assert_eq!(found, layout.count(kind), "{kind:?}");
            }
        }
    }

    #[test]
    fn no_slot_is_given_twice_and_no_article_serves_two_purposes() {
        let layout = layout(9_000);
        let mut slots = HashSet::new();
        let mut purposes: HashMap<u64, Kind> = HashMap::new();
        let mut serves = |article: u64, kind: Kind| {
            assert!(article < layout.count(Kind::Article));
            assert_eq!(*purposes.entry(article).or_insert(kind), kind, "{article}");
        };
        for kind in [Kind::Quilt, Kind::Aggregator, Kind::Passage] {
            for index in 0..layout.count(kind) {
                let given = layout.slots(Role { kind, index });
                let articles: HashSet<u64> = given.iter().map(|slot| slot.article).collect();
                assert_eq!(articles.len(), given.len());
                for slot in given {
                    assert!(slots.insert(slot), "{slot:?}");
                    serves(slot.article, Kind::Quilt);
                }
            }
        }
        for kind in [Kind::Exact, Kind::Alias, Kind::Revisit, Kind::Near] {
            for index in 0..layout.count(kind) {
                serves(layout.whole(Role { kind, index }).0, kind);
            }
        }
        for index in 0..layout.count(Kind::Mirror) {
            serves(layout.mirrored(index).0, Kind::Mirror);
        }
    }

    #[test]
    fn siblings_are_copies_of_the_same_article() {
        let mut settings = Settings::new(1, 9_000);
        settings.mix.set(Kind::Near, 0.1);
        let layout = Layout::new(settings).unwrap();
        for index in 0..layout.count(Kind::Near) {
            let role = Role {
                kind: Kind::Near,
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
    fn what_cannot_be_is_refused_with_a_hint() {
        let refused = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::new(1, 1_000);
            change(&mut settings);
            let error = Layout::new(settings).unwrap_err();
            assert!(error.hint().is_some());
            error.to_string()
        };
        assert!(refused(&|settings| settings.pages = 60).contains("to copy from"));
        assert!(refused(&|settings| settings.mix.set(Kind::News, 0.9)).contains("sum to"));
        assert!(refused(&|settings| settings.mix.set(Kind::Near, 0.55)).contains("near-copies"));
        assert!(refused(&|settings| settings.mix.set(Kind::Quilt, 0.3)).contains("patches"));
        assert!(
            refused(&|settings| settings.languages = vec![("xx".to_owned(), 1)]).contains("`xx`")
        );
        assert!(refused(&|settings| settings.edit_rates = vec![0.7]).contains("edit rates"));
    }
}

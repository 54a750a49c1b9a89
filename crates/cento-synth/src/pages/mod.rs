//! Pages: each a pure function of the settings and of its number.
//!
//! A page that copies makes its sources anew, as often as it needs them. That costs some time and
//! no memory, and it is what lets any number of threads write any number of pages without a word
//! between them.

mod bad;
mod copies;
mod stitched;

use std::ops::Range;

use crate::edit::Run;
use crate::language::Language;
use crate::layout::{BLOCK, Layout, ORIGINALS_A_SITE, Role, SITES, SLOTS};
use crate::prose::{self, PARAGRAPH_WORDS, Prose};
use crate::random::{Purpose, Random, mix};
use crate::settings::Kind;
use crate::site::{Site, Sort, slug};

pub(crate) use bad::{
    FARM_HOSTS, FARM_PAGES, NEWS_PAGES, TRAP_PAGES, clean_prefix, is_clean, stolen_prefix,
    thief_site,
};
pub(crate) use copies::MirrorHost;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// 2022-01-01, when the first article may have been published.
const FIRST_PUBLISHED: i64 = 1_640_995_200_000;
/// 2025-03-01, when the crawl begins. Whatever copies is fetched a month later.
const FIRST_FETCHED: i64 = 1_740_787_200_000;

/// How a passage was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Byte for byte.
    Verbatim,
    /// With words replaced, left out and put in.
    Edited,
    /// With its sentences in another order.
    Reordered,
}

/// Where a block came from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Role,
    /// Which block of the source.
    pub(crate) block: usize,
    /// What of the block is the same there; places are in the text of the block.
    pub(crate) runs: Vec<Run>,
    pub(crate) how: How,
    pub(crate) rate: f64,
    /// Blocks of one passage have the same number.
    pub(crate) passage: u32,
}

/// A heading or a paragraph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) heading: bool,
    pub(crate) prose: Prose,
    pub(crate) origin: Option<Origin>,
    /// A link that stands behind it, in a paragraph of its own: its address and its words.
    pub(crate) link: Option<(String, String)>,
}

/// What a page says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) blocks: Vec<Block>,
    /// The blocks of each slot.
    pub(crate) slots: Vec<Range<usize>>,
    /// Links below the text.
    pub(crate) links: Vec<String>,
}

impl Body {
    pub(crate) fn title(&self) -> &str {
        self.blocks
            .first()
            .map_or("", |block| block.prose.text.as_str())
    }

    fn heading(&mut self, text: String) {
        self.blocks.push(Block {
            heading: true,
            prose: Prose {
                text,
                ..Prose::default()
            },
            ..Block::default()
        });
    }

    fn paragraph(&mut self, prose: Prose) {
        self.blocks.push(Block {
            prose,
            ..Block::default()
        });
    }
}

/// A page of the crawl, ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) role: Role,
    pub(crate) url: String,
    pub(crate) address: String,
    pub(crate) language: Language,
    /// Whether the page says in which language it is.
    pub(crate) tells_language: bool,
    /// The site whose template it wears.
    pub(crate) template: Site,
    pub(crate) body: Body,
    /// The pages that its blocks come from, in the order of their first blocks: they were made to
    /// make it, and whoever tells the truth about it needs them again.
    pub(crate) sources: Vec<Page>,
    /// When it says that it was published.
    pub(crate) published: Option<i64>,
    pub(crate) fetched: i64,
    /// What the markup is drawn by: pages with the same body, template and markup have the same
    /// bytes.
    pub(crate) markup: u64,
}

/// Makes the pages of a layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) layout: &'a Layout,
}

impl<'a> Maker<'a> {
    pub(crate) fn seed(&self) -> u64 {
        self.layout.settings.seed
    }

    pub(crate) fn random(&self, purpose: Purpose, role: Role) -> Random {
        Random::pair(self.seed(), purpose, role.kind as u64, role.index)
    }

    pub(crate) fn site(&self, sort: Sort, number: u64) -> Site {
        Site {
            seed: self.seed(),
            sort,
            number,
        }
    }

    /// The page of a role.
    pub(crate) fn page(&self, role: Role) -> Page {
        match role.kind {
            Kind::Article => self.article(role.index),
            Kind::Original => self.original(role.index),
            Kind::Exact => self.exact(role),
            Kind::Near => self.near(role),
            Kind::Mirror => self.mirror(role),
            Kind::Alias => self.alias(role),
            Kind::Revisit => self.revisit(role),
            Kind::Quilt => self.quilt(role),
            Kind::Aggregator => self.aggregator(role),
            Kind::Passage => self.passage(role),
            Kind::Stolen => self.stolen(role),
            Kind::News => self.news(role),
            Kind::Farm => self.farm(role),
            Kind::Spam => self.spam(role),
            Kind::Trap => self.trap(role),
            Kind::Damaged => self.damaged(role),
        }
    }

    /// The site of an article. The largest site of a block is one with that of other blocks, so
    /// that there are sites of many hundred pages in a large crawl.
    pub(crate) fn article_site(&self, article: u64) -> Site {
        let block = article / BLOCK;
        let mut position = article % BLOCK;
        let mut which = 0;
        for (index, &size) in SITES.iter().enumerate() {
            if position < size {
                which = index as u64;
                break;
            }
            position -= size;
        }
        let languages = self.layout.languages().max(1);
        let number = match which {
            0 => (block / languages / 32 * languages + block % languages) * 16,
            _ => block * 16 + which,
        };
        self.site(Sort::Plain, number)
    }

    fn article(&self, index: u64) -> Page {
        let role = Role {
            kind: Kind::Article,
            index,
        };
        let language = self.layout.article_language(index);
        let site = self.article_site(index);
        let body = self.text_of_its_own(role, Purpose::Article, language);
        self.ordinary(role, site, language, body)
    }

    fn original(&self, index: u64) -> Page {
        let role = Role {
            kind: Kind::Original,
            index,
        };
        let number = index / ORIGINALS_A_SITE;
        let language = self.layout.language(number);
        let site = self.site(Sort::Publisher, number);
        let body = self.text_of_its_own(role, Purpose::Original, language);
        self.ordinary(role, site, language, body)
    }

    /// A page that copies nothing.
    fn ordinary(&self, role: Role, site: Site, language: Language, body: Body) -> Page {
        let url = self.ordinary_url(role, site);
        self.finish(role, site, language, body, url, None)
    }

    fn ordinary_url(&self, role: Role, site: Site) -> String {
        let mut path = self.random(Purpose::Choice, role);
        let path = format!(
            "/{}/{}-{}.html",
            slug(&mut path),
            slug(&mut path),
            role.index
        );
        site.url(&path)
    }

    /// The address of an article and when it was fetched, without making the article.
    pub(crate) fn article_address(&self, index: u64) -> (String, i64) {
        let role = Role {
            kind: Kind::Article,
            index,
        };
        let url = self.ordinary_url(role, self.article_site(index));
        (url, self.fetched(role, false))
    }

    /// Fills in dates, address and markup. A page with sources is published and fetched after them.
    fn finish(
        &self,
        role: Role,
        site: Site,
        language: Language,
        body: Body,
        url: String,
        after: Option<i64>,
    ) -> Page {
        let published = self.published(role, after);
        Page {
            role,
            url,
            address: self.address(site, role),
            language,
            tells_language: site.tells_language(),
            template: site,
            body,
            sources: Vec::new(),
            published: site.tells_dates().then_some(published),
            fetched: self.fetched(role, after.is_some()),
            markup: mix(mix(role.kind as u64) ^ role.index),
        }
    }

    /// When a page was published, whether it says so or not.
    pub(crate) fn published(&self, role: Role, after: Option<i64>) -> i64 {
        let mut random = self.random(Purpose::Publication, role);
        match after {
            None => FIRST_PUBLISHED + random.below(1_000 * 24 * 60) as i64 * 60_000,
            Some(after) => after + HOUR + random.below(60 * 24 * 60) as i64 * 60_000,
        }
    }

    fn fetched(&self, role: Role, copies: bool) -> i64 {
        let within = self.random(Purpose::Fetch, role).below(20 * 86_400) as i64 * 1_000;
        FIRST_FETCHED + within + if copies { 30 * DAY } else { 0 }
    }

    fn address(&self, site: Site, role: Role) -> String {
        let addresses = site.addresses();
        let index = mix(role.index) % addresses.len().max(1) as u64;
        addresses.get(index as usize).cloned().unwrap_or_default()
    }

    /// A text with a title, three slots of paragraphs, and headings between them.
    fn text_of_its_own(&self, role: Role, purpose: Purpose, language: Language) -> Body {
        let mut random = self.random(purpose, role);
        let mut body = Body::default();
        body.heading(prose::title(language, &mut random));
        let usual = (self.layout.settings.words / SLOTS / PARAGRAPH_WORDS).max(1);
        for slot in 0..SLOTS {
            if slot > 0 {
                body.heading(prose::title(language, &mut random));
            }
            let begin = body.blocks.len();
            for _ in 0..random.between(usual.div_ceil(2), usual + usual / 2) {
                body.paragraph(prose::paragraph(language, &mut random));
            }
            body.slots.push(begin..body.blocks.len());
        }
        body
    }
}

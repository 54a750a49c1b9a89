//! Generating pages. Each is a pure function of the settings and its number.
//!
//! A page that copies others regenerates them as often as needed. That costs some time and no
//! memory, and threads need no communication.

mod bad;
mod copies;
mod stitched;

use std::ops::Range;

use crate::edit::SharedRun;
use crate::language::Language;
use crate::layout::{BLOCK, Layout, ORIGINALS_A_SITE, PageRole, SITES, SLOTS};
use crate::prose::{self, PARAGRAPH_WORDS, Prose};
use crate::random::{Purpose, Random, mix};
use crate::settings::PageKind;
use crate::site::{Site, SiteKind, slug};

pub(crate) use bad::{
    FARM_HOSTS, FARM_PAGES, NEWS_PAGES, TRAP_PAGES, clean_prefix, is_clean, stolen_prefix,
    thief_site,
};
pub(crate) use copies::MirrorHost;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// 2022-01-01: the earliest date of publication.
const FIRST_PUBLISHED: i64 = 1_640_995_200_000;
/// 2025-03-01: the start of the crawl. Pages that copy others are fetched a month later.
const FIRST_FETCHED: i64 = 1_740_787_200_000;

/// How a passage was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyMethod {
    /// Byte for byte.
    Verbatim,
    /// With words replaced, deleted and inserted.
    Edited,
    /// With its sentences in another order.
    Reordered,
}

/// The source of a block.
#[derive(Clone, Debug)]
pub(crate) struct BlockOrigin {
    pub(crate) source: PageRole,
    /// The number of the block in the source.
    pub(crate) block: usize,
    /// The ranges that equal the source, as offsets in the text of the block.
    pub(crate) runs: Vec<SharedRun>,
    pub(crate) how: CopyMethod,
    pub(crate) rate: f64,
    /// Blocks of one passage have the same number.
    pub(crate) passage: u32,
}

/// A heading or a paragraph.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageBlock {
    pub(crate) heading: bool,
    pub(crate) prose: Prose,
    pub(crate) origin: Option<BlockOrigin>,
    /// A link in a separate paragraph after the block: its URL and its text.
    pub(crate) link: Option<(String, String)>,
}

/// The content of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageBody {
    pub(crate) blocks: Vec<PageBlock>,
    /// The blocks of each slot.
    pub(crate) slots: Vec<Range<usize>>,
    /// Links after the text.
    pub(crate) links: Vec<String>,
}

impl PageBody {
    pub(crate) fn title(&self) -> &str {
        self.blocks
            .first()
            .map_or("", |block| block.prose.text.as_str())
    }

    fn heading(&mut self, text: String) {
        self.blocks.push(PageBlock {
            heading: true,
            prose: Prose {
                text,
                ..Prose::default()
            },
            ..PageBlock::default()
        });
    }

    fn paragraph(&mut self, prose: Prose) {
        self.blocks.push(PageBlock {
            prose,
            ..PageBlock::default()
        });
    }
}

/// A page of the crawl, ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct SynthPage {
    pub(crate) role: PageRole,
    pub(crate) url: String,
    pub(crate) address: String,
    pub(crate) language: Language,
    /// Whether the page declares its language.
    pub(crate) declares_language: bool,
    /// The site whose template it has.
    pub(crate) template: Site,
    pub(crate) body: PageBody,
    /// The sources of its blocks, in the order of their first blocks. They were generated for this
    /// page, and the truth about it needs them again.
    pub(crate) sources: Vec<SynthPage>,
    /// The date of publication that it declares.
    pub(crate) published: Option<i64>,
    pub(crate) fetched: i64,
    /// The seed of the markup. Pages with the same body, template and markup have identical bytes.
    pub(crate) markup: u64,
}

/// Generates the pages of a layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageMaker<'a> {
    pub(crate) layout: &'a Layout,
}

impl<'a> PageMaker<'a> {
    pub(crate) fn seed(&self) -> u64 {
        self.layout.settings.seed
    }

    pub(crate) fn random(&self, purpose: Purpose, role: PageRole) -> Random {
        Random::pair(self.seed(), purpose, role.kind as u64, role.index)
    }

    pub(crate) fn site(&self, kind: SiteKind, number: u64) -> Site {
        Site {
            seed: self.seed(),
            kind,
            number,
        }
    }

    /// Generates the page of a role.
    pub(crate) fn page(&self, role: PageRole) -> SynthPage {
        match role.kind {
            PageKind::Article => self.article(role.index),
            PageKind::Original => self.original(role.index),
            PageKind::Exact => self.exact(role),
            PageKind::Near => self.near(role),
            PageKind::Mirror => self.mirror(role),
            PageKind::Alias => self.alias(role),
            PageKind::Revisit => self.revisit(role),
            PageKind::Quilt => self.quilt(role),
            PageKind::Aggregator => self.aggregator(role),
            PageKind::Passage => self.passage(role),
            PageKind::Stolen => self.stolen(role),
            PageKind::News => self.news(role),
            PageKind::Farm => self.farm(role),
            PageKind::Spam => self.spam(role),
            PageKind::Trap => self.trap(role),
            PageKind::Damaged => self.damaged(role),
        }
    }

    /// The site of an article. Blocks share their largest site, so that a large crawl has sites of
    /// many hundred pages.
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
        self.site(SiteKind::Plain, number)
    }

    fn article(&self, index: u64) -> SynthPage {
        let role = PageRole {
            kind: PageKind::Article,
            index,
        };
        let language = self.layout.article_language(index);
        let site = self.article_site(index);
        let body = self.new_text(role, Purpose::Article, language);
        self.ordinary(role, site, language, body)
    }

    fn original(&self, index: u64) -> SynthPage {
        let role = PageRole {
            kind: PageKind::Original,
            index,
        };
        let number = index / ORIGINALS_A_SITE;
        let language = self.layout.language(number);
        let site = self.site(SiteKind::Publisher, number);
        let body = self.new_text(role, Purpose::Original, language);
        self.ordinary(role, site, language, body)
    }

    /// A page without copied text.
    fn ordinary(
        &self,
        role: PageRole,
        site: Site,
        language: Language,
        body: PageBody,
    ) -> SynthPage {
        let url = self.ordinary_url(role, site);
        self.finish(role, site, language, body, url, None)
    }

    fn ordinary_url(&self, role: PageRole, site: Site) -> String {
        let mut path = self.random(Purpose::Choice, role);
        let path = format!(
            "/{}/{}-{}.html",
            slug(&mut path),
            slug(&mut path),
            role.index
        );
        site.url(&path)
    }

    /// The URL of an article and the date it was fetched, without generating the article.
    pub(crate) fn article_address(&self, index: u64) -> (String, i64) {
        let role = PageRole {
            kind: PageKind::Article,
            index,
        };
        let url = self.ordinary_url(role, self.article_site(index));
        (url, self.fetched(role, false))
    }

    /// Sets dates, network address and markup. A page with sources is published and fetched after
    /// them.
    fn finish(
        &self,
        role: PageRole,
        site: Site,
        language: Language,
        body: PageBody,
        url: String,
        after: Option<i64>,
    ) -> SynthPage {
        let published = self.published(role, after);
        SynthPage {
            role,
            url,
            address: self.address(site, role),
            language,
            declares_language: site.declares_language(),
            template: site,
            body,
            sources: Vec::new(),
            published: site.declares_dates().then_some(published),
            fetched: self.fetched(role, after.is_some()),
            markup: mix(mix(role.kind as u64) ^ role.index),
        }
    }

    /// The date of publication of a page, whether it declares it or not.
    pub(crate) fn published(&self, role: PageRole, after: Option<i64>) -> i64 {
        let mut random = self.random(Purpose::Publication, role);
        match after {
            None => FIRST_PUBLISHED + random.below(1_000 * 24 * 60) as i64 * 60_000,
            Some(after) => after + HOUR + random.below(60 * 24 * 60) as i64 * 60_000,
        }
    }

    fn fetched(&self, role: PageRole, copies: bool) -> i64 {
        let within = self.random(Purpose::Fetch, role).below(20 * 86_400) as i64 * 1_000;
        FIRST_FETCHED + within + if copies { 30 * DAY } else { 0 }
    }

    fn address(&self, site: Site, role: PageRole) -> String {
        let addresses = site.addresses();
        let index = mix(role.index) % addresses.len().max(1) as u64;
        addresses.get(index as usize).cloned().unwrap_or_default()
    }

    /// A text with a title, three slots of paragraphs, and headings between them.
    fn new_text(&self, role: PageRole, purpose: Purpose, language: Language) -> PageBody {
        let mut random = self.random(purpose, role);
        let mut body = PageBody::default();
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

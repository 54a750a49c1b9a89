//! Copies of whole articles: exact, edited, mirrored, under another URL, fetched again.

use crate::edit;
use crate::layout::PageRole;
use crate::pages::{BlockOrigin, CopyMethod, DAY, PageBlock, PageBody, PageMaker, SynthPage};
use crate::prose::Prose;
use crate::random::{Purpose, mix};
use crate::settings::PageKind;
use crate::site::{Site, SiteKind};

/// The host of a mirrored page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MirrorHost {
    /// Another name of the same server.
    OtherName,
    /// A different server.
    Mirror(Site),
}

/// The number of pages on a site of copies.
const COPIES_A_SITE: u64 = 12;

impl PageMaker<'_> {
    fn source(&self, article: u64) -> SynthPage {
        self.page(PageRole {
            kind: PageKind::Article,
            index: article,
        })
    }

    pub(super) fn when_published(&self, page: &SynthPage) -> i64 {
        page.published
            .unwrap_or_else(|| self.published(page.role, None))
    }

    /// Whether an exact copy has identical bytes rather than identical text in other markup.
    pub(crate) fn has_same_bytes(&self, exact: PageRole) -> bool {
        self.random(Purpose::Choice, exact).next() & 1 == 0
    }

    pub(super) fn exact(&self, role: PageRole) -> SynthPage {
        let (article, _) = self.layout.whole(role);
        let mut page = self.source(article);
        let site = self.site(SiteKind::Copier, role.index / COPIES_A_SITE);
        page.role = role;
        page.url = site.url(&format!("/copy/{}.html", role.index));
        page.address = self.address(site, role);
        page.fetched = self.fetched(role, true);
        if !self.has_same_bytes(role) {
            page.markup = mix(page.markup ^ role.index);
            page.published = page
                .published
                .map(|published| self.published(role, Some(published)));
        }
        page
    }

    /// The rate at which the words of a near-copy or of an edited passage were changed.
    pub(crate) fn edit_rate(&self, role: PageRole) -> f64 {
        let rates = &self.layout.settings.edit_rates;
        let turn =
            (role.index / self.layout.blocks.max(1) + role.index) % rates.len().max(1) as u64;
        rates.get(turn as usize).copied().unwrap_or_default()
    }

    pub(super) fn near(&self, role: PageRole) -> SynthPage {
        let (article, _) = self.layout.whole(role);
        let source = self.source(article);
        let rate = self.edit_rate(role);
        let mut random = self.random(Purpose::Edit, role);
        let mut body = PageBody::default();
        for (index, block) in source.body.blocks.iter().enumerate() {
            // Titles are not edited: they are too short for a meaningful rate.
            let edits = edit::decide(block.prose.words.len(), rate, &mut random);
            let copy = if block.heading {
                edit::CopiedText::verbatim(&block.prose)
            } else {
                edit::apply(&block.prose, &edits, source.language, &mut random)
            };
            body.blocks.push(PageBlock {
                heading: block.heading,
                prose: Prose {
                    text: copy.text,
                    ..Prose::default()
                },
                origin: Some(BlockOrigin {
                    source: source.role,
                    block: index,
                    runs: copy.runs,
                    how: CopyMethod::Edited,
                    rate,
                    passage: 0,
                }),
                link: None,
            });
        }
        let site = self.site(SiteKind::Copier, role.index / COPIES_A_SITE);
        let url = site.url(&format!("/article/{}.html", role.index));
        let after = Some(self.when_published(&source));
        let mut page = self.finish(role, site, source.language, body, url, after);
        // Every other copy also has the template of its source.
        if self.random(Purpose::Choice, role).next() & 1 == 0 {
            page.template = source.template;
        }
        page.sources.push(source);
        page
    }

    /// The host of a page of a mirror.
    pub(crate) fn mirror_host(&self, role: PageRole) -> MirrorHost {
        let (article, turn) = self.layout.mirrored(role.index);
        let block = article / crate::layout::BLOCK;
        if turn == 0 && block.is_multiple_of(2) {
            MirrorHost::OtherName
        } else {
            MirrorHost::Mirror(self.site(SiteKind::Mirror, block + self.layout.blocks * turn))
        }
    }

    pub(super) fn mirror(&self, role: PageRole) -> SynthPage {
        let (article, _) = self.layout.mirrored(role.index);
        let mut page = self.source(article);
        let site = page.template;
        let host = match self.mirror_host(role) {
            MirrorHost::OtherName => site.other_host(),
            MirrorHost::Mirror(mirror) => {
                page.address = self.address(mirror, role);
                mirror.host()
            }
        };
        page.url = page.url.replacen(&site.host(), &host, 1);
        page.role = role;
        page.fetched = self.fetched(role, true);
        page
    }

    pub(super) fn alias(&self, role: PageRole) -> SynthPage {
        let (article, turn) = self.layout.whole(role);
        let mut page = self.source(article);
        let number = mix(role.index) % 100_000;
        let addition = match (role.index + turn) % 4 {
            0 => format!("?session={number:05}"),
            1 => format!("?utm_source=feed&utm_campaign=c{number}"),
            2 => format!("?print=1&v={number}"),
            _ => format!("?ref=a{number}"),
        };
        page.url.push_str(&addition);
        // Two aliases of one page must not have the same URL by chance.
        page.url.push_str(&format!("&n={turn}"));
        page.role = role;
        page.fetched = self.fetched(role, true);
        page
    }

    pub(super) fn revisit(&self, role: PageRole) -> SynthPage {
        let (article, turn) = self.layout.whole(role);
        let mut page = self.source(article);
        page.role = role;
        page.fetched = self.fetched(role, true) + turn as i64 * 30 * DAY;
        page
    }
}

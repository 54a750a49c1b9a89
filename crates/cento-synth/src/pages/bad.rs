//! Low-quality pages: reports, link farms, spam, traps, damaged records, and sites with stolen
//! pages.

use crate::layout::PageRole;
use crate::pages::{PageBody, PageMaker, SynthPage};
use crate::prose::{self, Prose};
use crate::random::{Purpose, Random};
use crate::settings::PageKind;
use crate::site::{SPAM_HOSTS, SPAM_PAGES, Site, SiteKind, slug};
use crate::vocabulary::Vocabulary;

/// The number of reports on a news site.
pub(crate) const NEWS_PAGES: u64 = 40;

/// The number of hosts of a link farm, and of pages on each.
pub(crate) const FARM_HOSTS: u64 = 5;
pub(crate) const FARM_PAGES: u64 = 20;

/// The number of URLs of a trap.
pub(crate) const TRAP_PAGES: u64 = 20;

/// The number of pages on a site with stolen pages. Every sixth page is not copied.
const THIEF_PAGES: u64 = 30;
const CLEAN_EVERY: u64 = 6;

/// The number of sentences on a page that is made from a pool of them, and the minimum size of such
/// a pool. With a smaller pool, two pages would share most sentences and be near-duplicates rather
/// than spam.
const SENTENCES: u64 = 15;
const SMALLEST_POOL: u64 = 60;

/// The site of a stolen page.
pub(crate) fn thief_site(maker: &PageMaker<'_>, index: u64) -> Site {
    maker.site(SiteKind::Thief, index / THIEF_PAGES)
}

/// Whether a page on a site with stolen pages is not copied.
pub(crate) fn is_clean(index: u64) -> bool {
    index % CLEAN_EVERY == CLEAN_EVERY - 1
}

/// The folder of the stolen pages of a site.
pub(crate) fn stolen_prefix(site: Site) -> String {
    site.url("/library/")
}

/// The folder of the other pages of the site.
pub(crate) fn clean_prefix(site: Site) -> String {
    site.url("/about/")
}

impl PageMaker<'_> {
    pub(super) fn news(&self, role: PageRole) -> SynthPage {
        let number = role.index / NEWS_PAGES;
        let site = self.site(SiteKind::News, number);
        let language = self.layout.language(number);
        // The words depend on the site, the numbers on the page.
        let mut words = Random::new(self.seed(), Purpose::NewsTemplate, number);
        let mut numbers = self.random(Purpose::NewsPage, role);
        let vocabulary = Vocabulary::of(language);
        let mut body = PageBody::default();
        let title = prose::title(language, &mut words);
        body.heading(format!("{title} {}", role.index % NEWS_PAGES + 1));
        for _ in 0..4 {
            let mut text = String::new();
            for _ in 0..5 {
                for position in 0..12 {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    // A number after every third word, so that every gram of five words contains
                    // one.
                    match position % 4 {
                        3 => text.push_str(&numbers.between(1, 99_999).to_string()),
                        _ => text.push_str(vocabulary.draw(&mut words)),
                    }
                }
                text.push_str(language.stop());
            }
            body.paragraph(Prose {
                text,
                ..Prose::default()
            });
        }
        let url = site.url(&format!("/report/{}.html", role.index % NEWS_PAGES + 1));
        self.finish(role, site, language, body, url, None)
    }

    /// Paragraphs of sentences from a pool: every sentence is on many pages, and no two pages are
    /// similar.
    fn sentence_pool_body(
        &self,
        role: PageRole,
        purpose: Purpose,
        owner: u64,
        pages: u64,
    ) -> PageBody {
        let language = self.layout.language(owner);
        let mut random = self.random(Purpose::Own, role);
        let pool = pages.max(SMALLEST_POOL);
        let mut body = PageBody::default();
        body.heading(prose::title(language, &mut random));
        let mut paragraph = Prose::default();
        for number in 0..SENTENCES {
            let which = random.below(pool);
            let mut pooled = Random::pair(self.seed(), purpose, owner, which);
            paragraph.push_sentence(language, &prose::sentence(language, &mut pooled));
            if number % 5 == 4 {
                body.paragraph(std::mem::take(&mut paragraph));
            }
        }
        body
    }

    /// The number of pages of a kind that belong to the owner with this number. The last owner may
    /// have fewer.
    pub(crate) fn owned(&self, kind: PageKind, owner: u64, each: u64) -> u64 {
        self.layout
            .count(kind)
            .saturating_sub(owner * each)
            .min(each)
    }

    pub(crate) fn farm_site(&self, index: u64) -> Site {
        self.site(SiteKind::Farm, index / FARM_PAGES)
    }

    pub(super) fn farm(&self, role: PageRole) -> SynthPage {
        let each = FARM_HOSTS * FARM_PAGES;
        let farm = role.index / each;
        let pages = self.owned(PageKind::Farm, farm, each);
        let mut body = self.sentence_pool_body(role, Purpose::FarmSentence, farm, pages);
        let mut random = self.random(Purpose::Choice, role);
        for _ in 0..30 {
            let other = farm * each + random.below(pages);
            body.links
                .push(self.farm_site(other).url(&format!("/best/{other}.html")));
        }
        let site = self.farm_site(role.index);
        let url = site.url(&format!("/best/{}.html", role.index));
        self.finish(role, site, self.layout.language(farm), body, url, None)
    }

    pub(crate) fn spam_site(&self, index: u64) -> Site {
        self.site(SiteKind::Spam, index / SPAM_PAGES)
    }

    pub(super) fn spam(&self, role: PageRole) -> SynthPage {
        let each = SPAM_HOSTS * SPAM_PAGES;
        let spammer = role.index / each;
        let pages = self.owned(PageKind::Spam, spammer, each);
        let mut body = self.sentence_pool_body(role, Purpose::SpamSentence, spammer, pages);
        let mut random = self.random(Purpose::Choice, role);
        for _ in 0..6 {
            let other = spammer * each + random.below(pages);
            body.links.push(
                self.spam_site(other)
                    .url(&format!("/{}.html", other % SPAM_PAGES)),
            );
        }
        let site = self.spam_site(role.index);
        let url = site.url(&format!("/{}.html", role.index % SPAM_PAGES));
        self.finish(role, site, self.layout.language(spammer), body, url, None)
    }

    pub(super) fn trap(&self, role: PageRole) -> SynthPage {
        let number = role.index / TRAP_PAGES;
        let depth = role.index % TRAP_PAGES;
        let site = self.site(SiteKind::Trap, number);
        let language = self.layout.language(number);
        let mut words = Random::new(self.seed(), Purpose::Trap, number);
        let (first, second) = (slug(&mut words), slug(&mut words));
        // The three symptoms of crawler recursion, one for each trap.
        let path = match number % 3 {
            0 => format!("/{first}").repeat(4 + depth as usize),
            1 => format!("/{first}/{second}/x").repeat(3 + depth as usize),
            _ => (0..97 + depth)
                .map(|step| format!("/{first}{step}"))
                .collect(),
        };
        let mut body = PageBody::default();
        body.heading(prose::title(language, &mut words));
        for _ in 0..3 {
            body.paragraph(prose::paragraph(language, &mut words));
        }
        body.links.push(format!("{first}/"));
        let url = site.url(&format!("{path}/"));
        self.finish(role, site, language, body, url, None)
    }

    pub(super) fn damaged(&self, role: PageRole) -> SynthPage {
        let number = role.index / 10;
        let language = self.layout.language(number);
        let body = self.new_text(role, Purpose::Damage, language);
        let site = self.site(SiteKind::Broken, number);
        self.ordinary(role, site, language, body)
    }
}

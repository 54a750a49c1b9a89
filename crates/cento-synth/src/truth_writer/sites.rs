//! Records about sites and their owners.

use crate::error::Result;
use crate::layout::{BLOCK, MIRRORED, MIRRORED_SITE, ORIGINALS_A_SITE, PageRole, SITES};
use crate::pages::{
    FARM_HOSTS, FARM_PAGES, MirrorHost, NEWS_PAGES, TRAP_PAGES, clean_prefix, is_clean,
    stolen_prefix, thief_site,
};
use crate::settings::PageKind;
use crate::site::{SPAM_HOSTS, SPAM_PAGES, Site, SiteKind};
use crate::truth::{AliasKind, BadKind, TruthRecord};
use crate::truth_writer::TruthWriter;

impl TruthWriter<'_> {
    /// Writes the records of a site and its owner with its first page.
    pub(super) fn write_site(&mut self, role: PageRole) -> Result<()> {
        let maker = self.maker;
        let site = |kind: SiteKind, each: u64| {
            role.index
                .is_multiple_of(each)
                .then(|| maker.site(kind, role.index / each))
        };
        let first = match role.kind {
            PageKind::Article => self.article_site(role.index),
            PageKind::Original => site(SiteKind::Publisher, ORIGINALS_A_SITE),
            PageKind::News => site(SiteKind::News, NEWS_PAGES),
            PageKind::Farm => site(SiteKind::Farm, FARM_PAGES),
            PageKind::Spam => site(SiteKind::Spam, SPAM_PAGES),
            PageKind::Trap => site(SiteKind::Trap, TRAP_PAGES),
            PageKind::Stolen => {
                let site = thief_site(&maker, role.index);
                let is_first = role.index == 0 || thief_site(&maker, role.index - 1) != site;
                is_first.then_some(site)
            }
            _ => None,
        };
        if let Some(site) = first {
            self.record(&TruthRecord::Site {
                host: site.host(),
                domain: site.domain(),
                ips: site.addresses(),
                kind: role.kind,
            })?;
        }
        match role.kind {
            PageKind::News if first.is_some() => {
                let number = role.index / NEWS_PAGES;
                self.record(&TruthRecord::Template {
                    host: maker.site(SiteKind::News, number).host(),
                    pages: maker.owned(PageKind::News, number, NEWS_PAGES),
                })
            }
            PageKind::Trap if first.is_some() => {
                let number = role.index / TRAP_PAGES;
                self.record(&TruthRecord::Trap {
                    host: maker.site(SiteKind::Trap, number).host(),
                    pages: maker.owned(PageKind::Trap, number, TRAP_PAGES),
                })
            }
            PageKind::Mirror if role.index.is_multiple_of(MIRRORED) => self.mirror(role),
            _ => self.bad_site(role),
        }
    }

    /// The site of an article, if it is the first article of the site.
    fn article_site(&self, article: u64) -> Option<Site> {
        let position = article % BLOCK;
        let mut begin = 0;
        let begins = SITES.iter().any(|&size| {
            let found = begin == position;
            begin += size;
            found
        });
        let site = self.maker.article_site(article);
        let shared = position == 0
            && article >= BLOCK * self.maker.layout.languages()
            && self
                .maker
                .article_site(article - BLOCK * self.maker.layout.languages())
                == site;
        (begins && !shared).then_some(site)
    }

    fn mirror(&mut self, role: PageRole) -> Result<()> {
        let (article, _) = self.maker.layout.mirrored(role.index);
        let site = self.maker.article_site(
            article / BLOCK * BLOCK + SITES.iter().take(MIRRORED_SITE as usize).sum::<u64>(),
        );
        let (kind, alias) = match self.maker.mirror_host(role) {
            MirrorHost::OtherName => (AliasKind::Server, site.other_host()),
            MirrorHost::Mirror(mirror) => (AliasKind::Mirror, mirror.host()),
        };
        self.record(&TruthRecord::Alias {
            kind,
            alias,
            of: site.host(),
        })
    }

    fn bad_site(&mut self, role: PageRole) -> Result<()> {
        let maker = self.maker;
        let (bad_kind, kind, each, pages_per_host) = match role.kind {
            PageKind::Farm => (
                BadKind::LinkFarm,
                SiteKind::Farm,
                FARM_HOSTS * FARM_PAGES,
                FARM_PAGES,
            ),
            PageKind::Spam => (
                BadKind::Spammer,
                SiteKind::Spam,
                SPAM_HOSTS * SPAM_PAGES,
                SPAM_PAGES,
            ),
            PageKind::Stolen => return self.site_of_stolen_pages(role),
            _ => return Ok(()),
        };
        if !role.index.is_multiple_of(each) {
            return Ok(());
        }
        let owner = role.index / each;
        let pages = maker.owned(role.kind, owner, each);
        let first = owner * (each / pages_per_host);
        let sites: Vec<Site> = (first..first + pages.div_ceil(pages_per_host))
            .map(|number| maker.site(kind, number))
            .collect();
        let mut ips: Vec<String> = sites.iter().flat_map(Site::addresses).collect();
        ips.sort_unstable();
        ips.dedup();
        self.record(&TruthRecord::BadSite {
            kind: bad_kind,
            hosts: sites.iter().map(Site::host).collect(),
            ips,
            pages,
            prefix: None,
            clean: None,
        })
    }

    fn site_of_stolen_pages(&mut self, role: PageRole) -> Result<()> {
        let site = thief_site(&self.maker, role.index);
        if role.index > 0 && thief_site(&self.maker, role.index - 1) == site {
            return Ok(());
        }
        let count = self.maker.layout.count(PageKind::Stolen);
        let mut pages = 0;
        let mut index = role.index;
        while index < count && thief_site(&self.maker, index) == site {
            pages += u64::from(!is_clean(index));
            index += 1;
        }
        self.record(&TruthRecord::BadSite {
            kind: BadKind::Thief,
            hosts: vec![site.host()],
            ips: site.addresses(),
            pages,
            prefix: Some(stolen_prefix(site)),
            clean: Some(clean_prefix(site)),
        })
    }
}

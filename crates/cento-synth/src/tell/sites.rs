//! Sites and their owners.

use crate::error::Result;
use crate::layout::{BLOCK, MIRRORED, MIRRORED_SITE, ORIGINALS_A_SITE, Role, SITES};
use crate::pages::{
    FARM_HOSTS, FARM_PAGES, MirrorHost, NEWS_PAGES, TRAP_PAGES, clean_prefix, is_clean,
    stolen_prefix, thief_site,
};
use crate::settings::Kind;
use crate::site::{SPAM_HOSTS, SPAM_PAGES, Site, Sort};
use crate::tell::Teller;
use crate::truth::{AliasKind, BadKind, Record};

impl Teller<'_> {
    /// Sites and their owners, told by the first page of each.
    pub(super) fn sites(&mut self, role: Role) -> Result<()> {
        let maker = self.maker;
        let site = |sort: Sort, each: u64| {
            role.index
                .is_multiple_of(each)
                .then(|| maker.site(sort, role.index / each))
        };
        let first = match role.kind {
            Kind::Article => self.article_site(role.index),
            Kind::Original => site(Sort::Publisher, ORIGINALS_A_SITE),
            Kind::News => site(Sort::News, NEWS_PAGES),
            Kind::Farm => site(Sort::Farm, FARM_PAGES),
            Kind::Spam => site(Sort::Spam, SPAM_PAGES),
            Kind::Trap => site(Sort::Trap, TRAP_PAGES),
            Kind::Stolen => {
                let site = thief_site(&maker, role.index);
                let is_first = role.index == 0 || thief_site(&maker, role.index - 1) != site;
                is_first.then_some(site)
            }
            _ => None,
        };
        if let Some(site) = first {
            self.record(&Record::Site {
                host: site.host(),
                domain: site.domain(),
                ips: site.addresses(),
                kind: role.kind,
            })?;
        }
        match role.kind {
            Kind::News if first.is_some() => {
                let number = role.index / NEWS_PAGES;
                self.record(&Record::Template {
                    host: maker.site(Sort::News, number).host(),
                    pages: maker.owned(Kind::News, number, NEWS_PAGES),
                })
            }
            Kind::Trap if first.is_some() => {
                let number = role.index / TRAP_PAGES;
                self.record(&Record::Trap {
                    host: maker.site(Sort::Trap, number).host(),
                    pages: maker.owned(Kind::Trap, number, TRAP_PAGES),
                })
            }
            Kind::Mirror if role.index.is_multiple_of(MIRRORED) => self.mirror(role),
            _ => self.bad_site(role),
        }
    }

    /// The site of an article, if the article is the first on it.
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

    fn mirror(&mut self, role: Role) -> Result<()> {
        let (article, _) = self.maker.layout.mirrored(role.index);
        let site = self.maker.article_site(
            article / BLOCK * BLOCK + SITES.iter().take(MIRRORED_SITE as usize).sum::<u64>(),
        );
        let (kind, alias) = match self.maker.mirror_host(role) {
            MirrorHost::OtherName => (AliasKind::Server, site.other_host()),
            MirrorHost::Mirror(mirror) => (AliasKind::Mirror, mirror.host()),
        };
        self.record(&Record::Alias {
            kind,
            alias,
            of: site.host(),
        })
    }

    fn bad_site(&mut self, role: Role) -> Result<()> {
        let maker = self.maker;
        let (kind, sort, each, pages_a_host) = match role.kind {
            Kind::Farm => (
                BadKind::LinkFarm,
                Sort::Farm,
                FARM_HOSTS * FARM_PAGES,
                FARM_PAGES,
            ),
            Kind::Spam => (
                BadKind::Spammer,
                Sort::Spam,
                SPAM_HOSTS * SPAM_PAGES,
                SPAM_PAGES,
            ),
            Kind::Stolen => return self.thief(role),
            _ => return Ok(()),
        };
        if !role.index.is_multiple_of(each) {
            return Ok(());
        }
        let owner = role.index / each;
        let pages = maker.owned(role.kind, owner, each);
        let first = owner * (each / pages_a_host);
        let sites: Vec<Site> = (first..first + pages.div_ceil(pages_a_host))
            .map(|number| maker.site(sort, number))
            .collect();
        let mut ips: Vec<String> = sites.iter().flat_map(Site::addresses).collect();
        ips.sort_unstable();
        ips.dedup();
        self.record(&Record::BadSite {
            kind,
            hosts: sites.iter().map(Site::host).collect(),
            ips,
            pages,
            prefix: None,
            clean: None,
        })
    }

    fn thief(&mut self, role: Role) -> Result<()> {
        let site = thief_site(&self.maker, role.index);
        if role.index > 0 && thief_site(&self.maker, role.index - 1) == site {
            return Ok(());
        }
        let count = self.maker.layout.count(Kind::Stolen);
        let mut pages = 0;
        let mut index = role.index;
        while index < count && thief_site(&self.maker, index) == site {
            pages += u64::from(!is_clean(index));
            index += 1;
        }
        self.record(&Record::BadSite {
            kind: BadKind::Thief,
            hosts: vec![site.host()],
            ips: site.addresses(),
            pages,
            prefix: Some(stolen_prefix(site)),
            clean: Some(clean_prefix(site)),
        })
    }
}

//! What must be known of pages before grams are compared: where they are, since when, and what they
//! link to.
//!
//! A server, a domain and an address are known by the lowest number of their pages. It takes a
//! shuffle to find that out, and then they are compared exactly, in four bytes a page.
//!
//! ```text
//!   pages ─ facts ─┬▶ order
//!                  └▶ by server, by domain, by address ─ alike ─▶ servers, domains, addresses
//!                                                          └────▶ link ends ◀─ links ─ links of patchy pages
//!                                         others: (patchy page, domain or address it links to) ◀─ linked ─┘
//! ```

use std::sync::Arc;

use cento_fingerprint::link_hash;
use cento_flow::{Bitmap, Registry, StageError};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::order::{PageOrder, key};
use super::params::{Foreign, Level};
use super::rows::{LINKED_ADDRESS, LINKED_DOMAIN, LinkEnd, NOBODY, Others, ServerPage};
use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::numbers::{Numbers, UNSET};
use crate::precedence::Precedence;

/// What pages have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Common {
    /// What a source must not share with a page.
    Server,
    /// The registered domain.
    Domain,
    /// The address, as links to it are recognised.
    Address,
}

impl Common {
    pub(super) const ALL: [Common; 3] = [Common::Server, Common::Domain, Common::Address];

    /// The shuffle in which such pages meet.
    pub(super) fn shuffle(self) -> &'static str {
        match self {
            Common::Server => "by server",
            Common::Domain => "by domain",
            Common::Address => "by address",
        }
    }

    /// The state that has the result.
    pub(super) fn state(self) -> &'static str {
        match self {
            Common::Server => "servers",
            Common::Domain => "domains",
            Common::Address => "addresses",
        }
    }

    /// The hash of what a page has in common with others.
    fn of(self, foreign: Foreign, facts: &PageFacts<'_>) -> Option<[u64; 2]> {
        match self {
            Common::Server => server(foreign, facts).map(name_hash),
            Common::Domain => facts.domain.map(name_hash),
            Common::Address => {
                let url = PageUrl::new(facts.url);
                Some(address_hash(link_hash(url.link_key())))
            }
        }
    }
}

/// Which state has the domains of pages: where foreign pages are those of other domains, that of
/// servers.
pub(super) fn domains_of(foreign: Foreign) -> Common {
    match foreign {
        Foreign::Domain => Common::Server,
        _ => Common::Domain,
    }
}

/// What a source must not share with a page.
fn server<'a>(foreign: Foreign, facts: &PageFacts<'a>) -> Option<&'a str> {
    match foreign {
        Foreign::Domain => facts.domain.or(facts.host),
        Foreign::Host => facts.host,
        Foreign::Ip => facts.ip,
        Foreign::None => None,
    }
}

/// A hash of a name that nobody can find a second name for.
fn name_hash(name: &str) -> [u64; 2] {
    let hash = blake3::hash(name.as_bytes());
    let half = |at: usize| {
        let bytes = hash.as_bytes().get(at..at + 8);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_be_bytes)
    };
    [half(0), half(8)]
}

/// Addresses are known by their link hashes, which is what the corpus keeps of links.
fn address_hash(link: u64) -> [u64; 2] {
    [link, u64::MAX]
}

/// Whether a page can be a source of another.
#[inline(always)]
pub(super) fn is_foreign(servers: &Numbers, page: u32, other: u32) -> bool {
    let server = servers.get(page);
    server == UNSET || server != servers.get(other)
}

/// What a page links to, as numbers of domains and addresses.
#[derive(Default)]
pub(super) struct Linked {
    domains: Vec<u32>,
    addresses: Vec<u32>,
}

impl Linked {
    pub(super) fn clear(&mut self) {
        self.domains.clear();
        self.addresses.clear();
    }

    pub(super) fn add(&mut self, part: u16, end: u32) {
        match part {
            LINKED_DOMAIN => self.domains.push(end),
            _ => self.addresses.push(end),
        }
    }

    /// To be called when all are added.
    pub(super) fn close(&mut self) {
        self.domains.sort_unstable();
        self.addresses.sort_unstable();
    }

    /// Whether a page with these links says that it has something from another: it links to that
    /// page, or to its domain. Links of a site to itself are its own navigation: they attribute
    /// only the page that they lead to.
    pub(super) fn attribute(
        &self,
        domains: &Numbers,
        addresses: &Numbers,
        page: u32,
        other: u32,
    ) -> bool {
        let has = |ends: &[u32], end: u32| end != UNSET && ends.binary_search(&end).is_ok();
        let domain = domains.get(other);
        has(&self.addresses, addresses.get(other))
            || domain != domains.get(page) && has(&self.domains, domain)
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, foreign: Foreign) {
    registry.state::<PageOrder>("order");
    let pages = Arc::clone(source);
    registry.map("facts", move |context| {
        let writes = |name: &str| context.stage().writes.iter().any(|written| written == name);
        let mut meetings = Vec::new();
        for common in Common::ALL {
            if writes(common.shuffle()) {
                meetings.push((common, context.shuffle::<ServerPage>(common.shuffle())?));
            }
        }
        let order = match writes("order") {
            true => Some(context.state::<PageOrder>("order")?),
            false => None,
        };
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_some() {
                return Ok::<_, StageError>(());
            }
            if let Some(order) = &order {
                order.set(facts.number, key(&Precedence::of(&facts)));
            }
            for (common, meeting) in &mut meetings {
                let Some(server) = common.of(foreign, &facts) else {
                    if *common == Common::Server {
                        context.count("pages of no known server", 1);
                    }
                    continue;
                };
                meeting.push(ServerPage {
                    server,
                    page: facts.number,
                    unused: 0,
                })?;
            }
            Ok(())
        })
    });
    registry.reduce::<ServerPage, _>("alike", |context, groups| {
        let common: Common = context.parameters()?;
        let numbers = context.state::<Numbers>(common.state())?;
        let linked = (context.stage().writes.iter()).any(|written| written == "link ends");
        let mut ends = match linked {
            true => Some(context.shuffle::<LinkEnd>("link ends")?),
            false => None,
        };
        while let Some(mut group) = groups.next_group()? {
            // The first row has the lowest number.
            let Some(first) = group.next() else {
                continue;
            };
            numbers.set(first.page, first.page);
            group.for_each(|row| numbers.set(row.page, first.page));
            if let Some(ends) = &mut ends {
                ends.push(LinkEnd::target(first.server, first.page))?;
            }
        }
        Ok(())
    });
    links(registry, source);
}

fn links(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let pages = Arc::clone(source);
    registry.map("links", move |context| {
        let level: Level = context.parameters()?;
        let patchy = context.state::<Bitmap>(&level.name("patchy"))?;
        let mut ends = context.shuffle::<LinkEnd>("link ends")?;
        pages.for_each_links(context.task()?, |number, hashes, domains| {
            if !patchy.get(u64::from(number)) {
                return Ok::<_, StageError>(());
            }
            for &hash in hashes {
                ends.push(LinkEnd::link(address_hash(hash), LINKED_ADDRESS, number))?;
            }
            for domain in domains {
                ends.push(LinkEnd::link(name_hash(domain), LINKED_DOMAIN, number))?;
            }
            Ok(())
        })
    });
    registry.reduce::<LinkEnd, _>("linked", |context, groups| {
        let level: Level = context.parameters()?;
        let mut others = context.shuffle::<Others>(&level.name("others"))?;
        while let Some(mut group) = groups.next_group()? {
            // Links to what is not in the corpus have no target, which would be the first row.
            let Some(target) = group.next().filter(LinkEnd::is_target) else {
                continue;
            };
            let mut last = None;
            for link in group.filter(|row| !row.is_target()) {
                if last.replace(link.page) != Some(link.page) {
                    others.push(Others {
                        page: link.page,
                        pages: 0,
                        part: link.part(),
                        gram: u64::from(target.page),
                        others: [target.page, NOBODY, NOBODY],
                    })?;
                }
            }
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento_flow::State;
    use serde_json::json;

    #[test]
    fn a_link_to_the_source_or_to_its_domain_attributes() {
        let numbers = |of: &[u32]| {
            let numbers = Numbers::create(&json!({ "pages": of.len() })).unwrap();
            (0..)
                .zip(of)
                .for_each(|(page, &number)| numbers.set(page, number));
            numbers
        };
        // The quilt and its sibling on one domain, a source on another one, and a page of no
        // domain.
        let (domains, addresses) = (numbers(&[0, 0, 2, UNSET]), numbers(&[0, 1, 2, 3]));
        let linked = |parts: &[(u16, u32)]| {
            let mut linked = Linked::default();
            parts.iter().for_each(|&(part, end)| linked.add(part, end));
            linked.close();
            move |other| linked.attribute(&domains, &addresses, 0, other)
        };
        let all = linked(&[(LINKED_DOMAIN, 2), (LINKED_DOMAIN, 0), (LINKED_ADDRESS, 3)]);
        // Links of a site to itself lead anywhere on it.
        assert_eq!([1, 2, 3].map(all), [false, true, true]);
    }
}

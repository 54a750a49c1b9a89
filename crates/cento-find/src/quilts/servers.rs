//! What must be known of pages before grams are compared: their servers, dates and links.
//!
//! A server, a domain or an address is identified by the lowest number of its pages. A shuffle
//! finds that number; after that they are compared exactly, with four bytes per page.
//!
//! ```text
//!   pages ─ facts ─┬▶ order
//!                  └▶ by server, by domain, by address ─ alike ─▶ servers, domains, addresses
//!                                                           └────▶ link ends ◀─ links
//!   link ends ─ linked ─▶ others: (patchy page, domain or address it links to)
//! ```

use std::sync::Arc;

use cento_fingerprint::link_hash;
use cento_flow::{Bitmap, Registry, StageError};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::gram_rows::{LINKED_ADDRESS, LINKED_DOMAIN, LinkEnd, NOBODY, Others, ServerPage};
use super::order::{DateOrder, key};
use super::params::{Foreign, Level};
use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::numbers::{Numbers, UNSET};
use crate::precedence::{Dates, Precedence};

/// A property that pages have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PageProperty {
    /// The server in the sense of [`Foreign`]: a page and its sources differ in it.
    Server,
    /// The registered domain.
    Domain,
    /// The address, as links to it are recognised.
    Address,
}

impl PageProperty {
    pub(super) const ALL: [PageProperty; 3] = [
        PageProperty::Server,
        PageProperty::Domain,
        PageProperty::Address,
    ];

    /// The shuffle that groups pages by the property.
    pub(super) fn shuffle(self) -> &'static str {
        match self {
            PageProperty::Server => "by server",
            PageProperty::Domain => "by domain",
            PageProperty::Address => "by address",
        }
    }

    /// The state with the result.
    pub(super) fn state(self) -> &'static str {
        match self {
            PageProperty::Server => state::SERVERS,
            PageProperty::Domain => state::DOMAINS,
            PageProperty::Address => state::ADDRESSES,
        }
    }

    /// The hash of the property of a page.
    fn of(self, foreign: Foreign, facts: &PageFacts<'_>) -> Option<[u64; 2]> {
        match self {
            PageProperty::Server => server(foreign, facts).map(name_hash),
            PageProperty::Domain => facts.domain.map(name_hash),
            PageProperty::Address => {
                let url = PageUrl::new(facts.url);
                Some(address_hash(link_hash(url.link_key())))
            }
        }
    }
}

/// The property that identifies the domains of pages. If foreign pages are those of other domains,
/// it is the server.
pub(super) fn domains_of(foreign: Foreign) -> PageProperty {
    match foreign {
        Foreign::Domain => PageProperty::Server,
        _ => PageProperty::Domain,
    }
}

/// The server of a page in the sense of [`Foreign`].
fn server<'a>(foreign: Foreign, facts: &PageFacts<'a>) -> Option<&'a str> {
    match foreign {
        Foreign::Domain => facts.domain.or(facts.host),
        Foreign::Host => facts.host,
        Foreign::Ip => facts.ip,
        Foreign::None => None,
    }
}

/// A collision-resistant hash of a name.
fn name_hash(name: &str) -> [u64; 2] {
    let hash = blake3::hash(name.as_bytes());
    let half = |at: usize| {
        let bytes = hash.as_bytes().get(at..at + 8);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_be_bytes)
    };
    [half(0), half(8)]
}

/// Addresses are identified by their link hashes, which is what the corpus stores of links.
fn address_hash(link: u64) -> [u64; 2] {
    [link, u64::MAX]
}

/// Whether a page can be a source of another.
#[inline(always)]
pub(super) fn is_foreign(servers: &Numbers, page: u32, other: u32) -> bool {
    let server = servers.get(page);
    server == UNSET || server != servers.get(other)
}

/// The links of a page, as numbers of domains and addresses.
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

    /// Sorts the links. Required between the last [`Linked::add`] and [`Linked::attribute`].
    pub(super) fn close(&mut self) {
        self.domains.sort_unstable();
        self.addresses.sort_unstable();
    }

    /// Whether a page with these links attributes text to another page: it links to that page, or
    /// to its domain. Links of a site to itself are navigation: they attribute only the page that
    /// they point to.
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

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>, foreign: Foreign) {
    registry.state::<DateOrder>(state::ORDER);
    let pages = Arc::clone(corpus);
    registry.map(stage::FACTS, move |context| {
        let writes = |name: &str| context.stage().writes.iter().any(|written| written == name);
        let mut emitters = Vec::new();
        for common in PageProperty::ALL {
            if writes(common.shuffle()) {
                emitters.push((common, context.shuffle::<ServerPage>(common.shuffle())?));
            }
        }
        let order = match writes(state::ORDER) {
            true => Some(context.state::<DateOrder>(state::ORDER)?),
            false => None,
        };
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_some() {
                return Ok::<_, StageError>(());
            }
            if let Some(order) = &order {
                let dated_by = Dates::from(&facts).decisive().map(|(_, by)| by);
                order.set(facts.number, key(&Precedence::of(&facts), dated_by));
            }
            for (common, emitter) in &mut emitters {
                let Some(server) = common.of(foreign, &facts) else {
                    if *common == PageProperty::Server {
                        context.count(counter::UNKNOWN_SERVER, 1);
                    }
                    continue;
                };
                emitter.push(ServerPage {
                    server,
                    page: facts.number,
                    unused: 0,
                })?;
            }
            Ok(())
        })
    });
    registry.reduce::<ServerPage, _>(stage::ALIKE, |context, groups| {
        let common: PageProperty = context.parameters()?;
        let numbers = context.state::<Numbers>(common.state())?;
        let linked = (context.stage().writes.iter()).any(|written| written == shuffle::LINK_ENDS);
        let mut ends = match linked {
            true => Some(context.shuffle::<LinkEnd>(shuffle::LINK_ENDS)?),
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
    links(registry, corpus);
}

fn links(registry: &mut Registry, corpus: &Arc<CorpusPages>) {
    let pages = Arc::clone(corpus);
    registry.map(stage::LINKS, move |context| {
        let level: Level = context.parameters()?;
        let patchy = context.state::<Bitmap>(&level.name(state::PATCHY))?;
        let mut ends = context.shuffle::<LinkEnd>(shuffle::LINK_ENDS)?;
        pages.for_each_links(context.task()?, |number, hashes, domains| {
            let has_links = !hashes.is_empty() || !domains.is_empty();
            context.count(counter::LINKING, u64::from(has_links));
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
    registry.reduce::<LinkEnd, _>(stage::LINKED, |context, groups| {
        let level: Level = context.parameters()?;
        let mut others = context.shuffle::<Others>(&level.name(shuffle::OTHERS))?;
        while let Some(mut group) = groups.next_group()? {
            // The target is the first row. Links that lead out of the corpus have none.
            let Some(target) = group.next().filter(LinkEnd::is_target) else {
                continue;
            };
            let mut last = None;
            for link in group.filter(|row| !row.is_target()) {
                if last.replace(link.page) != Some(link.page) {
                    let target = target.page;
                    others.push(Others::about(
                        link.page,
                        u32::from(link.part()),
                        u64::from(target),
                        [target, NOBODY, NOBODY],
                    ))?;
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
        // The quilt and another page of its domain, a source on another domain, and a page without
        // a domain.
        let (domains, addresses) = (numbers(&[0, 0, 2, UNSET]), numbers(&[0, 1, 2, 3]));
        let linked = |parts: &[(u16, u32)]| {
            let mut linked = Linked::default();
            parts.iter().for_each(|&(part, end)| linked.add(part, end));
            linked.close();
            move |other| linked.attribute(&domains, &addresses, 0, other)
        };
        let all = linked(&[(LINKED_DOMAIN, 2), (LINKED_DOMAIN, 0), (LINKED_ADDRESS, 3)]);
        // Links of a site to itself attribute nothing else on it.
        assert_eq!([1, 2, 3].map(all), [false, true, true]);
    }
}

//! Where the links of a page lead.

use super::{PageUrl, registered_domain};

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// What the target is recognised by; equals the [`link_key`](PageUrl::link_key) of the page that it names.
    pub key: &'a str,
    /// The host of the target.
    pub host: &'a str,
    /// The registered domain of the target.
    pub domain: &'a str,
}

/// Resolves the links of one page.
#[derive(Debug)]
pub struct LinkResolver {
    base: Option<url::Url>,
    private: bool,
    target: PageUrl,
}

impl LinkResolver {
    /// A resolver for links on the page at `base`; `private` as for [`registered_domain`].
    pub fn new(base: &str, private: bool) -> Self {
        LinkResolver {
            base: url::Url::parse(base).ok(),
            private,
            target: PageUrl::new(""),
        }
    }

    /// Where `href` leads, if that is a page on the web other than the base itself.
    pub fn resolve(&mut self, href: &str) -> Option<Link<'_>> {
        let url = match &self.base {
            Some(base) => base.join(href),
            None => url::Url::parse(href),
        };
        self.target = PageUrl::from_url(&url.ok()?);
        if !self.target.web {
            return None;
        }
        let host = self.target.host()?;
        Some(Link {
            key: self.target.link_key(),
            host,
            domain: registered_domain(host, self.private),
        })
    }
}

//! Resolution of links.
//!
//! Resolving a reference by the WHATWG rules takes half a microsecond, which would dominate on
//! pages with a link in every hundred bytes. But nearly all references are plain: letters, digits
//! and a little punctuation, which the rules leave unchanged except for `.` and `..`. These are
//! resolved here directly into a link key. All others are resolved by the `url` crate, and a test
//! verifies that both paths agree.

mod host;
mod shape;

#[cfg(test)]
mod tests;

use host::HostCache;
use shape::{COLON, DOT_SEGMENT, MARK, PERCENT, ReferenceShape};

use super::{PageUrl, bare_host_offset, percent, registered_domain};

/// The target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The key of the target; equals the [`link_key`](PageUrl::link_key) of the target page.
    pub key: &'a str,
    /// The host of the target.
    pub host: &'a str,
    /// The registered domain of the target.
    pub domain: &'a str,
}

/// Resolves the links of one page.
///
/// ```
/// use cento_text::url::{LinkResolver, PageUrl};
///
/// let mut links = LinkResolver::new("https://example.com/news/today.html", None, false);
/// let link = links.resolve("../about/?lang=en#team").expect("a link to the web");
/// assert_eq!(link.key, "example.com/about/?lang=en");
/// let link = links.resolve("http://www.Example.co.uk").expect("a link to the web");
/// assert_eq!((link.key, link.domain), ("example.co.uk/", "example.co.uk"));
/// assert_eq!(link.key, PageUrl::new("https://example.co.uk/").link_key());
/// assert_eq!(links.resolve("mailto:editor@example.com"), None);
/// assert_eq!(links.resolve("#top"), None);
/// ```
#[derive(Debug)]
pub struct LinkResolver {
    base: LinkBase,
    private: bool,
    /// The key of the page itself.
    own: String,
    target: LinkTarget,
    hosts: HostCache,
    scratch: String,
}

/// The base that references are resolved against.
#[derive(Debug)]
struct LinkBase {
    /// The parsed URL; `None` if the page has no URL.
    url: Option<url::Url>,
    /// The base as a link target, if it is on the web; used for plain references.
    target: Option<LinkTarget>,
    /// The end of each directory of the target's path, after its slash; the first is the root.
    directories: Vec<usize>,
    /// The end of the target's path.
    path_end: usize,
    /// Whether the path may contain a Windows drive letter, which `..` does not remove in the `url`
    /// crate.
    drives: bool,
}

impl LinkBase {
    fn new(url: Option<url::Url>, private: bool) -> Self {
        let mut target = LinkTarget::default();
        let page = url.as_ref().map(PageUrl::from_url);
        let web = page.as_ref().is_some_and(|page| target.set(page, private));
        let mut directories = Vec::new();
        let mut path_end = 0;
        if let Some(page) = page.filter(|_| web) {
            path_end = page.path.end - page.host.start;
            let path = &target.text[target.path..path_end];
            directories.extend(
                memchr::memchr_iter(b'/', path.as_bytes()).map(|slash| target.path + slash + 1),
            );
        }
        LinkBase {
            url,
            drives: target.text[target.path..].contains([':', '|']),
            target: web.then_some(target),
            directories,
            path_end,
        }
    }

    /// The end of the directory `above` levels above that of the base, or of the root.
    #[inline]
    fn directory(&self, above: usize) -> usize {
        let last = self.directories.len().saturating_sub(1);
        let number = last.saturating_sub(above);
        self.directories.get(number).copied().unwrap_or(0)
    }
}

/// An address on the web: the canonical form without its scheme.
#[derive(Clone, Debug, Default)]
struct LinkTarget {
    text: String,
    /// The start of the key: usually after `www.`.
    key: usize,
    /// The start of the registered domain, which ends with the host.
    domain: usize,
    /// The end of the host.
    host: usize,
    /// The start of the path: at the end of the host or port.
    path: usize,
}

/// Why the fast path did not produce a target.
#[derive(Debug, PartialEq, Eq)]
enum Obstacle {
    /// The reference is plain but its target is not on the web.
    NotWeb,
    /// The reference is not plain.
    NotPlain,
}

impl LinkResolver {
    /// Creates a resolver for the links on the page at `page`.
    ///
    /// `base` is the page's `<base href>`, if it has one. `private` is as for
    /// [`registered_domain`].
    pub fn new(page: &str, base: Option<&str>, private: bool) -> Self {
        let url = url::Url::parse(page).ok();
        let own = PageUrl::from_parsed(page, url.as_ref())
            .link_key()
            .to_owned();
        let moved = base.and_then(|base| match &url {
            Some(url) => url.join(base).ok(),
            None => url::Url::parse(base).ok(),
        });
        LinkResolver {
            base: LinkBase::new(moved.or(url), private),
            private,
            own,
            target: LinkTarget::default(),
            hosts: HostCache::default(),
            scratch: String::new(),
        }
    }

    /// Resolves `reference`, such as the `href` of an `a`. Returns `None` if the target is not on
    /// the web or is the page itself.
    #[inline]
    pub fn resolve(&mut self, reference: &str) -> Option<Link<'_>> {
        let resolved = match self.resolve_plain(reference) {
            Ok(()) => true,
            Err(Obstacle::NotWeb) => false,
            Err(Obstacle::NotPlain) => self.resolve_any(reference),
        };
        if !resolved {
            return None;
        }
        Some(self.target.link()).filter(|link| link.key != self.own)
    }

    /// Sets the target by the rules of the URL standard; returns false if it is not on the web.
    #[cold]
    fn resolve_any(&mut self, reference: &str) -> bool {
        let url = match &self.base.url {
            Some(base) => base.join(reference),
            None => url::Url::parse(reference),
        };
        url.is_ok_and(|url| self.target.set(&PageUrl::from_url(&url), self.private))
    }

    /// Sets the target if `reference` is plain.
    fn resolve_plain(&mut self, reference: &str) -> Result<(), Obstacle> {
        // Most references with dots begin with `../` and are plain after that.
        let mut above = 0;
        let mut rest = reference;
        while let Some(after) = rest.strip_prefix("../") {
            above += 1;
            rest = after;
        }
        let shape = ReferenceShape::of(rest).ok_or(Obstacle::NotPlain)?;
        let climbs = above > 0 || shape.seen & DOT_SEGMENT != 0;
        if climbs && (self.base.drives || shape.seen & COLON != 0 || shape.scheme.is_some()) {
            return Err(Obstacle::NotPlain);
        }
        let plain = &rest[..shape.length];
        let remainder = if above > 0 {
            self.start_above(plain, above)?
        } else if let Some(length) = shape.scheme {
            self.start_at_scheme(plain, length)?
        } else if let Some(rest) = plain.strip_prefix("//") {
            // The scheme is inherited from the base.
            self.base.target.as_ref().ok_or(Obstacle::NotWeb)?;
            self.start_at_host(rest)?
        } else {
            self.start_at_base(plain)?
        };
        if shape.seen & PERCENT == 0 {
            self.target.append(remainder, shape.seen);
        } else if percent::encodes_dot(remainder) {
            return Err(Obstacle::NotPlain);
        } else {
            self.scratch.clear();
            percent::normalise(remainder, &mut self.scratch);
            self.target.append(&self.scratch, shape.seen);
        }
        Ok(())
    }

    // Each of these sets the target to the starting point of a plain reference, and returns the
    // remainder to append.

    fn start_above<'rest>(
        &mut self,
        plain: &'rest str,
        above: usize,
    ) -> Result<&'rest str, Obstacle> {
        // An empty segment would be treated as the root.
        if plain.starts_with('/') {
            return Err(Obstacle::NotPlain);
        }
        let base = self.base.target.as_ref().ok_or(Obstacle::NotWeb)?;
        self.target.set_base(base, self.base.directory(above));
        Ok(plain)
    }

    fn start_at_base<'rest>(&mut self, plain: &'rest str) -> Result<&'rest str, Obstacle> {
        let base = self.base.target.as_ref().ok_or(Obstacle::NotWeb)?;
        let kept = match plain.as_bytes().first() {
            None => base.text.len(),
            Some(b'?') => self.base.path_end,
            Some(b'/') => base.path + 1,
            Some(_) => self.base.directory(0),
        };
        self.target.set_base(base, kept);
        Ok(plain)
    }

    fn start_at_scheme<'rest>(
        &mut self,
        plain: &'rest str,
        length: usize,
    ) -> Result<&'rest str, Obstacle> {
        let (scheme, rest) = plain.split_at(length);
        if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
            return Err(Obstacle::NotWeb);
        }
        let rest = rest.strip_prefix("://").ok_or(Obstacle::NotPlain)?;
        self.start_at_host(rest)
    }

    fn start_at_host<'rest>(&mut self, rest: &'rest str) -> Result<&'rest str, Obstacle> {
        let length = rest
            .bytes()
            .position(|byte| matches!(byte, b'/' | b'?'))
            .unwrap_or(rest.len());
        let (host, remainder) = rest.split_at(length);
        let host = self
            .hosts
            .get(host, self.private)
            .ok_or(Obstacle::NotPlain)?;
        self.target.text.clear();
        self.target.text.push_str(&host.root);
        (self.target.key, self.target.domain) = (host.key, host.domain);
        (self.target.host, self.target.path) = (length, length);
        Ok(remainder)
    }
}

impl LinkTarget {
    fn link(&self) -> Link<'_> {
        Link {
            key: &self.text[self.key..],
            host: &self.text[..self.host],
            domain: &self.text[self.domain..self.host],
        }
    }

    /// Sets the target to `page`; returns false if it is not on the web.
    fn set(&mut self, page: &PageUrl, private: bool) -> bool {
        let Some(host) = page.host().filter(|_| page.web) else {
            return false;
        };
        let begin = page.host.start;
        self.key = bare_host_offset(host);
        self.domain = host.len() - registered_domain(host, private).len();
        self.host = page.host.end - begin;
        self.path = page.path.start - begin;
        self.text.clear();
        self.text.push_str(&page.canonical[begin..]);
        true
    }

    /// Sets the target to the first `kept` bytes of `base`.
    #[inline]
    fn set_base(&mut self, base: &LinkTarget, kept: usize) {
        self.text.clear();
        self.text.push_str(&base.text[..kept]);
        (self.key, self.domain, self.host, self.path) =
            (base.key, base.domain, base.host, base.path);
    }

    /// Appends a plain path and query to a target that ends with a slash, or, for a query alone,
    /// with its path.
    #[inline]
    fn append(&mut self, reference: &str, seen: u8) {
        let reference = reference.strip_prefix('/').unwrap_or(reference);
        if seen & DOT_SEGMENT == 0 {
            self.text.push_str(reference);
        } else {
            let query = reference.find('?').unwrap_or(reference.len());
            let (path, query) = reference.split_at(query);
            self.append_segments(path);
            self.text.push_str(query);
        }
        // The mark of an empty query is removed. A mark at the end is such a mark only if it is the
        // first.
        if seen & MARK != 0
            && self.text.ends_with('?')
            && self.text.find('?') == Some(self.text.len() - 1)
        {
            self.text.pop();
        }
    }

    fn append_segments(&mut self, path: &str) {
        let mut rest = path;
        loop {
            let (segment, after) = match memchr::memchr(b'/', rest.as_bytes()) {
                Some(slash) => (&rest[..slash], Some(&rest[slash + 1..])),
                None => (rest, None),
            };
            match segment {
                "." => {}
                ".." => self.pop(),
                _ => self
                    .text
                    .push_str(&rest[..segment.len() + usize::from(after.is_some())]),
            }
            match after {
                Some(after) => rest = after,
                None => return,
            }
        }
    }

    /// Removes the last directory from a path that ends with a slash; the root is kept.
    fn pop(&mut self) {
        let directories = &self.text[self.path..self.text.len() - 1];
        if let Some(slash) = memchr::memrchr(b'/', directories.as_bytes()) {
            self.text.truncate(self.path + slash + 1);
        }
    }
}

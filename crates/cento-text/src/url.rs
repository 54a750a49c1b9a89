//! Page addresses: canonical forms, hosts, registered domains and neighbourhoods.
//!
//! - [`PageUrl`] is the canonical address of a page, with its host, registered domain, path
//!   components and the prefixes of its neighbourhoods. A file name is an address without a host.
//! - [`LinkResolver`] resolves the links of a page, fast enough for pages that consist of links.
//! - [`RecursionLimits`] detects URLs that a crawler invented by following relative links in
//!   circles.
//!
//! # The canonical form
//!
//! The address as parsed by the WHATWG URL standard (which lower-cases the host, removes the
//! default port and resolves dot segments), without user name, password, fragment, a trailing dot
//! of the host and an empty query. In the path and query, percent-encoded letters, digits, `-`,
//! `.`, `_` and `~` are decoded, the remaining percent-encodings use upper-case hexadecimal digits,
//! and a stray percent sign is encoded. The order of the query and a trailing slash are kept,
//! because servers distinguish them.
//!
//! # The link key
//!
//! The same page is nearly always reachable under `http` and `https`, with and without `www.`. To
//! match a link to `http://www.example.com/a` with the page `https://example.com/a`, links are
//! compared by their *key*: the canonical form without its scheme, and without `www.` if the rest
//! of the host contains a dot. As a consequence, attribution does not distinguish pages that differ
//! only in these parts. Link keys are used nowhere else.

mod domain;
mod link;
mod percent;
mod recursion;
mod tracking;

use std::ops::Range;

pub use domain::registered_domain;
pub use link::{Link, LinkResolver};
pub use recursion::{RecursionError, RecursionLimits};
pub use tracking::{has_tracking_parameters, without_tracking_parameters};

/// The address of a page, in canonical form.
///
/// ```
/// use cento_text::url::PageUrl;
///
/// let page = PageUrl::new("HTTPS://user@WWW.Example.co.uk:443/a/./b/%7Ex?q=1#top");
/// assert_eq!(page.canonical(), "https://www.example.co.uk/a/b/~x?q=1");
/// assert_eq!(page.host(), Some("www.example.co.uk"));
/// assert_eq!(page.domain(false), Some("example.co.uk"));
/// assert_eq!(page.link_key(), "example.co.uk/a/b/~x?q=1");
/// assert!(page.components().eq(["a", "b", "~x"]));
/// assert!(page.prefixes().eq([
///     "www.example.co.uk/",
///     "www.example.co.uk/a/",
///     "www.example.co.uk/a/b/",
/// ]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageUrl {
    canonical: String,
    /// The range of the host in `canonical`; empty for a file.
    host: Range<usize>,
    /// The range of the path, which follows the host or port.
    path: Range<usize>,
    /// Whether the scheme is `http` or `https`.
    web: bool,
}

impl PageUrl {
    /// Returns the canonical form of `name`, which is a URL or the path of a file.
    ///
    /// Any text is accepted: if it does not parse as a URL with a host or a well-known scheme, it
    /// is a path, for example `C:\page.html`.
    pub fn new(name: &str) -> Self {
        PageUrl::from_parsed(name, url::Url::parse(name).ok().as_ref())
    }

    fn from_parsed(name: &str, url: Option<&url::Url>) -> Self {
        match url {
            Some(url) if url.is_special() || url.has_authority() => {
                let page = PageUrl::from_url(url);
                // The parser drops a host before a drive letter, but removes slashes before the
                // letter only afterwards: `file://a//c:/` becomes `file://a/c:/`.
                let again = (url.scheme() == "file").then(|| url::Url::parse(&page.canonical));
                match again {
                    Some(Ok(again)) => PageUrl::from_url(&again),
                    _ => page,
                }
            }
            _ => PageUrl {
                canonical: name.to_owned(),
                host: 0..0,
                path: 0..name.len(),
                web: false,
            },
        }
    }

    fn from_url(url: &url::Url) -> Self {
        let mut canonical = String::with_capacity(url.as_str().len());
        canonical.push_str(url.scheme());
        canonical.push_str("://");
        let host_begin = canonical.len();
        if let Some(host) = url.host_str() {
            // Several trailing dots are kept: removing one could yield a different host.
            let name = host
                .strip_suffix('.')
                .filter(|name| !name.is_empty() && !name.ends_with('.'));
            canonical.push_str(name.unwrap_or(host));
        }
        let host = host_begin..canonical.len();
        if let Some(port) = url.port() {
            canonical.push(':');
            canonical.push_str(&port.to_string());
        }
        let path_begin = canonical.len();
        percent::normalise(url.path(), &mut canonical);
        let path = path_begin..canonical.len();
        if let Some(query) = url.query().filter(|query| !query.is_empty()) {
            canonical.push('?');
            percent::normalise(query, &mut canonical);
        }
        PageUrl {
            canonical,
            host,
            path,
            web: matches!(url.scheme(), "http" | "https"),
        }
    }

    /// The canonical address.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The host; `None` for a file.
    pub fn host(&self) -> Option<&str> {
        Some(&self.canonical[self.host.clone()]).filter(|host| !host.is_empty())
    }

    /// The registered domain of the host: see [`registered_domain`].
    pub fn domain(&self, private: bool) -> Option<&str> {
        self.host().map(|host| registered_domain(host, private))
    }

    /// The key that links to this page are compared by: see the [module](self).
    ///
    /// The key of a page that is not on the web is its canonical form.
    pub fn link_key(&self) -> &str {
        if !self.web {
            return &self.canonical;
        }
        let host = &self.canonical[self.host.clone()];
        &self.canonical[self.host.start + bare_host_offset(host)..]
    }

    /// The non-empty components of the path.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.canonical[self.path.clone()]
            .split('/')
            .filter(|component| !component.is_empty())
    }

    /// The prefixes whose neighbourhoods this page belongs to, shortest first: host and path up to
    /// each slash.
    ///
    /// The prefix includes a port other than the default, but neither scheme nor query. The path of
    /// a file has prefixes too, without a host. Consecutive slashes count as one, so that a path of
    /// slashes does not have a neighbourhood for each.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        let begin = if self.host.is_empty() {
            self.path.start
        } else {
            self.host.start
        };
        let path = &self.canonical[self.path.clone()];
        memchr::memchr_iter(b'/', path.as_bytes())
            .filter(move |&slash| slash == 0 || path.as_bytes()[slash - 1] != b'/')
            .map(move |slash| &self.canonical[begin..=self.path.start + slash])
    }

    /// Returns why this looks like a recursion error of a crawler, if it does.
    pub fn recursion_error(&self, limits: &RecursionLimits) -> Option<RecursionError> {
        limits.check(self.components())
    }
}

/// The length of the `www.` prefix that a link key omits; 0 unless the rest of the host contains a
/// dot.
fn bare_host_offset(host: &str) -> usize {
    match host.strip_prefix("www.") {
        Some(rest) if rest.contains('.') => host.len() - rest.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn consecutive_slashes_make_one_neighbourhood() {
        let page = PageUrl::new("http://a.example//b///c");
        let prefixes: Vec<&str> = page.prefixes().collect();
        assert_eq!(prefixes, ["a.example/", "a.example//b/"]);
    }

    #[test]
    fn equivalent_addresses_have_one_canonical_form() {
        for (name, canonical) in [
            ("http://example.com", "http://example.com/"),
            ("file://a//c:/b", "file:///c:/b"),
            ("file://a\\/c|/b", "file:///c:/b"),
            ("http://EXAMPLE.com:80/", "http://example.com/"),
            ("https://example.com:443", "https://example.com/"),
            ("https://example.com:80/", "https://example.com:80/"),
            ("http://example.com./a", "http://example.com/a"),
            ("http://user:secret@example.com/a#b", "http://example.com/a"),
            ("http://example.com/a/../b/./c/..", "http://example.com/b/"),
            (
                "http://example.com/%7ea%2fb%c3%a9?%41=%zz",
                "http://example.com/~a%2Fb%C3%A9?A=%25zz",
            ),
            ("http://example.com/a?", "http://example.com/a"),
            (
                "http://example.com/a?b=1&a=2",
                "http://example.com/a?b=1&a=2",
            ),
            ("http://example.com/a/", "http://example.com/a/"),
            (
                "http://bücher.example/ä b",
                "http://xn--bcher-kva.example/%C3%A4%20b",
            ),
            ("http:\\\\example.com\\a", "http://example.com/a"),
            ("  http://example.com/a\n", "http://example.com/a"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("ftp://example.com/a", "ftp://example.com/a"),
            ("file:///home/a/../b", "file:///home/b"),
        ] {
            assert_eq!(PageUrl::new(name).canonical(), canonical, "{name}");
        }
    }

    #[test]
    fn a_file_has_a_path_but_no_host() {
        for (name, components, prefixes) in [
            (
                "docs/a/b.html",
                vec!["docs", "a", "b.html"],
                vec!["docs/", "docs/a/"],
            ),
            ("/docs/b.html", vec!["docs", "b.html"], vec!["/", "/docs/"]),
            (
                "file:///docs/b.html",
                vec!["docs", "b.html"],
                vec!["/", "/docs/"],
            ),
            ("C:\\docs\\b.html", vec!["C:\\docs\\b.html"], vec![]),
            ("part-1.jsonl:17", vec!["part-1.jsonl:17"], vec![]),
            ("", vec![], vec![]),
        ] {
            let page = PageUrl::new(name);
            assert_eq!((page.host(), page.domain(false)), (None, None), "{name}");
            assert_eq!(page.components().collect::<Vec<_>>(), components, "{name}");
            assert_eq!(page.prefixes().collect::<Vec<_>>(), prefixes, "{name}");
            assert_eq!(page.link_key(), page.canonical());
        }
    }

    #[test]
    fn a_page_belongs_to_the_neighbourhood_of_every_prefix() {
        let prefixes = |name| {
            PageUrl::new(name)
                .prefixes()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let expected = [
            "arxiv.org/",
            "arxiv.org/archive/",
            "arxiv.org/archive/physics/",
        ];
        assert_eq!(prefixes("https://arxiv.org/archive/physics/x"), expected);
        assert_eq!(
            prefixes("https://arxiv.org/archive/physics/x?a=/b/"),
            expected
        );
        assert_eq!(prefixes("https://arxiv.org/archive/physics/"), expected);
        assert_eq!(prefixes("https://arxiv.org"), ["arxiv.org/"]);
        assert_eq!(
            prefixes("http://arxiv.org:8080/a/b"),
            ["arxiv.org:8080/", "arxiv.org:8080/a/"]
        );
    }

    #[test]
    fn link_keys_are_the_same_with_and_without_www_and_for_both_schemes() {
        let key = |name| PageUrl::new(name).link_key().to_owned();
        assert_eq!(key("http://www.example.com/a"), "example.com/a");
        assert_eq!(key("https://example.com/a"), "example.com/a");
        assert_eq!(key("https://www.example.com:8443/a"), "example.com:8443/a");
        // Here `www` is the registered name.
        assert_eq!(key("https://www.com/a"), "www.com/a");
        assert_eq!(key("https://wwwexample.com/a"), "wwwexample.com/a");
    }

    proptest! {
        #[test]
        fn any_name_is_accepted_and_the_canonical_form_is_stable(
            name in "\\PC{0,20}|[a-z]{1,5}://[a-zA-Z0-9./?#%:@\\[\\]-]{0,30}|https?://[a-z0-9.:-]{1,9}/[ -~]{0,20}|file://a?[/\\\\]{0,3}[a-c|:/]{0,9}"
        ) {
            let page = PageUrl::new(&name);
            let again = PageUrl::new(page.canonical());
            prop_assert_eq!(again.canonical(), page.canonical());
            prop_assert_eq!(again.link_key(), page.link_key());
            prop_assert!(page.host().is_none_or(|host| page.canonical().contains(host)));
            prop_assert!(page.components().all(|component| !component.is_empty()));
            prop_assert!(page.prefixes().all(|prefix| prefix.ends_with('/')));
            prop_assert!(page.domain(true).is_none_or(|domain| page.host().is_some_and(|host| host.ends_with(domain))));
            page.recursion_error(&RecursionLimits::default());
        }
    }
}

//! Registered domains, from the public suffix list.

use psl::{List, Psl, Type};

/// Returns the registered domain of `host`: the public suffix and one label before it, by Mozilla's
/// public suffix list.
///
/// By default only the list's ICANN section is used, which contains the suffixes under which names
/// are sold: the domain of `me.github.io` is `github.io`. With `private`, the other section is used
/// too, which contains suffixes under which companies give names to their users: `me.github.io` is
/// then a domain.
///
/// An unknown suffix is assumed to be one label long. An IP address is its own domain, and so is a
/// host that is only a suffix. The host must be in lower case, as
/// [`PageUrl::host`](super::PageUrl::host) returns it.
///
/// ```
/// use cento_text::url::registered_domain;
///
/// assert_eq!(registered_domain("news.bbc.co.uk", false), "bbc.co.uk");
/// assert_eq!(registered_domain("me.github.io", false), "github.io");
/// assert_eq!(registered_domain("www.me.github.io", true), "me.github.io");
/// assert_eq!(registered_domain("192.0.2.1", false), "192.0.2.1");
/// ```
pub fn registered_domain(host: &str, private: bool) -> &str {
    if is_address(host) {
        return host;
    }
    let Some(suffix) = suffix(host, private) else {
        return host;
    };
    let before = &host[..host.len() - suffix.len()];
    let Some(labels) = before.strip_suffix('.') else {
        return host;
    };
    let begin = labels.rfind('.').map_or(0, |dot| dot + 1);
    &host[begin..]
}

fn suffix(host: &str, private: bool) -> Option<&str> {
    let mut name = host;
    loop {
        let found = List.suffix(name.as_bytes())?;
        let suffix = name.get(name.len().checked_sub(found.as_bytes().len())?..)?;
        if private || found.typ() != Some(Type::Private) {
            return Some(suffix);
        }
        // Skip the private suffix to find the ICANN suffix it ends with.
        name = suffix.split_once('.')?.1;
    }
}

/// Whether the host is an IPv4 or an IPv6 address.
fn is_address(host: &str) -> bool {
    host.starts_with('[')
        || (host.ends_with(|last: char| last.is_ascii_digit())
            && host.parse::<std::net::Ipv4Addr>().is_ok())
        || host.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_suffixes_are_used_only_on_request() {
        for (host, icann, private) in [
            ("a.b.example.com", "example.com", "example.com"),
            ("x.blogspot.com", "blogspot.com", "x.blogspot.com"),
            ("y.x.github.io", "github.io", "x.github.io"),
            ("b.s3.amazonaws.com", "amazonaws.com", "b.s3.amazonaws.com"),
            ("github.io", "github.io", "github.io"),
            ("www.gov.uk", "www.gov.uk", "www.gov.uk"),
            (
                "www.city.kawasaki.jp",
                "city.kawasaki.jp",
                "city.kawasaki.jp",
            ),
            ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp", "b.c.kawasaki.jp"),
            ("www.ck", "www.ck", "www.ck"),
            ("a.b.xn--55qx5d.cn", "b.xn--55qx5d.cn", "b.xn--55qx5d.cn"),
        ] {
            assert_eq!(registered_domain(host, false), icann, "{host}");
            assert_eq!(registered_domain(host, true), private, "{host}, private");
        }
    }

    #[test]
    fn unknown_suffixes_addresses_and_invalid_hosts_have_a_domain() {
        for (host, domain) in [
            ("a.b.internal", "b.internal"),
            ("localhost", "localhost"),
            ("com", "com"),
            ("co.uk", "co.uk"),
            ("192.168.0.1", "192.168.0.1"),
            ("[::1]", "[::1]"),
            ("", ""),
            (".", "."),
            ("..", ".."),
            (".com", ".com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(registered_domain(host, false), domain, "{host}");
            assert_eq!(registered_domain(host, true), domain, "{host}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_domain_is_a_suffix_of_its_host_and_its_own_domain(host in "[a-z.]{0,20}|([a-z]{1,3}\\.){0,4}(co\\.uk|github\\.io|com|ck)") {
            for private in [false, true] {
                let domain = registered_domain(&host, private);
                proptest::prop_assert!(host.ends_with(domain));
                proptest::prop_assert_eq!(registered_domain(domain, private), domain);
            }
        }
    }
}

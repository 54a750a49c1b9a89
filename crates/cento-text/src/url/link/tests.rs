//! Compares the fast path with the `url` crate; use cases of links.

use proptest::prelude::*;

use super::*;

/// Resolves every reference with the `url` crate.
fn slow(
    page: &str,
    base: Option<&str>,
    reference: &str,
    private: bool,
) -> Option<(String, String, String)> {
    let own = PageUrl::new(page);
    let page = url::Url::parse(page).ok();
    let base = match (&page, base) {
        (Some(page), Some(base)) => page.join(base).ok().or_else(|| Some(page.clone())),
        (None, Some(base)) => url::Url::parse(base).ok(),
        (_, None) => page,
    };
    let target = match base {
        Some(base) => base.join(reference).ok()?,
        None => url::Url::parse(reference).ok()?,
    };
    let target = PageUrl::new(target.as_str());
    let web = target.canonical().starts_with("http:") || target.canonical().starts_with("https:");
    if !web || target.link_key() == own.link_key() {
        return None;
    }
    Some((
        target.link_key().to_owned(),
        target.host()?.to_owned(),
        target.domain(private)?.to_owned(),
    ))
}

fn fast(resolver: &mut LinkResolver, reference: &str) -> Option<(String, String, String)> {
    resolver.resolve(reference).map(|link| {
        (
            link.key.to_owned(),
            link.host.to_owned(),
            link.domain.to_owned(),
        )
    })
}

const PAGES: [&str; 10] = [
    "https://www.example.com/a/b/c.html?q=1",
    "http://example.com",
    "http://a.b.github.io:8080/x/",
    "https://user:secret@EXAMPLE.co.uk./%7ea/./x//y/../z?",
    "https://192.0.2.1/a",
    "http://[::1]/a/b",
    "http://example.com/a:/c|/x",
    "file:///home/a/b.html",
    "docs/a.html",
    "",
];

fn reference() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => prop::sample::select(vec![
            "/", "//", "..", ".", "../", "./", "?", "#", ":", "%", "%2e", "%2F", "%41", "%7e", "%zz", "@", "&", "=",
            "a:", "c|", "http:", "https://", "HTTP://", "//", "mailto:", "javascript:", "www.", "xn--", "--", "a", "b.c", "com",
            "example.com", "Example.ORG", "co.uk", "github.io", "1.2.3.4", "0x1", ":80", ":443", ":8080", "'", "\"",
            " ", "\t", "\n", "\\", "é", "{", "|", "^", "~", "_", "-", "!", "(", ")", "*", "+", ",", ";", "$", "[", "]",
        ]).prop_map(str::to_owned),
        1 => "[ -~]{0,4}",
        1 => "[a-z./?#:%]{0,8}",
    ];
    let any = prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat());
    let absolute = (
        "(https?:)?//",
        "[a-zA-Z0-9._-]{1,12}",
        "(:[0-9]{1,3})?",
        any.clone(),
    )
        .prop_map(|(scheme, host, port, rest)| format!("{scheme}{host}{port}/{rest}"));
    prop_oneof![3 => any, 1 => absolute]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn the_fast_path_agrees_with_the_url_crate(
        page in prop::sample::select(PAGES.to_vec()),
        base in prop_oneof![3 => Just(None), 1 => reference().prop_map(Some)],
        references in prop::collection::vec(reference(), 1..4),
        private in any::<bool>(),
    ) {
        let mut resolver = LinkResolver::new(page, base.as_deref(), private);
        for reference in &references {
            let expected = slow(page, base.as_deref(), reference, private);
            prop_assert_eq!(fast(&mut resolver, reference), expected, "{} on {}", reference, page);
        }
    }
}

#[test]
fn plain_references_take_the_fast_path() {
    let mut resolver = LinkResolver::new(
        "https://docs.example.com/api/java/lang/String.html",
        None,
        false,
    );
    for (reference, key) in [
        ("Object.html", "docs.example.com/api/java/lang/Object.html"),
        (
            "../util/List.html#add(E)",
            "docs.example.com/api/java/util/List.html",
        ),
        ("../../../", "docs.example.com/"),
        ("../../../../../x", "docs.example.com/x"),
        ("./a/./b/../c", "docs.example.com/api/java/lang/a/c"),
        ("/search?q=a%20b", "docs.example.com/search?q=a%20b"),
        (
            "?page=2",
            "docs.example.com/api/java/lang/String.html?page=2",
        ),
        ("//cdn.example.org", "cdn.example.org/"),
        ("HTTP://www.Example.ORG?a", "example.org/?a"),
        ("..", "docs.example.com/api/java/"),
        (".", "docs.example.com/api/java/lang/"),
    ] {
        assert_eq!(resolver.resolve_plain(reference), Ok(()), "{reference}");
        assert_eq!(resolver.resolve(reference).map(|link| link.key), Some(key));
    }
    for reference in [
        "mailto:a@example.com",
        "javascript:void 'é'",
        "tel:+49",
        "ftp://example.com/a",
    ] {
        assert_eq!(
            resolver.resolve_plain(reference),
            Err(Obstacle::NotWeb),
            "{reference}"
        );
    }
}

#[test]
fn links_to_the_page_itself_are_ignored() {
    let mut resolver = LinkResolver::new("https://example.com/a/b", None, false);
    for reference in [
        "",
        "#top",
        "b",
        "b#x",
        "./b",
        "http://www.example.com/a/b",
        "/a/b?",
    ] {
        assert_eq!(resolver.resolve(reference), None, "{reference}");
    }
    assert!(resolver.resolve("b?").is_none());
    assert!(resolver.resolve("b/").is_some());
}

#[test]
fn a_base_element_affects_relative_links_but_not_the_page() {
    let mut resolver = LinkResolver::new(
        "https://example.com/a",
        Some("//cdn.example.net/lib/"),
        false,
    );
    assert_eq!(
        resolver.resolve("x").map(|link| link.key),
        Some("cdn.example.net/lib/x")
    );
    assert_eq!(
        resolver.resolve("#x").map(|link| link.key),
        Some("cdn.example.net/lib/")
    );
    assert_eq!(resolver.resolve("https://example.com/a"), None);
}

#[test]
fn a_file_links_to_the_web_only_by_absolute_urls() {
    let mut resolver = LinkResolver::new("docs/a.html", None, false);
    assert_eq!(resolver.resolve("b.html"), None);
    assert_eq!(resolver.resolve("//example.com/"), None);
    assert_eq!(
        resolver
            .resolve("https://example.com/b")
            .map(|link| link.domain),
        Some("example.com")
    );
}

//! Recognises the parts of a page that are about something else: comments, related articles,
//! navigation, quotes.
//!
//! A date in such a part is not that of the page. Parts are recognised by their tag (`aside`,
//! `nav`, `blockquote`, a `footer` outside of any article) and by the words of their `class`, `id`
//! and `role`. Where a name misleads, the page has no date, which accuses nobody. So the list of
//! words need not be as careful as that of [`content`](crate::content), where a word has a weight.

use super::outline::is_container;
use super::tag::Tag;
use super::token::Attributes;

/// An open element whose end is sought.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenElement {
    pub(super) tag: Tag,
    /// The number of open elements with this tag, including this one.
    open: u32,
    /// The number of open nesting elements where it begins.
    depth: u32,
}

impl OpenElement {
    pub(super) fn new(tag: Tag, depth: u32) -> Self {
        OpenElement {
            tag,
            open: 1,
            depth,
        }
    }

    /// Reads a start tag inside the element, and returns whether it ends the element.
    pub(super) fn ends_before(&mut self, tag: Tag, depth: u32) -> bool {
        if self.tag != tag || tag.is_void() {
            return false;
        }
        let ends = ends_at_next(tag) && self.depth == depth;
        self.open += u32::from(!ends);
        ends
    }

    /// Reads an end tag, after which `depth` elements are open, and returns whether it ends the
    /// element.
    pub(super) fn ends_at(&mut self, tag: Tag, depth: u32) -> bool {
        if self.tag == tag {
            self.open = self.open.saturating_sub(1);
        }
        self.open == 0 || self.is_left(depth)
    }

    /// Whether an element without an end tag has ended with the element around it.
    pub(super) fn is_left(&self, depth: u32) -> bool {
        ends_at_next(self.tag) && depth < self.depth
    }
}

/// Elements that a start tag with the same name ends.
fn ends_at_next(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::P | Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody
    )
}

/// Whether an element is about something other than the page by its tag.
pub(super) fn is_part(tag: Tag) -> bool {
    matches!(tag, Tag::Aside | Tag::Nav | Tag::Blockquote | Tag::Footer)
}

/// Whether an element is about something other than the page. `in_article` says whether it is in an
/// article, which may have a footer of its own.
pub(super) fn is_of_another(tag: Tag, attributes: Attributes<'_>, in_article: bool) -> bool {
    match tag {
        Tag::Footer if in_article => {}
        _ if is_part(tag) => return true,
        // The names of the whole page say what it has: `comments-open`, `right-sidebar`.
        Tag::Html | Tag::Body | Tag::Main => return false,
        _ if attributes.is_empty() || !(is_container(tag) || tag == Tag::Time) => return false,
        _ => {}
    }
    let names = ["class", "id", "role"].into_iter();
    names
        .filter_map(|name| attributes.get(name))
        .any(|names| is_name_of_another(&names, in_article))
}

fn is_name_of_another(names: &str, in_article: bool) -> bool {
    names.split_ascii_whitespace().any(|name| {
        let words = || {
            name.split(|c: char| !c.is_ascii_alphabetic())
                .filter(|word| !word.is_empty())
        };
        // What an element has, or what an article is about: `has-comments`, `category-comments`.
        let is_state = || words().any(|word| is_any(word, STATES));
        let in_article = in_article || words().any(|word| is_any(word, OWNERS));
        words().any(|word| is_word_of_another(word, in_article)) && !is_state()
    })
}

fn is_any(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn is_word_of_another(word: &str, in_article: bool) -> bool {
    let bytes = word.as_bytes();
    let begins = |part: &str| {
        let begin = bytes.get(..part.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(part.as_bytes()))
    };
    let ends = |part: &str| {
        let begin = bytes.len().checked_sub(part.len());
        let end = begin.and_then(|begin| bytes.get(begin..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(part.as_bytes()))
    };
    let is_footer = || ends("footer") || is_any(word, &["contentinfo", "colophon", "fusszeile"]);
    is_any(word, WORDS)
        || (BEGINNINGS.iter().any(|part| begins(part)) && !is_any(word, ARTICLES))
        || ENDS.iter().any(|part| ends(part))
        || (!in_article && is_footer())
}

/// The words of a footer that is not that of the page: `post-footer`.
const OWNERS: &[&str] = &["article", "entry", "post", "story"];

const WORDS: &[&str] = &[
    "also",
    "blockquote",
    "carousel",
    "complementary",
    "correlati",
    "discussion",
    "disqus",
    "guestbook",
    "latest",
    "meistgelesen",
    "nav",
    "navbar",
    "navi",
    "next",
    "outbrain",
    "pager",
    "pagination",
    "popular",
    "previous",
    "promo",
    "quote",
    "quoted",
    "reactie",
    "reacties",
    "reactions",
    "recent",
    "recirc",
    "relacionados",
    "replies",
    "reply",
    "respond",
    "responses",
    "similar",
    "sponsored",
    "stories",
    "taboola",
    "ticker",
    "trending",
    "tweet",
    "verwandte",
    "yarpp",
];
const BEGINNINGS: &[&str] = &[
    "comentario",
    "comment",
    "kommentar",
    "navigation",
    "pingback",
    "recommend",
    "related",
    "sidebar",
    "teaser",
    "trackback",
];
const ENDS: &[&str] = &[
    "comments",
    "kommentare",
    "navigation",
    "sidebar",
    "teaser",
    "teasers",
];
/// A commentary is an article, and so is what is commented.
const ARTICLES: &[&str] = &["commentable", "commentary", "commented"];
const STATES: &[&str] = &[
    "category", "closed", "disabled", "enabled", "format", "has", "no", "open", "tag", "with",
    "without",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_things_are_recognised() {
        for names in [
            "comment",
            "post Comment-17",
            "commentlist",
            "userComments",
            "relatedPosts",
            "c-recommended",
            "kommentare",
            "post-navigation",
            "site_footer",
            "left-sidebar",
            "recent-posts",
        ] {
            assert!(is_name_of_another(names, false), "{names}");
        }
        for names in [
            "",
            "--",
            "entry-content",
            "commentary",
            "has-comments",
            "content-with-sidebar",
            "post category-comments tag-related format-quote comments-open",
            "navigator quotes unrelated",
            "größe",
        ] {
            assert!(!is_name_of_another(names, false), "{names}");
        }
        assert!(!is_name_of_another("site-footer", true));
        assert!(!is_name_of_another("entry-footer", false));
    }
}

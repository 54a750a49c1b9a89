//! What an element's names say about it.
//!
//! Authors all over the world name the parts of their pages in a kind of English:
//! `class="post-content"`, `id="comments"`, `role="navigation"`. The names are a help, never a
//! proof: `content-with-sidebar` is around the article, and a manual has a chapter on `FOR UPDATE
//! SHARE`. So each word comes with the doubt it deserves, and [`article`](super::article) weighs it
//! against what the element holds.

/// What the words in the names of an element suggest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hint {
    /// The strongest suggestion that it is not part of the text.
    pub(super) aside: Aside,
    /// It is named as the place of the text: `article-body`, `entry-content`.
    pub(super) content: bool,
}

/// How an element may stand beside the text. The later, the surer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aside {
    /// No suggestion.
    #[default]
    No,
    /// A small thing on the page, such as a row of buttons, a caption or an author's line: without
    /// much running text.
    Bar,
    /// A box on the side: a list of links on a news page, but a paragraph of the text in a
    /// handbook.
    Box,
    /// An area that leads elsewhere, such as recommendations and advertisements, whatever it holds.
    Area,
    /// An area that is foreign even where it holds most of the page: comments, footers, cookie
    /// notices.
    Foreign,
}

/// What one word suggests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Aside(Aside),
    /// One word for the place of the text.
    Content,
    /// The first of two words for the place of the text.
    ContentFirst,
    /// The second of two.
    ContentSecond,
    /// A row of buttons, unless something is embedded.
    Social,
    /// Something from elsewhere, quoted in the text.
    Embedded,
}

/// Words longer than this are none that we know.
const LONGEST_WORD: usize = 16;

/// Reads the names of an element.
pub(super) fn read(names: &str) -> Hint {
    let mut hint = Hint::default();
    let mut social = false;
    let mut embedded = false;
    let mut after_first = false;
    each_word(names, |word| {
        let sign = sign(word);
        match sign {
            Some(Sign::Aside(aside)) => hint.aside = hint.aside.max(aside),
            Some(Sign::Content) => hint.content = true,
            Some(Sign::ContentSecond) if after_first => hint.content = true,
            Some(Sign::Social) => social = true,
            Some(Sign::Embedded) => embedded = true,
            _ => {}
        }
        after_first = sign == Some(Sign::ContentFirst);
    });
    if social && !embedded {
        hint.aside = hint.aside.max(Aside::Bar);
    }
    hint
}

fn sign(word: &[u8]) -> Option<Sign> {
    Some(match word {
        b"nav" | b"navbar" | b"navigation" | b"menu" | b"breadcrumb" | b"breadcrumbs"
        | b"pagination" | b"pager" | b"toolbar" | b"toc" | b"skip" => Sign::Aside(Aside::Bar),
        b"share" | b"sharing" | b"follow" | b"subscribe" | b"subscription" | b"signup"
        | b"login" | b"print" | b"rating" | b"ratings" | b"tag" | b"tags" => {
            Sign::Aside(Aside::Bar)
        }
        b"ad" | b"ads" | b"advert" | b"advertisement" | b"copyright" => Sign::Aside(Aside::Bar),
        b"byline" | b"author" | b"bio" | b"meta" | b"date" | b"dates" | b"time" | b"timestamp" => {
            Sign::Aside(Aside::Bar)
        }
        b"caption" | b"credit" | b"photo" | b"gallery" | b"slideshow" => Sign::Aside(Aside::Bar),
        b"sidebar" | b"aside" | b"complementary" | b"widget" => Sign::Aside(Aside::Box),
        b"related" | b"recommended" | b"recommendation" | b"recommendations" | b"recirc"
        | b"trending" | b"popular" | b"teaser" | b"newsletter" => Sign::Aside(Aside::Area),
        b"promo" | b"promoted" | b"promotion" | b"sponsor" | b"sponsored" | b"taboola"
        | b"outbrain" | b"banner" | b"contentinfo" | b"modal" | b"popup" | b"overlay" => {
            Sign::Aside(Aside::Area)
        }
        b"comment" | b"comments" | b"commentlist" | b"disqus" | b"replies" | b"respond"
        | b"footer" | b"cookie" | b"consent" | b"gdpr" => Sign::Aside(Aside::Foreign),
        b"social" => Sign::Social,
        b"embed" => Sign::Embedded,
        b"articlebody" | b"articlecontent" | b"entrycontent" | b"maincontent" | b"postbody"
        | b"postcontent" | b"storybody" => Sign::Content,
        b"article" | b"blog" | b"entry" | b"main" | b"news" | b"page" | b"post" | b"single"
        | b"story" => Sign::ContentFirst,
        b"body" | b"content" | b"contents" | b"text" => Sign::ContentSecond,
        _ => return None,
    })
}

/// Calls `take` with each word of `names` in lower case. Words are runs of ASCII letters, parted
/// where a capital follows a small letter (`articleBody`) or begins a word after capitals
/// (`HTMLBody`). Those of one letter and those too long to be known are left out.
fn each_word(names: &str, mut take: impl FnMut(&[u8])) {
    let names = names.as_bytes();
    let byte = |index: usize| names.get(index).copied().unwrap_or_default();
    let mut begin = 0;
    for index in 0..=names.len() {
        let here = byte(index);
        let word_goes_on = here.is_ascii_alphabetic()
            && !(here.is_ascii_uppercase()
                && index > begin
                && (byte(index - 1).is_ascii_lowercase() || byte(index + 1).is_ascii_lowercase()));
        if word_goes_on {
            continue;
        }
        let word = names.get(begin..index).unwrap_or_default();
        let mut small = [0; LONGEST_WORD];
        if word.len() > 1
            && let Some(small) = small.get_mut(..word.len())
        {
            small.copy_from_slice(word);
            small.make_ascii_lowercase();
            take(small);
        }
        begin = if here.is_ascii_alphabetic() {
            index
        } else {
            index + 1
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(names, |word| {
            words.push(String::from_utf8_lossy(word).into_owned());
        });
        words
    }

    #[test]
    fn names_fall_apart_into_words() {
        assert_eq!(
            words("entry-content post__body--wide"),
            ["entry", "content", "post", "body", "wide"]
        );
        assert_eq!(
            words("articleBody HTMLBody mainADUnit2x"),
            ["article", "body", "html", "body", "main", "ad", "unit"]
        );
        assert_eq!(words("größe a  -"), ["gr"]);
        assert_eq!(words(""), Vec::<String>::new());
    }

    #[test]
    fn a_word_too_long_to_be_known_is_not_taken_for_its_beginning() {
        assert_eq!(
            words("commentsandmuchmore ABCDEFGHIJKLMNOPQRSTUVWXYZend"),
            ["zend"]
        );
    }

    #[test]
    fn the_surest_word_decides() {
        assert_eq!(read("share-bar").aside, Aside::Bar);
        assert_eq!(read("share sidebar related").aside, Aside::Area);
        assert_eq!(read("comments share").aside, Aside::Foreign);
        assert_eq!(read("section chapter").aside, Aside::No);
        assert_eq!(read("shared adventure navigator").aside, Aside::No);
    }

    #[test]
    fn a_post_quoted_from_a_social_network_is_part_of_the_text() {
        assert_eq!(read("social-buttons").aside, Aside::Bar);
        assert_eq!(read("social-media-embed").aside, Aside::No);
        assert_eq!(read("embed-caption").aside, Aside::Bar);
    }

    #[test]
    fn the_place_of_the_text_is_named_by_one_word_or_two() {
        for names in [
            "articleBody",
            "entry-content",
            "post_body",
            "http://schema.org/Thing storybody",
        ] {
            assert!(read(names).content, "{names}");
        }
        for names in [
            "content",
            "article",
            "body article",
            "content-page",
            "main-menu-text",
        ] {
            assert!(!read(names).content, "{names}");
        }
    }
}

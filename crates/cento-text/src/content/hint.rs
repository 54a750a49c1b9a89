//! Hints about an element from its class and other names.
//!
//! Authors name the parts of their pages: `class="post-content"`, `id="comments"`,
//! `role="navigation"`; most in English, some in their own language (`kommentare`). Such names are
//! hints, not proof: `content-with-sidebar` encloses the article, and a manual has a chapter on
//! `FOR UPDATE SHARE`. Each word therefore has a strength, and [`article`](super::article) weighs
//! it against the content of the element.

use super::vocabulary::{Vocabulary, length, pack, packed, prefix};

/// The hints in the names of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hint {
    /// The strongest hint that it is not part of the main content.
    pub(super) peripheral: Periphery,
    /// Its name marks it as the main content: `article-body`, `entry-content`.
    pub(super) content: bool,
}

/// How strongly a name suggests that an element is peripheral, from weakest to strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Periphery {
    /// No hint.
    #[default]
    None,
    /// A small element, such as a row of buttons, a caption or a byline, without much running text.
    Bar,
    /// A box on the side: a list of links on a news page, but part of the text in a handbook.
    Box,
    /// An area that leads elsewhere, such as recommendations and advertisements, regardless of its
    /// content.
    Area,
    /// An area that is never main content, even if it has most of the page's text: comments,
    /// footers, cookie notices.
    Foreign,
}

/// The hint of a single word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Periphery(Periphery),
    /// One word that marks the main content.
    Content,
    /// The first of two words that together mark the main content.
    ContentFirst,
    /// The second of two such words.
    ContentSecond,
    /// A row of buttons, unless something is embedded.
    Social,
    /// Embedded material that is quoted in the text.
    Embedded,
}

const SIDE: u128 = packed(b"side");
const BAR: u128 = packed(b"bar");
const SIDEBAR: u128 = packed(b"sidebar");

/// Reads the names of an element, and calls `visit` with each word of them, see [`pack`].
pub(super) fn read(names: &str, mut visit: impl FnMut(u128)) -> Hint {
    let mut hint = Hint::default();
    let mut social = false;
    let mut embedded = false;
    let mut after_first = false;
    let mut after_side = false;
    each_word(names, |word| {
        let mut sign = SIGN_WORDS.get(word);
        let mut word = word;
        if sign.is_none() {
            let meaning = if word == BAR && after_side {
                Some(SIDEBAR)
            } else {
                compound(word)
            };
            if let Some(meaning) = meaning {
                word = meaning;
                sign = SIGN_WORDS.get(word);
            }
        }
        after_side = word == SIDE;
        visit(word);
        match sign {
            Some(Sign::Periphery(peripheral)) => hint.peripheral = hint.peripheral.max(peripheral),
            Some(Sign::Content) => hint.content = true,
            Some(Sign::ContentSecond) if after_first => hint.content = true,
            Some(Sign::Social) => social = true,
            Some(Sign::Embedded) => embedded = true,
            _ => {}
        }
        after_first = sign == Some(Sign::ContentFirst);
    });
    if social && !embedded {
        hint.peripheral = hint.peripheral.max(Periphery::Bar);
    }
    hint
}

/// A part of a compound, and the word that means the same.
struct Part {
    word: u128,
    length: usize,
    meaning: u128,
}

const fn part(word: &[u8], meaning: &[u8]) -> Part {
    Part {
        word: packed(word),
        length: word.len(),
        meaning: packed(meaning),
    }
}

const BEGINNINGS: [Part; 14] = [
    part(b"breadcrumb", b"breadcrumb"),
    part(b"comentario", b"comments"),
    part(b"comment", b"comments"),
    part(b"cookie", b"cookie"),
    part(b"footer", b"footer"),
    part(b"kommentar", b"comments"),
    part(b"navigation", b"navigation"),
    part(b"newsletter", b"newsletter"),
    part(b"related", b"related"),
    part(b"sidebar", b"sidebar"),
    part(b"social", b"social"),
    part(b"teaser", b"teaser"),
    part(b"trackback", b"comments"),
    part(b"widget", b"widget"),
];

const ENDS: [Part; 9] = [
    part(b"comments", b"comments"),
    part(b"footer", b"footer"),
    part(b"kommentare", b"comments"),
    part(b"menu", b"menu"),
    part(b"nav", b"nav"),
    part(b"navi", b"nav"),
    part(b"navigation", b"navigation"),
    part(b"sidebar", b"sidebar"),
    part(b"teaser", b"teaser"),
];

/// Two letters as numbers below 32.
const fn pair(letters: u128) -> (usize, usize) {
    ((letters & 31) as usize, (letters >> 8 & 31) as usize)
}

/// The first two letters of all beginnings: for each first one, a bit for each second one.
static BEGINNING_PAIRS: [u32; 32] = {
    let mut pairs = [0; 32];
    let mut i = 0;
    while i < BEGINNINGS.len() {
        let (one, two) = pair(BEGINNINGS[i].word);
        pairs[one] |= 1 << two;
        i += 1;
    }
    pairs
};

/// Likewise, the last two letters of all ends.
static END_PAIRS: [u32; 32] = {
    let mut pairs = [0; 32];
    let mut i = 0;
    while i < ENDS.len() {
        let (one, two) = pair(ENDS[i].word >> (8 * (ENDS[i].length - 2)));
        pairs[one] |= 1 << two;
        i += 1;
    }
    pairs
};

/// A commentary is an article, and so is what is commented.
const NO_COMPOUNDS: [u128; 3] = [
    packed(b"commentary"),
    packed(b"commented"),
    packed(b"commentable"),
];

/// The part of a compound that says what an element is: `commentform` is about comments, and
/// `topmenu` is a menu. Other parts, such as `tag` or `ad`, also occur in unrelated words.
fn compound(word: u128) -> Option<u128> {
    // Most words are none by their first or last two letters.
    let length = length(word);
    let (first, last) = (pair(word), pair(word >> (8 * length.saturating_sub(2))));
    if BEGINNING_PAIRS[first.0] >> first.1 & 1 == 0 && END_PAIRS[last.0] >> last.1 & 1 == 0 {
        return None;
    }
    let begins = |part: &&Part| length >= part.length && prefix(word, part.length) == part.word;
    let ends =
        |part: &&Part| length >= part.length && word >> (8 * (length - part.length)) == part.word;
    let part = BEGINNINGS.iter().find(begins);
    let part = part.or_else(|| ENDS.iter().find(ends))?;
    (!NO_COMPOUNDS.contains(&word)).then_some(part.meaning)
}

macro_rules! signs {
    ($($sign:expr => $($word:literal)|+,)*) => {
        const SIGNS: &[(&[u8], Sign)] = &[$($(($word, $sign),)+)*];
    };
}

signs! {
    Sign::Periphery(Periphery::Bar) => b"nav" | b"navbar" | b"navigation" | b"menu" | b"breadcrumb"
        | b"breadcrumbs" | b"pagination" | b"pager" | b"toolbar" | b"toc" | b"skip",
    Sign::Periphery(Periphery::Bar) => b"navi" | b"navlinks" | b"rootline" | b"pathway" | b"filariane"
        | b"ariane" | b"brotkrumen" | b"pagenav" | b"pagenavi" | b"catlinks" | b"printfooter",
    Sign::Periphery(Periphery::Bar) => b"share" | b"sharing" | b"follow" | b"subscribe" | b"subscription"
        | b"signup" | b"login" | b"print" | b"rating" | b"ratings" | b"tag" | b"tags",
    Sign::Periphery(Periphery::Bar) => b"sharedaddy" | b"sharethis" | b"sociable" | b"addthis"
        | b"addtoany" | b"shariff" | b"teilen" | b"partager" | b"compartir" | b"drucken"
        | b"imprimer" | b"schlagworte" | b"etiquetas",
    Sign::Periphery(Periphery::Bar) => b"ad" | b"ads" | b"advert" | b"advertisement" | b"copyright"
        | b"werbung" | b"anzeige" | b"publicite" | b"publicidad",
    Sign::Periphery(Periphery::Bar) => b"byline" | b"author" | b"bio" | b"meta" | b"date" | b"dates"
        | b"time" | b"timestamp" | b"postmetadata" | b"postmeta" | b"postinfo" | b"submitted"
        | b"autor" | b"auteur" | b"autore" | b"datum" | b"fecha",
    Sign::Periphery(Periphery::Bar) => b"caption" | b"credit" | b"photo" | b"gallery" | b"slideshow"
        | b"bildunterschrift" | b"legende",
    Sign::Periphery(Periphery::Box) => b"sidebar" | b"aside" | b"complementary" | b"widget"
        | b"seitenleiste" | b"randspalte" | b"marginalspalte" | b"portlet" | b"moduletable",
    Sign::Periphery(Periphery::Area) => b"related" | b"recommended" | b"recommendation"
        | b"recommendations" | b"recirc" | b"trending" | b"popular" | b"teaser" | b"newsletter"
        | b"yarpp" | b"verwandte" | b"meistgelesen" | b"correlati" | b"relacionados" | b"blogroll"
        | b"tagcloud",
    Sign::Periphery(Periphery::Area) => b"promo" | b"promoted" | b"promotion" | b"sponsor" | b"sponsored"
        | b"taboola" | b"outbrain" | b"banner" | b"contentinfo" | b"modal" | b"popup" | b"overlay",
    Sign::Periphery(Periphery::Foreign) => b"comment" | b"comments" | b"commentlist" | b"disqus"
        | b"replies" | b"respond" | b"footer" | b"cookie" | b"consent" | b"gdpr" | b"commento"
        | b"commenti" | b"reactie" | b"reacties" | b"pingback" | b"pingbacks" | b"fusszeile",
    Sign::Social => b"social",
    Sign::Embedded => b"embed",
    Sign::Content => b"articlebody" | b"articlecontent" | b"entrycontent" | b"maincontent" | b"postbody"
        | b"postcontent" | b"storybody" | b"artikeltext" | b"articletext" | b"entrytext"
        | b"posttext",
    Sign::ContentFirst => b"article" | b"blog" | b"entry" | b"main" | b"news" | b"page" | b"post"
        | b"single" | b"story" | b"artikel" | b"beitrag" | b"billet" | b"articulo" | b"articolo",
    Sign::ContentSecond => b"body" | b"content" | b"contents" | b"text" | b"texte" | b"texto" | b"testo"
        | b"inhalt",
}

static SIGN_WORDS: Vocabulary<Sign, { SIGNS.len() }, 512> = Vocabulary::new(SIGNS);

/// Most names have fewer bytes.
const NAMES_BYTES: usize = 128;

/// The end of the run of bytes from `from` on that are in a class.
#[inline]
fn run(names: &[u8], from: usize, is: impl Fn(&u8) -> bool) -> usize {
    let rest = names.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| is(byte)).count()
}

/// Calls `take` with each word of `names` in lower case. Words are runs of ASCII letters, split
/// where a capital follows a small letter (`articleBody`) or begins a word after capitals
/// (`HTMLBody`). Single letters and words longer than [`LONGEST_WORD`] are skipped.
///
/// [`LONGEST_WORD`]: super::vocabulary::LONGEST_WORD
fn each_word(names: &str, mut take: impl FnMut(u128)) {
    let names = names.as_bytes();
    // After most words, [`pack`] then finds the bytes that it reads.
    let mut buffer = [0; NAMES_BYTES];
    let padded = match buffer.get_mut(..names.len()) {
        Some(start) => {
            start.copy_from_slice(names);
            &buffer
        }
        None => names,
    };
    let mut take = |begin: usize, end: usize| {
        if end > begin + 1
            && let Some(word) = pack(padded, begin..end)
        {
            take(word);
        }
    };
    let mut at = 0;
    while at < names.len() {
        let mut begin = run(names, at, |byte| !byte.is_ascii_alphabetic());
        let capitals = run(names, begin, u8::is_ascii_uppercase);
        at = run(names, capitals, u8::is_ascii_lowercase);
        if at > capitals && capitals > begin {
            // The last capital begins the next word.
            take(begin, capitals - 1);
            begin = capitals - 1;
        }
        take(begin, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hint(names: &str) -> Hint {
        read(names, |_| {})
    }

    fn words(names: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(names, |word| {
            let bytes = word.to_le_bytes();
            words.push(String::from_utf8_lossy(&bytes[..length(word)]).into_owned());
        });
        words
    }

    /// The words of names, letter by letter.
    fn words_as_defined(names: &str) -> Vec<String> {
        let letters: Vec<char> = names.chars().chain([' ']).collect();
        let mut words = vec![String::new()];
        for (index, &letter) in letters.iter().enumerate() {
            let before = index.checked_sub(1).map_or(' ', |index| letters[index]);
            let after = letters.get(index + 1).copied().unwrap_or(' ');
            let begins = letter.is_ascii_uppercase()
                && (before.is_ascii_lowercase() || after.is_ascii_lowercase());
            if begins || !letter.is_ascii_alphabetic() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut()
                && letter.is_ascii_alphabetic()
            {
                word.push(letter);
            }
        }
        words.retain(|word| (2..=16).contains(&word.len()));
        words.iter().map(|word| word.to_ascii_lowercase()).collect()
    }

    proptest! {
        #[test]
        fn words_are_split_as_defined(names in "([a-z]{0,18}|[A-Zab]{0,9}|[ _é0-9-]{1,2}){0,30}") {
            prop_assert_eq!(words(&names), words_as_defined(&names));
        }
    }

    #[test]
    fn names_are_split_into_words() {
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
    fn a_word_is_not_recognised_by_its_prefix() {
        assert_eq!(
            words("commentsandmuchmore ABCDEFGHIJKLMNOPQRSTUVWXYZend"),
            ["zend"]
        );
    }

    #[test]
    fn a_compound_has_the_hint_of_its_part() {
        for (names, peripheral) in [
            ("jp-relatedposts", Periphery::Area),
            ("commentform", Periphery::Foreign),
            ("kommentarListe", Periphery::Foreign),
            ("topmenu", Periphery::Bar),
            ("serendipitySideBar", Periphery::Box),
            ("side bar", Periphery::Box),
            ("barside", Periphery::None),
            ("commented commentary", Periphery::None),
        ] {
            assert_eq!(hint(names).peripheral, peripheral, "{names}");
        }
    }

    #[test]
    fn the_strongest_word_decides() {
        assert_eq!(hint("share-bar").peripheral, Periphery::Bar);
        assert_eq!(hint("share sidebar related").peripheral, Periphery::Area);
        assert_eq!(hint("comments share").peripheral, Periphery::Foreign);
        assert_eq!(hint("section chapter").peripheral, Periphery::None);
        assert_eq!(
            hint("shared adventure navigator").peripheral,
            Periphery::None
        );
    }

    #[test]
    fn a_post_quoted_from_a_social_network_is_part_of_the_text() {
        assert_eq!(hint("social-buttons").peripheral, Periphery::Bar);
        assert_eq!(hint("social-media-embed").peripheral, Periphery::None);
        assert_eq!(hint("embed-caption").peripheral, Periphery::Bar);
    }

    #[test]
    fn main_content_is_named_by_one_word_or_two() {
        for names in [
            "articleBody",
            "entry-content",
            "post_body",
            "http://schema.org/Thing storybody",
        ] {
            assert!(hint(names).content, "{names}");
        }
        for names in [
            "content",
            "article",
            "body article",
            "content-page",
            "main-menu-text",
        ] {
            assert!(!hint(names).content, "{names}");
        }
    }
}

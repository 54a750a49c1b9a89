//! Classes of the words in the names of elements (`class`, `id`, `role`, `itemprop`).
//!
//! Each class is evidence for the fitted model of [`blocks`](super::blocks), which decides what it
//! means: a word has no fixed effect here.

use super::hint::{self, Hint};
use super::measure::hash;
use super::vocabulary::Vocabulary;
use crate::html::{Outline, Tag};

macro_rules! name_classes {
    ($($variant:ident $label:literal: $($word:literal)|+,)*) => {
        /// A group of words in names that mean the same part of a page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum NameClass { $($variant,)* }

        impl NameClass {
            /// The labels of all classes, in order.
            pub(super) const LABELS: &[&str] = &[$($label,)*];
        }

        const CLASSES: &[(&[u8], NameClass)] = &[$($(($word, NameClass::$variant),)+)*];
    };
}

name_classes! {
    Navigation "navigation": b"nav" | b"navbar" | b"navigation" | b"menu" | b"menubar" | b"sitemap"
        | b"dropdown" | b"megamenu" | b"submenu" | b"navi" | b"navlinks" | b"navlist"
        | b"hauptnavigation" | b"hauptmenue" | b"menue" | b"naviguer" | b"navegacion" | b"portlet"
        | b"moduletable",
    Breadcrumb "breadcrumb": b"breadcrumb" | b"breadcrumbs" | b"crumbs" | b"rootline" | b"pathway"
        | b"ariane" | b"filariane" | b"brotkrumen" | b"pfad" | b"hierarchie" | b"hierarchy",
    Pager "pager": b"pagination" | b"pager" | b"paging" | b"next" | b"prev" | b"previous"
        | b"pagenav" | b"pagenavi" | b"nextpost" | b"seitenzahlen" | b"suivant" | b"precedent",
    Share "share": b"share" | b"sharing" | b"social" | b"follow" | b"facebook" | b"twitter"
        | b"sharedaddy" | b"sharethis" | b"sociable" | b"addthis" | b"addtoany" | b"shariff"
        | b"teilen" | b"partager" | b"compartir" | b"bookmarks" | b"bookmark",
    Login "login": b"login" | b"signin" | b"signup" | b"register" | b"account" | b"auth"
        | b"anmelden" | b"anmeldung" | b"connexion",
    Subscribe "subscribe": b"subscribe" | b"subscription" | b"newsletter" | b"paywall" | b"optin"
        | b"abonnieren" | b"abo" | b"abonnement",
    Advertisement "advertisement": b"ad" | b"ads" | b"advert" | b"advertisement" | b"sponsor"
        | b"sponsored" | b"promo" | b"promoted" | b"promotion" | b"taboola" | b"outbrain"
        | b"werbung" | b"anzeige" | b"anzeigen" | b"reklame" | b"publicite" | b"pub"
        | b"publicidad" | b"pubblicita" | b"adsense",
    Byline "byline": b"byline" | b"author" | b"bio" | b"meta" | b"date" | b"dates" | b"time"
        | b"timestamp" | b"posted" | b"published" | b"dateline" | b"autor" | b"auteur" | b"autore"
        | b"datum" | b"fecha" | b"postmetadata" | b"metadata" | b"postmeta" | b"postinfo"
        | b"postdate" | b"submitted",
    Caption "caption": b"caption" | b"credit" | b"photo" | b"gallery" | b"slideshow" | b"carousel"
        | b"slider" | b"swiper" | b"slide" | b"legend" | b"legende" | b"bildunterschrift"
        | b"didascalia" | b"bildtext",
    Image "image": b"image" | b"images" | b"img" | b"media" | b"thumbnail" | b"thumb" | b"picture"
        | b"bild" | b"bilder" | b"foto" | b"fotos",
    Sidebar "sidebar": b"sidebar" | b"aside" | b"complementary" | b"widget" | b"rail"
        | b"secondary" | b"seitenleiste" | b"randspalte" | b"marginalspalte",
    Related "related": b"related" | b"recommended" | b"recommendation" | b"recommendations"
        | b"recirc" | b"trending" | b"popular" | b"teaser" | b"similar" | b"upsell" | b"latest"
        | b"relatedposts" | b"yarpp" | b"verwandte" | b"aussi" | b"meistgelesen" | b"teasers"
        | b"empfehlungen" | b"correlati" | b"relacionados" | b"recent",
    Modal "modal": b"modal" | b"popup" | b"overlay" | b"dialog" | b"lightbox" | b"drawer"
        | b"offcanvas" | b"toast" | b"tooltip" | b"popover",
    Cookie "cookie": b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"ccpa" | b"onetrust"
        | b"didomi" | b"cookiebot" | b"truste" | b"trustarc" | b"usercentrics"
        | b"cmplz" | b"cky" | b"iubenda" | b"klaro",
    Banner "banner": b"banner" | b"alert" | b"notice" | b"announcement" | b"topbar" | b"wayback"
        | b"ipp" | b"donate" | b"notification" | b"message",
    Comment "comment": b"comment" | b"comments" | b"commentlist" | b"disqus" | b"respond"
        | b"trackback" | b"trackbacks" | b"pingback" | b"pingbacks" | b"pings" | b"kommentar"
        | b"kommentare" | b"commentaire" | b"commentaires" | b"comentario" | b"comentarios"
        | b"commento" | b"commenti" | b"reactie" | b"reacties",
    Footer "footer": b"footer" | b"colophon" | b"contentinfo" | b"copyright" | b"foot" | b"legal"
        | b"fusszeile" | b"fuss" | b"fussbereich" | b"pied" | b"credits",
    Header "header": b"header" | b"masthead" | b"head" | b"top" | b"logo" | b"brand" | b"kopf"
        | b"kopfzeile" | b"entete" | b"bandeau" | b"tete",
    Hero "hero": b"hero" | b"jumbotron" | b"intro" | b"lead" | b"lede" | b"tagline" | b"chapo"
        | b"vorspann" | b"teasertext" | b"standfirst",
    Card "card": b"card" | b"cards" | b"tile" | b"tiles" | b"item" | b"cell" | b"box" | b"col",
    List "list": b"list" | b"listing" | b"listings" | b"grid" | b"results" | b"result" | b"feed"
        | b"collection" | b"catalog" | b"items" | b"products" | b"listitem",
    Product "product": b"product" | b"sku" | b"pdp" | b"buy" | b"buybox" | b"variant" | b"swatch"
        | b"quantity" | b"shop",
    Cart "cart": b"cart" | b"basket" | b"checkout" | b"bag" | b"wishlist" | b"shipping"
        | b"delivery",
    Price "price": b"price" | b"prices" | b"pricing" | b"cost" | b"amount" | b"offers",
    Description "description": b"description" | b"desc" | b"details" | b"detail" | b"summary"
        | b"overview" | b"excerpt" | b"about" | b"info" | b"information",
    Review "review": b"review" | b"reviews" | b"rating" | b"ratings" | b"stars" | b"testimonial"
        | b"testimonials" | b"feedback" | b"yotpo" | b"bazaarvoice" | b"bv" | b"trustpilot" | b"judgeme"
        | b"jdgm" | b"okendo" | b"loox" | b"stamped" | b"ugc",
    Post "post": b"post" | b"posts" | b"thread" | b"topic" | b"reply" | b"replies" | b"discussion"
        | b"bbwrapper",
    Answer "answer": b"answer" | b"answers" | b"question" | b"questions" | b"answercell",
    User "user": b"user" | b"username" | b"avatar" | b"member" | b"profile" | b"userinfo"
        | b"poster" | b"postprofile" | b"usertitle" | b"userdetails",
    Signature "signature": b"signature" | b"sig" | b"signatures",
    Vote "vote": b"vote" | b"votes" | b"score" | b"karma" | b"reaction" | b"reactions" | b"like"
        | b"likes" | b"views",
    Quote "quote": b"quote" | b"blockquote" | b"bbcode" | b"quoted" | b"quotecontent",
    Content "content": b"content" | b"contents" | b"body" | b"text" | b"prose" | b"markdown"
        | b"richtext" | b"wysiwyg" | b"rte" | b"copy" | b"paragraph" | b"contenu" | b"contenido"
        | b"inhalt" | b"inhalte" | b"texte" | b"texto" | b"testo" | b"tekst" | b"corps",
    Article "article": b"article" | b"story" | b"entry" | b"articlebody" | b"blog" | b"news"
        | b"single" | b"artikel" | b"beitrag" | b"billet" | b"articulo" | b"articolo" | b"hentry",
    Main "main": b"main" | b"primary" | b"maincontent" | b"page",
    Title "title": b"title" | b"heading" | b"headline" | b"subtitle" | b"name" | b"subheading"
        | b"titre" | b"titulo" | b"titolo" | b"ueberschrift" | b"titel",
    Code "code": b"code" | b"highlight" | b"prism" | b"syntax" | b"console" | b"snippet",
    Manual "manual": b"doc" | b"docs" | b"documentation" | b"api" | b"manual" | b"chapter"
        | b"wiki" | b"mw" | b"sphinx" | b"sect",
    Outline "outline": b"toc" | b"outline" | b"tableofcontents" | b"anchor" | b"permalink",
    Tabs "tabs": b"tab" | b"tabs" | b"tabpanel" | b"accordion" | b"panel" | b"collapse"
        | b"collapsible" | b"faq" | b"faqs",
    Search "search": b"search" | b"filter" | b"filters" | b"facet" | b"facets" | b"refine"
        | b"sort" | b"autocomplete" | b"suche" | b"suchen" | b"recherche" | b"recherchieren"
        | b"buscar" | b"cerca" | b"zoeken",
    Table "table": b"spec" | b"specs" | b"specification" | b"specifications" | b"attributes"
        | b"features" | b"feature" | b"table" | b"infobox" | b"properties",
    Label "label": b"tag" | b"tags" | b"label" | b"labels" | b"badge" | b"chip" | b"category"
        | b"categories" | b"keywords" | b"taxonomy" | b"schlagworte" | b"schlagwoerter"
        | b"etiquetas" | b"etichette" | b"motscles" | b"tagcloud" | b"kategorie" | b"kategorien"
        | b"rubrique" | b"rubriques" | b"rubrik",
    Button "button": b"button" | b"buttons" | b"btn" | b"cta" | b"action" | b"actions"
        | b"toolbar" | b"tools" | b"controls" | b"control",
    Form "form": b"form" | b"field" | b"input" | b"contact" | b"captcha" | b"formular"
        | b"formulaire" | b"kontakt",
    Video "video": b"video" | b"player" | b"audio" | b"podcast" | b"embed" | b"transcript",
    References "references": b"reference" | b"references" | b"footnote" | b"footnotes" | b"reflist"
        | b"citation" | b"bibliography" | b"endnotes",
    Hidden "hidden": b"hidden" | b"hide" | b"sr" | b"screenreader" | b"visually" | b"skip"
        | b"noprint" | b"invisible" | b"offscreen" | b"print",
    Archive "archive": b"archive" | b"archives" | b"archiv" | b"archivio" | b"blogroll"
        | b"calendar" | b"kalender" | b"calendrier" | b"history" | b"chronology",
    Side "side": b"side" | b"right" | b"left" | b"rechts" | b"droite" | b"gauche" | b"derecha"
        | b"izquierda" | b"column" | b"spalte" | b"colonne" | b"columna",
    Section "section": b"section" | b"block" | b"module" | b"component" | b"region",
}

static CLASS_WORDS: Vocabulary<NameClass, { CLASSES.len() }, 2048> = Vocabulary::new(CLASSES);

/// The elements whose tag is evidence, like a class of names.
pub(super) const TAGS: &[Tag] = &[
    Tag::Nav,
    Tag::Header,
    Tag::Footer,
    Tag::Aside,
    Tag::Form,
    Tag::Main,
    Tag::Article,
    Tag::Section,
    Tag::Table,
    Tag::Ul,
    Tag::Ol,
    Tag::Dl,
    Tag::Figure,
    Tag::Dialog,
    Tag::Blockquote,
    Tag::Pre,
    Tag::Details,
    Tag::Select,
];

/// The number of signs that an element can have: classes of names, and tags.
pub(super) const SIGNS: usize = NameClass::LABELS.len() + TAGS.len();

const _: () = assert!(SIGNS <= u128::BITS as usize);

/// The label of a sign, for explanations and for the fit.
pub(super) fn label(sign: usize) -> String {
    let classes = NameClass::LABELS.len();
    match NameClass::LABELS.get(sign) {
        Some(label) => (*label).to_owned(),
        None => TAGS
            .get(sign - classes)
            .map_or_else(String::new, |tag| format!("<{}>", tag.name())),
    }
}

/// What the names of an element say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NameReading {
    /// The hint for the article method.
    pub(super) hint: Hint,
    /// The signs, one bit each.
    pub(super) signs: u128,
    /// A hash of the first name without digits, so that `post-17` and `post-18` are the same.
    pub(super) shape: u64,
    /// Whether a type of schema.org is among them.
    pub(super) has_schema: bool,
}

impl NameReading {
    fn of(names: &str) -> Self {
        let mut signs = 0;
        let hint = hint::read(names, |word| {
            if let Some(class) = CLASS_WORDS.get(word) {
                signs |= 1 << class as u8;
            }
        });
        NameReading {
            hint,
            signs,
            shape: shape(names),
            // Most names have no slash, which is found faster.
            has_schema: memchr::memchr(b'/', names.as_bytes()).is_some()
                && names.contains("schema.org/"),
        }
    }
}

fn shape(names: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let first = names.bytes().take_while(|&byte| byte != b' ');
    for byte in first.filter(|byte| !byte.is_ascii_digit()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// The sign of a tag, as a bit.
pub(super) fn tag_sign(tag: Tag) -> u128 {
    static SIGNS: [u128; Tag::COUNT] = {
        let mut signs = [0; Tag::COUNT];
        let mut place = 0;
        while place < TAGS.len() {
            signs[TAGS[place].index()] = 1 << (NameClass::LABELS.len() + place);
            place += 1;
        }
        signs
    };
    SIGNS[tag.index()]
}

/// What the names of the elements of a page say.
pub(super) struct ElementNames {
    /// What different names say; the first says nothing.
    readings: Vec<NameReading>,
    /// For each container, the place of what its names say.
    places: Vec<u32>,
}

impl ElementNames {
    /// Reads the names of the containers that have text.
    pub(super) fn of(outline: &Outline) -> Self {
        let mut reader = NameReader::new();
        let containers = outline.containers.iter();
        let places = containers.map(|container| {
            if container.blocks.is_empty() {
                0
            } else {
                reader.read(outline.hint(container))
            }
        });
        ElementNames {
            places: places.collect(),
            readings: reader.readings,
        }
    }

    pub(super) fn get(&self, container: usize) -> Option<&NameReading> {
        self.readings.get(*self.places.get(container)? as usize)
    }

    /// What the names of each container say, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &NameReading> {
        let places = self.places.iter();
        places.filter_map(|&place| self.readings.get(place as usize))
    }
}

/// Reads the names of elements, and remembers recent ones: the elements of a page share their
/// names. Each slot has the place of the last names with its hash, so that no choice of names makes
/// it slow.
struct NameReader<'a> {
    slots: Vec<u32>,
    known: Vec<&'a str>,
    readings: Vec<NameReading>,
}

impl<'a> NameReader<'a> {
    const SLOT_BITS: u32 = 10;

    fn new() -> Self {
        NameReader {
            slots: vec![0; 1 << Self::SLOT_BITS],
            known: vec![""],
            readings: vec![NameReading::default()],
        }
    }

    /// The place of what `names` say.
    fn read(&mut self, names: &'a str) -> u32 {
        let slot = hash(names.as_bytes()) >> (u64::BITS - Self::SLOT_BITS);
        let Some(place) = self.slots.get_mut(usize::try_from(slot).unwrap_or(0)) else {
            return 0;
        };
        if *place == 0 || self.known.get(*place as usize) != Some(&names) {
            *place = u32::try_from(self.known.len()).unwrap_or(0);
            self.known.push(names);
            self.readings.push(NameReading::of(names));
        }
        *place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(tag: Tag, names: &str) -> Vec<String> {
        let signs = NameReading::of(names).signs | tag_sign(tag);
        (0..SIGNS)
            .filter(|sign| signs >> sign & 1 == 1)
            .map(label)
            .collect()
    }

    #[test]
    fn names_and_tags_are_signs() {
        assert_eq!(
            labels(Tag::Aside, "cookie-banner__postBody"),
            ["cookie", "banner", "post", "content", "<aside>"]
        );
        assert_eq!(labels(Tag::Div, "otter"), Vec::<String>::new());
    }

    #[test]
    fn names_that_differ_by_a_number_have_the_same_shape() {
        let shape = |names| NameReading::of(names).shape;
        assert_eq!(shape("post-17 first"), shape("post-18"));
        assert_ne!(shape("post-17"), shape("user-17"));
    }

    #[test]
    fn a_reader_remembers_only_what_it_read() {
        let names: Vec<String> = (0..5000).map(|place| format!("post-{place} nav")).collect();
        let mut reader = NameReader::new();
        for names in names.iter().chain(&names) {
            let place = reader.read(names) as usize;
            let (read, fresh) = (reader.readings[place], NameReading::of(names));
            assert_eq!((read.hint, read.signs), (fresh.hint, fresh.signs));
        }
        let nothing = reader.read("") as usize;
        assert_eq!(reader.readings[nothing].signs, 0);
        assert_eq!(reader.read("") as usize, nothing);
    }
}

//! Metadata that a page declares: language, date, title and address.

use super::entities::{Entities, PageAddresses, looks_like_date};
use super::extract::LONGEST_LINK;
use super::json_ld::{JsonEvent, JsonLdReader, json_events};
use super::scan;
use super::schema::{Declarations, SchemaKind, json_decode};
use super::tag::Tag;
use super::token::Attributes;

/// Sources of the publication date, most reliable first. Among equals the first on the page is
/// used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DateSource {
    /// `<meta property="article:published_time">`: intended for this purpose, one per page.
    OpenGraph,
    /// `<meta name="datePublished">`. Microdata and JSON-LD follow ([`PublicationDates`]).
    Microdata,
    /// `citation_publication_date`, `dc.date.issued`, `pubdate` and similar names.
    Library,
    /// `<meta name="date">` and `dc.date`, which may be some other date.
    /// `<time pubdate>` follows.
    Vague,
}

impl DateSource {
    /// Whether it comes before what is stated in the body of the page.
    fn is_reliable(self) -> bool {
        self <= DateSource::Microdata
    }
}

/// The publication dates that a page states, of which its address may decide.
#[derive(Clone, Debug, Default)]
pub(crate) struct PublicationDates {
    /// In the page's own metadata.
    pub(crate) stated: Option<(DateSource, String)>,
    /// In microdata: `itemprop="datePublished"` with `content` or `datetime`.
    pub(crate) microdata: Entities,
    /// In JSON-LD: `"datePublished"`.
    pub(crate) json_ld: Entities,
    /// In `<time pubdate datetime>`, removed from HTML.
    pub(crate) times: Entities,
}

impl PublicationDates {
    /// The date of the page with these addresses, from the most reliable source.
    pub(crate) fn of(&self, addresses: &PageAddresses<'_>) -> Option<&str> {
        let stated = |is_reliable: bool| {
            let stated = self.stated.as_ref();
            let stated = stated.filter(|(source, _)| source.is_reliable() == is_reliable);
            stated.map(|(_, date)| date.as_str())
        };
        stated(true)
            .or_else(|| self.microdata.date(addresses))
            .or_else(|| self.json_ld.date(addresses))
            .or_else(|| stated(false))
            .or_else(|| self.times.date(addresses))
    }
}

/// Sources of the language, most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LanguageSource {
    /// `<html lang>`
    Html,
    /// `<html xml:lang>`
    Xml,
    /// `<meta http-equiv="content-language">`
    HttpEquiv,
    /// `<meta property="og:locale">`
    OpenGraph,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) title: Option<String>,
    pub(crate) open_graph_title: Option<String>,
    pub(crate) published: Option<(DateSource, String)>,
    pub(crate) language: Option<(LanguageSource, String)>,
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    pub(crate) declared: Declarations,
    /// What JSON-LD describes as the page's own.
    pub(crate) described: Entities,
}

/// The maximum length of a title: an unclosed one contains the rest of the page.
const LONGEST_TITLE: usize = 1_024;

impl Metadata {
    /// Reads the metadata of a start tag in the document's own content.
    pub(crate) fn start_tag(&mut self, tag: Tag, attributes: Attributes<'_>) {
        match tag {
            Tag::Html => {
                for (source, name) in [
                    (LanguageSource::Html, "lang"),
                    (LanguageSource::Xml, "xml:lang"),
                ] {
                    if let Some(value) = attributes.get(name) {
                        self.offer_language(source, &value);
                    }
                }
            }
            Tag::Base if self.base.is_none() => {
                self.base = attributes.get("href").and_then(|href| address(&href));
            }
            Tag::Link if self.canonical.is_none() => {
                let is_canonical = attributes.get("rel").is_some_and(|rel| {
                    rel.split_ascii_whitespace()
                        .any(|word| word.eq_ignore_ascii_case("canonical"))
                });
                if is_canonical {
                    self.canonical = attributes.get("href").and_then(|href| address(&href));
                }
            }
            Tag::Meta => self.meta(attributes),
            _ => {}
        }
    }

    fn meta(&mut self, attributes: Attributes<'_>) {
        let Some(content) = attributes.get("content") else {
            return;
        };
        if attributes
            .get("http-equiv")
            .is_some_and(|name| name.eq_ignore_ascii_case("content-language"))
        {
            self.offer_language(LanguageSource::HttpEquiv, &content);
        }
        for key in ["property", "name"] {
            let Some(name) = attributes.get(key) else {
                continue;
            };
            match name.trim().to_ascii_lowercase().as_str() {
                "og:title" if self.open_graph_title.is_none() => {
                    self.open_graph_title = collapse(&content);
                }
                "description" | "og:description" | "twitter:description" => {
                    self.declared.describe(&content);
                }
                "og:type" if self.declared.open_graph_type.is_none() => {
                    self.declared.open_graph_type =
                        collapse(&content).map(|kind| kind.to_ascii_lowercase());
                }
                "og:url" if self.declared.open_graph_address.is_none() => {
                    self.declared.open_graph_address = address(&content);
                }
                "og:locale" => self.offer_language(LanguageSource::OpenGraph, &content),
                "article:published_time" | "og:published_time" | "og:article:published_time" => {
                    self.offer_date(DateSource::OpenGraph, &content);
                }
                "datepublished" => self.offer_date(DateSource::Microdata, &content),
                "citation_publication_date"
                | "citation_online_date"
                | "citation_date"
                | "dc.date.issued"
                | "dcterms.issued"
                | "dcterms.date.issued"
                | "prism.publicationdate"
                | "pubdate"
                | "publishdate"
                | "publish-date"
                | "publish_date"
                | "publication_date"
                | "parsely-pub-date"
                | "sailthru.date"
                | "article.published"
                | "article_date_original" => {
                    self.offer_date(DateSource::Library, &content);
                }
                "date" | "dc.date" | "dcterms.date" | "dc.date.created" | "dcterms.created"
                | "og:pubdate" => {
                    self.offer_date(DateSource::Vague, &content);
                }
                _ => {}
            }
        }
    }

    /// Reads a script of type `application/ld+json`: types, dates, and text.
    pub(crate) fn json_ld(&mut self, script: &str) {
        // The group of the type that was declared last: keys of an object follow its type on most
        // pages. It decides only which texts are descriptions; `described` knows each object.
        let mut kind = None;
        let mut key = "";
        let mut reader = JsonLdReader::new(&mut self.described);
        json_events(script, |event| {
            reader.event(event);
            let value = match event {
                JsonEvent::Key(name) => {
                    key = name;
                    return;
                }
                JsonEvent::Value(value) => value,
                JsonEvent::Open(_) | JsonEvent::Close(_) => return,
            };
            let is_description = match key {
                "@type" => {
                    kind = self.declared.schema.add(value).or(kind);
                    false
                }
                "articleBody" => true,
                "text" => matches!(
                    kind,
                    Some(SchemaKind::Discussion | SchemaKind::Comment | SchemaKind::Question)
                ),
                "description" => kind == Some(SchemaKind::Product),
                _ => false,
            };
            if is_description {
                self.declared.describe(&json_decode(value));
            }
        });
        reader.finish();
    }

    /// Whether no other source can be better than the date that was found.
    pub(crate) fn has_reliable_date(&self) -> bool {
        let source = self.published.as_ref().map(|(source, _)| *source);
        source.is_some_and(DateSource::is_reliable)
    }

    fn offer_date(&mut self, source: DateSource, value: &str) {
        let value = value.trim();
        let is_better = self
            .published
            .as_ref()
            .is_none_or(|(known, _)| source < *known);
        if is_better && looks_like_date(value) {
            self.published = Some((source, value.to_owned()));
        }
    }

    fn offer_language(&mut self, source: LanguageSource, value: &str) {
        let is_better = self
            .language
            .as_ref()
            .is_none_or(|(known, _)| source < *known);
        if is_better && let Some(language) = primary_subtag(value) {
            self.language = Some((source, language));
        }
    }
}

/// `de` from `de-AT`, `de_AT.UTF-8` and `DE, en`: two or three letters, in lower case. `None` if
/// the value is no language tag, such as `UTF-8`.
fn primary_subtag(value: &str) -> Option<String> {
    let tag = value
        .trim()
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
        .next()?;
    let mut subtags = tag.split(['-', '_']).filter(|subtag| !subtag.is_empty());
    let language = subtags.next()?.to_ascii_lowercase();
    let is_language =
        matches!(language.len(), 2 | 3) && language.bytes().all(|byte| byte.is_ascii_alphabetic());
    // Names of encodings that have the form of a language tag.
    let is_encoding = matches!(language.as_str(), "utf" | "euc" | "iso" | "win" | "dos")
        && subtags.clone().next().is_some();
    // "Undetermined", "multiple" and "no linguistic content" are not languages.
    let is_none = matches!(language.as_str(), "und" | "mul" | "zxx" | "utf");
    (is_language && !is_encoding && !is_none && is_well_formed(subtags)).then_some(language)
}

/// Whether subtags may follow a language in a language tag, as in `zh-Hans-CN` and `de-DE-1996`.
fn is_well_formed<'a>(mut subtags: impl Iterator<Item = &'a str>) -> bool {
    while let Some(subtag) = subtags.next() {
        let is_letters = subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_digits = subtag.bytes().all(|byte| byte.is_ascii_digit());
        let is_valid = match subtag.len() {
            // An extension: anything may follow, but something must.
            1 => return subtags.next().is_some(),
            // A region.
            2 => is_letters,
            3 => is_letters || is_digits,
            // A script, or a variant.
            4 => is_letters || subtag.starts_with(|c: char| c.is_ascii_digit()),
            5..=8 => true,
            _ => false,
        };
        if !is_valid {
            return false;
        }
    }
    true
}

/// A trimmed address; `None` if it is empty or too long.
fn address(value: &str) -> Option<String> {
    let value = value.trim_matches(|c: char| c.is_ascii_whitespace());
    (1..=LONGEST_LINK)
        .contains(&value.len())
        .then(|| value.to_owned())
}

/// A title with whitespace collapsed; `None` if it is empty.
pub(crate) fn collapse(text: &str) -> Option<String> {
    let mut out = String::new();
    let is_space = |c: char| c.is_whitespace() || c.is_control();
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > LONGEST_TITLE {
            out.truncate(scan::prefix(&out, LONGEST_TITLE).trim_end().len());
            break;
        }
    }
    (!out.is_empty()).then_some(out)
}

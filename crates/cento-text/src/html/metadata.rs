//! Metadata that a page declares: language, date, title and address.

use super::extract::LONGEST_LINK;
use super::scan;
use super::schema::{Declarations, SchemaKind, json_decode, json_strings};
use super::tag::Tag;
use super::token::Attributes;

/// Sources of the publication date, most reliable first. Among equals the first on the page is
/// used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DateSource {
    /// `<meta property="article:published_time">`: intended for this purpose, one per page.
    OpenGraph,
    /// `itemprop="datePublished"` with `content` or `datetime`, or `<meta name="datePublished">`.
    Microdata,
    /// `"datePublished"` in JSON-LD; after microdata because a script may describe several things.
    JsonLd,
    /// `citation_publication_date`, `dc.date.issued`, `pubdate` and similar names.
    Library,
    /// `<meta name="date">` and `dc.date`, which may be some other date.
    Vague,
    /// `<time pubdate datetime>`, removed from HTML.
    Time,
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
    /// The longest text of the page's content that JSON-LD states, decoded.
    pub(crate) body: Option<String>,
}

/// The maximum length of a title: an unclosed one contains the rest of the page.
const LONGEST_TITLE: usize = 1_024;

/// Shorter texts in JSON-LD are not taken for the content of a page.
const LEAST_BODY: usize = 200;

/// The maximum length of a date in any format.
const LONGEST_DATE: usize = 64;

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
            Tag::Time if attributes.get("pubdate").is_some() => {
                if let Some(date) = attributes.get("datetime") {
                    self.offer_date(DateSource::Time, &date);
                }
            }
            _ => {}
        }
    }

    /// Looks for `itemprop="datePublished"`, which is allowed on any element.
    pub(crate) fn microdata(&mut self, attributes: Attributes<'_>) {
        let states_date = attributes.get("itemprop").is_some_and(|names| {
            names
                .split_ascii_whitespace()
                .any(|name| name == "datePublished")
        });
        if !states_date {
            return;
        }
        let date = attributes
            .get("datetime")
            .or_else(|| attributes.get("content"));
        if let Some(date) = date {
            self.offer_date(DateSource::Microdata, &date);
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

    /// Reads a script of type `application/ld+json`: types, the date, and text.
    pub(crate) fn json_ld(&mut self, script: &str) {
        // The group of the type that was declared last: keys of an object follow its type on most
        // pages.
        let mut described = None;
        json_strings(script, |key, value| match key {
            "@type" => described = self.declared.schema.add(value).or(described),
            "datePublished" if value.len() <= LONGEST_DATE => {
                self.offer_date(DateSource::JsonLd, &json_decode(value));
            }
            "articleBody" => self.offer_body(value),
            "text"
                if matches!(
                    described,
                    Some(SchemaKind::Discussion | SchemaKind::Comment | SchemaKind::Question)
                ) =>
            {
                self.offer_body(value);
            }
            "description" if described == Some(SchemaKind::Product) => self.offer_body(value),
            _ => {}
        });
    }

    fn offer_body(&mut self, value: &str) {
        let known = self.body.as_ref().map_or(0, String::len);
        let text = json_decode(value);
        self.declared.describe(&text);
        if text.len() > known.max(LEAST_BODY) {
            self.body = Some(text);
        }
    }

    fn offer_date(&mut self, source: DateSource, value: &str) {
        let value = value.trim();
        let is_better = self
            .published
            .as_ref()
            .is_none_or(|(known, _)| source < *known);
        let is_date =
            value.len() <= LONGEST_DATE && value.bytes().any(|byte| byte.is_ascii_digit());
        if is_better && is_date {
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

/// `de` from `de-AT`, `de_AT.UTF-8` and `DE, en`: two or three letters, in lower case.
fn primary_subtag(value: &str) -> Option<String> {
    let value = value.trim();
    let subtag = value.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let is_language =
        matches!(subtag.len(), 2 | 3) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
    let language = subtag.to_ascii_lowercase();
    // "Undetermined", "multiple" and "no linguistic content" are not languages.
    (is_language && !matches!(language.as_str(), "und" | "mul" | "zxx")).then_some(language)
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

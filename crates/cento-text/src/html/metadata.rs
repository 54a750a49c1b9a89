//! Metadata that a page declares: language, date, title and address.

use super::extract::LONGEST_LINK;
use super::scan;
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
}

/// The maximum length of a title: an unclosed one contains the rest of the page.
const LONGEST_TITLE: usize = 1_024;

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

    /// Looks for a date in a script of type `application/ld+json`.
    ///
    /// Searches for the key instead of parsing the JSON, which is malformed on many pages.
    pub(crate) fn json_ld(&mut self, script: &str) {
        const KEY: &str = "\"datePublished\"";
        for found in memchr::memmem::find_iter(script.as_bytes(), KEY) {
            let after = script
                .get(found + KEY.len()..)
                .unwrap_or_default()
                .trim_start();
            let Some(value) = after.strip_prefix(':').map(str::trim_start) else {
                continue;
            };
            if let Some(value) = value.strip_prefix('"').and_then(json_string) {
                self.offer_date(DateSource::JsonLd, &value);
                return;
            }
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

/// The JSON string whose opening quote precedes `rest`, if it is short enough for a date.
fn json_string(rest: &str) -> Option<String> {
    let mut out = String::new();
    let mut characters = rest.chars();
    while out.len() <= LONGEST_DATE {
        match characters.next()? {
            '"' => return Some(out),
            '\\' => match characters.next()? {
                'u' => {
                    let digits: String = characters.by_ref().take(4).collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                escaped => out.push(escaped),
            },
            character => out.push(character),
        }
    }
    None
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

//! Which of the things that a page describes is the page itself.
//!
//! Structured data describes many things: the article, the book that it reviews, comments, other
//! articles. Only the page's own publication date and text count. JSON-LD and microdata are both
//! read into [`Entities`], which has the candidates: things that no other thing refers to, and
//! those that a page calls its main entity. If there are several, those that name the page by its
//! address are used; if none does and they disagree, nothing is. What JSON-LD says to be another
//! page is not the page, even if nothing else is described.

use super::extract::LONGEST_LINK;
use super::schema::SchemaKind;
use crate::date;

/// More candidates than these are not kept. Then only those that name the page are used.
const MOST_ENTITIES: usize = 1_000;

/// More addresses of one thing are not compared.
const MOST_NAMES: usize = 8;

/// The maximum length of a date in any format.
const LONGEST_DATE: usize = 64;

/// Shorter texts are not taken for the content of a page that shows more than they have.
pub(super) const LEAST_BODY: usize = 200;

/// What a thing is by its types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EntityTypes {
    /// An article or a posting.
    article: bool,
    /// A page, or another thing that is published as a page, such as a recipe.
    page: bool,
    /// A post of a discussion or a question, which has a `text`.
    post: bool,
    /// A thing for sale, which has a `description`. Its date is not the page's: that of a book is
    /// the year in which it was printed.
    product: bool,
}

impl EntityTypes {
    /// A page: what an item without a type is taken for.
    pub(super) const PAGE: EntityTypes = EntityTypes {
        article: false,
        page: true,
        post: false,
        product: false,
    };

    /// An article: what an `<article>` without a type is taken for.
    pub(super) const ARTICLE: EntityTypes = EntityTypes {
        article: true,
        page: false,
        post: false,
        product: false,
    };

    /// Adds a type of schema.org, such as `https://schema.org/NewsArticle`.
    pub(super) fn add(&mut self, declared: &str) {
        let name = declared.rsplit(['/', '#', ':']).next().unwrap_or_default();
        self.article |= name.ends_with("Article") || name.ends_with("Posting");
        self.article &= name != "JobPosting";
        self.page |= name.ends_with("Page")
            || matches!(
                name,
                "APIReference"
                    | "Conversation"
                    | "CreativeWork"
                    | "HowTo"
                    | "Question"
                    | "Recipe"
                    | "Report"
            );
        match SchemaKind::of(name) {
            Some(SchemaKind::Discussion | SchemaKind::Question) => self.post |= name != "Answer",
            Some(SchemaKind::Product) => self.product = true,
            _ => {}
        }
    }

    /// Whether a date of such a thing may be that of a page.
    pub(super) fn is_dated(self) -> bool {
        self.article || self.page
    }

    fn has_body(self) -> bool {
        self.article || self.post || self.product
    }
}

/// The addresses of a page: that from which it was fetched, if known, and those that it declares.
#[derive(Debug)]
pub(super) struct PageAddresses<'a> {
    addresses: Vec<&'a str>,
    fetched: usize,
}

impl<'a> PageAddresses<'a> {
    pub(super) fn new(fetched: Option<&'a str>, declared: impl Iterator<Item = &'a str>) -> Self {
        PageAddresses {
            addresses: fetched.into_iter().chain(declared).collect(),
            fetched: usize::from(fetched.is_some()),
        }
    }

    fn all(&self) -> &[&'a str] {
        &self.addresses
    }

    /// The addresses in `<link rel=canonical>` and `og:url`.
    fn declared(&self) -> &[&'a str] {
        self.addresses.get(self.fetched..).unwrap_or_default()
    }
}

/// What is read of a thing, as written.
#[derive(Clone, Debug, Default)]
pub(super) struct Thing {
    pub(super) types: EntityTypes,
    pub(super) date: Option<String>,
    pub(super) article_body: Option<String>,
    pub(super) text: Option<String>,
    pub(super) description: Option<String>,
    pub(super) names: Vec<String>,
    /// Whether one of the names is stated as the address of its page, and is not only an
    /// identifier.
    pub(super) is_addressed: bool,
    /// Whether its dates differ.
    is_ambiguous: bool,
}

impl Thing {
    /// A thing of which only the types are known.
    pub(super) fn of(types: EntityTypes) -> Self {
        Thing {
            types,
            ..Thing::default()
        }
    }

    /// Remembers a publication date. A thing with different dates has none.
    pub(super) fn offer_date(&mut self, value: &str) {
        if self.is_ambiguous || !looks_like_date(value) {
            return;
        }
        let value = value.trim();
        self.date = match &self.date {
            Some(known) => agreed(known, value).map(str::to_owned),
            None => Some(value.to_owned()),
        };
        self.is_ambiguous = self.date.is_none();
    }

    /// Remembers the address of its page.
    pub(super) fn offer_address(&mut self, address: &str) {
        let known = self.names.len();
        self.offer_name(address);
        self.is_addressed |= self.names.len() > known;
    }

    /// Remembers the address of the thing, or of the page that it is the main entity of.
    pub(super) fn offer_name(&mut self, address: &str) {
        if self.names.len() < MOST_NAMES
            && let Some(name) = normal_address(address)
        {
            self.names.push(name.to_owned());
        }
    }

    /// The text that is the content of the page, if this thing is its own.
    fn body(&mut self) -> Option<String> {
        let EntityTypes {
            article,
            page,
            post,
            product,
        } = self.types;
        let texts = [
            (article || page || post, self.article_body.take()),
            (post, self.text.take()),
            (product, self.description.take()),
        ];
        let texts = texts.into_iter().filter(|(is_body, _)| *is_body);
        let mut texts: Vec<String> = texts.filter_map(|(_, text)| text).collect();
        let at = texts.iter().position(|text| text.len() > LEAST_BODY);
        (!texts.is_empty()).then(|| texts.swap_remove(at.unwrap_or(0)))
    }
}

/// Whether a value may be a date: short, with a digit, and not what programs write for none.
pub(super) fn looks_like_date(value: &str) -> bool {
    let value = value.trim();
    value.len() <= LONGEST_DATE
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && !date::is_null(value)
}

/// A thing that may be the page itself.
#[derive(Clone, Debug)]
struct Entity {
    types: EntityTypes,
    /// Things that are the main entity of one another have the same number, and are named together.
    group: u32,
    names: Vec<String>,
    is_addressed: bool,
    /// Whether it is a date outside of any thing.
    is_loose: bool,
    date: Option<String>,
    body: Option<String>,
}

/// The things that a page describes as its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Entities {
    entities: Vec<Entity>,
    groups: u32,
    /// The group of the article that has the page's main heading.
    pub(super) headed: Option<u32>,
    /// Whether some were left out.
    overflow: bool,
}

impl Entities {
    /// Returns a new group.
    pub(super) fn group(&mut self) -> u32 {
        self.groups += 1;
        self.groups
    }

    /// Adds a thing. `is_linked` says that it belongs to the group of another one.
    pub(super) fn push(&mut self, mut thing: Thing, group: u32, is_linked: bool) {
        let is_used = thing.types.is_dated() || thing.types.has_body();
        if !(is_used || (is_linked && !thing.names.is_empty())) {
            return;
        }
        if self.entities.len() >= MOST_ENTITIES {
            self.overflow = true;
            return;
        }
        let body = thing.body();
        self.entities.push(Entity {
            types: thing.types,
            group,
            names: thing.names,
            is_addressed: thing.is_addressed,
            is_loose: false,
            date: thing.date.filter(|_| thing.types.is_dated()),
            body,
        });
    }

    /// Adds a date outside of any thing. If an article has the page's main heading, the date is not
    /// that of the article.
    pub(super) fn push_loose(&mut self, thing: Thing, group: u32) {
        let known = self.entities.len();
        self.push(thing, group, false);
        for entity in self.entities.iter_mut().skip(known) {
            entity.is_loose = true;
        }
    }

    /// The numbers of the groups that name the page by one of its addresses, sorted.
    fn named(&self, addresses: &[&str]) -> Vec<u32> {
        let addresses: Vec<&str> = addresses
            .iter()
            .filter_map(|address| normal_address(address))
            .collect();
        let is_named = |entity: &&Entity| {
            let mut names = entity.names.iter();
            names.any(|name| addresses.contains(&name.as_str()))
        };
        let mut named: Vec<u32> = self
            .entities
            .iter()
            .filter(is_named)
            .map(|entity| entity.group)
            .collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// The candidates that name the page, or all if none does; `None` if none does and some were
    /// left out.
    fn candidates(
        &self,
        addresses: &[&str],
        is_candidate: impl Fn(&Entity) -> bool,
    ) -> Option<Vec<&Entity>> {
        let named = self.named(addresses);
        let all = self.entities.iter().filter(|entity| is_candidate(entity));
        let all: Vec<&Entity> = all.collect();
        let of_page = all
            .iter()
            .filter(|entity| named.binary_search(&entity.group).is_ok());
        let of_page: Vec<&Entity> = of_page.copied().collect();
        match of_page.is_empty() {
            true => (!self.overflow).then_some(all),
            false => Some(of_page),
        }
    }

    /// The numbers of the groups whose address is another page, sorted.
    fn elsewhere(&self, addresses: &PageAddresses<'_>) -> Vec<u32> {
        let mut declared = addresses.declared().iter();
        if !declared.any(|address| normal_address(address).is_some()) {
            return Vec::new();
        }
        let named = self.named(addresses.all());
        let entities = self
            .entities
            .iter()
            .filter(|entity| entity.is_addressed && named.binary_search(&entity.group).is_err());
        let mut groups: Vec<u32> = entities.map(|entity| entity.group).collect();
        groups.sort_unstable();
        groups
    }

    /// The publication date of the page with these addresses.
    pub(super) fn date(&self, addresses: &PageAddresses<'_>) -> Option<&str> {
        let elsewhere = self.elsewhere(addresses);
        let candidates = self.candidates(addresses.all(), |entity| {
            (entity.types.article || entity.date.is_some())
                && !(entity.is_loose && self.headed.is_some())
                && elsewhere.binary_search(&entity.group).is_err()
        })?;
        let articles = candidates.iter().filter(|entity| entity.types.article);
        let (dated, undated): (Vec<&Entity>, Vec<&Entity>) =
            articles.partition(|entity| entity.date.is_some());
        // One of two articles has a date: it is the page's if it has the heading of the page.
        let is_headed = |entity: &&Entity| Some(entity.group) == self.headed;
        if !undated.is_empty() && !dated.iter().all(is_headed) {
            return None;
        }
        let mut dates = candidates
            .iter()
            .filter_map(|entity| entity.date.as_deref());
        let first = dates.next()?;
        dates.try_fold(first, |known, date| agreed(known, date))
    }

    /// The content of the page with these addresses, where the data state it: a text of more than
    /// `least` bytes.
    pub(super) fn body(&self, addresses: &[&str], least: usize) -> Option<&str> {
        fn body_of(entity: &Entity, least: usize) -> Option<&str> {
            entity.body.as_deref().filter(|body| body.len() > least)
        }
        let candidates = self.candidates(addresses, |entity| {
            entity.types.has_body() || body_of(entity, least).is_some()
        })?;
        let mut bodies = candidates
            .iter()
            .filter_map(|entity| body_of(entity, least));
        let first = bodies.next()?;
        let articles = candidates.iter().filter(|entity| entity.types.article);
        let is_ambiguous = bodies.any(|body| body != first)
            || (articles.clone().count() > 1
                && articles
                    .clone()
                    .any(|article| body_of(article, least).is_none()));
        (!is_ambiguous).then_some(first)
    }
}

/// One of two dates if they are the same, or one is the day of the other, which is then returned.
fn agreed<'d>(one: &'d str, other: &'d str) -> Option<&'d str> {
    if one == other {
        return Some(one);
    }
    let (a, b) = (date::parse_published(one)?, date::parse_published(other)?);
    match () {
        () if a == b => Some(one),
        () if is_day_of(a, b) => Some(one),
        () if is_day_of(b, a) => Some(other),
        () => None,
    }
}

/// Whether `day` is a day, month or year and the other moment is in it, in some time zone.
fn is_day_of(day: i64, moment: i64) -> bool {
    date::is_calendar(day) && !date::is_before(day, moment) && !date::is_before(moment, day)
}

/// An absolute address without what differs between the addresses of one page: the scheme, `www.`,
/// a fragment, and a final slash.
fn normal_address(address: &str) -> Option<&str> {
    let address = address.trim_matches(|c: char| c.is_ascii_whitespace());
    let (scheme, rest) = address.split_once("//")?;
    let is_web = ["", "http:", "https:"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    let rest = rest.split('#').next().unwrap_or_default();
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let rest = rest.trim_end_matches('/');
    (is_web && !rest.is_empty() && rest.len() <= LONGEST_LINK).then_some(rest)
}

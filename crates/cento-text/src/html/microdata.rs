//! Reads the publication date from microdata and from `<time pubdate>`.
//!
//! A property belongs to the nearest element with `itemscope` around it. That item is the page's
//! own if no `itemprop` makes it a property of another one: the date of a `Review` that is the
//! `review` of something does not describe the page. An `<article>` without `itemscope` is an
//! article like one with it, so that of several articles none is taken for the page.
//!
//! Nothing is read in parts of the page that are about something else ([`part`](super::part)), and
//! in an article inside of another one, such as a comment.

use super::entities::{Entities, EntityTypes, Thing};
use super::part::{OpenElement, is_of_another, is_part};
use super::tag::Tag;
use super::token::Attributes;

/// An open element with `itemscope`, or an `<article>`.
#[derive(Debug)]
struct Scope {
    element: OpenElement,
    /// Whether it is an `<article>` without `itemscope`.
    is_implicit: bool,
    is_own: bool,
    is_linked: bool,
    group: u32,
    thing: Thing,
    /// The date in `<time pubdate>`.
    time: Thing,
}

/// Where the headings of the first level are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MainHeading {
    #[default]
    None,
    /// All are in the scope with this group.
    In(u32),
    Elsewhere,
}

/// The things that a page describes as its own.
#[derive(Debug, Default)]
pub(super) struct MicrodataDates {
    /// With the dates in microdata.
    pub(super) microdata: Entities,
    /// With the dates in `<time pubdate>`.
    pub(super) times: Entities,
}

/// The open items of a page, and the things that it describes as its own.
#[derive(Debug, Default)]
pub(super) struct Microdata {
    scopes: Vec<Scope>,
    /// The outermost open element that is about something else, and whether only its name says so.
    part: Option<(OpenElement, bool)>,
    /// The number of open `<article>` elements.
    articles: u32,
    heading: MainHeading,
    dates: MicrodataDates,
}

/// Whether a list of names has one of `known`.
fn has_any(names: &str, known: &[&str]) -> bool {
    names
        .split_ascii_whitespace()
        .any(|name| known.contains(&name))
}

impl Microdata {
    /// Reads a start tag. `depth` is the number of open elements that extend to their end tag.
    pub(super) fn start_tag(&mut self, tag: Tag, attributes: Attributes<'_>, depth: u32) {
        if let Some(scope) = self.scopes.last_mut()
            && scope.element.ends_before(tag, depth)
        {
            self.pop();
        }
        let is_nested = tag == Tag::Article && self.articles > 0;
        self.articles += u32::from(tag == Tag::Article);
        if let Some((part, is_named)) = &mut self.part {
            // What has the main content or the first heading is no part, whatever its name: a name
            // may be about the layout.
            let is_first = tag == Tag::H1 && self.heading == MainHeading::None;
            if part.ends_before(tag, depth) || tag == Tag::Main || (is_first && *is_named) {
                self.part = None;
            } else {
                return;
            }
        }
        let property = attributes.get("itemprop");
        let property = property.as_deref();
        let is_main = property.is_some_and(|names| has_any(names, &MAIN));
        if (is_nested && !is_main) || is_of_another(tag, attributes, self.in_article()) {
            if !tag.is_void() {
                let is_named = !is_nested && !is_part(tag);
                self.part = Some((OpenElement::new(tag, depth), is_named));
            }
            return;
        }
        if tag == Tag::H1 {
            self.heading();
        }
        let is_item = attributes.get("itemscope").is_some();
        if let Some(names) = property {
            if !is_item && has_any(names, &["datePublished"]) {
                // `title` is where hCalendar has the date, and so have older blogs.
                let places = ["datetime", "content", "title"];
                let places = match tag {
                    Tag::Abbr => &places[..],
                    _ => &places[..2],
                };
                let date = places.iter().find_map(|name| attributes.get(name));
                if let Some(date) = date {
                    self.offer_date(
                        &date,
                        |scope| &mut scope.thing,
                        |dates| &mut dates.microdata,
                    );
                }
            }
            if has_any(names, &["url", "mainEntityOfPage"])
                && let Some(scope) = self.scopes.last_mut()
            {
                let address = ["href", "content", "itemid"];
                let address = address.iter().find_map(|name| attributes.get(name));
                scope.thing.offer_name(&address.unwrap_or_default());
            }
        }
        if tag == Tag::Time
            && attributes.get("pubdate").is_some()
            && let Some(date) = attributes.get("datetime")
        {
            self.offer_date(&date, |scope| &mut scope.time, |dates| &mut dates.times);
        }
        if is_item && !tag.is_void() {
            self.push(tag, property, attributes, depth);
        } else if tag == Tag::Article && self.describes_page() {
            self.push_article(depth);
        }
    }

    /// Reads an end tag, after which `depth` elements are open.
    pub(super) fn end_tag(&mut self, tag: Tag, depth: u32) {
        if tag == Tag::Article {
            self.articles = self.articles.saturating_sub(1);
        }
        if let Some((part, _)) = &mut self.part
            && part.ends_at(tag, depth)
        {
            self.part = None;
        }
        if let Some(scope) = self.scopes.last_mut()
            && scope.element.ends_at(tag, depth)
        {
            self.pop();
        }
        // An item whose element has no end tag ends with the element around it.
        while let Some(scope) = self.scopes.last()
            && scope.element.is_left(depth)
        {
            self.pop();
        }
    }

    /// Returns the things that the page describes as its own.
    pub(super) fn finish(mut self) -> MicrodataDates {
        while !self.scopes.is_empty() {
            self.pop();
        }
        if let MainHeading::In(group) = self.heading {
            self.dates.microdata.headed = Some(group);
            self.dates.times.headed = Some(group);
        }
        self.dates
    }

    /// Whether the innermost item, if any, is the page as a whole.
    fn describes_page(&self) -> bool {
        let scope = self.scopes.last();
        scope.is_none_or(|scope| matches!(scope.element.tag, Tag::Html | Tag::Body | Tag::Main))
    }

    /// Whether a footer is that of an article or of another item on the page.
    fn in_article(&self) -> bool {
        self.articles > 0 || !self.describes_page()
    }

    fn heading(&mut self) {
        let scope = self.scopes.last().filter(|scope| scope.is_own);
        self.heading = match (self.heading, scope.map(|scope| scope.group)) {
            (MainHeading::None, Some(group)) => MainHeading::In(group),
            (MainHeading::In(known), Some(group)) if known == group => MainHeading::In(group),
            _ => MainHeading::Elsewhere,
        };
    }

    fn push(&mut self, tag: Tag, property: Option<&str>, attributes: Attributes<'_>, depth: u32) {
        // Articles without `itemscope` are not in one another, so this inspects two at most.
        let around = self.scopes.iter().rev().find(|scope| !scope.is_implicit);
        let is_linked = property
            .is_some_and(|names| has_any(names, &["mainEntity", "mainEntityOfPage"]))
            && around.is_none_or(|scope| scope.is_own);
        // Themes of blogs describe the page of a post as a blog that has this post.
        let is_post = property.is_some_and(|names| has_any(names, &["blogPost"]))
            && around.is_none_or(|scope| scope.is_own);
        let is_own = property.is_none() || is_linked || is_post;
        let around = around.map(|scope| scope.group);
        let group = match around.filter(|_| is_linked) {
            Some(group) => group,
            None => self.dates.microdata.group(),
        };
        let mut thing = Thing::default();
        match attributes.get("itemtype") {
            Some(types) => types
                .split_ascii_whitespace()
                .for_each(|name| thing.types.add(name)),
            None => thing.types = EntityTypes::PAGE,
        }
        if let Some(address) = attributes.get("itemid") {
            thing.offer_name(&address);
        }
        self.scopes.push(Scope {
            element: OpenElement::new(tag, depth),
            is_implicit: false,
            is_own,
            is_linked,
            group,
            time: Thing::of(thing.types),
            thing,
        });
    }

    /// Adds an `<article>` without `itemscope`.
    fn push_article(&mut self, depth: u32) {
        let group = self.dates.microdata.group();
        self.scopes.push(Scope {
            element: OpenElement::new(Tag::Article, depth),
            is_implicit: true,
            is_own: true,
            is_linked: false,
            group,
            thing: Thing::of(EntityTypes::ARTICLE),
            time: Thing::of(EntityTypes::ARTICLE),
        });
    }

    fn pop(&mut self) {
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        if !scope.is_own {
            return;
        }
        // An article whose content is an item is not a second article.
        if let Some(around) = self.scopes.last_mut()
            && around.is_implicit
            && scope.thing.types.is_dated()
        {
            around.thing.types = EntityTypes::PAGE;
            around.time.types = EntityTypes::PAGE;
        }
        let Scope {
            group, is_linked, ..
        } = scope;
        let mut time = scope.time;
        time.names.clone_from(&scope.thing.names);
        self.dates.microdata.push(scope.thing, group, is_linked);
        self.dates.times.push(time, group, is_linked);
    }

    fn offer_date(
        &mut self,
        date: &str,
        thing: impl FnOnce(&mut Scope) -> &mut Thing,
        entities: impl FnOnce(&mut MicrodataDates) -> &mut Entities,
    ) {
        if let Some(scope) = self.scopes.last_mut() {
            return thing(scope).offer_date(date);
        }
        // Without any item, the date is the page's, unless an article is the page.
        let mut thing = Thing::of(EntityTypes::PAGE);
        thing.offer_date(date);
        let group = self.dates.microdata.group();
        if thing.date.is_some() {
            entities(&mut self.dates).push_loose(thing, group);
        }
    }
}

/// The properties whose value is the page's own thing. Themes of blogs describe the page of a post
/// as a blog that has this post.
const MAIN: [&str; 3] = ["mainEntity", "mainEntityOfPage", "blogPost"];

//! Reads the publication date from microdata.
//!
//! A property belongs to the nearest element with `itemscope` around it. That item is the page's
//! own if no `itemprop` makes it a property of another one: the date of a `Review` that is the
//! `review` of something does not describe the page.

use super::entities::{Entities, EntityTypes, Thing};
use super::tag::Tag;
use super::token::Attributes;

/// An open element with `itemscope`.
#[derive(Debug)]
struct Scope {
    tag: Tag,
    /// The number of open elements with this tag, including this one.
    open: u32,
    /// The number of open nesting elements where it begins.
    depth: u32,
    is_own: bool,
    is_linked: bool,
    group: u32,
    thing: Thing,
}

/// The open items of a page, and the things that it describes as its own.
#[derive(Debug, Default)]
pub(super) struct Microdata {
    scopes: Vec<Scope>,
    pub(super) entities: Entities,
}

/// Elements that a start tag with the same name ends.
fn ends_at_next(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::P | Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody
    )
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
            && scope.tag == tag
            && !tag.is_void()
        {
            if ends_at_next(tag) && scope.depth == depth {
                self.pop();
            } else {
                scope.open += 1;
            }
        }
        if attributes.is_empty() {
            return;
        }
        let property = attributes.get("itemprop");
        let property = property.as_deref();
        let is_item = attributes.get("itemscope").is_some();
        if let Some(names) = property {
            if !is_item && has_any(names, &["datePublished"]) {
                let date = attributes
                    .get("datetime")
                    .or_else(|| attributes.get("content"));
                if let Some(date) = date {
                    self.offer_date(&date);
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
        if is_item && !tag.is_void() {
            self.push(tag, property, attributes, depth);
        }
    }

    /// Reads an end tag, after which `depth` elements are open.
    pub(super) fn end_tag(&mut self, tag: Tag, depth: u32) {
        let Some(scope) = self.scopes.last_mut() else {
            return;
        };
        if scope.tag == tag {
            scope.open -= 1;
            if scope.open == 0 {
                self.pop();
            }
        }
        // An item whose element has no end tag ends with the element around it.
        while let Some(scope) = self.scopes.last()
            && ends_at_next(scope.tag)
            && depth < scope.depth
        {
            self.pop();
        }
    }

    /// Returns the things that the page describes as its own.
    pub(super) fn finish(mut self) -> Entities {
        while !self.scopes.is_empty() {
            self.pop();
        }
        self.entities
    }

    fn push(&mut self, tag: Tag, property: Option<&str>, attributes: Attributes<'_>, depth: u32) {
        let around = self.scopes.last();
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
            None => self.entities.group(),
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
            tag,
            open: 1,
            depth,
            is_own,
            is_linked,
            group,
            thing,
        });
    }

    fn pop(&mut self) {
        if let Some(scope) = self.scopes.pop()
            && scope.is_own
        {
            self.entities
                .push(scope.thing, scope.group, scope.is_linked);
        }
    }

    fn offer_date(&mut self, date: &str) {
        match self.scopes.last_mut() {
            Some(scope) => scope.thing.offer_date(date),
            // Without any item, the date is the page's.
            None => {
                let mut thing = Thing {
                    types: EntityTypes::PAGE,
                    ..Thing::default()
                };
                thing.offer_date(date);
                let group = self.entities.group();
                if thing.date.is_some() {
                    self.entities.push(thing, group, false);
                }
            }
        }
    }
}

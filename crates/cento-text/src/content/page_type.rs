//! The type of a page: what kind of content it has.

use super::features::page_row;
use super::model::{self, CERTAIN, EvidenceRow, chance};
use super::view::PageView;
use crate::html::SchemaKind;
use std::fmt;
use std::str::FromStr;

/// What kind of content a page has, recognised from its structure, from schema.org types and
/// OpenGraph, from its address, and from the names of its elements.
///
/// It decides how many blocks of the page are content, see [`main`](super::Selection::Main).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PageType {
    /// `article`: one text, such as news or a blog post.
    Article,
    /// `documentation`: a manual, a reference or a tutorial.
    Documentation,
    /// `service`: a company or an organisation presents itself or what it does.
    Service,
    /// `thread`: the posts of a forum, or questions and answers.
    Thread,
    /// `listing`: teasers or entries that lead elsewhere, such as a front page or search results.
    Listing,
    /// `product`: one thing for sale.
    Product,
    /// `collection`: several things for sale, or a category.
    Collection,
}

impl PageType {
    /// All types, in the order of the fitted table.
    pub const ALL: [PageType; 7] = [
        PageType::Article,
        PageType::Documentation,
        PageType::Service,
        PageType::Thread,
        PageType::Listing,
        PageType::Product,
        PageType::Collection,
    ];

    /// Its name, which [`FromStr`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PageType::Article => "article",
            PageType::Documentation => "documentation",
            PageType::Service => "service",
            PageType::Thread => "thread",
            PageType::Listing => "listing",
            PageType::Product => "product",
            PageType::Collection => "collection",
        }
    }
}

/// The type of a page, and how probable each type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecognisedType {
    pub(super) page_type: PageType,
    /// The odds of each type against the recognised one, in the order of [`PageType::ALL`] and in
    /// units of 1/[`CERTAIN`].
    pub(super) chances: [u32; PageType::ALL.len()],
}

impl RecognisedType {
    /// Recognises the type of a page; `None` if it has no text.
    pub(super) fn of(view: &PageView<'_>) -> Option<RecognisedType> {
        if view.measures.is_empty() {
            return None;
        }
        if let Some(page_type) = declared(view) {
            let chances = PageType::ALL.map(|one| if one == page_type { CERTAIN } else { 0 });
            return Some(RecognisedType { page_type, chances });
        }
        let mut row = EvidenceRow::new();
        page_row(view, &mut row);
        let scores = model::type_scores(&row);
        // On ties, the first.
        let best = *scores.iter().max()?;
        let place = scores.iter().position(|&score| score == best)?;
        Some(RecognisedType {
            page_type: PageType::ALL.get(place).copied()?,
            chances: scores.map(|score| odds(score.saturating_sub(best))),
        })
    }

    /// Whether the probability of a type is at least `hundredths`.
    pub(super) fn is_at_least(&self, page_type: PageType, hundredths: u64) -> bool {
        let all: u64 = self.chances.iter().copied().map(u64::from).sum();
        let chance = PageType::ALL
            .iter()
            .zip(self.chances)
            .find_map(|(&one, chance)| (one == page_type).then_some(chance));
        100 * u64::from(chance.unwrap_or_default()) >= hundredths * all
    }
}

/// The odds of a score of at most 0 in thousandths of log-odds, in units of 1/[`CERTAIN`].
fn odds(score: i32) -> u32 {
    let part = u64::from(chance(score));
    let odds = part * u64::from(CERTAIN) / (u64::from(CERTAIN) - part).max(1);
    u32::try_from(odds).unwrap_or(CERTAIN)
}

/// The type that a page declares, where declarations are reliable: on the pages of the fit, 39 of
/// 40 pages that declare discussions or answers are threads, and all that declare one product in
/// both ways are products. Articles have comments and shops have lists of products, so that other
/// declarations are only evidence.
fn declared(view: &PageView<'_>) -> Option<PageType> {
    let schema = view.declared_schema();
    let count = |kind| schema.count(kind);
    let open_graph = view.page.declared.open_graph_type.as_deref();
    let open_graph = open_graph.unwrap_or_default();
    let discussion = count(SchemaKind::Discussion) > 0
        && count(SchemaKind::Article) == 0
        && !open_graph.starts_with("article");
    let answers = count(SchemaKind::Question) > 0 && count(SchemaKind::Faq) == 0;
    if discussion || answers {
        Some(PageType::Thread)
    } else if (1..=2).contains(&count(SchemaKind::Product)) && open_graph.starts_with("product") {
        Some(PageType::Product)
    } else {
        None
    }
}

impl fmt::Display for PageType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The error for an unknown [`PageType`] name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPageType(String);

impl fmt::Display for UnknownPageType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown page type '{}': expected one of", self.0)?;
        for (place, page_type) in PageType::ALL.into_iter().enumerate() {
            write!(
                formatter,
                "{} {page_type}",
                if place == 0 { "" } else { "," }
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPageType {}

impl FromStr for PageType {
    type Err = UnknownPageType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        PageType::ALL
            .into_iter()
            .find(|page_type| page_type.name() == name)
            .ok_or_else(|| UnknownPageType(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_powers_of_e() {
        for score in (-6_000..=0).step_by(250) {
            let exact = 65536.0 * (f64::from(score) / 1000.0).exp();
            assert!((f64::from(odds(score)) - exact).abs() < 150.0, "{score}");
        }
        assert_eq!(odds(0), CERTAIN);
        assert_eq!(odds(i32::MIN), 0);
    }

    #[test]
    fn a_page_type_parses_its_name_only() {
        for page_type in PageType::ALL {
            assert_eq!(page_type.to_string().parse(), Ok(page_type));
        }
        assert_eq!(
            "forum"
                .parse::<PageType>()
                .expect_err("it is a thread")
                .to_string(),
            "unknown page type 'forum': expected one of article, documentation, service, thread, \
             listing, product, collection"
        );
    }
}

//! The pages of the site. Each view reads what it shows from the corpus and its findings, renders
//! it with `cento-report`, and gives the same content as JSON.

mod class;
mod details;
mod list;
mod neighbourhood;
mod page;
mod pair;
mod passage;
mod quilt;

use cento_report::format::shortened;
use cento_report::{ComparedPiece, Comparison, Excerpt, ExcerptPiece, escape, link};
use serde_json::{Value, json};

pub(crate) use class::ClassView;
pub(crate) use details::PageDetails;
pub(crate) use list::{list_page, lists_page, no_list};
pub(crate) use neighbourhood::NeighbourhoodTree;
pub(crate) use page::{PageMarks, PageView};
pub(crate) use pair::{PairView, compare_texts};
pub(crate) use passage::PassageView;
pub(crate) use quilt::QuiltView;

use crate::state::SiteState;

/// Characters of an address that are shown.
const LONGEST: usize = 200;

/// A link to the view of a page, with its address relative to the root.
pub(crate) fn page_link(state: &SiteState, page_id: u64, url: &str) -> String {
    let shown = url.strip_prefix(state.root.as_str()).unwrap_or(url);
    format!(
        "<a href=\"/pages/{page_id}\"><bdi>{}</bdi></a>",
        escape(&shortened(shown, LONGEST))
    )
}

/// A link that leaves the site, if the address is one of the web.
fn outside_link(url: &str) -> String {
    match link(url) {
        Some(target) => format!(
            " <a class=\"outside\" href=\"{target}\" rel=\"noreferrer noopener nofollow\">open the address itself (leaves this site)</a>"
        ),
        None => String::new(),
    }
}

/// An excerpt as JSON.
fn excerpt_json(excerpt: &Excerpt) -> Value {
    let pieces = excerpt.pieces.iter().map(|piece| match piece {
        ExcerptPiece::Own(text) => json!({ "text": text }),
        ExcerptPiece::Shared(source, text) => json!({ "text": text, "source": source }),
        ExcerptPiece::Gap(characters) => json!({ "omitted_characters": characters }),
    });
    let sources = excerpt.sources.iter().map(|source| {
        json!({
            "url": source.address,
            "about": source.about,
            "evidence": source.evidence,
        })
    });
    json!({
        "url": excerpt.page,
        "about": excerpt.about,
        "pieces": pieces.collect::<Vec<_>>(),
        "sources": sources.collect::<Vec<_>>(),
        "more_sources": excerpt.more,
    })
}

/// A comparison as JSON.
fn comparison_json(comparison: &Comparison) -> Value {
    let sides = comparison.sides.iter().map(|side| {
        let pieces = side.pieces.iter().map(|piece| match piece {
            ComparedPiece::Same(text) => json!({ "text": text, "differs": false }),
            ComparedPiece::Differing(text) => json!({ "text": text, "differs": true }),
            ComparedPiece::Gap(characters) => json!({ "omitted_characters": characters }),
        });
        json!({ "url": side.address, "pieces": pieces.collect::<Vec<_>>() })
    });
    json!({ "about": comparison.about, "sides": sides.collect::<Vec<_>>() })
}

/// Returns the last boundary between characters at or before a place.
fn floor(text: &str, place: usize) -> usize {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

//! Properties of selected ranges on any page.

use cento_text::content::{Selection, apply, select};
use cento_text::html::{Extract, Extractor, Options};
use proptest::prelude::*;
use std::ops::Range;

/// Pages of random pieces, well-formed or not.
fn any_page() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "<div>", "</div>", "<p>", "<section class=entry-content>", "</section>", "<article>", "</article>", "<nav>", "</nav>",
            "<aside>", "</aside>", "<ul><li>", "<li>", "</ul>", "<table><tr><td>", "<td>", "</table>", "<h1>", "</h1>", "<h2>",
            "</h2>", "<a href=x>", "</a>", "<div id=comments>", "<div class='share sidebar'>", "<footer>", "</footer>", "<main>",
            "<pre>", "</pre>", "<br><br>", "<form>", "<blockquote>", "<figure><figcaption>", "</body>", "<script>x</script>",
        ]).prop_map(str::to_owned),
        2 => "[a-zé水 ]{0,40}",
        2 => "([a-z]{1,9} ){10,40}",
        1 => "(水獭睡觉，){5,30}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// The window by definition: computes the curve block by block and tries every window.
fn naive_slope(page: &Extract) -> Vec<Range<usize>> {
    let count = |range: Range<usize>| page.text[range].split_whitespace().count() as i64;
    let blocks = &page.outline.blocks;
    let mut best = None;
    for (end, last) in blocks.iter().enumerate() {
        for (begin, first) in blocks.iter().enumerate().take(end + 1) {
            let words: i64 = blocks[begin..=end]
                .iter()
                .map(|block| count(block.begin as usize..block.end as usize))
                .sum();
            let before = i64::from(first.tags_before);
            let after = i64::from(page.outline.tags)
                - i64::from(last.tags_before)
                - i64::from(last.tags_inside);
            let sum = before + words + after;
            if best.as_ref().is_none_or(|&(highest, _)| sum > highest) {
                best = Some((sum, first.begin as usize..last.end as usize));
            }
        }
    }
    best.map_or_else(Vec::new, |(_, window)| vec![window])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn ranges_are_ascending_not_empty_and_on_character_boundaries(html in any_page()) {
        let mut extractor = Extractor::new();
        let page = extractor.extract(&html, &Options { outline: true });
        for selection in Selection::EVERY {
            let ranges = select(page, selection);
            prop_assert!(ranges.iter().all(|range| page.text.get(range.clone()).is_some_and(|part| !part.is_empty())));
            prop_assert!(ranges.is_sorted_by(|one, next| one.end < next.start), "{:?}", ranges);
            // A page with text never becomes empty.
            prop_assert_eq!(ranges.is_empty(), page.text.is_empty());
            prop_assert_eq!(&ranges, &select(page, selection));

            let mut text = String::new();
            apply(&page.text, &ranges, &mut text);
            let parts: Vec<&str> = ranges.iter().map(|range| &page.text[range.clone()]).collect();
            prop_assert_eq!(text, parts.join("\n\n"));
        }
    }

    #[test]
    fn the_slope_window_is_the_best_of_all_windows(html in any_page()) {
        let html = html.replace(|character: char| !character.is_ascii(), "x");
        let mut extractor = Extractor::new();
        let page = extractor.extract(&html, &Options { outline: true });
        prop_assert_eq!(select(page, Selection::Slope), naive_slope(page));
    }
}

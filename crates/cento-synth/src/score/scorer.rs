//! Scoring pairs, passages and quilts; the module `lists` scores lists.

mod lists;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::error::Result;
use crate::score::table::{FindingRow, for_each_row};
use crate::score::truth_index::{Id, TruthPassage, UnionFind, unordered};
use crate::score::{FoundTable, PageLookup, ScoreLine, bad};
use crate::settings::PageKind;

/// The default minimum resemblance of near-duplicates.
const DEFAULT_RESEMBLANCE: f64 = 0.8;

/// Scores one table.
pub(crate) struct Scorer<'a> {
    finding: &'a FoundTable,
    pages: &'a mut PageLookup,
    resemblance: f64,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(
        finding: &'a FoundTable,
        pages: &'a mut PageLookup,
        resemblance: Option<f64>,
    ) -> Scorer<'a> {
        Scorer {
            finding,
            pages,
            resemblance: resemblance
                .or(finding.number("resemblance"))
                .unwrap_or(DEFAULT_RESEMBLANCE),
        }
    }

    pub(crate) fn run(&mut self) -> Result<Vec<ScoreLine>> {
        match (self.finding.analysis.as_str(), self.finding.table.as_str()) {
            ("copies", _) => self.copies(),
            ("overlap" | "reuse", _) => self.pairs(),
            ("overlap-servers", _) => self.servers(),
            ("passages", _) => self.passages(),
            ("quilts", _) => self.quilts(),
            ("discover", _) => self.labels(),
            ("detect", "matches") => self.matches(),
            ("aliases", _) => self.aliases(),
            _ => self.sites(),
        }
    }

    fn line(&self, what: &'static str) -> ScoreLine {
        ScoreLine {
            analysis: self.finding.analysis.clone(),
            run: self.finding.run.clone(),
            parameters: self.finding.parameters.clone(),
            what,
            ..ScoreLine::default()
        }
    }

    /// Calls `visit` with every pair of pages.
    fn for_each_pair(
        &mut self,
        columns: [&str; 2],
        mut visit: impl FnMut(&mut PageLookup, &FindingRow, Id, Id) -> Result<()>,
    ) -> Result<()> {
        let pages = &mut *self.pages;
        for path in &self.finding.tables() {
            for_each_row(path, |row| {
                let first = pages.page(row, columns[0], path)?;
                let second = pages.page(row, columns[1], path)?;
                visit(pages, row, first, second)
            })?;
        }
        Ok(())
    }

    fn copies(&mut self) -> Result<Vec<ScoreLine>> {
        let (mut exact, mut near) = (self.line("exact"), self.line("near"));
        let least = self.resemblance;
        let mut classes = UnionFind::default();
        let mut seen = HashSet::new();
        self.for_each_pair(["page", "of"], |pages, row, page, of| {
            let known = &mut pages.known;
            // A revisit has the URL of the page that is revisited.
            if page == of {
                if known.revisited.contains(&page) {
                    exact.right += 1;
                }
                return Ok(());
            }
            if !seen.insert(unordered(page, of)) {
                return Ok(());
            }
            classes.join(page, of);
            if known.exact.same(page, of) {
                exact.right += 1;
                return Ok(());
            }
            let right = match known.resemblance(page, of) {
                Some(resemblance) => resemblance >= least,
                None => known.families.same(page, of),
            };
            let line = if row.real("resemblance") == Some(1.0) && !right {
                &mut exact
            } else {
                &mut near
            };
            tally(line, right, known.same_template(page, of));
            Ok(())
        })?;
        for pair in &self.pages.known.pairs {
            let line = if pair.exact { &mut exact } else { &mut near };
            if pair.exact || pair.resemblance >= least {
                line.expected += 1;
                line.found += u64::from(classes.same(pair.copy, pair.of));
            }
        }
        Ok(vec![exact, near])
    }

    /// Scores pairs of pages that share text. Exact copies are interchangeable.
    fn pairs(&mut self) -> Result<Vec<ScoreLine>> {
        let mut line = self.line("pairs");
        let mut seen = HashSet::new();
        self.for_each_pair(["page", "of"], |pages, _, page, of| {
            let known = &mut pages.known;
            let pair = unordered(known.exact.of(page), known.exact.of(of));
            if page == of || !seen.insert(pair) {
                return Ok(());
            }
            if known.related(page, of) {
                line.right += 1;
            } else if known.same_template(page, of) || known.both_from_pools(page, of) {
                line.known += 1;
            } else {
                line.wrong += 1;
            }
            Ok(())
        })?;
        let expected = self.expected_pairs();
        line.expected = expected.len() as u64;
        line.found = expected.intersection(&seen).count() as u64;
        Ok(vec![line])
    }

    /// The pairs that should be found, with exact copies as one. If chunks are compared, those that
    /// share at least as many chunks as the threshold of the run; otherwise all that share a
    /// passage or are copies.
    fn expected_pairs(&mut self) -> HashSet<(Id, Id)> {
        let threshold = match (self.finding.analysis.as_str(), self.finding.word("chunk")) {
            ("overlap", None | Some("paragraph")) => self.finding.number("threshold").or(Some(1.0)),
            ("overlap", Some(_)) => Some(f64::INFINITY),
            _ => None,
        };
        let known = &mut self.pages.known;
        let mut expected = HashSet::new();
        let mut add = |exact: &mut UnionFind, first: Id, second: Id| {
            let (first, second) = (exact.of(first), exact.of(second));
            if first != second {
                expected.insert(unordered(first, second));
            }
        };
        for pair in &known.pairs {
            if threshold.is_none_or(|threshold| pair.shared_chunks as f64 >= threshold) {
                add(&mut known.exact, pair.copy, pair.of);
            }
        }
        if threshold.is_none() {
            for &(page, source) in known.passages.keys() {
                if known.natures.contains_key(&source) {
                    add(&mut known.exact, page, source);
                }
            }
        }
        expected
    }

    /// The columns of the page, the source, and their ranges: those of `cento passages`, where a is
    /// the later page, or names that say so.
    fn passage_columns(&self) -> Result<[&'static str; 6]> {
        let mut columns = [
            "page",
            "source",
            "begin",
            "end",
            "source_begin",
            "source_end",
        ];
        for path in &self.finding.tables() {
            for_each_row(path, |row| {
                if row.whole("a_begin").is_some() {
                    columns = ["a", "b", "a_begin", "a_end", "b_begin", "b_end"];
                }
                Ok(())
            })?;
        }
        Ok(columns)
    }

    /// The planted passages that the analysis should find, each as page, source and position: the
    /// source was crawled, the two pages are not duplicates, which count as one page, and the
    /// passage is as long as the analysis requires.
    fn expected_passages(&mut self) -> HashSet<(Id, Id, usize)> {
        let least = self.finding.number("min_chars").unwrap_or(0.0) as u64;
        let known = &mut self.pages.known;
        let mut expected = HashSet::new();
        for (&(page, source), passages) in &known.passages {
            let is_duplicate = known.exact.of(page) == known.exact.of(source);
            if is_duplicate || !known.natures.contains_key(&source) {
                continue;
            }
            let long = passages.iter().enumerate();
            let long = long.filter(|(_, passage)| passage.chars >= least);
            expected.extend(long.map(|(index, _)| (page, source, index)));
        }
        expected
    }

    fn passages(&mut self) -> Result<Vec<ScoreLine>> {
        let (mut line, mut ends) = (self.line("bytes"), self.line("ends"));
        let mut directions = self.line("directions");
        let columns = self.passage_columns()?;
        let [first, second, places_of @ ..] = columns;
        let expected = self.expected_passages();
        let is_expected =
            |pair: (Id, Id), index: usize| expected.contains(&(pair.0, pair.1, index));
        // Planted passages whose ends were found on both sides.
        let mut exact: HashSet<(Id, Id, usize)> = HashSet::new();
        let mut has_texts = false;
        // For each page and source, the ranges found on the page and in the source.
        let mut found: HashMap<(Id, Id), Vec<[u64; 4]>> = HashMap::new();
        let path = &self.finding.path;
        self.for_each_pair([first, second], |pages, row, page, source| {
            let mut places = [0; 4];
            for (place, column) in places.iter_mut().zip(places_of) {
                *place = row
                    .whole(column)
                    .ok_or_else(|| bad(path, &format!("a row has no {column}")))?;
            }
            let [begin, end, source_begin, source_end] = places;
            if begin >= end || source_begin >= source_end {
                return Err(bad(path, "a row has a passage that ends before it begins"));
            }
            let swapped = [source_begin, source_end, begin, end];
            let known = &pages.known;
            let (pair, places, sides) = if known.passages.contains_key(&(page, source)) {
                ((page, source), places, [first, second])
            } else if known.passages.contains_key(&(source, page)) {
                ((source, page), swapped, [second, first])
            } else {
                let known = &mut pages.known;
                if known.families.same(page, source) {
                    line.right = line.right.saturating_add(end - begin);
                } else if known.related(page, source)
                    || known.same_template(page, source)
                    || known.both_from_pools(page, source)
                    || is_boilerplate(
                        pages.text(row, first)?.as_deref(),
                        begin,
                        end,
                        &pages.known.boilerplate,
                    )
                {
                    line.known = line.known.saturating_add(end - begin);
                } else {
                    line.wrong = line.wrong.saturating_add(end - begin);
                }
                return Ok(());
            };
            found.entry(pair).or_default().push(places);
            let direction = row.text("earlier");
            directions.expected += u64::from(direction.is_some());
            match direction {
                Some("b") => tally(&mut directions, pair == (page, source), false),
                Some("a") => tally(&mut directions, pair == (source, page), false),
                _ => {}
            }
            let texts = (pages.text(row, sides[0])?, pages.text(row, sides[1])?);
            if let (Some(text), Some(source_text)) = texts {
                has_texts = true;
                let truth = pages.known.passages.get(&pair);
                for (index, passage) in truth.into_iter().flatten().enumerate() {
                    if is_expected(pair, index)
                        && ends_agree([&text, &source_text], places, passage)
                    {
                        exact.insert((pair.0, pair.1, index));
                    }
                }
            }
            Ok(())
        })?;
        for (pair, truth) in &self.pages.known.passages {
            let found = found.get(pair).map(Vec::as_slice).unwrap_or_default();
            let all: Vec<(u64, u64)> = found.iter().map(|place| (place[0], place[1])).collect();
            let (mut right, mut wanted) = (Vec::new(), Vec::new());
            for (index, passage) in truth.iter().enumerate() {
                let aligned = found
                    .iter()
                    .filter(|place| common((place[2], place[3]), passage.source_at).is_some())
                    .filter_map(|place| common((place[0], place[1]), passage.at));
                right.extend(aligned.clone());
                if is_expected(*pair, index) {
                    let bytes = passage.at.1.saturating_sub(passage.at.0);
                    line.expected = line.expected.saturating_add(bytes);
                    ends.expected += 1;
                    wanted.extend(aligned);
                }
            }
            let right = length(right);
            line.found = line.found.saturating_add(length(wanted));
            line.right = line.right.saturating_add(right);
            line.wrong = line.wrong.saturating_add(length(all).saturating_sub(right));
        }
        ends.found = exact.len() as u64;
        ends.right = ends.found;
        let is_dated = directions.expected > 0;
        directions.found = directions.right;
        let mut lines = vec![line];
        lines.extend(has_texts.then_some(ends));
        lines.extend(is_dated.then_some(directions));
        Ok(lines)
    }

    fn quilts(&mut self) -> Result<Vec<ScoreLine>> {
        let (mut pages_line, mut sources) = (self.line("pages"), self.line("sources"));
        let mut links = self.line("attributed");
        let least = self.finding.number("min_share").unwrap_or(0.0);
        let mut found: BTreeSet<Id> = BTreeSet::new();
        let mut pairs: BTreeMap<(Id, Id), Option<bool>> = BTreeMap::new();
        self.for_each_pair(["page", "source"], |_, row, page, source| {
            if row.real("share").is_none_or(|share| share >= least) {
                found.insert(page);
                pairs.insert((page, source), row.truth("attributed"));
            }
            Ok(())
        })?;
        let known = &mut self.pages.known;
        for &page in &found {
            match known.kind(page) {
                _ if known.quilts.contains_key(&page) => pages_line.right += 1,
                Some(PageKind::Spam | PageKind::Farm) => pages_line.known += 1,
                _ => pages_line.wrong += 1,
            }
        }
        pages_line.expected = known.quilts.len() as u64;
        pages_line.found = pages_line.right;
        for (&(page, source), &attributed) in &pairs {
            let Some(truth) = known.quilts.get(&page) else {
                continue;
            };
            let source = known.exact.of(source);
            let right = truth
                .iter()
                .any(|&(id, _)| id == source || known.exact.of(id) == source);
            tally(&mut sources, right, false);
            if attributed == Some(true) {
                tally(&mut links, known.attributed.contains(&page), false);
            }
        }
        for (page, truth) in &known.quilts {
            for (source, _) in truth.iter().filter(|(_, share)| *share >= least) {
                sources.expected += 1;
                let attributed = pairs.get(&(*page, *source));
                sources.found += u64::from(attributed.is_some());
                if known.attributed.contains(page) {
                    links.expected += 1;
                    links.found += u64::from(attributed == Some(&Some(true)));
                }
            }
        }
        let has_links = pairs.values().any(Option::is_some);
        Ok(if has_links {
            vec![pages_line, sources, links]
        } else {
            vec![pages_line, sources]
        })
    }
}

pub(super) fn tally(line: &mut ScoreLine, right: bool, template: bool) {
    if right {
        line.right += 1;
    } else {
        line.wrong += 1;
        line.templates += u64::from(template);
    }
}

/// The intersection of two ranges.
fn common(first: (u64, u64), second: (u64, u64)) -> Option<(u64, u64)> {
    let both = (first.0.max(second.0), first.1.min(second.1));
    (both.0 < both.1).then_some(both)
}

/// The most words between the end of a planted passage and the end that was found.
const NEAR_WORDS: usize = 5;

/// Whether a passage begins and ends within a few words of a planted one, on the page and in its
/// source. A passage may begin earlier or end later if the words in between are the same on both
/// sides: whoever copies a page with its header copies more than what was planted.
fn ends_agree(texts: [&str; 2], found: [u64; 4], truth: &TruthPassage) -> bool {
    let between = |side: usize, one: u64, other: u64| -> Option<Vec<&str>> {
        let words = texts[side].get(one.min(other) as usize..one.max(other) as usize)?;
        Some(words.split_whitespace().collect())
    };
    let agrees = |of_page: (u64, u64), of_source: (u64, u64), is_longer: bool| {
        let words = between(0, of_page.0, of_page.1);
        let source_words = between(1, of_source.0, of_source.1);
        words
            .zip(source_words)
            .is_some_and(|(words, source_words)| {
                let are_near = words.len().max(source_words.len()) <= NEAR_WORDS;
                are_near || is_longer && words == source_words
            })
    };
    let (at, source_at) = (truth.at, truth.source_at);
    let begins_earlier = found[0] < at.0 && found[2] < source_at.0;
    let ends_later = found[1] > at.1 && found[3] > source_at.1;
    agrees((found[0], at.0), (found[2], source_at.0), begins_earlier)
        && agrees((found[1], at.1), (found[3], source_at.1), ends_later)
}

/// The length of the union of ranges.
fn length(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let mut covered = 0;
    let mut done = 0;
    for (begin, end) in ranges {
        covered = end.saturating_sub(begin.max(done)).saturating_add(covered);
        done = done.max(end);
    }
    covered
}

/// Whether a range contains only boilerplate.
fn is_boilerplate(text: Option<&str>, begin: u64, end: u64, notices: &[String]) -> bool {
    let range = text.and_then(|text| text.get(begin as usize..end as usize));
    range.is_some_and(|range| notices.iter().any(|notice| notice.contains(range.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_agree_within_five_words_or_where_the_surplus_is_the_same() {
        let page = "Menu of the site and more of it. One two three four five six seven. The end of the page here.";
        let source = "By somebody else. Menu of the site and more of it. One two three four five six seven. Another end.";
        let range = |text: &str, words: &str| {
            let begin = text.find(words).unwrap() as u64;
            (begin, begin + words.len() as u64)
        };
        let planted = "One two three four five six seven.";
        let truth = TruthPassage {
            at: range(page, planted),
            source_at: range(source, planted),
            chars: planted.len() as u64,
        };
        let agrees = |in_page: &str, in_source: &str| {
            let (one, other) = (range(page, in_page), range(source, in_source));
            let found = [one.0, one.1, other.0, other.1];
            ends_agree([page, source], found, &truth)
        };
        assert!(agrees(planted, planted));
        assert!(agrees(
            "two three four five six seven. The end",
            "three four five six"
        ));
        let longer = "Menu of the site and more of it. One two three four five six seven.";
        assert!(agrees(longer, longer));
        // The words before it are others.
        assert!(!agrees(longer, &format!("By somebody else. {longer}")));
        // More than five words are missing.
        assert!(!agrees("seven.", "seven."));
    }
}

//! Compares the results of schemes with each other and with labelled pairs: Table 3 of the paper.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::category::Category;
use super::{IDENTICAL, PAIRS};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::Findings;

/// The bytes of memory of a pair, with the unused part of its table.
const PAIR_BYTES: u64 = 56;

/// The categories of the pairs of one run, by page id.
pub struct PairCategories {
    /// The page that represents each page with the same fingerprints.
    representatives: HashMap<u64, u64>,
    pairs: HashMap<(u64, u64), Category>,
}

fn ordered(one: u64, other: u64) -> (u64, u64) {
    (one.min(other), one.max(other))
}

impl PairCategories {
    /// Reads the tables of a run, if those of two runs fit in this much memory.
    pub fn read(findings: &Findings, memory: u64) -> Result<PairCategories> {
        let report = &findings.record.report;
        let rows = report.rows(PAIRS.as_str()) + report.rows(IDENTICAL.as_str());
        let needed = rows.saturating_mul(2 * PAIR_BYTES);
        if needed > memory {
            return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
                limit: memory,
                needed,
                reason: format!(
                    " to compare two schemes with {rows} pairs, at {PAIR_BYTES} bytes each"
                ),
            }));
        }
        let mut representatives = HashMap::new();
        for row in findings.rows(IDENTICAL)? {
            let row = row?;
            representatives.insert(row.page_id, row.of_id);
        }
        let mut pairs = HashMap::new();
        for row in findings.rows(PAIRS)? {
            let row = row?;
            let category = row.category.parse().map_err(|error: String| {
                Error::corrupted(&findings.table(PAIRS.as_str()), error)
            })?;
            pairs.insert(ordered(row.page_id, row.of_id), category);
        }
        Ok(PairCategories {
            representatives,
            pairs,
        })
    }

    /// Returns the category of two pages, or `None` if they share too little.
    pub fn category(&self, one: u64, other: u64) -> Option<Category> {
        let [one, other] =
            [one, other].map(|page| self.representatives.get(&page).copied().unwrap_or(page));
        if one == other {
            return Some(Category::C1);
        }
        self.pairs.get(&ordered(one, other)).copied()
    }

    /// Returns the pairs of the tables: those of representatives, and each other page with its
    /// representative.
    fn listed(&self) -> impl Iterator<Item = (u64, u64, Category)> {
        let identical = self.representatives.iter();
        let identical = identical.map(|(&page, &of)| (page, of, Category::C1));
        let pairs = self.pairs.iter();
        identical.chain(pairs.map(|(&(one, other), &category)| (one, other, category)))
    }

    /// Returns how far another run agrees with this one.
    pub fn agreement(&self, other: &PairCategories) -> Agreement {
        let mut agreement = Agreement::default();
        for (one, two, category) in self.listed() {
            agreement.pairs += 1;
            let found = other.category(one, two);
            agreement.found += u64::from(found.is_some());
            agreement.same += u64::from(found == Some(category));
        }
        for (one, two, _) in other.listed() {
            agreement.additional += u64::from(self.category(one, two).is_none());
        }
        agreement
    }
}

/// How far the pairs of one scheme are those of another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Pairs of the reference.
    pub pairs: u64,
    /// Those that the scheme finds in any category.
    pub found: u64,
    /// Those that the scheme finds in the same category.
    pub same: u64,
    /// Pairs of the scheme that the reference does not have.
    pub additional: u64,
}

/// A pair of pages whose category is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledPair {
    /// The URL of one page.
    pub page: String,
    /// The URL of the other.
    pub of: String,
    /// `C1` to `C6`, `one-sided`, or `none`.
    pub category: String,
}

/// How well a scheme recognises one category among labelled pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryQuality {
    /// The category.
    pub category: Category,
    /// Pairs that are labelled with it.
    pub labelled: u64,
    /// Labelled pairs that the scheme assigns to it.
    pub assigned: u64,
    /// Those that are labelled with it and assigned to it.
    pub correct: u64,
}

impl CategoryQuality {
    /// Returns the share of assigned pairs that are correct; 1 if none is assigned.
    pub fn precision(self) -> f64 {
        ratio(self.correct, self.assigned)
    }

    /// Returns the share of labelled pairs that are recognised; 1 if there are none.
    pub fn recall(self) -> f64 {
        ratio(self.correct, self.labelled)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f1(self) -> f64 {
        ratio(2 * self.correct, self.assigned + self.labelled)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// Labelled pairs, by page id.
pub struct LabelledPairs {
    pairs: Vec<(u64, u64, Option<Category>)>,
}

impl LabelledPairs {
    /// Reads a file of JSON Lines, and finds its pages in a corpus. Lines of another `type` are
    /// ignored.
    pub fn read(path: &Path, source: &CorpusPages) -> Result<LabelledPairs> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        let mut labelled: Vec<LabelledPair> = Vec::new();
        for (line, text) in BufReader::new(file).lines().enumerate() {
            let text = text.map_err(|error| Error::io(path, error))?;
            if text.trim().is_empty() {
                continue;
            }
            let pair = serde_json::from_str(&text).map_err(|error| {
                let line = line + 1;
                Error::Usage(format!("{}, line {line}: {error}", path.display()))
            })?;
            labelled.push(pair);
        }
        let mut ids: HashMap<&str, Option<u64>> = HashMap::new();
        for pair in &labelled {
            ids.insert(&pair.page, None);
            ids.insert(&pair.of, None);
        }
        for task in 0..source.page_tasks().len() {
            source.for_each_page::<Error>(task, |facts| {
                if let (Some(id @ None), None) = (ids.get_mut(facts.url), facts.reject) {
                    *id = Some(facts.page_id);
                }
                Ok(())
            })?;
        }
        let id = |url: &str| {
            let missing = || Error::Usage(format!("{url} is not a page of the corpus"));
            ids.get(url).copied().flatten().ok_or_else(missing)
        };
        let pairs = labelled.iter().map(|pair| {
            let category = match pair.category.as_str() {
                "none" => None,
                name => Some(name.parse().map_err(Error::Usage)?),
            };
            Ok((id(&pair.page)?, id(&pair.of)?, category))
        });
        let pairs = pairs.collect::<Result<Vec<_>>>()?;
        Ok(LabelledPairs { pairs })
    }

    /// Returns the quality of a run for each of the six categories. Only labelled pairs count, as
    /// in the paper.
    pub fn quality(&self, found: &PairCategories) -> Vec<CategoryQuality> {
        let mut counts: BTreeMap<Category, [u64; 3]> = BTreeMap::new();
        for &(one, other, labelled) in &self.pairs {
            let assigned = found.category(one, other);
            for (category, column) in [(labelled, 0), (assigned, 1)] {
                if let Some(category) = category {
                    counts.entry(category).or_default()[column] += 1;
                }
            }
            if let (true, Some(category)) = (labelled == assigned, labelled) {
                counts.entry(category).or_default()[2] += 1;
            }
        }
        let six = Category::ALL
            .into_iter()
            .filter(|&category| category != Category::OneSided);
        six.map(|category| {
            let [labelled, assigned, correct] = counts.get(&category).copied().unwrap_or_default();
            CategoryQuality {
                category,
                labelled,
                assigned,
                correct,
            }
        })
        .collect()
    }
}

/// Returns the mean F1 of the categories that `included` accepts.
pub fn mean_f1(quality: &[CategoryQuality], included: impl Fn(Category) -> bool) -> f64 {
    let included = quality.iter().filter(|quality| included(quality.category));
    let (sum, count) = included.fold((0.0, 0), |(sum, count), quality| {
        (sum + quality.f1(), count + 1)
    });
    sum / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categories(pairs: &[(u64, u64, Category)], identical: &[(u64, u64)]) -> PairCategories {
        PairCategories {
            representatives: identical.iter().copied().collect(),
            pairs: pairs
                .iter()
                .map(|&(one, other, category)| (ordered(one, other), category))
                .collect(),
        }
    }

    #[test]
    fn agreement_resolves_pages_with_the_same_fingerprints() {
        let reference = categories(
            &[
                (1, 2, Category::C1),
                (2, 3, Category::C6),
                (4, 5, Category::C3),
            ],
            &[],
        );
        let other = categories(&[(3, 1, Category::C5), (7, 8, Category::C1)], &[(2, 1)]);
        let agreement = reference.agreement(&other);
        assert_eq!(
            agreement,
            Agreement {
                pairs: 3,
                found: 2,
                same: 1,
                additional: 2
            }
        );
    }

    #[test]
    fn quality_counts_labelled_pairs_only() {
        let found = categories(
            &[
                (1, 2, Category::C1),
                (3, 4, Category::C1),
                (5, 6, Category::C2),
            ],
            &[],
        );
        let labelled = LabelledPairs {
            pairs: vec![
                (2, 1, Some(Category::C1)),
                (3, 4, Some(Category::C2)),
                (8, 9, Some(Category::C1)),
                (1, 9, None),
            ],
        };
        let quality = labelled.quality(&found);
        assert_eq!(
            quality[0],
            CategoryQuality {
                category: Category::C1,
                labelled: 2,
                assigned: 2,
                correct: 1
            }
        );
        assert_eq!(
            (quality[0].precision(), quality[0].recall(), quality[0].f1()),
            (0.5, 0.5, 0.5)
        );
        assert_eq!(
            quality[1],
            CategoryQuality {
                category: Category::C2,
                labelled: 1,
                assigned: 0,
                correct: 0
            }
        );
        assert_eq!(quality[1].f1(), 0.0);
        assert_eq!(mean_f1(&quality, |category| category == Category::C1), 0.5);
    }
}

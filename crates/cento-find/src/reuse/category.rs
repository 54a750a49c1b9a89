//! Containment and the six categories of reuse: Tables 1 and 2 of the paper.
//!
//! Every decision compares whole numbers: `shared · 1,000,000 ≥ threshold · fingerprints`, where a
//! threshold is a number of millionths. No rounding can move a pair across a boundary.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The number of distinct fingerprints of two pages, and of those that both have.
///
/// ```
/// use cento_find::reuse::{Category, Containment, Thresholds};
///
/// let quoted = Containment { shared: 8, page: 80, of: 10 };
/// assert_eq!((quoted.of_page(), quoted.of_other()), (0.1, 0.8));
/// assert_eq!(Category::of(quoted, Thresholds::default()), Some(Category::C3));
/// let shorter = Containment { page: 81, ..quoted };
/// assert_eq!(Category::of(shorter, Thresholds::default()), Some(Category::OneSided));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Containment {
    /// Distinct fingerprints that both pages have.
    pub shared: u32,
    /// Distinct fingerprints of one page.
    pub page: u32,
    /// Distinct fingerprints of the other page.
    pub of: u32,
}

impl Containment {
    /// Returns C(page, of), the share of the page's fingerprints found in the other; 0 for a page
    /// without fingerprints.
    pub fn of_page(self) -> f64 {
        f64::from(self.shared) / f64::from(self.page.max(1))
    }

    /// Returns C(of, page), the share of the other's fingerprints found in the page.
    pub fn of_other(self) -> f64 {
        f64::from(self.shared) / f64::from(self.of.max(1))
    }

    /// Returns the same pair, seen from the other page.
    pub fn swapped(self) -> Containment {
        Containment {
            shared: self.shared,
            page: self.of,
            of: self.page,
        }
    }
}

/// A share between 0 and 1, in millionths, so that it is compared exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold(u32);

/// The millionths of 1.
const WHOLE: u32 = 1_000_000;

impl Threshold {
    /// Returns a share of this many millionths; more than a million are 1.
    pub const fn from_millionths(millionths: u32) -> Threshold {
        Threshold(if millionths > WHOLE {
            WHOLE
        } else {
            millionths
        })
    }

    /// Returns the share, from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Whether `part` of `whole` is at least this share. Nothing is a share of nothing.
    #[inline]
    pub fn is_reached(self, part: u32, whole: u32) -> bool {
        whole > 0 && u64::from(part) * u64::from(WHOLE) >= u64::from(self.0) * u64::from(whole)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / WHOLE, self.0 % WHOLE);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        formatter.pad(text)
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Threshold, String> {
        let invalid = || format!("'{text}' is not a share between 0 and 1, such as 0.8");
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let numeric =
            digits(whole) && digits(decimals) && !(whole.is_empty() && decimals.is_empty());
        if !numeric {
            return Err(invalid());
        }
        if decimals.len() > 6 {
            return Err(format!("'{text}' has more than six decimals"));
        }
        let whole: u32 = match whole {
            "" => 0,
            whole => whole.parse().map_err(|_| invalid())?,
        };
        let decimals: u32 = format!("{decimals:0<6}").parse().map_err(|_| invalid())?;
        let millionths = whole
            .checked_mul(WHOLE)
            .and_then(|whole| whole.checked_add(decimals));
        let millionths = millionths.filter(|&share| share <= WHOLE);
        Ok(Threshold(millionths.ok_or_else(invalid)?))
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Threshold, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The lower bounds of the three ranges of containment: Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Of *most*.
    pub most: Threshold,
    /// Of *considerable*.
    pub considerable: Threshold,
    /// Of *partial*.
    pub partial: Threshold,
}

impl Default for Thresholds {
    /// The paper's: 0.8, 0.5 and 0.1.
    fn default() -> Thresholds {
        Thresholds {
            most: Threshold(800_000),
            considerable: Threshold(500_000),
            partial: Threshold(100_000),
        }
    }
}

impl Thresholds {
    /// Whether they descend and the lowest is above 0, so that every range can be reached.
    pub fn are_valid(self) -> bool {
        self.most >= self.considerable
            && self.considerable >= self.partial
            && self.partial > Threshold(0)
    }

    fn range(self, part: u32, whole: u32) -> Option<ContainmentRange> {
        if self.most.is_reached(part, whole) {
            Some(ContainmentRange::Most)
        } else if self.considerable.is_reached(part, whole) {
            Some(ContainmentRange::Considerable)
        } else if self.partial.is_reached(part, whole) {
            Some(ContainmentRange::Partial)
        } else {
            None
        }
    }
}

/// The range of a containment, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ContainmentRange {
    Most,
    Considerable,
    Partial,
}

/// The category of a pair of pages: Table 2, and pairs that reach a range on one side only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Most of each page is in the other: nearly identical pages.
    C1,
    /// Most of one and a considerable part of the other: a page with an addition.
    C2,
    /// Most of one and a part of the other: a short page inside a longer one.
    C3,
    /// A considerable part of each.
    C4,
    /// A considerable part of one and a part of the other.
    C5,
    /// A part of each: often boilerplate or common phrases.
    C6,
    /// Only one of the two pages reaches *partial*: a short page inside a very long one.
    OneSided,
}

impl Category {
    /// All categories, in the order of the paper; [`Category::OneSided`] is the last.
    pub const ALL: [Category; 7] = [
        Category::C1,
        Category::C2,
        Category::C3,
        Category::C4,
        Category::C5,
        Category::C6,
        Category::OneSided,
    ];

    /// Returns the category of a pair, or `None` if neither page reaches *partial*.
    #[inline]
    pub fn of(containment: Containment, thresholds: Thresholds) -> Option<Category> {
        use ContainmentRange::{Considerable, Most, Partial};
        let one = thresholds.range(containment.shared, containment.page);
        let other = thresholds.range(containment.shared, containment.of);
        let (one, other) = match (one, other) {
            (None, None) => return None,
            (Some(one), Some(other)) => (one, other),
            _ => return Some(Category::OneSided),
        };
        Some(match (one.min(other), one.max(other)) {
            (Most, Most) => Category::C1,
            (Most, Considerable) => Category::C2,
            (Most, Partial) => Category::C3,
            (Considerable, Partial) => Category::C5,
            (Partial, _) => Category::C6,
            (Considerable, _) => Category::C4,
        })
    }

    /// Whether the two pages are near-duplicates: C1, C2 and C4.
    pub fn is_near_duplicate(self) -> bool {
        matches!(self, Category::C1 | Category::C2 | Category::C4)
    }

    /// Whether the pair is local reuse: C3, C5 and C6.
    pub fn is_local(self) -> bool {
        matches!(self, Category::C3 | Category::C5 | Category::C6)
    }

    /// The name in tables: `C1` to `C6` and `one-sided`.
    pub fn name(self) -> &'static str {
        match self {
            Category::C1 => "C1",
            Category::C2 => "C2",
            Category::C3 => "C3",
            Category::C4 => "C4",
            Category::C5 => "C5",
            Category::C6 => "C6",
            Category::OneSided => "one-sided",
        }
    }

    /// The ranges of the two pages, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Category::C1 => "most–most",
            Category::C2 => "most–considerable",
            Category::C3 => "most–partial",
            Category::C4 => "considerable–considerable",
            Category::C5 => "considerable–partial",
            Category::C6 => "partial–partial",
            Category::OneSided => "one page only",
        }
    }

    /// The position in [`Category::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Category {
    type Err = String;

    fn from_str(text: &str) -> Result<Category, String> {
        let found = Category::ALL
            .into_iter()
            .find(|category| category.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("unknown category '{text}': expected C1 to C6 or one-sided"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn category(shared: u32, page: u32, of: u32) -> Option<Category> {
        Category::of(Containment { shared, page, of }, Thresholds::default())
    }

    #[test]
    fn every_boundary_belongs_to_the_higher_range() {
        for (shared, page, of, expected) in [
            (8, 10, 10, Some(Category::C1)),
            (799_999, 1_000_000, 1_000_000, Some(Category::C4)),
            (40, 50, 80, Some(Category::C2)),
            (40, 50, 81, Some(Category::C3)),
            (40, 51, 80, Some(Category::C4)),
            (40, 51, 81, Some(Category::C5)),
            (40, 50, 400, Some(Category::C3)),
            (40, 50, 401, Some(Category::OneSided)),
            (40, 80, 80, Some(Category::C4)),
            (40, 80, 400, Some(Category::C5)),
            (40, 81, 400, Some(Category::C6)),
            (1, 10, 10, Some(Category::C6)),
            (1, 10, 11, Some(Category::OneSided)),
            (1, 11, 11, None),
            (0, 5, 5, None),
            (0, 0, 0, None),
        ] {
            assert_eq!(category(shared, page, of), expected, "{shared} {page} {of}");
            assert_eq!(category(shared, of, page), expected, "{shared} {of} {page}");
        }
    }

    #[test]
    fn reuse_is_not_transitive_as_in_figure_1() {
        let a: Vec<u32> = (0..20).collect();
        let b: Vec<u32> = (10..40).collect();
        let c: Vec<u32> = (30..50).collect();
        let between = |one: &[u32], other: &[u32]| {
            let shared = one.iter().filter(|value| other.contains(value)).count() as u32;
            category(shared, one.len() as u32, other.len() as u32)
        };
        assert_eq!(between(&a, &b), Some(Category::C5));
        assert_eq!(between(&b, &c), Some(Category::C5));
        assert_eq!(between(&a, &c), None);
    }

    #[test]
    fn thresholds_are_parsed_exactly() {
        for (text, millionths) in [
            ("0.8", 800_000),
            ("1", 1_000_000),
            (".1", 100_000),
            ("0.000001", 1),
        ] {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(threshold.0, millionths);
            assert_eq!(threshold.to_string().parse(), Ok(threshold));
        }
        assert_eq!(Threshold(800_000).to_string(), "0.8");
        assert_eq!(
            (Threshold(0).to_string(), Threshold(WHOLE).to_string()),
            ("0".into(), "1".into())
        );
        for text in ["", ".", "1.1", "-1", "0.1234567", "80%", "2", "1e-1"] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn categories_are_those_of_exact_fractions(page in 1u32..2000, of in 1u32..2000, shared in 0u32..2000) {
            let shared = shared.min(page).min(of);
            // Tenths of the whole, as the paper states them.
            let reached = |tenths: u32, whole: u32| 10 * shared >= tenths * whole;
            let range = |whole| match () {
                () if reached(8, whole) => Some('m'),
                () if reached(5, whole) => Some('c'),
                () if reached(1, whole) => Some('p'),
                () => None,
            };
            let expected = match (range(page), range(of)) {
                (None, None) => None,
                (None, _) | (_, None) => Some(Category::OneSided),
                (Some('m'), Some('m')) => Some(Category::C1),
                (Some('m'), Some('c')) | (Some('c'), Some('m')) => Some(Category::C2),
                (Some('m'), _) | (_, Some('m')) => Some(Category::C3),
                (Some('c'), Some('c')) => Some(Category::C4),
                (Some('c'), _) | (_, Some('c')) => Some(Category::C5),
                _ => Some(Category::C6),
            };
            prop_assert_eq!(category(shared, page, of), expected);
        }
    }
}

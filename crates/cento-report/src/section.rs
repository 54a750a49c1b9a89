//! The results of an analysis as data: sentences, tables, figures, excerpts and suggestions.
//! Nothing here depends on the analysis, or on where the results are shown.
//!
//! All text may come from untrusted pages. Whoever shows it must escape it.

use cento_figure::{Figure, Mark, Scale};

use crate::format::{number, percent, size};
use crate::html;

/// The results of one analysis, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The one or two most important numbers.
    pub headlines: Vec<Headline>,
    /// The results in sentences, the most important first.
    pub sentences: Vec<String>,
    /// Definitions and caveats for readers who want the details.
    pub notes: Vec<String>,
    /// The strongest results.
    pub tables: Vec<ReportTable>,
    /// Pages whose passages are marked by source.
    pub excerpts: Vec<Excerpt>,
    /// Passages of two pages side by side.
    pub comparisons: Vec<Comparison>,
    /// Commands to run next.
    pub suggestions: Vec<Suggestion>,
}

/// A number with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// The formatted number.
    pub value: String,
    /// What the number counts or measures.
    pub label: String,
}

impl Headline {
    /// Creates a headline.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Headline {
        Headline {
            value: value.into(),
            label: label.into(),
        }
    }
}

/// A command and its purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The command, quoted for a shell.
    pub command: String,
    /// The purpose, as the continuation of "To".
    pub purpose: String,
}

/// A figure with the name of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The name, without an extension.
    pub name: &'static str,
    /// The figure.
    pub figure: Figure,
    /// The data as CSV, if they have more columns than the figure.
    pub data: Option<String>,
}

impl Drawing {
    /// Creates a drawing whose data are those of the figure.
    pub fn new(name: &'static str, figure: Figure) -> Drawing {
        Drawing {
            name,
            figure,
            data: None,
        }
    }

    /// Returns whether there is anything to see: a point, or a bar that is not of length 0.
    pub fn has_content(&self) -> bool {
        let horizontal = matches!(self.figure.y.scale, Scale::Categories(_));
        self.figure.series.iter().any(|series| {
            series.points.iter().any(|point| match series.mark {
                Mark::Bars | Mark::Stacked | Mark::Histogram if horizontal => point.x != 0.0,
                Mark::Bars | Mark::Stacked | Mark::Histogram => point.y != 0.0,
                Mark::Points | Mark::Discs | Mark::Line | Mark::Steps => true,
            })
        })
    }

    /// Returns the data as CSV.
    pub fn csv(&self) -> String {
        self.data.clone().unwrap_or_else(|| self.figure.csv())
    }
}

/// A small table, the strongest results first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportTable {
    /// The title. A terminal shows it as the heading of the first column.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<ReportCell>>,
    /// The number of further rows in the results.
    pub more: u64,
}

impl ReportTable {
    /// Renders the rows, without the title. Cells of a column that has a head carry its name, for
    /// narrow screens. Addresses are shown relative to `root`.
    pub fn rows_html(&self, heads: &[TableHead], root: &str) -> String {
        let mut out = String::new();
        html::rows(&mut out, self, heads, root);
        out
    }
}

impl Excerpt {
    /// Renders the excerpt as an `<article>` element of a site. Addresses are shown relative to
    /// `root`, and none of them leads out of the site.
    pub fn html(&self, root: &str) -> String {
        let mut out = String::new();
        html::excerpt(&mut out, self, root, false);
        out
    }
}

impl Comparison {
    /// Renders the comparison as an `<article>` element of a site. Addresses are shown relative to
    /// `root`, and none of them leads out of the site.
    pub fn html(&self, root: &str) -> String {
        let mut out = String::new();
        html::comparison(&mut out, self, root, false);
        out
    }
}

/// The head of a column of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableHead {
    /// The target of the link that sorts by the column; empty if it cannot be sorted by.
    pub target: String,
    /// How the table is sorted by this column: `ascending` or `descending`, if it is.
    pub sorted: Option<&'static str>,
}

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReportCell {
    /// Text.
    Text(String),
    /// The address of a page.
    Address(String),
    /// Text that leads to its evidence: the target of a link within the same site.
    Evidence {
        /// The target of the link.
        target: String,
        /// The text.
        text: String,
    },
    /// A count.
    Count(u64),
    /// A share, from 0 to 1.
    Share(f64),
    /// Any other number, shown with one decimal.
    Number(f64),
    /// A number of bytes.
    Bytes(u64),
    /// An unknown value.
    Unknown,
}

impl ReportCell {
    /// Returns whether the value is right-aligned, as numbers are.
    pub fn is_number(&self) -> bool {
        !matches!(
            self,
            ReportCell::Text(_) | ReportCell::Address(_) | ReportCell::Evidence { .. }
        )
    }

    /// Formats the value.
    pub fn text(&self) -> String {
        match self {
            ReportCell::Text(text)
            | ReportCell::Address(text)
            | ReportCell::Evidence { text, .. } => text.clone(),
            ReportCell::Count(count) => number(*count),
            ReportCell::Share(share) => percent(*share),
            ReportCell::Number(value) => format!("{value:.1}"),
            ReportCell::Bytes(bytes) => size(*bytes),
            ReportCell::Unknown => "–".to_owned(),
        }
    }
}

/// The text of a page, marked by source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excerpt {
    /// The address of the page.
    pub page: String,
    /// A description of the page.
    pub about: String,
    /// The text, in order.
    pub pieces: Vec<ExcerptPiece>,
    /// The sources.
    pub sources: Vec<ExcerptSource>,
    /// The number of further sources.
    pub more: u64,
}

/// A piece of the text of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExcerptPiece {
    /// Text that no source shown has.
    Own(String),
    /// Text that is also in a source, with the index of the source.
    Shared(usize, String),
    /// Omitted text, by its number of characters.
    Gap(u64),
}

/// A source of an excerpt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExcerptSource {
    /// The address of the source.
    pub address: String,
    /// A description: its share, whether it is linked, which page is dated earlier.
    pub about: String,
    /// The target of a link to the comparison of the two pages, within the same site.
    pub evidence: Option<String>,
    /// Shared passages, with their context in the source.
    pub quotes: Vec<Quote>,
}

/// A passage of a source, with its context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quote {
    /// The text before the passage.
    pub before: String,
    /// The passage.
    pub passage: String,
    /// The text after the passage.
    pub after: String,
}

/// A passage of two pages, to be shown side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// A description: how many words are identical, which page is dated earlier.
    pub about: String,
    /// The two sides.
    pub sides: [ComparedSide; 2],
}

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedSide {
    /// The address of the page.
    pub address: String,
    /// Its text, in order.
    pub pieces: Vec<ComparedPiece>,
}

/// A piece of the text of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparedPiece {
    /// Text that both sides have.
    Same(String),
    /// Words that the other side does not have.
    Differing(String),
    /// Omitted text, by its number of characters.
    Gap(u64),
}

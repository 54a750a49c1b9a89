//! The results of an analysis as data: sentences, tables, figures, excerpts and suggestions.
//! Nothing here depends on the analysis, or on where the results are shown.
//!
//! All text may come from untrusted pages. Whoever shows it must escape it.

use cento_figure::{Axis, Figure, Mark, NumberFormat, Scale};

use crate::format::{number, percent, size};
use crate::html;

/// The results of one analysis, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The one or two most important numbers.
    pub headlines: Vec<Headline>,
    /// What a report may open with: at most one or two results.
    pub findings: Vec<Finding>,
    /// What was searched for and not found, as the continuation of "There are": `no duplicates`.
    /// A report without findings consists of these.
    pub absent: Option<String>,
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

/// A result that a report may open with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The result in one sentence.
    pub sentence: String,
    /// The number of pages that it concerns. Findings are ranked by it.
    pub pages: u64,
    /// Where its evidence is shown.
    pub evidence: FindingEvidence,
}

/// The part of a section that shows the evidence of a finding, by its position in the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FindingEvidence {
    /// The whole section.
    #[default]
    Section,
    /// A table.
    Table(usize),
    /// An excerpt.
    Excerpt(usize),
    /// A comparison.
    Comparison(usize),
}

impl FindingEvidence {
    /// Returns the `id` of the element in the chapter with an id.
    pub fn anchor(self, chapter: &str) -> String {
        match self {
            FindingEvidence::Section => chapter.to_owned(),
            FindingEvidence::Table(at) => format!("{chapter}-table-{}", at + 1),
            FindingEvidence::Excerpt(at) => format!("{chapter}-excerpt-{}", at + 1),
            FindingEvidence::Comparison(at) => format!("{chapter}-passage-{}", at + 1),
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

    /// Returns whether there are too few points for a picture: those of one or two values are
    /// better read as a table.
    pub fn is_too_small(&self) -> bool {
        let points = self.figure.series.iter().map(|series| series.points.len());
        points.sum::<usize>() < LEAST_POINTS
    }

    /// Returns the points as a table, for a drawing that [is too small](Drawing::is_too_small).
    pub fn table(&self) -> ReportTable {
        let figure = &self.figure;
        let named = figure.series.len() > 1;
        // The name of a category comes before its value.
        let is_horizontal = matches!(figure.y.scale, Scale::Categories(_));
        let mut columns = vec![figure.x.label.clone(), figure.y.label.clone()];
        if is_horizontal {
            columns.reverse();
        }
        if named {
            columns.insert(0, "series".to_owned());
        }
        let mut rows = Vec::new();
        for series in &figure.series {
            for point in &series.points {
                let x = match series.mark {
                    Mark::Histogram => ReportCell::Text(format!(
                        "{} to {}",
                        axis_cell(&figure.x, point.x).text(),
                        axis_cell(&figure.x, point.end).text()
                    )),
                    _ => axis_cell(&figure.x, point.x),
                };
                let mut row = vec![x, axis_cell(&figure.y, point.y)];
                if is_horizontal {
                    row.reverse();
                }
                if named {
                    row.insert(0, ReportCell::Text(series.name.clone()));
                }
                rows.push(row);
            }
        }
        // A label may be empty, as that of an axis of categories that explain themselves.
        for column in columns.iter_mut().filter(|column| column.is_empty()) {
            "kind".clone_into(column);
        }
        // A terminal shows the title as the heading of the first column.
        let first = columns.first().map_or("", String::as_str);
        ReportTable {
            title: format!("{} {first}", figure.title),
            columns,
            rows,
            ..ReportTable::default()
        }
    }

    /// Returns the data as CSV.
    pub fn csv(&self) -> String {
        self.data.clone().unwrap_or_else(|| self.figure.csv())
    }
}

/// The fewest points of a picture.
const LEAST_POINTS: usize = 3;

/// Returns a value of an axis as a cell.
fn axis_cell(axis: &Axis, value: f64) -> ReportCell {
    match (&axis.scale, axis.format) {
        (Scale::Categories(names), _) => {
            let name = names.get(value.round().max(0.0) as usize);
            ReportCell::Text(name.cloned().unwrap_or_default())
        }
        (_, NumberFormat::Share) => ReportCell::Share(value),
        (_, NumberFormat::Bytes) => ReportCell::Bytes(value.round().max(0.0) as u64),
        (_, NumberFormat::Count) => ReportCell::Count(value.round().max(0.0) as u64),
        _ => ReportCell::Number(value),
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
    /// The command that lists all rows; empty if there is none.
    pub command: String,
}

impl ReportTable {
    /// Returns the title without the name of the first column, which a page shows in its place.
    pub fn heading(&self) -> &str {
        let first = self.columns.first().map_or("", String::as_str);
        let before = self.title.strip_suffix(first);
        let before = before.map(|title| title.trim_end_matches([':', ' ']));
        before
            .filter(|title| !title.is_empty())
            .unwrap_or(&self.title)
    }

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
        html::excerpt(&mut out, self, "", root, false);
        out
    }
}

impl Comparison {
    /// Renders the comparison as an `<article>` element of a site. Addresses are shown relative to
    /// `root`, and none of them leads out of the site.
    pub fn html(&self, root: &str) -> String {
        let mut out = String::new();
        html::comparison(&mut out, self, "", root, false);
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
    /// Words that differ from the other side.
    Differing(String),
    /// Omitted text, by its number of characters.
    Gap(u64),
}

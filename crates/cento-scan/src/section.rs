//! What an analysis has to say, as data: sentences, tables, figures, excerpts, and what to do next.
//! Who shows it, on a terminal or on a page, knows nothing of the analysis; and nothing here knows
//! how it is shown.
//!
//! All text in it may come from strangers: whoever shows it makes it harmless for the place where
//! it is shown.

use cento_figure::{Figure, Mark, Scale};

/// What an analysis found in a corpus, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The one or two numbers that say most.
    pub headlines: Vec<Headline>,
    /// What was found, in sentences that can be read aloud; the most important first.
    pub sentences: Vec<String>,
    /// The strongest findings.
    pub tables: Vec<Table>,
    /// Pages with what they have from where.
    pub excerpts: Vec<Excerpt>,
    /// What to do next.
    pub next: Vec<Next>,
}

/// A number, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// The number, as people read it.
    pub value: String,
    /// What it is a number of.
    pub label: String,
}

impl Headline {
    /// A number with its label.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Headline {
        Headline {
            value: value.into(),
            label: label.into(),
        }
    }
}

/// A command, and why one might want to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The command, ready to be typed.
    pub command: String,
    /// What it is good for.
    pub why: String,
}

/// A figure with the name of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The name, without an ending.
    pub name: &'static str,
    /// The figure.
    pub figure: Figure,
    /// The numbers, where there are more of them than the figure shows.
    pub numbers: Option<String>,
}

impl Drawing {
    /// A figure whose numbers are all in it.
    pub fn new(name: &'static str, figure: Figure) -> Drawing {
        Drawing {
            name,
            figure,
            numbers: None,
        }
    }

    /// Whether there is something to see: not if it has no points, nor if all of its bars have no
    /// length.
    pub fn shows(&self) -> bool {
        let lies = matches!(self.figure.y.scale, Scale::Categories(_));
        self.figure.series.iter().any(|series| {
            series.points.iter().any(|point| match series.mark {
                Mark::Bars | Mark::Stacked | Mark::Histogram if lies => point.x != 0.0,
                Mark::Bars | Mark::Stacked | Mark::Histogram => point.y != 0.0,
                Mark::Points | Mark::Discs | Mark::Line | Mark::Steps => true,
            })
        })
    }

    /// The numbers, as CSV.
    pub fn csv(&self) -> String {
        self.numbers.clone().unwrap_or_else(|| self.figure.csv())
    }
}

/// A table of few rows, the strongest ones first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What the rows are; the heading of the first column on a terminal.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// How many more there are in the findings.
    pub more: u64,
}

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// The address of a page.
    Address(String),
    /// A number of things.
    Count(u64),
    /// A share, from 0 to 1.
    Share(f64),
    /// Any other number, shown with one decimal.
    Number(f64),
    /// Bytes.
    Bytes(u64),
    /// Nothing is known.
    Nothing,
}

impl Cell {
    /// Whether it is a number, which stands to the right.
    pub fn is_number(&self) -> bool {
        !matches!(self, Cell::Text(_) | Cell::Address(_))
    }

    /// The value as people read it.
    pub fn text(&self) -> String {
        use crate::words::{number, percent, size};
        match self {
            Cell::Text(text) | Cell::Address(text) => text.clone(),
            Cell::Count(count) => number(*count),
            Cell::Share(share) => percent(*share),
            Cell::Number(value) => format!("{value:.1}"),
            Cell::Bytes(bytes) => size(*bytes),
            Cell::Nothing => "–".to_owned(),
        }
    }
}

/// A page whose words are shown with where they are from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excerpt {
    /// The address of the page.
    pub page: String,
    /// What is known of it, in a sentence.
    pub about: String,
    /// Its words, in order.
    pub pieces: Vec<Piece>,
    /// Where they are from.
    pub sources: Vec<Origin>,
    /// How many more sources there are.
    pub more: u64,
}

/// Some words of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words of the page itself, or of nobody that is shown.
    Own(String),
    /// Words that a source has too, with the number of the source, from 0.
    From(usize, String),
    /// So many characters are left out here.
    Gap(u64),
}

/// Where words of an excerpt are from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// The address of the source.
    pub source: String,
    /// What is known of it: its share, whether it is linked, which is earlier.
    pub about: String,
    /// The words in the source, each with what stands around them.
    pub quotes: Vec<Quote>,
}

/// Words in the place that they are from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quote {
    /// What stands before them.
    pub before: String,
    /// The words.
    pub words: String,
    /// What stands behind them.
    pub after: String,
}

//! A report: an introduction, and a chapter for each analysis.
//!
//! ```text
//!   Report ─┬─▶ html()       one file
//!           ├─▶ sentences    for a terminal
//!           └─▶ drawings()   each figure, for a file of its own
//! ```

use crate::html;
use crate::section::{Drawing, Headline, Section};

/// A report about a corpus.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The name of the corpus.
    pub corpus: String,
    /// The corpus in a few sentences.
    pub introduction: Vec<String>,
    /// The most important numbers about the corpus itself.
    pub headlines: Vec<Headline>,
    /// The folder of all pages, with a slash at its end, if they are files. Addresses are shown
    /// relative to it.
    pub root: String,
    /// The results, by analysis.
    pub chapters: Vec<Chapter>,
    /// The analyses without results.
    pub skipped: Vec<SkippedNotice>,
}

/// The results of one analysis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chapter {
    /// A short unique name, for links and file names.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The question that the analysis answers.
    pub question: String,
    /// The command that reproduces the results.
    pub command: String,
    /// The folder of the result tables.
    pub results: String,
    /// The results in words and tables.
    pub section: Section,
    /// The figures.
    pub drawings: Vec<Drawing>,
}

/// An analysis without results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedNotice {
    /// The heading that its chapter would have.
    pub title: String,
    /// Why there are no results.
    pub reason: String,
}

impl Report {
    /// Returns the most important numbers: those about the corpus, then those of each chapter.
    pub fn all_headlines(&self) -> impl Iterator<Item = &Headline> {
        let chapters = self.chapters.iter();
        let of_chapters = chapters.flat_map(|chapter| &chapter.section.headlines);
        self.headlines.iter().chain(of_chapters)
    }

    /// Returns the figures with unique names for their files.
    pub fn drawings(&self) -> impl Iterator<Item = (String, &Drawing)> {
        self.chapters.iter().flat_map(|chapter| {
            let drawings = chapter.drawings.iter();
            drawings.map(|drawing| (format!("{}-{}", chapter.id, drawing.name), drawing))
        })
    }

    /// Renders the report for a page that has a frame already: without `<html>`, style sheets and
    /// footer. The page needs [`STYLE`](crate::STYLE) and [`cento_figure::STYLE`].
    pub fn body_html(&self) -> String {
        html::body(self)
    }

    /// Renders the report as one HTML file.
    pub fn html(&self) -> String {
        html::page(self)
    }
}

impl Chapter {
    /// Renders the chapter as a `<section>` element. Addresses are shown relative to `root`.
    ///
    /// The page around it needs [`STYLE`](crate::STYLE) and [`cento_figure::STYLE`].
    pub fn html(&self, root: &str) -> String {
        html::chapter(self, root)
    }
}

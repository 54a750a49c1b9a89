//! A report: an introduction, and a chapter for each analysis.
//!
//! ```text
//!   Report ─┬─▶ html()       one file
//!           ├─▶ sentences    for a terminal
//!           └─▶ drawings()   each figure, for a file of its own
//! ```

use crate::html;
use crate::section::{Drawing, Finding, Headline, Section};

/// The most findings that a report opens with.
pub const MOST_FINDINGS: usize = 5;

/// A report about a corpus.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The name of the corpus.
    pub corpus: String,
    /// When it was made, and from what, in a few sentences.
    pub made: Vec<String>,
    /// The command that made it, quoted for a shell; empty if it is not known.
    pub command: String,
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
    /// The command that was run, quoted for a shell, if it is known and is not that of the report.
    pub run_by: Option<String>,
    /// A command that computes the same results alone.
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

    /// Returns what the report opens with, each with the chapter of its evidence: at most
    /// [`MOST_FINDINGS`], those that concern the most pages first.
    pub fn findings(&self) -> Vec<(&Chapter, &Finding)> {
        let chapters = self.chapters.iter();
        let mut findings: Vec<(&Chapter, &Finding)> = chapters
            .flat_map(|chapter| {
                let findings = chapter.section.findings.iter();
                findings.map(move |finding| (chapter, finding))
            })
            .collect();
        // Stable: of equal numbers, the order of the chapters.
        findings.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.pages));
        findings.truncate(MOST_FINDINGS);
        findings
    }

    /// Says what was searched for if nothing was found.
    pub fn nothing_found(&self) -> Option<String> {
        let chapters = || self.chapters.iter().map(|chapter| &chapter.section);
        if chapters().any(|section| !section.findings.is_empty()) {
            return None;
        }
        let absent: Vec<&str> = chapters()
            .filter_map(|section| section.absent.as_deref())
            .collect();
        let (last, others) = absent.split_last()?;
        Some(match others {
            [] => format!("There are {last}."),
            others => format!("There are {}, and {last}.", others.join(", ")),
        })
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

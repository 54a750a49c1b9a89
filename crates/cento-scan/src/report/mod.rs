//! A page about a corpus: everything that was found, in one file that needs no network and no
//! script.
//!
//! ```text
//!   corpus, findings ─▶ Report (data) ─┬─▶ html()      one file
//!                                      ├─▶ sentences   what a terminal shows
//!                                      └─▶ drawings    figures, each as a file of its own
//! ```
//!
//! Nothing in it tells when or how fast it was made: a scan that was broken off and gone on with
//! gives the same bytes.

mod escape;
mod html;
mod style;
#[cfg(test)]
mod tests;

use cento_find::{CorpusPages, Result};

use crate::analysis::{Analysis, Told};
use crate::profile::Profile;
use crate::scan::{Done, LeftOut};
use crate::section::{Drawing, Headline, Section};
use crate::words::{counted, number, part_of, size};

/// All that is told of a corpus.
pub struct Report {
    /// How people call the corpus.
    pub corpus: String,
    /// What it has.
    pub profile: Profile,
    /// What was found, an analysis each.
    pub chapters: Vec<Chapter>,
    /// What is not told of, and why.
    pub left_out: Vec<LeftOut>,
}

/// What one analysis found.
pub struct Chapter {
    /// The analysis.
    pub analysis: &'static dyn Analysis,
    /// The command that finds the same.
    pub command: String,
    /// Where its tables are.
    pub findings: String,
    /// What is told.
    pub section: Section,
    /// What is drawn.
    pub drawings: Vec<Drawing>,
}

impl Report {
    /// Reads findings and has each analysis tell of its own, in tables of at most `top` rows.
    pub fn new(
        source: &CorpusPages,
        corpus: &str,
        profile: Profile,
        done: &[Done],
        left_out: Vec<LeftOut>,
        top: usize,
    ) -> Result<Report> {
        let mut chapters = Vec::new();
        for Done {
            analysis, findings, ..
        } in done
        {
            let told = Told {
                source,
                corpus,
                findings,
                root: &profile.root,
                top,
            };
            let mut drawings = analysis.figures(findings)?;
            drawings.retain(Drawing::shows);
            chapters.push(Chapter {
                analysis: *analysis,
                command: analysis.command(corpus, &findings.record.parameters),
                findings: findings.path.display().to_string(),
                section: analysis.tell(&told)?,
                drawings,
            });
        }
        Ok(Report {
            corpus: corpus.to_owned(),
            profile,
            chapters,
            left_out,
        })
    }

    /// What the corpus is, in sentences.
    pub fn about(&self) -> Vec<String> {
        let profile = &self.profile;
        let counts = &profile.counts;
        let described = format!(
            "{} {} with {} of text, {} words.",
            counted(profile.pages, "page", "pages"),
            match (profile.hosts, profile.domains) {
                (0, _) => "without hosts".to_owned(),
                (1, _) => "of one host".to_owned(),
                (hosts, domains) => format!(
                    "of {} hosts in {}",
                    number(hosts),
                    counted(domains, "domain", "domains")
                ),
            },
            size(counts.text_bytes),
            number(counts.words)
        );
        let mut sentences = vec![match profile.pages {
            0 => "No page has text.".to_owned(),
            _ => described,
        }];
        if let Some((folder, _)) = profile
            .root
            .rsplit_once('/')
            .filter(|(folder, _)| !folder.is_empty())
        {
            sentences.push(format!(
                "All of them are in {folder}, which addresses leave out here."
            ));
        }
        let rejected: u64 = counts.rejected.values().map(|tally| tally.count).sum();
        if rejected > 0 {
            let mut causes: Vec<_> = counts.rejected.iter().collect();
            causes.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.count));
            let causes = causes.iter().take(3);
            let causes: Vec<String> = causes
                .map(|(cause, tally)| format!("{} as {cause}", number(tally.count)))
                .collect();
            sentences.push(format!(
                "{} ({}) {} rejected: {}.",
                counted(rejected, "page", "pages"),
                part_of(rejected, profile.all_pages),
                if rejected == 1 { "was" } else { "were" },
                causes.join(", ")
            ));
        }
        let damaged: u64 = counts.damaged.values().map(|tally| tally.count).sum();
        if damaged > 0 {
            sentences.push(format!(
                "{} of the input could not be read.",
                counted(damaged, "record", "records")
            ));
        }
        sentences
    }

    /// The numbers that say most.
    pub fn headlines(&self) -> Vec<Headline> {
        let pages = Headline::new(number(self.profile.pages), "pages");
        let others = self
            .chapters
            .iter()
            .flat_map(|chapter| &chapter.section.headlines);
        std::iter::once(pages).chain(others.cloned()).collect()
    }

    /// The figures with the names of their files, which no two share.
    pub fn drawings(&self) -> impl Iterator<Item = (String, &Drawing)> {
        self.chapters.iter().flat_map(|chapter| {
            let drawings = chapter.drawings.iter();
            drawings.map(|drawing| {
                (
                    format!("{}-{}", chapter.analysis.name(), drawing.name),
                    drawing,
                )
            })
        })
    }

    /// The page.
    pub fn html(&self) -> String {
        html::page(self)
    }
}

//! Builds the report of a corpus from the results of its analyses.
//!
//! Without the time at which it is made ([`ReportOptions::time`]), a report depends on the results
//! alone: an interrupted scan that was resumed gives the same bytes.

use cento_find::{CorpusPages, Result};
use cento_report::format::{counted, number, part_of, plural, size};
use cento_report::{Chapter, Drawing, Headline, Report, SkippedNotice};

use crate::analysis::{SectionInput, recorded_command};
use crate::profile::{MAX_NAMES, Profile};
use crate::scan::{FinishedAnalysis, SkippedAnalysis};

/// Causes of rejection that are named.
const CAUSES: usize = 3;

/// Inputs that are named.
const INPUTS: usize = 3;

/// How a report is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// The most rows of a table.
    pub top: usize,
    /// The time at which it is made, in milliseconds since 1970, to be shown.
    pub time: Option<i64>,
    /// The command that makes it, quoted for a shell; empty if there is none.
    pub command: String,
}

/// Summarises the results of all analyses.
pub fn build_report(
    source: &CorpusPages,
    corpus: &str,
    profile: &Profile,
    finished: &[FinishedAnalysis],
    skipped: &[SkippedAnalysis],
    options: &ReportOptions,
) -> Result<Report> {
    let mut chapters = Vec::new();
    for FinishedAnalysis {
        analysis, findings, ..
    } in finished
    {
        let input = SectionInput {
            source,
            corpus,
            findings,
            profile,
            top: options.top,
        };
        let mut section = analysis.summarise(&input)?;
        let mut drawings = analysis.figures(findings)?;
        drawings.retain(Drawing::has_content);
        let (small, drawings): (Vec<Drawing>, Vec<Drawing>) =
            drawings.into_iter().partition(Drawing::is_too_small);
        // If nothing was found, a sentence says so.
        if section.absent.is_none() {
            section.tables.extend(small.iter().map(Drawing::table));
        }
        let [title, question] = analysis.heading(&findings.record.parameters);
        let run_by = &findings.record.request.command;
        chapters.push(Chapter {
            id: analysis.name().to_owned(),
            title,
            question,
            run_by: Some(run_by.clone())
                .filter(|run_by| !run_by.is_empty() && *run_by != options.command),
            command: recorded_command(*analysis, corpus, findings),
            results: findings.path.display().to_string(),
            section,
            drawings,
        });
    }
    let skipped = skipped.iter().map(|skipped| SkippedNotice {
        title: skipped.analysis.title().to_owned(),
        reason: skipped.reason.clone(),
    });
    let pages = plural(profile.pages, "page", "pages");
    Ok(Report {
        corpus: corpus.to_owned(),
        made: made(source, profile, options)?,
        command: options.command.clone(),
        introduction: introduction(profile),
        headlines: vec![Headline::new(number(profile.pages), pages)],
        root: profile.root.clone(),
        chapters,
        skipped: skipped.collect(),
    })
}

/// Says when a report was made, by which version, and from which inputs.
fn made(source: &CorpusPages, profile: &Profile, options: &ReportOptions) -> Result<Vec<String>> {
    let version = env!("CARGO_PKG_VERSION");
    let mut names = Vec::new();
    for corpus in source.corpora() {
        names.extend(corpus.inputs()?.into_iter().map(|(_, name)| name));
    }
    let mut shown: Vec<&str> = names.iter().take(INPUTS).map(String::as_str).collect();
    let more = format!("{} more", number(names.len().saturating_sub(INPUTS) as u64));
    if names.len() > INPUTS {
        shown.push(&more);
    }
    Ok(vec![
        match options.time {
            Some(millis) => {
                let time = cento_text::date::render(millis);
                let (day, rest) = time.split_once('T').unwrap_or((&time, ""));
                let minutes = rest.get(..5).unwrap_or_default();
                format!("Made on {day} at {minutes} UTC with cento {version}.")
            }
            None => format!("Made with cento {version}."),
        },
        format!(
            "From {} of {}: {}.",
            counted(profile.all_pages, "page", "pages"),
            counted(names.len() as u64, "input", "inputs"),
            shown.join(", ")
        ),
    ])
}

/// Describes the corpus in sentences.
fn introduction(profile: &Profile) -> Vec<String> {
    let counts = &profile.counts;
    let mut sentences = vec![match profile.pages {
        0 => "No page has text.".to_owned(),
        _ => format!(
            "{}{}: {} of text, {}.",
            counted(profile.pages, "page", "pages"),
            hosts(profile),
            size(counts.text_bytes),
            counted(counts.words, "word", "words")
        ),
    }];
    let folder = profile.root.rsplit_once('/').map(|(folder, _)| folder);
    if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
        sentences.push(format!("Paths are relative to {folder}."));
    }
    let rejected: u64 = counts.rejected.values().map(|tally| tally.count).sum();
    if rejected > 0 {
        let mut causes: Vec<_> = counts.rejected.iter().collect();
        causes.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.count));
        let named = causes.iter().take(CAUSES);
        let mut named: Vec<String> = named
            .map(|(cause, tally)| format!("{cause} ({})", number(tally.count)))
            .collect();
        if causes.len() > CAUSES {
            named.push("other causes".to_owned());
        }
        sentences.push(format!(
            "{} ({}) {} rejected: {}.",
            counted(rejected, "page", "pages"),
            part_of(rejected, profile.all_pages),
            plural(rejected, "was", "were"),
            named.join(", ")
        ));
    }
    let damaged: u64 = counts.damaged.values().map(|tally| tally.count).sum();
    if damaged > 0 {
        sentences.push(format!(
            "{} of the input could not be read.",
            counted(damaged, "record", "records")
        ));
    }
    let dates = counts.unread_dates.count;
    if dates > 0 {
        sentences.push(format!(
            "{} of publication {} not understood; these pages count as undated.",
            counted(dates, "date", "dates"),
            plural(dates, "was", "were")
        ));
    }
    sentences
}

/// Describes where the pages are from.
fn hosts(profile: &Profile) -> String {
    let at_least = |count: u64, one: &str, many: &str| match count {
        MAX_NAMES.. => format!("at least {}", counted(count, one, many)),
        _ => counted(count, one, many),
    };
    let of_them = match profile.with_host {
        0 => return " without host names".to_owned(),
        some if some < profile.pages => format!(", {} of them", number(some)),
        _ => String::new(),
    };
    match profile.hosts {
        1 => format!("{of_them} from one host"),
        hosts => format!(
            "{of_them} from {} in {}",
            at_least(hosts, "host", "hosts"),
            at_least(profile.domains, "domain", "domains")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_introduction_is_true_and_grammatical_for_any_number_of_pages_and_hosts() {
        let first = |pages: u64, with_host: u64, hosts: u64| {
            let mut profile = Profile {
                pages,
                with_host,
                hosts,
                domains: hosts.min(2),
                ..Profile::default()
            };
            profile.counts.words = pages;
            introduction(&profile).remove(0)
        };
        assert_eq!(first(0, 0, 0), "No page has text.");
        assert_eq!(
            first(1, 0, 0),
            "1 page without host names: 0 B of text, 1 word."
        );
        assert_eq!(
            first(2, 2, 1),
            "2 pages from one host: 0 B of text, 2 words."
        );
        assert_eq!(
            first(9, 5, 3),
            "9 pages, 5 of them from 3 hosts in 2 domains: 0 B of text, 9 words."
        );
        assert!(first(9_000_000, 9_000_000, MAX_NAMES).contains("at least 1,048,576 hosts"));
    }

    #[test]
    fn paths_are_relative_to_the_folder_of_all_pages() {
        let profile = Profile {
            pages: 2,
            root: "/data/docs/".to_owned(),
            ..Profile::default()
        };
        let sentences = introduction(&profile);
        assert_eq!(
            sentences.last().map(String::as_str),
            Some("Paths are relative to /data/docs.")
        );
    }
}

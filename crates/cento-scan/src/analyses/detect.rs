//! Where labels are, told; the figures are those of Ardi & Heidemann 2014, figures 12, 13 and 14.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_figure::{Axis, Figure, Format, Mark, Rule, Series};
use cento_find::detect::{
    DETECT, DetectParams, DetectSummary, LabelSet, LabelsUsed, detect, histograms, levels,
    thresholds,
};
use cento_find::discover::{DISCOVER, How, default_threshold, discover, write_labels};
use cento_find::labelling::stop_labels;
use cento_find::{CorpusPages, FINDINGS, Findings, Result, Workplace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::discover::blind;
use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{Row, first, first_that};
use crate::section::{Cell, Drawing, Headline, Next, Section, Table};
use crate::words::{counted, number, part_of, quoted};

/// The labels of a corpus itself, all of them, and without what looks like an idiom; beside the
/// findings they were made of.
const FOUND: &str = "found.labels";
const LOOKED_FOR: &str = "looked-for.labels";

/// `cento detect`.
pub struct Detect;

/// What is looked for.
#[derive(Serialize, Deserialize)]
struct Asked {
    #[serde(flatten)]
    params: DetectParams,
    /// The user's labels; those of blind discovery if there are none. Findings do not have it: they
    /// know labels by what they are.
    file: Option<PathBuf>,
}

/// Which labels were used, as findings have it.
#[derive(Deserialize)]
struct Used {
    labels: LabelsUsed,
}

impl Analysis for Detect {
    fn name(&self) -> &'static str {
        DETECT
    }

    fn title(&self) -> &'static str {
        "Pages and sites with labels"
    }

    fn question(&self) -> &'static str {
        "Which pages, folders and sites have the chunks that are multiplied, or those of your originals?"
    }

    fn weight(&self) -> u32 {
        5
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        Ok(json!(Asked {
            params: DetectParams::default(),
            file: corpus.labels.clone(),
        }))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        let asked: Asked = parameters(asked)?;
        let labels = match asked.file {
            Some(file) => file,
            None => own_labels(source, workplace)?,
        };
        detect(source, &LabelSet::open(&labels)?, &asked.params, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        let file = match parameters::<Used>(asked) {
            Ok(Used { labels }) => Some(file_of(corpus, &labels)),
            Err(_) => parameters::<Asked>(asked).ok().and_then(|asked| {
                let file = asked.file?;
                Some(file.display().to_string())
            }),
        };
        let Some(file) = file else {
            let discovering = Command::new("discover", corpus).option("-o", &FOUND, &"");
            let discovering = discovering.flag("--stop-proposed", true).end();
            let detecting = Command::new("detect", corpus).option("--labels", &FOUND, &"");
            return format!("{discovering} && {}", detecting.end());
        };
        let params: DetectParams = parameters(asked).unwrap_or_default();
        let share = |share: Option<f64>| share.map_or(String::new(), |share| share.to_string());
        let mut command = Command::new("detect", corpus).option("--labels", &file.as_str(), &"");
        for (name, value) in [
            ("--page-threshold", params.page_threshold),
            ("--mean-threshold", params.mean_threshold),
            ("--ratio-threshold", params.ratio_threshold),
            ("--fuzzy", params.fuzzy),
        ] {
            command = command.option(name, &share(value), &String::new());
        }
        for own in &params.own {
            command = command.option("--own", own, &String::new());
        }
        command
            .option("--depth", &params.depth.unwrap_or(0), &0)
            .flag("--no-stop", params.no_stop)
            .end()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        figures(findings)
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let counts: DetectSummary = told.findings.summary()?;
        let asked: DetectParams = parameters(&told.findings.record.parameters)?;
        let mut section = Section::default();
        if counts.matched == 0 {
            let labels = &told.findings.record.parameters["labels"]["count"];
            section.sentences.push(match labels.as_u64() {
                Some(0) => "There were no labels to look for.".to_owned(),
                Some(1) => "The one label that was looked for is on no page.".to_owned(),
                Some(some) => format!(
                    "None of the {} labels that were looked for is on any page.",
                    number(some)
                ),
                None => "No label is on any page.".to_owned(),
            });
            return Ok(section);
        }
        section.sentences.push(format!(
            "{} of {} ({}) have labels: {} of their chunks, with repeats.",
            number(counts.matched_pages),
            counted(counts.pages, "page", "pages"),
            part_of(counts.matched_pages, counts.pages),
            number(counts.matched)
        ));
        if let Some(limit) = thresholds(told.findings)?
            .iter()
            .find(|row| row.score == "page")
        {
            section.sentences.push(format!(
                "{} of {} {} a larger share of labels than {:.1} %{}.",
                number(counts.targets),
                counted(counts.scored, "page", "pages"),
                if counts.targets == 1 { "has" } else { "have" },
                100.0 * limit.threshold,
                rule(asked.page_threshold)
            ));
        }
        section.sentences.push(match counts.flagged {
            0 => format!(
                "None of {} stands out by its share of labels.",
                counted(counts.neighbourhoods, "neighbourhood", "neighbourhoods")
            ),
            some => format!(
                "{} of {} {} by {} share of labels{}, {}. It says that text is repeated there, and not why: \
                 templates and mirrors stand out too.",
                number(some),
                counted(counts.neighbourhoods, "neighbourhood", "neighbourhoods"),
                if some == 1 { "stands out" } else { "stand out" },
                if some == 1 { "its" } else { "their" },
                rule(asked.mean_threshold.or(asked.ratio_threshold)),
                match counts.flagged_sites {
                    0 => "none of them a whole site".to_owned(),
                    sites => format!(
                        "{} of them whole sites of {}",
                        number(sites),
                        number(counts.sites)
                    ),
                }
            ),
        });
        if counts.common_chunks > counts.attributed_common_chunks {
            section.sentences.push(format!(
                "{} of the chunks are on more than 256 originals each, and attributed to none of them.",
                number(counts.common_chunks - counts.attributed_common_chunks)
            ));
        }
        section.headlines.push(Headline::new(
            number(counts.flagged),
            "neighbourhoods stand out by their labels",
        ));
        let worst = first_that(told.findings, "neighbourhoods", told.top, |row| {
            row.holds("flagged")
        })?;
        if !worst.is_empty() {
            section.tables.push(neighbourhoods(
                "neighbourhoods that stand out, by labels in them",
                &worst,
                counts.flagged,
            ));
        }
        if counts.sites > 1 {
            let sites = first(told.findings, "sites", told.top)?;
            section.tables.push(neighbourhoods(
                "sites with most labels",
                &sites,
                counts.matched_sites,
            ));
        }
        let copied = first(told.findings, "copied", told.top)?;
        if !copied.is_empty() {
            section.tables.push(from_originals(&copied));
        }
        section.next.push(Next {
            command: format!(
                "cento detect {} --against ORIGINALS --own MY.DOMAIN",
                quoted(told.corpus)
            ),
            why: "find where pages of yours are found again".to_owned(),
        });
        Ok(section)
    }
}

/// Where a threshold comes from, if nobody gave it.
fn rule(given: Option<f64>) -> &'static str {
    match given {
        Some(_) => "",
        None => " (more than the mean of all plus one standard deviation)",
    }
}

/// Labels of what is multiplied in a corpus, without what is short, has no words, or is short
/// enough to be an idiom that many domains have: nobody has reviewed that. A chunk that says
/// something is always looked for.
fn own_labels(source: &Arc<CorpusPages>, workplace: &Workplace) -> Result<PathBuf> {
    let corpora = source.corpora();
    let made = corpora.first().map(|corpus| corpus.parameters().clone());
    let parts = corpora.iter().flat_map(|corpus| &corpus.manifest().parts);
    let chunks = parts.map(|part| part.counts.chunks).sum();
    let how = How::Threshold(default_threshold(chunks));
    let params = blind(&made.unwrap_or_default(), how);
    let findings = discover(source, &params, workplace)?;
    let (found, looked_for) = (findings.path.join(FOUND), findings.path.join(LOOKED_FOR));
    write_labels(&findings, &params, &found)?;
    stop_labels(&found, &looked_for, |row| row.proposed.is_some())?;
    Ok(looked_for)
}

/// The file of labels that were used, if they are those that a corpus has of itself.
fn file_of(corpus: &str, used: &LabelsUsed) -> String {
    let runs = std::fs::read_dir(Path::new(corpus).join(FINDINGS).join(DISCOVER));
    let runs = runs.into_iter().flatten().flatten();
    let mut files = runs.map(|run| run.path().join(LOOKED_FOR));
    let same = |file: &PathBuf| LabelSet::open(file).is_ok_and(|set| set.used() == used);
    let file = files.find(|file| file.is_file() && same(file));
    file.map_or("LABELS".to_owned(), |file| file.display().to_string())
}

fn neighbourhoods(title: &str, rows: &[Row], all: u64) -> Table {
    let columns = [
        "neighbourhood",
        "labels",
        "chunks",
        "pages",
        "mean",
        "ratio",
    ];
    Table {
        title: title.to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    Cell::Address(row.word("site").to_owned()),
                    Cell::Count(row.count("matched")),
                    Cell::Count(row.count("chunks")),
                    Cell::Count(row.count("pages")),
                    Cell::Share(row.real("mean")),
                    Cell::Share(row.real("ratio")),
                ]
            })
            .collect(),
    }
}

fn from_originals(rows: &[Row]) -> Table {
    let columns = ["site", "original", "pages", "chunks", "of the original"];
    Table {
        title: "originals, and the sites that have chunks of them".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        more: 0,
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    Cell::Text(row.word("site").to_owned()),
                    Cell::Address(row.word("original").to_owned()),
                    Cell::Count(row.count("pages")),
                    Cell::Count(row.count("chunks")),
                    Cell::Share(row.real("of_original")),
                ]
            })
            .collect(),
    }
}

/// Shares of labels in neighbourhoods, as a histogram and as a cumulative distribution, and what
/// pages contain.
fn figures(findings: &Findings) -> Result<Vec<Drawing>> {
    let bins = histograms(findings)?;
    let limits = thresholds(findings)?;
    let of = |score: &'static str| bins.iter().filter(move |bin| bin.score == score);
    let named = [("mean", "mean of pages"), ("ratio", "ratio of all chunks")];
    let x = |label: &str| {
        Axis::linear(label)
            .format(Format::Share)
            .covering(0.0)
            .covering(1.0)
    };
    let all: u64 = of("mean").map(|bin| bin.objects).sum();
    let mut histogram = Figure::new(
        "How much of a neighbourhood are labels?",
        x("Share of labels (the paper's badness)"),
        Axis::log10("Neighbourhoods").format(Format::Count),
    )
    .caption(format!(
        "{} neighbourhoods, at all levels, by the share of labels in them. Those right of the line are flagged.",
        number(all)
    ));
    let mut cumulative = Figure::new(
        "How many neighbourhoods have no larger share?",
        x("Share of labels (the paper's badness)"),
        Axis::linear("Share of neighbourhoods")
            .format(Format::Share)
            .covering(0.0)
            .covering(1.0),
    )
    .caption("The share of neighbourhoods whose share of labels is at most this.");
    for (score, name) in named {
        let bars = of(score)
            .filter(|bin| bin.objects > 0)
            .map(|bin| (bin.begin, bin.end, bin.objects as f64));
        histogram = histogram.series(Series::histogram(name, bars));
        let mut sum = 0;
        let steps: Vec<(f64, f64)> = of(score)
            .map(|bin| {
                sum += bin.objects;
                (bin.end, sum as f64 / all.max(1) as f64)
            })
            .collect();
        cumulative = cumulative.series(Series::new(name, Mark::Steps, steps));
        if let Some(limit) = limits.iter().find(|row| row.score == score) {
            let label = format!("{score}: {:.3}", limit.threshold);
            histogram = histogram.rule(Rule::vertical(limit.threshold, label.clone()));
            cumulative = cumulative.rule(Rule::vertical(limit.threshold, label));
        }
    }
    let pages: u64 = of("page").map(|bin| bin.objects).sum();
    let bars = of("page")
        .filter(|bin| bin.objects > 0)
        .map(|bin| (bin.begin, bin.end, bin.objects as f64));
    let mut contained = Figure::new(
        "How much of a page are labels?",
        x("Share of its chunks that are labels"),
        Axis::log10("Pages").format(Format::Count),
    )
    .caption(format!(
        "{} pages by the share of their chunks that are labels.",
        number(pages)
    ))
    .series(Series::histogram("pages", bars));
    if let Some(limit) = limits.iter().find(|row| row.score == "page") {
        contained = contained.rule(Rule::vertical(
            limit.threshold,
            format!("targets: above {:.3}", limit.threshold),
        ));
    }
    let levels = levels(findings)?;
    let lengths = Figure::new(
        "How long are the prefixes of neighbourhoods?",
        Axis::linear("Levels: a host has 1, a folder of it 2").format(Format::Count),
        Axis::log10("Neighbourhoods").format(Format::Count),
    )
    .caption(format!(
        "{} neighbourhoods by the number of their levels. Recursion errors are not among them: pages that a crawler found by going in circles are rejected when they are indexed.",
        number(all)
    ))
    .series(Series::new(
        "neighbourhoods",
        Mark::Points,
        levels
            .iter()
            .map(|level| (f64::from(level.depth), level.neighbourhoods as f64))
            .collect::<Vec<_>>(),
    ));
    Ok(vec![
        Drawing::new("badness", histogram),
        Drawing::new("badness-cumulative", cumulative),
        Drawing::new("contained", contained),
        Drawing::new("prefix-lengths", lengths),
    ])
}

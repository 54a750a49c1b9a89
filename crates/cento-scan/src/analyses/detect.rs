//! Pages and sites with repeated chunks, with figures 12 to 14 of Ardi & Heidemann 2014.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Rule, Series};
use cento_find::detect::{
    COPIED_TABLE, CopiedRow, DETECT, DetectParams, DetectSummary, LabelSet, LabelsUsed,
    NEIGHBOURHOODS_TABLE, NeighbourhoodRow, SITES_TABLE, detect, histograms, levels, thresholds,
};
use cento_find::discover::{DISCOVER, How, default_threshold, discover, write_labels};
use cento_find::labelling::stop_labels;
use cento_find::{CorpusPages, FINDINGS, Findings, Result, Workplace};
use cento_labels::LabelKind;
use cento_report::format::{counted, number, part_of, percent, plural, quoted};
use cento_report::{Drawing, Headline, ReportCell, ReportTable, Section, Suggestion};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::columns;
use super::discover::blind;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::{first, first_that};

/// The labels that were discovered in the corpus itself, in the folder of their discovery: all of
/// them, and without those that look like boilerplate.
const FOUND: &str = "found.labels";
const SEARCHED: &str = "looked-for.labels";

/// `cento detect`.
pub struct Detect;

/// The parameters of the analysis before it runs.
#[derive(Serialize, Deserialize)]
struct DetectSettings {
    #[serde(flatten)]
    params: DetectParams,
    /// The labels of the user, or none for those that are discovered in the corpus. Results do not
    /// have it: they identify labels by their contents.
    file: Option<PathBuf>,
}

/// The labels that were used, as in the parameters of results.
#[derive(Deserialize)]
struct UsedLabels {
    labels: LabelsUsed,
}

impl UsedLabels {
    fn of(&self) -> LabelKind {
        self.labels.recipe.of
    }
}

impl Analysis for Detect {
    fn name(&self) -> &'static str {
        DETECT
    }

    fn title(&self) -> &'static str {
        "Pages and sites with repeated chunks"
    }

    fn question(&self) -> &'static str {
        "Which pages, folders and sites contain chunks that are frequent, or that are in your originals?"
    }

    fn heading(&self, parameters: &Value) -> [String; 2] {
        match parse_parameters::<UsedLabels>(parameters).map(|used| used.of()) {
            Ok(LabelKind::Files) => [
                "Pages and sites with repeated files".to_owned(),
                "Which pages, folders and sites have files that are frequent, or that are in your originals?"
                    .to_owned(),
            ],
            _ => [self.title().to_owned(), self.question().to_owned()],
        }
    }

    fn weight(&self) -> u32 {
        2
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        Ok(json!(DetectSettings {
            params: DetectParams::default(),
            file: corpus.labels.clone(),
        }))
    }

    fn inputs(&self, parameters: &Value) -> Vec<String> {
        let settings = parse_parameters::<DetectSettings>(parameters);
        match settings.ok().and_then(|settings| settings.file) {
            Some(file) => vec!["--labels".to_owned(), quoted(&file.display().to_string())],
            None => Vec::new(),
        }
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        let settings: DetectSettings = parse_parameters(parameters)?;
        let labels = match settings.file {
            Some(file) => file,
            None => own_labels(source, workplace)?,
        };
        detect(
            source,
            &LabelSet::open(&labels)?,
            &settings.params,
            workplace,
        )
    }

    fn command(&self, corpus: &str, parameters: &Value, inputs: &[String]) -> String {
        // The parameters identify labels by their content.
        let is_named = inputs
            .iter()
            .any(|word| matches!(word.as_str(), "--labels" | "--against"));
        if is_named {
            let params: DetectParams = parse_parameters(parameters).unwrap_or_default();
            let command = CommandLine::new("detect", corpus).inputs(inputs);
            return with_parameters(command, &params);
        }
        let file = match parse_parameters::<UsedLabels>(parameters) {
            Ok(UsedLabels { labels }) => Some(file_of(corpus, &labels)),
            Err(_) => parse_parameters::<DetectSettings>(parameters)
                .ok()
                .and_then(|settings| {
                    let file = settings.file?;
                    Some(file.display().to_string())
                }),
        };
        let Some(file) = file else {
            let discovering = CommandLine::new("discover", corpus).option("-o", &FOUND, &"");
            let discovering = discovering.flag("--stop-proposed", true).finish();
            let detecting = CommandLine::new("detect", corpus).option("--labels", &FOUND, &"");
            return format!("{discovering} && {}", detecting.finish());
        };
        let params: DetectParams = parse_parameters(parameters).unwrap_or_default();
        let command = CommandLine::new("detect", corpus).option("--labels", &file.as_str(), &"");
        with_parameters(command, &params)
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        figures(findings)
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: DetectSummary = input.findings.summary()?;
        let params: DetectParams = parse_parameters(&input.findings.record.parameters)?;
        let mut section = Section::default();
        let used: UsedLabels = parse_parameters(&input.findings.record.parameters)?;
        let are_own = own_file(input.corpus, &used.labels).is_some();
        if summary.matched == 0 {
            section.sentences.push(match used.labels.count {
                0 if are_own => {
                    "There were no labels to search for: there are no frequent chunks, apart \
                                 from those that look like boilerplate."
                        .to_owned()
                }
                0 => "There were no labels to search for.".to_owned(),
                1 => "The only label is on no page.".to_owned(),
                some => format!("None of the {} labels is on any page.", number(some)),
            });
            return Ok(section);
        }
        let sites = Sites::read(input.findings, &input.profile.folders, input.top)?;
        let limits = thresholds(input.findings)?;
        let limit = limits.iter().find(|row| row.score == "page");
        let limit = limit.map(|row| row.threshold);
        let searched = are_own.then_some(used.labels.count);
        let of = used.of();
        section.sentences = sentences(&summary, of, searched, &sites, limit);
        section.notes = notes(&params, of);
        section.headlines.push(Headline::new(
            number(summary.flagged),
            format!(
                "{} by repeated {of}",
                plural(
                    summary.flagged,
                    "neighbourhood stands out",
                    "neighbourhoods stand out"
                )
            ),
        ));
        let neighbourhoods = input.findings.rows(NEIGHBOURHOODS_TABLE)?;
        let flagged = first_that(neighbourhoods, input.top, |row| row.flagged)?;
        if !flagged.is_empty() {
            section.tables.push(neighbourhood_table(
                "neighbourhoods that stand out",
                of,
                flagged,
                summary.flagged,
            ));
        }
        if input.profile.hosts > 1 && !sites.first.is_empty() {
            let title = format!("sites with the most repeated {of}");
            let table = neighbourhood_table(&title, of, sites.first, sites.matched);
            section.tables.push(table);
        }
        let copied = first(input.findings.rows(COPIED_TABLE)?, input.top)?;
        if !copied.is_empty() {
            let mut all: u64 = 0;
            for row in input.findings.rows(COPIED_TABLE)? {
                row?;
                all += 1;
            }
            section.tables.push(originals_table(copied, of, all));
        }
        let inputs = &input.findings.record.request.inputs;
        if !inputs.iter().any(|word| word == "--against") {
            section.suggestions.push(Suggestion {
                command: format!(
                    "cento detect {} --against ORIGINALS --own MY.DOMAIN",
                    quoted(input.corpus)
                ),
                purpose: "search for copies of your own pages".to_owned(),
            });
        }
        Ok(section)
    }
}

/// Adds the options of these parameters to a command.
fn with_parameters(mut command: CommandLine, params: &DetectParams) -> String {
    let share = |share: Option<f64>| share.map_or(String::new(), |share| share.to_string());
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
        .flag("--count-stops", params.no_stop)
        .finish()
}

/// The websites that have labels. The table of sites also lists the top-level folders of files,
/// which are not websites.
#[derive(Default)]
struct Sites {
    first: Vec<NeighbourhoodRow>,
    matched: u64,
    flagged: u64,
}

impl Sites {
    fn read(findings: &Findings, folders: &BTreeSet<String>, top: usize) -> Result<Sites> {
        let mut sites = Sites::default();
        for site in findings.rows(SITES_TABLE)? {
            let site = site?;
            if folders.contains(&site.site) {
                continue;
            }
            sites.matched += 1;
            sites.flagged += u64::from(site.flagged);
            if sites.first.len() < top {
                sites.first.push(site);
            }
        }
        Ok(sites)
    }
}

/// `searched` is the number of labels that a scan discovered itself.
fn sentences(
    summary: &DetectSummary,
    of: LabelKind,
    searched: Option<u64>,
    sites: &Sites,
    limit: Option<f64>,
) -> Vec<String> {
    let of_searched = match searched {
        None => String::new(),
        Some(1) => ", of the only frequent one that does not look like boilerplate".to_owned(),
        Some(searched) => format!(
            ", of the {} frequent ones that do not look like boilerplate",
            number(searched)
        ),
    };
    let pages = format!(
        "{} of {} ({})",
        number(summary.matched_pages),
        counted(summary.pages, "page", "pages"),
        part_of(summary.matched_pages, summary.pages),
    );
    let mut sentences = vec![match of {
        LabelKind::Chunks => format!(
            "{pages} {} repeated chunks: {} in total{of_searched}.",
            plural(summary.matched_pages, "has", "have"),
            counted(summary.matched, "chunk", "chunks"),
        ),
        LabelKind::Files => format!(
            "{pages} {}{of_searched}.",
            plural(
                summary.matched_pages,
                "is a repeated file",
                "are repeated files"
            ),
        ),
    }];
    // A page is one file.
    if let Some(limit) = limit.filter(|_| of == LabelKind::Chunks) {
        let shown = percent(limit);
        sentences.push(match summary.targets {
            0 if limit >= 1.0 => {
                "No page stands out: the threshold of its share of repeated chunks is at least \
                 100 %."
                    .to_owned()
            }
            0 => format!("There is no page on which more than {shown} of the chunks are repeated."),
            some => format!(
                "On {}, more than {shown} of the chunks are repeated.",
                counted(some, "page", "pages")
            ),
        });
    }
    sentences.push(match summary.flagged {
        0 => format!(
            "No neighbourhood stands out by its share of repeated {of} ({} compared).",
            number(summary.neighbourhoods)
        ),
        some => format!(
            "{} of {} {} by {} share of repeated {of}{}. This shows that text is repeated, not \
             why: templates and mirrors stand out too.",
            number(some),
            counted(summary.neighbourhoods, "neighbourhood", "neighbourhoods"),
            plural(some, "stands out", "stand out"),
            plural(some, "its", "their"),
            match sites.flagged {
                0 => String::new(),
                1 => ", including 1 whole site".to_owned(),
                sites => format!(", including {} whole sites", number(sites)),
            }
        ),
    });
    let unattributed = summary
        .common_chunks
        .saturating_sub(summary.attributed_common_chunks);
    if unattributed > 0 {
        sentences.push(format!(
            "{} on more than 256 originals {} not attributed to any of them.",
            match of {
                LabelKind::Chunks => counted(unattributed, "repeated chunk", "repeated chunks"),
                LabelKind::Files => counted(unattributed, "repeated file", "repeated files"),
            },
            plural(unattributed, "is", "are"),
        ));
    }
    sentences
}

/// The definitions of the terms in the sentences and tables.
fn notes(params: &DetectParams, of: LabelKind) -> Vec<String> {
    let (one, often) = match of {
        LabelKind::Chunks => ("chunk", ", on one page or on many"),
        LabelKind::Files => ("file", ""),
    };
    let mut notes = vec![format!(
        "A {one} counts as repeated if it is a label: a {one} that occurs often in the corpus{often}, \
         or a {one} of your originals or of your file of labels. A neighbourhood is a site, or a \
         folder of a site. Its mean is the average of its pages' shares of repeated {of}; its ratio \
         is the share of repeated {of} among all of its {of}."
    )];
    let of_pages = params.page_threshold.is_none();
    let of_neighbourhoods = params.mean_threshold.or(params.ratio_threshold).is_none();
    let what = match (of_pages, of_neighbourhoods) {
        (true, true) => "pages and neighbourhoods",
        (true, false) => "pages",
        (false, true) => "neighbourhoods",
        (false, false) => return notes,
    };
    notes.push(format!(
        "The thresholds of {what} are the mean of all plus one standard deviation."
    ));
    notes
}

/// Discovers labels in the corpus itself, without those that look like boilerplate: nobody has
/// reviewed them.
fn own_labels(source: &Arc<CorpusPages>, workplace: &Workplace) -> Result<PathBuf> {
    let corpora = source.corpora();
    let parameters = corpora.first().map(|corpus| corpus.parameters().clone());
    let parts = corpora.iter().flat_map(|corpus| &corpus.manifest().parts);
    let chunks = parts.map(|part| part.counts.chunks).sum();
    let how = How::Threshold(default_threshold(chunks));
    let params = blind(&parameters.unwrap_or_default(), how);
    let findings = discover(source, &params, &workplace.for_step())?;
    let (found, searched) = (findings.path.join(FOUND), findings.path.join(SEARCHED));
    write_labels(&findings, &params, &found)?;
    stop_labels(&found, &searched, |row| row.proposed.is_some())?;
    Ok(searched)
}

/// Returns the file of the labels that were used, if they were discovered in the corpus itself, or
/// a placeholder.
fn file_of(corpus: &str, used: &LabelsUsed) -> String {
    let file = own_file(corpus, used);
    file.map_or("LABELS".to_owned(), |file| file.display().to_string())
}

/// Returns the file of the labels that were used, if a scan discovered them in the corpus itself.
fn own_file(corpus: &str, used: &LabelsUsed) -> Option<PathBuf> {
    let runs = std::fs::read_dir(Path::new(corpus).join(FINDINGS).join(DISCOVER));
    let runs = runs.into_iter().flatten().flatten();
    let mut files = runs.map(|run| run.path().join(SEARCHED));
    let same = |file: &PathBuf| LabelSet::open(file).is_ok_and(|set| set.used() == used);
    files.find(|file| file.is_file() && same(file))
}

fn neighbourhood_table(
    title: &str,
    of: LabelKind,
    rows: Vec<NeighbourhoodRow>,
    all: u64,
) -> ReportTable {
    ReportTable {
        title: title.to_owned(),
        columns: columns([
            "neighbourhood",
            &format!("repeated {of}"),
            of.name(),
            "pages",
            "mean",
            "ratio",
        ]),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .into_iter()
            .map(|row| {
                vec![
                    ReportCell::Address(row.site),
                    ReportCell::Count(row.matched),
                    ReportCell::Count(row.chunks),
                    ReportCell::Count(row.pages),
                    ReportCell::Share(row.mean),
                    ReportCell::Share(row.ratio),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

fn originals_table(rows: Vec<CopiedRow>, of: LabelKind, all: u64) -> ReportTable {
    ReportTable {
        title: format!("sites with {of} of the originals"),
        columns: columns(["site", "original", "pages", of.name(), "% of the original"]),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .into_iter()
            .map(|row| {
                vec![
                    ReportCell::Text(row.site),
                    ReportCell::Address(row.original),
                    ReportCell::Count(row.pages),
                    ReportCell::Count(row.chunks),
                    ReportCell::Share(row.of_original),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

/// Draws the shares of repeated chunks in neighbourhoods and pages, and the levels of
/// neighbourhoods.
fn figures(findings: &Findings) -> Result<Vec<Drawing>> {
    let used: UsedLabels = parse_parameters(&findings.record.parameters)?;
    let kind = used.of();
    let ratio = format!("ratio of all {kind}");
    let bins = histograms(findings)?;
    let limits = thresholds(findings)?;
    let of = |score: &'static str| bins.iter().filter(move |bin| bin.score == score);
    let named = [("mean", "mean of the pages"), ("ratio", ratio.as_str())];
    let x = |label: &str| {
        Axis::linear(label)
            .format(NumberFormat::Share)
            .covering(0.0)
            .covering(1.0)
    };
    let all: u64 = of("mean").map(|bin| bin.objects).sum();
    let mut histogram = Figure::new(
        "What share of each neighbourhood is repeated?",
        x(&format!("Share of repeated {kind} (badness in the paper)")),
        Axis::log10("Neighbourhoods").format(NumberFormat::Count),
    )
    .caption(format!(
        "{} at all levels, by share of repeated {kind}. Those to the right of a line are flagged.",
        counted(all, "neighbourhood", "neighbourhoods")
    ));
    let mut cumulative = Figure::new(
        format!("How are the shares of repeated {kind} distributed?"),
        x(&format!("Share of repeated {kind} (badness in the paper)")),
        Axis::linear("Share of neighbourhoods")
            .format(NumberFormat::Share)
            .covering(0.0)
            .covering(1.0),
    )
    .caption(format!(
        "The share of neighbourhoods with at most this share of repeated {kind}."
    ));
    for (score, name) in named {
        let bars = of(score)
            .filter(|bin| bin.objects > 0)
            .map(|bin| (bin.begin, bin.end, bin.objects as f64));
        histogram = histogram.series(Series::histogram(name, bars));
        let edges = of(score).map(|bin| bin.end);
        let steps = at_most(findings, score, edges.collect(), all)?;
        cumulative = cumulative.series(Series::new(name, Mark::Steps, steps));
        if let Some(limit) = limits.iter().find(|row| row.score == score) {
            let label = format!("{score}: {}", percent(limit.threshold));
            histogram = histogram.rule(Rule::vertical(limit.threshold, label.clone()));
            cumulative = cumulative.rule(Rule::vertical(limit.threshold, label));
        }
    }
    let pages: u64 = of("page").map(|bin| bin.objects).sum();
    let bars = of("page")
        .filter(|bin| bin.objects > 0)
        .map(|bin| (bin.begin, bin.end, bin.objects as f64));
    let mut contained = Figure::new(
        "What share of each page is repeated?",
        x(&format!("Share of repeated {kind}")),
        Axis::log10("Pages").format(NumberFormat::Count),
    )
    .caption(format!(
        "{} by share of repeated {kind}.",
        counted(pages, "page", "pages")
    ))
    .series(Series::histogram("pages", bars));
    if let Some(limit) = limits.iter().find(|row| row.score == "page") {
        contained = contained.rule(Rule::vertical(
            limit.threshold,
            format!("targets: above {}", percent(limit.threshold)),
        ));
    }
    let levels = levels(findings)?;
    let lengths = Figure::new(
        "How deep are the neighbourhoods?",
        Axis::linear("Level: 1 for a host, 2 for a folder of it").format(NumberFormat::Count),
        Axis::log10("Neighbourhoods").format(NumberFormat::Count),
    )
    .caption(format!(
        "{} by level. Pages from crawler loops are not included, because they are rejected during indexing.",
        counted(all, "neighbourhood", "neighbourhoods")
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

/// Returns the share of all neighbourhoods with at most each of these scores, which are ascending.
/// The bins of the histogram do not say it: they exclude their ends.
fn at_most(
    findings: &Findings,
    score: &str,
    mut edges: Vec<f64>,
    all: u64,
) -> Result<Vec<(f64, f64)>> {
    edges.insert(0, 0.0);
    let mut counts = vec![0; edges.len()];
    let mut listed = 0;
    for row in findings.rows(NEIGHBOURHOODS_TABLE)? {
        let row = row?;
        let value = if score == "mean" { row.mean } else { row.ratio };
        let at = edges.partition_point(|&edge| edge < value);
        listed += 1;
        if let Some(count) = counts.get_mut(at) {
            *count += 1;
        }
    }
    // The table has only those with labels.
    let mut sum = all.saturating_sub(listed);
    let steps = edges.into_iter().zip(counts).map(|(edge, count)| {
        sum += count;
        (edge, sum as f64 / all.max(1) as f64)
    });
    Ok(steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(targets: u64, neighbourhoods: u64, flagged: u64) -> DetectSummary {
        DetectSummary {
            pages: 1000,
            matched_pages: 500,
            matched: 3000,
            targets,
            neighbourhoods,
            flagged,
            ..DetectSummary::default()
        }
    }

    #[test]
    fn sentences_are_grammatical_for_none_one_and_many() {
        let none = sentences(
            &summary(0, 1, 0),
            LabelKind::Chunks,
            None,
            &Sites::default(),
            Some(0.334),
        );
        assert_eq!(
            none,
            [
                "500 of 1,000 pages (50.0 %) have repeated chunks: 3,000 chunks in total.",
                "There is no page on which more than 33.4 % of the chunks are repeated.",
                "No neighbourhood stands out by its share of repeated chunks (1 compared).",
            ]
        );
        let above = sentences(
            &summary(0, 1, 0),
            LabelKind::Chunks,
            None,
            &Sites::default(),
            Some(1.144),
        );
        assert_eq!(
            above.get(1).map(String::as_str),
            Some(
                "No page stands out: the threshold of its share of repeated chunks is at least 100 %."
            )
        );
        let many = sentences(
            &summary(449, 12, 3),
            LabelKind::Chunks,
            None,
            &Sites::default(),
            Some(0.334),
        );
        assert_eq!(
            many.get(1).map(String::as_str),
            Some("On 449 pages, more than 33.4 % of the chunks are repeated.")
        );
        assert!(many[2].starts_with("3 of 12 neighbourhoods stand out by their share"));
        let one = sentences(
            &summary(1, 1, 1),
            LabelKind::Chunks,
            None,
            &Sites::default(),
            Some(0.334),
        );
        assert!(one[1].starts_with("On 1 page, more than"));
        assert!(one[2].starts_with("1 of 1 neighbourhood stands out by its share"));
    }
}

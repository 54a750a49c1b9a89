//! Scores content selection on labelled pages, following Scrapinghub's article extraction
//! benchmark.
//!
//! ```text
//! cargo run --release -p cento-text --example content_score [FOLDER] [--pages]
//! ```
//!
//! `FOLDER` contains `html/ID.html.gz` and `ground-truth.json`, which maps each id to its
//! `articleBody`. Each page's text is split into shingles of four words, which are compared as
//! multisets. Precision and recall are means over pages, and `F1` is computed from these means;
//! `page F1` is the mean over pages. Constants were tuned on the pages at even positions in the
//! order of ids; report the results of the others. `--pages` adds a line for each page.

use cento_text::content::{Selection, apply, select};
use cento_text::html::{Extractor, Options};
use flate2::read::GzDecoder;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

const DEFAULT_FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/article-extraction"
);
const SHINGLE_WORDS: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let mut folder = PathBuf::from(DEFAULT_FOLDER);
    let mut show_pages = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--pages" => show_pages = true,
            path => folder = PathBuf::from(path),
        }
    }
    if !folder.join("ground-truth.json").is_file() {
        println!(
            "no labelled pages in {}: nothing to score",
            folder.display()
        );
        return Ok(());
    }
    let pages = read_pages(&folder)?;
    println!("{} labelled pages, every second one held out", pages.len());
    println!("selection half      precision recall F1     page F1");
    for selection in Selection::EVERY {
        let scores: Vec<PageScore> = pages.iter().map(|page| score(page, selection)).collect();
        for (half, name) in ["tuned", "held out"].into_iter().enumerate() {
            let half: Vec<PageScore> = scores.iter().skip(half).step_by(2).copied().collect();
            let (precision, recall) = means(&half);
            println!(
                "{selection:<9} {name:<9} {precision:.4}    {recall:.4} {:.4} {:.4}",
                harmonic(precision, recall),
                mean(half.iter().map(PageScore::f1)),
            );
        }
        if show_pages {
            for (place, (page, score)) in pages.iter().zip(&scores).enumerate() {
                println!(
                    "  {selection} {place:>3} {:.12} {:.3} {:.3} {:.3} {}",
                    page.id,
                    score.precision(),
                    score.recall(),
                    score.f1(),
                    page.url
                );
            }
        }
    }
    time(&pages);
    Ok(())
}

struct LabelledPage {
    id: String,
    url: String,
    html: String,
    truth: Shingles,
}

fn read_pages(folder: &Path) -> Result<Vec<LabelledPage>, Box<dyn Error>> {
    let truths: BTreeMap<String, serde_json::Value> =
        serde_json::from_reader(File::open(folder.join("ground-truth.json"))?)?;
    truths
        .into_iter()
        .map(|(id, truth)| {
            let mut html = Vec::new();
            let file = File::open(folder.join("html").join(format!("{id}.html.gz")))?;
            GzDecoder::new(file).read_to_end(&mut html)?;
            let field = |name: &str| {
                truth
                    .get(name)
                    .and_then(|value| value.as_str())
                    .unwrap_or_default()
            };
            Ok(LabelledPage {
                truth: shingles(field("articleBody")),
                url: field("url").to_owned(),
                html: String::from_utf8_lossy(&html).into_owned(),
                id,
            })
        })
        .collect()
}

fn score(page: &LabelledPage, selection: Selection) -> PageScore {
    let mut extractor = Extractor::new();
    let extract = extractor.extract(&page.html, &Options { outline: true });
    let mut text = String::new();
    apply(&extract.text, &select(extract, selection), &mut text);
    compare(&page.truth, &shingles(&text))
}

/// How often each shingle occurs.
type Shingles = HashMap<Vec<String>, usize>;

/// Like Python's `\w+`: runs of letters and numbers by their general category (without combining
/// marks), and underscores. A text with fewer words than a shingle is one shingle.
fn shingles(text: &str) -> Shingles {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let in_word = |character: char| {
        let category = categories.get(character);
        character == '_'
            || GeneralCategoryGroup::Letter.contains(category)
            || GeneralCategoryGroup::Number.contains(category)
    };
    let words: Vec<&str> = text
        .split(|character| !in_word(character))
        .filter(|word| !word.is_empty())
        .collect();
    let mut shingles = Shingles::new();
    if !words.is_empty() {
        for shingle in words.windows(SHINGLE_WORDS.min(words.len())) {
            let shingle = shingle.iter().map(|&word| word.to_owned()).collect();
            *shingles.entry(shingle).or_default() += 1;
        }
    }
    shingles
}

#[derive(Clone, Copy)]
struct PageScore {
    both: usize,
    only_selected: usize,
    only_truth: usize,
}

fn compare(truth: &Shingles, selected: &Shingles) -> PageScore {
    let both = truth
        .iter()
        .map(|(shingle, &count)| count.min(selected.get(shingle).copied().unwrap_or_default()))
        .sum();
    PageScore {
        both,
        only_selected: selected.values().sum::<usize>() - both,
        only_truth: truth.values().sum::<usize>() - both,
    }
}

fn ratio(part: usize, rest: usize) -> f64 {
    if part == 0 {
        0.0
    } else {
        part as f64 / (part + rest) as f64
    }
}

fn harmonic(one: f64, other: f64) -> f64 {
    if one + other == 0.0 {
        0.0
    } else {
        2.0 * one * other / (one + other)
    }
}

impl PageScore {
    fn is_perfect(&self) -> bool {
        self.only_selected == 0 && self.only_truth == 0
    }

    fn precision(&self) -> f64 {
        if self.is_perfect() {
            1.0
        } else {
            ratio(self.both, self.only_selected)
        }
    }

    fn recall(&self) -> f64 {
        if self.is_perfect() {
            1.0
        } else {
            ratio(self.both, self.only_truth)
        }
    }

    fn f1(&self) -> f64 {
        harmonic(self.precision(), self.recall())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| {
        (sum + value, count + 1)
    });
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// As in the benchmark: a page from which nothing was selected has no precision, one without truth
/// no recall.
fn means(scores: &[PageScore]) -> (f64, f64) {
    let selected = scores
        .iter()
        .filter(|score| score.both + score.only_selected > 0);
    let labelled = scores
        .iter()
        .filter(|score| score.both + score.only_truth > 0);
    (
        mean(selected.map(PageScore::precision)),
        mean(labelled.map(PageScore::recall)),
    )
}

/// Measures the cost of selection and of the outline it needs.
fn time(pages: &[LabelledPage]) {
    const ROUNDS: usize = 5;
    let bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    let rate = |seconds: f64| (bytes * ROUNDS) as f64 / 1e6 / seconds;
    for outline in [false, true] {
        let mut extractor = Extractor::new();
        let begin = Instant::now();
        let mut total = 0;
        for page in pages.iter().cycle().take(pages.len() * ROUNDS) {
            total += extractor
                .extract(&page.html, &Options { outline })
                .text
                .len();
        }
        let with = if outline {
            "with outline"
        } else {
            "text alone"
        };
        println!(
            "extract, {with}: {:.0} MB of HTML a second ({total} bytes of text)",
            rate(begin.elapsed().as_secs_f64())
        );
    }
    let extracts: Vec<_> = pages
        .iter()
        .map(|page| {
            Extractor::new()
                .extract(&page.html, &Options { outline: true })
                .clone()
        })
        .collect();
    for selection in [Selection::Slope, Selection::Main] {
        let begin = Instant::now();
        let mut text = String::new();
        let mut total = 0;
        for extract in extracts.iter().cycle().take(extracts.len() * ROUNDS) {
            apply(&extract.text, &select(extract, selection), &mut text);
            total += text.len();
        }
        println!(
            "select {selection}: {:.0} MB of HTML a second ({total} bytes of text)",
            rate(begin.elapsed().as_secs_f64())
        );
    }
}

//! Measures the recall and the precision of `detect --fuzzy` on edited text.
//!
//! ```text
//!   cargo run --release -p cento-find --example fuzzy_recall -- FOLDER…
//! ```
//!
//! Reads all text files below the folders, cuts them into paragraphs of at least 100 bytes, and
//! uses every other document as an original. Each kind of edit turns the paragraphs of the
//! originals into pages, which should be found (recall). The paragraphs of the other documents, and
//! the sentences of these, should not be found (precision). Paragraphs that share a run of eight
//! words with another document are removed first: finding them would not be a mistake.
//!
//! A sentence ends at a full stop, and has at least four words: "7." or "et al." are no sentences.
//! Where such fragments count as sentences, some edits leave only a fragment, which no method can
//! recognise. The columns with "fragments" measure this.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::detect::{DetectParams, FUZZY_TABLE, LabelSet, detect};
use cento_find::discover::{DiscoverParams, How, discover, write_labels};
use cento_find::{CorpusPages, Workplace};
use cento_flow::Progress;
use cento_labels::{Recipe, StopList};
use cento_store::Build;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

#[derive(Clone, Copy)]
enum Edit {
    Replace(usize),
    /// In paragraphs with at least this many sentences of at least this many words.
    DropSentence(usize, usize),
    Shuffle,
    Insert,
}

fn edited(text: &str, edit: Edit, vocabulary: &[String], random: &mut Random) -> String {
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    match edit {
        Edit::Replace(percent) => {
            for word in &mut words {
                if random.below(100) < percent {
                    word.clone_from(&vocabulary[random.below(vocabulary.len())]);
                }
            }
        }
        Edit::DropSentence(..) | Edit::Shuffle => {
            let (least, shortest) = match edit {
                Edit::DropSentence(least, shortest) => (least, shortest),
                _ => (2, 1),
            };
            let mut sentences = sentences(&words, shortest);
            if sentences.len() >= least {
                let at = random.below(sentences.len());
                let sentence = sentences.remove(at);
                if matches!(edit, Edit::Shuffle) {
                    let to = random.below(sentences.len() + 1);
                    sentences.insert(to, sentence);
                }
            }
            words = sentences.concat();
        }
        Edit::Insert => {
            let count = words.len() / 10;
            for _ in 0..count {
                let at = random.below(words.len() + 1);
                words.insert(at, vocabulary[random.below(vocabulary.len())].clone());
            }
        }
    }
    words.join(" ")
}

/// Splits words into sentences. A piece of fewer than `shortest` words belongs to its neighbour.
fn sentences(words: &[String], shortest: usize) -> Vec<Vec<String>> {
    let mut sentences: Vec<Vec<String>> = Vec::new();
    for piece in words.split_inclusive(|word| word.ends_with(['.', '!', '?'])) {
        match sentences.last_mut() {
            Some(last) if last.len() < shortest => last.extend_from_slice(piece),
            _ => sentences.push(piece.to_vec()),
        }
    }
    if sentences.len() > 1
        && let Some(last) = sentences.pop_if(|last| last.len() < shortest)
        && let Some(before) = sentences.last_mut()
    {
        before.extend(last);
    }
    sentences
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, found)?;
        } else if path
            .extension()
            .is_none_or(|ending| ending == "txt" || ending == "rst" || ending == "md")
        {
            found.push(path);
        }
    }
    Ok(())
}

fn index(folder: &Path, name: &str, rows: &[(String, String)]) -> Outcome<Arc<CorpusPages>> {
    let input = folder.join(format!("{name}.jsonl"));
    let lines: String = rows
        .iter()
        .map(|(url, text)| format!("{}\n", serde_json::json!({ "url": url, "text": text })))
        .collect();
    std::fs::write(&input, lines)?;
    let settings = cento_read::Settings::default();
    let inputs = cento_read::resolve(&[input.display().to_string()], &settings)?.inputs;
    let path = folder.join(format!("{name}.cento"));
    Build::new(inputs, &path)
        .settings(settings)
        .threads(2)
        .run()?;
    Ok(Arc::new(CorpusPages::open(&[&path])?))
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Outcome<()> {
    let mut documents: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for folder in std::env::args().skip(1) {
        let mut found = Vec::new();
        files(Path::new(&folder), &mut found)?;
        found.sort();
        for path in found {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let text = text.replace("\r\n", "\n");
            let between = if text.contains("\n\n") { "\n\n" } else { "\n" };
            let paragraphs: Vec<String> = text
                .split(between)
                .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
                .filter(|paragraph| (100..4000).contains(&paragraph.len()))
                .filter(|paragraph| paragraph.split(' ').count() >= 12)
                .take(40)
                .collect();
            if !paragraphs.is_empty() {
                documents.push((path, paragraphs));
            }
        }
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // Runs of eight words of several documents.
    let mut holders: HashMap<Vec<String>, usize> = HashMap::new();
    let mut shared: HashSet<Vec<String>> = HashSet::new();
    let normal = |paragraph: &str| -> Vec<String> {
        let lower = paragraph.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    for (document, (_, paragraphs)) in documents.iter().enumerate() {
        for paragraph in paragraphs {
            for run in normal(paragraph).windows(8) {
                if *holders.entry(run.to_vec()).or_insert(document) != document {
                    shared.insert(run.to_vec());
                }
            }
        }
    }
    let unique = |paragraph: &str| {
        normal(paragraph)
            .windows(8)
            .all(|run| !shared.contains(run))
    };
    let vocabulary: Vec<String> = documents
        .iter()
        .flat_map(|(_, paragraphs)| paragraphs.iter().take(2))
        .flat_map(|paragraph| paragraph.split_whitespace().map(str::to_owned))
        .collect();
    let mut originals = Vec::new();
    let mut negatives = Vec::new();
    for (number, (path, paragraphs)) in documents.iter().enumerate() {
        let kept: Vec<&String> = paragraphs
            .iter()
            .filter(|paragraph| unique(paragraph))
            .collect();
        for (at, paragraph) in kept.into_iter().enumerate() {
            let name = format!("http://o.example/{}#{at}", path.display());
            if number % 2 == 0 {
                originals.push((name, paragraph.clone()));
            } else {
                negatives.push((name, paragraph.clone()));
            }
        }
    }
    let folder = tempfile::tempdir()?;
    let workplace = |name: &str| Workplace {
        threads: 2,
        memory: 1 << 30,
        temp: None,
        findings: folder.path().join(name),
        again: false,
        progress: Progress::new(),
        request: Default::default(),
    };
    let source = index(folder.path(), "originals", &originals)?;
    let params = DiscoverParams::new(How::Informed(100), Recipe::default(), &StopList::built_in());
    let found = discover(&source, &params, &workplace("discovered"))?;
    let path = folder.path().join("o.labels");
    write_labels(&found, &params, &path)?;
    let set = LabelSet::open(&path)?;
    println!(
        "{} paragraphs of originals, {} others, {} labels",
        originals.len(),
        negatives.len(),
        set.used().count
    );
    let edits = [
        ("5 % replaced", Edit::Replace(5)),
        ("10 % replaced", Edit::Replace(10)),
        ("20 % replaced", Edit::Replace(20)),
        ("30 % replaced", Edit::Replace(30)),
        ("1 of >= 2 sentences deleted", Edit::DropSentence(2, 4)),
        ("1 of >= 3 sentences deleted", Edit::DropSentence(3, 4)),
        ("1 of >= 2 fragments deleted", Edit::DropSentence(2, 1)),
        ("1 of >= 3 fragments deleted", Edit::DropSentence(3, 1)),
        ("a sentence moved", Edit::Shuffle),
        ("10 % inserted", Edit::Insert),
    ];
    let mut pages: Vec<(String, String)> = Vec::new();
    for (kind, (_, edit)) in edits.iter().enumerate() {
        for (at, (_, text)) in originals.iter().enumerate() {
            let text_edited = edited(text, *edit, &vocabulary, &mut random);
            if text_edited != *text {
                pages.push((format!("http://p.example/e{kind}/{at}"), text_edited));
            }
        }
    }
    let mut all_sentences = 0u64;
    for (at, (_, text)) in negatives.iter().enumerate() {
        pages.push((format!("http://p.example/n/{at}"), text.clone()));
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        for sentence in sentences(&words, 4) {
            pages.push((
                format!("http://p.example/s/{all_sentences}"),
                sentence.join(" "),
            ));
            all_sentences += 1;
        }
    }
    let corpus = index(folder.path(), "pages", &pages)?;
    for least in [0.3, 0.4, 0.5] {
        let params = DetectParams {
            fuzzy: Some(least),
            ..DetectParams::default()
        };
        let found = detect(&corpus, &set, &params, &workplace("detected"))?;
        let texts: HashMap<&str, &str> = pages
            .iter()
            .map(|(url, text)| (url.as_str(), text.as_str()))
            .collect();
        let mut right: BTreeMap<usize, u64> = BTreeMap::new();
        let (mut wrong, mut mistaken, mut all_right) = (0u64, 0u64, 0u64);
        let mut wrong_sentences = 0u64;
        for row in found.rows(FUZZY_TABLE)? {
            let row = row?;
            let label = row.text.unwrap_or_default();
            let parts: Vec<&str> = row
                .page
                .trim_start_matches("http://p.example/")
                .split('/')
                .collect();
            match parts.as_slice() {
                [kind, at] if kind.starts_with('e') => {
                    let kind: usize = kind.trim_start_matches('e').parse()?;
                    let at: usize = at.parse()?;
                    // By letters: the corpus maps some characters, such as stray control codes.
                    if letters(&originals[at].1) == letters(&label) {
                        *right.entry(kind).or_default() += 1;
                        all_right += 1;
                    } else {
                        mistaken += 1;
                    }
                }
                ["s", _] => wrong_sentences += 1,
                _ => {
                    wrong += 1;
                    if least == 0.4 && wrong <= 5 {
                        let text = texts.get(row.page.as_str()).unwrap_or(&"");
                        println!("  WRONG {text} <> {label}");
                    }
                }
            }
        }
        let mut line = format!("{least}: ");
        for (kind, (name, _)) in edits.iter().enumerate() {
            let prefix = format!("http://p.example/e{kind}/");
            let all = pages
                .iter()
                .filter(|(url, _)| url.starts_with(&prefix))
                .count();
            let recall = *right.get(&kind).unwrap_or(&0) as f64 / all.max(1) as f64;
            line.push_str(&format!("{name} {recall:.3}  "));
        }
        let precision = all_right as f64 / (all_right + wrong + mistaken).max(1) as f64;
        println!(
            "{line} precision {precision:.4}; found wrongly: {wrong} of {} paragraphs ({:.4}), \
             {wrong_sentences} of {all_sentences} sentences ({:.4})",
            negatives.len(),
            wrong as f64 / negatives.len().max(1) as f64,
            wrong_sentences as f64 / all_sentences.max(1) as f64
        );
    }
    Ok(())
}

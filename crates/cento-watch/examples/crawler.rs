//! A small crawler that embeds the detector: it "fetches" pages from a web of five pages, extracts
//! their text, and decides what to do with each.
//!
//! ```text
//!   cargo run -p cento-watch --example crawler
//! ```

#![expect(clippy::print_stdout, reason = "an example")]

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;

use cento_labels::{LabelOriginals, Labels, LabelsWriter, Recipe};
use cento_text::html::{Extractor, Options};
use cento_watch::{PageExaminer, SeenPages, WatchThresholds, WatchedLabels, Watcher};

const POEM: &str =
    "It little profits that an idle king, by this still hearth, among these barren crags.";
const ESSAY: &str =
    "Of making many books there is no end, and much study is a weariness of the flesh.";

/// The web: addresses, pages, and links between them.
fn web() -> Vec<(&'static str, String)> {
    vec![
        (
            "http://home.example/",
            format!(
                "<p>Welcome.<p>{ESSAY}<a href=\"http://thief.example/1\">1</a> <a href=\"http://honest.example/\">2</a>"
            ),
        ),
        (
            "http://thief.example/1",
            format!("<p>{POEM}<p>Buy this.<a href=\"http://thief.example/2\">next</a>"),
        ),
        (
            "http://thief.example/2",
            format!("<p>{POEM}<p>{ESSAY}<a href=\"http://thief.example/3\">next</a>"),
        ),
        (
            "http://thief.example/3",
            format!("<p>{POEM}<p>{ESSAY}<a href=\"http://thief.example/1\">next</a>"),
        ),
        (
            "http://honest.example/",
            "<p>Words of my own, about nothing in particular.".to_owned(),
        ),
    ]
}

/// Labels of the two originals, as `cento discover --from` writes them.
fn labels(folder: &std::path::Path) -> Result<WatchedLabels, Box<dyn Error>> {
    let recipe = Recipe::default();
    let mut chunks = [(recipe.chunk_hash(POEM), 0), (recipe.chunk_hash(ESSAY), 1)];
    chunks.sort_unstable();
    let path = folder.join("originals.labels");
    let mut writer = LabelsWriter::create(&path, recipe, chunks.len() as u64)?;
    let mut originals = LabelOriginals::default();
    for (hash, original) in chunks {
        writer.push(hash)?;
        originals.push_label(&[original]);
    }
    writer.finish(&[], serde_json::Value::Null)?;
    originals.push_name(0, "Ulysses".to_owned());
    originals.push_name(1, "Ecclesiastes".to_owned());
    Ok(WatchedLabels {
        labels: Arc::new(Labels::open(&path)?),
        originals: Some(Arc::new(originals)),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("cento-crawler-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let labels = labels(&folder)?;
    let mut examiner = PageExaminer::new(true);
    let mut watcher = Watcher::new(WatchThresholds::default(), u32::MAX, 16 << 20);
    let mut seen = SeenPages::open(&folder.join("crawl.seen"), "all", 16 << 20)?;
    let mut extractor = Extractor::new();

    let web = web();
    let mut frontier = VecDeque::from(["http://home.example/".to_owned()]);
    let mut fetched = Vec::new();
    while let Some(url) = frontier.pop_front() {
        let page = web.iter().find(|(address, _)| *address == url);
        let Some((_, html)) = page.filter(|_| !fetched.contains(&url)) else {
            continue;
        };
        fetched.push(url.clone());
        let extract = extractor.extract(html, &Options { outline: false });
        let links: Vec<String> = extract.links().map(str::to_owned).collect();
        let examined = examiner.text(&labels, &url, &extract.text, None);
        let report = watcher.observe(examined, Some(&mut seen.lock()?))?;
        println!("{}", serde_json::to_string(&report)?);
        // A crawler's decision: the links of a copy lead to what has been fetched already.
        if report.seen.flatten().is_none() {
            frontier.extend(links);
        }
    }
    for site in watcher.flagged_neighbourhoods() {
        println!(
            "flagged: {} ({} of {} chunks)",
            site.site, site.matched, site.chunks
        );
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

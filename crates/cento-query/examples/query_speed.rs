//! Measures queries: `query_speed CORPUS QUERIES WORDS [SEED]`.
//!
//! Each query is the beginning of the text of a page of the corpus, of at most so many words, as an
//! unknown text. Prints one JSON object: the percentiles of the milliseconds of one query on one
//! thread, by the clock and in processor time, which does not depend on other programs; the size of
//! the index, and the number of matches.

use std::path::Path;
use std::time::Instant;

use cento_query::{QueryIndex, QuerySettings};
use cento_store::{Projection, projection, text};
use serde_json::json;

projection! {
    /// The ids of texts.
    struct TextIds of text { page_id }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().ok_or("no corpus")?;
    let queries: usize = arguments.next().ok_or("no number of queries")?.parse()?;
    let words: usize = arguments.next().ok_or("no number of words")?.parse()?;
    let mut seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let begun = Instant::now();
    let index = QueryIndex::open(Path::new(&corpus))?;
    let opened = begun.elapsed().as_secs_f64() * 1e3;
    let mut ids = Vec::new();
    for batch in index.corpus().scan::<TextIds>() {
        let batch = batch?;
        ids.extend((0..batch.rows()).map(|row| batch.page_id.value(row)));
    }
    let mut texts = Vec::new();
    while texts.len() < queries {
        // A linear congruential generator: the same pages in every run.
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let id = ids[(seed >> 33) as usize % ids.len()];
        let text = index.corpus().text(id)?.unwrap_or_default();
        let mut left = words;
        let end = cento_text::words::words(&text)
            .into_iter()
            .find_map(|(range, _)| {
                left -= 1;
                (left == 0).then_some(range.end)
            });
        texts.push(text[..end.unwrap_or(text.len())].to_owned());
    }
    let settings = QuerySettings::default();
    let (mut pages, mut counts) = (0, 0);
    // The first pass warms the cache of the system.
    let (mut milliseconds, mut spent) = (Vec::new(), Vec::new());
    for pass in 0..2 {
        milliseconds.clear();
        spent.clear();
        for text in &texts {
            let (begun, before) = (Instant::now(), processor_time());
            let answer = index.query(text, &settings)?;
            milliseconds.push(begun.elapsed().as_secs_f64() * 1e3);
            spent.push((processor_time() - before) * 1e3);
            if pass == 1 {
                pages += answer.pages;
                counts += u64::from(answer.fingerprints);
            }
        }
    }
    let percentiles = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let percentile = |part: usize| times[(times.len() - 1) * part / 100];
        json!({ "50": percentile(50), "90": percentile(90), "99": percentile(99), "100": percentile(100) })
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    println!(
        "{}",
        json!({
            "pages": index.pages(),
            "text_bytes": index.text_bytes(),
            "index_bytes": index.bytes(),
            "open_ms": opened,
            "queries": queries,
            "mean_query_bytes": bytes / queries.max(1),
            "mean_fingerprints": counts as f64 / queries.max(1) as f64,
            "mean_matches": pages as f64 / queries.max(1) as f64,
            "milliseconds": percentiles(&mut milliseconds),
            "processor_milliseconds": percentiles(&mut spent),
        })
    );
    Ok(())
}

/// Returns the seconds of processor time of this thread.
fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

//! Measures how long it takes to find the text of one page by its id.
//!
//! `lookup CORPUS`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cento_store::{Corpus, projection, text};

projection! {
    /// The pages that have text.
    struct PageIds of text { page_id }
}

const LOOKUPS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("usage: lookup CORPUS")?);
    let begun = Instant::now();
    let corpus = Corpus::open(&path)?;
    println!("open: {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);

    let mut ids = Vec::new();
    for batch in corpus.scan::<PageIds>() {
        ids.extend_from_slice(batch?.page_id.values());
    }
    let counts = corpus.manifest().counts();
    println!(
        "{} pages, {} MB of payload, {} MB of text",
        ids.len(),
        counts.payload_bytes / 1_000_000,
        counts.text_bytes / 1_000_000
    );
    // Visits pages in an order that is unrelated to that of the table.
    let pick = |n: usize| ids[(n.wrapping_mul(7_919_873_117)) % ids.len()];

    let fresh = measure(200, |n| {
        let corpus = Corpus::open(&path)?;
        corpus.text(pick(n))
    })?;
    report("open the corpus and read one text", &fresh);
    let first = measure(LOOKUPS, |n| corpus.text(pick(n)))?;
    report("read one text, corpus open", &first);
    let pages = corpus.page(pick(0))?.ok_or("no such page")?;
    assert_eq!(pages.num_rows(), 1);
    Ok(())
}

fn measure(
    lookups: usize,
    mut lookup: impl FnMut(usize) -> cento_store::Result<Option<String>>,
) -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
    let mut times = Vec::with_capacity(lookups);
    for n in 0..lookups {
        let begun = Instant::now();
        let text = lookup(n)?.ok_or("a page without text")?;
        times.push(begun.elapsed());
        assert!(!text.is_empty());
    }
    times.sort_unstable();
    Ok(times)
}

fn report(name: &str, times: &[Duration]) {
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "{name}: median {:.2} ms, 95 % within {:.2} ms, 99 % within {:.2} ms, worst {:.2} ms",
        at(50),
        at(95),
        at(99),
        at(100)
    );
}

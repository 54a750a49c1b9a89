//! Measures the time to resolve a link.
//!
//! `cargo run --release -p cento-text --example links_speed -- FILE.html…`

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cento_text::url::LinkResolver;

fn main() -> Result<(), Box<dyn Error>> {
    let mut pages = Vec::new();
    for path in std::env::args().skip(1) {
        let html = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        let links: Vec<String> = html
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .map(|(link, _)| link.to_owned())
            .collect();
        pages.push((format!("https://docs.example.com{path}"), links));
    }
    let count: usize = pages.iter().map(|(_, links)| links.len()).sum();
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let begin = Instant::now();
        for (page, links) in &pages {
            let mut resolver = LinkResolver::new(page, None, false);
            for link in links {
                black_box(resolver.resolve(link));
            }
        }
        best = best.min(begin.elapsed().as_secs_f64());
    }
    let each = best * 1e9 / count as f64;
    println!("{count} links on {} pages: {each:.0} ns each", pages.len());
    Ok(())
}

//! Measures the speed of tokenizing, and of extraction with and without an outline, compared with
//! html5gum.
//!
//! ```text
//! cargo run --release -p cento-text --example html_speed -- FILE.html… | @LIST
//! ```

use cento_text::html::token::{EndTag, StartTag, TextToken, TokenSink, tokenize};
use cento_text::html::{ContentModel, Extractor, Options, Tag};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use std::time::Instant;

/// Counts tokens, with or without attributes.
struct TokenCounter {
    tokens: u64,
    attributes: bool,
}

impl TokenSink for TokenCounter {
    fn text(&mut self, text: TextToken<'_>) {
        self.tokens += u64::from(!text.decode().is_empty());
    }

    fn wants_attributes(&mut self, _: Tag) -> bool {
        self.attributes
    }

    fn start_tag(&mut self, start: StartTag<'_>) -> ContentModel {
        self.tokens += 1;
        start.tag.content_model()
    }

    fn end_tag(&mut self, _: EndTag<'_>) {
        self.tokens += 1;
    }
}

/// The number of repetitions.
const ROUNDS: usize = 10;

/// Returns megabytes per second. Pages are timed in small groups, and the fastest round of each
/// group counts, so that other load on the machine has little effect.
fn measure(
    name: &str,
    groups: &[&[String]],
    bytes: usize,
    mut run: impl FnMut(&str) -> u64,
) -> f64 {
    let mut best = vec![f64::INFINITY; groups.len()];
    let mut sum = 0;
    for _ in 0..ROUNDS {
        sum = 0;
        for (group, best) in groups.iter().zip(&mut best) {
            let begin = Instant::now();
            sum += group.iter().map(|page| run(page)).sum::<u64>();
            *best = best.min(begin.elapsed().as_secs_f64());
        }
    }
    let rate = bytes as f64 / best.iter().sum::<f64>() / 1e6;
    println!("{name:<28} {rate:>8.1} MB/s   ({sum})");
    rate
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.strip_prefix('@') {
            Some(list) => paths.extend(std::fs::read_to_string(list)?.lines().map(str::to_owned)),
            None => paths.push(argument),
        }
    }
    let mut pages = Vec::new();
    for path in paths {
        pages.push(String::from_utf8_lossy(&std::fs::read(path)?).into_owned());
    }
    let bytes: usize = pages.iter().map(String::len).sum();
    println!("{} pages, {:.1} MB", pages.len(), bytes as f64 / 1e6);
    let groups: Vec<&[String]> = pages.chunks(20).collect();

    let gum = measure("html5gum, callbacks", &groups, bytes, |page| {
        let mut tokens = 0;
        let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
            match event {
                CallbackEvent::OpenStartTag { .. }
                | CallbackEvent::EndTag { .. }
                | CallbackEvent::String { .. } => tokens += 1,
                _ => {}
            }
            None::<std::convert::Infallible>
        });
        emitter.naively_switch_states(true);
        let Ok(()) = Tokenizer::new_with_emitter(page, emitter).finish();
        tokens
    });
    let run = |name, run: &mut dyn FnMut(&str) -> u64| {
        let rate = measure(name, &groups, bytes, run);
        println!("{:>28} {:>8.2} times", "", rate / gum);
    };
    for attributes in [true, false] {
        let name = if attributes {
            "tokens with attributes"
        } else {
            "tokens"
        };
        run(name, &mut |page| {
            let mut counter = TokenCounter {
                tokens: 0,
                attributes,
            };
            tokenize(page, &mut counter);
            counter.tokens
        });
    }
    let mut extractor = Extractor::new();
    for outline in [false, true] {
        let name = if outline {
            "extract with outline"
        } else {
            "extract"
        };
        run(name, &mut |page| {
            extractor.extract(page, &Options { outline }).text.len() as u64
        });
    }
    Ok(())
}

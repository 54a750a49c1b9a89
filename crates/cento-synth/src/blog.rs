//! A site with the statistics of the blog in Ardi & Heidemann 2014 §5: the numbers of its chunks
//! determine how much change detection survives.
//!
//! | | in the paper | here, per page |
//! |---|---|---|
//! | pages | 4,626 | |
//! | chunks per page | mean 48, median 23, at most 428, skewed | the same, Weibull |
//! | distinct chunks (expert labels) | 21 thousand | 4.54 |
//! | distinct chunks that occur more than 20 times (blind labels) | 4.4 thousand | 0.951 |
//! | share of all chunks that are blind labels | 78 % of "the chunks" | 78 % of all occurrences |
//!
//! Blind labels occur more than 10⁵ times in 5,000 copies of the site: more than 20 times on the
//! site. The paper does not say whether its 78 % are of distinct chunks or of occurrences; 4.4 of
//! 21 thousand distinct chunks are 21 %, so it can only be occurrences.

use std::io::Write;
use std::path::Path;

use cento_file::Output;
use serde_json::json;

use crate::error::{Error, Result};
use crate::language::Language;
use crate::prose::sentence;
use crate::random::{Purpose, Random};
use crate::settings::SynthSettings;

/// The file of the site in the folder of a synthetic crawl: JSON Lines of url and text.
pub const BLOG: &str = "blog.jsonl";
/// The number of pages of the paper's blog.
pub const BLOG_PAGES: u64 = 4_626;

const MEAN: f64 = 48.0;
const MEDIAN: f64 = 23.0;
const MOST: f64 = 428.0;
/// The number of occurrences of a rare chunk is at most this.
const RARE: u64 = 20;
/// The share of all chunks that are frequent.
const FREQUENT_SHARE: f64 = 0.78;
const DISTINCT_PER_PAGE: f64 = 21_000.0 / 4_626.0;
const FREQUENT_PER_PAGE: f64 = 4_400.0 / 4_626.0;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlogSummary {
    /// Pages.
    pub pages: u64,
    /// Chunks, with repetitions.
    pub chunks: u64,
    /// Distinct chunks.
    pub distinct: u64,
    /// Distinct chunks that occur more than 20 times.
    pub frequent: u64,
}

/// The numbers of chunks of the pages: quantiles of a Weibull distribution with the median of the
/// paper, whose shape is chosen so that the mean is that of the paper. Log-normal and log-logistic
/// distributions with the same mean and median have more pages at the maximum, and agree less with
/// the results of the paper.
fn sizes(pages: u64) -> Vec<u64> {
    let size = |page: u64, shape: f64| {
        let below = (page as f64 + 0.5) / pages as f64;
        (MEDIAN * ((1.0 - below).ln() / 0.5f64.ln()).powf(shape))
            .clamp(1.0, MOST)
            .round() as u64
    };
    let (mut low, mut high) = (0.0, 5.0);
    for _ in 0..60 {
        let shape = (low + high) / 2.0;
        let sum: u64 = (0..pages).map(|page| size(page, shape)).sum();
        if (sum as f64) < MEAN * pages as f64 {
            low = shape;
        } else {
            high = shape;
        }
    }
    (0..pages).map(|page| size(page, high)).collect()
}

/// The chunks of all pages, one after the other: each chunk as often as it occurs, in random order.
fn occurrences(total: u64, pages: u64, random: &mut Random) -> (Vec<u32>, BlogSummary) {
    let frequent = ((FREQUENT_PER_PAGE * pages as f64).round() as u64).max(1);
    let distinct = ((DISTINCT_PER_PAGE * pages as f64).round() as u64).max(frequent + 1);
    let rare = distinct - frequent;
    let mut counts = vec![RARE + 1; frequent as usize];
    let of_frequent = (FREQUENT_SHARE * total as f64).round() as u64;
    let rest = of_frequent.saturating_sub((RARE + 1) * frequent);
    // By Zipf's law: navigation is on every page, a comment on a few.
    let weights: f64 = (1..=frequent).map(|rank| 1.0 / rank as f64).sum();
    let mut left = rest;
    for (rank, count) in (1u64..).zip(&mut counts) {
        let more = ((rest as f64 / weights / rank as f64).round() as u64).min(left);
        *count += more;
        left -= more;
    }
    if let Some(first) = counts.first_mut() {
        *first += left;
    }
    let used: u64 = counts.iter().sum();
    let mut rare_counts = vec![1; rare as usize];
    let mut left = total.saturating_sub(used).saturating_sub(rare);
    while left > 0 {
        let at = random.below(rare) as usize;
        if let Some(count) = rare_counts.get_mut(at)
            && *count < RARE
        {
            *count += 1;
            left -= 1;
        } else if rare_counts.iter().all(|&count| count >= RARE) {
            break;
        }
    }
    counts.extend(rare_counts);
    let mut all: Vec<u32> = Vec::new();
    for (chunk, count) in (0u32..).zip(&counts) {
        all.extend(std::iter::repeat_n(chunk, *count as usize));
    }
    random.shuffle(&mut all);
    all.truncate(total as usize);
    let summary = BlogSummary {
        pages,
        chunks: all.len() as u64,
        distinct,
        frequent,
    };
    (all, summary)
}

/// Writes the site to [`BLOG`] in a folder.
pub fn write_blog(settings: &SynthSettings, pages: u64, folder: &Path) -> Result<BlogSummary> {
    settings.validate()?;
    let languages = settings.schedule()?;
    let language = languages.first().copied().unwrap_or(Language::English);
    let mut random = Random::new(settings.seed, Purpose::Blog, 0);
    let mut sizes = sizes(pages);
    random.shuffle(&mut sizes);
    let (chunks, summary) = occurrences(sizes.iter().sum(), pages, &mut random);
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let path = folder.join(BLOG);
    let text = |chunk: u32| {
        let mut random = Random::new(settings.seed, Purpose::Blog, 1 + u64::from(chunk));
        let prose = sentence(language, &mut random);
        // The number makes it distinct.
        format!("{} {chunk}", prose.text)
    };
    let write = || -> std::io::Result<()> {
        let mut output = std::io::BufWriter::new(Output::create(&path)?);
        let mut chunks = chunks.iter();
        for (page, &size) in sizes.iter().enumerate() {
            let paragraphs: Vec<String> = chunks
                .by_ref()
                .take(size as usize)
                .map(|&chunk| text(chunk))
                .collect();
            let url = format!("http://blog.example/{}/{page}", 2002 + page % 12);
            let line = json!({ "url": url, "text": paragraphs.join("\n\n") });
            writeln!(output, "{line}")?;
        }
        output.into_inner()?.finish()
    };
    write().map_err(|error| Error::io(&path, error))?;
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_blog_has_the_statistics_of_the_paper() {
        let mut sizes = sizes(BLOG_PAGES);
        sizes.sort_unstable();
        let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        assert!((mean - 48.0).abs() < 0.1, "{mean}");
        assert_eq!(sizes[sizes.len() / 2], 23);
        assert_eq!(sizes.last(), Some(&428));
        let mut random = Random::new(1, Purpose::Blog, 0);
        let total = sizes.iter().sum();
        let (all, summary) = occurrences(total, BLOG_PAGES, &mut random);
        assert_eq!(all.len() as u64, total);
        let mut counts: HashMap<u32, u64> = HashMap::new();
        all.iter()
            .for_each(|&chunk| *counts.entry(chunk).or_default() += 1);
        let frequent: Vec<u64> = counts
            .values()
            .copied()
            .filter(|&count| count > 20)
            .collect();
        assert_eq!(
            (counts.len() as u64, frequent.len() as u64),
            (summary.distinct, summary.frequent)
        );
        assert_eq!((summary.distinct, summary.frequent), (21_000, 4_400));
        let share = frequent.iter().sum::<u64>() as f64 / total as f64;
        assert!((share - 0.78).abs() < 0.001, "{share}");
    }

    #[test]
    fn a_blog_of_any_size_is_written() {
        let folder = tempfile::tempdir().unwrap();
        for pages in [1, 2, 50] {
            let summary = write_blog(&SynthSettings::new(3, 10), pages, folder.path()).unwrap();
            let written = std::fs::read_to_string(folder.path().join(BLOG)).unwrap();
            assert_eq!(written.lines().count() as u64, pages);
            assert_eq!(summary.pages, pages);
        }
    }
}

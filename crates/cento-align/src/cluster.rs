//! Seeds that are near each other on both sides.

use crate::AlignSettings;
use crate::document::Document;
use crate::passage::Found;
use crate::seeds::Seed;
use crate::vocabulary::StemVocabulary;

/// Adds the clusters of seeds whose two sides are alike as a whole. A cluster that is not is
/// divided at smaller gaps.
pub(crate) fn clusters(
    a: &Document<'_>,
    b: &Document<'_>,
    vocabulary: &mut StemVocabulary,
    seeds: &[Seed],
    settings: &AlignSettings,
    sides: &mut Sides,
    found: &mut Vec<Found>,
) {
    if seeds.is_empty() {
        return;
    }
    sides.prepare(vocabulary.weights.len());
    let mut open = vec![(seeds.to_vec(), settings.gap)];
    while let Some((seeds, gap)) = open.pop() {
        for cluster in divide(seeds, gap) {
            let Some(range) = extent(&cluster) else {
                continue;
            };
            if sides.cosine(a, b, vocabulary, &range) >= settings.whole_cosine {
                found.push(range);
            } else if gap > 0 {
                open.push((cluster, gap - 1));
            }
        }
    }
}

/// The sentences that seeds reach over.
fn extent(seeds: &[Seed]) -> Option<Found> {
    let side = |of: fn(&Seed) -> u32| {
        let least = seeds.iter().map(of).min()? as usize;
        let most = seeds.iter().map(of).max()? as usize;
        Some(least..most + 1)
    };
    Some(Found {
        a: side(|seed| seed.a)?,
        b: side(|seed| seed.b)?,
        scattered: false,
    })
}

/// Divides seeds where more than `gap` sentences lie between two of them, on one side and then on
/// the other, until neither divides them any more.
fn divide(seeds: Vec<Seed>, gap: u32) -> Vec<Vec<Seed>> {
    let mut finished = Vec::new();
    // Seeds, whether they are to be divided on the second side, and whether the first one is done.
    let mut open = vec![(seeds, false, false)];
    while let Some((mut seeds, second, done)) = open.pop() {
        let side = |seed: &Seed| if second { seed.b } else { seed.a };
        seeds.sort_by_key(side);
        let near = |one: &Seed, other: &Seed| side(other) - side(one) <= gap + 1;
        let mut parts = seeds.chunk_by(near).peekable();
        match parts.next() {
            None => {}
            Some(only) if parts.peek().is_none() => match done {
                true => finished.push(only.to_vec()),
                false => open.push((only.to_vec(), !second, true)),
            },
            Some(first) => {
                for part in std::iter::once(first).chain(parts) {
                    open.push((part.to_vec(), !second, true));
                }
            }
        }
    }
    finished
}

/// The vectors of two ranges of sentences. All are zero between two clusters.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    a: Vec<f32>,
    b: Vec<f32>,
    /// Terms looked at since it was made.
    pub(crate) work: u64,
}

impl Sides {
    fn prepare(&mut self, stems: usize) {
        if self.a.len() < stems {
            self.a.resize(stems, 0.0);
            self.b.resize(stems, 0.0);
        }
    }

    fn cosine(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        vocabulary: &StemVocabulary,
        range: &Found,
    ) -> f32 {
        let terms_a = || range.a.clone().flat_map(|sentence| a.terms_of(sentence));
        let terms_b = || range.b.clone().flat_map(|sentence| b.terms_of(sentence));
        for &(stem, count) in terms_a() {
            self.work += 1;
            let stem = vocabulary.of_a[stem as usize] as usize;
            self.a[stem] += count as f32 * vocabulary.weights[stem];
        }
        for &(stem, count) in terms_b() {
            self.work += 1;
            let stem = vocabulary.of_b[stem as usize] as usize;
            self.b[stem] += count as f32 * vocabulary.weights[stem];
        }
        let (mut dot, mut norm_a, mut norm_b) = (0.0f32, 0.0f32, 0.0f32);
        for &(stem, _) in terms_a() {
            let stem = vocabulary.of_a[stem as usize] as usize;
            let weight = std::mem::take(&mut self.a[stem]);
            dot += weight * self.b[stem];
            norm_a += weight * weight;
        }
        for &(stem, _) in terms_b() {
            let stem = vocabulary.of_b[stem as usize] as usize;
            let weight = std::mem::take(&mut self.b[stem]);
            norm_b += weight * weight;
        }
        dot / (norm_a * norm_b).sqrt().max(f32::MIN_POSITIVE)
    }
}

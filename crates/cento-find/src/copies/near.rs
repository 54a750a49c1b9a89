//! Sketches, and the buckets that select candidate pairs.
//!
//! ```text
//!   texts ─ sketch ─▶ by page ─ spread ─▶ by band ─ … rounds of comparisons, see `candidates`
//!              └▶ bands seen ──▲
//! ```
//!
//! Most pages share no bucket with another page; a filter drops these before the shuffle.

use std::sync::Arc;

use cento_fingerprint::{Bands, SketchParameters, Sketcher, circular_grams, grams, run_hash};
use cento_flow::{Bitmap, Registry, SeenFilter, StageError};

use super::copy_rows::{InBucket, NearEdge, RankedPage, Sketched, signature};
use super::params::{CopiesParams, CopiesScheme, MINIMA};
use super::stage_names::{shuffle, stage, state};
use crate::corpus_pages::CorpusPages;
use crate::numbers::Numbers;
use crate::words::WordHasher;

/// The agreements of signatures that correspond to a resemblance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gates {
    /// Pairs with fewer agreements are not compared. A pair of exactly this resemblance has fewer
    /// once in 2000.
    pub(super) possible: u32,
    /// A pair with this many agreements is a near-duplicate with a probability of 98 %, and is
    /// compared first.
    pub(super) sure: u32,
}

impl Gates {
    pub(super) fn new(resemblance: f64) -> Gates {
        let minima = f64::from(MINIMA);
        // Different minima agree in four bits once in sixteen.
        let agree = resemblance + (1.0 - resemblance) / 16.0;
        let deviation = (minima * agree * (1.0 - agree)).sqrt();
        let expected = minima * agree;
        Gates {
            possible: (expected - 3.3 * deviation).floor().max(0.0) as u32,
            sure: (expected + 2.0 * deviation).ceil().min(minima) as u32,
        }
    }
}

/// Collects the grams that a page is sketched from.
fn sketched_grams(words: &[u64], params: &CopiesParams, out: &mut Vec<u64>) {
    out.clear();
    let k = params.k as usize;
    match params.scheme {
        CopiesScheme::Megashingle => circular_grams(words, k, |gram| out.push(gram)),
        // As in `WordHasher::gram_set`, so that sketches and verification use the same grams.
        CopiesScheme::Resemblance if words.len() < k && !words.is_empty() => {
            out.push(run_hash(words));
        }
        CopiesScheme::Resemblance => grams(words, k, |gram, _| out.push(gram)),
    }
}

/// Calls `each` with the keys of the buckets of a page.
///
/// For resemblance, the minima are cut into bands twice: adjacent minima, and minima far apart. Two
/// bands of different cuts have at most one minimum in common, so their chances are nearly
/// independent: a pair at 0.8 misses the 14 bands of 6 of the first cut once in 70 times, and both
/// cuts once in several hundred.
fn buckets(
    minima: &[u32; MINIMA as usize],
    scheme: CopiesScheme,
    bands: Bands,
    mut each: impl FnMut(usize, u64),
) {
    let (count, size) = (bands.count as usize, bands.size as usize);
    let key = |band: usize, step: usize, first: usize| {
        let minima = minima.iter().skip(first).step_by(step).take(size);
        let words = minima.map(|&minimum| u64::from(minimum));
        let mut salted = [0; MINIMA as usize + 1];
        let mut length = 0;
        for (slot, word) in salted
            .iter_mut()
            .zip(std::iter::once(band as u64).chain(words))
        {
            *slot = word;
            length += 1;
        }
        run_hash(salted.get(..length).unwrap_or_default())
    };
    match scheme {
        CopiesScheme::Resemblance => {
            (0..count).for_each(|band| each(band, key(band, 1, band * size)));
            if size > 1 {
                (0..count).for_each(|band| each(count + band, key(count + band, count, band)));
            }
        }
        // Two megashingles must agree, so each pair of them is a bucket.
        CopiesScheme::Megashingle => {
            let keys: Vec<u64> = (0..count).map(|band| key(band, 1, band * size)).collect();
            for (at, &one) in keys.iter().enumerate() {
                for &other in keys.iter().skip(at + 1) {
                    each(0, run_hash(&[one, other]));
                }
            }
        }
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &CopiesParams) {
    let (texts, settings) = (Arc::clone(source), params.clone());
    registry.map(stage::SKETCH, move |context| {
        let duplicate = context.state::<Bitmap>(state::DUPLICATE)?;
        let seen = context.state::<SeenFilter>(state::BANDS_SEEN)?;
        let ranks = context.state::<Numbers>(state::RANKS)?;
        let mut by_page = context.shuffle::<Sketched>(shuffle::BY_PAGE)?;
        let mut hasher = WordHasher::default();
        let mut sketcher = Sketcher::new(SketchParameters {
            k: settings.k,
            minima: MINIMA,
        });
        let (bands, mut grams) = (settings.bands(), Vec::new());
        texts.for_each_text(&context.task()?, |page, text| {
            if duplicate.get(u64::from(page)) {
                return Ok(());
            }
            sketched_grams(hasher.words(text), &settings, &mut grams);
            let Some(minima) = sketcher.minima(&grams) else {
                return Ok(());
            };
            let mut row = Sketched {
                place: RankedPage {
                    rank: ranks.get(page),
                    page,
                },
                minima: [0; MINIMA as usize],
            };
            for (slot, &minimum) in row.minima.iter_mut().zip(minima) {
                *slot = minimum as u32;
            }
            buckets(&row.minima, settings.scheme, bands, |_, bucket| {
                seen.note(bucket);
            });
            by_page.push(row)?;
            Ok::<_, StageError>(())
        })
    });
    let settings = params.clone();
    registry.reduce::<Sketched, _>(stage::SPREAD, move |context, groups| {
        let seen = context.state::<SeenFilter>(state::BANDS_SEEN)?;
        let mut by_band = context.shuffle::<InBucket>(shuffle::BY_BAND)?;
        let bands = settings.bands();
        let orders: Vec<_> = (0..2 * bands.count as usize).map(order).collect();
        while let Some(group) = groups.next_group()? {
            for row in group {
                let mut failed = Ok(());
                buckets(&row.minima, settings.scheme, bands, |band, bucket| {
                    if failed.is_ok() && seen.seen_again(bucket) {
                        let order = orders.get(band);
                        failed = by_band.push(InBucket {
                            bucket,
                            place: row.place,
                            signature: order.map_or([0; 6], |order| signature(&row.minima, order)),
                            round: 0,
                        });
                    }
                });
                failed?;
            }
        }
        Ok(())
    });
    registry.reduce::<InBucket, _>(stage::AGREE, |context, groups| {
        let mut edges = context.shuffle::<NearEdge>(shuffle::EDGES)?;
        while let Some(mut group) = groups.next_group()? {
            // By the paper's rule all pages in a bucket are one class; a star connects them.
            let Some(first) = group.next() else {
                continue;
            };
            for row in group {
                edges.push(NearEdge::new(row.place, first.place, 0.0, 0))?;
            }
        }
        Ok(())
    });
}

/// Returns the order of minima in the signatures of a band. Each band has a different one, so that
/// large buckets are split differently.
fn order(band: usize) -> [u8; MINIMA as usize] {
    let mut order: [u8; MINIMA as usize] = std::array::from_fn(|at| at as u8);
    order.sort_unstable_by_key(|&at| run_hash(&[band as u64, u64::from(at)]));
    order
}

#[cfg(test)]
mod tests {
    use super::super::copy_rows::agreement;
    use super::*;

    #[test]
    fn gates_surround_the_resemblance() {
        let gates = Gates::new(0.8);
        assert_eq!(
            gates,
            Gates {
                possible: 56,
                sure: 76
            }
        );
        assert_eq!(
            Gates::new(1.0),
            Gates {
                possible: 84,
                sure: 84
            }
        );
        assert!(Gates::new(0.2).possible < 20);
    }

    #[test]
    fn pairs_are_missed_as_rarely_as_documented() {
        // Random sketches whose minima agree with a probability equal to the resemblance.
        let params = CopiesParams::default();
        let gates = Gates::new(params.resemblance);
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let rounds = 20_000;
        for (resemblance, most_missed) in [(80, 0.0030), (85, 0.0004)] {
            let (mut one_cut, mut found) = (0, 0);
            for _ in 0..rounds {
                let mut one = [0; MINIMA as usize];
                one.iter_mut().for_each(|slot| *slot = random());
                let mut other = one;
                other.iter_mut().for_each(|slot| {
                    if random() % 100 >= resemblance {
                        *slot = random();
                    }
                });
                let signatures = [one, other].map(|minima| signature(&minima, &order(3)));
                let possible = agreement(&signatures[0], &signatures[1]) >= gates.possible;
                let [one, other] = [one, other].map(|minima| {
                    let mut keys = Vec::new();
                    buckets(&minima, params.scheme, params.bands(), |_, key| {
                        keys.push(key);
                    });
                    keys
                });
                let shared: Vec<bool> = one
                    .iter()
                    .zip(&other)
                    .map(|(one, other)| one == other)
                    .collect();
                one_cut += usize::from(shared[..14].contains(&true));
                found += usize::from(possible && shared.contains(&true));
            }
            let share = |count: usize| count as f64 / f64::from(rounds);
            if resemblance == 80 {
                assert!((share(one_cut) - 0.986).abs() < 0.004, "{}", share(one_cut));
            }
            assert!(
                1.0 - share(found) < most_missed,
                "{resemblance}: {}",
                share(found)
            );
        }
    }

    #[test]
    fn two_of_six_megashingles_make_fifteen_buckets() {
        let params = CopiesParams {
            scheme: CopiesScheme::Megashingle,
            ..CopiesParams::default()
        };
        let mut minima = [0; MINIMA as usize];
        minima
            .iter_mut()
            .enumerate()
            .for_each(|(at, slot)| *slot = at as u32);
        let keys = |minima: &[u32; MINIMA as usize]| {
            let mut keys = Vec::new();
            buckets(minima, params.scheme, params.bands(), |_, key| {
                keys.push(key);
            });
            keys
        };
        let all = keys(&minima);
        assert_eq!(all.len(), 15);
        // Four of six differ, so one bucket is still shared.
        for at in [0, 14, 28, 42] {
            minima[at] += 1000;
        }
        let shared = keys(&minima).into_iter().filter(|key| all.contains(key));
        assert_eq!(shared.count(), 1);
    }
}

//! Bands: some minima of a sketch as one number, by which candidates are found without comparing
//! all with all.

use std::fmt;
use std::str::FromStr;

use crate::gram::{SPREAD, finish, run_hash};
use crate::parameters::{InvalidParameters, LARGEST, serialise_as_text};
use crate::sketch::{Sketch, SketchParameters};

/// How minima are taken together: so many bands of so many each. As text: `14x6`.
///
/// Two texts of resemblance `r` agree in one band of `s` minima with probability `rˢ`. Larger bands
/// are stricter, more bands give more chances; [`probability`](Bands::probability) tells how both
/// together come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bands {
    /// How many bands.
    pub count: u32,
    /// How many minima in each.
    pub size: u32,
}

impl Bands {
    /// The megashingles of Fetterly et al.: six bands of 14. They call texts that agree in two of
    /// them near-duplicates.
    pub const MEGASHINGLES: Bands = Bands { count: 6, size: 14 };

    /// Fourteen bands of six: texts that resemble each other by 0.8 agree in one with a probability
    /// of 0.986.
    pub const CANDIDATES: Bands = Bands { count: 14, size: 6 };

    /// The probability that two texts of this resemblance agree in at least so many bands.
    ///
    /// ```
    /// use cento_fingerprint::Bands;
    ///
    /// assert!((Bands::CANDIDATES.probability(0.8, 1) - 0.986).abs() < 0.001);
    /// assert!((Bands::MEGASHINGLES.probability(0.8, 2) - 0.026).abs() < 0.001);
    /// ```
    pub fn probability(&self, resemblance: f64, at_least: u32) -> f64 {
        let agree = resemblance
            .clamp(0.0, 1.0)
            .powf(f64::from(self.size.max(1)));
        let differ = 1.0 - agree;
        // The probability of agreeing in exactly so many, for as many as are too few.
        let mut too_few = 0.0;
        let mut choices = 1.0;
        for bands in 0..at_least.min(self.count + 1) {
            let (agreeing, others) = (f64::from(bands), f64::from(self.count - bands));
            too_few += choices * agree.powf(agreeing) * differ.powf(others);
            choices *= others / (agreeing + 1.0);
        }
        (1.0 - too_few).clamp(0.0, 1.0)
    }

    /// An error unless a sketch with these parameters has the minima for them.
    pub fn check(&self, parameters: SketchParameters) -> Result<(), InvalidParameters> {
        let needed = u64::from(self.count) * u64::from(self.size);
        if needed == 0 || needed > u64::from(parameters.minima) {
            return Err(InvalidParameters::new(format!(
                "{self} bands need {needed} minima, and a sketch of {parameters} has {}",
                parameters.minima
            )));
        }
        Ok(())
    }
}

impl fmt::Display for Bands {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}x{}", self.count, self.size))
    }
}

impl FromStr for Bands {
    type Err = InvalidParameters;

    fn from_str(text: &str) -> Result<Self, InvalidParameters> {
        let number = |text: &str| {
            let number = text.parse::<u32>().ok();
            number.filter(|number| (1..=LARGEST).contains(number))
        };
        text.split_once('x')
            .and_then(|(count, size)| {
                let (count, size) = (number(count)?, number(size)?);
                Some(Bands { count, size })
            })
            .ok_or_else(|| {
                InvalidParameters::new(format!(
                    "'{text}' are no bands: they are written 14x6, for 14 bands of 6 minima"
                ))
            })
    }
}

serialise_as_text!(Bands);

impl Sketch {
    /// The key of each band: texts that agree in a band have the same key, all others do not.
    ///
    /// Which band it is, how bands are cut and what the sketch was made with are part of the key,
    /// so that keys of unlike bands never meet, in whatever table they are thrown together. Minima
    /// after the last band are not used.
    pub fn bands(&self, bands: Bands) -> Result<impl Iterator<Item = u64>, InvalidParameters> {
        let parameters = self.parameters();
        bands.check(parameters)?;
        let (size, count) = (bands.size as usize, bands.count as usize);
        let made_with = u64::from(parameters.k) << 32 | u64::from(parameters.minima);
        let chunks = self.minima().chunks_exact(size).take(count);
        Ok(chunks.enumerate().map(move |(band, minima)| {
            let salt = finish(made_with.wrapping_add(SPREAD.wrapping_mul(band as u64 + 1)));
            finish(run_hash(minima) ^ salt)
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::sketch::Sketcher;

    #[test]
    fn two_megashingles_agree_as_often_as_fetterly_et_al_say() {
        let near = |resemblance| Bands::MEGASHINGLES.probability(resemblance, 2);
        // They say 5 % at 0.825; it is 5.7 %, and 5 % at 0.818.
        assert!(near(0.818) < 0.05 && near(0.825) < 0.06);
        assert!(near(0.77) < 0.01);
        assert!(near(0.965) > 0.95);
    }

    #[test]
    fn probabilities_are_those_of_the_binomial() {
        let bands = Bands { count: 3, size: 1 };
        for (at_least, expected) in [(0, 1.0), (1, 0.784), (2, 0.352), (3, 0.064), (4, 0.0)] {
            assert!((bands.probability(0.4, at_least) - expected).abs() < 1e-12);
        }
        assert_eq!(Bands::CANDIDATES.probability(0.0, 1), 0.0);
        assert_eq!(Bands::CANDIDATES.probability(1.0, 14), 1.0);
    }

    #[test]
    fn bands_read_back_and_those_that_do_not_fit_are_refused() {
        for bands in [Bands::MEGASHINGLES, Bands::CANDIDATES] {
            assert_eq!(bands.to_string().parse(), Ok(bands));
            assert!(bands.check(SketchParameters::default()).is_ok());
        }
        for wrong in ["", "14", "x", "0x6", "14x0", "14x-6", "99999x1"] {
            assert!(wrong.parse::<Bands>().is_err(), "{wrong}");
        }
        let too_many = Bands { count: 15, size: 6 };
        assert_eq!(
            too_many
                .check(SketchParameters::default())
                .unwrap_err()
                .to_string(),
            "15x6 bands need 90 minima, and a sketch of minima:k=5,m=84 has 84"
        );
    }

    #[test]
    fn keys_of_unlike_bands_never_meet() {
        // One gram fills every slot: only the salt tells bands apart.
        let mut keys = HashSet::new();
        let mut count = 0;
        for (k, minima) in [(5, 84), (6, 84), (5, 128)] {
            let sketch = Sketcher::new(SketchParameters { k, minima })
                .sketch_grams(&[42])
                .unwrap();
            for bands in [
                Bands::MEGASHINGLES,
                Bands::CANDIDATES,
                Bands { count: 84, size: 1 },
            ] {
                keys.extend(sketch.bands(bands).unwrap());
                count += bands.count as usize;
            }
        }
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn bands_agree_where_all_their_minima_do() {
        let parameters = SketchParameters::default();
        let mut sketcher = Sketcher::new(parameters);
        let grams: Vec<u64> = (0..500).map(|number| finish(number + 1)).collect();
        let ours = sketcher.sketch_grams(&grams[..450]).unwrap();
        let theirs = sketcher.sketch_grams(&grams[20..]).unwrap();
        for size in [1, 2, 6, 14, 84] {
            let bands = Bands {
                count: 84 / size,
                size,
            };
            let keys = ours.bands(bands).unwrap().zip(theirs.bands(bands).unwrap());
            let minima = ours
                .minima()
                .chunks_exact(size as usize)
                .zip(theirs.minima().chunks_exact(size as usize));
            for ((one, other), (ours, theirs)) in keys.zip(minima) {
                assert_eq!(one == other, ours == theirs);
            }
        }
    }
}

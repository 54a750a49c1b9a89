//! Pseudo-random numbers that depend on a key alone.
//!
//! Everything drawn for a page comes from a stream that is identified by the seed, a purpose and a
//! number. Pages are therefore independent of each other, and a page that copies another
//! regenerates it instead of storing it.

/// The purpose of a stream. Streams for different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub(crate) enum Purpose {
    Article = 1,
    Original,
    Own,
    Edit,
    Choice,
    Site,
    Template,
    Markup,
    Fetch,
    Publication,
    Vocabulary,
    Notice,
    SpamSentence,
    FarmSentence,
    NewsTemplate,
    NewsPage,
    Trap,
    Damage,
    Record,
    Order,
    ReusePair,
    Blog,
}

/// A stream of numbers: SplitMix64, which passes the usual tests and can start at any key.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes every bit into every bit; a bijection.
#[inline]
pub(crate) fn mix(mut value: u64) -> u64 {
    value ^= value >> 30;
    value = value.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^= value >> 27;
    value = value.wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Random {
    /// The stream with this purpose and number.
    pub(crate) fn new(seed: u64, purpose: Purpose, number: u64) -> Random {
        let named = mix(seed ^ STEP).wrapping_add(mix((purpose as u64).wrapping_mul(STEP)));
        Random {
            state: mix(mix(named) ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93)),
        }
    }

    /// The stream with this purpose and two numbers.
    pub(crate) fn pair(seed: u64, purpose: Purpose, first: u64, second: u64) -> Random {
        Random::new(seed ^ mix(first.wrapping_add(STEP)), purpose, second)
    }

    /// The next 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `bound`; 0 if the bound is 0. The bias is below 2⁻³² for bounds below 2³².
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `least` to `most`, inclusive.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// A number from 0 to 1, excluding 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability 1 / `times`.
    #[inline]
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these; the default value if there are none.
    pub(crate) fn pick<T: Copy + Default>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len() as u64) as usize;
        from.get(index).copied().unwrap_or_default()
    }

    /// Shuffles items.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_key_alone() {
        let draw = |mut random: Random| [random.next(), random.next()];
        assert_eq!(
            draw(Random::new(1, Purpose::Article, 7)),
            draw(Random::new(1, Purpose::Article, 7))
        );
        let mut seen = std::collections::HashSet::new();
        for seed in 0..10 {
            for number in 0..100 {
                assert!(seen.insert(draw(Random::new(seed, Purpose::Article, number))));
                assert!(seen.insert(draw(Random::new(seed, Purpose::Edit, number))));
                assert!(seen.insert(draw(Random::pair(seed, Purpose::Edit, number, 3))));
            }
        }
    }

    #[test]
    fn draws_are_uniform() {
        let mut random = Random::new(3, Purpose::Choice, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)));
        let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 10_000.0;
        assert!((0.49..0.51).contains(&mean));
    }
}

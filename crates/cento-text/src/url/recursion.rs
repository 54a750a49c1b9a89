//! Addresses that a crawler made up by running in circles.

use std::collections::HashMap;
use std::fmt;

/// From when on an address looks like a recursion error. A limit of 0 turns its test off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recursion {
    /// The most components that a path may have.
    pub components: u32,
    /// How often a component may not stand in a path: so often, or more, is an error.
    pub repeats: u32,
    /// How often two or more components may not follow each other in the same order: so often in a row, or more, is an
    /// error. Cycles of up to 64 components are seen.
    pub cycles: u32,
}

impl Default for Recursion {
    /// The limits of Ardi & Heidemann: more than 96 components, one of them 4 times, or a cycle 3 times.
    fn default() -> Self {
        Recursion {
            components: 96,
            repeats: 4,
            cycles: 3,
        }
    }
}

/// What makes an address look like a recursion error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecursionError {
    /// The path has more components than allowed.
    Components(usize),
    /// One component stands in the path too often.
    Repeats {
        /// The component.
        component: String,
        /// How often it stands there.
        times: usize,
    },
    /// Some components follow each other in the same order too often.
    Cycle {
        /// How many components the cycle has.
        length: usize,
        /// How often they follow each other in full.
        times: usize,
    },
}

impl fmt::Display for RecursionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecursionError::Components(count) => write!(formatter, "{count} path components"),
            RecursionError::Repeats { component, times } => {
                write!(formatter, "path component '{component}' {times} times")
            }
            RecursionError::Cycle { length, times } => {
                write!(
                    formatter,
                    "a cycle of {length} path components {times} times"
                )
            }
        }
    }
}

impl std::error::Error for RecursionError {}

/// The longest cycle that is looked for. It bounds the work on a hostile address where the limit of components is off;
/// with the default limits no cycle is longer than a third of 96.
const LONGEST_CYCLE: usize = 64;

impl Recursion {
    /// Tests the components of a path, cheapest test first; time and memory are linear in the path.
    pub fn check<'path>(
        &self,
        components: impl Iterator<Item = &'path str>,
    ) -> Option<RecursionError> {
        let mut numbers = Vec::new();
        // Components are numbered in the order in which they first occur: comparing numbers is all that the tests need.
        let mut known: HashMap<&str, (u32, usize)> = HashMap::new();
        let mut most: Option<(&str, usize)> = None;
        for component in components {
            let next = known.len() as u32;
            let (number, times) = known.entry(component).or_insert((next, 0));
            *times += 1;
            numbers.push(*number);
            if most.is_none_or(|(_, most)| *times > most) {
                most = Some((component, *times));
            }
        }
        if self.components > 0 && numbers.len() > self.components as usize {
            return Some(RecursionError::Components(numbers.len()));
        }
        if let Some((component, times)) = most
            && self.repeats > 0
            && times >= self.repeats as usize
        {
            return Some(RecursionError::Repeats {
                component: component.to_owned(),
                times,
            });
        }
        self.cycle(&numbers)
    }

    /// A cycle of length L that occurs c times in a row is a stretch of (c − 1)·L components, each of which equals the one
    /// L further on.
    fn cycle(&self, numbers: &[u32]) -> Option<RecursionError> {
        if self.cycles == 0 {
            return None;
        }
        let longest = (numbers.len() / self.cycles as usize).min(LONGEST_CYCLE);
        for length in 2..=longest {
            let mut stretch = 0;
            let mut best = 0;
            for (one, other) in numbers.iter().zip(numbers.iter().skip(length)) {
                stretch = if one == other { stretch + 1 } else { 0 };
                best = best.max(stretch);
            }
            let times = best / length + 1;
            if times >= self.cycles as usize && times > 1 {
                return Some(RecursionError::Cycle { length, times });
            }
        }
        None
    }
}

//! Recursion errors: URLs that a crawler invented by following relative links in circles.

use std::collections::HashMap;
use std::fmt;

/// The limits beyond which a URL is a recursion error. A limit of 0 disables its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecursionLimits {
    /// The maximum number of path components.
    pub components: u32,
    /// A path in which one component occurs at least this often is an error.
    pub repeats: u32,
    /// A path in which a sequence of two or more components repeats at least this often in a row is
    /// an error. Sequences of up to 64 components are detected.
    pub cycles: u32,
}

impl Default for RecursionLimits {
    /// The limits of Ardi & Heidemann: more than 96 components, one component 4 times, or a cycle 3
    /// times.
    fn default() -> Self {
        RecursionLimits {
            components: 96,
            repeats: 4,
            cycles: 3,
        }
    }
}

/// Why a URL is considered a recursion error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecursionError {
    /// The path has more components than allowed.
    Components(usize),
    /// One component occurs too often.
    Repeats {
        /// The component.
        component: String,
        /// How often it occurs.
        times: usize,
    },
    /// A sequence of components repeats too often.
    Cycle {
        /// The number of components in the sequence.
        length: usize,
        /// The number of complete repetitions.
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

/// The longest cycle that is detected. It bounds the work on a hostile URL when the limit of
/// components is off; with the default limits no cycle is longer than a third of 96.
const LONGEST_CYCLE: usize = 64;

impl RecursionLimits {
    /// Checks the components of a path, cheapest test first, in linear time and memory.
    pub fn check<'path>(
        &self,
        components: impl Iterator<Item = &'path str>,
    ) -> Option<RecursionError> {
        let mut numbers = Vec::new();
        // Components are numbered in order of first occurrence; the tests compare only the numbers.
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

    /// Looks for a cycle: a cycle of length L that occurs c times in a row is a run of (c − 1)·L
    /// components, each equal to the one L positions later.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(path: &str) -> Option<RecursionError> {
        RecursionLimits::default().check(path.split('/').filter(|component| !component.is_empty()))
    }

    /// The definition: whether a sequence of two or more components occurs `times` times in a row.
    fn has_cycle(components: &[String], times: usize) -> bool {
        (0..components.len()).any(|begin| {
            (2..=components.len()).any(|length| {
                components
                    .get(begin..begin + times * length)
                    .is_some_and(|stretch| {
                        stretch
                            .chunks(length)
                            .all(|round| round == &stretch[..length])
                    })
            })
        })
    }

    proptest! {
        #[test]
        fn cycles_agree_with_the_definition(components in prop::collection::vec("[ab]", 0..24), cycles in 2u32..5) {
            let limits = RecursionLimits { components: 0, repeats: 0, cycles };
            let found = limits.check(components.iter().map(String::as_str));
            prop_assert_eq!(found.is_some(), has_cycle(&components, cycles as usize));
        }
    }

    #[test]
    fn long_repetitive_and_circular_paths_are_errors() {
        let long = |count: usize| {
            (0..count)
                .map(|number| format!("/{number}"))
                .collect::<String>()
        };
        assert_eq!(check(&long(96)), None);
        assert_eq!(check(&long(97)), Some(RecursionError::Components(97)));
        assert_eq!(check("/a/b/a/c/a/d"), None);
        assert_eq!(
            check("/a/b/a/c/a/d/a"),
            Some(RecursionError::Repeats {
                component: "a".to_owned(),
                times: 4
            })
        );
        assert_eq!(check("/x/a/b/a/b/y"), None);
        assert_eq!(
            check("/x/a/b/a/b/a/b/y"),
            Some(RecursionError::Cycle {
                length: 2,
                times: 3
            })
        );
        assert_eq!(
            check("/a/b/c/a/b/c/a/b/c"),
            Some(RecursionError::Cycle {
                length: 3,
                times: 3
            })
        );
        // One component three times in a row is not a cycle of several, and not often enough for a
        // repeat.
        assert_eq!(check("/2024/a/a/a"), None);
        assert_eq!(check(""), None);
    }

    #[test]
    fn a_limit_of_zero_disables_its_test() {
        let path = "/a/b".repeat(100);
        let components = || path.split('/').filter(|component| !component.is_empty());
        let check = |components_, repeats, cycles| {
            RecursionLimits {
                components: components_,
                repeats,
                cycles,
            }
            .check(components())
        };
        assert_eq!(check(0, 0, 0), None);
        assert!(matches!(
            check(0, 0, 3),
            Some(RecursionError::Cycle {
                length: 2,
                times: 100
            })
        ));
        assert!(matches!(
            check(0, 4, 0),
            Some(RecursionError::Repeats { times: 100, .. })
        ));
        assert!(matches!(
            check(96, 0, 0),
            Some(RecursionError::Components(200))
        ));
        // A single round is not a cycle.
        assert_eq!(
            RecursionLimits {
                components: 0,
                repeats: 0,
                cycles: 1
            }
            .check(["a", "b"].into_iter()),
            None
        );
    }

    #[test]
    fn a_megabyte_of_path_takes_linear_time() {
        let begin = std::time::Instant::now();
        let limits = RecursionLimits {
            components: 0,
            repeats: 0,
            cycles: 3,
        };
        let distinct: String = (0..150_000).map(|number| format!("/{number}")).collect();
        for path in [
            distinct,
            "/a".repeat(500_000),
            "/a/b/c/d".repeat(125_000) + "/x",
        ] {
            limits.check(path.split('/'));
        }
        assert!(begin.elapsed().as_secs() < 60);
    }

    #[test]
    fn an_error_describes_the_path() {
        let shown = check("/a/b/a/b/a/b").map(|error| error.to_string());
        assert_eq!(
            shown.as_deref(),
            Some("a cycle of 2 path components 3 times")
        );
        let shown = check("/a/a/a/a").map(|error| error.to_string());
        assert_eq!(shown.as_deref(), Some("path component 'a' 4 times"));
    }
}

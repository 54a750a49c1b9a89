//! A flow state with the counts of tasks. It is exact because each task stores its final counts,
//! rather than increments.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cento_flow::{StageError, State};
use serde_json::Value;

/// The counts of a task under a key.
pub(crate) type Counts = [u64; 4];
/// The bytes of an entry: task, key, counts.
const ENTRY: usize = 48;

/// Counts by task and key. A task that runs again replaces its counts, so nothing is counted twice.
#[derive(Default)]
pub(crate) struct Tally {
    entries: Mutex<BTreeMap<(u64, u64), Counts>>,
}

impl Tally {
    /// The name of this kind of state in a registry.
    pub(crate) const KIND: &str = "tally";

    fn entries(&self) -> MutexGuard<'_, BTreeMap<(u64, u64), Counts>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the total counts of a task under a key.
    pub(crate) fn note(&self, task: usize, key: u64, counts: Counts) {
        self.entries().insert((task as u64, key), counts);
    }

    /// Returns the sums over all tasks, by key.
    pub(crate) fn sums(&self) -> BTreeMap<u64, Counts> {
        let mut sums: BTreeMap<u64, Counts> = BTreeMap::new();
        for (&(_, key), counts) in self.entries().iter() {
            let sum = sums.entry(key).or_default();
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum = sum.saturating_add(*count);
            }
        }
        sums
    }

    /// Returns the sums under a key over the tasks before this one.
    pub(crate) fn before(&self, task: usize, key: u64) -> Counts {
        let mut sum = Counts::default();
        for (&(of, found), counts) in self.entries().iter() {
            if of < task as u64 && found == key {
                for (sum, count) in sum.iter_mut().zip(counts) {
                    *sum = sum.saturating_add(*count);
                }
            }
        }
        sum
    }
}

impl State for Tally {
    fn create(_: &Value) -> Result<Tally, StageError> {
        Ok(Tally::default())
    }

    /// Entries are few, because keys are frequencies or the like.
    fn weight(_: &Value) -> u64 {
        1 << 20
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        let mut bytes = Vec::new();
        other.read_to_end(&mut bytes)?;
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() {
            return Err("a tally ends in the middle of an entry".into());
        }
        let mut mine = self.entries();
        for entry in entries {
            let (numbers, _) = entry.as_chunks::<8>();
            if let [task, key, a, b, c, d] = numbers {
                let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
                mine.insert(
                    (number(task), number(key)),
                    [number(a), number(b), number(c), number(d)],
                );
            }
        }
        Ok(())
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        for (&(task, key), counts) in self.entries().iter() {
            for number in [task, key].iter().chain(counts) {
                output.write_all(&number.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_tasks_count_once_and_tallies_add_up() {
        let (one, other) = (Tally::default(), Tally::default());
        one.note(0, 7, [1, 2, 0, 0]);
        one.note(0, 7, [1, 2, 0, 0]);
        other.note(3, 7, [10, 0, 0, 1]);
        other.note(3, 9, [5, 0, 0, 0]);
        let mut bytes = Vec::new();
        other.write(&mut bytes).unwrap();
        one.absorb(&mut bytes.as_slice()).unwrap();
        one.absorb(&mut bytes.as_slice()).unwrap();
        assert_eq!(one.sums()[&7], [11, 2, 0, 1]);
        assert_eq!(one.before(3, 7), [1, 2, 0, 0]);
        assert_eq!(one.before(4, 9), [5, 0, 0, 0]);
        assert!(one.absorb(&mut &bytes[1..]).is_err());
    }
}

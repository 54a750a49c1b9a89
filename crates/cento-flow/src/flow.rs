//! Flows as data: stages, what they read and what they write.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// The default number of partitions of a shuffle.
pub const PARTITIONS: u32 = 256;
/// The maximum number of partitions of a shuffle: more are only slower.
pub const MAX_PARTITIONS: u32 = 1 << 16;
/// The bytes of input for which a partition is worth its cost, which is that of some hundred rows:
/// a task, and an empty batch for each table.
const INPUT_OF_PARTITION: u64 = 16 << 10;
/// The number of partitions of the smallest input, so that there is work for several threads.
const FEWEST_PARTITIONS: u32 = 4;

/// A computation: stages in the order in which they run, and the shuffles, states and tables
/// between them.
///
/// A flow has names and parameters but no code. It is a JSON document that can be stored with its
/// results, sent to another machine and compared. A [`Registry`](crate::Registry) maps the names to
/// functions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The name of the flow.
    pub name: String,
    /// The shuffles, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shuffles: BTreeMap<String, Shuffle>,
    /// The broadcast states, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, StateSpec>,
    /// The names of the result tables.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tables: BTreeSet<String>,
    /// The steps, in the order in which they run.
    pub steps: Vec<Step>,
}

/// How rows are distributed on their way from one stage to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shuffle {
    /// The number of significant bits of a key; all of them if `None`, as for a hash. Page numbers
    /// below a million have 20, and setting this distributes pages over the partitions. Any value
    /// gives the same results: one that is too large is slow, and so is one that is too small for
    /// the keys above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<u32>,
    /// The number of partitions. Results do not depend on it, unless it is fixed.
    #[serde(default = "default_partitions")]
    pub partitions: u32,
    /// Whether a function uses the number of its partition, so that a cluster must not choose
    /// another number of partitions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
}

fn default_partitions() -> u32 {
    PARTITIONS
}

impl Default for Shuffle {
    fn default() -> Shuffle {
        Shuffle {
            key_bits: None,
            partitions: PARTITIONS,
            fixed: false,
        }
    }
}

/// The declaration of a broadcast state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateSpec {
    /// The name under which the type is registered.
    pub kind: String,
    /// The parameters for [`State::create`](crate::State::create).
    #[serde(default)]
    pub parameters: Value,
}

/// One step of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A stage that runs once.
    Stage(Stage),
    /// Stages that run in rounds until a counter is zero after a round.
    Repeat {
        /// The stages of one round.
        stages: Vec<Stage>,
        /// The counter of changes in a round.
        until_zero: String,
        /// The maximum number of rounds. It is an error if the counter is not zero after them.
        max_rounds: u32,
    },
}

impl Step {
    /// The stages of the step.
    pub fn stages(&self) -> &[Stage] {
        match self {
            Step::Stage(stage) => std::slice::from_ref(stage),
            Step::Repeat { stages, .. } => stages,
        }
    }
}

/// A function that is applied to every task or to every partition of a shuffle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The name of the stage, which is unique in the flow.
    pub name: String,
    /// The name under which its function is registered.
    pub function: String,
    /// The parameters of the function.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
    /// The input of the function.
    pub input: StageInput,
    /// The shuffles, tables and states that the stage writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// The states that the stage reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// The states that are allocated when the stage begins, because a later stage, which is the
    /// first to use them, may find the memory full of rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserves: Vec<String>,
}

/// The input of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageInput {
    /// A map: the function is called once for each task. A task is any value that the function
    /// understands, such as a file and a range in it.
    Tasks(Vec<Value>),
    /// A reduce: the function is called once for each partition of this shuffle, which is consumed.
    Shuffle(String),
}

impl Stage {
    /// Creates a stage that applies a registered map to tasks.
    pub fn map(function: &str, tasks: Vec<Value>) -> Stage {
        Stage::of(function, StageInput::Tasks(tasks))
    }

    /// Creates a stage that applies a registered reduce to the groups of a shuffle.
    pub fn reduce(function: &str, shuffle: &str) -> Stage {
        Stage::of(function, StageInput::Shuffle(shuffle.to_owned()))
    }

    fn of(function: &str, input: StageInput) -> Stage {
        Stage {
            name: function.to_owned(),
            function: function.to_owned(),
            parameters: Value::Null,
            input,
            writes: Vec::new(),
            reads: Vec::new(),
            reserves: Vec::new(),
        }
    }

    /// Sets a name that differs from that of the function, which is needed if a flow uses the
    /// function twice.
    #[must_use]
    pub fn named(mut self, name: &str) -> Stage {
        name.clone_into(&mut self.name);
        self
    }

    /// Sets the parameters of the function.
    #[must_use]
    pub fn with(mut self, parameters: Value) -> Stage {
        self.parameters = parameters;
        self
    }

    /// Adds a state that the stage reads.
    #[must_use]
    pub fn reads(mut self, name: &str) -> Stage {
        self.reads.push(name.to_owned());
        self
    }

    /// Adds a shuffle, a table or a state that the stage writes. A stage can write several.
    #[must_use]
    pub fn writes(mut self, name: &str) -> Stage {
        self.writes.push(name.to_owned());
        self
    }

    /// Adds a state that is allocated when the stage begins, although it neither reads nor writes
    /// it.
    #[must_use]
    pub fn reserves(mut self, name: &str) -> Stage {
        self.reserves.push(name.to_owned());
        self
    }
}

impl Flow {
    /// Creates a flow without stages.
    pub fn new(name: &str) -> Flow {
        Flow {
            name: name.to_owned(),
            shuffles: BTreeMap::new(),
            states: BTreeMap::new(),
            tables: BTreeSet::new(),
            steps: Vec::new(),
        }
    }

    /// Adds a shuffle of rows whose keys are hashes.
    #[must_use]
    pub fn shuffle(self, name: &str) -> Flow {
        self.shuffle_with(name, Shuffle::default())
    }

    /// Adds a shuffle of rows whose keys are below 2 to the power of `key_bits`.
    #[must_use]
    pub fn shuffle_of_numbers(self, name: &str, key_bits: u32) -> Flow {
        let key_bits = Some(key_bits);
        self.shuffle_with(
            name,
            Shuffle {
                key_bits,
                ..Shuffle::default()
            },
        )
    }

    /// Adds a shuffle.
    #[must_use]
    pub fn shuffle_with(mut self, name: &str, shuffle: Shuffle) -> Flow {
        self.shuffles.insert(name.to_owned(), shuffle);
        self
    }

    /// Returns the flow with fewer partitions if its input has few bytes: most of them would have
    /// no rows, and still be a task each. Results do not depend on it.
    #[must_use]
    pub fn for_input(mut self, bytes: u64) -> Flow {
        let wanted = u32::try_from(bytes.div_ceil(INPUT_OF_PARTITION)).unwrap_or(u32::MAX);
        for shuffle in self.shuffles.values_mut().filter(|shuffle| !shuffle.fixed) {
            shuffle.partitions = shuffle.partitions.min(wanted.max(FEWEST_PARTITIONS));
        }
        self
    }

    /// Adds a broadcast state of a registered kind.
    #[must_use]
    pub fn state(mut self, name: &str, kind: &str, parameters: Value) -> Flow {
        let kind = kind.to_owned();
        self.states
            .insert(name.to_owned(), StateSpec { kind, parameters });
        self
    }

    /// Adds a result table.
    #[must_use]
    pub fn table(mut self, name: impl Into<&'static str>) -> Flow {
        self.tables.insert(name.into().to_owned());
        self
    }

    /// Adds a stage.
    #[must_use]
    pub fn stage(mut self, stage: Stage) -> Flow {
        self.steps.push(Step::Stage(stage));
        self
    }

    /// Adds stages that run in rounds until a counter is zero after a round.
    #[must_use]
    pub fn repeat(mut self, stages: Vec<Stage>, until_zero: &str, max_rounds: u32) -> Flow {
        self.steps.push(Step::Repeat {
            stages,
            until_zero: until_zero.to_owned(),
            max_rounds,
        });
        self
    }

    /// Returns the stage of this name.
    pub fn find(&self, stage: &str) -> Result<&Stage> {
        let mut stages = self.steps.iter().flat_map(Step::stages);
        stages
            .find(|candidate| candidate.name == stage)
            .ok_or_else(|| Error::InvalidFlow(format!("there is no stage `{stage}`")))
    }

    /// Checks that the flow is consistent.
    pub fn check(&self) -> Result<()> {
        let invalid = |what: String| Err(Error::InvalidFlow(what));
        let mut names = BTreeSet::new();
        for name in self
            .shuffles
            .keys()
            .chain(self.states.keys())
            .chain(&self.tables)
        {
            if !names.insert(name) {
                return invalid(format!("`{name}` is declared twice"));
            }
            // Names are parts of file names.
            let valid = |c: char| c.is_ascii_alphanumeric() || "-_ ".contains(c);
            if name.is_empty() || !name.chars().all(valid) {
                return invalid(format!(
                    "`{name}` is not a valid name: use letters, digits, spaces, - and _"
                ));
            }
        }
        for (name, shuffle) in &self.shuffles {
            if !(1..=MAX_PARTITIONS).contains(&shuffle.partitions) {
                return invalid(format!("`{name}` has {} partitions", shuffle.partitions));
            }
        }
        let mut stages = BTreeSet::new();
        let mut written = BTreeSet::new();
        for step in &self.steps {
            let repeated = matches!(step, Step::Repeat { .. });
            if step.stages().is_empty() {
                return invalid("an iteration has no stages".to_owned());
            }
            // In an iteration a stage may read what a later one has written in the last round.
            if repeated {
                written.extend(step.stages().iter().flat_map(|stage| &stage.writes));
            }
            for stage in step.stages() {
                if !stages.insert(&stage.name) {
                    return invalid(format!("two stages have the name `{}`", stage.name));
                }
                self.check_stage(stage, repeated, &written)?;
                written.extend(stage.writes.iter().chain(&stage.reserves));
            }
        }
        Ok(())
    }

    fn check_stage(
        &self,
        stage: &Stage,
        repeated: bool,
        written: &BTreeSet<&String>,
    ) -> Result<()> {
        let name = &stage.name;
        let invalid = |what: String| Err(Error::InvalidFlow(what));
        if let StageInput::Shuffle(shuffle) = &stage.input {
            if !self.shuffles.contains_key(shuffle) {
                return invalid(format!(
                    "`{name}` reads the shuffle `{shuffle}`, which is not declared"
                ));
            }
            if !written.contains(shuffle) {
                return invalid(format!(
                    "`{name}` reads the shuffle `{shuffle}`, which no earlier stage writes"
                ));
            }
            if stage.writes.contains(shuffle) {
                return invalid(format!(
                    "`{name}` writes the shuffle `{shuffle}` that it reads"
                ));
            }
        }
        for output in &stage.writes {
            let table = self.tables.contains(output);
            if table && repeated {
                return invalid(format!(
                    "`{name}` writes the table `{output}` in an iteration"
                ));
            }
            if !table && !self.shuffles.contains_key(output) && !self.states.contains_key(output) {
                return invalid(format!("`{name}` writes `{output}`, which is not declared"));
            }
        }
        for state in &stage.reserves {
            if !self.states.contains_key(state) {
                return invalid(format!(
                    "`{name}` reserves the state `{state}`, which is not declared"
                ));
            }
        }
        for state in &stage.reads {
            if !self.states.contains_key(state) || !written.contains(state) {
                return invalid(format!(
                    "`{name}` reads the state `{state}`, which no earlier stage writes"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_input_has_few_partitions_unless_their_number_is_fixed() {
        let fixed = Shuffle {
            partitions: 100,
            fixed: true,
            ..Shuffle::default()
        };
        let two = Shuffle {
            partitions: 2,
            ..Shuffle::default()
        };
        let flow = Flow::new("test").shuffle("rows");
        let flow = flow.shuffle_with("fixed", fixed).shuffle_with("two", two);
        let partitions = |bytes: u64| {
            let flow = flow.clone().for_input(bytes);
            ["rows", "fixed", "two"].map(|name| flow.shuffles[name].partitions)
        };
        assert_eq!(partitions(0), [4, 100, 2]);
        assert_eq!(partitions(1 << 20), [64, 100, 2]);
        assert_eq!(partitions(1 << 40), [256, 100, 2]);
        assert_eq!(partitions(u64::MAX), [256, 100, 2]);
    }
}

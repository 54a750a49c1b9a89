//! A flow as data: which stages there are, what they read, and what they fill.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// Partitions of a shuffle that nobody asked for another number of.
pub const PARTITIONS: u32 = 256;
/// The most partitions that a shuffle can have: more than this only cost.
pub const MOST_PARTITIONS: u32 = 1 << 16;

/// A computation: stages in the order in which they run, and what flows between them.
///
/// A flow holds names and parameters and no code, so it is a JSON document: it can be stored with
/// its results, sent to another machine and compared. The names mean something to a
/// [`Registry`](crate::Registry).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// What people call it.
    pub name: String,
    /// The shuffles, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shuffles: BTreeMap<String, Shuffle>,
    /// The broadcast states, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, StateSpec>,
    /// The tables that it ends in.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tables: BTreeSet<String>,
    /// What is done, in this order.
    pub steps: Vec<Step>,
}

/// How rows are distributed on their way from one stage to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shuffle {
    /// How many bits of a key carry meaning. A hash has all of them; a page number among a million
    /// has 20, and saying so spreads pages over the partitions. A number too large is slow, one too
    /// small is slow for the keys above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<u32>,
    /// Into how many partitions. Results do not depend on it.
    #[serde(default = "default_partitions")]
    pub partitions: u32,
}

fn default_partitions() -> u32 {
    PARTITIONS
}

impl Default for Shuffle {
    fn default() -> Shuffle {
        Shuffle {
            key_bits: None,
            partitions: PARTITIONS,
        }
    }
}

/// A broadcast state: its kind, as the registry knows it, and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateSpec {
    /// The name under which the type is registered.
    pub kind: String,
    /// What [`State::create`](crate::State::create) is called with.
    #[serde(default)]
    pub parameters: Value,
}

/// One step of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A stage that runs once.
    Stage(Stage),
    /// Stages that run again and again, until a counter is zero after a round.
    Repeat {
        /// The stages of one round.
        stages: Vec<Stage>,
        /// The counter that tells how much has changed in a round.
        until_zero: String,
        /// After so many rounds it is an error if things still change.
        most_rounds: u32,
    },
}

impl Step {
    /// The stages in it.
    pub fn stages(&self) -> &[Stage] {
        match self {
            Step::Stage(stage) => std::slice::from_ref(stage),
            Step::Repeat { stages, .. } => stages,
        }
    }
}

/// A function that is applied to every task, or to every partition of a shuffle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What people call it; unique in a flow.
    pub name: String,
    /// The name under which its function is registered.
    pub function: String,
    /// What the function should know.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
    /// What it is applied to.
    pub input: Input,
    /// The shuffles, tables and states that it fills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// The states that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
}

/// What a stage is applied to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// A map: once to each task. What a task is, only its function knows; a file and a range of it,
    /// say.
    Tasks(Vec<Value>),
    /// A reduce: once to each partition of this shuffle, whose rows are then gone.
    Shuffle(String),
}

impl Stage {
    /// A stage that applies a registered map to tasks.
    pub fn map(function: &str, tasks: Vec<Value>) -> Stage {
        Stage::of(function, Input::Tasks(tasks))
    }

    /// A stage that applies a registered reduce to the groups of a shuffle.
    pub fn reduce(function: &str, shuffle: &str) -> Stage {
        Stage::of(function, Input::Shuffle(shuffle.to_owned()))
    }

    fn of(function: &str, input: Input) -> Stage {
        Stage {
            name: function.to_owned(),
            function: function.to_owned(),
            parameters: Value::Null,
            input,
            writes: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// Another name than that of the function: needed where a function is used twice.
    #[must_use]
    pub fn named(mut self, name: &str) -> Stage {
        name.clone_into(&mut self.name);
        self
    }

    /// Gives the function its parameters.
    #[must_use]
    pub fn with(mut self, parameters: Value) -> Stage {
        self.parameters = parameters;
        self
    }

    /// Names a state that the stage reads.
    #[must_use]
    pub fn reads(mut self, name: &str) -> Stage {
        self.reads.push(name.to_owned());
        self
    }

    /// Names a shuffle, a table or a state that the stage fills. One stage can fill several.
    #[must_use]
    pub fn writes(mut self, name: &str) -> Stage {
        self.writes.push(name.to_owned());
        self
    }
}

impl Flow {
    /// A flow without stages.
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

    /// Adds a broadcast state of a registered kind.
    #[must_use]
    pub fn state(mut self, name: &str, kind: &str, parameters: Value) -> Flow {
        let kind = kind.to_owned();
        self.states
            .insert(name.to_owned(), StateSpec { kind, parameters });
        self
    }

    /// Adds a table to end in.
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

    /// Adds stages that run in rounds until the counter is zero after one.
    #[must_use]
    pub fn repeat(mut self, stages: Vec<Stage>, until_zero: &str, most_rounds: u32) -> Flow {
        self.steps.push(Step::Repeat {
            stages,
            until_zero: until_zero.to_owned(),
            most_rounds,
        });
        self
    }

    /// The stage of this name.
    pub fn find(&self, stage: &str) -> Result<&Stage> {
        let mut stages = self.steps.iter().flat_map(Step::stages);
        stages
            .find(|candidate| candidate.name == stage)
            .ok_or_else(|| Error::Unsound(format!("there is no stage `{stage}`")))
    }

    /// Fails if the flow cannot work, whatever its functions do.
    pub fn check(&self) -> Result<()> {
        let unsound = |what: String| Err(Error::Unsound(what));
        let mut names = BTreeSet::new();
        for name in self
            .shuffles
            .keys()
            .chain(self.states.keys())
            .chain(&self.tables)
        {
            if !names.insert(name) {
                return unsound(format!("two things are called `{name}`"));
            }
            // Names become parts of file names.
            let fine = |c: char| c.is_ascii_alphanumeric() || "-_ ".contains(c);
            if name.is_empty() || !name.chars().all(fine) {
                return unsound(format!(
                    "`{name}` is no name: letters, digits, spaces and -_ make one"
                ));
            }
        }
        for (name, shuffle) in &self.shuffles {
            if !(1..=MOST_PARTITIONS).contains(&shuffle.partitions) {
                return unsound(format!("`{name}` has {} partitions", shuffle.partitions));
            }
        }
        let mut stages = BTreeSet::new();
        let mut filled = BTreeSet::new();
        for step in &self.steps {
            let looped = matches!(step, Step::Repeat { .. });
            if step.stages().is_empty() {
                return unsound("a round has no stages".to_owned());
            }
            // In a loop a later stage may fill what an earlier one reads in the next round.
            if looped {
                filled.extend(step.stages().iter().flat_map(|stage| &stage.writes));
            }
            for stage in step.stages() {
                if !stages.insert(&stage.name) {
                    return unsound(format!("two stages are called `{}`", stage.name));
                }
                self.check_stage(stage, looped, &filled)?;
                filled.extend(&stage.writes);
            }
        }
        Ok(())
    }

    fn check_stage(&self, stage: &Stage, looped: bool, filled: &BTreeSet<&String>) -> Result<()> {
        let name = &stage.name;
        let unsound = |what: String| Err(Error::Unsound(what));
        if let Input::Shuffle(shuffle) = &stage.input {
            if !self.shuffles.contains_key(shuffle) {
                return unsound(format!(
                    "`{name}` reads the shuffle `{shuffle}`, which is not there"
                ));
            }
            if !filled.contains(shuffle) {
                return unsound(format!(
                    "`{name}` reads the shuffle `{shuffle}`, which nothing before it fills"
                ));
            }
            if stage.writes.contains(shuffle) {
                return unsound(format!(
                    "`{name}` fills the shuffle `{shuffle}` that it reads"
                ));
            }
        }
        for output in &stage.writes {
            let table = self.tables.contains(output);
            if table && looped {
                return unsound(format!(
                    "`{name}` fills the table `{output}` again and again"
                ));
            }
            if !table && !self.shuffles.contains_key(output) && !self.states.contains_key(output) {
                return unsound(format!("`{name}` fills `{output}`, which is not there"));
            }
        }
        for state in &stage.reads {
            if !self.states.contains_key(state) || !filled.contains(state) {
                return unsound(format!(
                    "`{name}` reads the state `{state}`, which nothing before it fills"
                ));
            }
        }
        Ok(())
    }
}

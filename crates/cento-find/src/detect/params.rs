//! What is asked of `detect`.

use std::path::Path;
use std::sync::Arc;

use cento_file::Checksum;
use cento_labels::{Labels, Recipe};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::provenance::{ORIGINALS, TABLE, originals_of, table_of};

/// The parameters of `detect`. What is not given of the thresholds is the mean of all scores of its
/// kind, plus their deviation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DetectParams {
    /// A page is a partial target if more than this share of its chunks are labels.
    pub page_threshold: Option<f64>,
    /// A neighbourhood is bad if the mean of its pages is above this.
    pub mean_threshold: Option<f64>,
    /// Or if the share of all its chunks is.
    pub ratio_threshold: Option<f64>,
    /// Whether stops count as any other chunk.
    pub no_stop: bool,
    /// Domains and hosts whose pages are left out: the owner's own.
    pub own: Vec<String>,
    /// How many levels of neighbourhoods there are; all if not given, sites alone if 1.
    pub depth: Option<u32>,
    /// The least share of a label's words that an edited chunk has in the same runs; none are
    /// looked for if not given.
    pub fuzzy: Option<f64>,
}

impl DetectParams {
    /// Fails if the numbers make no sense.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("threshold of pages", self.page_threshold),
            ("threshold of means", self.mean_threshold),
            ("threshold of ratios", self.ratio_threshold),
        ] {
            if let Some(value) = value
                && !(0.0..1.0).contains(&value)
            {
                let why = "a share is above it only from 0 to below 1";
                return Err(Error::Usage(format!("a {name} of {value}: {why}")));
            }
        }
        if let Some(least) = self.fuzzy
            && !(0.2..=1.0).contains(&least)
        {
            return Err(Error::Usage(format!(
                "a share of {least} is not between 0.2 and 1"
            )));
        }
        if self.depth == Some(0) {
            return Err(Error::Usage(
                "at depth 0 there is no neighbourhood: 1 is sites alone".to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether a page is the owner's: its domain or host is named, or one above its host.
    pub(super) fn owns(&self, host: Option<&str>, domain: Option<&str>) -> bool {
        self.own.iter().any(|own| {
            domain == Some(own)
                || host.is_some_and(|host| {
                    host == own
                        || host
                            .strip_suffix(own.as_str())
                            .is_some_and(|rest| rest.ends_with('.'))
                })
        })
    }
}

/// Labels with what is known of where they come from.
#[derive(Debug, Clone)]
pub struct LabelSet {
    pub(super) labels: Arc<Labels>,
    pub(super) table: bool,
    pub(super) originals: bool,
    identity: LabelsUsed,
}

/// Which labels were used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelsUsed {
    /// What they are the hashes of.
    pub recipe: Recipe,
    /// How many there are.
    pub count: u64,
    /// A hash of labels, stops and what is beside them.
    pub blake3: String,
}

impl LabelSet {
    /// Opens labels and the tables beside them, and reads every byte of all of them once.
    pub fn open(path: &Path) -> Result<LabelSet> {
        let labels = Labels::open(path)?;
        labels.verify()?;
        labels.verify_sidecars()?;
        let header = labels.header();
        let mut hasher = blake3::Hasher::new();
        hasher.update(header.hashes.blake3.as_bytes());
        hasher.update(header.stop_hashes.blake3.as_bytes());
        let (table, originals) = (table_of(path), originals_of(path));
        // Whatever is in them is part of what is looked for: the names of originals, and texts to
        // compare with.
        for (ending, table) in [(TABLE, &table), (ORIGINALS, &originals)] {
            if !table.is_file() {
                continue;
            }
            hasher.update(ending.as_bytes());
            let blake3 = match header.sidecars.iter().find(|file| file.ending == ending) {
                Some(known) => known.blake3.clone(),
                None => {
                    let found = Checksum::of(table).map_err(|error| Error::io(table, error))?;
                    found.blake3
                }
            };
            hasher.update(blake3.as_bytes());
        }
        Ok(LabelSet {
            identity: LabelsUsed {
                recipe: header.recipe,
                count: header.labels,
                blake3: hasher.finalize().to_hex().to_string(),
            },
            table: table.is_file(),
            originals: originals.is_file(),
            labels: Arc::new(labels),
        })
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Which labels these are.
    pub fn used(&self) -> &LabelsUsed {
        &self.identity
    }

    /// Whether it is known from which originals they come.
    pub fn has_originals(&self) -> bool {
        self.table && self.originals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_known_by_domain_host_and_what_is_above_it() {
        let params = DetectParams {
            own: vec!["a.example".to_owned(), "www.b.example".to_owned()],
            ..DetectParams::default()
        };
        assert!(params.owns(Some("x.a.example"), Some("a.example")));
        assert!(params.owns(Some("x.a.example"), None));
        assert!(params.owns(Some("www.b.example"), Some("b.example")));
        assert!(!params.owns(Some("b.example"), Some("b.example")));
        assert!(!params.owns(Some("nota.example"), Some("nota.example")));
        assert!(!params.owns(None, None));
    }

    #[test]
    fn numbers_without_sense_are_refused() {
        let fine = DetectParams::default();
        assert!(fine.check().is_ok());
        for wrong in [
            DetectParams {
                page_threshold: Some(1.0),
                ..fine.clone()
            },
            DetectParams {
                mean_threshold: Some(f64::NAN),
                ..fine.clone()
            },
            DetectParams {
                ratio_threshold: Some(-0.1),
                ..fine.clone()
            },
            DetectParams {
                fuzzy: Some(0.0),
                ..fine.clone()
            },
            DetectParams {
                depth: Some(0),
                ..fine
            },
        ] {
            assert!(wrong.check().is_err());
        }
    }
}

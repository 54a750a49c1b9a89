//! The parameters of `detect`.

use std::path::Path;
use std::sync::Arc;

use cento_file::Checksum;
use cento_labels::{LabelOriginals, Labels, Recipe};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::provenance::{
    ORIGINALS, TABLE, originals_of, read_labels, read_originals, table_of, verify_tables,
};

/// The parameters of `detect`. The default of a threshold is the mean of all scores of its kind
/// plus their standard deviation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DetectParams {
    /// A page is a partial target if more than this share of its chunks are labels.
    pub page_threshold: Option<f64>,
    /// A neighbourhood is bad if the mean of its pages is above this.
    pub mean_threshold: Option<f64>,
    /// A neighbourhood is also bad if the share of all its chunks is above this.
    pub ratio_threshold: Option<f64>,
    /// Whether the stop list is ignored.
    pub no_stop: bool,
    /// Domains and hosts of the owner, whose pages are skipped.
    pub own: Vec<String>,
    /// The number of levels of neighbourhoods; 1 is sites only, the default is all.
    pub depth: Option<u32>,
    /// The minimum share of the words of a label that an edited chunk has in runs of four words. By
    /// default edited chunks are not searched for.
    pub fuzzy: Option<f64>,
}

impl DetectParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("page threshold", self.page_threshold),
            ("mean threshold", self.mean_threshold),
            ("ratio threshold", self.ratio_threshold),
        ] {
            if let Some(value) = value
                && !(0.0..1.0).contains(&value)
            {
                return Err(Error::Usage(format!(
                    "a {name} of {value} is not at least 0 and below 1"
                )));
            }
        }
        if let Some(least) = self.fuzzy
            && !(0.2..=1.0).contains(&least)
        {
            return Err(Error::Usage(format!(
                "a minimum share of {least} for --fuzzy is not between 0.2 and 1"
            )));
        }
        if self.depth == Some(0) {
            return Err(Error::Usage(
                "the smallest depth is 1, which is sites only".to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether a page is the owner's: `own` has its domain, its host, or a parent of its host.
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

/// A file of labels with the tables beside it.
#[derive(Debug, Clone)]
pub struct LabelSet {
    pub(super) labels: Arc<Labels>,
    pub(super) table: bool,
    pub(super) originals: bool,
    identity: LabelsUsed,
}

/// The identity of a set of labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelsUsed {
    /// What the labels are hashes of.
    pub recipe: Recipe,
    /// The number of labels.
    pub count: u64,
    /// A hash of the labels, the stop list, and the tables beside them.
    pub blake3: String,
}

impl LabelSet {
    /// Opens labels and the tables beside them, and verifies all checksums.
    pub fn open(path: &Path) -> Result<LabelSet> {
        LabelSet::of(path, Labels::open(path)?)
    }

    /// Reads labels into memory, for a long-running process: see [`Labels::load`].
    pub fn load(path: &Path) -> Result<LabelSet> {
        LabelSet::of(path, Labels::load(path)?)
    }

    fn of(path: &Path, labels: Labels) -> Result<LabelSet> {
        labels.verify()?;
        verify_tables(&labels)?;
        let header = labels.header();
        let mut hasher = blake3::Hasher::new();
        hasher.update(header.hashes.blake3.as_bytes());
        hasher.update(header.stop_hashes.blake3.as_bytes());
        let (table, originals) = (table_of(path), originals_of(path));
        // The results depend on the content of these tables: the names of originals and the texts
        // of labels.
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

    /// Returns the labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Returns the labels, to be shared.
    pub fn shared_labels(&self) -> Arc<Labels> {
        Arc::clone(&self.labels)
    }

    /// Returns the identity of the labels.
    pub fn used(&self) -> &LabelsUsed {
        &self.identity
    }

    /// Reads the originals of all labels into memory. `None` if they are not known.
    pub fn read_originals(&self) -> Result<Option<LabelOriginals>> {
        if !self.has_originals() {
            return Ok(None);
        }
        let path = table_of(self.labels.path());
        let mut originals = LabelOriginals::default();
        for row in read_labels(&path)? {
            let row = row?;
            if self.labels.get(originals.labels()) != Some(row.hash) {
                return Err(Error::corrupted(&path, "it belongs to other labels"));
            }
            originals.push_label(&row.originals);
        }
        if originals.labels() != self.labels.len() {
            return Err(Error::corrupted(&path, "it belongs to other labels"));
        }
        let path = originals_of(self.labels.path());
        for row in read_originals(&path)? {
            let row = row?;
            originals.push_name(row.original, row.page);
        }
        match originals.unnamed() {
            Some(original) => {
                let detail = format!("original {original} has no name");
                Err(Error::corrupted(&path, detail))
            }
            None => Ok(Some(originals)),
        }
    }

    /// Returns whether the originals of the labels are known.
    pub fn has_originals(&self) -> bool {
        self.table && self.originals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_identified_by_domain_host_or_parent_host() {
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
    fn parameters_out_of_range_are_refused() {
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

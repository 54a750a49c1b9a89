//! The parameters of `passages`.

use cento_align::{AlignSettings, Fold};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which pairs of pages are aligned.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairChoice {
    /// All pairs that share fingerprints.
    #[default]
    All,
    /// The pairs of one page, given by its URL, that share fingerprints.
    Of(String),
    /// Listed pairs; the BLAKE3 hash of the list.
    Listed(String),
}

/// How words are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoldChoice {
    /// By their normal form.
    #[default]
    None,
    /// Tolerant of errors of optical character recognition.
    Ocr,
}

impl From<FoldChoice> for Fold {
    fn from(choice: FoldChoice) -> Fold {
        match choice {
            FoldChoice::None => Fold::None,
            FoldChoice::Ocr => Fold::Ocr,
        }
    }
}

/// The parameters of `passages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassagesParams {
    /// Which pairs are aligned.
    pub pairs: PairChoice,
    /// How words are compared.
    pub fold: FoldChoice,
    /// The shortest passage, in characters on each side.
    pub min_chars: u32,
    /// The words of a fingerprint.
    pub k: u32,
    /// The window of winnowing: texts that share k + w − 1 consecutive words share a fingerprint.
    pub w: u32,
    /// The fewest fingerprints that a pair must share to be aligned.
    pub min_shared: u32,
    /// Fingerprints on more pages than this are ignored when pairs are chosen, and leading and
    /// trailing chunks of pages on more pages than this are not compared.
    pub max_pages: u32,
}

impl Default for PassagesParams {
    fn default() -> PassagesParams {
        PassagesParams {
            pairs: PairChoice::All,
            fold: FoldChoice::None,
            min_chars: AlignSettings::default().minimum_chars as u32,
            k: 5,
            w: 4,
            min_shared: 2,
            max_pages: 100,
        }
    }
}

impl PassagesParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |why: &str| Err(Error::Usage(why.to_owned()));
        match self {
            _ if self.min_chars == 0 => refuse("the shortest passage has at least 1 character"),
            _ if self.k == 0 || self.w == 0 => {
                refuse("a fingerprint has at least 1 word, and a window at least 1 fingerprint")
            }
            _ if self.min_shared == 0 => refuse("a pair must share at least 1 fingerprint"),
            _ if self.max_pages < 2 => {
                refuse("a limit of 1 page would ignore every shared fingerprint: the least is 2")
            }
            _ => Ok(()),
        }
    }

    /// The settings of the aligner.
    pub fn settings(&self) -> AlignSettings {
        let mut settings = AlignSettings::default();
        settings.minimum_chars = self.min_chars as usize;
        settings
    }
}

//! The settings of a synthetic crawl.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::language::Language;

/// The kind of a page in the crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum PageKind {
    /// A page with new text on an ordinary site. Other kinds copy from articles.
    Article,
    /// A copy of an article on another site: identical bytes, or identical text in other markup.
    Exact,
    /// A copy in which words are changed: a near-duplicate.
    Near,
    /// A page stitched from patches of several articles of other domains.
    Quilt,
    /// A quilt that links to each of its sources.
    Aggregator,
    /// A page with new text and one or two passages of an article: verbatim, edited or reordered.
    Passage,
    /// A page of a publisher, which stolen pages copy.
    Original,
    /// A page on a site that copies originals, whole or in part.
    Stolen,
    /// A report that differs from others in numbers only.
    News,
    /// A page of a link farm.
    Farm,
    /// A page of a spammer, with a hundred hosts on one network address and nine pages on each.
    Spam,
    /// A page on a mirror, or on another host name of the same server.
    Mirror,
    /// An article at another URL on the same host.
    Alias,
    /// An article that was fetched again and had not changed.
    Revisit,
    /// A page that a crawler reached by recursion.
    Trap,
    /// A page whose record is damaged.
    Damaged,
}

impl PageKind {
    /// All kinds, in the order of settings.
    pub const ALL: [PageKind; 16] = [
        PageKind::Article,
        PageKind::Exact,
        PageKind::Near,
        PageKind::Quilt,
        PageKind::Aggregator,
        PageKind::Passage,
        PageKind::Original,
        PageKind::Stolen,
        PageKind::News,
        PageKind::Farm,
        PageKind::Spam,
        PageKind::Mirror,
        PageKind::Alias,
        PageKind::Revisit,
        PageKind::Trap,
        PageKind::Damaged,
    ];

    /// The name in truth files.
    pub fn name(self) -> &'static str {
        match self {
            PageKind::Article => "article",
            PageKind::Exact => "exact",
            PageKind::Near => "near",
            PageKind::Quilt => "quilt",
            PageKind::Aggregator => "aggregator",
            PageKind::Passage => "passage",
            PageKind::Original => "original",
            PageKind::Stolen => "stolen",
            PageKind::News => "news",
            PageKind::Farm => "farm",
            PageKind::Spam => "spam",
            PageKind::Mirror => "mirror",
            PageKind::Alias => "alias",
            PageKind::Revisit => "revisit",
            PageKind::Trap => "trap",
            PageKind::Damaged => "damaged",
        }
    }

    /// The default share of pages. Articles are the rest.
    pub fn default_share(self) -> f64 {
        match self {
            PageKind::Article => 0.0,
            PageKind::Exact => 0.03,
            PageKind::Near => 0.06,
            PageKind::Quilt => 0.03,
            PageKind::Aggregator => 0.01,
            PageKind::Passage => 0.06,
            PageKind::Original => 0.02,
            PageKind::Stolen => 0.05,
            PageKind::News => 0.05,
            PageKind::Farm => 0.02,
            PageKind::Spam => 0.03,
            PageKind::Mirror => 0.03,
            PageKind::Alias => 0.02,
            PageKind::Revisit => 0.02,
            PageKind::Trap => 0.01,
            PageKind::Damaged => 0.005,
        }
    }
}

/// The shares of the kinds. Articles are the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mix {
    shares: BTreeMap<PageKind, f64>,
}

impl Default for Mix {
    fn default() -> Mix {
        let others = PageKind::ALL
            .into_iter()
            .filter(|&kind| kind != PageKind::Article);
        Mix {
            shares: others.map(|kind| (kind, kind.default_share())).collect(),
        }
    }
}

impl Mix {
    /// A mix of articles only.
    pub fn plain() -> Mix {
        Mix {
            shares: BTreeMap::new(),
        }
    }

    /// Sets the share of one kind. Articles are the rest.
    pub fn set(&mut self, kind: PageKind, share: f64) {
        if kind != PageKind::Article {
            self.shares.insert(kind, share);
        }
    }

    /// The share of one kind.
    pub fn share(&self, kind: PageKind) -> f64 {
        match kind {
            PageKind::Article => 1.0 - self.shares.values().sum::<f64>(),
            _ => self.shares.get(&kind).copied().unwrap_or_default(),
        }
    }
}

/// Everything that a synthetic crawl depends on: the same settings result in the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SynthSettings {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of pages in the archives.
    pub pages: u64,
    /// The number of archives.
    pub files: u64,
    /// The languages, with weights.
    pub languages: Vec<(String, u32)>,
    /// The share of each kind.
    pub mix: Mix,
    /// The approximate average number of words of an article.
    pub words: u64,
    /// The edit rates of near-duplicates and of edited passages, used in turn.
    pub edit_rates: Vec<f64>,
    /// The number of sources of a quilt, plus or minus one.
    pub quilt_sources: u64,
    /// The number of words of a gram, for resemblance and shares.
    pub grams: u32,
}

/// The default number of pages per archive: about 30 MB of HTML, so that every thread has work.
const PAGES_PER_FILE: u64 = 5_000;

impl SynthSettings {
    /// The default settings: all kinds, in all languages.
    pub fn new(seed: u64, pages: u64) -> SynthSettings {
        SynthSettings {
            seed,
            pages,
            files: pages.div_ceil(PAGES_PER_FILE).max(1),
            languages: Language::ALL
                .map(|language| (language.code().to_owned(), 1))
                .to_vec(),
            mix: Mix::default(),
            words: 500,
            edit_rates: vec![0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
            quilt_sources: 6,
            grams: 5,
        }
    }

    /// The languages in the order in which blocks of articles use them.
    pub(crate) fn schedule(&self) -> Result<Vec<Language>> {
        let mut schedule = Vec::new();
        let mut weights = Vec::new();
        for (code, weight) in &self.languages {
            let language: Language =
                code.parse()
                    .map_err(|error: crate::language::UnknownLanguage| {
                        Error::wrong(error.to_string(), "for example --languages en:3,de,zh")
                    })?;
            weights.push((language, *weight));
        }
        let rounds = weights.iter().map(|&(_, weight)| weight).max().unwrap_or(0);
        if rounds == 0 || rounds > 1_000 {
            return Err(Error::wrong(
                "no language has a weight from 1 to 1000".to_owned(),
                "for example --languages en:3,de,zh",
            ));
        }
        for round in 0..rounds {
            let taking_part = weights.iter().filter(|&&(_, weight)| weight > round);
            schedule.extend(taking_part.map(|&(language, _)| language));
        }
        Ok(schedule)
    }

    /// Fails if a setting is out of range.
    pub(crate) fn validate(&self) -> Result<()> {
        if self.pages == 0 || self.pages > 1 << 40 {
            return Err(Error::wrong(
                format!("--pages {} is not a valid number of pages", self.pages),
                "give a number from 1 to 2^40",
            ));
        }
        if self.files == 0 || self.files > self.pages || self.files > 100_000 {
            return Err(Error::wrong(
                format!(
                    "{} pages cannot be split into {} files",
                    self.pages, self.files
                ),
                "give --files a number from 1 to the number of pages, at most 100000",
            ));
        }
        for kind in PageKind::ALL {
            let share = self.mix.share(kind);
            if kind == PageKind::Article && share <= 0.0 {
                return Err(Error::wrong(
                    format!(
                        "the shares of kinds sum to {:.3}, so nothing is left for articles",
                        1.0 - share
                    ),
                    "reduce some of them: their sum must be below 1",
                ));
            }
            if !(0.0..1.0).contains(&share) && kind != PageKind::Article {
                return Err(Error::wrong(
                    format!("{share} is no share of pages"),
                    "shares of content are numbers from 0 to 1",
                ));
            }
        }
        if !(150..=100_000).contains(&self.words) {
            return Err(Error::wrong(
                format!("articles cannot have {} words", self.words),
                "give --words a number from 150 to 100000",
            ));
        }
        if self.edit_rates.is_empty()
            || self
                .edit_rates
                .iter()
                .any(|rate| !(0.0..=0.5).contains(rate))
        {
            return Err(Error::wrong(
                "edit rates must be shares of words from 0 to 0.5".to_owned(),
                "for example --edit-rates 0.01,0.05",
            ));
        }
        if !(2..=12).contains(&self.quilt_sources) {
            return Err(Error::wrong(
                format!("a quilt cannot have {} sources", self.quilt_sources),
                "give --quilt-sources a number from 2 to 12",
            ));
        }
        if !(1..=50).contains(&self.grams) {
            return Err(Error::wrong(
                format!("grams cannot have {} words", self.grams),
                "give -k a number from 1 to 50",
            ));
        }
        Ok(())
    }
}

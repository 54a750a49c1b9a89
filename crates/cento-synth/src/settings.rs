//! What a synthetic crawl is to be like.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::language::Language;

/// What a page is in the crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Kind {
    /// A page with a text of its own, on an ordinary site; whatever is copied is copied from these.
    Article,
    /// A copy of an article on another site: the same bytes, or the same text in other markup.
    Exact,
    /// A copy in which words were changed.
    Near,
    /// A page stitched from patches of several articles of other domains.
    Quilt,
    /// The same, but it links to each of its sources.
    Aggregator,
    /// A page with a text of its own and one or two passages of an article: verbatim, edited or
    /// reordered.
    Passage,
    /// A publisher's page, which stolen pages copy.
    Original,
    /// A page of a site that copies originals, whole or in part.
    Stolen,
    /// A report in which only numbers change from page to page.
    News,
    /// A page of a link farm.
    Farm,
    /// A page of a spammer with a hundred hosts on one address and nine pages on each.
    Spam,
    /// A page of a mirror, or of another name of a server.
    Mirror,
    /// An article at another address on its own host.
    Alias,
    /// An article that was fetched again and had not changed.
    Revisit,
    /// A page that a crawler reached by running in circles.
    Trap,
    /// A page whose record is damaged.
    Damaged,
}

impl Kind {
    /// All of them, in the order of their names in settings.
    pub const ALL: [Kind; 16] = [
        Kind::Article,
        Kind::Exact,
        Kind::Near,
        Kind::Quilt,
        Kind::Aggregator,
        Kind::Passage,
        Kind::Original,
        Kind::Stolen,
        Kind::News,
        Kind::Farm,
        Kind::Spam,
        Kind::Mirror,
        Kind::Alias,
        Kind::Revisit,
        Kind::Trap,
        Kind::Damaged,
    ];

    /// Its name in truth files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Article => "article",
            Kind::Exact => "exact",
            Kind::Near => "near",
            Kind::Quilt => "quilt",
            Kind::Aggregator => "aggregator",
            Kind::Passage => "passage",
            Kind::Original => "original",
            Kind::Stolen => "stolen",
            Kind::News => "news",
            Kind::Farm => "farm",
            Kind::Spam => "spam",
            Kind::Mirror => "mirror",
            Kind::Alias => "alias",
            Kind::Revisit => "revisit",
            Kind::Trap => "trap",
            Kind::Damaged => "damaged",
        }
    }

    /// The share of pages that it has unless told otherwise. Articles are whatever is left.
    pub fn default_share(self) -> f64 {
        match self {
            Kind::Article => 0.0,
            Kind::Exact => 0.03,
            Kind::Near => 0.06,
            Kind::Quilt => 0.03,
            Kind::Aggregator => 0.01,
            Kind::Passage => 0.06,
            Kind::Original => 0.02,
            Kind::Stolen => 0.05,
            Kind::News => 0.05,
            Kind::Farm => 0.02,
            Kind::Spam => 0.03,
            Kind::Mirror => 0.03,
            Kind::Alias => 0.02,
            Kind::Revisit => 0.02,
            Kind::Trap => 0.01,
            Kind::Damaged => 0.005,
        }
    }
}

/// The shares of the kinds; that of articles is what the others leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mix {
    shares: BTreeMap<Kind, f64>,
}

impl Default for Mix {
    fn default() -> Mix {
        let others = Kind::ALL.into_iter().filter(|&kind| kind != Kind::Article);
        Mix {
            shares: others.map(|kind| (kind, kind.default_share())).collect(),
        }
    }
}

impl Mix {
    /// A mix of articles alone.
    pub fn plain() -> Mix {
        Mix {
            shares: BTreeMap::new(),
        }
    }

    /// Sets the share of one kind; articles take what is left.
    pub fn set(&mut self, kind: Kind, share: f64) {
        if kind != Kind::Article {
            self.shares.insert(kind, share);
        }
    }

    /// The share of one kind.
    pub fn share(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Article => 1.0 - self.shares.values().sum::<f64>(),
            _ => self.shares.get(&kind).copied().unwrap_or_default(),
        }
    }
}

/// Everything that a synthetic crawl follows from: the same settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The seed of all that is drawn.
    pub seed: u64,
    /// How many pages there are in the archives.
    pub pages: u64,
    /// In how many files they are.
    pub files: u64,
    /// The languages, and how often each is used.
    pub languages: Vec<(String, u32)>,
    /// How much there is of each kind.
    pub mix: Mix,
    /// How many words an article has, roughly and on average.
    pub words: u64,
    /// The rates at which words of near-copies and of edited passages are changed; they take turns.
    pub edit_rates: Vec<f64>,
    /// How many sources a quilt has, give or take one.
    pub quilt_sources: u64,
    /// How many words make a gram where resemblance and shares are told.
    pub grams: u32,
}

/// Pages a file unless told otherwise: some 30 MB of HTML, so that every thread has a file soon.
const PAGES_A_FILE: u64 = 5_000;

impl Settings {
    /// The default mix in all languages.
    pub fn new(seed: u64, pages: u64) -> Settings {
        Settings {
            seed,
            pages,
            files: pages.div_ceil(PAGES_A_FILE).max(1),
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

    /// Says what cannot be, if anything.
    pub(crate) fn validate(&self) -> Result<()> {
        if self.pages == 0 || self.pages > 1 << 40 {
            return Err(Error::wrong(
                format!("--pages {} is no number of pages to make", self.pages),
                "give a number from 1 to 2^40",
            ));
        }
        if self.files == 0 || self.files > self.pages || self.files > 100_000 {
            return Err(Error::wrong(
                format!("{} pages do not go into {} files", self.pages, self.files),
                "give --files a number from 1 to the number of pages, at most 100000",
            ));
        }
        for kind in Kind::ALL {
            let share = self.mix.share(kind);
            if kind == Kind::Article && share <= 0.0 {
                return Err(Error::wrong(
                    format!(
                        "the shares of content sum to {:.3}, and nothing is left for articles",
                        1.0 - share
                    ),
                    "lower some of them: their sum must stay below 1",
                ));
            }
            if !(0.0..1.0).contains(&share) && kind != Kind::Article {
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
                "give --grams a number from 1 to 50",
            ));
        }
        Ok(())
    }
}

//! What a chunk looks like when it is compared: space collapsed, case folded, as the settings say.

use std::fmt;
use std::str::FromStr;

/// How a chunk is normalised before it is hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normalisation {
    /// Nothing is changed: two chunks are the same only byte for byte.
    None,
    /// Every run of Unicode white space becomes one space, and none is left at either end.
    Space,
    /// As [`Space`](Normalisation::Space), and full Unicode case folding: `STRASSE`, `Straße` and `strasse` are the same.
    #[default]
    SpaceCase,
}

impl Normalisation {
    /// Every normalisation there is, in the order in which help texts list them.
    pub const ALL: [Normalisation; 3] = [
        Normalisation::None,
        Normalisation::Space,
        Normalisation::SpaceCase,
    ];

    /// The name in options and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Normalisation::None => "none",
            Normalisation::Space => "space",
            Normalisation::SpaceCase => "space+case",
        }
    }
}

impl fmt::Display for Normalisation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Normalisation {
    type Err = UnknownNormalisation;

    fn from_str(name: &str) -> Result<Self, UnknownNormalisation> {
        Normalisation::ALL
            .into_iter()
            .find(|normalisation| normalisation.name() == name)
            .ok_or_else(|| UnknownNormalisation {
                name: name.to_owned(),
            })
    }
}

/// A name that no [`Normalisation`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownNormalisation {
    name: String,
}

impl fmt::Display for UnknownNormalisation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "no normalisation is called '{}': there are none, space and space+case",
            self.name
        )
    }
}

impl std::error::Error for UnknownNormalisation {}

/// Writes `text`, normalised, into `out`, whose former content is dropped.
///
/// ```
/// use cento_text::normal::{Normalisation, normalise};
///
/// let mut out = String::new();
/// normalise("  Die\u{a0}Große\n Straße ", Normalisation::SpaceCase, &mut out);
/// assert_eq!(out, "die grosse strasse");
/// ```
pub fn normalise(text: &str, normalisation: Normalisation, out: &mut String) {
    out.clear();
    match normalisation {
        Normalisation::None => out.push_str(text),
        Normalisation::Space => collapse(text, out),
        Normalisation::SpaceCase => {
            collapse(text, out);
            let folded = icu_casemap::CaseMapper::new().fold_string(out).into_owned();
            *out = folded;
        }
    }
}

fn collapse(text: &str, out: &mut String) {
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
}

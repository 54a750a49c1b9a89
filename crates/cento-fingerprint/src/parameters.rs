//! Parameters as text, `winnow:k=5,w=10`: read, checked, and refused with advice.

use std::fmt;

/// The largest value that any parameter takes. Windows and tables are as large as parameters say,
/// so that this bounds their memory; and no text is compared by runs of more words.
pub(crate) const LARGEST: u32 = 65_535;

/// A parameter that may have been built by hand, brought into the bounds that those read from text
/// are in.
pub(crate) fn bounded(parameter: u32) -> usize {
    parameter.clamp(1, LARGEST) as usize
}

/// A text that names no parameters that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameters {
    message: String,
}

impl InvalidParameters {
    pub(crate) fn new(message: String) -> Self {
        InvalidParameters { message }
    }
}

impl fmt::Display for InvalidParameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for InvalidParameters {}

/// Two things that were made with unlike parameters, and therefore have nothing to say to each
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    ours: String,
    theirs: String,
}

impl Unlike {
    /// An error unless both are the same.
    pub(crate) fn check<T: PartialEq + fmt::Display>(ours: &T, theirs: &T) -> Result<(), Unlike> {
        if ours == theirs {
            return Ok(());
        }
        Err(Unlike {
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        })
    }
}

impl fmt::Display for Unlike {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "fingerprints of {} cannot be compared with those of {}",
            self.ours, self.theirs
        )
    }
}

impl std::error::Error for Unlike {}

/// A name and the parameters that were given with it.
pub(crate) struct Given<'a> {
    pub(crate) name: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Given<'a> {
    /// Reads `NAME` or `NAME:KEY=VALUE,…`.
    pub(crate) fn read(text: &'a str) -> Result<Self, InvalidParameters> {
        let (name, list) = text.split_once(':').unwrap_or((text, ""));
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in list.split(',').filter(|part| !part.is_empty()) {
            let pair = part.split_once('=').ok_or_else(|| {
                InvalidParameters::new(format!("'{part}' in '{text}' is no NAME=VALUE"))
            })?;
            if pairs.iter().any(|(key, _)| *key == pair.0) {
                return Err(InvalidParameters::new(format!(
                    "'{text}' gives {} twice",
                    pair.0
                )));
            }
            pairs.push(pair);
        }
        Ok(Given { name, pairs })
    }

    /// Takes the value of a parameter, if it was given.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a str> {
        let index = self.pairs.iter().position(|(given, _)| *given == key)?;
        Some(self.pairs.swap_remove(index).1)
    }

    /// Takes a parameter that is a number from 1 on.
    pub(crate) fn number(&mut self, key: &str, default: u32) -> Result<u32, InvalidParameters> {
        let Some(value) = self.take(key) else {
            return Ok(default);
        };
        value
            .parse()
            .ok()
            .filter(|number| (1..=LARGEST).contains(number))
            .ok_or_else(|| {
                InvalidParameters::new(format!(
                    "{key} of {} is a number from 1 to {LARGEST}, not '{value}'",
                    self.name
                ))
            })
    }

    /// An error if a parameter is left that nobody took.
    pub(crate) fn finish(self, known: &str) -> Result<(), InvalidParameters> {
        match self.pairs.first() {
            None => Ok(()),
            Some((key, _)) => Err(InvalidParameters::new(format!(
                "{} has no parameter '{key}': it has {known}",
                self.name
            ))),
        }
    }
}

/// Makes a type whose text form is complete serialise as that text, which is what people read in
/// manifests.
macro_rules! serialise_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use serialise_as_text;

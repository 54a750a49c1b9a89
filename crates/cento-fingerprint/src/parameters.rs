//! Parses and validates parameters such as `winnow:k=5,w=10`.

use std::fmt;

/// The largest value of any parameter. It bounds the memory of windows and tables; no text is
/// compared by longer runs of words.
pub(crate) const LARGEST: u32 = 65_535;

/// Clamps a parameter that was not parsed from text to the valid range.
pub(crate) fn bounded(parameter: u32) -> usize {
    parameter.clamp(1, LARGEST) as usize
}

/// The error for invalid parameters.
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

/// The error when comparing values that were made with different parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompatibleParameters {
    ours: String,
    theirs: String,
}

impl IncompatibleParameters {
    /// Returns an error unless both are equal.
    pub(crate) fn check<T: PartialEq + fmt::Display>(
        ours: &T,
        theirs: &T,
    ) -> Result<(), IncompatibleParameters> {
        if ours == theirs {
            return Ok(());
        }
        Err(IncompatibleParameters {
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        })
    }
}

impl fmt::Display for IncompatibleParameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "cannot compare fingerprints of {} with fingerprints of {}",
            self.ours, self.theirs
        )
    }
}

impl std::error::Error for IncompatibleParameters {}

/// A name with a list of parameters.
pub(crate) struct ParameterList<'a> {
    pub(crate) name: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> ParameterList<'a> {
    /// Reads `NAME` or `NAME:KEY=VALUE,…`.
    pub(crate) fn read(text: &'a str) -> Result<Self, InvalidParameters> {
        let (name, list) = text.split_once(':').unwrap_or((text, ""));
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in list.split(',').filter(|part| !part.is_empty()) {
            let pair = part.split_once('=').ok_or_else(|| {
                InvalidParameters::new(format!(
                    "invalid parameter '{part}' in '{text}': expected NAME=VALUE"
                ))
            })?;
            if pairs.iter().any(|(key, _)| *key == pair.0) {
                return Err(InvalidParameters::new(format!(
                    "duplicate parameter '{1}' in '{0}'",
                    text, pair.0
                )));
            }
            pairs.push(pair);
        }
        Ok(ParameterList { name, pairs })
    }

    /// Removes and returns the value of a parameter, if present.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a str> {
        let index = self.pairs.iter().position(|(name, _)| *name == key)?;
        Some(self.pairs.swap_remove(index).1)
    }

    /// Removes and returns a numeric parameter, at least 1.
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
                    "invalid value '{value}' for {key} of {}: expected a number from 1 to {LARGEST}",
                    self.name
                ))
            })
    }

    /// Returns an error if an unknown parameter is left.
    pub(crate) fn finish(self, known: &str) -> Result<(), InvalidParameters> {
        match self.pairs.first() {
            None => Ok(()),
            Some((key, _)) => Err(InvalidParameters::new(format!(
                "unknown parameter '{key}' of {}: expected {known}",
                self.name
            ))),
        }
    }
}

/// Serialises a type as its text form, which is readable in manifests.
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

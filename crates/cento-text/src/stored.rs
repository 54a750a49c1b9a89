//! How settings are stored as text, in manifests and in headers of label files.
//!
//! The modules are for `#[serde(with = "…")]`.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serializer};

use crate::chunk::ChunkKind;

/// Stores a value under its name on the command line.
pub mod as_text {
    use super::*;

    /// Writes the name.
    pub fn serialize<T: Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Parses the name.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Stores a kind of chunk under its [stored name](ChunkKind::stored_name), which differs from the
/// name on the command line where the same name once meant something else.
pub mod chunk_kind {
    use super::*;

    /// Writes the stored name.
    pub fn serialize<S: Serializer>(kind: &ChunkKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&kind.stored_name())
    }

    /// Parses the stored name.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChunkKind, D::Error> {
        let name = String::deserialize(deserializer)?;
        ChunkKind::from_stored_name(&name).map_err(serde::de::Error::custom)
    }
}

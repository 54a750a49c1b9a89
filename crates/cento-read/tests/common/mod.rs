//! Helpers for the tests of this crate.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    clippy::allow_attributes,
    reason = "the unused parts differ from test to test"
)]

pub(crate) mod archive;
pub(crate) mod packs;
pub(crate) mod zip;

use std::path::PathBuf;

use cento_read::{
    Decoded, Error, Ignored, Item, Page, Place, Settings, Skipped, Start, decode, resolve,
};

/// A temporary folder.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and creates its folders.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self.name(name)
    }
}

/// The result for a record.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Page(Box<Decoded>),
    Skipped(Skipped),
    Ignored(Ignored),
}

impl Outcome {
    pub(crate) fn page(&self) -> &Page {
        match self {
            Outcome::Page(decoded) => {
                assert_eq!(decoded.reject, None);
                &decoded.page
            }
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn settings_with(fields: &[&str]) -> Settings {
    Settings {
        fields: fields.iter().map(|field| field.parse().unwrap()).collect(),
        ..Settings::default()
    }
}

/// Reads everything that `specs` name.
pub(crate) fn pages_of(specs: &[String], settings: &Settings) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = Vec::new();
    for input in resolve(specs, settings)?.inputs {
        let read = read_from(&input, settings, Start::default())?;
        outcomes.extend(read.into_iter().map(|(_, outcome)| outcome));
    }
    Ok(outcomes)
}

pub(crate) fn read_from(
    input: &cento_read::Input,
    settings: &Settings,
    from: Start,
) -> Result<Vec<(Place, Outcome)>, Error> {
    let mut outcomes = Vec::new();
    let mut reader = input.open(settings, from)?;
    while let Some(item) = reader.next()? {
        let place = *item.place();
        outcomes.push((
            place,
            match item {
                Item::Skipped(skipped) => Outcome::Skipped(skipped),
                Item::Ignored(ignored) => Outcome::Ignored(ignored),
                Item::Record(record) => match decode(record, settings) {
                    Ok(decoded) => Outcome::Page(Box::new(decoded)),
                    Err(skipped) => Outcome::Skipped(skipped),
                },
            },
        ));
    }
    Ok(outcomes)
}

/// Checks that reading resumes after each record: `read(from next) = rest`.
pub(crate) fn assert_resumes(path: &str, settings: &Settings, count: usize) {
    let inputs = resolve(&[path.to_owned()], settings).unwrap().inputs;
    let all = read_from(&inputs[0], settings, Start::default()).unwrap();
    assert_eq!(all.len(), count);
    for (at, (place, _)) in all.iter().enumerate() {
        assert_eq!(place.ordinal as usize, at);
        let rest = read_from(&inputs[0], settings, place.next).unwrap();
        assert_eq!(rest, all[at + 1..], "after {at}");
    }
}

//! Folders.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{IgnoredCause, Input, Location, Resolver, name};
use crate::Error;
use crate::bytes::Handle;

impl Resolver<'_> {
    /// Adds the files in `root` and below.
    pub(super) fn folder(&mut self, root: &Path, typed: &str) -> Result<(), Error> {
        let before = self.found;
        // A link may lead back up, or many links to one place. Each folder is read once.
        let mut seen = HashSet::new();
        let mut waiting = vec![root.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            let listed = folder
                .canonicalize()
                .and_then(|real| Ok((fs::read_dir(&folder)?, real)));
            let (entries, real) = match listed {
                Ok(listed) => listed,
                Err(error) if folder == root => return Err(Error::from_io(typed, error)),
                Err(_) => {
                    self.ignore(IgnoredCause::Unreadable, &name::shown(&folder));
                    continue;
                }
            };
            if !seen.insert(real.clone()) {
                continue;
            }
            let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
            names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
            names.sort();
            let mut folders = Vec::new();
            for name in names {
                let path = folder.join(&name);
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() && is_corpus(&path) => {
                        self.ignore(IgnoredCause::Corpus, &name::shown(&path));
                    }
                    Ok(metadata) if metadata.is_dir() => folders.push(path),
                    Ok(metadata) if metadata.is_file() => {
                        self.found(root, &path, real.join(&name), metadata.len());
                    }
                    Ok(_) => self.ignore(IgnoredCause::Special, &name::shown(&path)),
                    Err(_) => self.ignore(IgnoredCause::Unreadable, &name::shown(&path)),
                }
            }
            // The first is to be taken first, so that of two links to one folder it is always the same that counts.
            waiting.extend(folders.into_iter().rev());
        }
        if self.found == before {
            self.ignore(IgnoredCause::EmptyFolder, typed);
        }
        Ok(())
    }

    fn found(&mut self, root: &Path, path: &Path, identity: PathBuf, bytes: u64) {
        let shown = name::shown(path);
        let Ok(file) = File::open(path) else {
            return self.ignore(IgnoredCause::Unreadable, &shown);
        };
        match Handle::local(file).and_then(|file| self.format_of(&shown, &file, false)) {
            Err(_) => self.ignore(IgnoredCause::Unreadable, &shown),
            Ok(None) => {}
            Ok(Some(format)) => {
                let relative = path.strip_prefix(root).unwrap_or(path);
                let input = Input {
                    url: self.url(&shown, &name::shown(relative)),
                    name: shown,
                    bytes: Some(bytes),
                    version: None,
                    format: Some(format),
                    location: Location::File(path.into()),
                };
                self.add(identity, input);
            }
        }
    }
}

/// Whether a folder below the one that is read is a corpus: its tables are no pages, and an index that is written into the
/// folder it reads must find the same inputs when it is resumed.
fn is_corpus(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "cento")
}

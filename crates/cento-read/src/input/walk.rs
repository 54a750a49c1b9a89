//! Walks folders.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{IgnoredCause, Input, Location, Resolver, is_hole, name};
use crate::Error;
use crate::bytes::Handle;

impl Resolver<'_> {
    /// Adds the files in `root` and below.
    pub(super) fn folder(&mut self, root: &Path, typed: &str) -> Result<(), Error> {
        let before = self.found;
        // Links may lead back up, and several links may lead to one folder. Each folder is read
        // once.
        let mut seen = HashSet::new();
        let top = root.canonicalize().ok();
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
                if !self.settings.follow_links && leads_out(&path, top.as_deref()) {
                    self.ignore(IgnoredCause::Link, &name::shown(&path));
                    continue;
                }
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_file() && is_hole(&metadata) => {
                        self.ignore(IgnoredCause::Sparse, &name::shown(&path));
                    }
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
            // In order, so that of two links to one folder always the same one is read.
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

/// Whether the path is a link to something outside the folder. The folder may come from somebody
/// else, and its links must not expose other files of the user.
fn leads_out(path: &Path, top: Option<&Path>) -> bool {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    is_link
        && match (path.canonicalize(), top) {
            (Ok(real), Some(top)) => !real.starts_with(top),
            // A dangling link is reported when it is opened.
            _ => false,
        }
}

/// Whether a subfolder is a corpus. Its tables are not pages, and an index that is written into the
/// folder that it reads must find the same inputs when it is resumed.
///
/// Unlike the command line, this does not look for `manifest.json`: the folder of a web application
/// has a file of this name too, and its pages are read.
fn is_corpus(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "cento")
}

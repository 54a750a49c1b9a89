//! Finds an input again by its stored name.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use super::guess::{self, Guess};
use super::{Input, Location};
use crate::bytes::Handle;
use crate::{Error, Format, Settings, wacz};

impl Input {
    /// Returns the file that an input of this name referred to. The name is not interpreted as a
    /// pattern or a list, and it may stand for a path that is not UTF-8.
    pub fn file(name: &str, settings: &Settings) -> Result<Input, Error> {
        let failed = |error| Error::from_io(name, error);
        let path = path_of(name);
        let metadata = fs::metadata(&path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::NothingToRead {
                name: name.to_owned(),
                problem: "not a regular file".to_owned(),
            });
        }
        let file = File::open(&path).and_then(Handle::local).map_err(failed)?;
        let format = match settings.format {
            Some(format) => Some(format),
            None => format_of(name, &file).map_err(failed)?,
        };
        Ok(Input {
            name: name.to_owned(),
            bytes: Some(metadata.len()),
            version: None,
            format,
            location: Location::File(path),
            url: name.to_owned(),
        })
    }

    /// The path of the input, if it is a file.
    pub fn path(&self) -> Option<&std::path::Path> {
        match &self.location {
            Location::File(path) => Some(path),
            _ => None,
        }
    }
}

fn format_of(name: &str, file: &Handle) -> io::Result<Option<Format>> {
    let by_name = guess::by_name(name);
    let guess = match guess::is_conclusive(by_name, true) {
        true => by_name,
        false => guess::by_content(file)?,
    };
    Ok(match guess {
        Guess::Format(format) => Some(format),
        Guess::Unsupported(guess::ARCHIVE_OF_FILES) if wacz::is_wacz(file)? => Some(Format::Wacz),
        _ => None,
    })
}

/// The path for a displayed name: the name itself, or the name with `%FF` replaced by bytes that
/// are not UTF-8.
pub(super) fn path_of(name: &str) -> PathBuf {
    let plain = PathBuf::from(name);
    #[cfg(unix)]
    if !plain.exists() && name.contains('%') {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let bytes = name.as_bytes();
        let (mut decoded, mut at) = (Vec::new(), 0);
        while let Some(&byte) = bytes.get(at) {
            let hex = bytes
                .get(at + 1..at + 3)
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            match hex {
                Some(value) if byte == b'%' && value >= 0x80 => {
                    decoded.push(value);
                    at += 3;
                }
                _ => {
                    decoded.push(byte);
                    at += 1;
                }
            }
        }
        return PathBuf::from(OsString::from_vec(decoded));
    }
    plain
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_displayed_name_leads_back_to_its_file() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [
            &b"@a.jsonl"[..],
            b"a*.jsonl",
            b"\xff\xfe.jsonl",
            b"100%.jsonl",
            b"%FF.jsonl",
        ] {
            let path = folder.path().join(OsStr::from_bytes(bytes));
            fs::write(&path, "{\"text\": \"a\"}\n").unwrap();
            let shown = super::super::name::shown(&path);
            let input = Input::file(&shown, &Settings::default()).unwrap();
            assert_eq!(input.path(), Some(path.as_path()));
            assert_eq!(input.format, Some(Format::JsonLines));
            fs::remove_file(&path).unwrap();
        }
    }
}

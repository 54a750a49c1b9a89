//! A file by its name in a list of inputs, and by nothing else.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use super::kind::{self, Guess};
use super::{Input, Location};
use crate::bytes::Handle;
use crate::{Error, Format, Settings, wacz};

impl Input {
    /// The file that an input of this name was. The name is no pattern and no list, whatever it
    /// begins with, and may stand for one that is not text.
    pub fn file(name: &str, settings: &Settings) -> Result<Input, Error> {
        let failed = |error| Error::from_io(name, error);
        let path = path_of(name);
        let metadata = fs::metadata(&path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::NothingToRead {
                name: name.to_owned(),
                problem: "it is not a file".to_owned(),
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

    /// Where the file is, if the input is one.
    pub fn path(&self) -> Option<&std::path::Path> {
        match &self.location {
            Location::File(path) => Some(path),
            _ => None,
        }
    }
}

fn format_of(name: &str, file: &Handle) -> io::Result<Option<Format>> {
    let by_name = kind::by_name(name);
    let guess = match kind::is_told(by_name, true) {
        true => by_name,
        false => kind::by_content(file)?,
    };
    Ok(match guess {
        Guess::Format(format) => Some(format),
        Guess::Unsupported(kind::ARCHIVE_OF_FILES) if wacz::is_wacz(file)? => Some(Format::Wacz),
        _ => None,
    })
}

/// The path behind a name: as it is, or with the bytes that were shown as `%FF` because they are
/// not text.
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
    fn a_name_that_is_shown_leads_to_its_file_whatever_it_is() {
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

//! Turns arguments into inputs.

mod exact;
mod guess;
mod name;
mod open;
mod remote;
mod version;
mod walk;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::{Handle, packing_of, unpack_front};
use crate::remote::{Address, Client, Object, below, is_remote};
use crate::{Error, Format, Settings, wacz};
use guess::Guess;

/// A file, a remote object or standard input.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name for messages and tables: the path as specified, with `/` as separator; the URL of a
    /// remote object without credentials; `-` for standard input.
    pub name: String,
    /// The stored length in bytes. None for a stream.
    pub bytes: Option<u64>,
    /// The version of the content, to detect changes. For a remote object, its `ETag` or the time
    /// of its last modification. For a file, set by [`Input::identify`].
    pub version: Option<String>,
    /// The format. None for a stream, whose format is detected when it is opened.
    pub format: Option<Format>,
    pub(crate) location: Location,
    /// The URL of the page, if the input is a single page.
    pub(crate) url: String,
}

/// The location of an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    /// A file that can be read at any offset.
    File(PathBuf),
    /// A path that can only be read once, from the beginning.
    Pipe(PathBuf),
    /// Standard input.
    Stdin,
    /// A remote object.
    Remote(Object),
}

/// The result of [`resolve`].
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The inputs, sorted by name, without repetitions. All of them could be opened.
    pub inputs: Vec<Input>,
    /// The files that were found and are not read, by cause.
    pub ignored: Vec<IgnoredFiles>,
}

/// Files that were found and are not read, for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFiles {
    /// Why they are not read.
    pub cause: IgnoredCause,
    /// The number of files.
    pub count: u64,
    /// The name of the first file.
    pub example: String,
}

/// Why a file is not read.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IgnoredCause {
    /// By its name, the file is part of a page: a style sheet, an image.
    NotPage,
    /// The file contains neither text nor a known format.
    Binary,
    /// The file is in a known format that is not supported.
    Unsupported,
    /// The user may not read the file.
    Unreadable,
    /// Not a regular file: a socket, a device.
    Special,
    /// The file is sparse: its size is a thousand times its size on disk.
    Sparse,
    /// A symbolic link out of the folder, which is not followed.
    Link,
    /// A folder without files that can be read.
    EmptyFolder,
    /// A corpus written by cento, such as the output of an earlier run within the folder.
    Corpus,
}

impl IgnoredCause {
    /// A short name that is stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            IgnoredCause::NotPage => "not-page",
            IgnoredCause::Binary => "binary",
            IgnoredCause::Unsupported => "unsupported",
            IgnoredCause::Unreadable => "unreadable",
            IgnoredCause::Special => "special",
            IgnoredCause::Sparse => "sparse",
            IgnoredCause::Link => "link",
            IgnoredCause::EmptyFolder => "empty-folder",
            IgnoredCause::Corpus => "corpus",
        }
    }

    /// A description for users.
    pub fn sentence(self) -> &'static str {
        match self {
            IgnoredCause::NotPage => "the file is part of a page",
            IgnoredCause::Binary => "the file contains neither text nor a known format",
            IgnoredCause::Unsupported => "the format of the file is not supported",
            IgnoredCause::Unreadable => "no permission to read the file",
            IgnoredCause::Special => "not a regular file",
            IgnoredCause::Sparse => "the file is sparse",
            IgnoredCause::Link => "the link leads out of the folder; --follow follows it",
            IgnoredCause::EmptyFolder => "the folder contains nothing to read",
            IgnoredCause::Corpus => "the folder is a corpus",
        }
    }
}

impl fmt::Display for IgnoredCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Finds the inputs that `specs` name.
///
/// | spec | inputs |
/// |---|---|
/// | `-` | standard input |
/// | `@list` | one spec per line of the file `list`; empty lines and comments (`# …`) are ignored |
/// | a file | the file |
/// | a folder | all files below the folder, except hidden ones (a name that begins with a dot) |
/// | `http://…`, `https://…` | the object at this URL |
/// | `s3://bucket/key` | the object |
/// | `s3://bucket/prefix/` | all objects below the prefix, except hidden ones |
/// | a pattern | the files that match |
///
/// In a pattern, `*` matches any characters, `**` any folders, `?` one character, and `[a-z]` one
/// character of a range.
///
/// The format of a file is detected by its name or its first bytes. Files that cannot contain pages
/// are counted and not read. A file that is named several times is read once.
///
/// A list may be compressed, and it may be remote (`@https://…`). The lines of a remote list may be
/// relative to its server or bucket, as those of Common Crawl are.
/// [`RemoteSettings::list_base`](crate::RemoteSettings::list_base) sets another base.
pub fn resolve(specs: &[String], settings: &Settings) -> Result<Resolved, Error> {
    if let Some(base) = &settings.base_url {
        name::check_base(base)?;
    }
    if let Some(base) = settings
        .remote
        .list_base
        .as_ref()
        .filter(|base| !is_remote(base))
    {
        return Err(Error::BadBaseUrl {
            typed: base.clone(),
        });
    }
    let mut resolver = Resolver {
        settings,
        inputs: HashMap::new(),
        ignored: BTreeMap::new(),
        lists: Vec::new(),
        lists_read: 0,
        lines_read: 0,
        found: 0,
        unsupported: None,
        client: None,
        pending: Vec::new(),
    };
    for spec in specs {
        resolver.spec(spec)?;
    }
    resolver.inspect()?;
    resolver.finish(specs)
}

struct Resolver<'a> {
    settings: &'a Settings,
    /// The inputs by the identity of the file, which does not depend on the path.
    inputs: HashMap<PathBuf, Input>,
    ignored: BTreeMap<IgnoredCause, IgnoredFiles>,
    /// The lists being read, to detect a list that contains itself.
    lists: Vec<PathBuf>,
    /// The number of lists read, and of their lines.
    lists_read: u64,
    lines_read: u64,
    /// The number of files found, with repetitions.
    found: u64,
    /// The format of the first unsupported file.
    unsupported: Option<&'static str>,
    /// Created for the first remote object.
    client: Option<Arc<Client>>,
    /// Remote objects to inspect. They are inspected together, because each request takes time.
    pending: Vec<remote::PendingObject>,
}

/// The longest list in bytes, compressed or not.
const MAX_LIST: usize = 256 << 20;
/// The maximum nesting depth of lists.
const MAX_LIST_DEPTH: usize = 16;
/// The maximum number of lines in all lists together: lists that name another list twice double
/// with each level.
const MAX_LIST_LINES: u64 = 100_000_000;
/// The maximum number of lists. Each may be remote.
const MAX_LISTS: u64 = 10_000;
/// A file whose size is this many times its size on disk is sparse: no file system compresses so
/// well.
#[cfg(unix)]
const HOLE: u64 = 1_000;
/// Smaller files may be sparse: reading them takes no time.
#[cfg(unix)]
const SMALL: u64 = 1 << 30;

impl Resolver<'_> {
    fn spec(&mut self, spec: &str) -> Result<(), Error> {
        if spec == "-" {
            let input = self.stream("-", Location::Stdin);
            self.add("-".into(), input);
            return Ok(());
        }
        if let Some(list) = spec.strip_prefix('@') {
            return self.list(list);
        }
        if is_remote(spec) {
            return self.remote(spec);
        }
        let path = &exact::path_of(spec);
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.folder(path, spec),
            Ok(_) => self.named(path, spec),
            // A name that exists is not a pattern, whatever characters it contains.
            Err(_) if spec.contains(['*', '?', '[']) => self.pattern(spec),
            Err(error) => Err(Error::from_io(spec, error)),
        }
    }

    fn list(&mut self, list: &str) -> Result<(), Error> {
        let too_many = |problem: String| Error::BadList {
            name: list.to_owned(),
            problem,
        };
        if self.lists.len() >= MAX_LIST_DEPTH {
            return Err(too_many(format!(
                "lists are nested more than {MAX_LIST_DEPTH} deep"
            )));
        }
        self.lists_read += 1;
        if self.lists_read > MAX_LISTS {
            return Err(too_many(format!("more than {MAX_LISTS} lists in total")));
        }
        // The base of relative lines, if they are not local paths.
        let mut base = self.settings.remote.list_base.clone();
        let bytes = if list == "-" {
            read_list(io::stdin()).map_err(|error| Error::from_io("@-", error))?
        } else {
            let address = is_remote(list).then(|| Address::parse(list)).transpose()?;
            let (name, identity) = match &address {
                Some(address) => (address.name(), address.name().into()),
                None => (list.to_owned(), identity(Path::new(list))),
            };
            if self.lists.contains(&identity) {
                return Err(Error::ListLoop { name });
            }
            self.lists.push(identity);
            match address {
                Some(address) => {
                    base.get_or_insert_with(|| address.root());
                    self.client()?.read(address, MAX_LIST)?
                }
                None => File::open(list)
                    .and_then(read_list)
                    .map_err(|error| Error::from_io(list, error))?,
            }
        };
        for line in list_text(list, bytes)?.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.lines_read += 1;
            if self.lines_read > MAX_LIST_LINES {
                let problem = format!("more than {MAX_LIST_LINES} lines in all lists together");
                return Err(too_many(problem));
            }
            // A remote list must not name local files: a line that is not a URL is relative to the
            // base.
            match (&base, line.strip_prefix('@')) {
                (Some(base), Some(list)) if !is_remote(list) => {
                    self.list(&below(base, list))?;
                }
                (Some(base), None) if !is_remote(line) => self.spec(&below(base, line))?,
                _ => self.spec(line)?,
            }
        }
        if list != "-" {
            self.lists.pop();
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), Error> {
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let matches = glob::glob_with(pattern, options).map_err(|error| Error::BadPattern {
            pattern: pattern.into(),
            problem: error.msg.into(),
        })?;
        let mut any = false;
        for path in matches {
            any = true;
            match path {
                Err(error) => self.ignore(IgnoredCause::Unreadable, &name::shown(error.path())),
                Ok(path) if path.is_dir() => self.folder(&path, &name::shown(&path))?,
                // A pipe that was not named explicitly may wait for a writer for ever.
                Ok(path) if path.exists() && !path.is_file() => {
                    self.ignore(IgnoredCause::Special, &name::shown(&path));
                }
                // A file that was not named explicitly and cannot be read is counted, as in a
                // folder.
                Ok(path) => {
                    let shown = name::shown(&path);
                    if self.named(&path, &shown).is_err() {
                        self.ignore(IgnoredCause::Unreadable, &shown);
                    }
                }
            }
        }
        if any {
            Ok(())
        } else {
            Err(Error::NoMatch {
                pattern: pattern.into(),
            })
        }
    }

    /// Adds a file that the user named.
    fn named(&mut self, path: &Path, typed: &str) -> Result<(), Error> {
        let failed = |error| Error::from_io(typed, error);
        // Opening and closing a pipe would break it for its writer, so the type is checked first.
        let metadata = fs::metadata(path).map_err(failed)?;
        let shown = name::shown(path);
        if !metadata.is_file() {
            let input = self.stream(&shown, Location::Pipe(path.into()));
            self.add(path.into(), input);
            return Ok(());
        }
        if is_hole(&metadata) {
            self.ignore(IgnoredCause::Sparse, &shown);
            return Ok(());
        }
        let file = File::open(path).map_err(failed)?;
        let file = Handle::local(file).map_err(failed)?;
        if let Some(format) = self.format_of(&shown, &file, true).map_err(failed)? {
            let input = Input {
                url: self.url(&shown, &shown),
                name: shown,
                bytes: Some(metadata.len()),
                version: None,
                format: Some(format),
                location: Location::File(path.into()),
            };
            self.add(identity(path), input);
        }
        Ok(())
    }

    /// Detects the format of a file. A file that cannot be read is counted as ignored, and the
    /// result is `None`. The content of a file that was `named` by the user is checked even if its
    /// name is that of a style sheet.
    fn format_of(&mut self, shown: &str, file: &Handle, named: bool) -> io::Result<Option<Format>> {
        self.format_by(guess::by_name(shown), shown, file, named)
    }

    fn format_by(
        &mut self,
        by_name: Guess,
        shown: &str,
        file: &Handle,
        named: bool,
    ) -> io::Result<Option<Format>> {
        if let Some(format) = self.settings.format {
            return Ok(Some(format));
        }
        let guess = if guess::is_conclusive(by_name, named) {
            by_name
        } else {
            guess::by_content(file)?
        };
        let guess = match guess {
            Guess::Unsupported(guess::ARCHIVE_OF_FILES) if wacz::is_wacz(file)? => {
                Guess::Format(Format::Wacz)
            }
            guess => guess,
        };
        let cause = match guess {
            Guess::Format(format) => {
                if by_name != Guess::MaybeJsonLines || format == Format::JsonLines {
                    return Ok(Some(format));
                }
                self.unsupported
                    .get_or_insert("JSON that is not one object per line");
                IgnoredCause::Unsupported
            }
            Guess::Unsupported(kind) => {
                self.unsupported.get_or_insert(kind);
                IgnoredCause::Unsupported
            }
            Guess::NotPage => IgnoredCause::NotPage,
            Guess::Binary | Guess::Unknown | Guess::MaybeJsonLines => IgnoredCause::Binary,
        };
        self.ignore(cause, shown);
        Ok(None)
    }

    fn stream(&self, name: &str, location: Location) -> Input {
        Input {
            name: name.into(),
            bytes: None,
            version: None,
            format: self.settings.format,
            location,
            url: self
                .settings
                .base_url
                .clone()
                .unwrap_or_else(|| name.into()),
        }
    }

    /// The URL of a file at the path `relative` below the base URL.
    fn url(&self, shown: &str, relative: &str) -> String {
        match &self.settings.base_url {
            Some(base) => name::joined(base, relative),
            None => shown.into(),
        }
    }

    fn add(&mut self, identity: PathBuf, input: Input) {
        fn order(input: &Input) -> (usize, &str) {
            (input.name.len(), &input.name)
        }
        self.found += 1;
        // Of two names for one file the simpler one is used, regardless of their order.
        match self.inputs.get(&identity) {
            Some(known) if order(known) <= order(&input) => {}
            _ => {
                self.inputs.insert(identity, input);
            }
        }
    }

    fn ignore(&mut self, cause: IgnoredCause, name: &str) {
        let files = self.ignored.entry(cause).or_insert_with(|| IgnoredFiles {
            cause,
            count: 0,
            example: name.into(),
        });
        files.count += 1;
    }

    fn finish(self, specs: &[String]) -> Result<Resolved, Error> {
        let Some(first) = specs.first() else {
            return Err(Error::NoInput);
        };
        let ignored: Vec<_> = self.ignored.into_values().collect();
        if self.inputs.is_empty() {
            let (name, problem) = match ignored.as_slice() {
                [] => (first.clone(), "the list is empty".into()),
                [only] if only.count == 1 && only.cause == IgnoredCause::Unsupported => {
                    return Err(Error::Unsupported {
                        name: only.example.clone(),
                        kind: self.unsupported.unwrap_or_default().into(),
                    });
                }
                [only] if only.count == 1 => (only.example.clone(), only.cause.sentence().into()),
                several => (first.clone(), describe(several)),
            };
            return Err(Error::NothingToRead { name, problem });
        }
        let mut inputs: Vec<_> = self.inputs.into_values().collect();
        // By location as well: two names that are not UTF-8 may be displayed alike.
        inputs.sort_by(|a, b| (&a.name, &a.location).cmp(&(&b.name, &b.location)));
        Ok(Resolved { inputs, ignored })
    }
}

/// Reads a list, up to the maximum size.
fn read_list(list: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    list.take(MAX_LIST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_LIST {
        return Err(io::Error::other(format!(
            "the list is larger than {MAX_LIST} bytes"
        )));
    }
    Ok(bytes)
}

/// Decompresses and decodes a list.
fn list_text(list: &str, bytes: Vec<u8>) -> Result<String, Error> {
    let failed = |problem: &str| Error::BadList {
        name: list.to_owned(),
        problem: problem.to_owned(),
    };
    let bytes = match packing_of(&bytes) {
        Some(packing) => unpack_front(&bytes, packing, MAX_LIST),
        None => bytes,
    };
    if bytes.len() >= MAX_LIST {
        return Err(failed("the list is too large"));
    }
    String::from_utf8(bytes).map_err(|_| failed("the list is not UTF-8 text"))
}

/// "nothing to read, only 3 not-page (a/b.css), 1 binary (a/c)".
fn describe(ignored: &[IgnoredFiles]) -> String {
    let kinds: Vec<_> = ignored
        .iter()
        .filter(|files| files.cause != IgnoredCause::EmptyFolder)
        .map(|files| format!("{} {} ({})", files.count, files.cause, files.example))
        .collect();
    match kinds.as_slice() {
        [] => "the folders contain nothing to read".into(),
        kinds => format!("nothing to read, only {}", kinds.join(", ")),
    }
}

/// Whether a file is sparse: reading it would take hours and yield zeros.
#[cfg(unix)]
fn is_hole(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let stored = metadata.blocks().saturating_mul(512);
    metadata.len() > SMALL && stored.saturating_mul(HOLE) < metadata.len()
}

#[cfg(not(unix))]
fn is_hole(_metadata: &fs::Metadata) -> bool {
    false
}

/// The identity of a file, which does not depend on the path: its canonical folder and its name.
/// Canonicalising the file itself would take a system call for each of a million files, and would
/// merge two links to one file, which are two pages.
fn identity(path: &Path) -> PathBuf {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return path.into(),
    };
    match (parent.canonicalize(), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.into(),
    }
}

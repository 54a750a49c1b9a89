//! From what the user typed to inputs.

mod exact;
mod kind;
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
use kind::Guess;

/// One file, one object on another machine, or standard input.
#[derive(Clone, Debug)]
pub struct Input {
    /// As shown and stored: the path as given, with `/` between its parts; the URL of an object,
    /// without any credentials that are in it; `-` for standard input.
    pub name: String,
    /// How long it is as stored. Nothing for a stream.
    pub bytes: Option<u64>,
    /// What tells that it has changed: of an object on another machine its `ETag`, or when it was
    /// last modified; of a file what [`Input::identify`] found, once it was asked.
    pub version: Option<String>,
    /// What it holds. Nothing for a stream, whose first bytes tell when it is opened.
    pub format: Option<Format>,
    pub(crate) location: Location,
    /// The URL of the page that it is, if it is one.
    pub(crate) url: String,
}

/// Where the bytes of an input are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    /// In a file that can be read from any place.
    File(PathBuf),
    /// In something with a path that can only be read once, from the front.
    Pipe(PathBuf),
    /// In standard input.
    Stdin,
    /// On another machine.
    Remote(Object),
}

/// What the user's words turned out to name.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The inputs, sorted by name, each once. All of them can be opened, unless that changes
    /// meanwhile.
    pub inputs: Vec<Input>,
    /// The files that were come across and will not be read, by cause.
    pub ignored: Vec<IgnoredFiles>,
}

/// Files of one kind that were come across and will not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFiles {
    /// What they are.
    pub cause: IgnoredCause,
    /// How many there are.
    pub count: u64,
    /// The name of the first.
    pub example: String,
}

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IgnoredCause {
    /// Its name says that it belongs to pages without being one: a style sheet, an image.
    NotPage,
    /// It holds neither text nor any format that is known.
    Binary,
    /// It holds a format that is known but not read.
    Unsupported,
    /// It may not be read.
    Unreadable,
    /// It is no file: a socket, a device.
    Special,
    /// It is a hole: it claims a thousand times what it takes on the disk.
    Sparse,
    /// It is a link out of the folder that is read, and links are not followed.
    Link,
    /// A folder without any file that is read.
    EmptyFolder,
    /// A folder that cento itself made, such as the output of an earlier run within the folder that
    /// is read.
    Corpus,
}

impl IgnoredCause {
    /// A short name that stays the same across versions.
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

    /// A sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            IgnoredCause::NotPage => "the file belongs to a page and is none",
            IgnoredCause::Binary => "the file holds neither text nor a format that is known",
            IgnoredCause::Unsupported => "the file is in a format that is not read",
            IgnoredCause::Unreadable => "the file may not be read",
            IgnoredCause::Special => "it is not a file",
            IgnoredCause::Sparse => "the file is sparse: nearly all of it is a hole",
            IgnoredCause::Link => {
                "the link leads out of the folder that is read; --follow follows it"
            }
            IgnoredCause::EmptyFolder => "the folder holds nothing to read",
            IgnoredCause::Corpus => "the folder is a corpus that cento made",
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
/// | spec | names |
/// |---|---|
/// | `-` | standard input |
/// | `@list` | what the lines of the file `list` name; empty lines and those that begin with `#` are passed over |
/// | a file | that file |
/// | a folder | the files in it and in the folders below it; what begins with a dot is left out |
/// | `http://…`, `https://…` | what is there |
/// | `s3://bucket/key` | that object |
/// | `s3://bucket/prefix/` | the objects whose keys begin so; a part that begins with a dot is left out, as in a folder |
/// | a pattern | what matches it: `*` any characters, `**` any folders, `?` one character, `[a-z]` one of these |
///
/// A file is known by its name, else by its first bytes; what cannot be a page or hold pages is
/// counted, not read. The same file is read once, however often it is named.
///
/// A list may be packed, and may be on another machine itself (`@https://…`). Its lines may then be
/// relative to that server or bucket, as those of Common Crawl are.
/// [`RemoteSettings::list_base`](crate::RemoteSettings) says what they are relative to otherwise.
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
        waiting: Vec::new(),
    };
    for spec in specs {
        resolver.spec(spec)?;
    }
    resolver.look()?;
    resolver.finish(specs)
}

struct Resolver<'a> {
    settings: &'a Settings,
    /// By what tells one file from another whatever path led to it.
    inputs: HashMap<PathBuf, Input>,
    ignored: BTreeMap<IgnoredCause, IgnoredFiles>,
    /// The lists being read, to find one that contains itself.
    lists: Vec<PathBuf>,
    /// How many lists, and lines of them, were read in all.
    lists_read: u64,
    lines_read: u64,
    /// How many files were to be read, the same one counted as often as it was found.
    found: u64,
    /// What the first file held that is known and not read.
    unsupported: Option<&'static str>,
    /// Made when the first object on another machine is named.
    client: Option<Arc<Client>>,
    /// The objects that are still to be looked at: all at once, because each takes its time.
    waiting: Vec<remote::Waiting>,
}

/// The longest list, packed or not.
const MAX_LIST: usize = 256 << 20;
/// How deep lists may name other lists.
const MAX_LIST_DEPTH: usize = 16;
/// How many lines of lists are followed in all: lists that name each other twice double with each
/// level.
const MAX_LIST_LINES: u64 = 100_000_000;
/// How many lists are read in all. Each may be fetched from another machine.
const MAX_LISTS: u64 = 10_000;
/// A file this many times larger than what it takes on the disk is a hole: no file system
/// compresses so well.
#[cfg(unix)]
const HOLE: u64 = 1_000;
/// Smaller files may be holes: to read them takes no time.
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
            // A name that exists is never taken for a pattern, whatever characters it has.
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
        // What the lines are relative to, if they are no paths.
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
            // A list from elsewhere must not be able to name files here: what is no URL is below
            // its base.
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
                // A pipe that was not asked for by name may wait for a writer for ever.
                Ok(path) if path.exists() && !path.is_file() => {
                    self.ignore(IgnoredCause::Special, &name::shown(&path));
                }
                // A file that cannot be read was not asked for by name: it is counted, as in a
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

    /// A file that the user named.
    fn named(&mut self, path: &Path, typed: &str) -> Result<(), Error> {
        let failed = |error| Error::from_io(typed, error);
        // A pipe that is opened and closed again is lost to the one who writes to it: look before
        // opening.
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

    /// What a file holds. Nothing if it is not to be read, which is then counted. A file that was
    /// `named` by the user is read as text even if its name is that of a style sheet.
    fn format_of(&mut self, shown: &str, file: &Handle, named: bool) -> io::Result<Option<Format>> {
        self.format_by(kind::by_name(shown), shown, file, named)
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
        let guess = if kind::is_told(by_name, named) {
            by_name
        } else {
            kind::by_content(file)?
        };
        let guess = match guess {
            Guess::Unsupported(kind::ARCHIVE_OF_FILES) if wacz::is_wacz(file)? => {
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
                    .get_or_insert("JSON that is not one object a line");
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

    /// The URL of a file, which is at `relative` below what the base URL stands for.
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
        // Of two names for one file the simpler stays, whatever order they were typed in.
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
                [] => (first.clone(), "it names no input".into()),
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
        // By location as well: two names that are not text may be shown alike.
        inputs.sort_by(|a, b| (&a.name, &a.location).cmp(&(&b.name, &b.location)));
        Ok(Resolved { inputs, ignored })
    }
}

/// All of a list, unless it is longer than any list is.
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

/// What a list says, unpacked.
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
        return Err(failed("the list is too long"));
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
        [] => "the folders hold nothing to read".into(),
        kinds => format!("nothing to read, only {}", kinds.join(", ")),
    }
}

/// Whether a file is all hole: to read it would take hours, and give zeros.
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

/// What tells one file from another whatever path led to it: its real folder and its name. The
/// file's own real path would cost a look at each of a million files, and would take two links to
/// one page, which are two pages, for one.
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

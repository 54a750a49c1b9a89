//! The truth about a synthetic crawl: the records of `truth.jsonl`.
//!
//! Each line is a JSON object with a `type`; the first is the header. Readers ignore unknown types
//! and fields, so additions keep the version; a change of meaning increments it.
//!
//! Pages are identified by URL. A URL identifies one page and its revisits. Offsets are those of
//! the text that `cento index` stores by default (all content): `begin` and `end` in bytes of
//! UTF-8, `begin_char` and `end_char` in characters. Times are in RFC 3339, hashes in hex. Grams
//! are sets of sequences of `grams` words (see the header), as defined by `cento-text` and
//! `cento-fingerprint`; chunks are paragraphs, normalised and hashed by the defaults of an index.
//!
//! | type | one for each | content |
//! |---|---|---|
//! | [`truth`] | file | version, settings |
//! | [`boilerplate`] | language | a sentence that most sites of the language show |
//! | [`site`] | site | host, domain, network addresses |
//! | [`page`] | page | kind, dates, network address, template, digest, reason for rejection |
//! | [`copy`] | pair of whole copies | resemblance |
//! | [`alias`] | alias | another URL of a page, another host name of a server, a mirror |
//! | [`revisit`] | revisit | the page that is revisited |
//! | [`passage`] | copied passage | offsets on both sides, and the equal ranges |
//! | [`quilt`] | quilt | its sources and their shares |
//! | [`copied`] | page that copies an original | the original, and how much of it |
//! | [`bad-site`] | link farm, spammer, site of stolen pages | hosts, addresses and folders |
//! | [`template`] | template of reports | host; its pages differ in numbers only |
//! | [`trap`] | recursion trap | host |
//! | [`damaged`] | damaged record | the damage, and how an index handles it |
//!
//! [`truth`]: TruthRecord::Truth
//! [`boilerplate`]: TruthRecord::Boilerplate
//! [`site`]: TruthRecord::Site
//! [`page`]: TruthRecord::Page
//! [`copy`]: TruthRecord::Copy
//! [`alias`]: TruthRecord::Alias
//! [`revisit`]: TruthRecord::Revisit
//! [`passage`]: TruthRecord::Passage
//! [`quilt`]: TruthRecord::Quilt
//! [`copied`]: TruthRecord::Copied
//! [`bad-site`]: TruthRecord::BadSite
//! [`template`]: TruthRecord::Template
//! [`trap`]: TruthRecord::Trap
//! [`damaged`]: TruthRecord::Damaged

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::pages::CopyMethod;
use crate::settings::{PageKind, SynthSettings};
use crate::warc::RecordDamage;

/// The version of the records that this program writes, and the newest that it reads.
pub const TRUTH_VERSION: u32 = 1;

/// One line of a truth file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum TruthRecord {
    /// The header: the first line.
    Truth {
        /// The version of the records.
        version: u32,
        /// The number of words of a gram in all records.
        grams: u32,
        /// The settings of the crawl.
        settings: SynthSettings,
    },
    /// A sentence that most sites of a language show.
    Boilerplate {
        /// The language.
        language: String,
        /// The sentence.
        text: String,
    },
    /// A site.
    Site {
        /// Its host.
        host: String,
        /// Its registered domain.
        domain: String,
        /// Its network addresses. Each page was fetched from one of them.
        ips: Vec<String>,
        /// The kind of its pages.
        kind: PageKind,
    },
    /// A page of the archives.
    Page {
        /// Its URL.
        url: String,
        /// Its kind. Pages of the kinds `article`, `original`, `news` and `damaged` have no copied
        /// text and are controls.
        kind: PageKind,
        /// The archive it is in.
        file: String,
        /// When it was fetched. Pages with copied text were fetched after their sources.
        fetched: String,
        /// The date of publication that it declares, if any; also after that of its sources.
        published: Option<String>,
        /// The network address it was fetched from.
        ip: String,
        /// The language of its text.
        language: String,
        /// Whether the page declares its language.
        declared: bool,
        /// The host whose template it has: the same header, navigation and notices.
        template: String,
        /// The SHA-1 of its payload.
        payload_sha1: String,
        /// The reason for which an index rejects it; `None` if it is kept.
        reject: Option<String>,
    },
    /// Two pages, one of which is a copy of the other, or both copies of a third.
    Copy {
        /// The copy, fetched later.
        copy: String,
        /// The page that it copies.
        of: String,
        /// `bytes`, `text` or `near`.
        how: Likeness,
        /// The reason for the copy.
        why: CopyReason,
        /// Shared grams / all grams of both.
        resemblance: f64,
        /// Shared grams / grams of the copy.
        of_copy: f64,
        /// Shared grams / grams of the source.
        of_source: f64,
        /// The number of distinct chunks of both.
        shared_chunks: u64,
        /// The share of edited words, for near-duplicates.
        edit_rate: Option<f64>,
    },
    /// Another URL or host name.
    Alias {
        /// `url`, `server` or `mirror`.
        kind: AliasKind,
        /// The other name: a URL or a host.
        alias: String,
        /// The URL or host that it is an alias of.
        of: String,
    },
    /// A page that was fetched again and had not changed.
    Revisit {
        /// Its URL.
        url: String,
        /// When it was fetched again.
        fetched: String,
        /// The URL of the revisited page.
        of: String,
        /// When that page was fetched.
        of_fetched: String,
    },
    /// A passage of one page that is copied on another.
    Passage {
        /// The page with the copy.
        page: String,
        /// The source: the URL of a page or of an original.
        source: String,
        /// Whether the source is a page of the archives; otherwise it is in the folder of
        /// originals.
        crawled: bool,
        /// The file of the source in the folder of originals, if it is there.
        file: Option<String>,
        /// How it was copied.
        how: CopyMethod,
        /// The share of edited words, if it was edited.
        edit_rate: Option<f64>,
        /// Its span on the page.
        at: TextSpan,
        /// Its span in the source.
        source_at: TextSpan,
        /// The ranges that are equal byte for byte: begin and end on the page, begin and end in the
        /// source.
        segments: Vec<[u64; 4]>,
    },
    /// A page stitched from others.
    Quilt {
        /// The page.
        page: String,
        /// Whether it links to each of its sources.
        attributed: bool,
        /// The share of its grams that are on at least one source.
        patch_share: f64,
        /// Its sources, in the order of their patches.
        sources: Vec<QuiltSource>,
    },
    /// A page that copies an original.
    Copied {
        /// The page.
        page: String,
        /// The URL of the original.
        original: String,
        /// Its file in the folder of originals, if it is there.
        file: Option<String>,
        /// Whether it is a page of the archives.
        crawled: bool,
        /// Whether it was copied as a whole.
        extent: CopyExtent,
        /// Shared grams / grams of the page.
        of_page: f64,
        /// Shared grams / grams of the original.
        of_original: f64,
        /// The number of distinct chunks of both.
        shared_chunks: u64,
    },
    /// A site, or several of one owner, that analyses should flag.
    BadSite {
        /// What it is.
        kind: BadKind,
        /// Its hosts.
        hosts: Vec<String>,
        /// Its network addresses.
        ips: Vec<String>,
        /// The number of its pages.
        pages: u64,
        /// The folder of the pages in question, if it is not the whole site.
        prefix: Option<String>,
        /// A folder of the same site with other pages.
        clean: Option<String>,
    },
    /// Reports that differ in numbers only.
    Template {
        /// Their host.
        host: String,
        /// The number of reports.
        pages: u64,
    },
    /// A crawler trap. Its pages are rejected as `recursion`.
    Trap {
        /// Its host.
        host: String,
        /// The number of its URLs that were fetched.
        pages: u64,
    },
    /// A record that is damaged on purpose.
    Damaged {
        /// The URL of the page that would be in it.
        url: String,
        /// The archive it is in.
        file: String,
        /// The damage.
        damage: RecordDamage,
        /// The reason for which an index rejects the page; `None` if it finds no page.
        reject: Option<String>,
    },
}

/// A range of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSpan {
    /// Its first byte.
    pub begin: u64,
    /// The byte after it.
    pub end: u64,
    /// Its first character.
    pub begin_char: u64,
    /// The character after it.
    pub end_char: u64,
    /// The hash of its text, as computed by `cento-fingerprint`.
    pub hash: String,
}

/// A source of a quilt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuiltSource {
    /// The page.
    pub url: String,
    /// The share of the grams of the quilt that are on this page.
    pub share: f64,
}

/// How similar two copies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Likeness {
    /// Identical bytes.
    Bytes,
    /// Identical text in other markup.
    Text,
    /// Near-duplicates; see `resemblance`.
    Near,
}

/// The reason for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyReason {
    /// A copied page.
    Copy,
    /// A copied page with edited words.
    Edited,
    /// Two edited copies of one page.
    Sibling,
    /// A page on a mirror.
    Mirror,
    /// A page on another host name of its server.
    ServerAlias,
    /// A page at another URL of its host.
    UrlAlias,
    /// An original on a site of stolen pages.
    Stolen,
}

/// The kind of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AliasKind {
    /// Another URL of a page.
    Url,
    /// Another host name of a server.
    Server,
    /// A copy of a site on another server.
    Mirror,
}

/// How much of an original was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyExtent {
    /// All of it.
    Whole,
    /// Some paragraphs.
    Partial,
}

/// Why a site should be flagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadKind {
    /// Hosts full of links to each other, with text from a pool of sentences.
    LinkFarm,
    /// Many hosts on one network address with a few pages each, with text from a pool of sentences.
    Spammer,
    /// A folder of pages copied from originals.
    Thief,
}

/// Reads a truth file line by line, in constant memory.
pub struct TruthReader {
    path: std::path::PathBuf,
    lines: std::io::Lines<BufReader<File>>,
    line: u64,
}

impl TruthReader {
    /// Opens a file, reads its header, and returns the number of words of a gram with the reader.
    pub fn open(path: &Path) -> Result<(TruthReader, u32)> {
        let file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Error::NoTruth(format!("{} does not exist", path.display()))
            }
            _ => Error::io(path, error),
        })?;
        let mut reader = TruthReader {
            path: path.to_owned(),
            lines: BufReader::with_capacity(1 << 20, file).lines(),
            line: 0,
        };
        // The version is read first: the rest of a newer header may differ.
        #[derive(Deserialize)]
        struct Version {
            r#type: String,
            version: u32,
        }
        let first = reader.next_line()?.unwrap_or_default();
        let version: Version = serde_json::from_str(&first)
            .ok()
            .filter(|version: &Version| version.r#type == "truth")
            .ok_or_else(|| reader.bad("it has no header of a truth file".to_owned()))?;
        if version.version > TRUTH_VERSION {
            return Err(Error::TooNew {
                path: path.to_owned(),
                found: version.version,
                newest: TRUTH_VERSION,
            });
        }
        match serde_json::from_str(&first) {
            Ok(TruthRecord::Truth { grams, .. }) => Ok((reader, grams)),
            Ok(_) => Err(reader.bad("it has no header of a truth file".to_owned())),
            Err(error) => Err(reader.bad(error.to_string())),
        }
    }

    fn next_line(&mut self) -> Result<Option<String>> {
        self.line += 1;
        self.lines
            .next()
            .transpose()
            .map_err(|error| Error::io(&self.path, error))
    }

    fn bad(&self, detail: String) -> Error {
        Error::BadTruth {
            path: self.path.clone(),
            line: self.line,
            detail,
        }
    }
}

impl Iterator for TruthReader {
    type Item = Result<TruthRecord>;

    fn next(&mut self) -> Option<Result<TruthRecord>> {
        loop {
            let line = match self.next_line() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            match serde_json::from_str(&line) {
                Ok(record) => return Some(Ok(record)),
                Err(error) if is_unknown(&line) => {
                    let _ = error;
                }
                Err(error) => return Some(Err(self.bad(error.to_string()))),
            }
        }
    }
}

/// Whether a line is a record of an unknown type, which a newer program may have written.
fn is_unknown(line: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "truth",
        "boilerplate",
        "site",
        "page",
        "copy",
        "alias",
        "revisit",
        "passage",
        "quilt",
        "copied",
        "bad-site",
        "template",
        "trap",
        "damaged",
    ];
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    serde_json::from_str(line).is_ok_and(|typed: Typed| !KNOWN.contains(&typed.r#type.as_str()))
}

//! What is true of a synthetic crawl: the records of `truth.jsonl`.
//!
//! One JSON object a line, told apart by `type`; the first is the header. Readers pass over types
//! and fields that they do not know, so additions keep the version; whatever changes a meaning
//! raises it.
//!
//! Pages are named by URL. A URL names one page, and besides it the revisits of that page. Offsets
//! are those of the text that `cento index` keeps by default (all content): `begin` and `end` in
//! bytes of UTF-8, `begin_char` and `end_char` in characters. Times are RFC 3339, hashes are hex.
//! Grams are sets of runs of `grams` words (see the header) in the sense of `cento-text` and
//! `cento-fingerprint`; chunks are paragraphs, evened out and hashed by the defaults of an index.
//!
//! | type | one for each | what it says |
//! |---|---|---|
//! | [`truth`](Record::Truth) | file | version, settings |
//! | [`boilerplate`](Record::Boilerplate) | language | a sentence that most sites of the language show: no sign of copying |
//! | [`site`](Record::Site) | site | host, domain, addresses |
//! | [`page`](Record::Page) | page | kind, dates, address, template, digest, why it is rejected |
//! | [`copy`](Record::Copy) | pair of whole copies | how alike they are |
//! | [`alias`](Record::Alias) | alias | another URL of a page, another name of a server, a mirror |
//! | [`revisit`](Record::Revisit) | revisit | what it repeats |
//! | [`passage`](Record::Passage) | copied passage | where it is on both sides, and which stretches are the same |
//! | [`quilt`](Record::Quilt) | quilt | its sources and their shares |
//! | [`copied`](Record::Copied) | page that copies an original | which original, and how much of it |
//! | [`bad-site`](Record::BadSite) | link farm, spammer, thief | its hosts, addresses and folders |
//! | [`template`](Record::Template) | template of reports | its host: pages alike but for numbers |
//! | [`trap`](Record::Trap) | recursion trap | its host |
//! | [`damaged`](Record::Damaged) | damaged record | how, and what an index makes of it |

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::pages::How;
use crate::settings::{Kind, Settings};
use crate::warc::Damage;

/// The version of the records that this program writes, and the newest that it reads.
pub const TRUTH_VERSION: u32 = 1;

/// One line of a truth file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Record {
    /// The header: the first line.
    Truth {
        /// The version of the records.
        version: u32,
        /// Words of a gram, wherever grams are spoken of.
        grams: u32,
        /// Everything that the crawl follows from.
        settings: Settings,
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
        /// Its addresses, of which each page was fetched from one.
        ips: Vec<String>,
        /// What the pages on it are.
        kind: Kind,
    },
    /// A page of the archives.
    Page {
        /// Its address.
        url: String,
        /// What it is. `article`, `original`, `news` and `damaged` pages copy nothing and are
        /// controls.
        kind: Kind,
        /// The archive it is in.
        file: String,
        /// When it was fetched; whatever copies was fetched after its sources.
        fetched: String,
        /// When it says that it was published, if it says so; after its sources as well.
        published: Option<String>,
        /// Where it was fetched from.
        ip: String,
        /// The language of its text.
        language: String,
        /// Whether the page says so.
        declared: bool,
        /// The host whose template it wears: the same furniture, navigation and notices.
        template: String,
        /// SHA-1 of its payload.
        payload_sha1: String,
        /// Why an index rejects it; none if it keeps it.
        reject: Option<String>,
    },
    /// Two pages of which one copies the other as a whole, or both copy a third.
    Copy {
        /// The copy, fetched later.
        copy: String,
        /// What it copies.
        of: String,
        /// `bytes`, `text` or `near`.
        how: Likeness,
        /// Why there are two.
        why: Why,
        /// Common grams by all grams of the two.
        resemblance: f64,
        /// Common grams by grams of the copy.
        of_copy: f64,
        /// Common grams by grams of what it copies.
        of_source: f64,
        /// Distinct chunks that both have.
        shared_chunks: u64,
        /// The share of words that were changed, in near-copies.
        edit_rate: Option<f64>,
    },
    /// Another name for the same.
    Alias {
        /// `url`, `server` or `mirror`.
        kind: AliasKind,
        /// The other name: a URL, or a host.
        alias: String,
        /// What it is another name of.
        of: String,
    },
    /// A page that was fetched again and not stored again.
    Revisit {
        /// Its address.
        url: String,
        /// When it was fetched again.
        fetched: String,
        /// The address of what it repeats.
        of: String,
        /// When that was fetched.
        of_fetched: String,
    },
    /// Text of one page that stands on another.
    Passage {
        /// The page that copies.
        page: String,
        /// Where it copies from: the URL of a page or of an original.
        source: String,
        /// Whether the source is a page of the archives; if not, it is in the folder of originals.
        crawled: bool,
        /// The file of the source in the folder of originals, if it is there.
        file: Option<String>,
        /// How it was copied.
        how: How,
        /// The share of words that were changed, if it was edited.
        edit_rate: Option<f64>,
        /// Where it is on the page.
        at: Span,
        /// Where it is in the source.
        source_at: Span,
        /// The stretches that are the same byte for byte: begin and end on the page, begin and end
        /// in the source.
        segments: Vec<[u64; 4]>,
    },
    /// A page stitched from others.
    Quilt {
        /// The page.
        page: String,
        /// Whether it links to each of its sources.
        attributed: bool,
        /// The share of its grams that any of its sources has.
        patch_share: f64,
        /// Its sources, in the order of their patches.
        sources: Vec<QuiltSource>,
    },
    /// A page that copies an original.
    Copied {
        /// The page.
        page: String,
        /// The address of the original.
        original: String,
        /// Its file in the folder of originals, if it is there.
        file: Option<String>,
        /// Whether it is a page of the archives.
        crawled: bool,
        /// Whether all of it was copied.
        extent: Extent,
        /// Common grams by grams of the page.
        of_page: f64,
        /// Common grams by grams of the original.
        of_original: f64,
        /// Distinct chunks that both have.
        shared_chunks: u64,
    },
    /// Someone who should be found.
    BadSite {
        /// What it is.
        kind: BadKind,
        /// Its hosts.
        hosts: Vec<String>,
        /// Its addresses.
        ips: Vec<String>,
        /// How many pages it has.
        pages: u64,
        /// The folder that is bad, if not all of the site is.
        prefix: Option<String>,
        /// A folder of the same site that is not.
        clean: Option<String>,
    },
    /// Reports that differ in numbers only.
    Template {
        /// The host that shows them.
        host: String,
        /// How many there are.
        pages: u64,
    },
    /// A crawler's trap. Its pages are rejected as `recursion`.
    Trap {
        /// Its host.
        host: String,
        /// How many addresses of it were fetched.
        pages: u64,
    },
    /// A record that is damaged on purpose.
    Damaged {
        /// The address of the page that would be in it.
        url: String,
        /// The archive it is in.
        file: String,
        /// How.
        damage: Damage,
        /// Why an index rejects the page; none if it finds no page.
        reject: Option<String>,
    },
}

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its first byte.
    pub begin: u64,
    /// The byte behind it.
    pub end: u64,
    /// Its first character.
    pub begin_char: u64,
    /// The character behind it.
    pub end_char: u64,
    /// The hash of its text, as `cento-fingerprint` hashes texts.
    pub hash: String,
}

/// A source of a quilt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuiltSource {
    /// The page.
    pub url: String,
    /// The share of the quilt's grams that it has.
    pub share: f64,
}

/// How alike two copies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Likeness {
    /// The same payload.
    Bytes,
    /// The same text in other markup.
    Text,
    /// As far as `resemblance` says.
    Near,
}

/// Why a copy is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Someone copied a page.
    Copy,
    /// Someone copied a page and changed words.
    Edited,
    /// Two edited copies of one page.
    Sibling,
    /// A page of a mirror.
    Mirror,
    /// A page under another name of its server.
    ServerAlias,
    /// A page at another address of its host.
    UrlAlias,
    /// A publisher's page on a thief's site.
    Stolen,
}

/// What an alias is another name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AliasKind {
    /// A page.
    Url,
    /// A server.
    Server,
    /// A site, at another server.
    Mirror,
}

/// How much of an original was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// All of it.
    Whole,
    /// Some paragraphs.
    Partial,
}

/// What is bad about a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadKind {
    /// Hosts full of links to each other, with text from a pool of sentences.
    LinkFarm,
    /// Many hosts on one address, a few pages on each, with text from a pool of sentences.
    Spammer,
    /// A folder full of other people's pages.
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
                Error::NoTruth(format!("{} is not there", path.display()))
            }
            _ => Error::io(path, error),
        })?;
        let mut reader = TruthReader {
            path: path.to_owned(),
            lines: BufReader::with_capacity(1 << 20, file).lines(),
            line: 0,
        };
        // The version is read by itself: the rest of a newer header may be anything.
        #[derive(Deserialize)]
        struct Version {
            r#type: String,
            version: u32,
        }
        let first = reader.next_line()?.unwrap_or_default();
        let version: Version = serde_json::from_str(&first)
            .ok()
            .filter(|version: &Version| version.r#type == "truth")
            .ok_or_else(|| reader.bad("no header of a truth file".to_owned()))?;
        if version.version > TRUTH_VERSION {
            return Err(Error::TooNew {
                path: path.to_owned(),
                found: version.version,
                newest: TRUTH_VERSION,
            });
        }
        match serde_json::from_str(&first) {
            Ok(Record::Truth { grams, .. }) => Ok((reader, grams)),
            Ok(_) => Err(reader.bad("no header of a truth file".to_owned())),
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
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
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

/// Whether a line is a record of a type that this program does not know, which a later program may
/// have written.
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

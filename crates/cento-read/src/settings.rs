//! What the user may choose about reading.

use std::time::Duration;

use crate::{FieldMap, Format, RemoteSettings};

/// How inputs are found, read and decoded. The default is what suits most people.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The URL that stands for a walked folder: the URL of a file in it is this joined with the
    /// file's path below the folder. Without it the URL of a file is its path as given.
    pub base_url: Option<String>,
    /// Which fields of JSON objects and which columns of tables hold what.
    pub fields: FieldMap,
    /// Read every input as this, whatever its name and its first bytes say.
    pub format: Option<Format>,
    /// How much one record may cost.
    pub limits: Limits,
    /// Keep the text of HTTP responses that are no success (404 pages, redirects), too.
    pub keep_status: bool,
    /// Follow links that lead out of a walked folder. What is in a folder may be from others, and
    /// must not name files of the one who reads it, unless that one says so.
    pub follow_links: bool,
    /// How many threads, for each reader of a large gzip file of many members, inflate ahead of it.
    pub helpers: usize,
    /// How to deal with other machines.
    pub remote: RemoteSettings,
}

/// How much one record may cost. What exceeds a limit is set aside with its reason; it is never
/// held in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest page: as stored in its archive, and again after its content coding is undone.
    pub max_page_bytes: u64,
    /// The largest header of one archive record, and the largest head of an HTTP response.
    pub max_header_bytes: usize,
    /// How many lines a header, or the head of a response, may have.
    pub max_header_lines: usize,
    /// The longest line of a JSON Lines file.
    pub max_line_bytes: u64,
    /// How many times larger than its content coding a page may be. Only pages over a megabyte are
    /// held to it: short ones do no harm, and an empty table can honestly shrink a hundredfold. A
    /// compressed member of an input is held to it as well, once it has unpacked to four times the
    /// largest page.
    pub max_ratio: u64,
    /// How deep the elements of an HTML page, or the objects and lists of a JSON line, may stand
    /// within each other.
    pub max_nesting: u32,
    /// How long a processor may work on one page. Every step from bytes to chunks is linear in the
    /// size of the page, so that the limits above are what bounds the work, the same on every
    /// machine. This one is a guard against what nobody thought of.
    pub max_work: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_page_bytes: 64 << 20,
            max_header_bytes: 256 << 10,
            max_header_lines: 1_000,
            max_line_bytes: 64 << 20,
            max_ratio: 250,
            max_nesting: 20_000,
            max_work: Duration::from_secs(60),
        }
    }
}

//! Settings for reading.

use std::time::Duration;

use crate::{FieldMap, Format, RemoteSettings};

/// How inputs are found, read and decoded.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The base URL of a folder: the URL of a file is the base URL joined with the file's path
    /// relative to the folder. Without a base URL, the URL of a file is its path.
    pub base_url: Option<String>,
    /// The roles of JSON fields and table columns.
    pub fields: FieldMap,
    /// The format of all inputs. Without it, the format is detected by name and content.
    pub format: Option<Format>,
    /// Limits on the size of records.
    pub limits: Limits,
    /// Keep the text of HTTP responses with a status other than 2xx (404 pages, redirects).
    pub keep_status: bool,
    /// Follow symbolic links that lead out of a folder. Off by default: a folder may come from
    /// somebody else, and its links must not expose other files of the user.
    pub follow_links: bool,
    /// The number of threads that decompress ahead of each reader of a large gzip file with many
    /// members.
    pub helpers: usize,
    /// Deliver a WARC record of a stream without waiting for the next one. The records are the
    /// same; but line ends after a record that arrive late are not counted in its length, so that
    /// places depend on when bytes arrive.
    pub prompt: bool,
    /// Do not compute the digests of rows of tables and JSON objects, for commands that do not
    /// compare payloads.
    pub skip_row_digests: bool,
    /// Settings for remote inputs.
    pub remote: RemoteSettings,
}

/// Limits on the size of records. What exceeds a limit is rejected with a reason and never held in
/// memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest page in bytes, both as stored in its archive and without its content coding.
    pub max_page_bytes: u64,
    /// The largest header of an archive record and the largest head of an HTTP response, in bytes.
    pub max_header_bytes: usize,
    /// The maximum number of lines of a header and of the head of a response.
    pub max_header_lines: usize,
    /// The longest line of a JSON Lines file, in bytes.
    pub max_line_bytes: u64,
    /// The maximum compression ratio of a page. It applies to pages over a megabyte: short pages
    /// are harmless, and an empty table can legitimately compress a hundredfold. It also applies to
    /// a compressed member of an input, once the member has expanded to four times the largest
    /// page.
    pub max_ratio: u64,
    /// The maximum nesting depth of the elements of an HTML page and of a JSON line.
    pub max_nesting: u32,
    /// The maximum processor time for one page. Every step from bytes to chunks is linear in the
    /// size of the page, so the limits above bound the work, the same on every machine. This limit
    /// guards against cases that nobody thought of.
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

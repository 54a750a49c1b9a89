//! Options for reading inputs, shared by `cento index` and `cento scan`, and how they are resolved.

use std::path::Path;
use std::time::Duration;

use cento_fingerprint::ChunkHash;
use cento_read::{FieldMap, Format, RemoteSettings, Settings};
use cento_store::{Corpus, Error, PageLimits, Parameters};
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;
use clap::Args;

use crate::command_error::CommandError;
use crate::machine::{MachineArguments, Size, seconds};

/// Upper bound of `--max-page`: a byte of a page can become three bytes of text, and a text in a
/// table must be smaller than 2 GiB.
const LARGEST_PAGE: u64 = 512 << 20;

/// How inputs are found, fetched and cut into chunks.
#[derive(Debug, Args)]
pub(crate) struct ReadingArguments {
    /// Read inputs in this format instead of detecting it: warc, arc, wacz, html, text, jsonl or
    /// parquet
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) format: Option<Format>,
    /// URL of the input folder; by default the URL of a file is its path
    #[arg(long, value_name = "URL", help_heading = "Reading")]
    pub(crate) base_url: Option<String>,
    /// Assign a field of a table to a role: text, html, url, date, title, id, language or ip. May
    /// be repeated; `a.b` reads a field of a nested object
    #[arg(long = "field", value_name = "ROLE=NAME", help_heading = "Reading")]
    pub(crate) fields: Vec<String>,
    /// Follow symbolic links that point outside the input folders; by default they are skipped
    #[arg(long, help_heading = "Reading")]
    pub(crate) follow: bool,
    /// Keep pages with any HTTP status; by default those outside 200–299 are rejected
    #[arg(long, help_heading = "Reading")]
    pub(crate) any_status: bool,

    /// Base URL for relative lines in @FILE. By default they are paths, and relative lines in @URL
    /// are relative to its server or bucket
    #[arg(long, value_name = "URL", help_heading = "Remote inputs")]
    pub(crate) list_base: Option<String>,
    /// Maximum download rate per second, for all inputs together
    #[arg(long, value_name = "SIZE", help_heading = "Remote inputs")]
    pub(crate) max_rate: Option<Size>,
    /// How often a request may fail in a row before the run stops; the pause between attempts grows
    /// from 0.5 to 30 seconds
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        help_heading = "Remote inputs"
    )]
    pub(crate) retries: u32,
    /// Repeat a request after this many seconds without data
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=86_400),
        help_heading = "Remote inputs"
    )]
    pub(crate) stall_timeout: u64,
    /// Do not sign S3 requests, even if the environment has credentials. Without credentials,
    /// requests are never signed
    #[arg(long, help_heading = "Remote inputs")]
    pub(crate) anonymous: bool,

    /// Which text of an HTML page to keep: all; main, the main content without navigation and other
    /// boilerplate; or slope, the flattest window of the document slope curve (Seo & Croft 2008)
    /// [default: all]
    #[arg(long, value_name = "WHICH", help_heading = "Text and chunks")]
    pub(crate) content: Option<Selection>,
    /// Keep only the main content of HTML pages
    ///
    /// The same as --content main.
    #[arg(long, conflicts_with = "content", help_heading = "Text and chunks")]
    pub(crate) main: bool,
    /// Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N or document
    /// [default: paragraph]
    #[arg(long, value_name = "KIND", help_heading = "Text and chunks")]
    pub(crate) chunk: Option<ChunkKind>,
    /// Normalise chunks before hashing: none, space or space+case [default: space+case]
    #[arg(long, value_name = "HOW", help_heading = "Text and chunks")]
    pub(crate) normalise: Option<Normalisation>,
    /// Hash function for chunks: blake3 or sha1 [default: blake3]
    #[arg(long, value_name = "HASH", help_heading = "Text and chunks")]
    pub(crate) hash: Option<ChunkHash>,
    /// Do not store text: the corpus is smaller, and only analyses of chunks and page metadata work
    #[arg(long, help_heading = "Text and chunks")]
    pub(crate) no_text: bool,
    /// Treat suffixes under which anyone can publish, such as github.io, as public suffixes of
    /// domains
    #[arg(long, help_heading = "Text and chunks")]
    pub(crate) private_suffixes: bool,
    /// Reject a URL with more path components than this as a crawler's recursion [default: 96]
    #[arg(long, value_name = "N", help_heading = "Text and chunks")]
    pub(crate) recursion_components: Option<u32>,
    /// Reject a URL in which one component occurs this many times [default: 4]
    #[arg(long, value_name = "N", help_heading = "Text and chunks")]
    pub(crate) recursion_repeats: Option<u32>,
    /// Reject a URL in which a cycle of components occurs this many times in a row [default: 3]
    #[arg(long, value_name = "N", help_heading = "Text and chunks")]
    pub(crate) recursion_cycles: Option<u32>,
}

/// Limits of a single page. Pages over a limit are rejected and counted under the reason that its
/// help text names.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Largest page, as stored and after decoding; larger ones are rejected as too-large [default:
    /// 64M; at most 512M]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_page: Option<Size>,
    /// Largest expansion factor of a page over 1M when decoded (rejected as too-large), and of a
    /// compressed member larger than four maximum pages (unpacks-too-large) [default: 250]
    #[arg(long, value_name = "N")]
    pub(crate) max_ratio: Option<u64>,
    /// Largest header of a record or response; larger ones are rejected as header-too-long
    /// [default: 256K]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_header: Option<Size>,
    /// Most lines of a header; longer ones are rejected as header-too-long [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) max_header_lines: Option<u64>,
    /// Longest line of JSON Lines; longer ones are rejected as line-too-long [default: 64M, or
    /// --max-page if that is larger]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_line: Option<Size>,
    /// Deepest nesting of HTML elements or JSON values; deeper pages are rejected as too-deep
    /// [default: 20000]
    #[arg(long, value_name = "N")]
    pub(crate) max_nesting: Option<u32>,
    /// Longest processing time of a page; slower pages are rejected as too-slow. No page comes near
    /// it within the other limits [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_seconds: Option<Duration>,
    /// Most chunks of a page; more are rejected as too-many-chunks [default: 1000000]
    #[arg(long, value_name = "N")]
    pub(crate) max_chunks: Option<u64>,
    /// Longest URL of a page; longer ones are rejected as url-too-long [default: 4K]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_url: Option<Size>,
}

impl ReadingArguments {
    /// Resolves the settings for finding and fetching inputs.
    pub(crate) fn settings(
        &self,
        parameters: &Parameters,
        machine: &MachineArguments,
    ) -> Result<Settings, CommandError> {
        Ok(Settings {
            base_url: self.base_url.clone(),
            fields: field_map(&self.fields)?,
            format: self.format,
            keep_status: self.any_status,
            follow_links: self.follow,
            limits: (&parameters.limits).into(),
            // The store decides.
            helpers: 0,
            skip_row_digests: false,
            prompt: false,
            remote: RemoteSettings {
                retries: self.retries,
                stall_timeout: Duration::from_secs(self.stall_timeout),
                max_rate: self.max_rate.map(|size| size.0),
                read_ahead: read_ahead(machine),
                anonymous: self.anonymous,
                list_base: self.list_base.clone(),
                ..RemoteSettings::default()
            },
        })
    }

    /// Resolves the parameters of a corpus: as typed, else those of the corpus that is `added_to`,
    /// else the defaults.
    pub(crate) fn parameters(
        &self,
        limits: &LimitArguments,
        part_size: Option<Size>,
        added_to: Option<&Path>,
    ) -> Result<Parameters, CommandError> {
        let mut parameters = match added_to.map(Corpus::open_partial) {
            Some(Ok(corpus)) => corpus.parameters().clone(),
            Some(Err(Error::NotACorpus(path))) => return Err(Error::NoCorpusToAddTo(path).into()),
            Some(Err(error)) => return Err(error.into()),
            None => Parameters::default(),
        };
        let main = self.main.then_some(Selection::Main);
        set(&mut parameters.content, self.content.or(main));
        set(&mut parameters.chunk, self.chunk);
        set(&mut parameters.normalisation, self.normalise);
        set(&mut parameters.hash, self.hash);
        parameters.text &= !self.no_text;
        parameters.private_suffixes |= self.private_suffixes;
        parameters.any_status |= self.any_status;
        let components = &mut parameters.recursion_components;
        set(components, self.recursion_components);
        set(&mut parameters.recursion_repeats, self.recursion_repeats);
        set(&mut parameters.recursion_cycles, self.recursion_cycles);
        set(&mut parameters.part_bytes, bytes(part_size));
        limits.apply(&mut parameters.limits);
        if parameters.limits.max_page_bytes > LARGEST_PAGE {
            return Err(CommandError::usage(
                "--max-page is at most 512M".to_owned(),
                "a text of 2 GB or more does not fit in a table; split the page before indexing",
            ));
        }
        Ok(parameters)
    }
}

impl LimitArguments {
    pub(crate) fn apply(&self, limits: &mut PageLimits) {
        set(&mut limits.max_page_bytes, bytes(self.max_page));
        set(&mut limits.max_ratio, self.max_ratio);
        set(&mut limits.max_header_bytes, bytes(self.max_header));
        set(&mut limits.max_header_lines, self.max_header_lines);
        // A line that contains a page is at least as long as the page.
        if self.max_page.is_some() {
            limits.max_line_bytes = limits.max_line_bytes.max(limits.max_page_bytes);
        }
        set(&mut limits.max_line_bytes, bytes(self.max_line));
        set(&mut limits.max_nesting, self.max_nesting);
        set(&mut limits.max_chunks, self.max_chunks);
        set(&mut limits.max_url_bytes, bytes(self.max_url));
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let typed = self.max_seconds.map(milliseconds);
        set(&mut limits.max_milliseconds, typed);
    }
}

/// Parses `ROLE=NAME` assignments.
pub(crate) fn field_map(typed: &[String]) -> Result<FieldMap, CommandError> {
    let mut fields = FieldMap::default();
    for field in typed {
        fields.assign(field.parse()?);
    }
    Ok(fields)
}

/// Returns how much each reader may fetch ahead: there is one per thread, and together they use a
/// sixteenth of the memory.
fn read_ahead(machine: &MachineArguments) -> usize {
    let most = RemoteSettings::default().read_ahead;
    let share = machine.memory() / 16 / machine.threads().max(1) as u64;
    usize::try_from(share)
        .unwrap_or(most)
        .clamp(512 << 10, most)
}

fn set<T>(value: &mut T, typed: Option<T>) {
    if let Some(typed) = typed {
        *value = typed;
    }
}

fn bytes(size: Option<Size>) -> Option<u64> {
    size.map(|size| size.0)
}

//! `cento cat`.

use std::process::ExitCode;

use arrow_array::RecordBatch;
use cento_find::row_values;
use cento_store::{ChunkRow, Corpus};
use cento_text::url::PageUrl;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::command_error::CommandError;
use crate::corpus_input::CorpusArguments;
use crate::machine::ResourceArguments;
use crate::output::{clean, clean_lines, print_data, say};
use crate::why_main::WhyMain;

/// Show one page as cento sees it
///
/// Prints the metadata and the text of a page; with --chunks, its text by chunk; with --why-main,
/// why each block of it is main content or not.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct CatArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// URL of the page
    #[arg(long, value_name = "URL", group = "which")]
    pub(crate) url: Option<String>,
    /// The page with this id
    #[arg(long, value_name = "N", group = "which")]
    pub(crate) id: Option<u64>,
    /// Show the chunks, with their byte ranges and hashes
    #[arg(long)]
    pub(crate) chunks: bool,
    /// Explain which blocks are main content
    ///
    /// Reads the page from its input again. For each block of its text, shows whether `cento index
    /// --main` keeps it, its score in thousandths, and what decided: a rule, or the evidence that
    /// changed the score most.
    #[arg(long)]
    pub(crate) why_main: bool,
    /// Print JSON, one object per line
    ///
    /// One object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

pub(crate) fn run(arguments: &CatArguments) -> Result<ExitCode, CommandError> {
    let located = arguments.corpus.locate(&arguments.resources)?;
    let corpus = Corpus::open_partial(&located.path)?;
    let page_id = match (&arguments.url, arguments.id) {
        (Some(url), _) => find(&corpus, url, &located.name)?,
        (None, Some(id)) => id,
        (None, None) => {
            return Err(CommandError::usage(
                "no page given".to_owned(),
                "use --url or --id",
            ));
        }
    };
    let Some(page) = corpus.page(page_id)? else {
        return Err(CommandError::missing(
            format!("{} has no page {page_id}", located.name),
            "ids are in the column page_id of the pages table".to_owned(),
        ));
    };
    let has_text = corpus.parameters().text;
    let text = if has_text {
        corpus.text(page_id)?
    } else {
        None
    };
    let chunks = if arguments.chunks {
        Some(corpus.chunks(page_id)?)
    } else {
        None
    };
    let why_main = if arguments.why_main {
        let url = row_values(&page, 0).find(|(name, _)| *name == "url");
        let url = url.and_then(|(_, value)| value.as_str().map(str::to_owned));
        Some(WhyMain::read(&corpus, page_id, &url.unwrap_or_default())?)
    } else {
        None
    };
    let view = View {
        page: &page,
        why_main: why_main.as_ref(),
        has_text,
        text: text.as_deref(),
        chunks: chunks.as_deref(),
    };
    print_data(&if arguments.json {
        view.json()
    } else {
        view.text()
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the first page with this URL, as typed or in its canonical form.
fn find(corpus: &Corpus, url: &str, name: &str) -> Result<u64, CommandError> {
    let mut found = corpus.pages_at(url)?;
    if found.is_empty() {
        found = corpus.pages_at(PageUrl::new(url).canonical())?;
    }
    let Some((&first, others)) = found.split_first() else {
        return Err(CommandError::missing(
            format!("{name} has no page {url}"),
            "use the URL as in the table of pages: with its scheme, or a path with its folders"
                .to_owned(),
        ));
    };
    if !others.is_empty() {
        let ids: Vec<String> = others
            .iter()
            .take(20)
            .map(|id| format!("--id {id}"))
            .collect();
        say(&format!(
            "note: this is the first of {} captures; the others: {}",
            found.len(),
            ids.join(", ")
        ));
    }
    Ok(first)
}

struct View<'a> {
    page: &'a RecordBatch,
    why_main: Option<&'a WhyMain>,
    has_text: bool,
    text: Option<&'a str>,
    chunks: Option<&'a [ChunkRow]>,
}

impl View<'_> {
    fn text(&self) -> String {
        let mut out = String::new();
        for (name, value) in row_values(self.page, 0) {
            let value = match value {
                Value::Null => continue,
                Value::String(value) => value,
                Value::Array(list) if list.is_empty() => continue,
                Value::Array(list) => shortened(&list),
                other => other.to_string(),
            };
            out.push_str(&format!("{name}: {}\n", clean(&value)));
        }
        if let Some(why_main) = self.why_main {
            out.push_str(&why_main.text());
            return out;
        }
        if !self.has_text {
            out.push_str("\n(the corpus has no text)\n");
        }
        let text = self.text.unwrap_or_default();
        match self.chunks {
            None if text.is_empty() => {}
            None => out.push_str(&format!("\n{}\n", clean_lines(text))),
            Some(chunks) => {
                for chunk in chunks {
                    let ChunkRow {
                        chunk_hash,
                        ordinal,
                        begin,
                        end,
                        ..
                    } = chunk;
                    out.push_str(&format!(
                        "\nchunk {ordinal}  {begin}..{end}  {}\n",
                        hex(chunk_hash)
                    ));
                    if let Some(chunk) = text.get(*begin as usize..*end as usize) {
                        out.push_str(&format!("{}\n", clean_lines(chunk)));
                    }
                }
            }
        }
        out
    }

    fn json(&self) -> String {
        let mut object: Map<String, Value> = row_values(self.page, 0)
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        if let Some(chunks) = self.chunks {
            let chunks: Vec<Value> = chunks
                .iter()
                .map(|chunk| {
                    let text = self
                        .text
                        .and_then(|text| text.get(chunk.begin as usize..chunk.end as usize));
                    json!({
                        "ordinal": chunk.ordinal, "begin": chunk.begin, "end": chunk.end,
                        "hash": hex(&chunk.chunk_hash), "text": text,
                    })
                })
                .collect();
            object.insert("chunk_list".to_owned(), Value::Array(chunks));
        }
        if let Some(why_main) = self.why_main {
            object.insert("why_main".to_owned(), why_main.json());
        }
        object.insert(
            "text".to_owned(),
            self.text.map_or(Value::Null, Value::from),
        );
        format!("{}\n", Value::Object(object))
    }
}

/// The first items of a list, and how many more there are.
fn shortened(list: &[Value]) -> String {
    const SHOWN: usize = 8;
    let items: Vec<String> = list
        .iter()
        .take(SHOWN)
        .map(|item| {
            item.as_str()
                .map_or_else(|| item.to_string(), str::to_owned)
        })
        .collect();
    let more = list.len().saturating_sub(SHOWN);
    if more > 0 {
        format!("{} … and {more} more", items.join(", "))
    } else {
        items.join(", ")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! `cento info`.

use std::collections::HashMap;
use std::process::ExitCode;

use cento_find::{Error, FINDINGS, verify_findings};
use cento_query::{QueryIndex, UpdatedIndex};
use cento_report::format::counted;
use cento_store::{Corpus, Projection, pages, projection};
use clap::Args;
use serde_json::json;

use crate::command_error::CommandError;
use crate::command_line::refuse;
use crate::corpus_input::{CorpusArguments, LocatedCorpus};
use crate::index::{tallies, unread_dates};
use crate::machine::ResourceArguments;
use crate::output::{Lines, clean, number, print_as, say_always, size, table};
use crate::top::TopArguments;

/// Show what is in a corpus
///
/// Prints counts, the largest sites, languages, rejected pages by reason, and the parameters of the
/// corpus.
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// Verify the checksums
    ///
    /// Those of all tables, of findings and of the index for queries.
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    /// Print JSON, one object per line
    ///
    /// One object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

/// Counts of a site or a language.
#[derive(Default, Clone, Copy)]
struct Share {
    pages: u64,
    words: u64,
    bytes: u64,
}

pub(crate) fn run(arguments: &InfoArguments) -> Result<ExitCode, CommandError> {
    let located = arguments.corpus.locate(&arguments.resources)?;
    if located.is_temporary() {
        refuse(&["verify"], "inputs other than a corpus have no checksums")?;
    }
    let path = &located.path;
    if arguments.verify {
        let corpus = Corpus::verify(path)?.into_iter();
        let (_, findings) = verify_findings(&path.join(FINDINGS))?;
        let query = QueryIndex::verify(path)?.into_iter();
        let corrupted = corpus.map(Error::from).chain(findings);
        let corrupted = corrupted.map(CommandError::from);
        let mut corrupted = corrupted.chain(query.map(CommandError::from));
        if let Some(first) = corrupted.next() {
            for other in corrupted {
                say_always(&format!("error: {}", clean(other.message())));
            }
            return Err(first);
        }
    }
    let corpus = Corpus::open_partial(path)?;
    let census = Census::take(&corpus)?;
    let query = cento_query::summary(path)?;
    let text = if arguments.json {
        census.json(&corpus, &located, arguments, query.as_ref())
    } else {
        census.text(&corpus, &located, arguments, query.as_ref())
    };
    print_as(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}

projection! {
    /// What is read of a page.
    struct CensusColumns of pages { domain, language, bytes, words, reject }
}

/// Kept pages by site and by language.
struct Census {
    sites: Vec<(String, Share)>,
    languages: Vec<(String, Share)>,
}

impl Census {
    fn take(corpus: &Corpus) -> Result<Census, CommandError> {
        let mut sites = HashMap::new();
        let mut languages = HashMap::new();
        for batch in corpus.scan::<CensusColumns>() {
            let batch = batch?;
            for row in (0..batch.rows()).filter(|&row| batch.reject.is_null(row)) {
                let share = Share {
                    pages: 1,
                    words: u64::from(batch.words.value(row)),
                    bytes: batch.bytes.value(row),
                };
                // A page without a host belongs to no site.
                if let Some(domain) = batch.domain.value(row) {
                    count(&mut sites, domain.to_owned(), share);
                }
                let language = batch.language.value(row).unwrap_or("(none)");
                count(&mut languages, language.to_owned(), share);
            }
        }
        Ok(Census {
            sites: ranked(sites),
            languages: ranked(languages),
        })
    }

    fn text(
        &self,
        corpus: &Corpus,
        located: &LocatedCorpus,
        arguments: &InfoArguments,
        query: Option<&UpdatedIndex>,
    ) -> String {
        let manifest = corpus.manifest();
        let counts = manifest.counts();
        let mut text = clean(&located.name).into_owned();
        text.push('\n');
        if !manifest.complete() {
            text.push_str(
                "  unfinished: the last `cento index` was interrupted; run it again to resume\n",
            );
        }
        let mut lines = Lines::default();
        lines.add("pages kept", number(counts.kept));
        tallies(&mut lines, "rejected", &counts.rejected);
        tallies(&mut lines, "damaged records", &counts.damaged);
        unread_dates(&mut lines, &counts);
        lines.add("sites", number(self.sites.len() as u64));
        lines.add("payload", size(counts.payload_bytes));
        lines.add("text", size(counts.text_bytes));
        lines.add("words", number(counts.words));
        lines.add("chunks", number(counts.chunks));
        if !located.is_temporary() {
            let parts = manifest.parts.len() as u64;
            let parts = format!("in {}", counted(parts, "part", "parts"));
            lines.add_with("corpus", size(manifest.bytes_on_disk()), parts);
        }
        if let Some(query) = query {
            let pages = format!("of {}", counted(query.pages, "page", "pages"));
            lines.add_with("query index", size(query.bytes), pages);
        }
        text.push_str(&lines.render());
        if arguments.verify {
            text.push_str("  all checksums match\n");
        }
        for (title, shares) in [
            ("largest sites", &self.sites),
            ("languages", &self.languages),
        ] {
            if shares.is_empty() {
                continue;
            }
            let rows: Vec<Vec<String>> = shares
                .iter()
                .take(arguments.top.rows())
                .map(|(name, share)| {
                    let name = clean(name).into_owned();
                    vec![
                        name,
                        number(share.pages),
                        number(share.words),
                        size(share.bytes),
                    ]
                })
                .collect();
            text.push('\n');
            text.push_str(&table(&[title, "pages", "words", "payload"], &rows));
            let more = shares.len().saturating_sub(arguments.top.rows()) as u64;
            if more > 0 {
                text.push_str(&format!("  and {} more\n", number(more)));
            }
        }
        text.push_str("\nparameters\n");
        let mut lines = Lines::default();
        lines.add_with("format version", String::new(), manifest.format.to_string());
        for (name, value) in corpus.parameters().list() {
            lines.add_with(name, String::new(), value);
        }
        text.push_str(&lines.render());
        text
    }

    fn json(
        &self,
        corpus: &Corpus,
        located: &LocatedCorpus,
        arguments: &InfoArguments,
        query: Option<&UpdatedIndex>,
    ) -> String {
        let manifest = corpus.manifest();
        let list = |shares: &[(String, Share)]| -> Vec<serde_json::Value> {
            let shown = shares.iter().take(arguments.top.rows());
            shown
                .map(|(name, share)| {
                    json!({ "name": name, "pages": share.pages, "words": share.words, "bytes": share.bytes })
                })
                .collect()
        };
        let stored = (!located.is_temporary()).then(|| manifest.bytes_on_disk());
        let object = json!({
            "corpus": located.name,
            "format": manifest.format,
            "complete": manifest.complete(),
            "verified": arguments.verify,
            "counts": manifest.counts(),
            "parts": manifest.parts.len(),
            "corpus_bytes": stored,
            "query_index_bytes": query.map(|query| query.bytes),
            "query_index_pages": query.map(|query| query.pages),
            "sites": self.sites.len(),
            "largest_sites": list(&self.sites),
            "languages": list(&self.languages),
            "parameters": corpus.parameters(),
        });
        format!("{object}\n")
    }
}

fn count(shares: &mut HashMap<String, Share>, name: String, share: Share) {
    let known = shares.entry(name).or_default();
    known.pages += share.pages;
    known.words += share.words;
    known.bytes += share.bytes;
}

/// Sorts by number of pages, then by name.
fn ranked(shares: HashMap<String, Share>) -> Vec<(String, Share)> {
    let mut shares: Vec<_> = shares.into_iter().collect();
    shares.sort_by(|(a, x), (b, y)| y.pages.cmp(&x.pages).then_with(|| a.cmp(b)));
    shares
}

//! Matches as rows of a table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_find::PageOrigins;
use cento_flow::{CHECKPOINT, Flow, Progress, Registry, Runner, Stage, TableName, table_row};
use serde_json::Value;

use crate::answer::{Answer, PageMatch};
use crate::error::Result;

/// The table of matches.
pub const MATCHES: TableName<MatchRow> = TableName::new("matches");

table_row! {
    /// A page that shares text with a query.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MatchRow {
        /// The name of the query.
        pub query: String,
        /// The id of the page.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// `C1` to `C6`, or `one-sided`.
        pub category: String,
        /// Distinct fingerprints that both have.
        pub shared: u32,
        /// Distinct fingerprints of the query, without ignored ones.
        pub query_fingerprints: u32,
        /// Distinct fingerprints of the page, without ignored ones.
        pub page_fingerprints: u32,
        /// The share of the query's fingerprints found in the page.
        pub query_containment: f64,
        /// The share of the page's fingerprints found in the query.
        pub page_containment: f64,
        /// The number of words of all passages.
        pub words: u32,
        /// The bytes of the query in each passage: `0-41 120-188`.
        pub query_ranges: String,
        /// The bytes of the page in each passage, in the same order.
        pub page_ranges: String,
    }
}

impl MatchRow {
    /// Returns the rows of an answer.
    pub fn of<'a>(query: &'a str, answer: &'a Answer) -> impl Iterator<Item = MatchRow> + 'a {
        answer.matches.iter().map(|page| MatchRow::new(query, page))
    }

    fn new(query: &str, page: &PageMatch) -> MatchRow {
        let ranges = |of: fn(&crate::SharedPassage) -> &std::ops::Range<usize>| {
            let ranges = page.passages.iter().map(of);
            let ranges = ranges.map(|range| format!("{}-{}", range.start, range.end));
            ranges.collect::<Vec<_>>().join(" ")
        };
        MatchRow {
            query: query.to_owned(),
            page_id: page.page_id,
            page: page.url.clone(),
            category: page.category.name().to_owned(),
            shared: page.shared,
            query_fingerprints: page.query_fingerprints,
            page_fingerprints: page.page_fingerprints,
            query_containment: page.query_containment,
            page_containment: page.page_containment,
            words: page.passages.iter().map(|passage| passage.words).sum(),
            query_ranges: ranges(|passage| &passage.query),
            page_ranges: ranges(|passage| &passage.page),
        }
    }

    /// Writes rows as a Parquet table in a folder of temporary files, and returns its path.
    /// `origins` adds the columns that say where pages come from.
    pub fn write(
        rows: Vec<MatchRow>,
        folder: &Path,
        origins: Option<&Arc<PageOrigins>>,
    ) -> Result<PathBuf> {
        let mut registry = Registry::new();
        if let Some(origins) = origins {
            origins.extend_tables(&mut registry);
        }
        registry.map("list", move |context| {
            let mut table = context.table(MATCHES)?;
            for row in &rows {
                table.push(row.clone())?;
            }
            Ok(())
        });
        let flow = Flow::new("matches")
            .table(MATCHES)
            .stage(Stage::map("list", vec![Value::Null]).writes(MATCHES.as_str()));
        Runner {
            registry: &registry,
            threads: 1,
            memory: 64 << 20,
            temp: folder.join("temp"),
            tables: folder.to_owned(),
            progress: Progress::new(),
            checkpoint: CHECKPOINT,
        }
        .run(&flow)?;
        Ok(folder.join(format!("{}.parquet", MATCHES.as_str())))
    }
}

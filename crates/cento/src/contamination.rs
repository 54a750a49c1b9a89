//! `cento detect --grams`, also called `cento contamination`: items of a benchmark on pages.

use std::process::ExitCode;

use cento_find::Findings;
use cento_find::detect::{GramsParams, GramsSummary, PLACES_TABLE, grams, most_items};
use cento_report::format::{counted, percent, plural};
use cento_scan::select::first;

use crate::command_error::CommandError;
use crate::corpus_input::OpenedCorpus;
use crate::detect::{DetectArguments, MIN_SHARE, clean_inputs, open_originals};
use crate::output::{Lines, number, print, shortened, table_of};

pub(crate) fn contamination(
    arguments: &DetectArguments,
    corpus: &OpenedCorpus,
    k: u32,
) -> Result<ExitCode, CommandError> {
    let source = &corpus.source;
    let params = GramsParams {
        k,
        min_share: arguments.min_share.unwrap_or(MIN_SHARE),
    };
    params.check()?;
    let items = open_originals(arguments, source)?;
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        grams(
            source,
            &items.source,
            &arguments.against,
            &params,
            workplace,
        )
    })?;
    clean_inputs(arguments, corpus, &findings)?;
    if !arguments.analysis.export(&findings.table("items"))? {
        print(&contamination_summary(
            &params,
            corpus,
            &findings,
            arguments.top.rows(),
        )?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn contamination_summary(
    params: &GramsParams,
    corpus: &OpenedCorpus,
    findings: &Findings,
    top: usize,
) -> Result<String, CommandError> {
    let counts: GramsSummary = findings.summary()?;
    let searched = counts.items.saturating_sub(counts.short + counts.common);
    let k = u64::from(params.k);
    let words = counted(k, "word", "words");
    let mut text = match searched {
        0 => format!("No item was compared by runs of {words}\n"),
        _ => format!(
            "{} of {}: at least {} of {} runs of {words} on one page\n",
            number(counts.listed),
            counted(searched, "item", "items"),
            match params.min_share {
                0.5 => "half".to_owned(),
                share => percent(share),
            },
            plural(counts.listed, "its", "their"),
        ),
    };
    let most = number(most_items(counts.items));
    let mut lines = Lines::default();
    let remark = match searched {
        0 => String::new(),
        all if all == counts.items => format!("compared by runs of {words}"),
        some => format!(
            "of which {} compared by runs of {words}",
            counted(some, "was", "were")
        ),
    };
    lines.add_with("items", number(counts.items), remark);
    lines.add_with(
        "found in part",
        number(counts.found),
        "at least one run of words",
    );
    if counts.short > 0 {
        let remark = format!("ignored: fewer than {words}");
        lines.add_with("too short", number(counts.short), remark);
    }
    if counts.common > 0 {
        let remark = format!(
            "ignored: apart from runs in more than {most} items, {} fewer than {}",
            plural(counts.common, "it has", "they have"),
            counted(k, "run", "runs")
        );
        lines.add_with("too common", number(counts.common), remark);
    }
    text.push_str(&lines.render());
    let places = first(findings.rows(PLACES_TABLE)?, top)?;
    if !places.is_empty() {
        let cells: Vec<Vec<String>> = places
            .iter()
            .map(|row| {
                vec![
                    shortened(&row.item, 40),
                    percent(row.share),
                    shortened(&row.page, 60),
                    format!("{}..{}", row.begin, row.end),
                ]
            })
            .collect();
        let heading = ["items found", "share", "page", "bytes"];
        let mut all = 0;
        for place in findings.rows(PLACES_TABLE)? {
            place?;
            all += 1;
        }
        text.push_str(&table_of(&heading, &cells, all));
    } else if counts.items == 0 {
        text.push_str("There are no items with text.\n");
    } else if searched == 0 && counts.common > 0 {
        text.push_str("All items were ignored: compare them with --grams of other lengths.\n");
    } else if counts.items == counts.short {
        text.push_str("All items have fewer words than --grams: try a smaller number.\n");
    } else {
        text.push_str(
            "No page contains enough of an item: try a lower --min-share or a smaller --grams.\n",
        );
    }
    if counts.crowded > 0 {
        text.push_str(&format!(
            "{} of words {} in more than {most} items and {} ignored: shares are of the other runs.\n",
            counted(counts.crowded, "distinct run", "distinct runs"),
            plural(counts.crowded, "is", "are each"),
            plural(counts.crowded, "was", "were"),
        ));
    }
    text.push_str(&corpus.findings_line(findings));
    Ok(text)
}

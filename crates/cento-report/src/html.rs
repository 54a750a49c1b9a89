//! Renders HTML by hand: elements are always closed, and text is always escaped. The content
//! security policy in the head of the file forbids a browser to load or run anything.

use cento_figure::STYLE as FIGURE_STYLE;

use crate::escape::{escape, link};
use crate::format::{number, shortened};
use crate::report::{Chapter, Report};
use crate::section::{
    ComparedPiece, Comparison, Excerpt, ExcerptPiece, ExcerptSource, FindingEvidence, ReportCell,
    ReportTable, Suggestion, TableHead,
};
use crate::style::STYLE;

/// Characters of an address that are shown.
const LONGEST: usize = 200;
/// The number of colours for sources.
const COLOURS: usize = 7;

/// Renders what is between `<body>` and `</body>`, without the note that the file is
/// self-contained.
pub(crate) fn body(report: &Report) -> String {
    let mut out = String::new();
    header(&mut out, report);
    for chapter in &report.chapters {
        write_chapter(&mut out, chapter, &report.root);
    }
    skipped(&mut out, report);
    out
}

/// Renders what is before the content of a file: its head, and the begin of its body.
pub(crate) fn head(title: &str, figure_style: &str) -> String {
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n");
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\" />\n\
         <meta name=\"referrer\" content=\"no-referrer\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n",
    );
    out.push_str(&format!(
        "<meta name=\"generator\" content=\"cento {}\" />\n<title>{} – cento</title>\n<style>\n{STYLE}{figure_style}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        escape(title)
    ));
    out
}

/// Renders the whole file.
pub(crate) fn page(report: &Report) -> String {
    let mut out = head(&report.corpus, FIGURE_STYLE);
    header(&mut out, report);
    out.push_str("<main>\n");
    for chapter in &report.chapters {
        write_chapter(&mut out, chapter, &report.root);
    }
    out.push_str("</main>\n");
    footer(&mut out, report);
    out.push_str("</body>\n</html>\n");
    out
}

fn header(out: &mut String, report: &Report) {
    out.push_str(&format!(
        "<header>\n<p class=\"muted\">Reused text in</p>\n<h1><bdi>{}</bdi></h1>\n",
        escape(&report.corpus)
    ));
    for sentence in &report.introduction {
        paragraph(out, "", sentence);
    }
    made(out, report);
    opening(out, report);
    out.push_str("<ul class=\"tiles\">\n");
    for headline in report.all_headlines() {
        out.push_str(&format!(
            "<li><b>{}</b><span>{}</span></li>\n",
            escape(&headline.value),
            escape(&headline.label)
        ));
    }
    out.push_str("</ul>\n");
    if !report.chapters.is_empty() {
        out.push_str("<nav><ul>\n");
        for chapter in &report.chapters {
            out.push_str(&format!(
                "<li><a href=\"#{}\">{}</a></li>\n",
                escape(&chapter.id),
                escape(&chapter.title)
            ));
        }
        out.push_str("</ul></nav>\n");
    }
    out.push_str("</header>\n");
}

/// Says when, from what and by which command the report was made.
fn made(out: &mut String, report: &Report) {
    for sentence in &report.made {
        paragraph(out, "muted", sentence);
    }
    if !report.command.is_empty() {
        out.push_str(&format!(
            "<p class=\"muted\">Command: <code>{}</code></p>\n",
            escape(&report.command)
        ));
    }
}

/// Renders the findings that the report opens with, each with a link to its evidence.
fn opening(out: &mut String, report: &Report) {
    if report.chapters.is_empty() {
        paragraph(
            out,
            "",
            "There are no results for this corpus. The reasons are listed at the end of this page.",
        );
        return;
    }
    let findings = report.findings();
    if findings.is_empty() {
        let nothing = report.nothing_found();
        let nothing = nothing.as_deref().unwrap_or(
            "None of the analyses below has a result that concerns whole pages or passages.",
        );
        paragraph(out, "findings-none", nothing);
        return;
    }
    out.push_str("<ol class=\"findings\">\n");
    for (chapter, finding) in &findings {
        out.push_str(&format!(
            "<li dir=\"auto\">{} <a href=\"#{}\">Evidence</a></li>\n",
            sentence(&finding.sentence),
            escape(&finding.evidence.anchor(&chapter.id))
        ));
    }
    out.push_str("</ol>\n");
    if findings.len() > 1 {
        paragraph(
            out,
            "muted",
            "Ranked by the number of pages that a finding concerns, at most one for each analysis.",
        );
    }
}

/// Renders one chapter as a `<section>` element.
pub(crate) fn chapter(chapter: &Chapter, root: &str) -> String {
    let mut out = String::new();
    write_chapter(&mut out, chapter, root);
    out
}

fn write_chapter(out: &mut String, chapter: &Chapter, root: &str) {
    out.push_str(&format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n",
        escape(&chapter.id),
        escape(&chapter.title)
    ));
    paragraph(out, "question", &chapter.question);
    for sentence in &chapter.section.sentences {
        paragraph(out, "", sentence);
    }
    if !chapter.section.notes.is_empty() {
        out.push_str("<ul class=\"notes\">\n");
        for note in &chapter.section.notes {
            out.push_str(&format!("<li dir=\"auto\">{}</li>\n", sentence(note)));
        }
        out.push_str("</ul>\n");
    }
    if !chapter.drawings.is_empty() {
        out.push_str("<div class=\"figures\">\n");
        for drawing in &chapter.drawings {
            out.push_str(&format!(
                "<figure><div class=\"broad\">{}</div><div class=\"narrow\">{}</div></figure>\n",
                drawing.figure.svg_for_page(),
                drawing.figure.svg_for_narrow_page()
            ));
        }
        out.push_str("</div>\n");
    }
    for (at, table) in chapter.section.tables.iter().enumerate() {
        let id = FindingEvidence::Table(at).anchor(&chapter.id);
        self::table(out, table, &id, root);
    }
    if !chapter.section.excerpts.is_empty() {
        out.push_str("<h3>excerpts, marked by source</h3>\n");
        for (at, excerpt) in chapter.section.excerpts.iter().enumerate() {
            let id = FindingEvidence::Excerpt(at).anchor(&chapter.id);
            self::excerpt(out, excerpt, &id, root, true);
        }
    }
    if !chapter.section.comparisons.is_empty() {
        out.push_str("<h3>passages side by side, differing words marked</h3>\n");
        for (at, comparison) in chapter.section.comparisons.iter().enumerate() {
            let id = FindingEvidence::Comparison(at).anchor(&chapter.id);
            self::comparison(out, comparison, &id, root, true);
        }
    }
    suggestions(out, &chapter.section.suggestions);
    out.push_str("<p class=\"muted\">");
    if let Some(command) = &chapter.run_by {
        out.push_str(&format!("Run by: <code>{}</code><br />", escape(command)));
    }
    if !chapter.command.is_empty() {
        out.push_str(&format!(
            "This section alone: <code>{}</code><br />",
            escape(&chapter.command)
        ));
    }
    out.push_str(&format!(
        "Tables: <code>{}</code></p>\n</section>\n",
        escape(&chapter.results)
    ));
}

fn suggestions(out: &mut String, suggestions: &[Suggestion]) {
    if suggestions.is_empty() {
        return;
    }
    out.push_str("<h3>next steps</h3>\n<ul class=\"next\">\n");
    for Suggestion { command, purpose } in suggestions {
        out.push_str(&format!(
            "<li>To {}:<pre>{}</pre></li>\n",
            escape(purpose),
            escape(command)
        ));
    }
    out.push_str("</ul>\n");
}

fn skipped(out: &mut String, report: &Report) {
    if !report.skipped.is_empty() {
        out.push_str("<h2>Skipped analyses</h2>\n<ul class=\"summary\">\n");
        for skipped in &report.skipped {
            out.push_str(&format!(
                "<li>{}: {}</li>\n",
                escape(&skipped.title),
                escape(&skipped.reason)
            ));
        }
        out.push_str("</ul>\n");
    }
}

fn footer(out: &mut String, report: &Report) {
    out.push_str("<footer>\n");
    skipped(out, report);
    out.push_str(&format!(
        "<p class=\"muted\">Generated by cento {}. This page is self-contained: it loads nothing from the network and runs no scripts. \
         Quoted texts belong to their authors.</p>\n</footer>\n",
        env!("CARGO_PKG_VERSION")
    ));
}

/// Escapes a sentence, and keeps a number and its percent sign on one line.
fn sentence(text: &str) -> String {
    escape(text).replace(" %", "\u{a0}%")
}

pub(crate) fn paragraph(out: &mut String, class: &str, text: &str) {
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    out.push_str(&format!("<p dir=\"auto\"{class}>{}</p>\n", sentence(text)));
}

/// Renders an address, as a link if links are wanted.
fn shown_address(text: &str, root: &str, links: bool) -> String {
    match links {
        true => address(text, root),
        false => {
            let shown = text.strip_prefix(root).unwrap_or(text);
            format!("<bdi>{}</bdi>", escape(&shortened(shown, LONGEST)))
        }
    }
}

/// Renders an address relative to the root, shortened if it is too long; an HTTP URL becomes a
/// link.
fn address(address: &str, root: &str) -> String {
    let shown = address.strip_prefix(root).unwrap_or(address);
    let shown = escape(&shortened(shown, LONGEST));
    match link(address) {
        Some(target) => format!(
            "<a href=\"{target}\" rel=\"noreferrer noopener nofollow\"><bdi>{shown}</bdi></a>"
        ),
        None => format!("<bdi>{shown}</bdi>"),
    }
}

fn table(out: &mut String, table: &ReportTable, id: &str, root: &str) {
    if table.rows.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<h3 id=\"{}\">{}</h3>\n",
        escape(id),
        escape(table.heading())
    ));
    rows(out, table, &[], root);
    match (table.more, table.command.as_str()) {
        (0, _) => {}
        (more, "") => out.push_str(&format!(
            "<p class=\"muted\">and {} more</p>\n",
            number(more)
        )),
        (more, command) => out.push_str(&format!(
            "<p class=\"muted\">and {} more: <code>{}</code></p>\n",
            number(more),
            escape(command)
        )),
    }
}

/// Returns the attribute of an element that can be linked to.
fn id_attribute(id: &str) -> String {
    match id {
        "" => String::new(),
        id => format!(" id=\"{}\"", escape(id)),
    }
}

/// Renders the rows of a table. A column with a head can be sorted by.
pub(crate) fn rows(out: &mut String, table: &ReportTable, heads: &[TableHead], root: &str) {
    let Some(first) = table.rows.first() else {
        return;
    };
    out.push_str("<div class=\"wide\"><table>\n<thead><tr>");
    for (column, name) in table.columns.iter().enumerate() {
        let number = first.get(column).is_some_and(ReportCell::is_number);
        let class = if number { " class=\"n\"" } else { "" };
        let name = escape(name);
        match heads.get(column) {
            Some(TableHead { target, sorted }) if !target.is_empty() => {
                let sorted = sorted.map_or(String::new(), |way| format!(" aria-sort=\"{way}\""));
                out.push_str(&format!(
                    "<th scope=\"col\"{class}{sorted}><a href=\"{}\">{name}</a></th>",
                    escape(target)
                ));
            }
            _ => out.push_str(&format!("<th scope=\"col\"{class}>{name}</th>")),
        }
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            // Where a table is too wide for its screen, a row becomes a list of labelled values.
            let label = match (heads.get(column), table.columns.get(column)) {
                (Some(_), Some(name)) => format!(" data-label=\"{}\"", escape(name)),
                _ => String::new(),
            };
            match cell {
                ReportCell::Address(text) => {
                    out.push_str(&format!("<td{label}>{}</td>", address(text, root)));
                }
                ReportCell::Text(text) => {
                    out.push_str(&format!("<td{label}><bdi>{}</bdi></td>", escape(text)));
                }
                ReportCell::Evidence { target, text } => {
                    let shown = text.strip_prefix(root).unwrap_or(text);
                    out.push_str(&format!(
                        "<td{label}><a href=\"{}\"><bdi>{}</bdi></a></td>",
                        escape(target),
                        escape(&shortened(shown, LONGEST))
                    ));
                }
                number => out.push_str(&format!(
                    "<td class=\"n\"{label}>{}</td>",
                    escape(&number.text())
                )),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// Renders an excerpt. Without `links`, no address leads out of the page.
pub(crate) fn excerpt(out: &mut String, excerpt: &Excerpt, id: &str, root: &str, links: bool) {
    out.push_str(&format!(
        "<article{}>\n<p><strong>{}</strong></p>\n<p class=\"muted\">{}</p>\n<div class=\"quilt\">\n<div class=\"words\" dir=\"auto\">",
        id_attribute(id),
        shown_address(&excerpt.page, root, links),
        escape(&excerpt.about)
    ));
    let mut last = None;
    for piece in &excerpt.pieces {
        match piece {
            ExcerptPiece::Own(words) => out.push_str(&escape(words)),
            ExcerptPiece::Gap(letters) => out.push_str(&format!(
                "<span class=\"gap\"> [… {} characters …] </span>",
                number(*letters)
            )),
            ExcerptPiece::Shared(source, words) => {
                let class = colour(*source);
                out.push_str(&format!(
                    "<mark class=\"{class}\" data-source=\"{}\">",
                    source + 1
                ));
                // The number of the source is not repeated between adjacent pieces.
                if last != Some(*source) {
                    out.push_str(&format!("<sup class=\"key\">{}</sup>", source + 1));
                }
                out.push_str(&format!("{}</mark>", escape(words)));
            }
        }
        last = match piece {
            ExcerptPiece::Shared(source, _) => Some(*source),
            _ => None,
        };
    }
    out.push_str("</div>\n<ol class=\"sources\">\n");
    for (index, shown) in excerpt.sources.iter().enumerate() {
        source(out, index, shown, root, links);
    }
    if excerpt.more > 0 {
        out.push_str(&format!(
            "<li class=\"muted\">and {} smaller sources, not marked here</li>\n",
            number(excerpt.more)
        ));
    }
    out.push_str("</ol>\n</div>\n</article>\n");
}

fn source(out: &mut String, index: usize, source: &ExcerptSource, root: &str, links: bool) {
    let class = colour(index);
    out.push_str(&format!(
        "<li class=\"{class}\" data-source=\"{number}\"><span class=\"key\">{number}</span> {}<br /><span class=\"muted\">{}</span>",
        shown_address(&source.address, root, links),
        escape(&source.about),
        number = index + 1,
    ));
    if let Some(target) = &source.evidence {
        out.push_str(&format!(
            " <a href=\"{}\">Compare the two pages</a>",
            escape(target)
        ));
    }
    for quote in &source.quotes {
        out.push_str(&format!(
            "<blockquote dir=\"auto\">{}<mark class=\"{class}\">{}</mark>{}</blockquote>",
            escape(&quote.before),
            escape(&quote.passage),
            escape(&quote.after)
        ));
    }
    out.push_str("</li>\n");
}

/// Renders a comparison. Without `links`, no address leads out of the page.
pub(crate) fn comparison(
    out: &mut String,
    comparison: &Comparison,
    id: &str,
    root: &str,
    links: bool,
) {
    out.push_str(&format!(
        "<article{}>\n<p class=\"muted\">{}</p>\n<div class=\"sides\">\n",
        id_attribute(id),
        escape(&comparison.about)
    ));
    for (index, side) in comparison.sides.iter().enumerate() {
        let class = colour(index);
        out.push_str(&format!(
            "<div><p>{}</p>\n<div class=\"words\" dir=\"auto\">",
            shown_address(&side.address, root, links)
        ));
        for piece in &side.pieces {
            match piece {
                ComparedPiece::Same(words) => out.push_str(&escape(words)),
                ComparedPiece::Differing(words) => {
                    out.push_str(&format!("<mark class=\"{class}\">{}</mark>", escape(words)));
                }
                ComparedPiece::Gap(letters) => out.push_str(&format!(
                    "<span class=\"gap\"> [… {} characters …] </span>",
                    number(*letters)
                )),
            }
        }
        out.push_str("</div></div>\n");
    }
    out.push_str("</div>\n</article>\n");
}

fn colour(source: usize) -> String {
    format!("s{}", source % COLOURS + 1)
}

//! The page, written by hand: elements that are always closed, text that is always escaped.
//! Whatever a page of the crawl is called or says, it is text here; and the policy at the head of
//! the file forbids a browser to fetch or to run anything at all.

use cento_figure::STYLE as FIGURES;

use super::escape::{escape, link};
use super::style::STYLE;
use super::{Chapter, Report};
use crate::section::{Cell, Excerpt, Next, Origin, Piece, Table};
use crate::words::number;

/// Letters of an address that are shown.
const LONGEST: usize = 200;
/// Colours that there are for sources.
const COLOURS: usize = 7;

/// The whole file.
pub(super) fn page(report: &Report) -> String {
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n");
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\" />\n\
         <meta name=\"referrer\" content=\"no-referrer\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n",
    );
    out.push_str(&format!(
        "<meta name=\"generator\" content=\"cento {}\" />\n<title>{} – cento</title>\n<style>\n{STYLE}{FIGURES}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        escape(&report.corpus)
    ));
    header(&mut out, report);
    out.push_str("<main>\n");
    for chapter in &report.chapters {
        self::chapter(&mut out, report, chapter);
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
    for sentence in report.about() {
        paragraph(out, "", &sentence);
    }
    out.push_str("<ul class=\"tiles\">\n");
    for headline in report.headlines() {
        out.push_str(&format!(
            "<li><b>{}</b><span>{}</span></li>\n",
            escape(&headline.value),
            escape(&headline.label)
        ));
    }
    out.push_str("</ul>\n");
    if report.chapters.is_empty() {
        paragraph(
            out,
            "",
            "Nothing was looked for in this corpus: the reasons are at the end of the page.",
        );
    } else {
        out.push_str("<ul class=\"summary\">\n");
        for chapter in &report.chapters {
            for sentence in &chapter.section.sentences {
                out.push_str(&format!(
                    "<li dir=\"auto\">{}</li>\n",
                    self::sentence(sentence)
                ));
            }
        }
        out.push_str("</ul>\n<nav><ul>\n");
        for chapter in &report.chapters {
            out.push_str(&format!(
                "<li><a href=\"#{}\">{}</a></li>\n",
                escape(chapter.analysis.name()),
                escape(chapter.analysis.title())
            ));
        }
        out.push_str("</ul></nav>\n");
    }
    out.push_str("</header>\n");
}

fn chapter(out: &mut String, report: &Report, chapter: &Chapter) {
    out.push_str(&format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n",
        escape(chapter.analysis.name()),
        escape(chapter.analysis.title())
    ));
    paragraph(out, "question", chapter.analysis.question());
    for sentence in &chapter.section.sentences {
        paragraph(out, "", sentence);
    }
    if !chapter.drawings.is_empty() {
        out.push_str("<div class=\"figures\">\n");
        for drawing in &chapter.drawings {
            out.push_str(&format!(
                "<figure>{}</figure>\n",
                drawing.figure.svg_for_page()
            ));
        }
        out.push_str("</div>\n");
    }
    for table in &chapter.section.tables {
        self::table(out, table, &report.profile.root);
    }
    if !chapter.section.excerpts.is_empty() {
        out.push_str("<h3>the words, and whose they are</h3>\n");
        for excerpt in &chapter.section.excerpts {
            self::excerpt(out, excerpt, &report.profile.root);
        }
    }
    next(out, &chapter.section.next);
    out.push_str(&format!(
        "<p class=\"muted\">Found by <code>{}</code>; all of it is in <code>{}</code>.</p>\n</section>\n",
        escape(&chapter.command),
        escape(&chapter.findings)
    ));
}

fn next(out: &mut String, commands: &[Next]) {
    if commands.is_empty() {
        return;
    }
    out.push_str("<h3>what to run next</h3>\n<ul class=\"next\">\n");
    for Next { command, why } in commands {
        out.push_str(&format!(
            "<li>To {}:<pre>{}</pre></li>\n",
            escape(why),
            escape(command)
        ));
    }
    out.push_str("</ul>\n");
}

fn footer(out: &mut String, report: &Report) {
    out.push_str("<footer>\n");
    if !report.left_out.is_empty() {
        out.push_str("<h2>Left out</h2>\n<ul class=\"summary\">\n");
        for left in &report.left_out {
            out.push_str(&format!(
                "<li>{}: {}</li>\n",
                escape(left.analysis.title()),
                escape(&left.reason)
            ));
        }
        out.push_str("</ul>\n");
    }
    out.push_str(&format!(
        "<p class=\"muted\">Made by cento {}. This page holds all that it shows: it fetches nothing and runs no script. \
         What it quotes belongs to those who wrote it.</p>\n</footer>\n",
        env!("CARGO_PKG_VERSION")
    ));
}

/// Words of ours among those of strangers; a number and its sign stay on one line.
fn sentence(text: &str) -> String {
    escape(text).replace(" %", "\u{a0}%")
}

fn paragraph(out: &mut String, class: &str, text: &str) {
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    out.push_str(&format!("<p dir=\"auto\"{class}>{}</p>\n", sentence(text)));
}

/// An address: a link if it is a page of the web, without what all addresses begin with, and not
/// too long.
fn address(address: &str, root: &str) -> String {
    let shown = address.strip_prefix(root).unwrap_or(address);
    let shown = escape(&crate::words::shortened(shown, LONGEST));
    match link(address) {
        Some(target) => format!(
            "<a href=\"{target}\" rel=\"noreferrer noopener nofollow\"><bdi>{shown}</bdi></a>"
        ),
        None => format!("<bdi>{shown}</bdi>"),
    }
}

fn table(out: &mut String, table: &Table, root: &str) {
    let Some(model) = table.rows.first() else {
        return;
    };
    out.push_str(&format!(
        "<h3>{}</h3>\n<div class=\"wide\"><table>\n<thead><tr>",
        escape(&table.title)
    ));
    for (column, name) in table.columns.iter().enumerate() {
        let number = model.get(column).is_some_and(Cell::is_number);
        let class = if number { " class=\"n\"" } else { "" };
        out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(name)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            match cell {
                Cell::Address(text) => out.push_str(&format!("<td>{}</td>", address(text, root))),
                Cell::Text(text) => out.push_str(&format!("<td><bdi>{}</bdi></td>", escape(text))),
                number => out.push_str(&format!("<td class=\"n\">{}</td>", escape(&number.text()))),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if table.more > 0 {
        out.push_str(&format!(
            "<p class=\"muted\">and {} more</p>\n",
            number(table.more)
        ));
    }
}

fn excerpt(out: &mut String, excerpt: &Excerpt, root: &str) {
    out.push_str(&format!(
        "<article>\n<p><strong>{}</strong></p>\n<p class=\"muted\">{}</p>\n<div class=\"quilt\">\n<div class=\"words\" dir=\"auto\">",
        address(&excerpt.page, root),
        escape(&excerpt.about)
    ));
    let mut last = None;
    for piece in &excerpt.pieces {
        match piece {
            Piece::Own(words) => out.push_str(&escape(words)),
            Piece::Gap(letters) => out.push_str(&format!(
                "<span class=\"gap\"> [… {} characters …] </span>",
                number(*letters)
            )),
            Piece::From(source, words) => {
                let class = colour(*source);
                out.push_str(&format!("<mark class=\"{class}\">"));
                // Two patches of one source in a row need one number only.
                if last != Some(*source) {
                    out.push_str(&format!("<sup class=\"key\">{}</sup>", source + 1));
                }
                out.push_str(&format!("{}</mark>", escape(words)));
            }
        }
        last = match piece {
            Piece::From(source, _) => Some(*source),
            _ => None,
        };
    }
    out.push_str("</div>\n<ol class=\"sources\">\n");
    for (number, origin) in excerpt.sources.iter().enumerate() {
        self::origin(out, number, origin, root);
    }
    if excerpt.more > 0 {
        out.push_str(&format!(
            "<li class=\"muted\">and {} more that gave less, not marked here</li>\n",
            number(excerpt.more)
        ));
    }
    out.push_str("</ol>\n</div>\n</article>\n");
}

fn origin(out: &mut String, number: usize, origin: &Origin, root: &str) {
    let class = colour(number);
    out.push_str(&format!(
        "<li class=\"{class}\"><span class=\"key\">{}</span> {}<br /><span class=\"muted\">{}</span>",
        number + 1,
        address(&origin.source, root),
        escape(&origin.about)
    ));
    for quote in &origin.quotes {
        out.push_str(&format!(
            "<blockquote dir=\"auto\">{}<mark class=\"{class}\">{}</mark>{}</blockquote>",
            escape(&quote.before),
            escape(&quote.words),
            escape(&quote.after)
        ));
    }
    out.push_str("</li>\n");
}

fn colour(source: usize) -> String {
    format!("s{}", source % COLOURS + 1)
}

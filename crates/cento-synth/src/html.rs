//! Rendering pages as HTML: the template of a site around the text, and markup within it.

use std::fmt::Write;

use crate::language::Language;
use crate::pages::{PageBlock, SynthPage};
use crate::prose;
use crate::random::{Purpose, Random, mix};
use crate::site::{Site, slug};
use crate::vocabulary::Vocabulary;

/// The notice that most sites of a language show: boilerplate.
pub(crate) fn notice(language: Language) -> String {
    let mut random = Random::new(0, Purpose::Notice, language as u64);
    prose::sentence(language, &mut random).text
}

/// Letters that old pages write as named character references.
const NAMED: [(char, &str); 14] = [
    ('é', "eacute"),
    ('è', "egrave"),
    ('ê', "ecirc"),
    ('á', "aacute"),
    ('í', "iacute"),
    ('ó', "oacute"),
    ('ú', "uacute"),
    ('ñ', "ntilde"),
    ('ä', "auml"),
    ('ö', "ouml"),
    ('ü', "uuml"),
    ('ß', "szlig"),
    ('&', "amp"),
    ('<', "lt"),
];

fn escape(text: &str, by_name: bool, out: &mut String) {
    if !by_name {
        out.push_str(text);
        return;
    }
    for letter in text.chars() {
        match NAMED
            .iter()
            .find(|(known, _)| !letter.is_ascii_alphanumeric() && *known == letter)
        {
            Some((_, name)) => {
                out.push('&');
                out.push_str(name);
                out.push(';');
            }
            None => out.push(letter),
        }
    }
}

/// What the pages of a site share.
struct Template {
    navigation: Vec<(String, String)>,
    tagline: String,
    legal: String,
    shows_notice: bool,
    /// Which of a few page structures is used.
    style: u64,
    by_name: bool,
}

impl Template {
    fn of(site: Site, language: Language) -> Template {
        let mut random = Random::pair(site.seed, Purpose::Template, site.kind as u64, site.number);
        let vocabulary = Vocabulary::of(language);
        let navigation = (0..random.between(5, 9))
            .map(|item| {
                let word = vocabulary.rare(&mut random).to_owned();
                (format!("/{}{item}/", slug(&mut random)), word)
            })
            .collect();
        Template {
            navigation,
            tagline: prose::title(language, &mut random),
            legal: prose::sentence(language, &mut random).text,
            shows_notice: !random.once_in(4),
            style: random.below(3),
            by_name: random.once_in(5),
        }
    }
}

/// Renders a page. Neither its URL nor the date it was fetched is included, so that copies can be
/// identical.
pub(crate) fn render(page: &SynthPage) -> String {
    let template = Template::of(page.template, page.language);
    let mut random = Random::new(page.template.seed, Purpose::Markup, page.markup);
    let by_name = template.by_name;
    let skin = format!("{:04x}", mix(page.markup ^ page.template.number) & 0xffff);
    let mut out = String::with_capacity(12 << 10);
    out.push_str("<!doctype html>\n<html");
    if page.declares_language {
        let _ = write!(out, " lang=\"{}\"", page.language);
    }
    if page.language == Language::Arabic {
        out.push_str(" dir=\"rtl\"");
    }
    out.push_str(">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    escape(page.body.title(), by_name, &mut out);
    out.push_str("</title>\n");
    if let Some(published) = page.published {
        let date = cento_text::date::render(published);
        let _ = match template.style {
            0 => writeln!(
                out,
                "<meta property=\"article:published_time\" content=\"{date}\">"
            ),
            1 => writeln!(
                out,
                "<script type=\"application/ld+json\">{{\"@type\": \"Article\", \"datePublished\": \"{date}\"}}</script>"
            ),
            _ => writeln!(out, "<meta itemprop=\"datePublished\" content=\"{date}\">"),
        };
    }
    let _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"stylesheet\" href=\"/static/{skin}.css\">\n\
         <style>.s{skin} {{ margin: 0 auto; max-width: {}em }} .s{skin} p {{ line-height: 1.{} }}</style>\n\
         <script>window.queue = window.queue || []; queue.push(['page', '{skin}', {}]);</script>\n</head>\n",
        random.between(40, 70),
        random.between(3, 7),
        random.below(1 << 30),
    );
    let _ = writeln!(out, "<body class=\"s{skin}\">");
    header(&template, page, &mut out);
    let (open, close) = match template.style {
        0 => ("<main><article class=\"text\">\n", "</article></main>\n"),
        1 => (
            "<div id=\"content\"><div class=\"entry\">\n",
            "</div></div>\n",
        ),
        _ => ("<section class=\"story\">\n", "</section>\n"),
    };
    out.push_str(open);
    for (index, block) in page.body.blocks.iter().enumerate() {
        self::block(block, index == 0, by_name, &mut random, &mut out);
    }
    if !page.body.links.is_empty() {
        out.push_str("<ul class=\"more\">\n");
        for (number, link) in page.body.links.iter().enumerate() {
            let _ = writeln!(
                out,
                "<li><a href=\"{}\">{}</a></li>",
                link.replace('&', "&amp;"),
                number + 1
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str(close);
    footer(&template, page, &mut out);
    out.push_str("</body>\n</html>\n");
    out
}

fn header(template: &Template, page: &SynthPage, out: &mut String) {
    let by_name = template.by_name;
    let _ = write!(out, "<header><div class=\"brand\"><a href=\"/\">");
    escape(&template.tagline, by_name, out);
    out.push_str("</a></div>\n<nav><ul>\n");
    for (path, word) in &template.navigation {
        let _ = write!(out, "<li><a href=\"{path}\">");
        escape(word, by_name, out);
        out.push_str("</a></li>\n");
    }
    out.push_str("</ul></nav></header>\n");
    if template.shows_notice && template.style == 0 {
        notice_box(page, by_name, out);
    }
}

fn notice_box(page: &SynthPage, by_name: bool, out: &mut String) {
    out.push_str("<div class=\"notice\"><p>");
    escape(&notice(page.language), by_name, out);
    out.push_str("</p></div>\n");
}

fn footer(template: &Template, page: &SynthPage, out: &mut String) {
    if template.shows_notice && template.style != 0 {
        notice_box(page, template.by_name, out);
    }
    out.push_str("<footer><p>");
    escape(&template.legal, template.by_name, out);
    out.push_str("</p><p>&copy; 2025</p></footer>\n");
}

fn block(block: &PageBlock, first: bool, by_name: bool, random: &mut Random, out: &mut String) {
    let text = &block.prose.text;
    if block.heading {
        let level = if first { 1 } else { 2 };
        let _ = write!(out, "<h{level}>");
        escape(text, by_name, out);
        let _ = writeln!(out, "</h{level}>");
        return;
    }
    out.push_str("<p>");
    // Some words are emphasised or links; the text does not change.
    let mut done = 0;
    loop {
        let next = done + random.between(150, 900) as usize;
        let Some((begin, end)) = word_after(text, next) else {
            break;
        };
        escape(text.get(done..begin).unwrap_or_default(), by_name, out);
        let word = text.get(begin..end).unwrap_or_default();
        if random.next() & 1 == 0 {
            out.push_str("<em>");
            escape(word, by_name, out);
            out.push_str("</em>");
        } else {
            let _ = write!(out, "<a href=\"/{}/\">", slug(random));
            escape(word, by_name, out);
            out.push_str("</a>");
        }
        done = end;
    }
    escape(text.get(done..).unwrap_or_default(), by_name, out);
    out.push_str("</p>\n");
    if let Some((address, words)) = &block.link {
        let _ = writeln!(
            out,
            "<p class=\"source\"><a href=\"{address}\">{words}</a></p>"
        );
    }
}

/// The letters at or after an offset: up to the next space, or at most 12 characters.
fn word_after(text: &str, mut at: usize) -> Option<(usize, usize)> {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    let rest = text.get(at..)?;
    let begin = at + rest.find(' ').map_or(0, |space| space + 1);
    let rest = text.get(begin..)?;
    let end = rest
        .char_indices()
        .take(12)
        .take_while(|(_, letter)| letter.is_alphanumeric())
        .map(|(index, letter)| index + letter.len_utf8())
        .last()?;
    Some((begin, begin + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_character_references_are_read_as_letters() {
        let mut out = String::new();
        escape("être à 3 < 4 & größer", true, &mut out);
        assert_eq!(out, "&ecirc;tre à 3 &lt; 4 &amp; gr&ouml;&szlig;er");
        let mut extractor = cento_text::html::Extractor::new();
        let extract = extractor.extract(&out, &cento_text::html::Options::default());
        assert_eq!(extract.text, "être à 3 < 4 & größer");
    }
}

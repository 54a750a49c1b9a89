//! `cento cat --why-main`: why the blocks of a page are main content or not.

use cento_read::{Content, Item, Start, decode, resolve};
use cento_store::Corpus;
use cento_text::content::{ExplainedBlock, explain};
use cento_text::html::{Extractor, Options};
use serde_json::{Value, json};

use crate::command_error::CommandError;
use crate::output::clean;

/// The longest beginning of a block that is shown, in characters.
const SHOWN: usize = 80;

/// The decisions about a page, and the text that they are about.
pub(crate) struct WhyMain {
    page_type: Option<String>,
    blocks: Vec<(ExplainedBlock, String)>,
}

impl WhyMain {
    /// Reads a page from its input again, because a corpus does not store HTML. The corpus knows
    /// how the input was read.
    pub(crate) fn read(corpus: &Corpus, page_id: u64, url: &str) -> Result<WhyMain, CommandError> {
        let refused = |detail: String| {
            CommandError::missing(
                format!("--why-main: {detail}"),
                "a corpus does not store HTML: the page is read from its input again, which must \
                 be where it was when it was indexed, and unchanged"
                    .to_owned(),
            )
        };
        let ordinal = u32::try_from(page_id >> 32).unwrap_or(u32::MAX);
        let record = u32::try_from(page_id & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        let mut inputs = corpus.listed_inputs()?.into_iter();
        let Some(listed) = inputs.find(|input| input.ordinal == ordinal) else {
            return Err(refused(format!("the input of page {page_id} is not known")));
        };
        let name = listed.name;
        if listed.bytes.is_none() {
            return Err(refused(format!("{name} was a stream")));
        }
        let settings = corpus.reading_settings(ordinal)?;
        let resolved = resolve(std::slice::from_ref(&name), &settings)
            .map_err(|error| refused(error.to_string()))?;
        let Some(input) = resolved.inputs.first() else {
            return Err(refused(format!("{name} is not found")));
        };
        if input.bytes != listed.bytes {
            return Err(refused(format!("{name} has changed")));
        }
        let mut reader = input.open(&settings, Start::default())?;
        while let Some(item) = reader.next()? {
            let Item::Record(found) = item else { continue };
            if found.place.ordinal != record {
                continue;
            }
            let page = decode(found, &settings)
                .map_err(|skipped| refused(format!("{name}: {}", skipped.detail)))?
                .page;
            // The URL of a file below a base URL depends on the folder that was indexed.
            let is_same = settings.base_url.is_some() || page.url == url;
            return match &page.content {
                Content::Html(html) if is_same => Ok(WhyMain::of(html)),
                Content::Html(_) => Err(refused(format!("{name} has another page there"))),
                _ => Err(CommandError::usage(
                    format!(
                        "--why-main: page {page_id} is not HTML, so all of its text is content"
                    ),
                    "`cento cat` without --why-main shows it",
                )),
            };
        }
        Err(refused(format!("{name} no longer has page {page_id}")))
    }

    fn of(html: &str) -> WhyMain {
        let mut extractor = Extractor::new();
        let page = extractor.extract(html, &Options { outline: true });
        let explanation = explain(page);
        let beginning = |block: &ExplainedBlock| -> String {
            let text = page.text.get(block.range.clone()).unwrap_or_default();
            match text.char_indices().nth(SHOWN) {
                Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                None => text.to_owned(),
            }
        };
        WhyMain {
            page_type: explanation.page_type.map(|kind| kind.to_string()),
            blocks: explanation
                .blocks
                .into_iter()
                .map(|block| {
                    let text = beginning(&block);
                    (block, text)
                })
                .collect(),
        }
    }

    /// One line for each block, and one for what decided.
    pub(crate) fn text(&self) -> String {
        let page_type = self.page_type.as_deref().unwrap_or("none, no text");
        let mut out = format!("\npage type: {page_type}\n");
        for (block, text) in &self.blocks {
            let verdict = if block.kept { "kept   " } else { "removed" };
            let line = text.replace('\n', " ");
            let text = clean(&line);
            out.push_str(&format!(
                "{verdict} {:>4}  <{}> {text}\n",
                block.score,
                block.tag.name()
            ));
            out.push_str(&format!("              {}\n", decided(block)));
        }
        out
    }

    pub(crate) fn json(&self) -> Value {
        let blocks: Vec<Value> = self
            .blocks
            .iter()
            .map(|(block, text)| {
                let reasons: Vec<Value> = block
                    .reasons
                    .iter()
                    .map(|(evidence, change)| json!({"evidence": evidence, "change": change}))
                    .collect();
                json!({
                    "kept": block.kept, "score": block.score, "least": block.least,
                    "rule": block.rule.map(|rule| rule.name()), "tag": block.tag.name(),
                    "begin": block.range.start, "end": block.range.end, "text": text,
                    "reasons": reasons,
                })
            })
            .collect();
        json!({"page_type": self.page_type, "blocks": blocks})
    }
}

/// What decided about a block: a rule, or the threshold and the evidence with the most weight.
fn decided(block: &ExplainedBlock) -> String {
    if let Some(rule) = block.rule {
        return format!("rule: {}", rule.name());
    }
    let reasons: Vec<String> = block
        .reasons
        .iter()
        .map(|(evidence, change)| {
            let sign = if *change < 0 { '-' } else { '+' };
            let size = change.unsigned_abs();
            format!("{evidence} ({sign}{}.{:02})", size / 1000, size % 1000 / 10)
        })
        .collect();
    format!("needs more than {}: {}", block.least, reasons.join(", "))
}

//! The two files of `cento passages A B`.

use cento_read::{Content, Item, Settings, Start, decode, resolve};
use cento_text::html::{Extractor, Options};

use crate::command_error::CommandError;
use crate::output::number;

/// A file whose text is compared.
pub(crate) struct ComparedFile {
    /// The name as typed.
    pub(crate) name: String,
    /// The text that offsets refer to. For a plain text file in UTF-8 it is all of the file, with
    /// its byte order mark and line ends, so that offsets are those of the file. For HTML it is the
    /// visible text; for other encodings and compressed files, the decoded text.
    pub(crate) text: String,
    /// Why offsets are not those of the file, if a reader would expect that.
    pub(crate) note: Option<String>,
}

impl ComparedFile {
    /// Reads a text or HTML file.
    pub(crate) fn read(name: &str) -> Result<ComparedFile, CommandError> {
        let settings = Settings::default();
        let inputs = resolve(&[name.to_owned()], &settings)?.inputs;
        let [input] = inputs.as_slice() else {
            return Err(not_one_page(name));
        };
        let mut reader = input.open(&settings, Start::default())?;
        let mut content = None;
        while let Some(item) = reader.next()? {
            let decoded = match item {
                Item::Record(record) => decode(record, &settings).map_err(|skipped| skipped.detail),
                Item::Skipped(skipped) => Err(skipped.detail),
                Item::Ignored(_) => continue,
            };
            let decoded = decoded.map_err(|detail| unreadable(name, &detail))?;
            if content.is_some() {
                return Err(not_one_page(name));
            }
            content = Some(match (decoded.page.content, decoded.reject) {
                (Content::None, Some(rejected)) if decoded.page.payload_bytes > 0 => {
                    return Err(unreadable(name, &rejected.detail));
                }
                (content, _) => content,
            });
        }
        let mut note = None;
        let text = match content.unwrap_or(Content::None) {
            Content::None => String::new(),
            Content::Html(html) => {
                let mut extractor = Extractor::default();
                extractor.extract(&html, &Options::default()).text.clone()
            }
            Content::Text(text) => own_text(name, &text).unwrap_or_else(|| {
                note = Some(decoded_note(name, &text));
                text
            }),
        };
        Ok(ComparedFile {
            name: name.to_owned(),
            text,
            note,
        })
    }
}

/// Returns all of a file if it is the text that was decoded from it, apart from a byte order mark.
fn own_text(name: &str, decoded: &str) -> Option<String> {
    let own = String::from_utf8(std::fs::read(name).ok()?).ok()?;
    let unmarked = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
    (unmarked(&own) == unmarked(decoded)).then_some(own)
}

/// Says that a text is not what its file has.
fn decoded_note(name: &str, decoded: &str) -> String {
    let cause = match first_invalid(name, decoded) {
        Some(byte) => format!(" (byte {} is not valid UTF-8)", number(byte)),
        None => String::new(),
    };
    let replaced = match decoded.matches(char::REPLACEMENT_CHARACTER).count() {
        0 => String::new(),
        1 => "; 1 character of it is U+FFFD, which replaces invalid bytes".to_owned(),
        many => format!(
            "; {} characters of it are U+FFFD, which replaces invalid bytes",
            number(many as u64)
        ),
    };
    format!(
        "note: offsets in {name} are those of the decoded text, not of the file{cause}{replaced}"
    )
}

/// Returns the first byte of a file that is not valid UTF-8, if its text begins as the file does:
/// that of a compressed file, or of one in UTF-16, does not.
fn first_invalid(name: &str, decoded: &str) -> Option<u64> {
    let own = std::fs::read(name).ok()?;
    let valid = std::str::from_utf8(&own).err()?.valid_up_to();
    let begin = own.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&own);
    let ascii = begin.iter().take_while(|byte| byte.is_ascii()).count();
    let begin = begin.get(..ascii).filter(|begin| !begin.is_empty())?;
    decoded
        .as_bytes()
        .starts_with(begin)
        .then_some(valid as u64)
}

fn not_one_page(name: &str) -> CommandError {
    CommandError::usage(
        format!("{name} is not a single page"),
        "name two text or HTML files; for more pages, use cento index and then cento passages CORPUS",
    )
}

fn unreadable(name: &str, detail: &str) -> CommandError {
    CommandError::usage(
        format!("{name} cannot be compared: {detail}"),
        "name two text or HTML files",
    )
}

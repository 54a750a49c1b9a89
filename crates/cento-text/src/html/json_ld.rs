//! Reads JSON-LD.
//!
//! A script is scanned rather than parsed, because JSON-LD is malformed on many pages. Brackets are
//! counted: which object a key belongs to decides what it says about the page.
//!
//! ```text
//! {"@type": "WebPage",                       the page's own
//!  "mainEntity": {"@type": "Article",        the page's own
//!                 "isBasedOn": {…}},         something else
//!  "@graph": [{…}, {…}]}                     the page's own, each
//! ```

use super::entities::{Entities, Thing};
use super::schema::json_decode;

/// Deeper objects are never the page's own.
const DEEPEST: usize = 64;

/// What a JSON text has, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonEvent<'a> {
    /// An object or array begins.
    Open(Bracket),
    /// An object or array ends.
    Close(Bracket),
    /// The key of the next value, as written between its quotes.
    Key(&'a str),
    /// A string that is a value, as written.
    Value(&'a str),
}

/// The kind of a bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Object,
    Array,
}

/// Calls `visit` with each bracket, key and string of a JSON text. Time is linear, and nothing is
/// allocated.
pub(super) fn json_events<'a>(json: &'a str, mut visit: impl FnMut(JsonEvent<'a>)) {
    let bytes = json.as_bytes();
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let quote = memchr::memchr(b'"', rest);
        for byte in rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default() {
            match byte {
                b'{' => visit(JsonEvent::Open(Bracket::Object)),
                b'}' => visit(JsonEvent::Close(Bracket::Object)),
                b'[' => visit(JsonEvent::Open(Bracket::Array)),
                b']' => visit(JsonEvent::Close(Bracket::Array)),
                _ => {}
            }
        }
        let Some(begin) = quote.map(|quote| at + quote + 1) else {
            return;
        };
        let Some(end) = string_end(bytes, begin) else {
            return;
        };
        let string = json.get(begin..end).unwrap_or_default();
        let mut after = bytes.get(end + 1..).unwrap_or_default().iter();
        let spaces = after.position(|byte| !byte.is_ascii_whitespace());
        at = spaces.map_or(bytes.len(), |spaces| end + 1 + spaces);
        visit(match bytes.get(at) {
            Some(b':') => JsonEvent::Key(string),
            _ => JsonEvent::Value(string),
        });
    }
}

/// The position of the quote that ends the string whose content begins at `begin`.
fn string_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// An open object or array.
#[derive(Debug)]
struct Frame<'a> {
    bracket: Bracket,
    /// Of an object, its last key; of an array, the key whose value it is.
    key: &'a str,
    /// Whether the objects that it has directly, under no key or one of [`OWN`], are the page's.
    is_own: bool,
    group: u32,
    /// Whether the group is that of the object around it.
    is_linked: bool,
    /// Whether it describes the page of the object around it.
    is_page: bool,
    /// What is known of an object of the page.
    thing: Thing,
}

/// The keys of objects that are the page's own if the object around them is.
const OWN: [&str; 4] = ["@graph", "mainEntity", "mainEntityOfPage", "blogPost"];

/// Reads a script into the things that it describes as the page's own.
#[derive(Debug)]
pub(super) struct JsonLdReader<'a, 'e> {
    entities: &'e mut Entities,
    frames: Vec<Frame<'a>>,
    /// How many frames are objects and arrays: a bracket without a counterpart is ignored.
    open: [usize; 2],
    /// The number of open brackets beyond [`DEEPEST`].
    deeper: usize,
}

impl<'a, 'e> JsonLdReader<'a, 'e> {
    pub(super) fn new(entities: &'e mut Entities) -> Self {
        JsonLdReader {
            entities,
            frames: Vec::new(),
            open: [0; 2],
            deeper: 0,
        }
    }

    pub(super) fn event(&mut self, event: JsonEvent<'a>) {
        match event {
            JsonEvent::Open(_) if self.deeper > 0 || self.frames.len() >= DEEPEST => {
                self.deeper += 1;
            }
            JsonEvent::Open(bracket) => self.open(bracket),
            JsonEvent::Close(_) if self.deeper > 0 => self.deeper -= 1,
            JsonEvent::Close(bracket) => {
                while self.open[bracket as usize] > 0 {
                    if self.pop() == Some(bracket) {
                        break;
                    }
                }
            }
            _ if self.deeper > 0 => {}
            JsonEvent::Key(key) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.key = key;
                }
            }
            JsonEvent::Value(value) => self.value(value),
        }
    }

    /// Ends the script, which may be truncated.
    pub(super) fn finish(mut self) {
        while self.pop().is_some() {}
    }

    fn open(&mut self, bracket: Bracket) {
        let (key, is_own, group) = match self.frames.last() {
            None => ("", true, 0),
            Some(around) => {
                let is_own = around.bracket == Bracket::Array || OWN.contains(&around.key);
                (around.key, around.is_own && is_own, around.group)
            }
        };
        let is_linked = is_own && matches!(key, "mainEntity" | "mainEntityOfPage");
        let group = match (is_own, bracket) {
            (true, Bracket::Object) if !is_linked => self.entities.group(),
            _ => group,
        };
        self.open[bracket as usize] += 1;
        self.frames.push(Frame {
            bracket,
            key,
            is_own,
            group,
            is_linked,
            is_page: is_own && key == "mainEntityOfPage",
            thing: Thing::default(),
        });
    }

    fn pop(&mut self) -> Option<Bracket> {
        let frame = self.frames.pop()?;
        self.open[frame.bracket as usize] -= 1;
        if frame.is_own && frame.bracket == Bracket::Object {
            self.entities
                .push(frame.thing, frame.group, frame.is_linked);
        }
        Some(frame.bracket)
    }

    fn value(&mut self, value: &'a str) {
        // The strings of an array belong to the object that has the array.
        let is_array = |frame: &Frame<'_>| frame.bracket == Bracket::Array;
        let in_array = usize::from(self.frames.last().is_some_and(is_array));
        let owner = self.frames.len().checked_sub(1 + in_array);
        let Some(frame) = owner.and_then(|owner| self.frames.get_mut(owner)) else {
            return;
        };
        if !frame.is_own || frame.bracket == Bracket::Array {
            return;
        }
        let thing = &mut frame.thing;
        let text = match frame.key {
            "@type" => return thing.types.add(value),
            "datePublished" if value.len() <= 100 => return thing.offer_date(&json_decode(value)),
            "@id" if !frame.is_page => return thing.offer_name(&json_decode(value)),
            "@id" | "url" | "mainEntityOfPage" => return thing.offer_address(&json_decode(value)),
            "articleBody" => &mut thing.article_body,
            "text" => &mut thing.text,
            "description" => &mut thing.description,
            _ => return,
        };
        if text.is_none() {
            *text = Some(json_decode(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entities::PageAddresses;
    use super::*;

    fn strings(json: &str) -> Vec<(String, String)> {
        let mut key = "";
        let mut found = Vec::new();
        json_events(json, |event| match event {
            JsonEvent::Key(name) => key = name,
            JsonEvent::Value(value) => found.push((key.to_owned(), value.to_owned())),
            _ => {}
        });
        found
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn strings_are_visited_with_their_keys() {
        assert_eq!(
            strings(r#"{"@type" : ["A", "B"], "n": 1, "x": {"y": "z \" \\"}}"#),
            [
                pair("@type", "A"),
                pair("@type", "B"),
                pair("y", r#"z \" \\"#)
            ]
        );
    }

    #[test]
    fn malformed_json_is_read_as_far_as_possible() {
        for json in [
            "",
            "\"",
            "\"a",
            "\"a\\",
            "\"a\"",
            "{\"a\":",
            "}}{\"\":\"\"",
            "]}[{]}",
            "{\"a\":[}\"x\"",
        ] {
            strings(json);
            let mut entities = Entities::default();
            let mut reader = JsonLdReader::new(&mut entities);
            json_events(json, |event| reader.event(event));
            reader.finish();
        }
        assert_eq!(strings(r#"{"a":"b" "c":"d"#), [pair("a", "b")]);
    }

    #[test]
    fn a_hostile_script_takes_bounded_memory() {
        let object = "{\"@type\":\"Article\",\"datePublished\":\"2020\"},";
        for script in [
            "{".repeat(1 << 20),
            "[{\"a\":".repeat(1 << 18),
            object.repeat(1 << 14),
        ] {
            let mut entities = Entities::default();
            let mut reader = JsonLdReader::new(&mut entities);
            json_events(&script, |event| {
                reader.event(event);
                assert!(reader.frames.len() <= DEEPEST);
            });
            reader.finish();
            let addresses = PageAddresses::new(None, std::iter::empty());
            assert_eq!(entities.date(&addresses), None);
        }
    }
}

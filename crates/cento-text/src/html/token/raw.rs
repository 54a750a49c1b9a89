//! Elements whose content is not markup and extends to their own end tag.

use super::{TokenSink, Tokenizer, slice};
use crate::html::scan::{self, TAG_NAME_END};
use crate::html::tag::ContentModel;
use memchr::{memchr2, memmem};

impl Tokenizer<'_> {
    /// Emits the content of the element `name`, which begins at `begin`, and its end tag.
    pub(super) fn raw<S: TokenSink>(
        &mut self,
        begin: usize,
        name: &str,
        model: ContentModel,
        sink: &mut S,
    ) -> Option<usize> {
        let close = match model {
            ContentModel::Script => self.script_end(begin, name),
            ContentModel::PlainText => None,
            _ => self.raw_end(begin, name),
        };
        let end = close.unwrap_or(self.bytes.len());
        self.emit(begin, end, model, sink);
        self.end_tag(close? + b"</".len(), sink)
    }

    /// The `<` of the first `</name` at or after `from`.
    fn raw_end(&self, from: usize, name: &str) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        memmem::find_iter(rest, b"</")
            .map(|found| from + found)
            .find(|&open| self.names(open + b"</".len(), name))
    }

    /// Whether `name` is at `at` as a complete tag name. A name cut off by the end of the page does
    /// not count.
    fn names(&self, at: usize, name: &str) -> bool {
        let end = at + name.len();
        slice(self.page, (at, end)).eq_ignore_ascii_case(name)
            && self
                .bytes
                .get(end)
                .is_some_and(|&byte| scan::is(byte, TAG_NAME_END))
    }

    /// The `<` of the end tag of a script.
    ///
    /// ```text
    ///           <!--            <script
    ///  script ───────► escaped ─────────► doubly escaped
    ///     ▲ ◄─────────    │    ◄─────────       │
    ///     │      -->           </script         │
    ///     └─────────────────────────────────────┘ -->
    /// ```
    ///
    /// `</script` ends the script in the first two states.
    fn script_end(&self, begin: usize, name: &str) -> Option<usize> {
        let bytes = self.bytes;
        let mut at = begin;
        'script: loop {
            let open = scan::find_byte(bytes, at, b'<')?;
            at = open + 1;
            let rest = bytes.get(at..)?;
            if rest.starts_with(b"/") && self.names(open + 2, name) {
                return Some(open);
            }
            if !rest.starts_with(b"!--") {
                continue;
            }
            // The opening dashes may also close the escape: `<!-->` escapes nothing.
            let dashes = open + b"<!".len();
            at = dashes + b"--".len();
            let mut doubly = false;
            loop {
                let found = at + memchr2(b'<', b'>', bytes.get(at..)?)?;
                at = found + 1;
                if bytes.get(found) == Some(&b'>') {
                    if bytes.get(dashes..found)?.ends_with(b"--") {
                        continue 'script;
                    }
                } else if bytes.get(at) == Some(&b'/') && self.names(at + 1, "script") {
                    if !doubly {
                        return Some(found);
                    }
                    doubly = false;
                } else if self.names(at, "script") {
                    doubly = true;
                }
            }
        }
    }
}

//! Subtrees that are not shown: which elements begin one, and where it ends although its end tag is
//! missing.

use crate::html::outline::is_container;
use crate::html::tag::Tag;
use crate::html::token::StartTag;

/// Deeper elements are not followed; that can only end a dropped part early.
const DEPTH: usize = 512;

/// The subtree being dropped, if there is one.
///
/// An element that is never closed must not swallow the page where a browser would show it. So its
/// open descendants are followed, and the part ends
///
/// - at its own end tag;
/// - at the end tag of an element around it, `</div>` in `<div><video></div>`; but not inside
///   `object`, `template` and `noscript`, where browsers let no end tag reach outside;
/// - in SVG at a start tag that cannot stand there, such as `<p>`, by the standard's own rule;
/// - at `</body>` and `</html>` in any case. Browsers drop on, but a page that goes on after those
///   is rather one that something was pasted into.
#[derive(Debug)]
pub(super) struct Dropping {
    /// The dropped element, and those of its open descendants that end tags are matched against.
    stack: Vec<Tag>,
    /// How many of each are on the stack, so that a stray end tag costs no search.
    open: [u16; Tag::COUNT],
}

impl Default for Dropping {
    fn default() -> Self {
        Dropping {
            stack: Vec::new(),
            open: [0; Tag::COUNT],
        }
    }
}

/// How the dropped part took a start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It ended the part, and is for the page to deal with.
    No,
    /// It belongs to the part, as HTML.
    Html,
    /// It belongs to the part, as SVG or MathML, where no element's content is raw.
    Foreign,
}

impl Dropping {
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        !self.stack.is_empty()
    }

    /// Whether the current place is in SVG or MathML rather than in HTML inside of it.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.stack.last(), Some(Tag::Svg | Tag::Annotation))
    }

    /// A start tag outside of dropped parts: begins one if its element is not shown.
    #[inline]
    pub(super) fn begin(&mut self, start: &StartTag<'_>) {
        let is_foreign = matches!(start.tag, Tag::Svg | Tag::Annotation | Tag::AnnotationXml);
        if is_dropped(start.tag) && !(is_foreign && start.self_closing) {
            self.push(start.tag);
        }
    }

    /// A start tag inside.
    pub(super) fn start_tag(&mut self, start: &StartTag<'_>) -> Taken {
        let tag = start.tag;
        if self.is_foreign() {
            if breaks_out(tag) {
                // To the nearest HTML: inside the part if there is some, else the part is over.
                while self.is_foreign() {
                    self.pop();
                }
                if self.stack.is_empty() {
                    return Taken::No;
                }
                self.push(tag);
                return Taken::Html;
            }
            if !start.self_closing {
                self.push(tag);
            }
            return Taken::Foreign;
        }
        self.push(tag);
        Taken::Html
    }

    fn push(&mut self, tag: Tag) {
        let matters = match tag {
            Tag::Body => false,
            Tag::Title | Tag::Desc | Tag::ForeignObject => self.is_foreign(),
            tag => is_dropped(tag) || is_container(tag),
        };
        if matters && self.stack.len() < DEPTH {
            self.stack.push(tag);
            self.open[tag.index()] += 1;
        }
    }

    fn pop(&mut self) -> Option<Tag> {
        let tag = self.stack.pop()?;
        self.open[tag.index()] -= 1;
        Some(tag)
    }

    fn is_open(&self, tag: Tag) -> bool {
        self.open[tag.index()] > 0
    }

    /// An end tag inside; whether it belongs to the part.
    pub(super) fn end_tag(&mut self, tag: Tag) -> bool {
        if self.is_open(tag) {
            while self.pop().is_some_and(|open| open != tag) {}
            return true;
        }
        let is_sealed = [Tag::Object, Tag::Applet, Tag::Template, Tag::Noscript]
            .iter()
            .any(|&sealed| self.is_open(sealed));
        let ends = matches!(tag, Tag::Body | Tag::Html)
            || (!is_sealed && (is_container(tag) || tag == Tag::Math));
        if ends {
            while self.pop().is_some() {}
        }
        !ends
    }
}

/// Elements of which nothing is shown, or only where something else fails. Those whose content is
/// raw text, such as `style`, are not among them: the page drops that text itself. `noscript` is
/// shown after all on a page without any other words.
///
/// SVG is dropped, because most of it is icons and their titles. `hidden` is not looked at: what is
/// hidden now is shown at a click, and what is hidden by style cannot be known here either.
pub(super) const fn is_dropped(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Svg
            | Tag::Template
            | Tag::Noscript
            | Tag::Object
            | Tag::Applet
            | Tag::Audio
            | Tag::Video
            | Tag::Canvas
            | Tag::Datalist
            | Tag::Annotation
            | Tag::AnnotationXml
    )
}

/// Start tags that end SVG or MathML, as the standard lists them.
fn breaks_out(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::B
            | Tag::Big
            | Tag::Blockquote
            | Tag::Body
            | Tag::Br
            | Tag::Center
            | Tag::Code
            | Tag::Dd
            | Tag::Div
            | Tag::Dl
            | Tag::Dt
            | Tag::Em
            | Tag::Embed
            | Tag::H1
            | Tag::H2
            | Tag::H3
            | Tag::H4
            | Tag::H5
            | Tag::H6
            | Tag::Head
            | Tag::Hr
            | Tag::I
            | Tag::Img
            | Tag::Li
            | Tag::Listing
            | Tag::Menu
            | Tag::Meta
            | Tag::Nobr
            | Tag::Ol
            | Tag::P
            | Tag::Pre
            | Tag::Ruby
            | Tag::S
            | Tag::Small
            | Tag::Span
            | Tag::Strong
            | Tag::Strike
            | Tag::Sub
            | Tag::Sup
            | Tag::Table
            | Tag::Tt
            | Tag::U
            | Tag::Ul
            | Tag::Var
    )
}

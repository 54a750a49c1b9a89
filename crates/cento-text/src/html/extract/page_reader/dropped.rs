//! Hidden subtrees: which elements begin one, and where it ends if its end tag is missing.

use crate::html::outline::is_container;
use crate::html::tag::Tag;
use crate::html::token::StartTag;

/// Deeper elements are not tracked, which can only end a dropped subtree early.
const DEPTH: usize = 512;

/// The subtree being dropped, if any.
///
/// An unclosed element must not hide parts of the page that a browser would show. So its open
/// descendants are tracked, and the subtree ends
///
/// - at its own end tag;
/// - at the end tag of an enclosing element, `</div>` in `<div><video></div>`; but not inside
///   `object`, `template` and `noscript`, because in browsers no end tag inside them closes an
///   element outside;
/// - in SVG, at a start tag that is not allowed there, such as `<p>`, as the standard specifies;
/// - at `</body>` and `</html>` in any case. Browsers would continue to hide content, but a page
///   that continues after these tags usually had something pasted into it.
#[derive(Debug)]
pub(super) struct DroppedSubtree {
    /// The dropped element and those of its open descendants that end tags are matched against.
    stack: Vec<Tag>,
    /// The number of each tag on the stack, so that a stray end tag needs no search.
    open: [u16; Tag::COUNT],
}

impl Default for DroppedSubtree {
    fn default() -> Self {
        DroppedSubtree {
            stack: Vec::new(),
            open: [0; Tag::COUNT],
        }
    }
}

/// The effect of a start tag inside a dropped subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartTagEffect {
    /// It ended the subtree and must be handled as part of the page.
    EndsSubtree,
    /// It belongs to the subtree, as HTML.
    Html,
    /// It belongs to the subtree, as SVG or MathML, where no element has raw content.
    Foreign,
}

impl DroppedSubtree {
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        !self.stack.is_empty()
    }

    /// Whether the current position is in SVG or MathML, and not in HTML inside of it.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.stack.last(), Some(Tag::Svg | Tag::Annotation))
    }

    /// Handles a start tag outside of dropped subtrees: begins one if the element is hidden.
    #[inline]
    pub(super) fn begin(&mut self, start: &StartTag<'_>) {
        let is_foreign = matches!(start.tag, Tag::Svg | Tag::Annotation | Tag::AnnotationXml);
        if is_dropped(start.tag) && !(is_foreign && start.self_closing) {
            self.push(start.tag);
        }
    }

    /// Handles a start tag inside the subtree.
    pub(super) fn start_tag(&mut self, start: &StartTag<'_>) -> StartTagEffect {
        let tag = start.tag;
        if self.is_foreign() {
            if breaks_out(tag) {
                // Return to the nearest enclosing HTML; without any, the subtree ends.
                while self.is_foreign() {
                    self.pop();
                }
                if self.stack.is_empty() {
                    return StartTagEffect::EndsSubtree;
                }
                self.push(tag);
                return StartTagEffect::Html;
            }
            if !start.self_closing {
                self.push(tag);
            }
            return StartTagEffect::Foreign;
        }
        self.push(tag);
        StartTagEffect::Html
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

    /// Handles an end tag inside the subtree; returns whether it belongs to it.
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

/// Elements that are hidden or shown only as a fallback. Those with raw text, such as `style`, are
/// not included: the page reader drops that text itself. `noscript` is shown on a page without any
/// other words.
///
/// SVG is dropped because most of it is icons and their titles. The `hidden` attribute is ignored:
/// hidden content is often shown on a click, and hiding by CSS cannot be detected either.
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

/// Start tags that end SVG or MathML content, as listed in the standard.
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

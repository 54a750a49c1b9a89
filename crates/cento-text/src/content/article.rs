//! The main content: the element that holds most of the running text and least of everything else.
//!
//! The slope curve looks for a level stretch in a row of tokens. Pages are trees, though, and their
//! authors put the text into one element; its short paragraphs, lists and tables are level with the
//! long ones only because they stand in it. So:
//!
//! 1. **Weigh.** A block gains what it has of unlinked text and pays for its markup ([`gain`]),
//!    just as tokens do on the curve. Blocks in elements that stand aside (navigation, comments,
//!    see [`hint`](super::hint)) only pay.
//! 2. **Choose** the element with the greatest `gain / (page's gain + 2 × loss)`: it shall hold
//!    what the page has to say, and nothing else. Inside it, **go down** to the smallest element
//!    that still holds nine tenths.
//! 3. **Clear** it of what stands aside in it, of blocks that are links, of the headline, and of
//!    headings nothing follows.
//!
//! Each step is one pass over the blocks or over the elements.

use super::hint::{self, Aside};
use crate::html::{Block, Container, Outline, Tag};
use std::ops::Range;

/// What a block must bring to be worth its markup, in bytes of text, and what is lost with one that
/// is out of place. On the slope curve it is the tags around a block (four, as a rule) against
/// words (of six or seven bytes).
const BLOCK_COST: i64 = 30;

/// A block of this many bytes is running text: longer than a menu item, a headline or a date,
/// shorter than most sentences in sequence.
const PROSE_BYTES: u64 = 80;

/// How much text in a place that its author named as the place of the text counts for.
const NAMED_WEIGHT: i64 = 2;

/// How much worse a byte's worth of other things in the chosen element is than a byte of text
/// outside it. Above one, because what is wrongly kept is on every page of the site.
const LOSS_WEIGHT: u64 = 2;

/// A place with this much running text is no bar of buttons, whatever its name.
const BAR_PROSE_BYTES: u64 = 400;

/// With less running text than this, a page has no main content; half of it is enough where the
/// author named the place.
const LEAST_PROSE_BYTES: u64 = 250;

/// Nor has it, if what is found is less than this part of its text (one tenth): such a page is an
/// index or a table.
const LEAST_PART: u64 = 10;

/// The runs of blocks that make up the main content, ascending; `None` if nothing on the page
/// qualifies.
pub(super) fn blocks(outline: &Outline) -> Option<Vec<Range<usize>>> {
    // Where the names leave nothing (a page that is all discussion), the second attempt does
    // without them.
    [Names::Heeded, Names::Ignored]
        .into_iter()
        .find_map(|names| {
            let page = Page::weigh(outline, names);
            let (index, container) = page.choose()?;
            let kept = page.clear(container);
            page.stands_out(index, &kept).then(|| runs(&kept))
        })
}

/// Whether the names of elements count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Heeded,
    Ignored,
}

/// Sums over all blocks before one: the difference of two is the sum over the blocks of an element.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bytes: u64,
    link_bytes: u64,
    /// Bytes of running text.
    prose: u64,
    /// How many first-level headings.
    headlines: u64,
}

/// The same for what is known only once it is known which elements stand aside.
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    gain: u64,
    loss: u64,
}

struct Page<'a> {
    outline: &'a Outline,
    /// For each element, whether it stands aside or is inside one that does.
    aside: Vec<bool>,
    /// For each element, how much its text counts for.
    weights: Vec<i64>,
    /// One more than blocks.
    balances: Vec<Balance>,
}

fn bytes(block: &Block) -> u64 {
    u64::from(block.end.saturating_sub(block.begin))
}

fn unlinked(block: &Block) -> u64 {
    bytes(block).saturating_sub(block.link_bytes.into())
}

/// Less than a third of it is links.
fn is_prose(block: &Block) -> bool {
    bytes(block) >= PROSE_BYTES && 3 * u64::from(block.link_bytes) < bytes(block)
}

/// More than three fifths of it are links.
fn is_links(block: &Block) -> bool {
    5 * u64::from(block.link_bytes) > 3 * bytes(block)
}

/// What a block brings. A byte of link takes away one of text; a block with more links than text is
/// lost. A short one without links is neither gain nor loss, or a table in an article would
/// outweigh it.
fn gain(block: &Block) -> i64 {
    let unlinked =
        i64::from(block.end.saturating_sub(block.begin)) - 2 * i64::from(block.link_bytes);
    if unlinked < 0 {
        -BLOCK_COST
    } else {
        (unlinked - BLOCK_COST).max(0)
    }
}

/// Elements that can be the place of the text. A list or a quotation is part of one.
fn can_hold_content(tag: Tag) -> bool {
    use Tag::{Article, Body, Center, Div, Form, Html, Main, Section, Table, Tbody, Td, Tr};
    matches!(
        tag,
        Html | Body | Main | Article | Section | Div | Center | Form | Table | Tbody | Tr | Td
    )
}

fn is_heading(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6
    )
}

/// The entry of a list of prefix sums; `Outline` is an open structure, so nothing is taken on
/// trust.
fn at<T: Copy + Default>(sums: &[T], index: u32) -> T {
    sums.get(index as usize)
        .or(sums.last())
        .copied()
        .unwrap_or_default()
}

impl Sums {
    fn over(blocks: &[Block]) -> Vec<Sums> {
        let mut sum = Sums::default();
        let mut sums = Vec::with_capacity(blocks.len() + 1);
        sums.push(sum);
        sums.extend(blocks.iter().map(|block| {
            sum.bytes += bytes(block);
            sum.link_bytes += u64::from(block.link_bytes);
            sum.prose += if is_prose(block) { bytes(block) } else { 0 };
            sum.headlines += u64::from(block.tag == Tag::H1);
            sum
        }));
        sums
    }

    fn of(sums: &[Sums], container: &Container) -> Sums {
        let (before, through) = (
            at(sums, container.blocks.start),
            at(sums, container.blocks.end),
        );
        Sums {
            bytes: through.bytes.saturating_sub(before.bytes),
            link_bytes: through.link_bytes.saturating_sub(before.link_bytes),
            prose: through.prose.saturating_sub(before.prose),
            headlines: through.headlines.saturating_sub(before.headlines),
        }
    }
}

impl<'a> Page<'a> {
    fn weigh(outline: &'a Outline, names: Names) -> Self {
        let (aside, weights) = place(outline, names);
        let mut balance = Balance::default();
        let mut balances = Vec::with_capacity(outline.blocks.len() + 1);
        balances.push(balance);
        balances.extend(outline.blocks.iter().map(|block| {
            let container = block.container as usize;
            let gain = if aside.get(container) == Some(&false) {
                gain(block)
            } else {
                -BLOCK_COST
            };
            if gain > 0 {
                let weight = weights.get(container).copied().unwrap_or(1);
                balance.gain += (gain * weight).unsigned_abs();
            } else {
                balance.loss += gain.unsigned_abs();
            }
            balance
        }));
        Page {
            outline,
            aside,
            weights,
            balances,
        }
    }

    /// Whether a block does not stand aside.
    fn is_open(&self, block: &Block) -> bool {
        self.aside.get(block.container as usize) == Some(&false)
    }

    fn balance(&self, container: &Container) -> Balance {
        let before = at(&self.balances, container.blocks.start);
        let through = at(&self.balances, container.blocks.end);
        Balance {
            gain: through.gain.saturating_sub(before.gain),
            loss: through.loss.saturating_sub(before.loss),
        }
    }

    /// The elements that can hold the content, in the order of their start tags, each with its
    /// place in the outline.
    fn candidates(&self) -> impl Iterator<Item = (usize, &'a Container)> {
        self.outline
            .containers
            .iter()
            .enumerate()
            .filter(|&(index, container)| {
                can_hold_content(container.tag) && self.aside.get(index) == Some(&false)
            })
    }

    /// The element that holds the content; `None` if there is none to hold.
    fn choose(&self) -> Option<(usize, &'a Container)> {
        let total = self.balances.last()?.gain;
        // Cross-multiplied, as fractions in integers are compared.
        let value = |this: Balance, that: Balance| {
            u128::from(this.gain) * u128::from(total + LOSS_WEIGHT * that.loss)
        };
        let mut best: Option<(usize, &Container, Balance)> = None;
        for (index, container) in self.candidates() {
            let balance = self.balance(container);
            // Of equals, the inner one.
            let better =
                best.is_none_or(|(_, _, best)| value(balance, best) >= value(best, balance));
            if balance.gain > 0 && better {
                best = Some((index, container, balance));
            }
        }
        let (index, best, balance) = best?;
        // Of two elements with nine tenths, one is inside the other; so the last is the innermost.
        self.candidates()
            .skip_while(|&(inner, _)| inner <= index)
            .take_while(|(_, inner)| inner.blocks.start < best.blocks.end)
            .filter(|(_, inner)| 10 * self.balance(inner).gain >= 9 * balance.gain)
            .last()
            .or(Some((index, best)))
    }

    /// The blocks of `container` that belong to the text, by their index.
    fn clear(&self, container: &Container) -> Vec<usize> {
        let blocks = &self.outline.blocks;
        let tag = |index: usize| blocks.get(index).map_or(Tag::Other, |block| block.tag);
        let begin = container.blocks.start as usize;
        let inside = blocks
            .get(begin..container.blocks.end as usize)
            .unwrap_or_default();
        let mut kept: Vec<usize> = (begin..)
            .zip(inside)
            .filter(|(_, block)| self.is_open(block) && !is_links(block))
            .map(|(index, _)| index)
            .collect();
        while kept.pop_if(|&mut last| is_heading(tag(last))).is_some() {}
        // The headline is the title, which is kept elsewhere. First-level headings after the text
        // has begun are its parts.
        let begins = |index: usize| {
            blocks
                .get(index)
                .is_some_and(|block| block.tag != Tag::H1 && bytes(block) >= PROSE_BYTES)
        };
        if let Some(text) = kept.iter().copied().find(|&index| begins(index)) {
            kept.retain(|&index| index >= text || tag(index) != Tag::H1);
        }
        kept
    }

    /// Whether so much is kept that it is the content, and not the longest of many small texts.
    fn stands_out(&self, container: usize, kept: &[usize]) -> bool {
        let kept = || {
            kept.iter()
                .filter_map(|&index| self.outline.blocks.get(index))
        };
        let prose: u64 = kept()
            .map(bytes)
            .filter(|&bytes| bytes >= PROSE_BYTES)
            .sum();
        let unlinked: u64 = kept().map(unlinked).sum();
        let open = self
            .outline
            .blocks
            .iter()
            .filter(|block| self.is_open(block));
        let named = self.weights.get(container) == Some(&NAMED_WEIGHT);
        let least = if named {
            LEAST_PROSE_BYTES / 2
        } else {
            LEAST_PROSE_BYTES
        };
        prose >= least && LEAST_PART * unlinked >= open.map(self::unlinked).sum()
    }
}

/// For each element, whether it stands aside, and how much its text counts for.
fn place(outline: &Outline, names: Names) -> (Vec<bool>, Vec<i64>) {
    let containers = &outline.containers;
    let sums = Sums::over(&outline.blocks);
    let total = sums.last().copied().unwrap_or_default();
    let hints: Vec<hint::Hint> = containers
        .iter()
        .map(|container| match names {
            Names::Heeded if !container.blocks.is_empty() => hint::read(outline.hint(container)),
            _ => hint::Hint::default(),
        })
        .collect();

    // From the inside out: what is around the place of the text is no comment section, whatever its
    // name.
    let mut around_content: Vec<bool> = containers
        .iter()
        .zip(&hints)
        .map(|(container, hint)| hint.content || container.tag == Tag::Main)
        .collect();
    for index in (1..containers.len()).rev() {
        if around_content.get(index) == Some(&true)
            && let Some(around) = around_content.get_mut(containers[index].parent as usize)
        {
            *around = true;
        }
    }

    let mut aside = Vec::with_capacity(containers.len());
    let mut weights = Vec::with_capacity(containers.len());
    for ((container, hint), around_content) in containers.iter().zip(&hints).zip(around_content) {
        let parent = container.parent as usize;
        // The page is its own parent, and not yet in the list.
        let inherited = aside.get(parent).copied().unwrap_or(false);
        let weight = weights.get(parent).copied().unwrap_or(1);
        let holds = Sums::of(&sums, container);
        aside.push(
            inherited || stands_aside(container.tag, *hint, names, holds, total, around_content),
        );
        let named = hint.content && !matches!(container.tag, Tag::Html | Tag::Body);
        weights.push(if named { NAMED_WEIGHT } else { weight });
    }
    (aside, weights)
}

/// Whether an element that `holds` so much of the page's `total` stands aside, by its tag and its
/// names.
fn stands_aside(
    tag: Tag,
    hint: hint::Hint,
    names: Names,
    holds: Sums,
    total: Sums,
    around_content: bool,
) -> bool {
    let by_tag = match tag {
        Tag::Html | Tag::Body | Tag::Main | Tag::Article => return false,
        Tag::Footer => Aside::Foreign,
        // No author takes these for the place of the text.
        Tag::Nav | Tag::Aside => return true,
        Tag::Form | Tag::Menu | Tag::Dialog | Tag::Search | Tag::Figcaption
            if names == Names::Heeded =>
        {
            Aside::Area
        }
        _ => Aside::No,
    };
    // Half of the page's running text is not beside the page's running text.
    let most = 2 * holds.prose >= total.prose;
    match by_tag.max(hint.aside) {
        Aside::No => false,
        Aside::Bar => holds.prose <= BAR_PROSE_BYTES,
        // Seven tenths of running text, and hardly a link.
        Aside::Box => {
            let is_text =
                10 * holds.link_bytes <= holds.bytes && 10 * holds.prose >= 7 * holds.bytes;
            !most && !is_text
        }
        Aside::Area => !most,
        Aside::Foreign => !(most && (around_content || holds.headlines > 0)),
    }
}

/// Indices that follow on each other, joined.
fn runs(kept: &[usize]) -> Vec<Range<usize>> {
    kept.chunk_by(|&one, &next| one + 1 == next)
        .filter_map(|run| Some(*run.first()?..run.last()? + 1))
        .collect()
}

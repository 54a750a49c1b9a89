//! Main-content selection: finds the element with most of the running text and least of everything
//! else.
//!
//! The slope curve looks for a level stretch in a sequence of tokens. But pages are trees, and
//! authors put the text into one element, whose short paragraphs, lists and tables belong to the
//! content only because of where they are. So:
//!
//! 1. **Weigh.** A block's weight is its unlinked text minus a cost for its markup ([`gain`]), like
//!    tokens on the curve. Blocks in peripheral elements (navigation, comments, see
//!    [`hint`](super::hint)) only incur the cost.
//! 2. **Choose** the element with the greatest `gain / (page's gain + 2 × loss)`, which contains
//!    most of the page's text and little else. Then **descend** to the smallest element inside it
//!    that still has nine tenths of the gain.
//! 3. **Clean** it: remove peripheral elements, blocks that are mostly links, the headline, and
//!    headings without text below them.
//!
//! Each step is one pass over the blocks or over the elements.

use super::hint::{self, Periphery};
use super::names::ElementNames;
use crate::html::{Container, Outline, Tag, TextBlock};
use std::ops::Range;

/// The cost of a block's markup in bytes of text, and the loss for a block that is out of place. On
/// the slope curve this corresponds to the tags around a block (usually four) measured in words of
/// six or seven bytes.
const BLOCK_COST: i64 = 30;

/// A block of at least this many bytes is running text: longer than a menu item, headline or date,
/// shorter than most pairs of sentences.
const PROSE_BYTES: u64 = 80;

/// The weight of text in an element whose name marks it as the main content.
const NAMED_WEIGHT: i64 = 2;

/// The weight of a byte of other material inside the chosen element, relative to a byte of text
/// outside it. Above one, because boilerplate that is kept appears on every page of the site.
const LOSS_WEIGHT: u64 = 2;

/// An element with this much running text is not a bar of buttons, whatever its name.
const BAR_PROSE_BYTES: u64 = 400;

/// A page with less running text than this has no main content; half of it is enough if the element
/// is named as such.
const LEAST_PROSE_BYTES: u64 = 250;

/// The main content must be at least a tenth of the page's text; otherwise the page is an index or
/// a table.
const LEAST_PART: u64 = 10;

/// Returns the runs of blocks that make up the main content, ascending; `None` if the page has
/// none. The names of its containers are `read`.
pub(super) fn blocks(outline: &Outline, read: &ElementNames) -> Option<Vec<Range<usize>>> {
    // If the names rule out everything (a page that is all discussion), retry without them.
    [NameHints::Used, NameHints::Ignored]
        .into_iter()
        .find_map(|names| {
            let page = WeighedPage::weigh(outline, names, read);
            let (index, container) = page.choose()?;
            let kept = page.clean(container);
            page.is_substantial(index, &kept).then(|| runs(&kept))
        })
}

/// Whether the names of elements are taken into account.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameHints {
    Used,
    Ignored,
}

/// Prefix sums over blocks: the difference of two is the sum over the blocks of an element.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bytes: u64,
    link_bytes: u64,
    /// Bytes of running text.
    prose: u64,
    /// Number of first-level headings.
    headlines: u64,
}

/// Prefix sums of gain and loss, which depend on which elements are peripheral.
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    gain: u64,
    loss: u64,
}

struct WeighedPage<'a> {
    outline: &'a Outline,
    /// For each element, whether it is peripheral or inside a peripheral element.
    peripheral: Vec<bool>,
    /// For each element, the weight of its text.
    weights: Vec<i64>,
    /// Prefix sums: one more than there are blocks.
    balances: Vec<Balance>,
}

fn bytes(block: &TextBlock) -> u64 {
    u64::from(block.end.saturating_sub(block.begin))
}

fn unlinked(block: &TextBlock) -> u64 {
    bytes(block).saturating_sub(block.link_bytes.into())
}

/// Long, and less than a third of it is links.
fn is_prose(block: &TextBlock) -> bool {
    bytes(block) >= PROSE_BYTES && 3 * u64::from(block.link_bytes) < bytes(block)
}

/// More than three fifths of it are links.
fn is_links(block: &TextBlock) -> bool {
    5 * u64::from(block.link_bytes) > 3 * bytes(block)
}

/// The contribution of a block. A byte of link text cancels a byte of text; a block with more links
/// than text is a loss. A short block without links is neutral, otherwise a table could outweigh
/// the article that contains it.
fn gain(block: &TextBlock) -> i64 {
    let unlinked =
        i64::from(block.end.saturating_sub(block.begin)) - 2 * i64::from(block.link_bytes);
    if unlinked < 0 {
        -BLOCK_COST
    } else {
        (unlinked - BLOCK_COST).max(0)
    }
}

/// Elements that can contain the main content. Lists and quotations are only parts of it.
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

/// Looks up a prefix sum. The fields of `Outline` are public, so indices are checked.
fn at<T: Copy + Default>(sums: &[T], index: u32) -> T {
    sums.get(index as usize)
        .or(sums.last())
        .copied()
        .unwrap_or_default()
}

impl Sums {
    fn over(blocks: &[TextBlock]) -> Vec<Sums> {
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

impl<'a> WeighedPage<'a> {
    fn weigh(outline: &'a Outline, names: NameHints, read: &ElementNames) -> Self {
        let (peripheral, weights) = classify_containers(outline, names, read);
        let mut balance = Balance::default();
        let mut balances = Vec::with_capacity(outline.blocks.len() + 1);
        balances.push(balance);
        balances.extend(outline.blocks.iter().map(|block| {
            let container = block.container as usize;
            let gain = if peripheral.get(container) == Some(&false) {
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
        WeighedPage {
            outline,
            peripheral,
            weights,
            balances,
        }
    }

    /// Whether a block is not peripheral.
    fn is_open(&self, block: &TextBlock) -> bool {
        self.peripheral.get(block.container as usize) == Some(&false)
    }

    fn balance(&self, container: &Container) -> Balance {
        let before = at(&self.balances, container.blocks.start);
        let through = at(&self.balances, container.blocks.end);
        Balance {
            gain: through.gain.saturating_sub(before.gain),
            loss: through.loss.saturating_sub(before.loss),
        }
    }

    /// The elements that can contain the main content, in document order, each with its index in
    /// the outline.
    fn candidates(&self) -> impl Iterator<Item = (usize, &'a Container)> {
        self.outline
            .containers
            .iter()
            .enumerate()
            .filter(|&(index, container)| {
                can_hold_content(container.tag) && self.peripheral.get(index) == Some(&false)
            })
    }

    /// The element with the main content; `None` if no element has any gain.
    fn choose(&self) -> Option<(usize, &'a Container)> {
        let total = self.balances.last()?.gain;
        // Fractions are compared by cross-multiplication.
        let value = |this: Balance, that: Balance| {
            u128::from(this.gain) * u128::from(total + LOSS_WEIGHT * that.loss)
        };
        let mut best: Option<(usize, &Container, Balance)> = None;
        for (index, container) in self.candidates() {
            let balance = self.balance(container);
            // On ties, the inner element is chosen.
            let better =
                best.is_none_or(|(_, _, best)| value(balance, best) >= value(best, balance));
            if balance.gain > 0 && better {
                best = Some((index, container, balance));
            }
        }
        let (index, best, balance) = best?;
        // Two elements with nine tenths each must be nested, so the last one is the innermost.
        self.candidates()
            .skip_while(|&(inner, _)| inner <= index)
            .take_while(|(_, inner)| inner.blocks.start < best.blocks.end)
            .filter(|(_, inner)| 10 * self.balance(inner).gain >= 9 * balance.gain)
            .last()
            .or(Some((index, best)))
    }

    /// The indices of the blocks of `container` that belong to the content.
    fn clean(&self, container: &Container) -> Vec<usize> {
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
        // The headline is already stored as the title. First-level headings after the start of the
        // text are section headings.
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

    /// Whether enough text is kept to be the main content rather than the longest of many small
    /// texts.
    fn is_substantial(&self, container: usize, kept: &[usize]) -> bool {
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

/// Determines for each element whether it is peripheral, and the weight of its text.
fn classify_containers(
    outline: &Outline,
    names: NameHints,
    read: &ElementNames,
) -> (Vec<bool>, Vec<i64>) {
    let containers = &outline.containers;
    let sums = Sums::over(&outline.blocks);
    let total = sums.last().copied().unwrap_or_default();
    let hints: Vec<hint::Hint> = read
        .iter()
        .map(|read| match names {
            NameHints::Used => read.hint,
            NameHints::Ignored => hint::Hint::default(),
        })
        .collect();

    // From the inside out: an element that contains the main content is not a comment section,
    // whatever its name.
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

    let mut peripheral = Vec::with_capacity(containers.len());
    let mut weights = Vec::with_capacity(containers.len());
    for ((container, hint), around_content) in containers.iter().zip(&hints).zip(around_content) {
        let parent = container.parent as usize;
        // The root is its own parent and not yet in the list.
        let inherited = peripheral.get(parent).copied().unwrap_or(false);
        let weight = weights.get(parent).copied().unwrap_or(1);
        let holds = Sums::of(&sums, container);
        peripheral.push(
            inherited || is_peripheral(container.tag, *hint, names, holds, total, around_content),
        );
        let named = hint.content && !matches!(container.tag, Tag::Html | Tag::Body);
        weights.push(if named { NAMED_WEIGHT } else { weight });
    }
    (peripheral, weights)
}

/// Whether an element is peripheral, judged by its tag, its names, and how much of the page's
/// `total` it `holds`.
fn is_peripheral(
    tag: Tag,
    hint: hint::Hint,
    names: NameHints,
    holds: Sums,
    total: Sums,
    around_content: bool,
) -> bool {
    let by_tag = match tag {
        Tag::Html | Tag::Body | Tag::Main | Tag::Article => return false,
        Tag::Footer => Periphery::Foreign,
        // Authors never use these for the main content.
        Tag::Nav | Tag::Aside => return true,
        Tag::Form | Tag::Menu | Tag::Dialog | Tag::Search | Tag::Figcaption
            if names == NameHints::Used =>
        {
            Periphery::Area
        }
        _ => Periphery::None,
    };
    // An element with half of the page's running text is not peripheral to it.
    let most = 2 * holds.prose >= total.prose;
    match by_tag.max(hint.peripheral) {
        Periphery::None => false,
        Periphery::Bar => holds.prose <= BAR_PROSE_BYTES,
        // Text: at least seven tenths running text, at most one tenth links.
        Periphery::Box => {
            let is_text =
                10 * holds.link_bytes <= holds.bytes && 10 * holds.prose >= 7 * holds.bytes;
            !most && !is_text
        }
        Periphery::Area => !most,
        Periphery::Foreign => !(most && (around_content || holds.headlines > 0)),
    }
}

/// Joins consecutive indices into ranges.
fn runs(kept: &[usize]) -> Vec<Range<usize>> {
    kept.chunk_by(|&one, &next| one + 1 == next)
        .filter_map(|run| Some(*run.first()?..run.last()? + 1))
        .collect()
}

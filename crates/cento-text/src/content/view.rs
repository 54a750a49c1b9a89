//! A page prepared for decisions: prefix sums over its blocks, and groups of similar siblings.

use super::described::DescribedPhrases;
use super::measure::{BlockMeasure, heading_level, measure, text_of};
use super::{article, names};
use crate::html::{Container, Extract, Tag};
use std::collections::HashMap;

/// BlockSums over blocks. The sums over an element are the difference of two prefix sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockSums {
    pub(super) bytes: u32,
    pub(super) link_bytes: u32,
    pub(super) prose: u32,
    pub(super) words: u32,
    pub(super) sentences: u32,
    pub(super) headings: u32,
    pub(super) controls: u32,
    pub(super) images: u32,
    /// Bytes that the article method keeps.
    pub(super) kept: u32,
    pub(super) prices: u32,
    /// Phrases of the descriptions of the page.
    pub(super) described: u32,
    pub(super) blocks: u32,
}

impl BlockSums {
    fn minus(self, before: BlockSums) -> BlockSums {
        BlockSums {
            bytes: self.bytes.saturating_sub(before.bytes),
            link_bytes: self.link_bytes.saturating_sub(before.link_bytes),
            prose: self.prose.saturating_sub(before.prose),
            words: self.words.saturating_sub(before.words),
            sentences: self.sentences.saturating_sub(before.sentences),
            headings: self.headings.saturating_sub(before.headings),
            controls: self.controls.saturating_sub(before.controls),
            images: self.images.saturating_sub(before.images),
            kept: self.kept.saturating_sub(before.kept),
            prices: self.prices.saturating_sub(before.prices),
            described: self.described.saturating_sub(before.described),
            blocks: self.blocks.saturating_sub(before.blocks),
        }
    }
}

/// Siblings with the same tag and the same first name: the posts of a thread, the cards of a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiblingGroup {
    pub(super) count: u32,
    pub(super) bytes: u32,
    pub(super) link_bytes: u32,
    pub(super) prose: u32,
    pub(super) images: u32,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// Fewer siblings are not a repetition.
pub(super) const LEAST_SIBLINGS: u32 = 3;

pub(super) struct PageView<'a> {
    pub(super) page: &'a Extract,
    pub(super) measures: Vec<BlockMeasure>,
    /// Prefix sums: one more than there are blocks.
    pub(super) sums: Vec<BlockSums>,
    /// Whether the article method keeps each block.
    pub(super) kept: Vec<bool>,
    /// How often the text of each block occurs on the page, and which occurrence it is.
    pub(super) copies: Vec<(u16, u16)>,
    /// The group of each container, as an index into `groups`.
    pub(super) group_of: Vec<u32>,
    pub(super) groups: Vec<SiblingGroup>,
    /// The signs of each container, see [`names`].
    pub(super) signs: Vec<u128>,
}

impl<'a> PageView<'a> {
    pub(super) fn new(page: &'a Extract) -> Self {
        let outline = &page.outline;
        let measures: Vec<BlockMeasure> = outline
            .blocks
            .iter()
            .map(|block| measure(page, block))
            .collect();
        let mut kept = vec![false; outline.blocks.len()];
        for run in article::blocks(outline).unwrap_or_default() {
            kept.get_mut(run).unwrap_or_default().fill(true);
        }
        let mut view = PageView {
            page,
            sums: Vec::with_capacity(measures.len() + 1),
            copies: count_copies(&measures),
            measures,
            kept,
            group_of: Vec::new(),
            groups: Vec::new(),
            signs: outline
                .containers
                .iter()
                .map(|container| {
                    if container.blocks.is_empty() {
                        0
                    } else {
                        names::signs(container.tag, outline.hint(container))
                    }
                })
                .collect(),
        };
        view.add_up();
        view.group_siblings();
        view
    }

    fn add_up(&mut self) {
        let described = DescribedPhrases::new(&self.page.declared.descriptions);
        let mut sum = BlockSums::default();
        self.sums.push(sum);
        for ((block, measure), &kept) in self
            .page
            .outline
            .blocks
            .iter()
            .zip(&self.measures)
            .zip(&self.kept)
        {
            // Text is shorter than 2 GiB, so that these sums fit.
            sum.bytes += measure.bytes;
            sum.link_bytes += measure.link_bytes;
            sum.prose += if measure.is_prose { measure.bytes } else { 0 };
            sum.words += measure.words;
            sum.sentences += measure.sentences;
            sum.headings += u32::from(heading_level(block.tag) > 0);
            sum.controls = block.controls_before;
            sum.images = block.images_before;
            sum.kept += if kept { measure.bytes } else { 0 };
            sum.prices += measure.prices;
            sum.described += described.count(text_of(self.page, block));
            sum.blocks += 1;
            self.sums.push(sum);
        }
    }

    /// The sums before a block.
    pub(super) fn before(&self, block: usize) -> BlockSums {
        self.sums
            .get(block)
            .or(self.sums.last())
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn between(&self, from: usize, to: usize) -> BlockSums {
        self.before(to).minus(self.before(from))
    }

    pub(super) fn total(&self) -> BlockSums {
        self.sums.last().copied().unwrap_or_default()
    }

    /// The sums over an element.
    pub(super) fn inside(&self, container: &Container) -> BlockSums {
        self.between(
            container.blocks.start as usize,
            container.blocks.end as usize,
        )
    }

    fn group_siblings(&mut self) {
        let outline = &self.page.outline;
        let mut known: HashMap<(u32, u64), u32> = HashMap::new();
        for (index, container) in outline.containers.iter().enumerate() {
            if container.blocks.is_empty() || index == 0 {
                self.group_of.push(u32::MAX);
                continue;
            }
            let shape = shape(container.tag, outline.hint(container));
            let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
            let group = *known.entry((container.parent, shape)).or_insert(next);
            if group == next {
                self.groups.push(SiblingGroup {
                    first: container.blocks.start,
                    ..SiblingGroup::default()
                });
            }
            self.group_of.push(group);
            let inside = self.between(
                container.blocks.start as usize,
                container.blocks.end as usize,
            );
            if let Some(group) = self.groups.get_mut(group as usize) {
                group.count += 1;
                group.bytes += inside.bytes;
                group.link_bytes += inside.link_bytes;
                group.prose += inside.prose;
                group.images += inside.images;
                group.last = container.blocks.end;
            }
        }
    }

    /// The group of similar siblings that a container belongs to, if there are enough of them.
    pub(super) fn repetition(&self, container: usize) -> Option<SiblingGroup> {
        let group = *self.group_of.get(container)?;
        let group = *self.groups.get(group as usize)?;
        (group.count >= LEAST_SIBLINGS).then_some(group)
    }
}

/// A number for the tag and the first name of an element, without digits, so that `post-17` and
/// `post-18` have the same shape.
fn shape(tag: Tag, names: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ tag.index() as u64;
    for &byte in names.as_bytes() {
        if byte == b' ' {
            break;
        }
        if !byte.is_ascii_digit() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Shorter texts, such as the labels of buttons, repeat without meaning anything.
const LEAST_COPY_BYTES: u32 = 20;

fn count_copies(measures: &[BlockMeasure]) -> Vec<(u16, u16)> {
    let mut counts: HashMap<u64, u16> = HashMap::new();
    let mut copies: Vec<(u16, u16)> = measures
        .iter()
        .map(|measure| {
            if measure.bytes < LEAST_COPY_BYTES {
                return (1, 0);
            }
            let count = counts.entry(measure.hash).or_default();
            *count = count.saturating_add(1);
            (1, *count - 1)
        })
        .collect();
    for (copy, measure) in copies.iter_mut().zip(measures) {
        if measure.bytes >= LEAST_COPY_BYTES {
            copy.0 = counts.get(&measure.hash).copied().unwrap_or(1);
        }
    }
    copies
}

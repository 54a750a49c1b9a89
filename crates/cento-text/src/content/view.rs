//! A page prepared for decisions: prefix sums over its blocks, and groups of similar siblings.

use super::article;
use super::described::DescribedPhrases;
use super::keys::KeyMap;
use super::measure::{BlockMeasure, heading_level, measure, range_of};
use super::names::{ElementNames, tag_sign};
use super::word_bits::WordBits;
use crate::html::{Container, Extract, Outline, SchemaCounts, Tag};

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
    /// What the names of each container with text say; nothing about the others.
    pub(super) names: ElementNames,
    /// A hash of the tags and first names of each container and of those around it; `None` if none
    /// of them inside the body has a name, as on pages that are laid out by tables.
    pub(super) paths: Vec<Option<u64>>,
}

impl<'a> PageView<'a> {
    pub(super) fn new(page: &'a Extract) -> Self {
        let outline = &page.outline;
        let words = WordBits::of(&page.text);
        let measures: Vec<BlockMeasure> = outline
            .blocks
            .iter()
            .map(|block| measure(page, &words, block))
            .collect();
        let names = ElementNames::of(outline);
        let mut kept = vec![false; outline.blocks.len()];
        for run in article::blocks(outline, &names).unwrap_or_default() {
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
            paths: paths(outline, &names),
            names,
        };
        view.add_up(&words);
        view.group_siblings();
        view
    }

    fn add_up(&mut self, words: &WordBits) {
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
            sum.described += described.count(&self.page.text, words, range_of(block));
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
        let mut known: KeyMap<(u32, Tag, u64), u32> = KeyMap::default();
        for (index, container) in outline.containers.iter().enumerate() {
            if container.blocks.is_empty() || index == 0 {
                self.group_of.push(u32::MAX);
                continue;
            }
            let shape = self.names.get(index).map_or(0, |names| names.shape);
            let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
            let group = *known
                .entry((container.parent, container.tag, shape))
                .or_insert(next);
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

    /// The signs of a container, one bit each: of its tag and of its names.
    pub(super) fn signs(&self, container: usize) -> u128 {
        match (
            self.page.outline.containers.get(container),
            self.names.get(container),
        ) {
            (Some(element), Some(names)) if !element.blocks.is_empty() => {
                names.signs | tag_sign(element.tag)
            }
            _ => 0,
        }
    }

    /// The schema.org types of the page, in JSON-LD and in the elements that have text.
    pub(super) fn declared_schema(&self) -> SchemaCounts {
        let mut schema = self.page.declared.schema;
        let outline = &self.page.outline;
        for (container, names) in outline.containers.iter().zip(self.names.iter()) {
            if names.has_schema {
                for name in outline.hint(container).split(' ') {
                    if name.contains("schema.org/") {
                        schema.add(name);
                    }
                }
            }
        }
        schema
    }

    /// The group of similar siblings that a container belongs to, if there are enough of them.
    pub(super) fn repetition(&self, container: usize) -> Option<SiblingGroup> {
        let group = *self.group_of.get(container)?;
        let group = *self.groups.get(group as usize)?;
        (group.count >= LEAST_SIBLINGS).then_some(group)
    }
}

fn paths(outline: &Outline, names: &ElementNames) -> Vec<Option<u64>> {
    let mut paths: Vec<(u64, bool)> = Vec::with_capacity(outline.containers.len());
    for (container, names) in outline.containers.iter().zip(names.iter()) {
        // The root is its own parent and not yet in the list.
        let around = paths.get(container.parent as usize);
        let (around, is_named) = around.copied().unwrap_or((1, false));
        let own = names.shape ^ container.tag.index() as u64;
        let path = (around.rotate_left(23) ^ own)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
        let has_name = container.tag != Tag::Body && !outline.hint(container).is_empty();
        paths.push((path, is_named || has_name));
    }
    paths
        .into_iter()
        .map(|(path, is_named)| is_named.then_some(path))
        .collect()
}

/// Shorter texts, such as the labels of buttons, repeat without meaning anything.
const LEAST_COPY_BYTES: u32 = 20;

fn count_copies(measures: &[BlockMeasure]) -> Vec<(u16, u16)> {
    let mut counts: KeyMap<u64, u16> = KeyMap::default();
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

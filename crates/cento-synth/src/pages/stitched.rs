//! Pages made of parts of others: quilts, aggregators, pages with passages, copied originals.

use crate::edit::{self, CopiedText};
use crate::language::Language;
use crate::layout::{MOST_PASSAGES, PageRole, Slot};
use crate::pages::{BlockOrigin, CopyMethod, PageBlock, PageBody, PageMaker, SynthPage, bad};
use crate::prose::{self, Prose};
use crate::random::{Purpose, Random};
use crate::settings::PageKind;
use crate::site::{Site, SiteKind};

/// The maximum number of paragraphs of a patch.
const PATCH: usize = 2;

/// The number of pages on a site of stitched pages.
const QUILTS_A_SITE: u64 = 8;
const AGGREGATOR_PAGES: u64 = 30;

/// The text of a copy as prose, without offsets of words: copies are not copied again.
fn pasted(text: String) -> Prose {
    Prose {
        text,
        ..Prose::default()
    }
}

impl PageMaker<'_> {
    fn slot_source(&self, slot: Slot) -> SynthPage {
        self.page(PageRole {
            kind: PageKind::Article,
            index: slot.article,
        })
    }

    /// Appends the first paragraphs of a slot to a page.
    fn patch(&self, body: &mut PageBody, source: &SynthPage, slot: Slot, passage: u32) {
        let blocks = source
            .body
            .slots
            .get(slot.slot as usize)
            .cloned()
            .unwrap_or_default();
        for index in blocks.take(PATCH) {
            let Some(block) = source.body.blocks.get(index) else {
                continue;
            };
            let copy = CopiedText::verbatim(&block.prose);
            push(
                body,
                copy,
                source.role,
                index,
                CopyMethod::Verbatim,
                0.0,
                passage,
            );
        }
    }

    fn sources_of_a_quilt(&self, role: PageRole, random: &mut Random) -> Vec<Slot> {
        let most = self.layout.most_sources();
        let least = most.saturating_sub(2).max(2);
        let mut slots = self.layout.slots(role);
        slots.truncate(random.between(least, most) as usize);
        slots
    }

    pub(super) fn quilt(&self, role: PageRole) -> SynthPage {
        let mut random = self.random(Purpose::Own, role);
        let slots = self.sources_of_a_quilt(role, &mut random);
        let sources: Vec<SynthPage> = slots.iter().map(|&slot| self.slot_source(slot)).collect();
        let language = sources
            .first()
            .map_or(Language::English, |page| page.language);
        let mut body = PageBody::default();
        body.heading(prose::title(language, &mut random));
        body.paragraph(prose::sentence(language, &mut random));
        for (number, (slot, source)) in slots.iter().zip(&sources).enumerate() {
            self.patch(&mut body, source, *slot, number as u32);
        }
        let site = self.site(SiteKind::Quilter, role.index / QUILTS_A_SITE);
        let url = site.url(&format!("/story/{}.html", role.index));
        let after = self.latest(&sources);
        let page = self.finish(role, site, language, body, url, after);
        SynthPage { sources, ..page }
    }

    pub(super) fn aggregator(&self, role: PageRole) -> SynthPage {
        let mut random = self.random(Purpose::Own, role);
        let slots = self.sources_of_a_quilt(role, &mut random);
        let sources: Vec<SynthPage> = slots.iter().map(|&slot| self.slot_source(slot)).collect();
        let language = sources
            .first()
            .map_or(Language::English, |page| page.language);
        let mut body = PageBody::default();
        body.heading(prose::title(language, &mut random));
        for (number, (slot, source)) in slots.iter().zip(&sources).enumerate() {
            self.patch(&mut body, source, *slot, number as u32);
            if let Some(block) = body.blocks.last_mut() {
                block.link = Some((source.url.clone(), source.template.host()));
            }
        }
        let site = self.site(SiteKind::Aggregator, role.index / AGGREGATOR_PAGES);
        let url = site.url(&format!("/digest/{}.html", role.index));
        let after = self.latest(&sources);
        let page = self.finish(role, site, language, body, url, after);
        SynthPage { sources, ..page }
    }

    pub(super) fn passage(&self, role: PageRole) -> SynthPage {
        let mut random = self.random(Purpose::Own, role);
        let mut slots = self.layout.slots(role);
        slots.truncate(random.between(1, MOST_PASSAGES) as usize);
        let sources: Vec<SynthPage> = slots.iter().map(|&slot| self.slot_source(slot)).collect();
        let language = sources
            .first()
            .map_or(Language::English, |page| page.language);
        let mut body = PageBody::default();
        body.heading(prose::title(language, &mut random));
        body.paragraph(prose::paragraph(language, &mut random));
        for (number, (slot, source)) in slots.iter().zip(&sources).enumerate() {
            let blocks = source
                .body
                .slots
                .get(slot.slot as usize)
                .cloned()
                .unwrap_or_default();
            match random.below(4) {
                0 => self.patch(&mut body, source, *slot, number as u32),
                1 => self.quote(&mut body, source, blocks.start, number as u32, &mut random),
                2 => {
                    let rate = self.edit_rate(role).max(0.01);
                    for index in blocks.take(PATCH) {
                        let Some(block) = source.body.blocks.get(index) else {
                            continue;
                        };
                        let edits = edit::decide(block.prose.words.len(), rate, &mut random);
                        let copy = edit::apply(&block.prose, &edits, language, &mut random);
                        push(
                            &mut body,
                            copy,
                            source.role,
                            index,
                            CopyMethod::Edited,
                            rate,
                            number as u32,
                        );
                    }
                }
                _ => {
                    let Some(block) = source.body.blocks.get(blocks.start) else {
                        continue;
                    };
                    let copy = edit::reorder(
                        &block.prose,
                        &new_order(block.prose.sentences.len(), &mut random),
                        language,
                    );
                    push(
                        &mut body,
                        copy,
                        source.role,
                        blocks.start,
                        CopyMethod::Reordered,
                        0.0,
                        number as u32,
                    );
                }
            }
            for _ in 0..random.between(1, 3) {
                body.paragraph(prose::paragraph(language, &mut random));
            }
        }
        let site = self.site(SiteKind::Passer, role.index / QUILTS_A_SITE);
        let url = site.url(&format!("/post/{}.html", role.index));
        let after = self.latest(&sources);
        let page = self.finish(role, site, language, body, url, after);
        SynthPage { sources, ..page }
    }

    /// Quotes some sentences of a source within a new paragraph.
    fn quote(
        &self,
        body: &mut PageBody,
        source: &SynthPage,
        index: usize,
        passage: u32,
        random: &mut Random,
    ) {
        let Some(block) = source.body.blocks.get(index) else {
            return;
        };
        let language = source.language;
        let last = block.prose.sentences.len();
        let first = random.below(last.saturating_sub(2) as u64) as usize;
        let mut copy = CopiedText::default();
        copy.add(&prose::sentence(language, random).text);
        copy.add(language.gap());
        let quoted = edit::part(&block.prose, first..last);
        let shift = copy.text.len() as u32;
        copy.add(&quoted.text);
        copy.runs.extend(quoted.runs.into_iter().map(|mut run| {
            run.begin += shift;
            run
        }));
        copy.add(language.gap());
        copy.add(&prose::sentence(language, random).text);
        push(
            body,
            copy,
            source.role,
            index,
            CopyMethod::Verbatim,
            0.0,
            passage,
        );
    }

    /// The latest date of publication of the sources.
    fn latest(&self, sources: &[SynthPage]) -> Option<i64> {
        sources.iter().map(|page| self.when_published(page)).max()
    }

    /// The original that a stolen page copies, and whether it copies all of it.
    pub(crate) fn stolen_original(&self, role: PageRole) -> (u64, bool) {
        let originals = self.layout.originals().max(1);
        let whole = self.random(Purpose::Choice, role).next() & 1 == 0;
        (role.index % originals, whole)
    }

    pub(super) fn stolen(&self, role: PageRole) -> SynthPage {
        let site: Site = bad::thief_site(self, role.index);
        if bad::is_clean(role.index) {
            return self.clean_neighbour(role, site);
        }
        let (original, whole) = self.stolen_original(role);
        let source = self.page(PageRole {
            kind: PageKind::Original,
            index: original,
        });
        let language = source.language;
        let mut random = self.random(Purpose::Own, role);
        let mut body = PageBody::default();
        let taken = match whole {
            true => 0..source.body.blocks.len(),
            false => {
                body.heading(prose::title(language, &mut random));
                body.paragraph(prose::paragraph(language, &mut random));
                let slot = random.below(source.body.slots.len() as u64) as usize;
                source.body.slots.get(slot).cloned().unwrap_or_default()
            }
        };
        for index in taken {
            let Some(block) = source.body.blocks.get(index) else {
                continue;
            };
            push(
                &mut body,
                CopiedText::verbatim(&block.prose),
                source.role,
                index,
                CopyMethod::Verbatim,
                0.0,
                0,
            );
            if let Some(last) = body.blocks.last_mut() {
                last.heading = block.heading;
            }
        }
        if !whole {
            body.paragraph(prose::paragraph(language, &mut random));
        }
        let url = format!("{}{}.html", bad::stolen_prefix(site), role.index);
        let after = Some(self.when_published(&source));
        let mut page = self.finish(role, site, language, body, url, after);
        page.sources.push(source);
        page
    }

    /// A page on a site with stolen pages that is not copied, in another folder.
    fn clean_neighbour(&self, role: PageRole, site: Site) -> SynthPage {
        let language = self.layout.language(site.number);
        let body = self.new_text(role, Purpose::Own, language);
        let url = format!("{}{}.html", bad::clean_prefix(site), role.index);
        self.finish(role, site, language, body, url, None)
    }
}

fn push(
    body: &mut PageBody,
    copy: CopiedText,
    source: PageRole,
    block: usize,
    how: CopyMethod,
    rate: f64,
    passage: u32,
) {
    body.blocks.push(PageBlock {
        prose: pasted(copy.text),
        origin: Some(BlockOrigin {
            source,
            block,
            runs: copy.runs,
            how,
            rate,
            passage,
        }),
        ..PageBlock::default()
    });
}

/// A permutation of sentences in which no two neighbours stay neighbours, if there are enough
/// sentences.
fn new_order(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for _ in 0..20 {
        random.shuffle(&mut order);
        let neighbours = order
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a + 1 == *b));
        if !neighbours {
            return order;
        }
    }
    order.sort_unstable_by(|a, b| b.cmp(a));
    order
}

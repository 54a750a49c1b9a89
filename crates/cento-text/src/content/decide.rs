//! Decides for each block of a page whether it is main content.
//!
//! 1. **Rules** remove what is never content, however it scores ([`ContentRule`]). Comments are
//!    removed unless the page may be a thread. Rules that know only a name or the kind of a field
//!    are withdrawn if hardly any text is left without what they remove.
//! 2. **Scores**: the fitted [`model`] gives each other block the probability that it is content.
//!    Among its evidence is the decision of the [`article`](super::article) method. Blocks in
//!    elements with the same path have the mean of their probabilities: the parts of a template are
//!    content or are not. In threads, where later posts are content less often, they keep part of
//!    their own.
//! 3. **Threshold**: a block is kept if its probability is at least a share of that of the page's
//!    best blocks. The share depends on the [`PageType`]. A relative threshold finds the content of
//!    a page that looks like no other, where all probabilities are low. On a page that is almost
//!    certainly an article, what the article method removes is removed, unless the model is sure of
//!    it, or the model and the method disagree about most of the text. In threads and lists, a
//!    block follows its counterparts in similar siblings.
//! 4. **Copies**: in threads and on the pages of products and services, a text that occurs again is
//!    kept once: quoted posts, and descriptions that are repeated for small screens.

use super::features::BlockWalk;
use super::keys::{KeyMap, KeySet};
use super::measure::BlockMeasure;
use super::model::{self, EvidenceBatch, LANES, chance};
use super::names::NameClass;
use super::page_type::{PageType, RecognisedType};
use super::view::PageView;
use crate::html::{Tag, TextBlock};

/// Why a block is removed regardless of its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentRule {
    /// It is part of a consent dialogue.
    Consent,
    /// It is part of a form to log in or to subscribe.
    Account,
    /// It is the signature of a user under a post.
    Signature,
    /// It is a review, on the page of a product.
    Review,
    /// It is a comment, on a page that is hardly a thread.
    Comment,
    /// It is a choice of a form, or what a form is filled with.
    Choice,
    /// Its text is kept elsewhere on the page.
    Copy,
    /// It is not part of the article, on a page where the article is certain.
    OutsideArticle,
}

impl ContentRule {
    /// A description for explanations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ContentRule::Consent => "consent dialogue",
            ContentRule::Account => "form to log in or subscribe",
            ContentRule::Signature => "signature",
            ContentRule::Review => "review of a product",
            ContentRule::Comment => "comment",
            ContentRule::Choice => "choice or text of a form",
            ContentRule::Copy => "copy of a kept text",
            ContentRule::OutsideArticle => "the article method removes it",
        }
    }
}

/// The decision about one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockDecision {
    /// The probability that it is content, in units of 1/[`CERTAIN`](model::CERTAIN).
    pub(super) chance: u32,
    /// The least probability with which it is kept.
    pub(super) least: u32,
    pub(super) rule: Option<ContentRule>,
}

impl BlockDecision {
    pub(super) fn is_kept(self) -> bool {
        self.rule.is_none() && self.chance > self.least
    }
}

/// The share of the best probability that a block must exceed, in hundredths. These and the other
/// numbers below were chosen by cross-validation on the pages of the fit.
fn share(page_type: PageType) -> u32 {
    match page_type {
        PageType::Thread => 45,
        PageType::Article => 40,
        PageType::Service => 30,
        PageType::Documentation | PageType::Listing | PageType::Product => 25,
        PageType::Collection => 15,
    }
}

/// The least probability of a block that is kept, given the `best` one. A page that is taken for an
/// article may well be something else with more content, so that the shares of all types count as
/// much as they are probable.
fn threshold(recognised: &RecognisedType, best: u32) -> u32 {
    let (mut sum, mut all) = (0, 0);
    for (page_type, &chance) in PageType::ALL.into_iter().zip(&recognised.chances) {
        if recognised.page_type == PageType::Article || recognised.page_type == page_type {
            sum += u64::from(chance) * u64::from(share(page_type));
            all += u64::from(chance);
        }
    }
    // The sum is at most 100 times the other, so that the result is at most `best`.
    u32::try_from(u64::from(best) * sum / (100 * all).max(1)).unwrap_or(best)
}

/// The article method is trusted with a page that is an article with at least this probability, in
/// hundredths, if it agrees with the model: the F1 between the texts that they keep is at least
/// [`TRUSTED_AGREEMENT`] hundredths. Then a block is kept if the method keeps it and the model does
/// not disagree: its probability is at least [`TRUSTED_SHARE`] hundredths of the best. If that is
/// less than a quarter of the text on which they agree, such as on a page whose text is directly in
/// one element, the usual share counts.
const TRUSTED_TYPE: u64 = 90;
const TRUSTED_AGREEMENT: u64 = 50;
const TRUSTED_SHARE: u32 = 60;

/// A block that the trusted article method removes is kept all the same if its probability is more
/// than this many hundredths of the best: running text, such as a lead above the article, and
/// other blocks.
const SURE_PROSE_SHARE: u32 = 70;
const SURE_SHARE: u32 = 90;

/// On a page that is a thread with at least this probability, in hundredths, comments may be
/// content.
const POSSIBLE_THREAD: u64 = 20;

/// One in this many blocks, and at least one, is among the best of a page.
const BEST_PART: usize = 65;

/// Shorter texts are repeated without being copies.
const LEAST_COPY_BYTES: u32 = 40;

/// Decides about all blocks of a page.
pub(super) fn decide(view: &PageView<'_>, recognised: &RecognisedType) -> Vec<BlockDecision> {
    let page_type = recognised.page_type;
    let is_thread = recognised.is_at_least(PageType::Thread, POSSIBLE_THREAD);
    let blocks = &view.page.outline.blocks;
    let mut walk = BlockWalk::new(view);
    let mut batch = EvidenceBatch::new();
    let mut hidden = Vec::with_capacity(blocks.len());
    let mut framed = Vec::with_capacity(blocks.len());
    let mut decisions: Vec<BlockDecision> = Vec::with_capacity(blocks.len());
    for (place, rows) in blocks.chunks(LANES).enumerate() {
        for (lane, block) in rows.iter().enumerate() {
            walk.block_row(LANES * place + lane, &mut batch.row(lane));
            hidden.push(walk.hidden_share().is_some());
            framed.push(is_framed(&walk));
            decisions.push(BlockDecision {
                chance: 0,
                least: 0,
                rule: rule(&walk, block, page_type, is_thread),
            });
        }
        let scores = model::block_scores(&batch);
        let scored = decisions.iter_mut().skip(LANES * place).zip(scores);
        for (decision, score) in scored {
            decision.chance = chance(score);
        }
    }
    average_paths(view, page_type, &mut decisions);
    doubt_rules(view, &framed, &mut decisions);
    set_thresholds(view, recognised, &mut decisions);
    if matches!(
        page_type,
        PageType::Thread | PageType::Listing | PageType::Collection
    ) {
        follow_siblings(view, &mut decisions);
    }
    if matches!(
        page_type,
        PageType::Thread | PageType::Product | PageType::Service
    ) {
        remove_copies(view, &hidden, &mut decisions);
    }
    decisions
}

/// Fewer blocks with the same path are no template.
const LEAST_LIKE: u64 = 3;

/// The weight of the mean of a path in tenths; the rest is the block's own probability.
fn path_weight(page_type: PageType) -> u64 {
    if page_type == PageType::Thread { 6 } else { 10 }
}

/// The weight of a block in a mean: its words. A block without words has a say, too.
fn weight(measure: &BlockMeasure) -> u64 {
    10 * u64::from(measure.words) + 3
}

/// A probability drawn to a mean that has a weight of `tenths`.
fn drawn(chance: u32, mean: u64, tenths: u64) -> u32 {
    let sum = mean * tenths + u64::from(chance) * (10 - tenths);
    u32::try_from(sum / 10).unwrap_or(chance)
}

/// Draws each probability to the mean of those of all blocks with the same path, weighted by their
/// words; running text counts apart from labels. Blocks near the end of a page would else be judged
/// by their position.
fn average_paths(view: &PageView<'_>, page_type: PageType, decisions: &mut [BlockDecision]) {
    let path = |block: &TextBlock, measure: &BlockMeasure| {
        let path = *view.paths.get(block.container as usize)?;
        path.map(|path| (path, measure.is_prose))
    };
    let blocks = || view.page.outline.blocks.iter().zip(&view.measures);
    let mut sums: KeyMap<(u64, bool), (u64, u64, u64)> = KeyMap::default();
    for ((block, measure), decision) in blocks().zip(&*decisions) {
        if let Some(path) = path(block, measure) {
            let sum = sums.entry(path).or_default();
            let weight = weight(measure);
            sum.0 += 1;
            sum.1 += weight;
            sum.2 += weight * u64::from(decision.chance);
        }
    }
    let tenths = path_weight(page_type);
    for ((block, measure), decision) in blocks().zip(decisions) {
        if let Some(&(count, weight, sum)) = path(block, measure).and_then(|path| sums.get(&path))
            && count >= LEAST_LIKE
        {
            decision.chance = drawn(decision.chance, sum / weight, tenths);
        }
    }
}

/// The rule that removes a block. Shares are in thousandths of the page: an element with most of
/// the page is the page, whatever its name.
fn rule(
    walk: &BlockWalk<'_, '_>,
    block: &TextBlock,
    page_type: PageType,
    is_thread: bool,
) -> Option<ContentRule> {
    let within =
        |class: NameClass, most: u16| walk.sign_share(class).is_some_and(|share| share < most);
    if matches!(block.tag, Tag::Option | Tag::Select | Tag::Textarea) {
        Some(ContentRule::Choice)
    } else if within(NameClass::Cookie, 500) {
        Some(ContentRule::Consent)
    } else if within(NameClass::Login, 200) || within(NameClass::Subscribe, 200) {
        Some(ContentRule::Account)
    } else if within(NameClass::Signature, 300) {
        Some(ContentRule::Signature)
    } else if page_type == PageType::Product && within(NameClass::Review, 700) {
        Some(ContentRule::Review)
    } else if !is_thread && within(NameClass::Comment, 900) {
        Some(ContentRule::Comment)
    } else {
        None
    }
}

impl ContentRule {
    /// Whether the name of an element is all that the rule knows, or the kind of a field. Posts are
    /// called comments on some pages.
    fn is_doubtful(self) -> bool {
        matches!(
            self,
            ContentRule::Comment | ContentRule::Signature | ContentRule::Choice
        )
    }
}

/// Whether a block is in a small header, footer, menu or sidebar of the page.
fn is_framed(walk: &BlockWalk<'_, '_>) -> bool {
    [
        NameClass::Header,
        NameClass::Footer,
        NameClass::Navigation,
        NameClass::Sidebar,
    ]
    .iter()
    .any(|&class| walk.sign_share(class).is_some_and(|share| share < 500))
}

/// The best text that doubtful rules leave has at least this share of the probability of the best
/// one that they remove, in hundredths, or they are wrong.
const LEFT_SHARE: u64 = 15;

/// Fields with at least this share of the text of a page, in hundredths, are its content, such as a
/// document that can be edited.
const FIELDS_SHARE: u64 = 70;

/// Withdraws the doubtful rules if they remove what the page is about: no text that they leave is
/// remotely as likely to be content. Fields are also kept if they have most of the text.
fn doubt_rules(view: &PageView<'_>, framed: &[bool], decisions: &mut [BlockDecision]) {
    let blocks = view.page.outline.blocks.iter();
    let (mut left, mut removed) = (0, Vec::new());
    for (((decision, measure), block), framed) in
        decisions.iter().zip(&view.measures).zip(blocks).zip(framed)
    {
        let is_heading = matches!(
            block.tag,
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6
        );
        if is_heading || *framed || !(measure.is_prose || measure.ends_sentence) {
            continue;
        }
        match decision.rule {
            None => left = left.max(decision.chance),
            Some(rule) if rule.is_doubtful() => removed.push(decision.chance),
            Some(_) => {}
        }
    }
    let are_wrong = LEFT_SHARE * u64::from(best(removed)) > 100 * u64::from(left);
    let (mut fields, mut all) = (0, 0);
    for (decision, measure) in decisions.iter().zip(&view.measures) {
        let bytes = u64::from(measure.bytes);
        all += bytes;
        fields += bytes * u64::from(decision.rule == Some(ContentRule::Choice));
    }
    let are_fields_wrong = fields > 0 && 100 * fields >= FIELDS_SHARE * all;
    for decision in decisions {
        let is_withdrawn = |rule: &ContentRule| match rule {
            ContentRule::Choice => are_wrong || are_fields_wrong,
            rule => are_wrong && rule.is_doubtful(),
        };
        decision.rule = decision.rule.filter(|rule| !is_withdrawn(rule));
    }
}

/// The least of the best probabilities, which are one in [`BEST_PART`].
fn best(mut chances: Vec<u32>) -> u32 {
    let rank = (chances.len() / BEST_PART).max(1) - 1;
    if chances.is_empty() {
        return 0;
    }
    *chances
        .select_nth_unstable_by(rank, |one, other| other.cmp(one))
        .1
}

fn set_thresholds(
    view: &PageView<'_>,
    recognised: &RecognisedType,
    decisions: &mut [BlockDecision],
) {
    let chances: Vec<u32> = decisions
        .iter()
        .map(|decision| {
            if decision.rule.is_none() {
                decision.chance
            } else {
                0
            }
        })
        .collect();
    let best = best(chances);
    let least = threshold(recognised, best);
    for decision in decisions.iter_mut() {
        decision.least = least;
    }
    if recognised.page_type == PageType::Article
        && recognised.is_at_least(PageType::Article, TRUSTED_TYPE)
        && agrees(view, decisions)
    {
        trust_article(view, best, decisions);
    }
}

/// Removes what the article method removes.
fn trust_article(view: &PageView<'_>, best: u32, decisions: &mut [BlockDecision]) {
    let share = |hundredths: u32| best / 100 * hundredths;
    let (mut agreed, mut trusted) = (0, 0);
    for ((decision, measure), &kept) in decisions.iter().zip(&view.measures).zip(&view.kept) {
        if kept && decision.is_kept() {
            let bytes = u64::from(measure.bytes);
            agreed += bytes;
            trusted += bytes * u64::from(decision.chance > share(TRUSTED_SHARE));
        }
    }
    let leaves_enough = 4 * trusted >= agreed;
    for ((decision, measure), &kept) in decisions.iter_mut().zip(&view.measures).zip(&view.kept) {
        if leaves_enough {
            decision.least = share(TRUSTED_SHARE);
        }
        let sure = share(if measure.is_prose {
            SURE_PROSE_SHARE
        } else {
            SURE_SHARE
        });
        if !kept && decision.rule.is_none() && decision.chance <= sure {
            decision.rule = Some(ContentRule::OutsideArticle);
        }
    }
}

/// Whether the article method keeps much the same text as the model.
fn agrees(view: &PageView<'_>, decisions: &[BlockDecision]) -> bool {
    let (mut both, mut sum) = (0, 0);
    for ((decision, measure), &kept) in decisions.iter().zip(&view.measures).zip(&view.kept) {
        let bytes = u64::from(measure.bytes);
        let (one, other) = (u64::from(kept), u64::from(decision.is_kept()));
        both += bytes * one * other;
        sum += bytes * (one + other);
    }
    both > 0 && 200 * both >= TRUSTED_AGREEMENT * sum
}

/// Fewer siblings have no say.
const LEAST_VOTES: u32 = 4;

/// Keeps a block if three quarters of its counterparts are kept: the blocks at the same place in
/// similar siblings, such as the text of each card. The first and the last sibling have other
/// neighbours than the rest, and would else be judged by them.
fn follow_siblings(view: &PageView<'_>, decisions: &mut [BlockDecision]) {
    let outline = &view.page.outline;
    let mut votes: KeyMap<(u32, u32, Tag), (u32, u32)> = KeyMap::default();
    let mut places = Vec::with_capacity(decisions.len());
    for (index, block) in outline.blocks.iter().enumerate() {
        let mut container = block.container;
        let place = loop {
            if view.repetition(container as usize).is_some() {
                let group = view.group_of.get(container as usize).copied();
                let begin = outline.containers.get(container as usize);
                let begin = begin.map_or(0, |container| container.blocks.start);
                let offset = u32::try_from(index)
                    .unwrap_or(u32::MAX)
                    .saturating_sub(begin);
                break group.map(|group| (group, offset, block.tag));
            }
            match outline.containers.get(container as usize) {
                Some(inner) if inner.parent < container => container = inner.parent,
                _ => break None,
            }
        };
        if let (Some(place), Some(decision)) = (place, decisions.get(index)) {
            let vote = votes.entry(place).or_default();
            vote.0 += 1;
            vote.1 += u32::from(decision.is_kept());
        }
        places.push(place);
    }
    for (decision, place) in decisions.iter_mut().zip(places) {
        let (all, kept) = place
            .and_then(|place| votes.get(&place).copied())
            .unwrap_or_default();
        if all >= LEAST_VOTES && 4 * kept >= 3 * all {
            decision.least = decision.least.min(decision.chance.saturating_sub(1));
        }
    }
}

/// Keeps each longer text once: the first copy, or the first that is shown if there is one.
fn remove_copies(view: &PageView<'_>, hidden: &[bool], decisions: &mut [BlockDecision]) {
    let mut known: KeySet<u64> = KeySet::default();
    for pass in [false, true] {
        for ((decision, measure), &hidden) in decisions.iter_mut().zip(&view.measures).zip(hidden) {
            if hidden == pass
                && measure.bytes >= LEAST_COPY_BYTES
                && decision.is_kept()
                && !known.insert(measure.hash)
            {
                decision.rule = Some(ContentRule::Copy);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::{Extractor, Options};

    const PAGE: &str = "<aside><p>A lead above the article, as long as running text has to \
        be, says in one sentence what follows.</aside><div class=article-body>
        <h2>Otters</h2>
        <p>Otters sleep on their backs and hold each other by the paw, lest the sea carry one of \
        them away while the others are asleep.
        <p>They keep a favourite stone in a fold of skin under the arm, and crack shells with it \
        on the chest, which they do all day long.
        <p>A pelt has more hair to the square centimetre than a person has on the whole head, \
        and it is never wet, whatever the weather.</div>
        <nav>More animals</nav>";

    /// What is kept if each block has a share of the best probability, in hundredths.
    fn kept(shares: [u32; 6]) -> Vec<bool> {
        let mut extractor = Extractor::new();
        let view = PageView::new(extractor.extract(PAGE, &Options { outline: true }));
        assert_eq!(view.kept, [false, true, true, true, true, false]);
        let decision = |share: u32| BlockDecision {
            chance: 100 * share,
            least: 4000,
            rule: None,
        };
        let mut decisions = shares.map(decision);
        trust_article(&view, 10_000, &mut decisions);
        decisions.into_iter().map(BlockDecision::is_kept).collect()
    }

    #[test]
    fn an_article_has_what_the_method_keeps_and_the_model_does_not_doubt() {
        assert_eq!(
            kept([50, 99, 99, 99, 50, 50]),
            [false, true, true, true, false, false]
        );
    }

    #[test]
    fn a_doubt_about_most_of_the_article_is_none() {
        assert_eq!(
            kept([50, 99, 50, 50, 50, 30]),
            [false, true, true, true, true, false]
        );
    }

    #[test]
    fn what_the_model_is_sure_of_is_kept() {
        assert_eq!(
            kept([75, 99, 99, 99, 99, 75]),
            [true, true, true, true, true, false]
        );
        assert!(kept([75, 99, 99, 99, 99, 95])[5]);
    }
}

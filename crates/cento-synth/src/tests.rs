//! Whether the truth is complete: the texts of pages are compared with each other by brute force.

use std::collections::{HashMap, HashSet};

use crate::layout::{Layout, PageRole};
use crate::page_reader::{PageReader, compare};
use crate::pages::{PageMaker, SynthPage};
use crate::random::mix;
use crate::settings::{PageKind, SynthSettings};
use crate::truth::TruthRecord;
use crate::truth_writer::{TruthWriter, WrittenPage};
use crate::warc::digest;

/// The pages that an index keeps, and all truth records.
fn crawl(pages: u64) -> (Vec<SynthPage>, Vec<TruthRecord>) {
    let layout = Layout::new(SynthSettings::new(7, pages)).unwrap();
    let maker = PageMaker { layout: &layout };
    let mut truth_writer = TruthWriter::new(maker);
    let mut made = Vec::new();
    for place in 0..pages {
        let page = maker.page(layout.at(place));
        let html = crate::html::render(&page);
        truth_writer
            .write_page(&WrittenPage {
                page: &page,
                html: &html,
                sha1: digest(html.as_bytes()),
                file: "-",
                damage: None,
            })
            .unwrap();
        if !matches!(
            page.role.kind,
            PageKind::Revisit | PageKind::Trap | PageKind::Damaged
        ) {
            made.push(page);
        }
    }
    let lines = String::from_utf8(truth_writer.take()).unwrap();
    let records = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (made, records)
}

fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

#[test]
fn pages_resemble_each_other_if_and_only_if_the_truth_says_so() {
    let (pages, records) = crawl(700);
    let mut reader = PageReader::default();
    let grams: Vec<_> = pages
        .iter()
        .map(|page| {
            let text = reader.page(page).unwrap().text;
            reader.grams(&text, 5)
        })
        .collect();
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, grams) in grams.iter().enumerate() {
        for &gram in grams {
            places.entry(gram).or_default().push(index);
        }
    }
    // The number of grams that pages share. Grams of templates are on many pages and are left to
    // the comparison itself.
    let mut shared: HashMap<(usize, usize), u32> = HashMap::new();
    for list in places.values().filter(|list| list.len() <= 12) {
        for (position, &first) in list.iter().enumerate() {
            for &second in &list[position + 1..] {
                *shared.entry((first, second)).or_insert(0) += 1;
            }
        }
    }
    let mut listed = HashSet::new();
    let mut families = crate::score::tests_classes();
    let number: HashMap<&str, u32> = pages
        .iter()
        .zip(0..)
        .map(|(page, index)| (page.url.as_str(), index))
        .collect();
    let extra = pages.len() as u32;
    let mut others: HashMap<String, u32> = HashMap::new();
    let mut patches = HashSet::new();
    for record in &records {
        match record {
            TruthRecord::Copy {
                copy,
                of,
                resemblance,
                ..
            } => {
                let (copy, of) = (number[copy.as_str()], number[of.as_str()]);
                families.join(copy, of);
                listed.insert((copy.min(of), copy.max(of)));
                let found = compare(&grams[copy as usize], &grams[of as usize]).resemblance;
                assert!((found - resemblance).abs() < 1e-12);
            }
            TruthRecord::Copied { page, original, .. } => {
                let next = extra + others.len() as u32;
                let original = number
                    .get(original.as_str())
                    .copied()
                    .unwrap_or_else(|| *others.entry(original.clone()).or_insert(next));
                families.join(number[page.as_str()], original);
            }
            TruthRecord::Passage { page, source, .. } => {
                patches.insert((page.as_str(), source.as_str()));
            }
            _ => {}
        }
    }
    let mut found = 0;
    for (&(first, second), &count) in &shared {
        let (ours, theirs) = (&pages[first], &pages[second]);
        let pair = (first as u32, second as u32);
        let alike = compare(&grams[first], &grams[second]).resemblance;
        if alike >= 0.5 {
            found += 1;
            assert!(
                listed.contains(&pair) || families.same(pair.0, pair.1),
                "{alike} {} {}",
                ours.url,
                theirs.url
            );
        }
        // Pages that share a long run of words must be related.
        let diced = |page: &SynthPage| matches!(page.role.kind, PageKind::Spam | PageKind::Farm);
        let copied =
            |a: &SynthPage, b: &SynthPage| patches.contains(&(a.url.as_str(), b.url.as_str()));
        let furniture = ours.template == theirs.template || host(&ours.url) == host(&theirs.url);
        if count >= 25 && !furniture && !(diced(ours) && diced(theirs)) {
            assert!(
                families.same(pair.0, pair.1) || copied(ours, theirs) || copied(theirs, ours),
                "{count} grams in common: {} {}",
                ours.url,
                theirs.url
            );
        }
    }
    assert!(found >= 60, "{found} pairs alike");
}

#[test]
fn reports_of_one_template_are_not_copies() {
    let layout = Layout::new(SynthSettings::new(3, 2_000)).unwrap();
    let maker = PageMaker { layout: &layout };
    let mut reader = PageReader::default();
    let mut grams = |index: u64| {
        let page = maker.page(PageRole {
            kind: PageKind::News,
            index,
        });
        let text = reader.page(&page).unwrap().text;
        reader.grams(&text, 5)
    };
    for index in 0..39 {
        let resemblance = compare(&grams(index), &grams(index + 1)).resemblance;
        assert!(resemblance < 0.3, "{resemblance}");
    }
}

#[test]
fn a_page_is_the_same_whenever_it_is_generated() {
    let layout = Layout::new(SynthSettings::new(3, 1_500)).unwrap();
    let maker = PageMaker { layout: &layout };
    let render = |place: u64| crate::html::render(&maker.page(layout.at(place)));
    let forwards: Vec<u64> = (0..1_500).map(|place| hash(&render(place))).collect();
    for place in (0..1_500).rev().step_by(7) {
        assert_eq!(hash(&render(place)), forwards[place as usize]);
    }
}

fn hash(text: &str) -> u64 {
    mix(xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

#[test]
fn copies_are_newer_than_their_sources() {
    let (pages, records) = crawl(700);
    let by_url: HashMap<&str, &SynthPage> =
        pages.iter().map(|page| (page.url.as_str(), page)).collect();
    let mut compared = 0;
    for record in &records {
        let TruthRecord::Passage {
            page,
            source,
            crawled: true,
            ..
        } = record
        else {
            continue;
        };
        let (page, source) = (by_url[page.as_str()], by_url[source.as_str()]);
        assert!(page.fetched > source.fetched);
        if let (Some(page), Some(source)) = (page.published, source.published) {
            assert!(page > source);
            compared += 1;
        }
    }
    assert!(compared > 100);
}

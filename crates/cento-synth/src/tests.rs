//! Whether the truth is the whole truth: pages compared with each other by brute force, by nothing
//! but their text.

use std::collections::{HashMap, HashSet};

use crate::layout::{Layout, Role};
use crate::pages::{Maker, Page};
use crate::random::mix;
use crate::reading::{Reader, compare};
use crate::settings::{Kind, Settings};
use crate::tell::{Teller, Written};
use crate::truth::Record;
use crate::warc::digest;

/// The pages that an index keeps, and all records.
fn crawl(pages: u64) -> (Vec<Page>, Vec<Record>) {
    let layout = Layout::new(Settings::new(7, pages)).unwrap();
    let maker = Maker { layout: &layout };
    let mut teller = Teller::new(maker);
    let mut made = Vec::new();
    for place in 0..pages {
        let page = maker.page(layout.at(place));
        let html = crate::html::render(&page);
        teller
            .tell(&Written {
                page: &page,
                html: &html,
                sha1: digest(html.as_bytes()),
                file: "-",
                damage: None,
            })
            .unwrap();
        if !matches!(page.role.kind, Kind::Revisit | Kind::Trap | Kind::Damaged) {
            made.push(page);
        }
    }
    let told = String::from_utf8(teller.take()).unwrap();
    let records = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (made, records)
}

fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

#[test]
fn what_resembles_is_told_and_what_is_told_resembles() {
    let (pages, records) = crawl(700);
    let mut reader = Reader::default();
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
    // Which pages share how many grams; grams of furniture are on many pages and are left to the
    // comparison itself.
    let mut shared: HashMap<(usize, usize), u32> = HashMap::new();
    for list in places.values().filter(|list| list.len() <= 12) {
        for (position, &first) in list.iter().enumerate() {
            for &second in &list[position + 1..] {
                *shared.entry((first, second)).or_insert(0) += 1;
            }
        }
    }
    let mut told = HashSet::new();
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
            Record::Copy {
                copy,
                of,
                resemblance,
                ..
            } => {
                let (copy, of) = (number[copy.as_str()], number[of.as_str()]);
                families.join(copy, of);
                told.insert((copy.min(of), copy.max(of)));
                let found = compare(&grams[copy as usize], &grams[of as usize]).resemblance;
                assert!((found - resemblance).abs() < 1e-12);
            }
            Record::Copied { page, original, .. } => {
                let next = extra + others.len() as u32;
                let original = number
                    .get(original.as_str())
                    .copied()
                    .unwrap_or_else(|| *others.entry(original.clone()).or_insert(next));
                families.join(number[page.as_str()], original);
            }
            Record::Passage { page, source, .. } => {
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
                told.contains(&pair) || families.same(pair.0, pair.1),
                "{alike} {} {}",
                ours.url,
                theirs.url
            );
        }
        // Whatever shares a run of some length has a reason.
        let diced = |page: &Page| matches!(page.role.kind, Kind::Spam | Kind::Farm);
        let copied = |a: &Page, b: &Page| patches.contains(&(a.url.as_str(), b.url.as_str()));
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
fn reports_of_one_template_are_no_copies() {
    let layout = Layout::new(Settings::new(3, 2_000)).unwrap();
    let maker = Maker { layout: &layout };
    let mut reader = Reader::default();
    let mut grams = |index: u64| {
        let page = maker.page(Role {
            kind: Kind::News,
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
fn a_page_is_the_same_whenever_it_is_made() {
    let layout = Layout::new(Settings::new(3, 1_500)).unwrap();
    let maker = Maker { layout: &layout };
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
fn copying_is_ordered_by_dates() {
    let (pages, records) = crawl(700);
    let by_url: HashMap<&str, &Page> = pages.iter().map(|page| (page.url.as_str(), page)).collect();
    let mut compared = 0;
    for record in &records {
        let Record::Passage {
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

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;

use super::*;

const MEMORY: usize = 1 << 20;

/// A text of random words with some of them replaced.
fn text(seed: u64, words: usize, replaced: usize) -> String {
    let word = |at: u64| format!("w{:x}", run_hash(&[seed, at]) % 5000);
    let mut list: Vec<String> = (0..words as u64).map(word).collect();
    for at in 0..replaced {
        list[at * words / replaced.max(1)] = format!("changed{at}");
    }
    list.join(" ")
}

/// The resemblance of the sets of runs of five words: the definition.
fn resemblance(one: &str, other: &str) -> f64 {
    let runs = |text: &str| -> BTreeSet<Vec<String>> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        match words.len() < 5 {
            true => [words].into(),
            false => words.windows(5).map(<[String]>::to_vec).collect(),
        }
    };
    let (one, other) = (runs(one), runs(other));
    one.intersection(&other).count() as f64 / one.union(&other).count() as f64
}

fn check(
    seen: &mut SeenPages,
    url: &str,
    text: &str,
    payload: Option<[u8; 20]>,
) -> Option<SeenPage> {
    let print = PagePrinter::default().print(text, payload);
    seen.lock().unwrap().check(url, &print).unwrap()
}

proptest! {
    /// Exact copies are those of a naive set; and a reopened file gives the same answers.
    #[test]
    fn exact_copies_equal_a_naive_set(
        pages in proptest::collection::vec((0u8..12, 0u8..4, any::<bool>()), 1..60),
        reopened in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seen");
        let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
        let reopened = reopened.index(pages.len());
        let (mut bytes, mut texts): (BTreeSet<[u8; 20]>, BTreeSet<u8>) = Default::default();
        for (at, (content, encoding, has_payload)) in pages.into_iter().enumerate() {
            if at == reopened {
                seen = SeenPages::open(&path, "all", MEMORY).unwrap();
            }
            // Texts that do not resemble each other.
            let page = text(content.into(), 30, 0);
            let payload = has_payload.then(|| { let mut payload = [content; 20]; payload[19] = encoding; payload });
            let found = check(&mut seen, &format!("http://a.example/{at}"), &page, payload).map(|seen| seen.kind);
            let expected = if payload.is_some_and(|payload| bytes.contains(&payload)) {
                Some(SeenAs::Bytes)
            } else if texts.contains(&content) {
                Some(SeenAs::Text)
            } else {
                None
            };
            prop_assert_eq!(found, expected);
            bytes.extend(payload);
            texts.insert(content);
        }
        prop_assert_eq!(seen.counts().damaged, 0);
    }

    /// Any bytes after the records are cut off or skipped, and no record before them is lost.
    #[test]
    fn a_torn_tail_is_cut_off(count in 1u64..6, tail in proptest::collection::vec(any::<u8>(), 0..60), cut in 0usize..700) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seen");
        let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
        for page in 0..count {
            check(&mut seen, &format!("{page}"), &text(page, 40, 0), None);
        }
        drop(seen);
        let whole = fs::read(&path).unwrap();
        let record = (whole.len() - 512) / count as usize;
        // The last record is written in part, and perhaps garbage follows.
        let cut = cut % record;
        let mut torn = whole[..whole.len() - record + cut].to_vec();
        torn.extend(&tail);
        fs::write(&path, &torn).unwrap();
        let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
        for page in 0..count - 1 {
            prop_assert!(check(&mut seen, "again", &text(page, 40, 0), None).is_some());
        }
        check(&mut seen, "last", &text(count - 1, 40, 0), None);
        drop(seen);
        let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
        for page in 0..count {
            prop_assert!(check(&mut seen, "again", &text(page, 40, 0), None).is_some());
        }
        prop_assert_eq!(seen.counts().remembered, count);
    }
}

#[test]
fn near_copies_have_the_resemblance_of_copies_by_estimate() {
    let mut seen = SeenPages::in_memory(1 << 24);
    let (mut errors, mut missed, mut found_near) = (0.0, 0, 0);
    let mut at_least = 0;
    for page in 0..400 {
        let original = text(page, 300, 0);
        assert_eq!(
            check(&mut seen, &format!("original {page}"), &original, None),
            None
        );
        // 300 words: replacing one changes five runs.
        let replaced = (page % 16) as usize;
        let copy = text(page, 300, replaced);
        let truth = resemblance(&original, &copy);
        let found = check(&mut seen, "copy", &copy, None);
        at_least += usize::from(truth >= 0.85);
        match found {
            Some(seen) if seen.kind == SeenAs::Near => {
                found_near += 1;
                assert_eq!(seen.url, format!("original {page}"));
                let estimate = seen.estimate.unwrap();
                errors += estimate.value().unwrap() - truth;
                let (low, high) = estimate.interval(0.999);
                assert!((low..=high).contains(&truth), "{truth} {estimate:?}");
            }
            Some(seen) => assert_eq!((seen.kind, replaced), (SeenAs::Text, 0)),
            None => missed += usize::from(truth >= 0.85),
        }
    }
    assert!(found_near > 100);
    // Estimates are unbiased, except that those below 0.8 are not reported.
    assert!(f64::abs(errors / f64::from(found_near)) < 0.03);
    assert!(missed * 20 < at_least, "{missed} of {at_least}");
}

#[test]
fn a_near_copy_of_a_near_copy_is_compared_with_the_first_page_only() {
    let mut seen = SeenPages::in_memory(MEMORY);
    let (first, last) = (text(1, 400, 0), text(1, 400, 30));
    let middle = text(1, 400, 5);
    assert_eq!(check(&mut seen, "first", &first, None), None);
    assert_eq!(
        check(&mut seen, "middle", &middle, None).unwrap().kind,
        SeenAs::Near
    );
    assert!(resemblance(&first, &last) < 0.7);
    assert_eq!(check(&mut seen, "last", &last, None), None);
    // Exact copies of a near-duplicate are recognised as such.
    let again = check(&mut seen, "again", &middle, None).unwrap();
    assert_eq!((again.kind, again.url.as_str()), (SeenAs::Text, "middle"));
}

#[test]
fn two_stores_on_one_file_share_what_they_see() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seen");
    let new: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let path = &path;
                scope.spawn(move || {
                    let mut seen = SeenPages::open(path, "all", MEMORY).unwrap();
                    let mut new = 0;
                    for at in 0..200 {
                        let page = (at * 7 + thread * 50) % 200;
                        let found = check(&mut seen, &format!("{page}"), &text(page, 20, 0), None);
                        new += usize::from(found.is_none());
                    }
                    new
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(new, 200);
    assert_eq!(
        SeenPages::open(&path, "all", MEMORY)
            .unwrap()
            .counts()
            .remembered,
        200
    );
}

#[test]
fn damage_in_the_middle_is_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seen");
    let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
    for page in 0..50 {
        check(&mut seen, "x", &text(page, 40, 0), None);
    }
    drop(seen);
    let mut bytes = fs::read(&path).unwrap();
    bytes[512 + 400 * 9] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
    let counts = seen.counts();
    assert_eq!((counts.remembered, counts.damaged), (49, 1));
    let known = (0..50).filter(|&page| check(&mut seen, "x", &text(page, 40, 0), None).is_some());
    assert_eq!(known.count(), 49);
}

#[test]
fn other_files_are_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seen");
    for content in ["precious\n".to_owned(), "x".repeat(5000)] {
        fs::write(&path, &content).unwrap();
        let error = SeenPages::open(&path, "all", MEMORY).err().unwrap();
        assert!(
            error
                .to_string()
                .ends_with("a.seen is not a file of seen pages"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    assert!(SeenPages::open(folder.path(), "all", MEMORY).is_err());
    fs::remove_file(&path).unwrap();
    drop(SeenPages::open(&path, "all", MEMORY).unwrap());
    let error = SeenPages::open(&path, "main", MEMORY).err().unwrap();
    assert!(error.to_string().ends_with("was made with runs of 5 words, 84 minima, content all, not runs of 5 words, 84 minima, content main"), "{error}");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 9;
    fs::write(&path, &bytes).unwrap();
    let error = SeenPages::open(&path, "all", MEMORY).err().unwrap();
    assert!(error.to_string().contains("format version 9"), "{error}");
    // A file whose creator was killed is completed.
    fs::write(&path, &bytes[..7]).unwrap();
    assert!(SeenPages::open(&path, "all", MEMORY).is_ok());
    // A file that was truncated while it was open.
    let mut seen = SeenPages::open(&path, "all", MEMORY).unwrap();
    check(&mut seen, "x", "some text", None);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(512)
        .unwrap();
    assert!(matches!(
        seen.lock().err(),
        Some(crate::Error::Truncated(_))
    ));
}

#[test]
fn old_pages_are_forgotten_when_the_memory_is_full() {
    let mut seen = SeenPages::in_memory(1 << 16);
    for page in 0..2000 {
        let words = text(page, 8, 0);
        assert_eq!(check(&mut seen, "x", &words, None), None);
        assert!(check(&mut seen, "x", &words, None).is_some());
    }
    let counts = seen.counts();
    assert!(counts.forgotten > 0 && counts.remembered > 50);
    assert_eq!(counts.forgotten + counts.remembered, 2000);
}

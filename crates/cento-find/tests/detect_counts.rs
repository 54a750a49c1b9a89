//! The counts of `detect` on pages with much in common. Each test is a regression test for a wrong
//! count.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use cento_find::Findings;
use cento_find::detect::{
    DetectParams, DetectSummary, GramsParams, GramsSummary, LabelSet, detect, grams,
};
use cento_find::discover::{DiscoverParams, DiscoverSummary, How, discover, write_labels};
use cento_find::labelling::{merge, stop_labels};
use cento_find::provenance::{originals_of, table_of};
use cento_labels::{Recipe, StopList};
use serde_json::{Value, json};
use support::{corpus, open, rows, workplace};

/// A paragraph of words that no other paragraph has.
fn chunk(number: usize) -> String {
    let words: Vec<String> = (0..20)
        .map(|at| format!("word{at}of{}x{at}", number * 31 + at))
        .collect();
    words.join(" ")
}

fn originals(folder: &Path, pages: &[(String, String)]) -> LabelSet {
    let path = corpus(folder, "originals", pages);
    let params = DiscoverParams::new(How::Informed(20), Recipe::default(), &StopList::built_in());
    let found = discover(
        &open(&[&path]),
        &params,
        &workplace(&folder.join("discovered"), 2, 64 << 20),
    )
    .unwrap();
    let file = folder.join("originals.labels");
    write_labels(&found, &params, &file).unwrap();
    LabelSet::open(&file).unwrap()
}

fn run(corpus: &Path, set: &LabelSet, params: &DetectParams, findings: &Path) -> Findings {
    let place = workplace(findings, 2, 64 << 20);
    detect(&open(&[corpus]), set, params, &place).unwrap()
}

fn matches(found: &Findings) -> Vec<(String, u64, f64)> {
    let mut all: Vec<(String, u64, f64)> = rows(found, "matches")
        .iter()
        .map(|row| {
            let original = row["original"].as_str().unwrap().to_owned();
            let share = row["of_original"].as_f64().unwrap();
            (original, row["chunks"].as_u64().unwrap(), share)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

#[test]
fn a_copy_is_attributed_to_its_original_however_many_share_its_opening() {
    // An earlier version stored 32 originals of a label. A label of more than 256 originals is
    // attributed by the other labels of its page.
    for (originals_in_all, copied) in [(80, 50), (300, 290)] {
        let folder = tempfile::tempdir().unwrap();
        let text = |number: usize| {
            let own = (0..7).map(|at| chunk(1000 + number * 7 + at));
            std::iter::once(chunk(0))
                .chain(own)
                .collect::<Vec<_>>()
                .join("\n\n")
        };
        let mine: Vec<(String, String)> = (0..originals_in_all)
            .map(|number| (format!("http://mine.example/{number}"), text(number)))
            .collect();
        let set = originals(folder.path(), &mine);
        let pages = [
            ("http://a.example/1".to_owned(), text(copied)),
            // The opening alone does not identify an original.
            (
                "http://b.example/2".to_owned(),
                format!("{}\n\n{}", chunk(0), chunk(999_999)),
            ),
        ];
        let path = corpus(folder.path(), "pages", &pages);
        let found = run(
            &path,
            &set,
            &DetectParams::default(),
            &folder.path().join("a"),
        );
        let copy = (format!("http://mine.example/{copied}"), 8, 1.0);
        let counted: DetectSummary = found.summary().unwrap();
        assert_eq!(counted.matched, 9);
        if originals_in_all <= 256 {
            let first = ("http://mine.example/0".to_owned(), 1, 0.125);
            assert_eq!(matches(&found), [first, copy]);
            assert_eq!((counted.common_chunks, counted.common_labels), (0, 0));
        } else {
            assert_eq!(matches(&found), [copy]);
            let common = (counted.common_chunks, counted.attributed_common_chunks);
            assert_eq!((common, counted.common_labels), ((2, 1), 1));
        }
        let chunks = rows(&found, "chunks");
        let attributed = chunks.iter().filter(|row| row["original"] == json!(copied));
        assert_eq!((chunks.len(), attributed.count()), (9, 8));

        // Merging labels with nothing changes nothing.
        let merged = folder.path().join("merged.labels");
        merge(&[folder.path().join("originals.labels")], &merged).unwrap();
        let again = LabelSet::open(&merged).unwrap();
        let found_again = run(
            &path,
            &again,
            &DetectParams::default(),
            &folder.path().join("b"),
        );
        for table in ["matches", "chunks", "pages", "copied", "sites", "labels"] {
            assert_eq!(rows(&found, table), rows(&found_again, table), "{table}");
        }
    }
}

#[test]
fn questions_with_a_common_prompt_are_found_by_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = "Read the following question with care and answer it with one letter and with nothing else at all please";
    let question = |number: usize| format!("{prompt} {}", chunk(number));
    let items: Vec<(String, String)> = (0..100)
        .map(|number| (format!("q{number}"), question(number)))
        .collect();
    let items = corpus(folder.path(), "items", &items);
    let mut pages: Vec<(String, String)> = (0..50)
        .map(|number| {
            (
                format!("http://t.example/{number}"),
                format!("Before. {} After.", question(2 * number)),
            )
        })
        .collect();
    // The prompt alone is not a question.
    pages.push((
        "http://t.example/prompt".to_owned(),
        format!("{prompt} and then something else"),
    ));
    let path = corpus(folder.path(), "pages", &pages);
    let params = GramsParams {
        k: 5,
        min_share: 0.9,
    };
    let place = workplace(&folder.path().join("a"), 2, 64 << 20);
    let found = grams(&open(&[&path]), &open(&[&items]), &[], &params, &place).unwrap();
    let counted: GramsSummary = found.summary().unwrap();
    assert_eq!((counted.items, counted.short, counted.common), (100, 0, 0));
    assert_eq!(
        (counted.found, counted.listed, counted.crowded),
        (50, 50, 15)
    );
    for row in rows(&found, "items") {
        let number: usize = row["item"]
            .as_str()
            .unwrap()
            .trim_start_matches('q')
            .parse()
            .unwrap();
        // 19 words of the prompt and 20 of the question: 35 runs of five words, 15 of them from the
        // prompt.
        assert_eq!((&row["grams"], &row["common"]), (&json!(35), &json!(15)));
        let share = if number.is_multiple_of(2) { 1.0 } else { 0.0 };
        assert_eq!(
            (&row["share"], &row["most"]),
            (&json!(share), &json!(share)),
            "{row}"
        );
    }
}

#[test]
fn identical_items_are_not_crowded() {
    let folder = tempfile::tempdir().unwrap();
    let items: Vec<(String, String)> = (0..80).map(|at| (format!("q{at}"), chunk(7))).collect();
    let items = corpus(folder.path(), "items", &items);
    let pages: Vec<(String, String)> = (0..1500)
        .map(|at| (format!("http://p.example/{at}"), chunk(7)))
        .collect();
    let path = corpus(folder.path(), "pages", &pages);
    let params = GramsParams {
        k: 5,
        min_share: 0.5,
    };
    let place = workplace(&folder.path().join("a"), 2, 64 << 20);
    let found = grams(&open(&[&path]), &open(&[&items]), &[], &params, &place).unwrap();
    let table = rows(&found, "items");
    assert_eq!(table.len(), 80);
    // The number of pages of each item is exact.
    assert!(table.iter().all(|row| row["pages"] == json!(1500)));
}

#[test]
fn a_place_ends_at_the_end_of_the_item_though_its_last_words_occur_earlier() {
    let folder = tempfile::tempdir().unwrap();
    let item = "alpha beta gamma delta one two three alpha beta gamma delta";
    let items = corpus(folder.path(), "items", &[("q".to_owned(), item.to_owned())]);
    let pages = [
        (
            "http://a.example/1".to_owned(),
            format!("It was said that {item}, and so on."),
        ),
        (
            "http://a.example/2".to_owned(),
            format!("Alpha beta gamma delta! But then: {item}, and so on."),
        ),
    ];
    let path = corpus(folder.path(), "pages", &pages);
    let params = GramsParams {
        k: 4,
        min_share: 0.5,
    };
    let place = workplace(&folder.path().join("a"), 2, 64 << 20);
    let found = grams(&open(&[&path]), &open(&[&items]), &[], &params, &place).unwrap();
    let places = rows(&found, "places");
    assert_eq!(places.len(), 2);
    for row in &places {
        let text = &pages
            .iter()
            .find(|page| row["page"] == json!(page.0))
            .unwrap()
            .1;
        let at = |name: &str| row[name].as_u64().unwrap() as usize;
        assert_eq!(&text[at("begin")..at("end")], item);
        assert_eq!((&row["grams"], &row["share"]), (&json!(7), &json!(1.0)));
    }
}

#[test]
fn edited_labels_with_a_common_opening_are_distinguished_by_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let opening = "Once upon a time in a country that is far away from here there lived a king who had no children and";
    let label = |number: usize| format!("{opening} {}", chunk(number));
    let mine: Vec<(String, String)> = (0..80)
        .map(|number| (format!("http://mine.example/{number}"), label(number)))
        .collect();
    let set = originals(folder.path(), &mine);
    let mut pages: Vec<(String, String)> = (0..80)
        .map(|number| {
            let mut words: Vec<String> = label(number).split(' ').map(str::to_owned).collect();
            words[30] = "changed".to_owned();
            (format!("http://p.example/{number}"), words.join(" "))
        })
        .collect();
    pages.push((
        "http://p.example/opening".to_owned(),
        format!("{opening} {}", chunk(5000)),
    ));
    let path = corpus(folder.path(), "pages", &pages);
    let params = DetectParams {
        fuzzy: Some(0.4),
        ..DetectParams::default()
    };
    let found = run(&path, &set, &params, &folder.path().join("a"));
    let fuzzy = rows(&found, "fuzzy");
    assert_eq!(fuzzy.len(), 80);
    for row in &fuzzy {
        let number = |name: &str| {
            row[name]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned()
        };
        assert_eq!(number("page"), number("origin"));
        // 20 words of the label, and 3 of the opening that share a run with them.
        assert_eq!(row["words"], json!(23), "{row}");
        assert_eq!(row["found"], json!(22), "{row}");
    }
    let counted: DetectSummary = found.summary().unwrap();
    assert_eq!((counted.compared_labels, counted.crowded_runs), (80, 19));
}

#[test]
fn a_long_label_is_compared_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    // 60 KiB in one paragraph, of which the last third was copied with an addition.
    let words: Vec<String> = (0..8000).map(|at| format!("w{at}x")).collect();
    let set = originals(
        folder.path(),
        &[("http://mine.example/".to_owned(), words.join(" "))],
    );
    let copy = format!("{} and nothing else", words[5000..].join(" "));
    let path = corpus(
        folder.path(),
        "pages",
        &[("http://p.example/".to_owned(), copy)],
    );
    let params = DetectParams {
        fuzzy: Some(0.3),
        ..DetectParams::default()
    };
    let found = run(&path, &set, &params, &folder.path().join("a"));
    let fuzzy = rows(&found, "fuzzy");
    assert_eq!(
        (&fuzzy[0]["found"], &fuzzy[0]["words"]),
        (&json!(3000), &json!(8000))
    );
    let counted: DetectSummary = found.summary().unwrap();
    assert_eq!(counted.cut_labels, 0);
}

#[test]
fn rounding_decides_no_verdict() {
    // Every page has the same share of labels, a third or two thirds: none is above the mean.
    for labelled in [1usize, 2] {
        let folder = tempfile::tempdir().unwrap();
        let mine = [(
            "http://mine.example/".to_owned(),
            (0..labelled).map(chunk).collect::<Vec<_>>().join("\n\n"),
        )];
        let set = originals(folder.path(), &mine);
        let pages: Vec<(String, String)> = (0..7)
            .map(|at| {
                let own = (labelled..3).map(|more| chunk(100 + 10 * at + more));
                let chunks: Vec<String> = (0..labelled).map(chunk).chain(own).collect();
                (format!("http://s{at}.example/f/{at}"), chunks.join("\n\n"))
            })
            .collect();
        let path = corpus(folder.path(), "pages", &pages);
        let found = run(
            &path,
            &set,
            &DetectParams::default(),
            &folder.path().join("a"),
        );
        let counted: DetectSummary = found.summary().unwrap();
        assert_eq!(
            (counted.targets, counted.flagged),
            (0, 0),
            "{labelled} of 3"
        );
        let limits = cento_find::detect::thresholds(&found).unwrap();
        let share = labelled as f64 / 3.0;
        for limit in &limits {
            assert_eq!(
                (limit.threshold, limit.deviation),
                (share, 0.0),
                "{limit:?}"
            );
        }
        // A threshold just above this share is not exceeded; one just below it is.
        let given = |threshold: f64, name: &str| {
            let params = DetectParams {
                page_threshold: Some(threshold),
                ..DetectParams::default()
            };
            let found = run(&path, &set, &params, &folder.path().join(name));
            found.summary::<DetectSummary>().unwrap().targets
        };
        assert_eq!(
            (given(share + 1e-12, "b"), given(share - 1e-12, "c")),
            (0, 7)
        );
    }
}

#[test]
fn a_flipped_bit_in_a_table_beside_the_labels_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mine: Vec<(String, String)> = (0..40)
        .map(|at| (format!("http://mine.example/{at}"), chunk(at)))
        .collect();
    originals(folder.path(), &mine);
    let labels = folder.path().join("originals.labels");
    for beside in [table_of(&labels), originals_of(&labels)] {
        let whole = std::fs::read(&beside).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 37 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            std::fs::write(&beside, bytes).unwrap();
            let error = LabelSet::open(&labels).unwrap_err();
            assert!(error.to_string().contains("is corrupted"), "{error}");
            let error =
                stop_labels(&labels, &folder.path().join("x.labels"), |_| true).unwrap_err();
            assert!(error.to_string().contains("is corrupted"), "{error}");
        }
        std::fs::write(&beside, whole).unwrap();
        LabelSet::open(&labels).unwrap();
    }
    // Labels can be used without the tables beside them.
    std::fs::remove_file(table_of(&labels)).unwrap();
    LabelSet::open(&labels).unwrap();
}

/// §5.2 of the paper: a blog whose posts are copied to other sites. One site in six has a copy.
#[test]
fn a_blog_that_is_copied_to_every_sixth_site_is_not_boilerplate() {
    let folder = tempfile::tempdir().unwrap();
    let posts: Vec<String> = (0..12)
        .map(|post| {
            (0..5)
                .map(|at| chunk(9_000_000 + 5 * post + at))
                .collect::<Vec<_>>()
                .join("\n\n")
        })
        .collect();
    let notice = "We use cookies to make this site better for you.";
    let mut pages = Vec::new();
    for site in 0..360usize {
        for (page, post) in posts.iter().enumerate() {
            let text = match site % 6 {
                0 => post.clone(),
                _ => (0..5)
                    .map(|at| chunk(site * 1000 + page * 10 + at))
                    .collect::<Vec<_>>()
                    .join("\n\n"),
            };
            pages.push((
                format!("http://s{site}.example/{page}.html"),
                format!("{text}\n\n{notice}"),
            ));
        }
    }
    let path = corpus(folder.path(), "pages", &pages);
    let params = DiscoverParams::new(How::Threshold(5), Recipe::default(), &StopList::built_in());
    let place = workplace(&folder.path().join("d"), 2, 64 << 20);
    let found = discover(&open(&[&path]), &params, &place).unwrap();
    let counted: DiscoverSummary = found.summary().unwrap();
    // Only the notice, which is short and on every site, looks like boilerplate.
    assert_eq!((counted.labels, counted.proposed), (61, 1));
    let file = folder.path().join("blind.labels");
    write_labels(&found, &params, &file).unwrap();
    stop_labels(&file, &file, |row| row.proposed.is_some()).unwrap();
    let set = LabelSet::open(&file).unwrap();
    let found = run(
        &path,
        &set,
        &DetectParams::default(),
        &folder.path().join("a"),
    );
    let flagged: BTreeSet<String> = rows(&found, "sites")
        .iter()
        .filter(|row| row["flagged"] == json!(true))
        .map(|row| row["site"].as_str().unwrap().to_owned())
        .collect();
    let copies: BTreeSet<String> = (0..360)
        .step_by(6)
        .map(|site| format!("s{site}.example/"))
        .collect();
    assert_eq!(flagged, copies);
    let counted: DetectSummary = found.summary().unwrap();
    assert_eq!((counted.matched_pages, counted.flagged_sites), (720, 60));
    let levels: Vec<Value> = rows(&found, "levels");
    assert_eq!(levels, [json!({ "depth": 1, "neighbourhoods": 360 })]);
}

//! Every format version that was ever written can be read.

use std::path::Path;

use cento_read::{Settings, resolve};
use cento_store::{Build, Corpus, FORMAT_NEWEST, FORMAT_OLDEST, PageColumns};

/// Each sample was made by the program that introduced its version, from the same archive: two
/// pages, a 404 and a damaged record.
#[test]
fn samples_of_every_format_can_be_read() {
    for version in FORMAT_OLDEST..=FORMAT_NEWEST {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/samples/format-{version}"));
        assert!(Corpus::verify(&path).unwrap().is_empty());
        let corpus = Corpus::open(&path).unwrap();
        assert_eq!(corpus.manifest().format, version);
        let counts = corpus.manifest().counts();
        assert_eq!((counts.pages, counts.kept, counts.words), (3, 2, 19));
        assert_eq!(
            counts
                .damaged
                .values()
                .map(|tally| tally.count)
                .sum::<u64>(),
            1
        );

        assert_eq!(
            corpus.text(0).unwrap().unwrap(),
            "A garment stitched from patches.\n\nA poem made of other poets’ lines. Virgil"
        );
        assert_eq!(corpus.text(1).unwrap().unwrap(), "百家衣是用碎布拼成的。");
        assert_eq!(corpus.text(2).unwrap(), None);
        assert_eq!(
            corpus.pages_at("http://www.example.co.uk/gone").unwrap(),
            [2]
        );

        let chunks = corpus.chunks(0).unwrap();
        assert_eq!(chunks.len(), 2);
        assert_eq!(
            (chunks[1].ordinal, chunks[1].begin, chunks[1].end),
            (1, 34, 77)
        );
        let expected = blake3::hash(b"a garment stitched from patches.");
        assert_eq!(chunks[0].chunk_hash, expected.as_bytes()[..16]);

        let batches: Vec<PageColumns> = corpus.scan().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        let pages = &batches[0];
        assert_eq!(pages.page_id.values(), &[0, 1, 2]);
        let first = pages.row(0);
        assert_eq!(first.domain, Some("example.co.uk"));
        assert_eq!(first.fetched_at, Some(1_714_564_800_000));
        assert_eq!(first.link_domains.collect::<Vec<_>>(), ["other.example"]);
        assert!((0..3).all(|row| pages.revisit_of_url.is_null(row)));
        // Format 1 has no page types, and the other sample was made without main content.
        assert!((0..3).all(|row| pages.page_type.is_null(row)));
        assert_eq!(first.reject, None);
        assert_eq!(pages.row(2).reject, Some("status"));
    }
}

#[test]
fn pages_can_be_added_to_a_corpus_of_format_1() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("old.cento");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/format-1");
    copy(&sample, &corpus).unwrap();
    let page = folder.path().join("page.html");
    std::fs::write(&page, "<p>A page that is added later.").unwrap();
    let resolved = resolve(&[page.display().to_string()], &Settings::default()).unwrap();
    let parameters = Corpus::open(&corpus).unwrap().parameters().clone();
    Build::new(resolved.inputs, &corpus)
        .parameters(parameters)
        .add_to_existing(true)
        .run()
        .unwrap();

    assert!(Corpus::verify(&corpus).unwrap().is_empty());
    let corpus = Corpus::open(&corpus).unwrap();
    assert_eq!(corpus.manifest().format, FORMAT_NEWEST);
    let batches: Vec<PageColumns> = corpus.scan().map(Result::unwrap).collect();
    let rows: usize = batches
        .iter()
        .map(|pages| pages.page_id.values().len())
        .sum();
    assert_eq!(rows, 4);
    for pages in &batches {
        assert!((0..pages.page_id.values().len()).all(|row| pages.page_type.is_null(row)));
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

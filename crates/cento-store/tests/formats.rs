//! Every format version that was ever written is still read.

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMillisecondType, UInt64Type};
use cento_store::{Corpus, FORMAT_NEWEST, FORMAT_OLDEST, Table};

/// Each sample was made by the program that wrote its version, of the same archive: two pages, a
/// 404 and a damaged record.
#[test]
fn samples_of_every_format_still_read() {
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
        assert_eq!(chunks[0].hash, expected.as_bytes()[..16]);

        let columns = [
            "page_id",
            "domain",
            "fetched_at",
            "revisit_of_url",
            "link_domains",
            "reject",
        ];
        let batches: Vec<_> = corpus
            .scan(Table::Pages, &columns)
            .map(Result::unwrap)
            .collect();
        assert_eq!(batches.len(), 1);
        let batch = &batches[0];
        assert_eq!(
            batch.column(0).as_primitive::<UInt64Type>().values(),
            &[0, 1, 2]
        );
        assert_eq!(batch.column(1).as_string::<i32>().value(0), "example.co.uk");
        let fetched = batch.column(2).as_primitive::<TimestampMillisecondType>();
        assert_eq!(fetched.value(0), 1_714_564_800_000);
        assert_eq!(
            batch
                .column(4)
                .as_list::<i32>()
                .value(0)
                .as_string::<i32>()
                .value(0),
            "other.example"
        );
        assert_eq!(batch.column(3).null_count(), 3);
        let reject = batch.column(5).as_string::<i32>();
        assert!(reject.is_null(0));
        assert_eq!(reject.value(2), "status");
    }
}

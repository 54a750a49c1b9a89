//! The files of a query index.

use std::collections::BTreeMap;
use std::fs;

use cento_query::{QUERY, QueryIndex, QuerySettings, update};
use serde_json::Value;

use crate::fixture::{Fixture, TEXTS, index_resources};
use crate::forge;

struct IndexedFixture {
    fixture: Fixture,
    files: BTreeMap<String, Vec<u8>>,
    segment: String,
}

const ROOT: &str = "query/index.json";

thread_local! {
    static FIXTURE: IndexedFixture = IndexedFixture::new();
}

impl IndexedFixture {
    #[expect(clippy::unwrap_used, reason = "a target without its files cannot run")]
    fn new() -> IndexedFixture {
        let fixture = Fixture::new();
        update(&fixture.corpus, &index_resources()).unwrap();
        let files = fixture.files();
        let segment = files.keys().find(|name| name.contains("segment-"));
        IndexedFixture {
            segment: segment.unwrap().clone(),
            fixture,
            files,
        }
    }
}

/// The bytes are the root of a query index in JSON, or a segment. Their checksums are corrected.
pub fn query(bytes: &[u8]) {
    FIXTURE.with(|indexed| {
        let IndexedFixture {
            fixture,
            files,
            segment,
        } = indexed;
        fixture.restore(files);
        let root = fixture.corpus.join(ROOT);
        if bytes.starts_with(b"{") {
            let _ = fs::write(root, forge::sealed(bytes));
        } else {
            let mut bytes = bytes.to_vec();
            let _ = forge::correct_segment(&mut bytes);
            let known = files.get(ROOT).map(|root| forge::unsealed(root));
            let known = known.and_then(|root| serde_json::from_slice::<Value>(&root).ok());
            if let Some(mut json) = known
                && let Some(listed) = json.pointer_mut("/segments/0")
            {
                *listed.get_mut("bytes").unwrap_or(&mut Value::Null) = bytes.len().into();
                *listed.get_mut("blake3").unwrap_or(&mut Value::Null) =
                    blake3::hash(&bytes).to_hex().to_string().into();
                let _ = fs::write(root, forge::sealed(format!("{json:#}").as_bytes()));
            }
            let _ = fs::write(fixture.corpus.join(segment), bytes);
        }
        let _ = QueryIndex::verify(&fixture.corpus);
        if let Ok(index) = QueryIndex::open(&fixture.corpus) {
            let all = QuerySettings {
                top: 0,
                ..QuerySettings::default()
            };
            let few = QuerySettings {
                max_pages: Some(2),
                ..QuerySettings::default()
            };
            for text in TEXTS {
                for settings in [&all, &few] {
                    if let Ok(answer) = index.query(text, settings) {
                        assert!(answer.matches.len() as u64 <= answer.pages);
                    }
                }
            }
            for page in 0..TEXTS.len() as u64 {
                let _ = index.query_page(page, &few);
            }
        }
        // An index that cannot be used is built again, whatever is in its folder.
        if update(&fixture.corpus, &index_resources()).is_ok() {
            assert!(fixture.corpus.join(QUERY).is_dir());
        }
    });
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    FIXTURE.with(|indexed| {
        indexed.fixture.restore(&indexed.files);
        let file = |name: &str| indexed.files.get(name).cloned().unwrap_or_default();
        vec![
            ("root".to_owned(), forge::unsealed(&file(ROOT))),
            ("segment".to_owned(), file(&indexed.segment)),
        ]
    })
}

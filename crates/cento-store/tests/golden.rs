//! The bytes of the tables are those that earlier versions of this program wrote.
//!
//! This file has one test, because the test changes the current folder: the names of inputs are
//! stored in the tables.

use std::path::Path;

use cento_store::{Build, Corpus};

#[test]
fn tables_have_the_same_bytes_as_those_of_earlier_versions() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/golden");
    let folder = tempfile::tempdir().unwrap();
    let names = ["pages.jsonl", "pages.warc"].map(str::to_owned);
    for name in &names {
        std::fs::copy(samples.join(name), folder.path().join(name)).unwrap();
    }
    std::env::set_current_dir(folder.path()).unwrap();
    let settings = cento_read::Settings::default();
    let inputs = cento_read::resolve(&names, &settings).unwrap().inputs;
    Build::new(inputs, "x.cento")
        .settings(settings)
        .run()
        .unwrap();

    let corpus = Corpus::open(Path::new("x.cento")).unwrap();
    let part = &corpus.manifest().parts[0];
    let files = [&part.pages, part.text.as_ref().unwrap(), &part.chunks];
    assert_eq!(
        files.map(|file| file.blake3.as_str()),
        [
            "6bb86e6619c087dffc0a94ed5d49b9b073296cd73d16f3be1d59f78ee795bf8d",
            "96dbe509162062b4b183a29ad29ea0b24f9ed7c61d1cad1e4bc8acd91dc772ce",
            "70c8b42d42a6ddf8c545e5d673270f2a450a56a7069e2bf1085c2cb478871eab",
        ]
    );
}

//! The files of a corpus.

use std::collections::BTreeMap;
use std::fs;

use cento_file::Fault;
use cento_find::copies::{CopiesParams, copies};
use cento_find::overlap::{self, OverlapParams};
use cento_find::quilts::{QuiltsParams, quilts};
use cento_find::{FINDINGS, Result};
use cento_store::{
    ChunkColumns, Corpus, FileEntry, MANIFEST, Manifest, PageColumns, Projection, TextColumns,
};
use cento_text::chunk::ChunkKind;

use crate::fixture::{Fixture, named_content, no_bug, pages, workplace};
use crate::forge;

thread_local! {
    static FIXTURE: (Fixture, BTreeMap<String, Vec<u8>>) = {
        let fixture = Fixture::new();
        let files = fixture.files();
        (fixture, files)
    };
}

/// The bytes are the name of a file of a corpus, a line break, and its content. The manifest and
/// its checksums are made to match.
pub fn corpus(bytes: &[u8]) {
    let Some((name, content)) = named_content(bytes) else {
        return;
    };
    FIXTURE.with(|(fixture, files)| {
        if !files.contains_key(name) || name.ends_with(".lock") {
            return;
        }
        fixture.restore(files);
        if name == MANIFEST {
            let _ = fs::write(fixture.corpus.join(name), forge::sealed(content));
        } else {
            let known = files.get(MANIFEST).map(|bytes| forge::unsealed(bytes));
            let known = known.unwrap_or_default();
            let Ok(mut manifest) = serde_json::from_slice::<Manifest>(&known) else {
                return;
            };
            for entry in entries(&mut manifest).filter(|entry| entry.file == name) {
                let tail = content.len().saturating_sub(64 << 10);
                entry.bytes = content.len() as u64;
                entry.blake3 = blake3::hash(content).to_hex().to_string();
                entry.tail = blake3::hash(content.get(tail..).unwrap_or_default())
                    .to_hex()
                    .to_string();
            }
            let json = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
            let _ = fs::write(fixture.corpus.join(MANIFEST), forge::sealed(&json));
            let _ = fs::write(fixture.corpus.join(name), content);
        }
        read(fixture, content.len());
    });
}

fn entries(manifest: &mut Manifest) -> impl Iterator<Item = &mut FileEntry> {
    let inputs = manifest.runs.iter_mut().map(|run| &mut run.inputs);
    let parts = manifest.parts.iter_mut();
    inputs.chain(parts.flat_map(|part| {
        [
            Some(&mut part.pages),
            part.text.as_mut(),
            Some(&mut part.chunks),
        ]
        .into_iter()
        .flatten()
    }))
}

fn scan<P: Projection>(corpus: &Corpus) -> u64 {
    let batches = corpus.scan::<P>();
    batches
        .map_while(|batch| batch.ok())
        .map(|batch| batch.rows() as u64)
        .sum()
}

/// Reads all tables of the corpus, and runs one of three analyses: a choice that a fuzzer makes by
/// the length of its input.
fn read(fixture: &Fixture, choice: usize) {
    let path = &fixture.corpus;
    let _ = Corpus::verify(path);
    let Ok(corpus) = Corpus::open_partial(path) else {
        return;
    };
    let _ = corpus.listed_inputs();
    let _ = corpus.reading_settings(0);
    let counts = corpus.manifest().counts();
    assert!(scan::<PageColumns>(&corpus) <= counts.pages);
    scan::<TextColumns>(&corpus);
    scan::<ChunkColumns>(&corpus);
    for page in 0..7 {
        let _ = corpus.page(page);
        let _ = corpus.text(page);
        let _ = corpus.chunks(page);
    }
    let Some(source) = no_bug(pages(path)) else {
        return;
    };
    let workplace = workplace(path.join(FINDINGS), 1);
    let near = CopiesParams::default();
    let analyses: [&dyn Fn() -> Result<cento_find::Findings>; 3] = [
        &|| copies(&source, &near, &workplace),
        &|| {
            overlap::run(
                &source,
                &OverlapParams::new(ChunkKind::Paragraph),
                &workplace,
            )
        },
        &|| quilts(&source, &QuiltsParams::default(), &workplace),
    ];
    let analysis = analyses.get(choice % analyses.len());
    if let Some(Err(error)) = analysis.map(|analysis| analysis()) {
        assert!(error.fault() != Fault::Bug, "{error}");
    }
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    FIXTURE.with(|(_, files)| {
        let files = files.iter().filter(|(name, _)| !name.ends_with(".lock"));
        let seed = |(name, bytes): (&String, &Vec<u8>)| {
            let content = match name == MANIFEST {
                true => forge::unsealed(bytes),
                false => bytes.clone(),
            };
            let (_, short) = name.rsplit_once('/').unwrap_or(("", name));
            let folder = name.split('/').next().unwrap_or(short);
            (
                folder.to_owned(),
                [name.as_bytes(), b"\n", &content].concat(),
            )
        };
        files.map(seed).collect()
    })
}

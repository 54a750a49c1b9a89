//! Replays the inputs that a fuzzer found interesting.

use std::fs;
use std::path::Path;

#[test]
fn every_kept_input_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in cento_fuzz::TARGETS {
        let mut replayed = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            target(&fs::read(entry.unwrap().path()).unwrap());
            replayed += 1;
        }
        assert!(replayed > 0, "no inputs to replay for {name}");
    }
}

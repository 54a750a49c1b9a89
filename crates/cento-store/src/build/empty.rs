//! Why a build ended without a page.

use std::collections::BTreeMap;

use crate::manifest::{Counts, Tally};

/// Lists every cause with its number of occurrences and an example, as the end of a sentence.
pub(super) fn reason(
    counts: &Counts,
    inputs: usize,
    skipped_files: &BTreeMap<String, Tally>,
) -> String {
    let (files, them) = if inputs == 1 {
        ("file", "it")
    } else {
        ("files", "them")
    };
    let listed = |tallies: &BTreeMap<String, Tally>| -> Vec<String> {
        let causes = tallies.iter();
        causes
            .map(|(cause, tally)| format!("{} × {cause} ({})", tally.count, tally.example))
            .collect()
    };
    let mut causes = listed(&counts.damaged);
    if counts.other_records > 0 {
        let records = match counts.other_records {
            1 => "1 record that is not a page".to_owned(),
            count => format!("{count} records that are not pages"),
        };
        causes.push(records);
    }
    if causes.is_empty() {
        causes.push(format!("nothing in {them}"));
    }
    let mut text = format!(": {inputs} {files} read, {}", causes.join(", "));
    if !skipped_files.is_empty() {
        text.push_str(&format!(
            "; files skipped: {}",
            listed(skipped_files).join(", ")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_of_an_empty_corpus_is_named() {
        let tally = |count, example: &str| Tally {
            count,
            example: example.to_owned(),
        };
        let counts = Counts {
            damaged: BTreeMap::from([
                ("bad-header".to_owned(), tally(2, "a.warc")),
                ("truncated".to_owned(), tally(1, "b.warc")),
            ]),
            other_records: 3,
            ..Counts::default()
        };
        let skipped_files = BTreeMap::from([("binary".to_owned(), tally(4, "c.bin"))]);
        assert_eq!(
            reason(&counts, 2, &skipped_files),
            ": 2 files read, 2 × bad-header (a.warc), 1 × truncated (b.warc), 3 records that are \
             not pages; files skipped: 4 × binary (c.bin)"
        );
        assert_eq!(
            reason(&Counts::default(), 1, &BTreeMap::new()),
            ": 1 file read, nothing in it"
        );
    }
}

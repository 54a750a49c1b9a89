//! Which labels look like boilerplate: proposals for a person to review.

/// Texts below this many bytes are short: buttons, headings, names of months.
const SHORT: u64 = 25;
/// Files below this many bytes are short.
const SHORT_FILE: u64 = 64;
/// A chunk of at least this many bytes on many sites is not boilerplate but what the search is for.
/// A post that was copied to every sixth site (Ardi & Heidemann §5.2) is spread as evenly as
/// boilerplate.
const LONG: u64 = 100;
/// A label is spread if it is on at least this many domains, and on at least one in [`SHARE`].
const SITES: u64 = 10;
const SHARE: u64 = 10;
/// A label is a template if it is on at least this many originals, and on at least one in
/// [`ORIGINALS_SHARE`]: a site in ten languages has a template for each.
const ORIGINALS: u64 = 10;
const ORIGINALS_SHARE: u64 = 50;

/// What is known of a label.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelFacts<'a> {
    /// Its text, if it has any.
    pub(super) text: Option<&'a str>,
    /// Whether it is a file.
    pub(super) file: bool,
    /// Its length in bytes.
    pub(super) bytes: u64,
    /// Its occurrences.
    pub(super) count: u64,
    /// Its occurrences in the domain that has most of them.
    pub(super) largest: u64,
    /// The number of domains that have it.
    pub(super) sites: u64,
    /// The number of all domains.
    pub(super) all_sites: u64,
    /// The number of originals that have it, and of all originals, if there are any.
    pub(super) originals: Option<(u64, u64)>,
}

/// Returns why a label may be boilerplate, if it may.
pub(super) fn propose(facts: &LabelFacts<'_>) -> Option<String> {
    if let Some(text) = facts.text
        && !text.chars().any(char::is_alphabetic)
    {
        return Some("wordless: it has no letters".to_owned());
    }
    let short = if facts.file { SHORT_FILE } else { SHORT };
    if facts.bytes < short {
        return Some(format!("short: it has {} bytes", facts.bytes));
    }
    if let Some((originals, all)) = facts.originals {
        return (originals >= ORIGINALS && originals * ORIGINALS_SHARE >= all)
            .then(|| format!("template: it is on {originals} of {all} originals"));
    }
    if !facts.file && facts.bytes >= LONG {
        return None;
    }
    // A label with half of its occurrences in one domain belongs to that domain and deserves
    // review.
    let evenly = 2 * facts.largest <= facts.count;
    let spread = facts.sites >= SITES && facts.sites * SHARE >= facts.all_sites;
    (evenly && spread).then(|| {
        format!(
            "spread: it is on {} of {} domains, with at most half of its occurrences on one",
            facts.sites, facts.all_sites
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> LabelFacts<'_> {
        LabelFacts {
            text: Some(text),
            file: false,
            bytes: text.len() as u64,
            count: 100,
            largest: 90,
            sites: 20,
            all_sites: 100,
            originals: None,
        }
    }

    #[test]
    fn labels_are_proposed_for_the_right_reason() {
        let long = "A paragraph that is long enough to mean something.";
        let begins = |facts: &LabelFacts<'_>, reason: &str| {
            propose(facts).is_some_and(|found| found.starts_with(reason))
        };
        assert_eq!(propose(&facts(long)), None);
        assert!(begins(&facts("*** 1 2 3 --- … 2024 ¶ §§ ***"), "wordless"));
        assert!(begins(&facts("Read on"), "short"));
        // Eight Chinese characters have 24 bytes, nine are long enough.
        assert!(begins(&facts("欢迎来到我的网站"), "short"));
        assert_eq!(propose(&facts("欢迎来到我的新网站")), None);
        let even = LabelFacts {
            largest: 10,
            ..facts(long)
        };
        assert!(begins(&even, "spread"));
        let post = "A paragraph of a post that somebody has copied to every sixth site of a crawl, which is what the search is for.";
        assert_eq!(
            propose(&LabelFacts {
                largest: 1,
                ..facts(post)
            }),
            None
        );
        let few = LabelFacts {
            all_sites: 1000,
            ..even
        };
        assert_eq!(propose(&few), None);
        let template = LabelFacts {
            originals: Some((40, 100)),
            ..facts(long)
        };
        assert!(begins(&template, "template"));
        let rare = LabelFacts {
            originals: Some((40, 3000)),
            ..facts(long)
        };
        assert_eq!(propose(&rare), None);
        let file = LabelFacts {
            text: None,
            file: true,
            bytes: 30,
            ..facts("")
        };
        assert!(begins(&file, "short"));
    }
}

//! Which labels look like idioms: proposals that a person reviews.

/// Texts below this many bytes are short: a button, a heading, a name of a month.
const SHORT: u64 = 25;
/// Files below this many bytes are.
const SHORT_FILE: u64 = 64;
/// A chunk of so many bytes says something: that it is on many sites makes it no idiom, but what is
/// looked for. A post that was copied to every sixth site (Ardi & Heidemann §5.2) is spread as
/// evenly as an idiom is.
const LONG: u64 = 100;
/// What is on so many domains at least, and on one in ten of all, is spread.
const SITES: u64 = 10;
const SHARE: u64 = 10;
/// What is on so many originals at least, and on one in fifty of all, is their template: a site in
/// ten languages says it in each.
const ORIGINALS: u64 = 10;
const ORIGINALS_SHARE: u64 = 50;

/// What is known of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight<'a> {
    /// Its text, if it has any.
    pub(super) text: Option<&'a str>,
    /// Whether it is a file.
    pub(super) file: bool,
    /// Its bytes.
    pub(super) bytes: u64,
    /// How many times it occurs, and how many times in the domain that has it most.
    pub(super) count: u64,
    pub(super) largest: u64,
    /// How many domains have it, and how many there are.
    pub(super) sites: u64,
    pub(super) all_sites: u64,
    /// How many originals have it, and how many there are; where there are originals.
    pub(super) originals: Option<(u64, u64)>,
}

/// Why something may be no more than an idiom.
pub(super) fn propose(sight: &Sight<'_>) -> Option<String> {
    if let Some(text) = sight.text
        && !text.chars().any(char::is_alphabetic)
    {
        return Some("wordless: it has no letter".to_owned());
    }
    let short = if sight.file { SHORT_FILE } else { SHORT };
    if sight.bytes < short {
        return Some(format!("short: it has {} bytes", sight.bytes));
    }
    if let Some((originals, all)) = sight.originals {
        return (originals >= ORIGINALS && originals * ORIGINALS_SHARE >= all)
            .then(|| format!("template: it is on {originals} of {all} originals"));
    }
    if !sight.file && sight.bytes >= LONG {
        return None;
    }
    // Half of it in one domain is what that domain says of itself, and worth a look.
    let evenly = 2 * sight.largest <= sight.count;
    let spread = sight.sites >= SITES && sight.sites * SHARE >= sight.all_sites;
    (evenly && spread).then(|| {
        format!(
            "spread: it is on {} of {} domains, and on none of them mostly",
            sight.sites, sight.all_sites
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(text: &str) -> Sight<'_> {
        Sight {
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
    fn each_reason_is_given_where_it_holds() {
        let long = "A paragraph that is long enough to mean something.";
        let begins = |sight: &Sight<'_>, reason: &str| {
            propose(sight).is_some_and(|found| found.starts_with(reason))
        };
        assert_eq!(propose(&sight(long)), None);
        assert!(begins(&sight("*** 1 2 3 --- … 2024 ¶ §§ ***"), "wordless"));
        assert!(begins(&sight("Read on"), "short"));
        // Eight Chinese characters are as long as 24 letters, and nine are long enough.
        assert!(begins(&sight("欢迎来到我的网站"), "short"));
        assert_eq!(propose(&sight("欢迎来到我的新网站")), None);
        let even = Sight {
            largest: 10,
            ..sight(long)
        };
        assert!(begins(&even, "spread"));
        let post = "A paragraph of a post that somebody has copied to every sixth site of a crawl, which is what the search is for.";
        assert_eq!(
            propose(&Sight {
                largest: 1,
                ..sight(post)
            }),
            None
        );
        let few = Sight {
            all_sites: 1000,
            ..even
        };
        assert_eq!(propose(&few), None);
        let template = Sight {
            originals: Some((40, 100)),
            ..sight(long)
        };
        assert!(begins(&template, "template"));
        let rare = Sight {
            originals: Some((40, 3000)),
            ..sight(long)
        };
        assert_eq!(propose(&rare), None);
        let file = Sight {
            text: None,
            file: true,
            bytes: 30,
            ..sight("")
        };
        assert!(begins(&file, "short"));
    }
}

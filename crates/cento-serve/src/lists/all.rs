//! All lists of the site. This is the only place where a list is registered.

use cento_find::{copies, detect, discover, overlap, passages, phrases, quilts, reuse};

use super::listing::Listing;
use super::load::{date as rfc, each, hex, real, reals, text as words, texts, whole, wholes};
use super::spec::{ListSpec, bytes, count, date, flag, hash, id, number, page, share, text};

/// The characters of a long text that a list keeps.
const LONGEST_TEXT: usize = 400;

/// The lists, in the order of the navigation.
pub(crate) static LISTS: [ListSpec; 14] = [
    ListSpec {
        name: "quilts",
        title: "Quilts",
        about: "A row is a page of which several other pages have different parts.",
        analysis: quilts::QUILTS,
        table: quilts::QUILTS_TABLE.as_str(),
        command: ("quilts", ""),
        columns: &[
            id("page_id"),
            page("page", "page", "page_id"),
            share("patch_fraction", "patches"),
            count("sources", "sources"),
            share("foreign_share", "foreign"),
            share("attributed_share", "attributed"),
            share("originality", "original"),
            count("grams", "grams"),
            date("date", "date"),
        ],
        key: &["page_id"],
        score: "patch_fraction",
        category: None,
        date: Some("date"),
        hosts: &["page"],
        link: "quilt",
        evidence: |list, row| format!("/quilts/{}", list.id(row, "page_id")),
        load: |findings, dates, rows| {
            each(findings, quilts::QUILTS_TABLE, |row| {
                rows.push(&[
                    whole(row.page_id),
                    words(&row.page),
                    real(row.patch_fraction),
                    whole(row.sources),
                    reals(row.foreign_share),
                    real(row.attributed_share),
                    real(row.originality),
                    whole(row.grams),
                    dates.of_page(row.page_id),
                ])
            })
        },
    },
    ListSpec {
        name: "classes",
        title: "Copy classes",
        about: "A row is a page that has duplicates, or whose payload revisits and rejected pages repeat: \
                the one that is kept of its class.",
        analysis: copies::COPIES,
        table: copies::CLASSES.as_str(),
        command: ("copies", ""),
        columns: &[
            id("kept_id"),
            page("kept", "kept page", "kept_id"),
            count("pages", "pages"),
            count("exact", "exact"),
            count("records", "records without text"),
            count("hosts", "hosts"),
            bytes("saved_bytes", "bytes of the removed"),
            date("date", "date"),
        ],
        key: &["kept_id"],
        score: "pages",
        category: None,
        date: Some("date"),
        hosts: &["kept"],
        link: "class",
        evidence: |list, row| format!("/classes/{}", list.id(row, "kept_id")),
        load: |findings, dates, rows| {
            each(findings, copies::CLASSES, |row| {
                rows.push(&[
                    whole(row.kept_id),
                    words(&row.kept),
                    whole(row.pages),
                    whole(row.exact),
                    whole(row.records),
                    whole(row.hosts),
                    whole(row.saved_bytes),
                    dates.of_page(row.kept_id),
                ])
            })
        },
    },
    ListSpec {
        name: "duplicates",
        title: "Duplicates",
        about: "A row is a page that is a duplicate or near-duplicate of a kept page, or a revisit or \
                rejected page that repeats its payload.",
        analysis: copies::COPIES,
        table: copies::PAIRS.as_str(),
        command: ("copies", ""),
        columns: &[
            id("page_id"),
            page("page", "removed page", "page_id"),
            id("of_id"),
            page("of", "kept page", "of_id"),
            text("kind", "agree by"),
            share("resemblance", "resemblance"),
            text("cause", "cause"),
            text("earlier", "earlier by date"),
            text("rejected", "rejected"),
            date("page_date", "date"),
        ],
        key: &["page_id"],
        score: "resemblance",
        category: Some("kind"),
        date: Some("page_date"),
        hosts: &["page", "of"],
        link: "compare",
        evidence: |list, row| pair(list, row, "page_id", "of_id"),
        load: |findings, _, rows| {
            each(findings, copies::PAIRS, |row| {
                let earlier = match row.earlier.as_str() {
                    "page" => "removed page",
                    "of" => "kept page",
                    same => same,
                };
                rows.push(&[
                    whole(row.page_id),
                    words(&row.page),
                    whole(row.of_id),
                    words(&row.of),
                    words(&row.kind),
                    reals(row.resemblance),
                    words(&row.cause),
                    words(earlier),
                    texts(&row.rejected),
                    rfc(&row.page_date),
                ])
            })
        },
    },
    ListSpec {
        name: "reuse",
        title: "Reuse pairs",
        about: "A row is a pair of pages that share text, with its category of Seo and Croft.",
        analysis: reuse::ANALYSIS,
        table: reuse::PAIRS.as_str(),
        command: ("reuse", ""),
        columns: &[
            id("page_id"),
            page("page", "page", "page_id"),
            id("of_id"),
            page("of", "other page", "of_id"),
            text("category", "category"),
            text("style", "style"),
            share("page_containment", "of the page"),
            share("of_containment", "of the other"),
            count("shared", "shared"),
            date("date", "date"),
        ],
        key: &["page_id", "of_id"],
        score: "page_containment",
        category: Some("category"),
        date: Some("date"),
        hosts: &["page", "of"],
        link: "compare",
        evidence: |list, row| pair(list, row, "page_id", "of_id"),
        load: |findings, dates, rows| {
            each(findings, reuse::PAIRS, |row| {
                rows.push(&[
                    whole(row.page_id),
                    words(&row.page),
                    whole(row.of_id),
                    words(&row.of),
                    words(&row.category),
                    words(&row.style),
                    real(row.page_containment),
                    real(row.of_containment),
                    whole(row.shared),
                    dates.of_page(row.page_id),
                ])
            })
        },
    },
    ListSpec {
        name: "passages",
        title: "Passages",
        about: "A row is a passage that two pages share. The first page is the later one by date, \
                if dates decide.",
        analysis: passages::ANALYSIS,
        table: passages::PASSAGES_TABLE.as_str(),
        command: ("passages", ""),
        columns: &[
            id("a_id"),
            page("a", "page", "a_id"),
            id("b_id"),
            page("b", "other page", "b_id"),
            count("words", "words"),
            share("a_in_b", "in the other"),
            share("b_in_a", "of the other"),
            text("kind", "kind"),
            text("earlier", "earlier by date"),
            flag("attributed", "links to the other"),
            date("a_date", "date"),
            id("a_begin"),
            id("b_begin"),
        ],
        key: &["a_id", "b_id", "a_begin", "b_begin"],
        score: "a_in_b",
        category: Some("kind"),
        date: Some("a_date"),
        hosts: &["a", "b"],
        link: "compare",
        evidence: |list, row| pair(list, row, "a_id", "b_id"),
        load: |findings, _, rows| {
            each(findings, passages::PASSAGES_TABLE, |row| {
                let earlier = match row.earlier.as_str() {
                    "a" => "page",
                    "b" => "other",
                    same => same,
                };
                rows.push(&[
                    whole(row.a_id),
                    words(&row.a),
                    whole(row.b_id),
                    words(&row.b),
                    whole(row.words),
                    real(row.a_in_b),
                    real(row.b_in_a),
                    words(&row.kind),
                    words(earlier),
                    wholes(row.attributed),
                    rfc(&row.a_date),
                    whole(row.a_begin),
                    whole(row.b_begin),
                ])
            })
        },
    },
    ListSpec {
        name: "clusters",
        title: "Travelling passages",
        about: "A row is a passage that is on three or more pages.",
        analysis: passages::CLUSTER_ANALYSIS,
        table: passages::CLUSTERS_TABLE.as_str(),
        command: ("passages", " --clusters"),
        columns: &[
            count("cluster", "number"),
            text("text", "how it begins"),
            count("pages", "pages"),
            count("sites", "domains"),
            count("words", "words"),
            share("identical", "identical"),
            id("first_id"),
            page("first", "page of the earliest date", "first_id"),
            flag("first_decided", "dates decide"),
            date("first_date", "earliest date"),
            text("first_dated_by", "date of"),
            date("last_date", "latest date"),
        ],
        key: &["cluster"],
        score: "pages",
        category: None,
        date: Some("first_date"),
        hosts: &["first"],
        link: "time line",
        evidence: |list, row| format!("/passages/{}", list.id(row, "cluster")),
        load: |findings, _, rows| {
            each(findings, passages::CLUSTERS_TABLE, |row| {
                rows.push(&[
                    whole(row.cluster),
                    words(start(&row.text)),
                    whole(row.pages),
                    whole(row.sites),
                    whole(row.words),
                    real(row.identical),
                    whole(row.first_id),
                    words(&row.first),
                    wholes(Some(row.first_decided)),
                    rfc(&row.first_date),
                    words(row.first_dated_by.as_deref().unwrap_or_default()),
                    rfc(&row.last_date),
                ])
            })
        },
    },
    ListSpec {
        name: "overlap",
        title: "Overlapping pages",
        about: "A row is a pair of pages that share chunks.",
        analysis: overlap::ANALYSIS,
        table: overlap::PAIRS.as_str(),
        command: ("overlap", ""),
        columns: &[
            id("page_id"),
            page("page", "page", "page_id"),
            id("of_id"),
            page("of", "other page", "of_id"),
            count("chunks", "shared chunks"),
            share("page_share", "of the page"),
            share("of_share", "of the other"),
            date("date", "date"),
        ],
        key: &["page_id", "of_id"],
        score: "page_share",
        category: None,
        date: Some("date"),
        hosts: &["page", "of"],
        link: "compare",
        evidence: |list, row| pair(list, row, "page_id", "of_id"),
        load: |findings, dates, rows| {
            each(findings, overlap::PAIRS, |row| {
                rows.push(&[
                    whole(row.page_id),
                    words(&row.page),
                    whole(row.of_id),
                    words(&row.of),
                    whole(row.chunks),
                    real(row.page_share),
                    real(row.of_share),
                    dates.of_page(row.page_id),
                ])
            })
        },
    },
    ListSpec {
        name: "servers",
        title: "Overlapping servers",
        about: "A row is a pair of servers that share chunks.",
        analysis: overlap::SERVER_ANALYSIS,
        table: overlap::SERVERS.as_str(),
        command: ("overlap", " --servers"),
        columns: &[
            text("server", "server"),
            text("of", "other server"),
            count("chunks", "shared chunks"),
            share("server_share", "of the server"),
            share("of_share", "of the other"),
            count("server_pages", "pages of the server"),
            count("of_pages", "pages of the other"),
        ],
        key: &["server", "of"],
        score: "server_share",
        category: None,
        date: None,
        hosts: &["server", "of"],
        link: "pairs of pages",
        evidence: |list, row| {
            let (server, of) = (list.words(row, "server"), list.words(row, "of"));
            address("/lists/overlap", &[("host", server), ("other", of)])
        },
        load: |findings, _, rows| {
            each(findings, overlap::SERVERS, |row| {
                rows.push(&[
                    words(&row.server),
                    words(&row.of),
                    whole(row.chunks),
                    real(row.server_share),
                    real(row.of_share),
                    whole(row.server_pages),
                    whole(row.of_pages),
                ])
            })
        },
    },
    ListSpec {
        name: "neighbourhoods",
        title: "Neighbourhoods",
        about: "A row is a host or a folder with labelled chunks, and all pages below it.",
        analysis: detect::DETECT,
        table: detect::NEIGHBOURHOODS_TABLE.as_str(),
        command: ("detect", " --labels NAME.labels"),
        columns: &[
            text("site", "prefix"),
            count("depth", "level"),
            count("pages", "pages"),
            count("chunks", "chunks"),
            count("matched", "labels"),
            share("mean", "mean of its pages"),
            share("ratio", "share of its chunks"),
            flag("flagged", "flagged"),
        ],
        key: &["site"],
        score: "mean",
        category: None,
        date: None,
        hosts: &["site"],
        link: "tree",
        evidence: |list, row| address("/neighbourhoods", &[("at", list.words(row, "site"))]),
        load: |findings, _, rows| {
            each(findings, detect::NEIGHBOURHOODS_TABLE, |row| {
                rows.push(&[
                    words(&row.site),
                    whole(row.depth),
                    whole(row.pages),
                    whole(row.chunks),
                    whole(row.matched),
                    real(row.mean),
                    real(row.ratio),
                    whole(row.flagged),
                ])
            })
        },
    },
    ListSpec {
        name: "detected",
        title: "Pages with labels",
        about: "A row is a page with chunks that are labels.",
        analysis: detect::DETECT,
        table: detect::PAGES_TABLE.as_str(),
        command: ("detect", " --labels NAME.labels"),
        columns: &[
            id("page_id"),
            page("page", "page", "page_id"),
            share("contains", "contains"),
            count("matched", "labels"),
            count("stopped", "stop chunks"),
            count("chunks", "chunks"),
            flag("target", "above the threshold"),
            date("date", "date"),
        ],
        key: &["page_id"],
        score: "contains",
        category: None,
        date: Some("date"),
        hosts: &["page"],
        link: "page",
        evidence: |list, row| format!("/pages/{}?labels=1", list.id(row, "page_id")),
        load: |findings, dates, rows| {
            each(findings, detect::PAGES_TABLE, |row| {
                rows.push(&[
                    whole(row.page_id),
                    words(&row.page),
                    real(row.contains),
                    whole(row.matched),
                    whole(row.stopped),
                    whole(row.chunks),
                    whole(row.target),
                    dates.of_page(row.page_id),
                ])
            })
        },
    },
    ListSpec {
        name: "phrases",
        title: "Phrases",
        about: "A row is a popular phrase.",
        analysis: phrases::PHRASES,
        table: phrases::PHRASES_TABLE.as_str(),
        command: ("phrases", ""),
        columns: &[
            text("phrase", "phrase"),
            count("pages", "pages"),
            count("sites", "sites"),
            id("page_id"),
            page("page", "first page in the corpus", "page_id"),
            hash("hash"),
        ],
        key: &["hash"],
        score: "pages",
        category: None,
        date: None,
        hosts: &["page"],
        link: "in context",
        evidence: |list, row| {
            let page = format!("/pages/{}", list.id(row, "page_id"));
            address(&page, &[("phrase", list.words(row, "phrase"))])
        },
        load: |findings, _, rows| {
            each(findings, phrases::PHRASES_TABLE, |row| {
                rows.push(&[
                    words(&row.phrase),
                    whole(row.pages),
                    whole(row.sites),
                    whole(row.page_id),
                    words(&row.page),
                    words(&format!("{:016x}", row.hash)),
                ])
            })
        },
    },
    ListSpec {
        name: "sites",
        title: "Sites",
        about: "A row is a site with the popular phrases of its pages.",
        analysis: phrases::PHRASES,
        table: phrases::SITES_TABLE.as_str(),
        command: ("phrases", ""),
        columns: &[
            text("site", "site"),
            count("pages", "pages"),
            number("mean", "popular shingles a page"),
            number("deviation", "deviation"),
            share("originality", "original"),
            flag("flagged", "flagged"),
        ],
        key: &["site"],
        score: "mean",
        category: None,
        date: None,
        hosts: &["site"],
        link: "its pages",
        evidence: |list, row| {
            let site = format!("={}", list.words(row, "site"));
            address("/lists/popular", &[("host", &site)])
        },
        load: |findings, _, rows| {
            each(findings, phrases::SITES_TABLE, |row| {
                rows.push(&[
                    words(&row.site),
                    whole(row.pages),
                    real(row.mean),
                    real(row.deviation),
                    reals(row.originality),
                    whole(row.flagged),
                ])
            })
        },
    },
    ListSpec {
        name: "popular",
        title: "Pages with phrases",
        about: "A row is a page, with the popular shingles among its sample of 84.",
        analysis: phrases::PHRASES,
        table: phrases::PAGES_TABLE.as_str(),
        command: ("phrases", ""),
        columns: &[
            id("page_id"),
            page("page", "page", "page_id"),
            text("site", "site"),
            count("popular", "popular shingles"),
            count("shingles", "shingles"),
            share("originality", "original"),
            count("cover", "covering pages"),
            date("date", "date"),
        ],
        key: &["page_id"],
        score: "popular",
        category: None,
        date: Some("date"),
        hosts: &["site"],
        link: "page",
        evidence: |list, row| format!("/pages/{}", list.id(row, "page_id")),
        load: |findings, dates, rows| {
            each(findings, phrases::PAGES_TABLE, |row| {
                rows.push(&[
                    whole(row.page_id),
                    words(&row.page),
                    texts(&row.site),
                    whole(row.popular),
                    whole(row.shingles),
                    reals(row.originality),
                    wholes(row.cover),
                    dates.of_page(row.page_id),
                ])
            })
        },
    },
    ListSpec {
        name: "labels",
        title: "Labels",
        about: "A row is a chunk or file that `cento discover` labelled.",
        analysis: discover::DISCOVER,
        table: discover::LABELS_TABLE.as_str(),
        command: ("discover", " -o NAME.labels"),
        columns: &[
            hash("hash"),
            text("text", "text"),
            count("count", "occurrences"),
            count("pages", "pages"),
            count("sites", "domains"),
            bytes("bytes", "bytes"),
            text("proposed", "proposed as a stop"),
            id("page_id"),
            page("page", "first page", "page_id"),
        ],
        key: &["hash"],
        score: "count",
        category: Some("proposed"),
        date: None,
        hosts: &["page"],
        link: "in context",
        evidence: |list, row| {
            let page = format!("/pages/{}", list.id(row, "page_id"));
            address(&page, &[("chunk", list.words(row, "hash"))])
        },
        load: |findings, _, rows| {
            each(findings, discover::LABELS_TABLE, |row| {
                let text = row.text.as_deref().map(|text| start(text).to_owned());
                rows.push(&[
                    words(&hex(&row.hash)),
                    texts(&text),
                    whole(row.count),
                    whole(row.pages),
                    wholes(row.sites),
                    whole(row.bytes),
                    texts(&row.proposed),
                    whole(row.page_id),
                    words(&row.page),
                ])
            })
        },
    },
];

/// The beginning of a long text.
fn start(text: &str) -> &str {
    let end = text.char_indices().nth(LONGEST_TEXT);
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

fn pair(list: &Listing, row: u32, a: &str, b: &str) -> String {
    format!("/pair?a={}&b={}", list.id(row, a), list.id(row, b))
}

/// An address within the site, with encoded values.
pub(crate) fn address(path: &str, values: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(values);
    format!("{path}?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_only_columns_that_it_has() {
        for (at, list) in LISTS.iter().enumerate() {
            let named = list.key.iter().chain(list.hosts).chain([&list.score]);
            for name in named.chain(list.category.iter()).chain(list.date.iter()) {
                assert!(list.column(name).is_some(), "{}: {name}", list.name);
            }
            for column in list.columns {
                if let super::super::spec::Show::Page(id) = column.show {
                    assert!(list.column(id).is_some(), "{}: {id}", list.name);
                }
            }
            assert!(LISTS[..at].iter().all(|other| other.name != list.name));
        }
    }
}

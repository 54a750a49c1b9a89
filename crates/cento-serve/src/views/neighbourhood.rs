//! The neighbourhood view: hosts and folders as a tree, with the share of labels at each level.

use cento_report::escape;
use cento_report::format::{counted, number, percent};
use serde_json::{Value, json};

use crate::error::Refusal;
use crate::lists::{ListValue, Listing, address};
use crate::respond::SitePage;
use crate::state::SiteState;

/// Nodes of a tree that are shown, children of one node, and levels below the chosen one.
const NODES: usize = 1_500;
const CHILDREN: usize = 100;
const LEVELS: u64 = 4;

/// A host or folder.
struct PrefixNode {
    row: u32,
    children: Vec<PrefixNode>,
    /// The number of children that are not shown.
    more: usize,
}

/// The neighbourhoods below a prefix, or all hosts.
pub(crate) struct NeighbourhoodTree {
    at: String,
    nodes: Vec<PrefixNode>,
    more: usize,
}

impl NeighbourhoodTree {
    pub(crate) fn of(state: &SiteState, at: &str) -> Result<NeighbourhoodTree, Refusal> {
        let list = list(state)?;
        let mut left = NODES;
        if at.is_empty() {
            let (nodes, more) = children(list, "", 1, &mut left);
            return Ok(NeighbourhoodTree {
                at: String::new(),
                nodes,
                more,
            });
        }
        let missing = || {
            Refusal::missing(format!(
                "{at} has no labels, or no pages: it is not among the neighbourhoods."
            ))
        };
        let row = rows_below(list, at).find(|&row| list.words(row, "site") == at);
        let row = row.ok_or_else(missing)?;
        let (below, more) = children(list, at, list.id(row, "depth") + 1, &mut left);
        Ok(NeighbourhoodTree {
            at: at.to_owned(),
            nodes: vec![PrefixNode {
                row,
                children: below,
                more,
            }],
            more: 0,
        })
    }

    pub(crate) fn render(&self, state: &SiteState) -> Result<SitePage, Refusal> {
        let list = list(state)?;
        let mut body = String::from(
            "<h1>Neighbourhoods</h1>\n<p>Hosts and folders with labelled chunks. The first number is the mean share of labels \
             of the pages below it, the second the share of labels among all chunks below it. \
             <em>Flagged</em>: one of the two is above its threshold.</p>\n",
        );
        if !self.at.is_empty() {
            body.push_str("<p class=\"path\"><a href=\"/neighbourhoods\">All hosts</a>");
            for (end, _) in self.at.match_indices('/') {
                let prefix = self.at.get(..=end).unwrap_or_default();
                if prefix != self.at {
                    body.push_str(&format!(
                        " › <a href=\"{}\"><bdi>{}</bdi></a>",
                        escape(&address("/neighbourhoods", &[("at", prefix)])),
                        escape(prefix)
                    ));
                }
            }
            body.push_str("</p>\n");
        }
        body.push_str("<ul class=\"tree\">\n");
        for node in &self.nodes {
            write_node(&mut body, list, node, true);
        }
        body.push_str("</ul>\n");
        if self.more > 0 {
            body.push_str(&format!(
                "<p class=\"muted\">and {} more hosts: <a href=\"/lists/neighbourhoods\">see the list</a></p>\n",
                number(self.more as u64)
            ));
        }
        Ok(SitePage {
            title: "Neighbourhoods".to_owned(),
            body,
            module: None,
            entry: "lists",
        })
    }

    pub(crate) fn json(&self, state: &SiteState) -> Result<Value, Refusal> {
        let list = list(state)?;
        let nodes = self.nodes.iter().map(|node| node_json(list, node));
        Ok(json!({ "at": self.at, "nodes": nodes.collect::<Vec<_>>(), "more": self.more }))
    }
}

fn list(state: &SiteState) -> Result<&Listing, Refusal> {
    state.lists.loaded("neighbourhoods").ok_or_else(|| {
        Refusal::missing(format!(
            "There are no neighbourhoods yet. This command finds them: cento detect {} --labels NAME.labels",
            state.corpus
        ))
    })
}

/// The rows whose prefix begins with this one, in the order of prefixes.
fn rows_below<'a>(list: &'a Listing, prefix: &'a str) -> impl Iterator<Item = u32> + 'a {
    let column = list.spec.column("site").unwrap_or(0);
    let site = move |position: usize| {
        let row = list.columns.order(column)?.at(position, false)?;
        match list.columns.value(row, column) {
            ListValue::Text(text) => Some((row, text)),
            _ => None,
        }
    };
    // Binary search for the first prefix that is not less.
    let (mut low, mut high) = (0, list.columns.rows());
    while low < high {
        let middle = low + (high - low) / 2;
        match site(middle).is_some_and(|(_, text)| text < prefix) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    (low..list.columns.rows())
        .map_while(site)
        .take_while(move |(_, text)| text.starts_with(prefix))
        .map(|(row, _)| row)
}

/// The neighbourhoods at one level below a prefix, the worst first.
fn children(
    list: &Listing,
    prefix: &str,
    depth: u64,
    left: &mut usize,
) -> (Vec<PrefixNode>, usize) {
    let level = rows_below(list, prefix).filter(|&row| list.id(row, "depth") == depth);
    let mut rows: Vec<u32> = level.collect();
    let mean = |row: u32| match list.value(row, "mean") {
        ListValue::Real(mean) => mean,
        _ => 0.0,
    };
    rows.sort_by(|&one, &other| mean(other).total_cmp(&mean(one)).then(one.cmp(&other)));
    let shown = rows.len().min(CHILDREN).min(*left);
    *left -= shown;
    let more = rows.len() - shown;
    let nodes = rows.into_iter().take(shown).map(|row| {
        let below = list.words(row, "site").to_owned();
        let (children, more) = match depth % LEVELS {
            // The tree below is a page of its own.
            0 => (Vec::new(), 0),
            _ => children(list, &below, depth + 1, left),
        };
        PrefixNode {
            row,
            children,
            more,
        }
    });
    (nodes.collect(), more)
}

fn write_node(out: &mut String, list: &Listing, node: &PrefixNode, open: bool) {
    let row = node.row;
    let prefix = list.words(row, "site");
    let share = |name: &str| match list.value(row, name) {
        // A number and its sign stay on one line.
        ListValue::Real(share) => percent(share).replace(' ', "\u{a0}"),
        _ => "–".to_owned(),
    };
    let flagged = list.id(row, "flagged") == 1;
    let summary = format!(
        "<a href=\"{}\"><bdi>{}</bdi></a> <b>{}</b> <span class=\"muted\">{}, {}, {} of {} chunks</span>{}",
        escape(&address("/neighbourhoods", &[("at", prefix)])),
        escape(prefix),
        share("mean"),
        share("ratio"),
        counted(list.id(row, "pages"), "page", "pages"),
        number(list.id(row, "matched")),
        number(list.id(row, "chunks")),
        if flagged { " <em>flagged</em>" } else { "" },
    );
    if node.children.is_empty() && node.more == 0 {
        out.push_str(&format!("<li class=\"leaf\">{summary}</li>\n"));
        return;
    }
    let open = if open { " open=\"\"" } else { "" };
    out.push_str(&format!(
        "<li><details{open}><summary>{summary}</summary>\n<ul class=\"tree\">\n"
    ));
    for child in &node.children {
        write_node(out, list, child, false);
    }
    if node.more > 0 {
        out.push_str(&format!(
            "<li class=\"leaf muted\">and {} more</li>\n",
            number(node.more as u64)
        ));
    }
    out.push_str("</ul></details></li>\n");
}

fn node_json(list: &Listing, node: &PrefixNode) -> Value {
    let mut value = Value::Object(list.json(node.row));
    let children = node.children.iter().map(|child| node_json(list, child));
    value["children"] = children.collect();
    value["more"] = node.more.into();
    value
}

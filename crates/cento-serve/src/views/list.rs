//! The view of a list: filters, a table of one page of rows, and links to the others.

use cento_report::format::{counted, number};
use cento_report::{ReportTable, TableHead, escape};

use crate::lists::{ListPage, ListQuery, ListSpec, ListState, Listing, day};
use crate::respond::SitePage;
use crate::state::SiteState;

/// Categories that the filter offers.
const CATEGORIES: usize = 50;

/// Renders one page of a list.
pub(crate) fn list_page(state: &SiteState, list: &Listing, query: &ListQuery) -> SitePage {
    let spec = list.spec;
    let page = list.page(query);
    let mut body = format!(
        "<h1>{}</h1>\n<p>{}</p>\n",
        escape(spec.title),
        escape(spec.about)
    );
    filters(&mut body, list, query);
    counts(&mut body, list, query, &page);
    if !page.rows.is_empty() {
        let visible: Vec<usize> = list.visible().collect();
        let names = visible.iter().filter_map(|&at| spec.columns.get(at));
        let names = names.map(|column| column.label.to_owned());
        let table = ReportTable {
            title: String::new(),
            columns: std::iter::once("evidence".to_owned())
                .chain(names)
                .collect(),
            rows: page.rows.iter().map(|&row| list.cells(row)).collect(),
            more: 0,
            ..ReportTable::default()
        };
        // The first column leads to the order of the table itself.
        let mut heads = vec![TableHead {
            target: target(
                spec,
                &ListQuery {
                    sort: None,
                    ..query.clone()
                },
                1,
            ),
            sorted: None,
        }];
        heads.extend(visible.iter().map(|&column| {
            let (sorted, descending) = match query.sort {
                Some((by, descending)) if by == column => (true, descending),
                _ => (false, false),
            };
            let text = spec
                .columns
                .get(column)
                .is_some_and(|column| column.storage == crate::lists::ColumnStorage::Text);
            // Numbers are interesting from above, names from below.
            let next = if sorted { !descending } else { !text };
            TableHead {
                target: target(spec, &query.sorted_by(column, next), 1),
                sorted: sorted.then_some(if descending {
                    "descending"
                } else {
                    "ascending"
                }),
            }
        }));
        body.push_str(&table.rows_html(&heads, &state.root));
    }
    pager(&mut body, list, query, &page);
    let query_string = query.address(spec, 1);
    body.push_str(&format!(
        "<form class=\"sample\" method=\"post\" action=\"/judge?{0}\">\n\
         <input type=\"hidden\" name=\"list\" value=\"{1}\" />\n\
         <label>Judge a random sample of <input name=\"size\" type=\"number\" min=\"1\" max=\"1000\" value=\"50\" required=\"\" /> rows</label>\n\
         <label>seed <input name=\"seed\" type=\"number\" min=\"0\" value=\"1\" required=\"\" /></label>\n\
         <button>Start a session</button></form>\n\
         <p class=\"muted\">The same list for programs: <a href=\"/api/lists/{1}?{0}\">JSON</a>, \
         <a href=\"/api/lists/{1}/rows?{0}\">all rows as JSON Lines</a>. \
         Command: <code>{2}</code></p>\n",
        escape(&query_string),
        escape(spec.name),
        escape(&command(state, list)),
    ));
    SitePage {
        title: spec.title.to_owned(),
        body,
        module: None,
        entry: "lists",
    }
}

/// The command that made the findings of a list.
fn command(state: &SiteState, list: &Listing) -> String {
    match cento_scan::analysis(list.spec.analysis) {
        Some(analysis) => cento_scan::recorded_command(analysis, &state.corpus, &list.findings),
        None => list.spec.command_for(&state.corpus),
    }
}

fn target(spec: &ListSpec, query: &ListQuery, page: usize) -> String {
    format!("/lists/{}?{}", spec.name, query.address(spec, page))
}

fn filters(out: &mut String, list: &Listing, query: &ListQuery) {
    let spec = list.spec;
    out.push_str(&format!(
        "<form class=\"filters\" method=\"get\" action=\"/lists/{}\">\n",
        spec.name
    ));
    let text = |value: &Option<String>| escape(value.as_deref().unwrap_or_default());
    let shown = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    out.push_str(&format!(
        "<label>host <input name=\"host\" value=\"{}\" placeholder=\"example.com\" title=\"A host with its subdomains; =host for the host alone\" /></label>\n",
        text(&query.host)
    ));
    if spec.hosts.len() > 1 {
        out.push_str(&format!(
            "<label>and host <input name=\"other\" value=\"{}\" /></label>\n",
            text(&query.other)
        ));
    }
    let score = spec.column(spec.score).and_then(|at| spec.columns.get(at));
    let label = score.map_or(spec.score, |column| column.label);
    let share = score.is_some_and(|column| column.show == crate::lists::Show::Share);
    let unit = if share { ", from 0 to 1" } else { "" };
    for (name, word, value) in [
        ("min", "at least", query.min),
        ("max", "at most", query.max),
    ] {
        out.push_str(&format!(
            "<label>{}{unit}, {word} <input name=\"{name}\" inputmode=\"decimal\" value=\"{}\" /></label>\n",
            escape(label),
            shown(value)
        ));
    }
    if spec.category.is_some() {
        let mut names = list.categories(CATEGORIES);
        if let Some(chosen) = &query.category
            && !names.contains(chosen)
        {
            names.push(chosen.clone());
        }
        let label = spec.category.and_then(|name| spec.column(name));
        let label = label.and_then(|at| spec.columns.get(at));
        out.push_str(&format!(
            "<label>{} <select name=\"category\"><option value=\"\">any</option>",
            escape(label.map_or("category", |column| column.label))
        ));
        for name in &names {
            let selected = match query.category.as_ref() == Some(name) {
                true => " selected=\"\"",
                false => "",
            };
            let name = escape(name);
            out.push_str(&format!(
                "<option value=\"{name}\"{selected}>{name}</option>"
            ));
        }
        out.push_str("</select></label>\n");
    }
    if spec.date.is_some() {
        let day = |millis: Option<i64>| millis.map_or(String::new(), day);
        for (name, word, value) in [("from", "from", query.from), ("to", "until", query.to)] {
            out.push_str(&format!(
                "<label>{word} <input type=\"date\" name=\"{name}\" value=\"{}\" /></label>\n",
                day(value)
            ));
        }
    }
    if let Some((column, descending)) = query.sort
        && let Some(column) = spec.columns.get(column)
    {
        let order = if descending {
            "descending"
        } else {
            "ascending"
        };
        out.push_str(&format!(
            "<input type=\"hidden\" name=\"sort\" value=\"{}\" /><input type=\"hidden\" name=\"order\" value=\"{order}\" />",
            column.name
        ));
    }
    out.push_str(&format!(
        "<button>Filter</button> <a href=\"/lists/{}\">Clear</a>\n</form>\n",
        spec.name
    ));
}

fn counts(out: &mut String, list: &Listing, query: &ListQuery, page: &ListPage) {
    let all = list.columns.rows() as u64;
    let matching = page.matching as u64;
    let text = match (all, query.is_filtered()) {
        (0, _) => "The findings of this list are empty.".to_owned(),
        (_, true) => format!(
            "{} of {} {} the filters.",
            number(matching),
            counted(all, "row", "rows"),
            if matching == 1 { "passes" } else { "pass" }
        ),
        (_, false) => format!("{}.", counted(all, "row", "rows")),
    };
    out.push_str(&format!("<p class=\"counts\" role=\"status\">{text}</p>\n"));
}

fn pager(out: &mut String, list: &Listing, query: &ListQuery, page: &ListPage) {
    let pages = page.matching.div_ceil(query.size).max(1);
    if page.rows.is_empty() && page.matching > 0 {
        out.push_str(&format!(
            "<p>There {} only {}.</p>\n",
            if pages == 1 { "is" } else { "are" },
            counted(pages as u64, "page", "pages")
        ));
    }
    if pages == 1 && query.page == 1 {
        return;
    }
    out.push_str("<nav class=\"pager\" aria-label=\"Pages\"><ul>\n");
    let mut entry = |number: usize, label: &str, rel: &str| {
        out.push_str(&format!(
            "<li><a href=\"{}\"{rel}>{label}</a></li>\n",
            escape(&target(list.spec, query, number))
        ));
    };
    if query.page > 1 {
        entry(1, "First", "");
        entry(query.page.min(pages + 1) - 1, "Previous", " rel=\"prev\"");
    }
    if query.page < pages {
        entry(query.page + 1, "Next", " rel=\"next\"");
        entry(pages, "Last", "");
    }
    out.push_str(&format!(
        "</ul><p class=\"muted\">Page {} of {}</p></nav>\n",
        number(query.page as u64),
        number(pages as u64)
    ));
}

/// Renders the page that names all lists.
pub(crate) fn lists_page(state: &SiteState) -> SitePage {
    let mut body = String::from("<h1>Lists</h1>\n<ul class=\"lists\">\n");
    for (spec, list) in state.lists.iter() {
        body.push_str(&match list {
            ListState::Loaded(list) => format!(
                "<li><a href=\"/lists/{}\">{}</a> <b>{}</b><br /><span class=\"muted\">{}</span></li>\n",
                spec.name,
                escape(spec.title),
                number(list.columns.rows() as u64),
                escape(spec.about)
            ),
            state_of => format!(
                "<li>{}<br /><span class=\"muted\">{}</span></li>\n",
                escape(spec.title),
                escape(&no_list(state, spec, state_of))
            ),
        });
    }
    body.push_str("</ul>\n");
    SitePage {
        title: "Lists".to_owned(),
        body,
        module: None,
        entry: "lists",
    }
}

/// Says why a list is not loaded.
pub(crate) fn no_list(state: &SiteState, spec: &ListSpec, list: &ListState) -> String {
    match list {
        ListState::TooLarge { rows } => format!(
            "The list has {} and does not fit into memory. Start the server with a larger --memory.",
            counted(*rows, "row", "rows")
        ),
        _ => format!(
            "There are no findings for this list. Run `{}`, then start the server again.",
            spec.command_for(&state.corpus)
        ),
    }
}

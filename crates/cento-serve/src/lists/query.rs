//! What a reader asks of a list: an order, filters, and a page.

use super::columns::ListValue;
use super::listing::Listing;
use super::spec::ListSpec;
use crate::error::Refusal;

/// Rows of a page, unless the reader chooses, and at most.
const USUAL_SIZE: usize = 50;
const LARGEST_SIZE: usize = 500;
/// Characters of a filter.
const LONGEST_FILTER: usize = 2_000;

/// A request for one page of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListQuery {
    /// The number of a column, and whether to sort in descending order; the order of the table if
    /// there is none.
    pub(crate) sort: Option<(usize, bool)>,
    pub(crate) host: Option<String>,
    pub(crate) other: Option<String>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) category: Option<String>,
    pub(crate) from: Option<i64>,
    pub(crate) to: Option<i64>,
    /// From 1.
    pub(crate) page: usize,
    pub(crate) size: usize,
    /// The run that the reader has seen.
    pub(crate) run: Option<String>,
}

impl Default for ListQuery {
    fn default() -> ListQuery {
        ListQuery {
            sort: None,
            host: None,
            other: None,
            min: None,
            max: None,
            category: None,
            from: None,
            to: None,
            page: 1,
            size: USUAL_SIZE,
            run: None,
        }
    }
}

impl ListQuery {
    /// Parses the query of an address.
    pub(crate) fn parse(spec: &ListSpec, query: &str) -> Result<ListQuery, Refusal> {
        let mut parsed = ListQuery::default();
        let mut sort = None;
        let mut descending = None;
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            if value.is_empty() {
                continue;
            }
            if value.chars().count() > LONGEST_FILTER {
                return Err(Refusal::bad(format!("The value of {name} is too long.")));
            }
            match name.as_ref() {
                "sort" => {
                    let column = spec.column(value);
                    let unknown = || Refusal::bad(format!("There is no column {value}."));
                    sort = Some(column.ok_or_else(unknown)?);
                }
                "order" => {
                    descending = Some(match value {
                        "ascending" => false,
                        "descending" => true,
                        _ => return Err(Refusal::bad("order is ascending or descending.")),
                    });
                }
                "host" => parsed.host = Some(value.to_lowercase()),
                "other" => parsed.other = Some(value.to_lowercase()),
                "min" => parsed.min = Some(number("min", value)?),
                "max" => parsed.max = Some(number("max", value)?),
                "category" => match spec.category {
                    Some(_) => parsed.category = Some(value.to_owned()),
                    None => return Err(Refusal::bad("This list has no categories.")),
                },
                "from" => parsed.from = Some(day("from", value, spec)?),
                // The whole day.
                "to" => parsed.to = Some(day("to", value, spec)?.saturating_add(86_399_999)),
                "page" => parsed.page = whole("page", value)?,
                "size" => parsed.size = whole("size", value)?.min(LARGEST_SIZE),
                "run" => parsed.run = Some(value.to_owned()),
                _ => return Err(Refusal::bad(format!("Unknown parameter {name}."))),
            }
        }
        parsed.sort = match (sort, descending) {
            (Some(column), descending) => Some((column, descending.unwrap_or(false))),
            (None, Some(_)) => return Err(Refusal::bad("order needs sort.")),
            (None, None) => None,
        };
        Ok(parsed)
    }

    /// Whether the query selects some of the rows only.
    pub(crate) fn is_filtered(&self) -> bool {
        self.host.is_some()
            || self.other.is_some()
            || self.min.is_some()
            || self.max.is_some()
            || self.category.is_some()
            || self.from.is_some()
            || self.to.is_some()
    }

    /// Returns what the selected rows and their order depend on.
    pub(super) fn selection_key(&self) -> String {
        let ListQuery {
            sort,
            host,
            other,
            min,
            max,
            category,
            from,
            to,
            ..
        } = self;
        format!("{sort:?} {host:?} {other:?} {min:?} {max:?} {category:?} {from:?} {to:?}")
    }

    /// Returns the query as part of an address, with another page.
    pub(crate) fn address(&self, spec: &ListSpec, page: usize) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                query.append_pair(name, &value);
            }
        };
        if let Some((column, descending)) = self.sort {
            let column = spec
                .columns
                .get(column)
                .map(|column| column.name.to_owned());
            add("sort", column);
            let order = if descending {
                "descending"
            } else {
                "ascending"
            };
            add("order", Some(order.to_owned()));
        }
        add("host", self.host.clone());
        add("other", self.other.clone());
        add("min", self.min.map(|least| least.to_string()));
        add("max", self.max.map(|most| most.to_string()));
        add("category", self.category.clone());
        add("from", self.from.map(super::listing::day));
        add("to", self.to.map(super::listing::day));
        let usual = ListQuery::default();
        add(
            "size",
            (self.size != usual.size).then(|| self.size.to_string()),
        );
        add("page", (page != 1).then(|| page.to_string()));
        add("run", self.run.clone());
        query.finish()
    }

    /// Returns the same query in another order, from the first page.
    pub(crate) fn sorted_by(&self, column: usize, descending: bool) -> ListQuery {
        ListQuery {
            sort: Some((column, descending)),
            page: 1,
            ..self.clone()
        }
    }

    /// Prepares the filters for a list.
    pub(super) fn matcher(&self, list: &Listing) -> RowMatcher {
        let spec = list.spec;
        let hosts = |wanted: &Option<String>| {
            let wanted = wanted.as_ref()?;
            Some(list.hosts_that(|host| matches_host(host, wanted)))
        };
        let columns = spec.hosts.iter().filter_map(|name| spec.column(name));
        RowMatcher {
            host_columns: columns.collect(),
            host: hosts(&self.host),
            other: hosts(&self.other),
            score: spec.column(spec.score).unwrap_or(0),
            min: self.min,
            max: self.max,
            category: self.category.as_ref().map(|wanted| {
                let column = spec.category.and_then(|name| spec.column(name));
                let mut texts = list.columns.texts().iter();
                let number = texts.position(|text| text == wanted);
                (column.unwrap_or(0), number.map(|number| number as u32))
            }),
            date: spec.date.and_then(|name| spec.column(name)),
            from: self.from,
            to: self.to,
        }
    }
}

/// Whether a host is the wanted one or a subdomain of it; with `=` before it, exactly the wanted
/// one.
fn matches_host(host: &str, wanted: &str) -> bool {
    match wanted.strip_prefix('=') {
        Some(exact) => host == exact,
        None => match host.strip_suffix(wanted) {
            Some(before) => before.is_empty() || before.ends_with('.'),
            None => false,
        },
    }
}

/// The filters of a query, prepared so that a row costs a few comparisons.
pub(super) struct RowMatcher {
    host_columns: Vec<usize>,
    host: Option<Vec<bool>>,
    other: Option<Vec<bool>>,
    score: usize,
    min: Option<f64>,
    max: Option<f64>,
    category: Option<(usize, Option<u32>)>,
    date: Option<usize>,
    from: Option<i64>,
    to: Option<i64>,
}

impl RowMatcher {
    /// Whether a row passes all filters. A row without a value does not pass a filter by it.
    pub(super) fn matches(&self, list: &Listing, row: u32) -> bool {
        self.has_hosts(list, row)
            && self.has_score(list, row)
            && self.has_category(list, row)
            && self.has_date(list, row)
    }

    fn has_hosts(&self, list: &Listing, row: u32) -> bool {
        if self.host.is_none() && self.other.is_none() {
            return true;
        }
        let passes = |hosts: &Vec<bool>, column: usize| {
            let number = list.host_number(row, column);
            let passes = number.and_then(|number| hosts.get(number));
            passes.copied().unwrap_or(false)
        };
        let any = |hosts: &Vec<bool>| self.host_columns.iter().any(|&at| passes(hosts, at));
        match (&self.host, &self.other) {
            (None, None) => true,
            (Some(hosts), None) | (None, Some(hosts)) => any(hosts),
            // One page of the pair on each.
            (Some(host), Some(other)) => self.host_columns.iter().any(|&one| {
                let mut rest = self.host_columns.iter().filter(|&&column| column != one);
                passes(host, one) && rest.any(|&column| passes(other, column))
            }),
        }
    }

    fn has_score(&self, list: &Listing, row: u32) -> bool {
        if self.min.is_none() && self.max.is_none() {
            return true;
        }
        let score = match list.columns.value(row, self.score) {
            ListValue::Whole(value) => value as f64,
            ListValue::Real(value) => value,
            _ => return false,
        };
        self.min.is_none_or(|min| score >= min) && self.max.is_none_or(|max| score <= max)
    }

    fn has_category(&self, list: &Listing, row: u32) -> bool {
        let Some((column, wanted)) = self.category else {
            return true;
        };
        wanted.is_some() && list.columns.text_number(row, column) == wanted
    }

    fn has_date(&self, list: &Listing, row: u32) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        let Some(ListValue::Date(millis)) = self.date.map(|column| list.columns.value(row, column))
        else {
            return false;
        };
        self.from.is_none_or(|from| millis >= from) && self.to.is_none_or(|to| millis <= to)
    }
}

fn number(name: &str, value: &str) -> Result<f64, Refusal> {
    let number = value.parse::<f64>().ok().filter(|value| value.is_finite());
    number.ok_or_else(|| Refusal::bad(format!("{name} is not a number.")))
}

fn whole(name: &str, value: &str) -> Result<usize, Refusal> {
    let number = value.parse::<usize>().ok().filter(|&value| value >= 1);
    number.ok_or_else(|| Refusal::bad(format!("{name} is not a number from 1.")))
}

fn day(name: &str, value: &str, spec: &ListSpec) -> Result<i64, Refusal> {
    if spec.date.is_none() {
        return Err(Refusal::bad("This list has no dates."));
    }
    // Only days: YYYY-MM-DD.
    let plain = value.len() == 10 && value.bytes().filter(|&byte| byte == b'-').count() == 2;
    let millis = cento_text::date::parse(value).filter(|_| plain);
    millis.ok_or_else(|| Refusal::bad(format!("{name} is not a day such as 2024-05-31.")))
}

#[cfg(test)]
mod tests {
    use super::super::LISTS;
    use super::*;

    fn parse(query: &str) -> Result<ListQuery, Refusal> {
        ListQuery::parse(&LISTS[0], query)
    }

    #[test]
    fn a_query_survives_its_address() {
        let query = "sort=sources&order=descending&host=a.example&min=0.5&max=1&from=2024-01-02\
                     &to=2024-05-31&size=20&page=3";
        let parsed = parse(query).unwrap();
        let again = parse(&parsed.address(&LISTS[0], 3)).unwrap();
        assert_eq!(parsed, again);
        assert_eq!(parsed.page, 3);
    }

    #[test]
    fn wrong_values_are_refused_and_never_ignored() {
        for query in [
            "sort=nothing",
            "order=descending",
            "sort=sources&order=up",
            "min=many",
            "min=NaN",
            "page=0",
            "page=-1",
            "size=x",
            "from=yesterday",
            "to=2024-13-45",
            "category=C1",
            "unknown=1",
        ] {
            assert!(parse(query).is_err(), "{query}");
        }
        assert_eq!(parse("size=100000").unwrap().size, LARGEST_SIZE);
        assert_eq!(parse("host=&min=").unwrap(), ListQuery::default());
    }

    #[test]
    fn a_host_matches_itself_and_its_subdomains() {
        assert!(matches_host("a.example", "a.example"));
        assert!(matches_host("www.a.example", "a.example"));
        assert!(!matches_host("bba.example", "a.example"));
        assert!(!matches_host("www.a.example", "=a.example"));
        assert!(matches_host("a.example", "=a.example"));
    }
}

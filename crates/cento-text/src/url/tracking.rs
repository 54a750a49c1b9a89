//! Query parameters that record where a visitor came from and do not change the page.

use std::borrow::Cow;

const TRACKING: [&str; 14] = [
    "_ga", "dclid", "fbclid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "mkt_tok",
    "msclkid", "ref", "ref_src", "twclid", "yclid",
];

/// Whether a URL has a query parameter that only tracks visitors: `utm_…`, `fbclid`, `gclid` and
/// the like.
pub fn has_tracking_parameters(url: &str) -> bool {
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    let Some((_, query)) = url.split_once('?') else {
        return false;
    };
    query.split(['&', ';']).any(is_tracking)
}

/// Returns an address without the query parameters that only track visitors. Other parameters keep
/// their order. A fragment is not expected.
///
/// ```
/// use cento_text::url::without_tracking_parameters;
///
/// assert_eq!(without_tracking_parameters("a.org/x?utm_source=rss"), "a.org/x");
/// assert_eq!(without_tracking_parameters("a.org/x?id=1&fbclid=z&page=2"), "a.org/x?id=1&page=2");
/// assert_eq!(without_tracking_parameters("a.org/x?id=1"), "a.org/x?id=1");
/// ```
pub fn without_tracking_parameters(address: &str) -> Cow<'_, str> {
    let Some((before, query)) = address.split_once('?') else {
        return Cow::Borrowed(address);
    };
    if !query.split(['&', ';']).any(is_tracking) {
        return Cow::Borrowed(address);
    }
    let mut kept = before.to_owned();
    for (at, parameter) in query
        .split(['&', ';'])
        .filter(|one| !is_tracking(one))
        .enumerate()
    {
        kept.push(if at == 0 { '?' } else { '&' });
        kept.push_str(parameter);
    }
    Cow::Owned(kept)
}

fn is_tracking(parameter: &str) -> bool {
    let name = parameter
        .split_once('=')
        .map_or(parameter, |(name, _)| name)
        .to_ascii_lowercase();
    name.starts_with("utm_") || TRACKING.contains(&name.as_str())
}

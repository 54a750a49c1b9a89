//! What the user typed, as the place of an object.

use url::Url;

use super::failure::{Failure, RemoteTrouble};

/// Where an object is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Address {
    S3 { bucket: String, key: String },
    Http(Url),
}

/// Whether something that was typed names a place on another machine.
pub(crate) fn is_remote(typed: &str) -> bool {
    ["s3", "http", "https"]
        .iter()
        .any(|scheme| after_scheme(typed, scheme).is_some())
}

fn after_scheme<'a>(typed: &'a str, scheme: &str) -> Option<&'a str> {
    let (found, rest) = typed.split_once("://")?;
    found.eq_ignore_ascii_case(scheme).then_some(rest)
}

impl Address {
    pub(crate) fn parse(typed: &str) -> Result<Address, Failure> {
        if let Some(rest) = after_scheme(typed, "s3") {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty()
                || bucket.contains(|c: char| c.is_whitespace() || "?#@".contains(c))
            {
                return Err(bad(typed, "there is no name of a bucket in it"));
            }
            return Ok(Address::S3 {
                bucket: bucket.into(),
                key: key.into(),
            });
        }
        let mut url = Url::parse(typed).map_err(|error| bad(typed, &error.to_string()))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(bad(typed, "there is no name of a server in it"));
        }
        // What comes after it is for browsers, and never sent.
        url.set_fragment(None);
        Ok(Address::Http(url))
    }

    /// As it is shown and stored: without what lets the one who knows it in, and without what
    /// differs from one signature to the next.
    pub(crate) fn name(&self) -> String {
        match self {
            Address::S3 { bucket, key } => format!("s3://{bucket}/{key}"),
            Address::Http(url) => {
                let mut shown = url.clone();
                // These fail only for URLs without a host, which were refused.
                let _ = shown.set_username("");
                let _ = shown.set_password(None);
                let kept: Vec<&str> = url
                    .query()
                    .unwrap_or_default()
                    .split('&')
                    .filter(|pair| !pair.is_empty() && !is_secret(pair))
                    .collect();
                let query = (!kept.is_empty()).then(|| kept.join("&"));
                shown.set_query(query.as_deref());
                shown.into()
            }
        }
    }

    /// The part of it that a file would be known by.
    pub(crate) fn path(&self) -> &str {
        match self {
            Address::S3 { key, .. } => key,
            Address::Http(url) => url.path(),
        }
    }

    /// What the lines of a list at this place are relative to: its server or bucket. A list from
    /// elsewhere may not name a file on this machine.
    pub(crate) fn root(&self) -> String {
        match self {
            Address::S3 { bucket, .. } => format!("s3://{bucket}/"),
            Address::Http(url) => {
                let mut root = url.clone();
                root.set_path("/");
                root.set_query(None);
                root.into()
            }
        }
    }
}

/// What `line` names below `base`.
pub(crate) fn below(base: &str, line: &str) -> String {
    format!(
        "{}/{}",
        base.trim_end_matches('/'),
        line.trim_start_matches('/')
    )
}

/// Whether a parameter of a URL is part of a signature or a key.
fn is_secret(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair).to_ascii_lowercase();
    const SECRET: [&str; 14] = [
        "access_token",
        "api_key",
        "apikey",
        "auth",
        "awsaccesskeyid",
        "expires",
        "key",
        "key-pair-id",
        "password",
        "policy",
        "secret",
        "sig",
        "signature",
        "token",
    ];
    name.starts_with("x-amz-") || name.starts_with("x-goog-") || SECRET.contains(&name.as_str())
}

fn bad(typed: &str, problem: &str) -> Failure {
    // It could not be parsed, so that there is no telling where in it a password would be.
    let shown = match typed.rsplit_once('@') {
        Some((_, after)) => format!("…@{after}"),
        None => typed.into(),
    };
    Failure {
        name: shown,
        trouble: RemoteTrouble::BadAddress,
        detail: format!("not a URL that can be read: {problem}"),
        tries: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(typed: &str) -> String {
        Address::parse(typed).map_or_else(|failure| failure.to_string(), |address| address.name())
    }

    #[test]
    fn what_lets_one_in_is_not_shown() {
        for (typed, shown) in [
            ("s3://bucket/a/b c?.warc.gz", "s3://bucket/a/b c?.warc.gz"),
            ("S3://bucket", "s3://bucket/"),
            (
                "HTTPS://Example.org/a%20b?c=d#e",
                "https://example.org/a%20b?c=d",
            ),
            ("https://me:secret@example.org/a", "https://example.org/a"),
            (
                "http://example.org/?token=x&page=2&key=y",
                "http://example.org/?page=2",
            ),
            (
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=a&X-Amz-Signature=b&versionId=3",
                "https://b.s3.amazonaws.com/k?versionId=3",
            ),
        ] {
            assert_eq!(name(typed), shown);
        }
        for typed in [
            "https://me:secret@",
            "http://",
            "https://me:secret@ex ample/",
            "s3:///key",
        ] {
            assert!(Address::parse(typed).is_err(), "{typed}");
            assert!(!name(typed).contains("secret"), "{}", name(typed));
        }
    }

    #[test]
    fn a_line_of_a_list_stays_below_where_the_list_came_from() {
        let root = |typed| {
            Address::parse(typed)
                .ok()
                .map(|address| address.root())
                .unwrap_or_default()
        };
        let list = root("https://data.example.org/crawl-data/CC-1/warc.paths.gz?x=1");
        assert_eq!(
            below(&list, "crawl-data/CC-1/a.warc.gz"),
            "https://data.example.org/crawl-data/CC-1/a.warc.gz"
        );
        assert_eq!(
            below(&list, "/etc/passwd"),
            "https://data.example.org/etc/passwd"
        );
        assert_eq!(below(&root("s3://b/x/list"), "y/z.warc"), "s3://b/y/z.warc");
    }

    #[test]
    fn only_what_has_a_scheme_that_is_known_is_remote() {
        for (typed, remote) in [
            ("s3://a/b", true),
            ("HTTP://a", true),
            ("https://a", true),
            ("file:///a", false),
            ("ftp://a/b", false),
            ("a/b", false),
            ("https:/a", false),
        ] {
            assert_eq!(is_remote(typed), remote, "{typed}");
        }
    }
}

//! Addresses of remote objects.

use url::Url;

use super::failure::{RemoteErrorKind, TransferFailure};

/// The address of a remote object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Address {
    S3 { bucket: String, key: String },
    Http(Url),
}

/// Whether an argument names a remote object.
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
    pub(crate) fn parse(typed: &str) -> Result<Address, TransferFailure> {
        if let Some(rest) = after_scheme(typed, "s3") {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty()
                || bucket.contains(|c: char| c.is_whitespace() || "?#@".contains(c))
            {
                return Err(bad(typed, "the name of the bucket is missing"));
            }
            return Ok(Address::S3 {
                bucket: bucket.into(),
                key: key.into(),
            });
        }
        let mut url = Url::parse(typed).map_err(|error| bad(typed, &error.to_string()))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(bad(typed, "the name of the server is missing"));
        }
        // The fragment is never sent to a server.
        url.set_fragment(None);
        Ok(Address::Http(url))
    }

    /// The name for messages and tables: without credentials and signatures.
    pub(crate) fn name(&self) -> String {
        match self {
            Address::S3 { bucket, key } => format!("s3://{bucket}/{key}"),
            Address::Http(url) => {
                let mut shown = url.clone();
                // These fail only for URLs without a host, which `parse` rejects.
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

    /// The path, like that of a file.
    pub(crate) fn path(&self) -> &str {
        match self {
            Address::S3 { key, .. } => key,
            Address::Http(url) => url.path(),
        }
    }

    /// The base of relative lines in a list at this address: its server or bucket. A remote list
    /// must not name local files.
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

/// Returns what a user typed without the credentials and signatures of a URL, for messages and
/// reports. Anything else than a URL is returned as it is.
///
/// ```
/// use cento_read::without_credentials;
///
/// let typed = "https://me:secret@a.example/x.warc.gz?token=1&part=2";
/// assert_eq!(without_credentials(typed), "https://a.example/x.warc.gz?part=2");
/// assert_eq!(without_credentials("pages/"), "pages/");
/// ```
pub fn without_credentials(typed: &str) -> String {
    match Address::parse(typed) {
        Ok(address) if typed.contains("://") => {
            let shown = address.name();
            // A URL without anything to hide is shown as it was typed.
            let hides = typed.contains('@') || shown.len() < typed.len();
            if hides { shown } else { typed.to_owned() }
        }
        Err(_) if typed.contains("://") && typed.contains('@') => "[…]".to_owned(),
        _ => typed.to_owned(),
    }
}

/// Joins a base URL and a line of a list.
pub(crate) fn below(base: &str, line: &str) -> String {
    format!(
        "{}/{}",
        base.trim_end_matches('/'),
        line.trim_start_matches('/')
    )
}

/// Whether a parameter of a URL is a credential or part of a signature.
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

fn bad(typed: &str, problem: &str) -> TransferFailure {
    // The URL could not be parsed, so the position of a password in it is unknown.
    let shown = match typed.rsplit_once('@') {
        Some((_, after)) => format!("…@{after}"),
        None => typed.into(),
    };
    TransferFailure {
        name: shown,
        kind: RemoteErrorKind::BadAddress,
        detail: format!("invalid URL: {problem}"),
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
    fn credentials_are_not_displayed() {
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
    fn a_relative_line_of_a_list_is_below_its_server_or_bucket() {
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
    fn only_known_schemes_are_remote() {
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

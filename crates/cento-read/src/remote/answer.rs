//! What a server's answer means.

use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName};
use http::{Response, StatusCode};

use super::Facts;
use super::failure::RemoteTrouble;

/// What came of one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The body follows. Its first bytes are to be dropped, as many as these.
    Body { skip: u64, facts: Facts },
    /// There are no bytes there: the object ends where they would begin.
    End { facts: Facts },
    /// It may go better next time.
    Again {
        problem: String,
        wish: Option<Duration>,
    },
    /// It will not.
    Final {
        trouble: RemoteTrouble,
        detail: String,
    },
}

fn refused(trouble: RemoteTrouble, detail: impl Into<String>) -> Verdict {
    Verdict::Final {
        trouble,
        detail: detail.into(),
    }
}

/// Judges the answer to a request for the bytes from `at` on of an object of which `known` is
/// known; `ranged` if it asked for a part.
pub(super) fn judge<B>(response: &Response<B>, at: u64, ranged: bool, known: &Facts) -> Verdict {
    let headers = response.headers();
    let status = response.status();
    let told = |length| Facts {
        length,
        tag: text(headers, header::ETAG).map(str::to_owned),
        modified: text(headers, header::LAST_MODIFIED).map(str::to_owned),
        ranges: None,
    };
    match status {
        StatusCode::OK => {
            let length =
                text(headers, header::CONTENT_LENGTH).and_then(|length| length.parse().ok());
            // A server that knows no ranges says so by giving everything.
            let ranges = if ranged { Some(false) } else { None };
            agree(known, told(length), ranges, |facts| Verdict::Body {
                skip: at,
                facts,
            })
        }
        StatusCode::PARTIAL_CONTENT => match text(headers, header::CONTENT_RANGE).and_then(range) {
            Some((Some(begin), total)) if begin <= at => {
                agree(known, told(total), Some(true), |facts| Verdict::Body {
                    skip: at - begin,
                    facts,
                })
            }
            _ => refused(
                RemoteTrouble::Refused,
                "the server gives another range than was asked for",
            ),
        },
        StatusCode::RANGE_NOT_SATISFIABLE => {
            let total = text(headers, header::CONTENT_RANGE)
                .and_then(range)
                .and_then(|(_, total)| total);
            match total.or(known.length) {
                Some(total) if total == at => {
                    agree(known, told(Some(total)), Some(true), |facts| Verdict::End {
                        facts,
                    })
                }
                _ => changed("it is shorter than it was"),
            }
        }
        StatusCode::PRECONDITION_FAILED => changed("its ETag is another one"),
        StatusCode::NOT_FOUND | StatusCode::GONE => refused(
            RemoteTrouble::Missing,
            format!("there is no such object ({})", spoken(status)),
        ),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => refused(
            RemoteTrouble::Forbidden,
            format!("the server denies access ({})", spoken(status)),
        ),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            again(status, headers)
        }
        StatusCode::NOT_IMPLEMENTED | StatusCode::HTTP_VERSION_NOT_SUPPORTED => refused(
            RemoteTrouble::Refused,
            format!("the server answers {}", spoken(status)),
        ),
        status if status.is_server_error() => again(status, headers),
        status if status.is_redirection() => {
            match text(headers, HeaderName::from_static("x-amz-bucket-region")) {
                Some(region) => refused(
                    RemoteTrouble::Refused,
                    format!("the bucket is in another region: AWS_REGION={region}"),
                ),
                None => refused(
                    RemoteTrouble::Refused,
                    format!("the server answers {} and leads nowhere", spoken(status)),
                ),
            }
        }
        status => refused(
            RemoteTrouble::Refused,
            format!("the server answers {}", spoken(status)),
        ),
    }
}

/// Whether what is told now fits what was known before. Then it is the same object, and both
/// together are known.
fn agree(
    known: &Facts,
    told: Facts,
    ranges: Option<bool>,
    then: impl FnOnce(Facts) -> Verdict,
) -> Verdict {
    fn differ<T: PartialEq>(known: &Option<T>, told: &Option<T>) -> bool {
        matches!((known, told), (Some(known), Some(told)) if known != told)
    }
    if differ(&known.tag, &told.tag) {
        return changed("its ETag is another one");
    }
    if differ(&known.length, &told.length) {
        return changed("it has another length");
    }
    // The same tag is the same content, whatever copy of it answers.
    if known.tag.is_none() && differ(&known.modified, &told.modified) {
        return changed("it was modified");
    }
    then(Facts {
        length: known.length.or(told.length),
        tag: known.tag.clone().or(told.tag),
        modified: known.modified.clone().or(told.modified),
        ranges: ranges.or(known.ranges),
    })
}

fn changed(how: &str) -> Verdict {
    refused(
        RemoteTrouble::Changed,
        format!("it has changed since it was first looked at: {how}"),
    )
}

fn again(status: StatusCode, headers: &HeaderMap) -> Verdict {
    // A date may stand there, too; the pause that doubles serves as well then.
    let wish = text(headers, header::RETRY_AFTER)
        .and_then(|seconds| seconds.trim().parse().ok())
        .map(Duration::from_secs);
    Verdict::Again {
        problem: format!("the server answers {}", spoken(status)),
        wish,
    }
}

fn spoken(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// `bytes 5-9/20`: the first byte, and how many there are in all. Either may be unknown.
fn range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (part, total) = text.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let begin = part
        .split_once('-')
        .and_then(|(begin, _)| begin.trim().parse().ok());
    Some((begin, total.trim().parse().ok()))
}

/// The code by which S3 says what is wrong, in the body of its answer.
pub(super) fn s3_code(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, after) = text.split_once("<Code>")?;
    let (code, _) = after.split_once("</Code>")?;
    let plain = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)]) -> Response<()> {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        response.body(()).unwrap()
    }

    #[test]
    fn an_answer_is_told_by_its_status() {
        let verdict = |status| judge(&answer(status, &[]), 0, false, &Facts::default());
        for status in [408, 425, 429, 500, 502, 503, 504, 520] {
            assert!(matches!(verdict(status), Verdict::Again { .. }), "{status}");
        }
        for (status, expected) in [
            (404, RemoteTrouble::Missing),
            (410, RemoteTrouble::Missing),
            (401, RemoteTrouble::Forbidden),
            (403, RemoteTrouble::Forbidden),
            (412, RemoteTrouble::Changed),
            (400, RemoteTrouble::Refused),
            (501, RemoteTrouble::Refused),
            (304, RemoteTrouble::Refused),
        ] {
            match verdict(status) {
                Verdict::Final { trouble, .. } => assert_eq!(trouble, expected, "{status}"),
                other => panic!("{status}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_server_that_gives_everything_is_understood() {
        let whole = answer(200, &[("content-length", "20")]);
        match judge(&whole, 5, true, &Facts::default()) {
            Verdict::Body { skip: 5, facts } => {
                assert_eq!((facts.length, facts.ranges), (Some(20), Some(false)));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn another_version_is_never_mixed_in() {
        let known = Facts {
            length: Some(20),
            tag: Some("\"a\"".into()),
            ..Facts::default()
        };
        let part = |range, tag| answer(206, &[("content-range", range), ("etag", tag)]);
        let is_changed = |response: Response<()>, at| {
            matches!(
                judge(&response, at, true, &known),
                Verdict::Final {
                    trouble: RemoteTrouble::Changed,
                    ..
                }
            )
        };
        assert!(!is_changed(part("bytes 5-19/20", "\"a\""), 5));
        assert!(is_changed(part("bytes 5-19/20", "\"b\""), 5));
        assert!(is_changed(part("bytes 5-20/21", "\"a\""), 5));
        assert!(is_changed(
            answer(416, &[("content-range", "bytes */3")]),
            5
        ));
        assert!(is_changed(answer(200, &[("content-length", "21")]), 0));
        // The end is where it was: nothing is left to fetch.
        let end = judge(
            &answer(416, &[("content-range", "bytes */20")]),
            20,
            true,
            &known,
        );
        assert!(matches!(end, Verdict::End { .. }));
    }

    #[test]
    fn the_wrong_range_is_refused() {
        for headers in [
            &[("content-range", "bytes 6-9/20")][..],
            &[],
            &[("content-range", "lines 1-2/3")],
        ] {
            let verdict = judge(&answer(206, headers), 5, true, &Facts::default());
            assert!(matches!(verdict, Verdict::Final { .. }), "{verdict:?}");
        }
    }

    #[test]
    fn s3_says_what_is_wrong() {
        let body = b"<Error><Code>SlowDown</Code><Message>x</Message></Error>";
        assert_eq!(s3_code(body).as_deref(), Some("SlowDown"));
        assert_eq!(s3_code(b"<Code>\x1b[31m</Code>"), None);
        assert_eq!(s3_code(b"no"), None);
    }
}

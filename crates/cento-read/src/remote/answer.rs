//! Interprets the responses of servers.

use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName};
use http::{Response, StatusCode};

use super::ObjectFacts;
use super::failure::RemoteErrorKind;

/// The result of one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResponseVerdict {
    /// The body follows. Its first `skip` bytes are not needed.
    Body { skip: u64, facts: ObjectFacts },
    /// The object ends where the range begins.
    End { facts: ObjectFacts },
    /// A temporary error. `requested_delay` is the delay that the server asks for.
    Retry {
        problem: String,
        requested_delay: Option<Duration>,
    },
    /// A permanent error.
    Final {
        kind: RemoteErrorKind,
        detail: String,
    },
}

fn refused(kind: RemoteErrorKind, detail: impl Into<String>) -> ResponseVerdict {
    ResponseVerdict::Final {
        kind,
        detail: detail.into(),
    }
}

/// Interprets the response to a request for the bytes of an object from `at` on. `known` is what is
/// known about the object; `ranged` says whether the request was for a range.
pub(super) fn judge<B>(
    response: &Response<B>,
    at: u64,
    ranged: bool,
    known: &ObjectFacts,
) -> ResponseVerdict {
    let headers = response.headers();
    let status = response.status();
    let reported = |length| ObjectFacts {
        length,
        tag: text(headers, header::ETAG).map(str::to_owned),
        modified: text(headers, header::LAST_MODIFIED).map(str::to_owned),
        ranges: None,
    };
    match status {
        StatusCode::OK => {
            let length =
                text(headers, header::CONTENT_LENGTH).and_then(|length| length.parse().ok());
            // A server without ranges sends the whole object.
            let ranges = if ranged { Some(false) } else { None };
            agree(known, reported(length), ranges, |facts| {
                ResponseVerdict::Body { skip: at, facts }
            })
        }
        StatusCode::PARTIAL_CONTENT => match text(headers, header::CONTENT_RANGE).and_then(range) {
            Some((Some(begin), total)) if begin <= at => {
                agree(known, reported(total), Some(true), |facts| {
                    ResponseVerdict::Body {
                        skip: at - begin,
                        facts,
                    }
                })
            }
            _ => refused(
                RemoteErrorKind::Refused,
                "the server sent a different range than requested",
            ),
        },
        StatusCode::RANGE_NOT_SATISFIABLE => {
            let total = text(headers, header::CONTENT_RANGE)
                .and_then(range)
                .and_then(|(_, total)| total);
            match total.or(known.length) {
                Some(total) if total == at => {
                    agree(known, reported(Some(total)), Some(true), |facts| {
                        ResponseVerdict::End { facts }
                    })
                }
                _ => changed("it is shorter"),
            }
        }
        StatusCode::PRECONDITION_FAILED => changed("its ETag differs"),
        StatusCode::NOT_FOUND | StatusCode::GONE => refused(
            RemoteErrorKind::Missing,
            format!("no such object ({})", described(status)),
        ),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => refused(
            RemoteErrorKind::Forbidden,
            format!("access denied ({})", described(status)),
        ),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            again(status, headers)
        }
        StatusCode::NOT_IMPLEMENTED | StatusCode::HTTP_VERSION_NOT_SUPPORTED => refused(
            RemoteErrorKind::Refused,
            format!("the server responded {}", described(status)),
        ),
        status if status.is_server_error() => again(status, headers),
        status if status.is_redirection() => {
            match text(headers, HeaderName::from_static("x-amz-bucket-region")) {
                Some(region) => refused(
                    RemoteErrorKind::Refused,
                    format!("the bucket is in another region: AWS_REGION={region}"),
                ),
                None => refused(
                    RemoteErrorKind::Refused,
                    format!(
                        "the server responded {} without a target",
                        described(status)
                    ),
                ),
            }
        }
        status => refused(
            RemoteErrorKind::Refused,
            format!("the server responded {}", described(status)),
        ),
    }
}

/// Compares what the server reports with what is known. If they agree, it is the same object, and
/// the result combines both.
fn agree(
    known: &ObjectFacts,
    reported: ObjectFacts,
    ranges: Option<bool>,
    then: impl FnOnce(ObjectFacts) -> ResponseVerdict,
) -> ResponseVerdict {
    fn differ<T: PartialEq>(known: &Option<T>, reported: &Option<T>) -> bool {
        matches!((known, reported), (Some(known), Some(reported)) if known != reported)
    }
    if differ(&known.tag, &reported.tag) {
        return changed("its ETag differs");
    }
    if differ(&known.length, &reported.length) {
        return changed("its length differs");
    }
    // The same tag means the same content, whichever replica responds.
    if known.tag.is_none() && differ(&known.modified, &reported.modified) {
        return changed("it was modified");
    }
    then(ObjectFacts {
        length: known.length.or(reported.length),
        tag: known.tag.clone().or(reported.tag),
        modified: known.modified.clone().or(reported.modified),
        ranges: ranges.or(known.ranges),
    })
}

fn changed(how: &str) -> ResponseVerdict {
    refused(
        RemoteErrorKind::Changed,
        format!("it has changed since it was first read: {how}"),
    )
}

fn again(status: StatusCode, headers: &HeaderMap) -> ResponseVerdict {
    // The header may also be a date. Then the usual delay is used.
    let requested_delay = text(headers, header::RETRY_AFTER)
        .and_then(|seconds| seconds.trim().parse().ok())
        .map(Duration::from_secs);
    ResponseVerdict::Retry {
        problem: format!("the server responded {}", described(status)),
        requested_delay,
    }
}

fn described(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Parses `bytes 5-9/20` into the first byte and the total length. Either may be unknown.
fn range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (part, total) = text.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let begin = part
        .split_once('-')
        .and_then(|(begin, _)| begin.trim().parse().ok());
    Some((begin, total.trim().parse().ok()))
}

/// The error code in the body of an S3 response.
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
    fn a_response_is_interpreted_by_its_status() {
        let verdict = |status| judge(&answer(status, &[]), 0, false, &ObjectFacts::default());
        for status in [408, 425, 429, 500, 502, 503, 504, 520] {
            assert!(
                matches!(verdict(status), ResponseVerdict::Retry { .. }),
                "{status}"
            );
        }
        for (status, expected) in [
            (404, RemoteErrorKind::Missing),
            (410, RemoteErrorKind::Missing),
            (401, RemoteErrorKind::Forbidden),
            (403, RemoteErrorKind::Forbidden),
            (412, RemoteErrorKind::Changed),
            (400, RemoteErrorKind::Refused),
            (501, RemoteErrorKind::Refused),
            (304, RemoteErrorKind::Refused),
        ] {
            match verdict(status) {
                ResponseVerdict::Final { kind, .. } => assert_eq!(kind, expected, "{status}"),
                other => panic!("{status}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_server_may_send_the_whole_object() {
        let whole = answer(200, &[("content-length", "20")]);
        match judge(&whole, 5, true, &ObjectFacts::default()) {
            ResponseVerdict::Body { skip: 5, facts } => {
                assert_eq!((facts.length, facts.ranges), (Some(20), Some(false)));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn another_version_of_the_object_is_an_error() {
        let known = ObjectFacts {
            length: Some(20),
            tag: Some("\"a\"".into()),
            ..ObjectFacts::default()
        };
        let part = |range, tag| answer(206, &[("content-range", range), ("etag", tag)]);
        let is_changed = |response: Response<()>, at| {
            matches!(
                judge(&response, at, true, &known),
                ResponseVerdict::Final {
                    kind: RemoteErrorKind::Changed,
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
        // The object has ended: nothing is left to fetch.
        let end = judge(
            &answer(416, &[("content-range", "bytes */20")]),
            20,
            true,
            &known,
        );
        assert!(matches!(end, ResponseVerdict::End { .. }));
    }

    #[test]
    fn a_wrong_range_is_an_error() {
        for headers in [
            &[("content-range", "bytes 6-9/20")][..],
            &[],
            &[("content-range", "lines 1-2/3")],
        ] {
            let verdict = judge(&answer(206, headers), 5, true, &ObjectFacts::default());
            assert!(
                matches!(verdict, ResponseVerdict::Final { .. }),
                "{verdict:?}"
            );
        }
    }

    #[test]
    fn the_error_code_of_s3_is_extracted() {
        let body = b"<Error><Code>SlowDown</Code><Message>x</Message></Error>";
        assert_eq!(s3_code(body).as_deref(), Some("SlowDown"));
        assert_eq!(s3_code(b"<Code>\x1b[31m</Code>"), None);
        assert_eq!(s3_code(b"no"), None);
    }
}

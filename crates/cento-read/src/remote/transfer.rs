//! Fetches a range of bytes, with retries.

use std::error::Error as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::bytes::Bytes;
use http::header::{self, HeaderValue};
use http_body_util::BodyExt;
use object_store::client::{HttpError, HttpRequest, HttpRequestBody, HttpResponseBody};
use tokio::time::timeout;

use super::answer::{ResponseVerdict, judge, s3_code};
use super::client::{Client, RequestTarget};
use super::failure::{RemoteErrorKind, TransferFailure};
use super::{Address, ObjectFacts, retry};

/// The number of bytes after which an attempt counts as progress and resets the number of retries.
/// A server that closes each connection after a few bytes must not keep the client busy for ever.
const PROGRESS: u64 = 64 << 10;

/// The minimum rate in bytes per second, measured over the stall timeout: a server that sends a
/// byte now and then counts as stalled.
const LEAST_RATE: f64 = 1024.0;

/// The number of attempts for a name that cannot be resolved, which is nearly always misspelt.
const LOOKUPS: u32 = 3;

/// The number of bytes of an error response to read.
const ERROR_BODY: usize = 4 << 10;

/// Fetches a range of an object, piece by piece and in order.
pub(super) struct Transfer {
    client: Arc<Client>,
    address: Arc<Address>,
    facts: ObjectFacts,
    /// The range that is still missing.
    range: Range<u64>,
    body: Option<HttpResponseBody>,
    /// The number of bytes at the beginning of the body that are not needed.
    skip: u64,
    /// The number of consecutive failures, and the number of bytes received since the last one.
    tries: u32,
    received: u64,
    /// How long the transfer has waited for the server since the rate was last checked, and the
    /// number of bytes received in that time. The time of the reader and the rate limit do not
    /// count.
    waited: Duration,
    received_in_wait: u64,
    ended: bool,
}

/// Why an attempt failed.
enum AttemptError {
    Retry {
        problem: String,
        requested_delay: Option<Duration>,
        /// The number of attempts, if it is less than usual.
        max_attempts: u32,
    },
    Final(RemoteErrorKind, String),
}

impl AttemptError {
    fn retry(problem: impl Into<String>) -> Self {
        AttemptError::Retry {
            problem: problem.into(),
            requested_delay: None,
            max_attempts: u32::MAX,
        }
    }
}

impl Transfer {
    pub(super) fn new(
        client: Arc<Client>,
        address: Arc<Address>,
        facts: ObjectFacts,
        range: Range<u64>,
    ) -> Self {
        Transfer {
            client,
            address,
            facts,
            range,
            body: None,
            skip: 0,
            tries: 0,
            received: 0,
            waited: Duration::ZERO,
            received_in_wait: 0,
            ended: false,
        }
    }

    /// What is known about the object.
    pub(super) fn facts(&self) -> &ObjectFacts {
        &self.facts
    }

    /// Returns the next bytes, or `None` at the end of the range or of the object.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, TransferFailure> {
        loop {
            match self.attempt().await {
                Ok(bytes) => return Ok(bytes),
                Err(error) => self.retry_after(error).await?,
            }
        }
    }

    /// Fetches the rest, which must not exceed `most` bytes.
    pub(super) async fn collect(&mut self, most: usize) -> Result<Vec<u8>, TransferFailure> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            if bytes.len() > most.saturating_sub(all.len()) {
                let detail = format!("it is larger than {most} bytes");
                return Err(self.failure(RemoteErrorKind::Refused, detail));
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    fn end(&self) -> u64 {
        self.range.end.min(self.facts.length.unwrap_or(u64::MAX))
    }

    async fn attempt(&mut self) -> Result<Option<Bytes>, AttemptError> {
        let stall = self.client.settings().stall_timeout;
        let silence = || AttemptError::retry(format!("no data for {} s", stall.as_secs_f64()));
        loop {
            if self.ended || self.range.start >= self.end() {
                self.body = None;
                return Ok(None);
            }
            let Some(body) = &mut self.body else {
                match timeout(stall, self.connect()).await {
                    Ok(connected) => connected?,
                    Err(_) => return Err(silence()),
                }
                continue;
            };
            let begun = Instant::now();
            let frame = timeout(stall, body.frame()).await;
            self.waited += begun.elapsed();
            let mut bytes = match frame {
                Err(_) => return Err(silence()),
                Ok(Some(Err(error))) => return Err(explain(&error)),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => bytes,
                    // Trailers are not needed.
                    Err(_) => continue,
                },
                Ok(None) if self.facts.length.is_some() => {
                    let missing = self.end() - self.range.start;
                    return Err(AttemptError::retry(format!(
                        "the connection was closed {missing} bytes too early"
                    )));
                }
                // The length was not known.
                Ok(None) => {
                    self.ended = true;
                    continue;
                }
            };
            self.received += bytes.len() as u64;
            self.received_in_wait += bytes.len() as u64;
            if self.waited >= stall {
                let (came, waited) = (self.received_in_wait, self.waited.as_secs_f64());
                (self.received_in_wait, self.waited) = (0, Duration::ZERO);
                if (came as f64) < LEAST_RATE * waited {
                    return Err(AttemptError::retry(format!(
                        "only {came} bytes in {waited:.1} s"
                    )));
                }
            }
            if self.received >= PROGRESS {
                self.tries = 0;
            }
            self.client.pay(bytes.len()).await;
            let dropped = self.skip.min(bytes.len() as u64);
            self.skip -= dropped;
            let _ = bytes.split_to(dropped as usize);
            let wanted = self.end() - self.range.start;
            bytes.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
            if !bytes.is_empty() {
                self.range.start += bytes.len() as u64;
                return Ok(Some(bytes));
            }
        }
    }

    /// Sends a request for the missing range.
    async fn connect(&mut self) -> Result<(), AttemptError> {
        let target = self.client.target(&self.address).await;
        let target = target.map_err(|failure| AttemptError::Final(failure.kind, failure.detail))?;
        let ranged = self.range.start > 0 || self.range.end < u64::MAX;
        let request = self.request(target, ranged)?;
        let answer = self.client.http().execute(request).await;
        let answer = answer.map_err(|error| explain(&error))?;
        self.received = 0;
        (self.received_in_wait, self.waited) = (0, Duration::ZERO);
        match judge(&answer, self.range.start, ranged, &self.facts) {
            ResponseVerdict::Body { skip, facts } => {
                self.facts = facts;
                self.skip = skip;
                self.body = Some(answer.into_body());
                Ok(())
            }
            ResponseVerdict::End { facts } => {
                self.facts = facts;
                self.ended = true;
                Ok(())
            }
            ResponseVerdict::Retry {
                problem,
                requested_delay,
            } => Err(AttemptError::Retry {
                problem: with_code(problem, answer.into_body()).await,
                requested_delay,
                max_attempts: u32::MAX,
            }),
            ResponseVerdict::Final { kind, detail } => Err(AttemptError::Final(
                kind,
                with_code(detail, answer.into_body()).await,
            )),
        }
    }

    fn request(&self, target: RequestTarget, ranged: bool) -> Result<HttpRequest, AttemptError> {
        let unfit = |_| {
            AttemptError::Final(
                RemoteErrorKind::BadAddress,
                "the URL cannot be requested".into(),
            )
        };
        let mut request = http::Request::get(target.url.as_str())
            // Without content coding, because offsets refer to stored bytes.
            .header(header::ACCEPT_ENCODING, "identity")
            .body(HttpRequestBody::empty())
            .map_err(unfit)?;
        let headers = request.headers_mut();
        if let Some(authorization) = target.authorization {
            headers.insert(header::AUTHORIZATION, authorization);
        }
        if ranged {
            let begin = self.range.start;
            let range = match self.end() {
                u64::MAX => format!("bytes={begin}-"),
                end => format!("bytes={begin}-{}", end.saturating_sub(1)),
            };
            headers.insert(
                header::RANGE,
                HeaderValue::try_from(range).map_err(|_| unfit_header())?,
            );
        }
        // A weak tag never matches by the standard; it is compared with that of the response.
        if let Some(tag) = self.facts.tag.as_ref().filter(|tag| tag.starts_with('"')) {
            headers.insert(
                header::IF_MATCH,
                HeaderValue::try_from(tag).map_err(|_| unfit_header())?,
            );
        }
        Ok(request)
    }

    /// Waits before the next attempt, or fails if there is none.
    async fn retry_after(&mut self, error: AttemptError) -> Result<(), TransferFailure> {
        self.body = None;
        self.tries += 1;
        match error {
            AttemptError::Final(kind, detail) => Err(self.failure(kind, detail)),
            AttemptError::Retry {
                problem,
                requested_delay,
                max_attempts,
            } => {
                let settings = self.client.settings();
                if self.tries > settings.retries || self.tries >= max_attempts {
                    return Err(self.failure(RemoteErrorKind::Unreachable, problem));
                }
                let pause = retry::delay(settings, self.tries, requested_delay, retry::random());
                tokio::time::sleep(pause).await;
                Ok(())
            }
        }
    }

    fn failure(&self, kind: RemoteErrorKind, detail: String) -> TransferFailure {
        TransferFailure {
            name: self.address.name(),
            kind,
            detail,
            tries: self.tries,
        }
    }
}

fn unfit_header() -> AttemptError {
    AttemptError::Final(
        RemoteErrorKind::Refused,
        "the server sent an invalid ETag".into(),
    )
}

/// Appends the error code of S3 to `problem`.
async fn with_code(problem: String, mut body: HttpResponseBody) -> String {
    let read = async {
        let mut error_body = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            if let Some(bytes) = frame.data_ref() {
                error_body.extend_from_slice(bytes);
            }
            if error_body.len() >= ERROR_BODY {
                break;
            }
        }
        error_body
    };
    let error_body = timeout(Duration::from_secs(5), read)
        .await
        .unwrap_or_default();
    match s3_code(&error_body) {
        Some(code) => format!("{problem}, {code}"),
        None => problem,
    }
}

/// Describes a connection error by its deepest cause, which is the most specific one.
fn explain(error: &HttpError) -> AttemptError {
    let mut deepest = error.to_string();
    let mut lookup = false;
    let mut source = error.source();
    while let Some(cause) = source {
        deepest = cause.to_string();
        lookup |= deepest.contains("dns error");
        source = cause.source();
    }
    let problem = deepest.replace(['\r', '\n'], " ");
    if problem.contains("certificate") {
        return AttemptError::Final(
            RemoteErrorKind::Refused,
            format!("the certificate of the server is not trusted: {problem}"),
        );
    }
    AttemptError::Retry {
        problem,
        requested_delay: None,
        max_attempts: if lookup { LOOKUPS } else { u32::MAX },
    }
}

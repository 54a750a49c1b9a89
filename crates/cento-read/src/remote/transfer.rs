//! A range of bytes, whatever the network does meanwhile.

use std::error::Error as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::bytes::Bytes;
use http::header::{self, HeaderValue};
use http_body_util::BodyExt;
use object_store::client::{HttpError, HttpRequest, HttpRequestBody, HttpResponseBody};
use tokio::time::timeout;

use super::answer::{Verdict, judge, s3_code};
use super::client::{Client, Target};
use super::failure::{Failure, RemoteTrouble};
use super::{Address, Facts, retry};

/// A try that brought this much was worth it: the tries are counted anew. A server that lets go of
/// each connection after a few bytes must not keep us for ever.
const PROGRESS: u64 = 64 << 10;

/// Bytes a second that must come at least, over the time that counts as a stall: a server that
/// sends one now and then is as good as one that sends none.
const LEAST_RATE: f64 = 1024.0;

/// A name that cannot be looked up is nearly always misspelt.
const LOOKUPS: u32 = 3;

/// As much of what a server says about an error is read.
const COMPLAINT: usize = 4 << 10;

/// Fetches a range of an object, piece by piece and in order.
pub(super) struct Transfer {
    client: Arc<Client>,
    address: Arc<Address>,
    facts: Facts,
    /// The next byte, and the one after the last that is wanted.
    range: Range<u64>,
    body: Option<HttpResponseBody>,
    /// How many bytes come first that are not wanted.
    skip: u64,
    /// How many failures there were in a row, and how much came since the last of them.
    tries: u32,
    received: u64,
    /// How long the server was waited for since its rate was last looked at, and how much came
    /// meanwhile. The time that the reader takes, or a limit on the rate, does not count.
    waited: Duration,
    came: u64,
    ended: bool,
}

/// What went wrong with one try.
enum Trouble {
    Again {
        problem: String,
        wish: Option<Duration>,
        /// How many tries are enough, if that is less than usual.
        enough: u32,
    },
    Final(RemoteTrouble, String),
}

impl Trouble {
    fn again(problem: impl Into<String>) -> Self {
        Trouble::Again {
            problem: problem.into(),
            wish: None,
            enough: u32::MAX,
        }
    }
}

impl Transfer {
    pub(super) fn new(
        client: Arc<Client>,
        address: Arc<Address>,
        facts: Facts,
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
            came: 0,
            ended: false,
        }
    }

    /// What has been learnt about the object.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The next bytes; nothing at the end of the range or of the object.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            match self.attempt().await {
                Ok(bytes) => return Ok(bytes),
                Err(trouble) => self.mend(trouble).await?,
            }
        }
    }

    /// All the rest, which must not be more than `most`.
    pub(super) async fn collect(&mut self, most: usize) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            if bytes.len() > most.saturating_sub(all.len()) {
                let detail = format!("it is larger than {most} bytes");
                return Err(self.failure(RemoteTrouble::Refused, detail));
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    fn end(&self) -> u64 {
        self.range.end.min(self.facts.length.unwrap_or(u64::MAX))
    }

    async fn attempt(&mut self) -> Result<Option<Bytes>, Trouble> {
        let stall = self.client.settings().stall_timeout;
        let silence = || Trouble::again(format!("nothing came for {} s", stall.as_secs_f64()));
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
            let asked = Instant::now();
            let frame = timeout(stall, body.frame()).await;
            self.waited += asked.elapsed();
            let mut bytes = match frame {
                Err(_) => return Err(silence()),
                Ok(Some(Err(error))) => return Err(explain(&error)),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => bytes,
                    // Trailers say nothing that is of use.
                    Err(_) => continue,
                },
                Ok(None) if self.facts.length.is_some() => {
                    let missing = self.end() - self.range.start;
                    return Err(Trouble::again(format!(
                        "the server breaks off {missing} bytes too early"
                    )));
                }
                // It never said how long it would be.
                Ok(None) => {
                    self.ended = true;
                    continue;
                }
            };
            self.received += bytes.len() as u64;
            self.came += bytes.len() as u64;
            if self.waited >= stall {
                let (came, waited) = (self.came, self.waited.as_secs_f64());
                (self.came, self.waited) = (0, Duration::ZERO);
                if (came as f64) < LEAST_RATE * waited {
                    return Err(Trouble::again(format!(
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

    /// Asks for what is still missing.
    async fn connect(&mut self) -> Result<(), Trouble> {
        let target = self.client.target(&self.address).await;
        let target = target.map_err(|failure| Trouble::Final(failure.trouble, failure.detail))?;
        let ranged = self.range.start > 0 || self.range.end < u64::MAX;
        let request = self.request(target, ranged)?;
        let answer = self.client.http().execute(request).await;
        let answer = answer.map_err(|error| explain(&error))?;
        self.received = 0;
        (self.came, self.waited) = (0, Duration::ZERO);
        match judge(&answer, self.range.start, ranged, &self.facts) {
            Verdict::Body { skip, facts } => {
                self.facts = facts;
                self.skip = skip;
                self.body = Some(answer.into_body());
                Ok(())
            }
            Verdict::End { facts } => {
                self.facts = facts;
                self.ended = true;
                Ok(())
            }
            Verdict::Again { problem, wish } => Err(Trouble::Again {
                problem: with_code(problem, answer.into_body()).await,
                wish,
                enough: u32::MAX,
            }),
            Verdict::Final { trouble, detail } => Err(Trouble::Final(
                trouble,
                with_code(detail, answer.into_body()).await,
            )),
        }
    }

    fn request(&self, target: Target, ranged: bool) -> Result<HttpRequest, Trouble> {
        let unfit = |_| Trouble::Final(RemoteTrouble::BadAddress, "it cannot be asked for".into());
        let mut request = http::Request::get(target.url.as_str())
            // As it is stored, and not as a server likes to send it: offsets count stored bytes.
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
        // A weak tag never matches by the rules; those are compared when the answer is there.
        if let Some(tag) = self.facts.tag.as_ref().filter(|tag| tag.starts_with('"')) {
            headers.insert(
                header::IF_MATCH,
                HeaderValue::try_from(tag).map_err(|_| unfit_header())?,
            );
        }
        Ok(request)
    }

    /// Waits before the next try, if there is to be one.
    async fn mend(&mut self, trouble: Trouble) -> Result<(), Failure> {
        self.body = None;
        self.tries += 1;
        match trouble {
            Trouble::Final(trouble, detail) => Err(self.failure(trouble, detail)),
            Trouble::Again {
                problem,
                wish,
                enough,
            } => {
                let settings = self.client.settings();
                if self.tries > settings.retries || self.tries >= enough {
                    return Err(self.failure(RemoteTrouble::Unreachable, problem));
                }
                let pause = retry::delay(settings, self.tries, wish, retry::chance());
                tokio::time::sleep(pause).await;
                Ok(())
            }
        }
    }

    fn failure(&self, trouble: RemoteTrouble, detail: String) -> Failure {
        Failure {
            name: self.address.name(),
            trouble,
            detail,
            tries: self.tries,
        }
    }
}

fn unfit_header() -> Trouble {
    Trouble::Final(
        RemoteTrouble::Refused,
        "the server names it in a way that cannot be repeated".into(),
    )
}

/// `problem`, and the code that S3 gives for it.
async fn with_code(problem: String, mut body: HttpResponseBody) -> String {
    let read = async {
        let mut complaint = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            if let Some(bytes) = frame.data_ref() {
                complaint.extend_from_slice(bytes);
            }
            if complaint.len() >= COMPLAINT {
                break;
            }
        }
        complaint
    };
    let complaint = timeout(Duration::from_secs(5), read)
        .await
        .unwrap_or_default();
    match s3_code(&complaint) {
        Some(code) => format!("{problem}, {code}"),
        None => problem,
    }
}

/// What a broken connection means: the deepest cause is the one that people can make something of.
fn explain(error: &HttpError) -> Trouble {
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
        return Trouble::Final(
            RemoteTrouble::Refused,
            format!("the server cannot be trusted: {problem}"),
        );
    }
    Trouble::Again {
        problem,
        wish: None,
        enough: if lookup { LOOKUPS } else { u32::MAX },
    }
}

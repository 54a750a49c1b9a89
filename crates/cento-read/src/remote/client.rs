//! The client for all remote inputs.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use http::header::HeaderValue;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector, ReqwestConnector};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use url::Url;

use super::failure::{NO_BUCKET, RemoteErrorKind, TransferFailure};
use super::throttle::Throttle;
use super::{
    Address, Inspected, Inspection, ListedObject, ObjectFacts, RemoteSettings, Transfer, runtime,
};

/// The message if the runtime drops a task.
const INTERRUPTED: &str = "the transfer was interrupted";

/// How long a signature is valid. It is used at once.
const SIGNED_FOR: Duration = Duration::from_secs(900);

/// The number of objects that are inspected concurrently: enough to hide the latency.
const CONCURRENT_INSPECTIONS: usize = 16;

/// The bucket of Common Crawl, and the URL at which it serves anonymous requests.
const COMMON_CRAWL: (&str, &str) = ("commoncrawl", "https://data.commoncrawl.org/");

/// The client for all remote inputs.
pub(crate) struct Client {
    /// None only while the client is dropped.
    runtime: Option<Runtime>,
    http: HttpClient,
    buckets: Mutex<HashMap<String, AmazonS3>>,
    throttle: Option<Throttle>,
    settings: RemoteSettings,
    /// Whether requests to S3 are sent without signature.
    anonymous: bool,
}

/// The URL and the authorization for a request.
pub(super) struct RequestTarget {
    pub(super) url: Url,
    pub(super) authorization: Option<HeaderValue>,
}

impl Client {
    pub(crate) fn new(settings: &RemoteSettings) -> io::Result<Arc<Client>> {
        // Fails if the embedding program has installed another provider, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = runtime::start()?;
        let http = {
            // The client must be created within the runtime.
            let _inside = runtime.enter();
            ReqwestConnector::default()
                .connect(&options().with_allow_http(true).with_timeout_disabled())
                .map_err(io::Error::other)?
        };
        Ok(Arc::new(Client {
            runtime: Some(runtime),
            http,
            buckets: Mutex::default(),
            throttle: settings.max_rate.map(Throttle::new),
            anonymous: settings.anonymous || is_anonymous(|name| std::env::var(name).ok()),
            settings: settings.clone(),
        }))
    }

    pub(super) fn settings(&self) -> &RemoteSettings {
        &self.settings
    }

    pub(super) fn http(&self) -> &HttpClient {
        &self.http
    }

    /// Waits until `bytes` received bytes are within the rate limit.
    pub(super) async fn pay(&self, bytes: usize) {
        if let Some(throttle) = &self.throttle {
            throttle.pay(bytes).await;
        }
    }

    #[cfg(test)]
    pub(super) fn paid(&self) -> u64 {
        self.throttle.as_ref().map_or(0, Throttle::paid)
    }

    /// Runs a task on the runtime.
    pub(super) fn spawn(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Option<tokio::task::AbortHandle> {
        let runtime = self.runtime.as_ref()?;
        Some(runtime.spawn(work).abort_handle())
    }

    /// Runs a task on the runtime and waits for the result. Unlike `Runtime::block_on`, this also
    /// works for a caller within another runtime.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            // Fails only if the caller is gone.
            let _ = sender.send(work.await);
        });
        receiver.recv().map_err(|_| io::Error::other(INTERRUPTED))
    }

    /// The URL and the authorization for a request. On S3 each request has its own signature.
    pub(super) async fn target(&self, address: &Address) -> Result<RequestTarget, TransferFailure> {
        match address {
            Address::Http(url) => Ok(RequestTarget {
                authorization: authorization(url),
                url: without_user(url),
            }),
            Address::S3 { bucket, key } => {
                let refused = |detail: String| TransferFailure {
                    name: address.name(),
                    kind: RemoteErrorKind::Refused,
                    detail,
                    tries: 0,
                };
                let path = Path::parse(key).map_err(|error| refused(one_line(&error)))?;
                let (mirrored, mirror) = COMMON_CRAWL;
                if self.anonymous && bucket == mirrored && !has_endpoint() {
                    let mut url = Url::parse(mirror).map_err(|error| refused(one_line(&error)))?;
                    url.set_path(key);
                    return Ok(RequestTarget {
                        url,
                        authorization: None,
                    });
                }
                let store = self
                    .bucket(bucket)
                    .map_err(|error| refused(one_line(&error)))?;
                let signed = store.signed_url(Method::GET, &path, SIGNED_FOR).await;
                let mut url = signed.map_err(|error| bucket_failure(&address.name(), &error))?;
                if self.anonymous {
                    // The signature is invalid. The library has no other function that returns the
                    // URL of an object.
                    url.set_query(None);
                }
                Ok(RequestTarget {
                    url,
                    authorization: None,
                })
            }
        }
    }

    pub(super) fn bucket(&self, name: &str) -> object_store::Result<AmazonS3> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = buckets.get(name) {
            return Ok(store.clone());
        }
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(name)
            .with_client_options(options().with_allow_http(has_plain_endpoint()))
            .with_retry(RetryConfig {
                backoff: BackoffConfig {
                    init_backoff: self.settings.first_delay,
                    max_backoff: self.settings.longest_delay.max(self.settings.first_delay),
                    base: 2.0,
                },
                max_retries: self.settings.retries as usize,
                retry_timeout: Duration::from_secs(240),
            });
        if self.anonymous {
            builder = builder
                .with_skip_signature(true)
                .with_access_key_id("nobody")
                .with_secret_access_key("nothing");
        }
        let _inside = self.runtime.as_ref().map(Runtime::enter);
        let store = builder.build()?;
        buckets.insert(name.into(), store.clone());
        Ok(store)
    }

    /// Lists the objects of a bucket whose keys begin with `prefix`, sorted by key. With `any`,
    /// returns only a few of them.
    pub(crate) fn list(
        self: &Arc<Self>,
        bucket: &str,
        prefix: &str,
        any: bool,
    ) -> Result<Vec<ListedObject>, TransferFailure> {
        let name = format!("s3://{bucket}/{prefix}");
        let store = self
            .bucket(bucket)
            .map_err(|error| bucket_failure(&name, &error))?;
        let (wanted, place) = (prefix.to_owned(), bucket.to_owned());
        let listed = self.wait(async move {
            let mut found = Vec::new();
            let mut page_token = None;
            loop {
                let options = PaginatedListOptions {
                    page_token: page_token.take(),
                    max_keys: any.then_some(2),
                    ..PaginatedListOptions::default()
                };
                let prefix = (!wanted.is_empty()).then_some(wanted.as_str());
                let page = store.list_paginated(prefix, options).await?;
                found.extend(page.result.objects.into_iter().map(|object| ListedObject {
                    facts: ObjectFacts {
                        length: Some(object.size),
                        tag: object.e_tag,
                        ..ObjectFacts::default()
                    },
                    address: Address::S3 {
                        bucket: place.clone(),
                        key: object.location.into(),
                    },
                }));
                page_token = page.page_token;
                if page_token.is_none() || any {
                    return Ok::<_, object_store::Error>(found);
                }
            }
        });
        let mut found = match listed {
            Ok(listed) => listed.map_err(|error| bucket_failure(&name, &error))?,
            Err(error) => return Err(interrupted(&name, &error)),
        };
        found.sort_by(|a, b| a.address.cmp(&b.address));
        Ok(found)
    }

    /// Inspects objects concurrently. The results are in the order of the requests.
    pub(crate) fn inspect(self: &Arc<Self>, wanted: Vec<Inspection>) -> Vec<Inspected> {
        let (sender, receiver) = mpsc::channel();
        let permits = Arc::new(Semaphore::new(CONCURRENT_INSPECTIONS));
        let mut inspected: Vec<Inspected> = Vec::new();
        for (
            number,
            Inspection {
                address,
                facts,
                front,
            },
        ) in wanted.into_iter().enumerate()
        {
            inspected.push(Err(interrupted(
                &address.name(),
                &io::Error::other(INTERRUPTED),
            )));
            let (client, sender, permits) = (self.clone(), sender.clone(), permits.clone());
            self.spawn(async move {
                let _permit = permits.acquire_owned().await;
                let front = front.max(1);
                let mut transfer = Transfer::new(client, Arc::new(address), facts, 0..front);
                let most = usize::try_from(front).unwrap_or(usize::MAX);
                let bytes = transfer.collect(most).await;
                let _ = sender.send((number, bytes.map(|bytes| (transfer.facts().clone(), bytes))));
            });
        }
        drop(sender);
        while let Ok((number, outcome)) = receiver.recv() {
            if let Some(place) = inspected.get_mut(number) {
                *place = outcome;
            }
        }
        inspected
    }

    /// Reads a whole object of at most `most` bytes.
    pub(crate) fn read(
        self: &Arc<Self>,
        address: Address,
        most: usize,
    ) -> Result<Vec<u8>, TransferFailure> {
        let name = address.name();
        let mut transfer = Transfer::new(
            self.clone(),
            Arc::new(address),
            ObjectFacts::default(),
            0..u64::MAX,
        );
        match self.wait(async move { transfer.collect(most).await }) {
            Ok(read) => read,
            Err(error) => Err(interrupted(&name, &error)),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A pending name lookup must not delay the end of the program.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn options() -> ClientOptions {
    ClientOptions::new()
        .with_user_agent(HeaderValue::from_static(concat!(
            "cento/",
            env!("CARGO_PKG_VERSION")
        )))
        .with_connect_timeout(Duration::from_secs(10))
}

/// Whether the environment has no credentials for signing requests. Then only public buckets can be
/// read. The metadata service of the machine is not asked for credentials, because most machines do
/// not have one.
fn is_anonymous(environment: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    if let Some(skip) = environment("AWS_SKIP_SIGNATURE") {
        return matches!(
            skip.to_ascii_lowercase().as_str(),
            "1" | "true" | "yes" | "on"
        );
    }
    ![
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_METADATA_ENDPOINT",
    ]
    .into_iter()
    .any(is_set)
}

fn endpoint() -> Option<String> {
    ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok())
}

fn has_endpoint() -> bool {
    endpoint().is_some()
}

fn has_plain_endpoint() -> bool {
    endpoint().is_some_and(|url| url.to_ascii_lowercase().starts_with("http://"))
}

/// The header for the user and password in a URL.
fn authorization(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair = percent_decoded(url.username());
    pair.push(b':');
    pair.extend(percent_decoded(url.password().unwrap_or_default()));
    let mut header =
        HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair))).ok()?;
    header.set_sensitive(true);
    Some(header)
}

fn without_user(url: &Url) -> Url {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hexadecimal = after.get(..2).filter(|_| *first == b'%');
        let value = hexadecimal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    bytes
}

/// Converts an error of the library about a bucket.
pub(super) fn bucket_failure(name: &str, error: &object_store::Error) -> TransferFailure {
    use object_store::Error;
    let message = one_line(error);
    let (kind, detail) = match error {
        Error::NotFound { .. } => (RemoteErrorKind::Missing, NO_BUCKET.into()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            (RemoteErrorKind::Forbidden, "access denied".into())
        }
        // The library does not return the status, but its message contains it.
        _ if message.contains("NoSuchBucket") || message.contains("404 Not Found") => {
            (RemoteErrorKind::Missing, NO_BUCKET.into())
        }
        _ if message.contains("AccessDenied") || message.contains("403 Forbidden") => (
            RemoteErrorKind::Forbidden,
            "access denied (403 Forbidden)".into(),
        ),
        _ if message.contains("redirect without LOCATION") => (
            RemoteErrorKind::Refused,
            "the bucket is not in the region AWS_REGION".into(),
        ),
        Error::InvalidPath { .. } => (RemoteErrorKind::Refused, message),
        _ => (RemoteErrorKind::Unreachable, message),
    };
    TransferFailure {
        name: name.into(),
        kind,
        detail,
        tries: 0,
    }
}

pub(super) fn interrupted(name: &str, error: &io::Error) -> TransferFailure {
    TransferFailure {
        name: name.into(),
        kind: RemoteErrorKind::Unreachable,
        detail: error.to_string(),
        tries: 0,
    }
}

/// The message of an error in one line, shortened if it is long.
fn one_line(error: &dyn std::error::Error) -> String {
    const LONGEST: usize = 300;
    let text = error.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_signed_if_there_are_credentials() {
        let anonymous = |set: &[(&str, &str)]| {
            is_anonymous(|name| {
                let found = set.iter().find(|(known, _)| *known == name)?;
                Some(found.1.to_owned())
            })
        };
        assert!(anonymous(&[]));
        assert!(anonymous(&[("AWS_ACCESS_KEY_ID", "")]));
        assert!(!anonymous(&[("AWS_ACCESS_KEY_ID", "a")]));
        assert!(anonymous(&[
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SKIP_SIGNATURE", "true")
        ]));
        assert!(!anonymous(&[(
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "/a"
        )]));
    }

    #[test]
    fn a_password_in_a_url_is_sent_in_a_header() {
        let header = |url: &str| {
            let header = authorization(&Url::parse(url).unwrap())?;
            Some(header.to_str().unwrap().to_owned())
        };
        assert_eq!(header("http://a/b"), None);
        assert_eq!(
            header("http://me:pass@a/b").as_deref(),
            Some("Basic bWU6cGFzcw==")
        );
        assert_eq!(
            header("http://me:p%40ss%@a/b").as_deref(),
            Some("Basic bWU6cEBzcyU=")
        );
    }
}

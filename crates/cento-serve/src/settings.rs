//! What a site serves, where, and to whom.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};

/// The fewest characters of a token: a shorter one could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// The settings of a site. [`ServeSettings::new`] has the defaults.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeSettings {
    /// The corpus.
    pub corpus: PathBuf,
    /// The folder of the findings.
    pub findings: PathBuf,
    /// The folder of the verdicts of judges.
    pub verdicts: PathBuf,
    /// Labels for `/api/detect`.
    pub labels: Option<PathBuf>,
    /// The address to listen on. Port 0 stands for any free port.
    pub listen: SocketAddr,
    /// The token that every request must have. Required unless the address is a loopback address.
    pub token: Option<String>,
    /// Names of the server that clients may use, in addition to its address.
    pub hosts: Vec<String>,
    /// Worker threads.
    pub threads: usize,
    /// Memory for the lists, in bytes.
    pub memory: u64,
    /// Whether the corpus may be one whose last index was interrupted.
    pub partial: bool,
    /// Where requests are logged, as lines of JSON.
    pub log: Option<PathBuf>,
    /// The limits for slow clients.
    pub limits: ClientLimits,
}

/// The limits that keep slow clients from starving others.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Connections that are open at the same time; others wait.
    pub connections: usize,
    /// How long a client may take to send its headers; also how long a connection may be idle.
    pub headers: Duration,
    /// How long a client may take to send a body.
    pub body: Duration,
    /// How long a client may pause between two pieces of a body.
    pub body_pause: Duration,
    /// How long a client may pause between two pieces of a stream, which may take hours.
    pub stream_pause: Duration,
    /// How long a client may stop reading.
    pub stalled: Duration,
}

impl Default for ClientLimits {
    fn default() -> ClientLimits {
        ClientLimits {
            connections: 512,
            headers: Duration::from_secs(20),
            body: Duration::from_secs(60),
            body_pause: Duration::from_secs(15),
            stream_pause: Duration::from_secs(30),
            stalled: Duration::from_secs(20),
        }
    }
}

impl ServeSettings {
    /// Settings that serve a corpus on a free port of the loopback interface.
    pub fn new(corpus: impl Into<PathBuf>) -> ServeSettings {
        let corpus = corpus.into();
        ServeSettings {
            findings: corpus.join(cento_find::FINDINGS),
            verdicts: verdicts_beside(&corpus),
            corpus,
            labels: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: None,
            hosts: Vec::new(),
            threads: 2,
            memory: 1 << 30,
            partial: false,
            log: None,
            limits: ClientLimits::default(),
        }
    }

    /// Fails if the settings would expose the site to strangers.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |message: String, hint| Err(Error::Usage { message, hint });
        match &self.token {
            None if !self.listen.ip().is_loopback() => wrong(
                format!(
                    "{} is not a loopback address, and there is no token: anybody on the network \
                     could read the corpus",
                    self.listen
                ),
                "use --token, or --listen 127.0.0.1:PORT",
            ),
            Some(token) if token.chars().count() < SHORTEST_TOKEN => wrong(
                format!("the token has fewer than {SHORTEST_TOKEN} characters"),
                "choose one that cannot be guessed, such as the output of `openssl rand -hex 16`",
            ),
            Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => wrong(
                "the token has characters that cannot be part of a header".to_owned(),
                "use letters, digits and punctuation of ASCII, without spaces",
            ),
            _ => Ok(()),
        }
    }
}

/// Returns the folder for verdicts beside a corpus: `NAME.verdicts` for `NAME.cento`.
fn verdicts_beside(corpus: &std::path::Path) -> PathBuf {
    let absolute = std::path::absolute(corpus).unwrap_or_else(|_| corpus.to_owned());
    absolute.with_extension("verdicts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_beyond_this_machine_needs_a_token() {
        let mut settings = ServeSettings::new("crawl.cento");
        assert!(settings.check().is_ok());
        settings.listen = SocketAddr::from(([0, 0, 0, 0], 8000));
        assert!(settings.check().is_err());
        settings.token = Some("short".to_owned());
        assert!(settings.check().is_err());
        settings.token = Some("a token with spaces in it".to_owned());
        assert!(settings.check().is_err());
        settings.token = Some("0123456789abcdef".to_owned());
        assert!(settings.check().is_ok());
    }

    #[test]
    fn verdicts_are_kept_beside_the_corpus() {
        let settings = ServeSettings::new("/data/crawl.cento/");
        assert_eq!(settings.verdicts, PathBuf::from("/data/crawl.verdicts"));
    }
}

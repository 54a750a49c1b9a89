//! Sites: host names, network addresses and properties, computed from the number of the site.

use crate::language::Language;
use crate::random::{Purpose, Random};
use crate::vocabulary::Vocabulary;

/// The kind of a site. The letter is part of its name, so that names are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum SiteKind {
    Plain = b'a',
    Copier = b'c',
    Quilter = b'q',
    Aggregator = b'g',
    Passer = b'p',
    Publisher = b'o',
    Thief = b't',
    News = b'n',
    Farm = b'f',
    Spam = b's',
    Mirror = b'm',
    Trap = b'r',
    Broken = b'b',
}

/// A site: one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) seed: u64,
    pub(crate) kind: SiteKind,
    pub(crate) number: u64,
}

/// The number of hosts of a spammer, and of pages on each: the opening example of the paper by
/// Fetterly, Manasse and Najork.
pub(crate) const SPAM_HOSTS: u64 = 100;
pub(crate) const SPAM_PAGES: u64 = 9;

impl Site {
    fn random(&self) -> Random {
        Random::pair(self.seed, Purpose::Site, self.kind as u64, self.number)
    }

    /// Its registered domain.
    pub(crate) fn domain(&self) -> String {
        let mut random = self.random();
        let vocabulary = Vocabulary::of(Language::English);
        let word = loop {
            let word = vocabulary.rare(&mut random);
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                break word;
            }
        };
        format!(
            "{word}-{}{}.example",
            char::from(self.kind as u8),
            self.number
        )
    }

    /// Whether its host name begins with `www.`.
    fn has_www(&self) -> bool {
        self.random().next() & 1 == 1
    }

    /// Its host name.
    pub(crate) fn host(&self) -> String {
        let domain = self.domain();
        if self.has_www() {
            format!("www.{domain}")
        } else {
            domain
        }
    }

    /// The other host name of its server.
    pub(crate) fn other_host(&self) -> String {
        let domain = self.domain();
        if self.has_www() {
            domain
        } else {
            format!("www.{domain}")
        }
    }

    /// Its network addresses: one for most sites, two or four for some. All hosts of a spammer
    /// share one.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let kind = u64::from(self.kind as u8 - b'a');
        let (number, count) = match self.kind {
            SiteKind::Spam => (self.number / SPAM_HOSTS, 1),
            _ => (
                self.number,
                [1, 1, 1, 1, 1, 1, 2, 4][self.random().below(8) as usize & 7],
            ),
        };
        (0..count)
            .map(|address| {
                // 10.0.0.0/8 is enough for 160,000 sites of each kind before addresses repeat.
                let address = (number * 26 + kind) * 4 + address;
                format!(
                    "10.{}.{}.{}",
                    address >> 16 & 255,
                    address >> 8 & 255,
                    address & 255
                )
            })
            .collect()
    }

    /// Whether its pages declare their date of publication.
    pub(crate) fn declares_dates(&self) -> bool {
        !self.number.wrapping_add(self.kind as u64).is_multiple_of(8)
    }

    /// Whether its pages declare their language.
    pub(crate) fn declares_language(&self) -> bool {
        !self
            .number
            .wrapping_add(self.kind as u64)
            .is_multiple_of(11)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }
}

/// A word of ASCII letters for a path.
pub(crate) fn slug(random: &mut Random) -> &'static str {
    let vocabulary = Vocabulary::of(Language::English);
    loop {
        let word = vocabulary.rare(random);
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return word;
        }
    }
}

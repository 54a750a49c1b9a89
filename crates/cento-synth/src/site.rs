//! Sites: names, addresses and habits, each worked out from the number of the site.

use crate::language::Language;
use crate::random::{Purpose, Random};
use crate::vocabulary::Vocabulary;

/// What a site is for. The letter stands in its name, so that no two sites share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Sort {
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
    pub(crate) sort: Sort,
    pub(crate) number: u64,
}

/// Hosts of one spammer, and pages of each: the case that Fetterly, Manasse and Najork open their
/// paper with.
pub(crate) const SPAM_HOSTS: u64 = 100;
pub(crate) const SPAM_PAGES: u64 = 9;

impl Site {
    fn random(&self) -> Random {
        Random::pair(self.seed, Purpose::Site, self.sort as u64, self.number)
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
            char::from(self.sort as u8),
            self.number
        )
    }

    /// Whether its name begins with `www.`.
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

    /// The other name by which its server answers.
    pub(crate) fn other_host(&self) -> String {
        let domain = self.domain();
        if self.has_www() {
            domain
        } else {
            format!("www.{domain}")
        }
    }

    /// Its addresses: one for most, two or four for some. All hosts of a spammer share one.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let sort = u64::from(self.sort as u8 - b'a');
        let (number, count) = match self.sort {
            Sort::Spam => (self.number / SPAM_HOSTS, 1),
            _ => (
                self.number,
                [1, 1, 1, 1, 1, 1, 2, 4][self.random().below(8) as usize & 7],
            ),
        };
        (0..count)
            .map(|address| {
                // 10.0.0.0/8 has room for 160,000 sites of each sort before addresses come round
                // again.
                let address = (number * 26 + sort) * 4 + address;
                format!(
                    "10.{}.{}.{}",
                    address >> 16 & 255,
                    address >> 8 & 255,
                    address & 255
                )
            })
            .collect()
    }

    /// Whether its pages say when they were published.
    pub(crate) fn tells_dates(&self) -> bool {
        !self.number.wrapping_add(self.sort as u64).is_multiple_of(8)
    }

    /// Whether its pages say in which language they are.
    pub(crate) fn tells_language(&self) -> bool {
        !self
            .number
            .wrapping_add(self.sort as u64)
            .is_multiple_of(11)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }
}

/// A few letters that a path can be made of.
pub(crate) fn slug(random: &mut Random) -> &'static str {
    let vocabulary = Vocabulary::of(Language::English);
    loop {
        let word = vocabulary.rare(random);
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return word;
        }
    }
}

//! Bytes anywhere, by ranges large enough to be worth a request.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::{Failure, RemoteTrouble};
use super::{Object, lasting};

/// The least that is fetched at once. A table or a zip is read from its end, where this much mostly
/// holds all that says what is in it.
const LEAST: u64 = 256 << 10;

/// From a server that gives only the whole, everything before what is wanted is fetched, too. Up to
/// here that is bearable.
const CHEAP: u64 = 4 << 20;

/// The bytes of an object at any place.
///
/// Libraries read tables a few hundred bytes at a time, and several columns by turns. So what is
/// fetched is a window around what is asked for; where one window ends and the next is asked for,
/// that one is twice as large.
///
/// ```text
///   ├──────── column a ────────┤├──────── column b ────────┤ … ├ footer ┤
///        [w][ww][wwww]                 [w][ww]                  [w     ]
/// ```
pub(crate) struct Ranged {
    object: Object,
    length: u64,
    windows: Mutex<Windows>,
}

#[derive(Default)]
struct Windows {
    /// The one that was used last is the last.
    kept: Vec<Window>,
    /// What went wrong, for whoever hears of it only through a library that tells it in its own
    /// words.
    failure: Option<Failure>,
}

struct Window {
    begin: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn end(&self) -> u64 {
        self.begin + self.bytes.len() as u64
    }
}

impl Ranged {
    /// `front` is what is known of the object's first bytes.
    pub(crate) fn new(object: Object, front: Vec<u8>) -> Self {
        let length = object.facts.length.unwrap_or(front.len() as u64);
        let first = Window {
            begin: 0,
            bytes: front,
        };
        Ranged {
            object,
            length,
            windows: Mutex::new(Windows {
                kept: vec![first],
                failure: None,
            }),
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// What went wrong with the network since this was last asked.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.lock().failure.take().map(io::Error::from)
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies what is at `at` into `buffer`, as much of it as is at hand. Answers how much that is:
    /// none at the end only.
    pub(crate) fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if at >= self.length || buffer.is_empty() {
            return Ok(0);
        }
        let mut windows = self.lock();
        let known = windows
            .kept
            .iter()
            .position(|window| (window.begin..window.end()).contains(&at));
        let window = match known {
            Some(place) => windows.kept.remove(place),
            None => {
                let range = self.around(&mut windows, at, buffer.len() as u64);
                match self.fetch(range) {
                    Ok(window) => window,
                    Err(error) => {
                        windows.failure = lasting(&error).cloned();
                        return Err(error);
                    }
                }
            }
        };
        let available = usize::try_from(at - window.begin)
            .ok()
            .and_then(|from| window.bytes.get(from..))
            .unwrap_or_default();
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        windows.keep(window, self.most());
        Ok(count)
    }

    /// How many bytes are kept.
    fn most(&self) -> u64 {
        (self.object.client.settings().read_ahead as u64).max(2 * LEAST)
    }

    /// What to fetch when `wanted` bytes at `at` are asked for and not at hand.
    fn around(&self, windows: &mut Windows, at: u64, wanted: u64) -> (u64, u64) {
        let before = windows
            .kept
            .iter()
            .position(|window| !window.bytes.is_empty() && window.end() == at);
        let size = match before {
            // Its successor takes its place: what was read through is not read again.
            Some(place) => 2 * windows.kept.remove(place).bytes.len() as u64,
            None => LEAST,
        };
        let size = size.max(wanted).clamp(LEAST, self.most() / 2);
        let end = at.saturating_add(size).min(self.length);
        // At the end of the object, what lies before is wanted next.
        let begin = if end == self.length {
            at.min(end.saturating_sub(LEAST))
        } else {
            at
        };
        (begin, end)
    }

    fn fetch(&self, (begin, end): (u64, u64)) -> io::Result<Window> {
        if self.object.facts.ranges == Some(false) && end > CHEAP {
            return Err(Failure {
                name: self.object.address.name(),
                trouble: RemoteTrouble::NoRanges,
                detail:
                    "the server gives only the whole, and this format is not read from its front"
                        .into(),
                tries: 0,
            }
            .into());
        }
        let mut transfer = self.object.transfer(begin, Some(end));
        let most = usize::try_from(end - begin).unwrap_or(usize::MAX);
        let bytes = self
            .object
            .client
            .wait(async move { transfer.collect(most).await })??;
        if bytes.len() < most {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Window { begin, bytes })
    }
}

impl Windows {
    /// Keeps `window` as the one that was used last, and forgets others that do not fit beside it.
    fn keep(&mut self, window: Window, most: u64) {
        self.kept.push(window);
        let mut held: u64 = self
            .kept
            .iter()
            .map(|window| window.bytes.len() as u64)
            .sum();
        while held > most && self.kept.len() > 1 {
            held -= self.kept.remove(0).bytes.len() as u64;
        }
    }
}

//! Reads an object at any offset, with large range requests.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::{RemoteErrorKind, TransferFailure};
use super::{Object, transfer_failure};

/// The smallest range to fetch. A table or a zip is read from its end, where this much usually
/// contains the whole footer or directory.
const LEAST: u64 = 256 << 10;

/// A server without ranges sends everything before the requested bytes too. Up to this offset that
/// is acceptable.
const CHEAP: u64 = 4 << 20;

/// The bytes of an object at any offset.
///
/// Libraries read tables a few hundred bytes at a time and alternate between columns. So a window
/// around the requested bytes is fetched. A window that continues another one is twice as large.
///
/// ```text
///   ├──────── column a ────────┤├──────── column b ────────┤ … ├ footer ┤
///        [w][ww][wwww]                 [w][ww]                  [w     ]
/// ```
pub(crate) struct RangeReader {
    object: Object,
    length: u64,
    windows: Mutex<Windows>,
}

#[derive(Default)]
struct Windows {
    /// In order of use, the most recent last.
    kept: Vec<Window>,
    /// The last error, because libraries convert errors to text.
    failure: Option<TransferFailure>,
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

impl RangeReader {
    /// `front` are the first bytes of the object, as far as they are known.
    pub(crate) fn new(object: Object, front: Vec<u8>) -> Self {
        let length = object.facts.length.unwrap_or(front.len() as u64);
        let first = Window {
            begin: 0,
            bytes: front,
        };
        RangeReader {
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

    /// The last network error, which this call clears.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.lock().failure.take().map(io::Error::from)
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies bytes at the offset `at` into `buffer`, as many as one window has. Returns their
    /// number, which is 0 only at the end.
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
                        windows.failure = transfer_failure(&error).cloned();
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

    /// The maximum number of bytes to keep.
    fn most(&self) -> u64 {
        (self.object.client.settings().read_ahead as u64).max(2 * LEAST)
    }

    /// The range to fetch for `wanted` bytes at the offset `at`.
    fn around(&self, windows: &mut Windows, at: u64, wanted: u64) -> (u64, u64) {
        let before = windows
            .kept
            .iter()
            .position(|window| !window.bytes.is_empty() && window.end() == at);
        let size = match before {
            // The new window replaces the old one, which is not needed any more.
            Some(place) => 2 * windows.kept.remove(place).bytes.len() as u64,
            None => LEAST,
        };
        let size = size.max(wanted).clamp(LEAST, self.most() / 2);
        let end = at.saturating_add(size).min(self.length);
        // At the end of the object, the bytes before are needed next.
        let begin = if end == self.length {
            at.min(end.saturating_sub(LEAST))
        } else {
            at
        };
        (begin, end)
    }

    fn fetch(&self, (begin, end): (u64, u64)) -> io::Result<Window> {
        if self.object.facts.ranges == Some(false) && end > CHEAP {
            return Err(TransferFailure {
                name: self.object.address.name(),
                kind: RemoteErrorKind::NoRanges,
                detail: "the server does not support ranges, which this format needs".into(),
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
    /// Keeps `window` as the most recently used one, and drops the oldest beyond the limit.
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

//! Reads an object in order, with prefetching.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use ::bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::failure::TransferFailure;
use super::{Object, Transfer};

/// The number of bytes to prefetch at first. It grows while the object is read, so that a reader
/// that needs only the first bytes, or moves on at once, does not fetch megabytes.
const FIRST: usize = 256 << 10;

/// The largest piece of bytes that is passed to the reader.
const PIECE: usize = 64 << 10;

/// For a seek over at most this distance, reading is faster than a new request.
const NEAR: u64 = 1 << 20;

/// The bytes of an object in order, from any offset on.
///
/// ```text
///   network ──▶ Transfer ──▶ pieces, at most `read_ahead` bytes ──▶ read()
///               on the runtime        waits for space               any thread
/// ```
pub(crate) struct RemoteBody {
    object: Object,
    at: u64,
    /// The end of the range, if it is before the end of the object.
    end: Option<u64>,
    prefetch: Option<Prefetch>,
}

/// Prefetched bytes.
struct Prefetch {
    pieces: Receiver<Result<Bytes, TransferFailure>>,
    piece: Bytes,
    /// Whether the last piece has been received. An empty piece marks the end: a closed channel
    /// could also mean an error.
    ended: bool,
    /// A permit is space for a byte.
    space: Arc<Semaphore>,
    /// The number of permits, including those in use.
    granted: usize,
    work: Option<AbortHandle>,
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        if let Some(work) = &self.work {
            work.abort();
        }
    }
}

impl RemoteBody {
    /// The bytes from `begin` to `end`, or to the end of the object. Nothing is fetched before the
    /// first read.
    pub(crate) fn new(object: Object, begin: u64, end: Option<u64>) -> Self {
        RemoteBody {
            object,
            at: begin,
            end,
            prefetch: None,
        }
    }

    /// The end of the range, if it is known.
    pub(crate) fn length(&self) -> Option<u64> {
        self.end.or(self.object.facts.length)
    }

    /// Whether any offset can be reached without fetching the bytes before it.
    pub(crate) fn seeks(&self) -> bool {
        self.length().is_some() && self.object.facts.ranges != Some(false)
    }

    /// Moves to the offset `to`.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        let ahead = to.checked_sub(self.at);
        if self.prefetch.is_some() && ahead.is_some_and(|ahead| ahead <= NEAR || !self.seeks()) {
            let mut left = ahead.unwrap_or_default();
            while left > 0 {
                let piece = self.piece()?;
                if piece.is_empty() {
                    break;
                }
                let count = left.min(piece.len() as u64);
                self.consume(count as usize);
                left -= count;
            }
        } else if ahead != Some(0) {
            self.prefetch = None;
        }
        self.at = to;
        Ok(())
    }

    /// The number of bytes that were fetched and not yet read.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.prefetch.as_ref().map_or(0, |prefetch| {
            prefetch.granted - prefetch.space.available_permits()
        })
    }

    /// Waits for bytes and returns them. Returns an empty slice at the end.
    fn piece(&mut self) -> io::Result<&[u8]> {
        let prefetch = self
            .prefetch
            .get_or_insert_with(|| Prefetch::new(&self.object, self.at, self.end));
        if prefetch.piece.is_empty() && !prefetch.ended {
            match prefetch.pieces.recv() {
                Ok(Ok(piece)) => {
                    prefetch.ended = piece.is_empty();
                    prefetch.piece = piece;
                }
                outcome => {
                    // A read after a failure must try again, not find the end.
                    self.prefetch = None;
                    return Err(match outcome {
                        Ok(Err(failure)) => failure.into(),
                        _ => io::Error::other("the transfer was interrupted"),
                    });
                }
            }
        }
        Ok(self
            .prefetch
            .as_ref()
            .map_or(&[], |prefetch| &prefetch.piece))
    }

    fn consume(&mut self, count: usize) {
        let most = self.object.client.settings().read_ahead;
        if let Some(prefetch) = &mut self.prefetch {
            let _ = prefetch.piece.split_to(count.min(prefetch.piece.len()));
            let more = most.saturating_sub(prefetch.granted).min(count);
            prefetch.granted += more;
            prefetch.space.add_permits(count + more);
        }
        self.at += count as u64;
    }
}

impl Read for RemoteBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let piece = self.piece()?;
        let count = piece.len().min(buffer.len());
        buffer[..count].copy_from_slice(&piece[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl Prefetch {
    fn new(object: &Object, begin: u64, end: Option<u64>) -> Self {
        let granted = FIRST.min(object.client.settings().read_ahead.max(PIECE));
        let space = Arc::new(Semaphore::new(granted));
        let (sender, pieces) = mpsc::channel();
        let work = fetch(object.transfer(begin, end), space.clone(), sender);
        Prefetch {
            pieces,
            piece: Bytes::new(),
            ended: false,
            space,
            granted,
            work: object.client.spawn(work),
        }
    }
}

async fn fetch(
    mut transfer: Transfer,
    space: Arc<Semaphore>,
    sender: Sender<Result<Bytes, TransferFailure>>,
) {
    loop {
        match transfer.next().await {
            // Fails only if the reader was dropped.
            Ok(None) => {
                let _ = sender.send(Ok(Bytes::new()));
                return;
            }
            Err(failure) => {
                let _ = sender.send(Err(failure));
                return;
            }
            Ok(Some(mut bytes)) => {
                while !bytes.is_empty() {
                    let piece = bytes.split_to(bytes.len().min(PIECE));
                    match space.acquire_many(piece.len() as u32).await {
                        Ok(permit) => permit.forget(),
                        Err(_) => return,
                    }
                    if sender.send(Ok(piece)).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

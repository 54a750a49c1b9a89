//! Bytes in order, fetched ahead of whoever reads them.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use ::bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::failure::Failure;
use super::{Object, Transfer};

/// So much is fetched ahead at first. It becomes more as it is read: whoever only looks at the
/// front, or goes on elsewhere at once, has not paid for megabytes.
const FIRST: usize = 256 << 10;

/// Bytes are handed over in pieces of at most this size.
const PIECE: usize = 64 << 10;

/// To go on so near to where one is, it is quicker to read than to ask anew.
const NEAR: u64 = 1 << 20;

/// The bytes of an object in order, from any place on.
///
/// ```text
///   network ──▶ Transfer ──▶ pieces, at most `read_ahead` bytes ──▶ read()
///               on the runtime        waits for room                any thread
/// ```
pub(crate) struct Body {
    object: Object,
    at: u64,
    /// Where it ends, if that is before the end of the object.
    end: Option<u64>,
    flow: Option<Flow>,
}

/// Bytes on their way.
struct Flow {
    pieces: Receiver<Result<Bytes, Failure>>,
    piece: Bytes,
    /// Whether the last piece has come. One without bytes says so: that nobody sends any more would
    /// be no proof of it.
    ended: bool,
    /// A permit is room for a byte.
    room: Arc<Semaphore>,
    /// How many permits there are, those that are in use included.
    granted: usize,
    work: Option<AbortHandle>,
}

impl Drop for Flow {
    fn drop(&mut self) {
        if let Some(work) = &self.work {
            work.abort();
        }
    }
}

impl Body {
    /// The bytes from `begin` on, up to `end` or to the last. Nothing is fetched before it is read.
    pub(crate) fn new(object: Object, begin: u64, end: Option<u64>) -> Self {
        Body {
            object,
            at: begin,
            end,
            flow: None,
        }
    }

    /// Where it ends, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        self.end.or(self.object.facts.length)
    }

    /// Whether any place can be reached without fetching all that lies before it.
    pub(crate) fn seeks(&self) -> bool {
        self.length().is_some() && self.object.facts.ranges != Some(false)
    }

    /// Goes on at `to`.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        let ahead = to.checked_sub(self.at);
        if self.flow.is_some() && ahead.is_some_and(|ahead| ahead <= NEAR || !self.seeks()) {
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
            self.flow = None;
        }
        self.at = to;
        Ok(())
    }

    /// How many bytes were fetched and not asked for yet.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.flow
            .as_ref()
            .map_or(0, |flow| flow.granted - flow.room.available_permits())
    }

    /// The bytes at hand; none at the end. Waits for them.
    fn piece(&mut self) -> io::Result<&[u8]> {
        let flow = self
            .flow
            .get_or_insert_with(|| Flow::new(&self.object, self.at, self.end));
        if flow.piece.is_empty() && !flow.ended {
            match flow.pieces.recv() {
                Ok(Ok(piece)) => {
                    flow.ended = piece.is_empty();
                    flow.piece = piece;
                }
                outcome => {
                    // Whoever reads on after a failure tries again. He must not find an end there.
                    self.flow = None;
                    return Err(match outcome {
                        Ok(Err(failure)) => failure.into(),
                        _ => io::Error::other("the work on the network was broken off"),
                    });
                }
            }
        }
        Ok(self.flow.as_ref().map_or(&[], |flow| &flow.piece))
    }

    fn consume(&mut self, count: usize) {
        let most = self.object.client.settings().read_ahead;
        if let Some(flow) = &mut self.flow {
            let _ = flow.piece.split_to(count.min(flow.piece.len()));
            let more = most.saturating_sub(flow.granted).min(count);
            flow.granted += more;
            flow.room.add_permits(count + more);
        }
        self.at += count as u64;
    }
}

impl Read for Body {
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

impl Flow {
    fn new(object: &Object, begin: u64, end: Option<u64>) -> Self {
        let granted = FIRST.min(object.client.settings().read_ahead.max(PIECE));
        let room = Arc::new(Semaphore::new(granted));
        let (sender, pieces) = mpsc::channel();
        let work = fetch(object.transfer(begin, end), room.clone(), sender);
        Flow {
            pieces,
            piece: Bytes::new(),
            ended: false,
            room,
            granted,
            work: object.client.spawn(work),
        }
    }
}

async fn fetch(
    mut transfer: Transfer,
    room: Arc<Semaphore>,
    sender: Sender<Result<Bytes, Failure>>,
) {
    loop {
        match transfer.next().await {
            // If nobody listens any more, nobody minds.
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
                    match room.acquire_many(piece.len() as u32).await {
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

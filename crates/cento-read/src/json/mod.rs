//! JSON Lines: one object per line.
//!
//! The reader only finds lines. They are parsed by [`decode`](crate::decode), which runs on all
//! cores. The first lines are also parsed here, until each field that the user named has been seen:
//! a name that does not occur is an error, not an empty column.

mod nesting;
mod pick;
mod probe;
mod splice;

use std::sync::Arc;

pub(crate) use nesting::{may_exceed, nesting};
pub(crate) use pick::{FieldPlan, FieldValue};
use probe::FieldProbe;
pub(crate) use splice::replace_string;

use crate::bytes::{Beginning, Filled, Stream, StreamError};
use crate::reader::{RecordReader, following, from_first};
use crate::record::{RecordBody, RecordMetadata};
use crate::{
    Cause, Error, FieldMap, Ignored, IgnoredKind, Item, Packing, Place, Record, Skipped, Start,
};

/// How a member begins that may begin a line.
const OBJECT: Beginning = Beginning {
    reach: 1,
    fits: |front| front == b"{",
};

/// Reads a JSON Lines file.
pub(crate) struct LineReader {
    stream: Stream,
    packing: Packing,
    input: Arc<str>,
    plan: Arc<FieldPlan>,
    max_line_bytes: u64,
    /// The ordinal of the next line.
    ordinal: u32,
    /// The ordinal of the first line to deliver.
    first: u32,
    /// Checks for the fields that the user named. None once all have been seen.
    probe: Option<FieldProbe>,
    /// The length of the previous line.
    last_bytes: usize,
}

/// The most memory that is reserved for a line before it is read.
const MOST_RESERVED: usize = 1 << 16;

/// The result of reading a line.
enum LineOutcome {
    Whole(Vec<u8>),
    TooLong(u64),
    Damaged(Cause, String),
}

impl LineReader {
    /// Reads from the current position of `stream`, which is at `from`.
    pub(crate) fn new(
        stream: Stream,
        packing: Packing,
        input: Arc<str>,
        fields: &FieldMap,
        max_line_bytes: u64,
        from: Start,
    ) -> Self {
        LineReader {
            stream,
            packing,
            input,
            plan: Arc::new(FieldPlan::new(fields)),
            max_line_bytes,
            ordinal: from.ordinal.saturating_sub(from.skip),
            first: from.ordinal,
            // An earlier run does not record which fields it has seen.
            probe: (from.ordinal == 0).then(|| FieldProbe::new(fields)),
            last_bytes: 0,
        }
    }

    fn line(&mut self) -> Result<Option<LineOutcome>, Error> {
        // Lines of one file have similar lengths.
        let mut line = Vec::with_capacity(self.last_bytes.min(MOST_RESERVED));
        let mut length = 0;
        let mut begun = false;
        let ended = loop {
            let window = self.stream.window();
            begun |= !window.is_empty();
            let end = memchr::memchr(b'\n', window);
            let part = &window[..end.unwrap_or(window.len())];
            length += part.len() as u64;
            if length <= self.max_line_bytes {
                line.extend_from_slice(part);
            } else {
                line = Vec::new();
            }
            let passed = part.len() + usize::from(end.is_some());
            self.stream.advance(passed);
            if end.is_some() {
                break Ok(());
            }
            match self.stream.fill() {
                Ok(Filled::Bytes) => {}
                Ok(Filled::End) => break Ok(()),
                Ok(Filled::MemberEnd) => match self.stream.next_member() {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                },
                Err(error) => break Err(error),
            }
        };
        let (cause, detail) = match ended {
            Ok(()) if !begun => return Ok(None),
            Ok(()) if length > self.max_line_bytes => {
                return Ok(Some(LineOutcome::TooLong(length)));
            }
            Ok(()) => {
                self.last_bytes = line.len();
                return Ok(Some(LineOutcome::Whole(line)));
            }
            Err(StreamError::Io(error)) => return Err(Error::from_io(&self.input, error)),
            Err(StreamError::Damaged(cause, detail)) => (cause, detail),
            Err(StreamError::Truncated) => {
                (Cause::Truncated, "the compressed data are truncated".into())
            }
        };
        // A member that begins with an object probably begins with a line.
        match self.stream.find_member(OBJECT) {
            Err(StreamError::Io(error)) => Err(Error::from_io(&self.input, error)),
            _ => Ok(Some(LineOutcome::Damaged(cause, detail))),
        }
    }

    fn item(&mut self) -> Result<Option<Item>, Error> {
        let offset = self.stream.offset();
        let Some(line) = self.line()? else {
            return match &self.probe {
                Some(probe) => probe.conclude(&self.input).map(|()| None),
                None => Ok(None),
            };
        };
        let ordinal = self.ordinal;
        self.ordinal = following(ordinal, &self.input)?;
        let after = self.stream.offset();
        let (length, next) = match self.packing {
            Packing::Plain => (after - offset, (after, 0)),
            _ => (0, (0, self.ordinal)),
        };
        let place = Place {
            ordinal,
            offset,
            length,
            next: Start {
                ordinal: self.ordinal,
                offset: next.0,
                skip: next.1,
            },
        };
        Ok(Some(match line {
            LineOutcome::Whole(line) if line.trim_ascii().is_empty() => Item::Ignored(Ignored {
                place,
                kind: IgnoredKind::Blank,
            }),
            LineOutcome::Whole(line) => {
                if let Some(probe) = &mut self.probe
                    && probe.sees_all(&line, &self.input)?
                {
                    self.probe = None;
                }
                Item::Record(Record {
                    place,
                    url: None,
                    ip: None,
                    fetched: None,
                    input: self.input.clone(),
                    metadata: RecordMetadata::default(),
                    body: RecordBody::Json {
                        line,
                        plan: self.plan.clone(),
                    },
                })
            }
            LineOutcome::TooLong(length) => Item::Skipped(Skipped {
                place,
                cause: Cause::LineTooLong,
                detail: format!("{length} bytes, the limit is {}", self.max_line_bytes),
            }),
            LineOutcome::Damaged(cause, detail) => Item::Skipped(Skipped {
                place,
                cause,
                detail,
            }),
        }))
    }
}

impl RecordReader for LineReader {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        from_first(self.first, || self.item())
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }
}

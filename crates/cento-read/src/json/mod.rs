//! JSON Lines: one object a line.
//!
//! Reading only finds the lines; taking them apart is left to [`decode`](crate::decode), which runs
//! on every core. The first lines are taken apart here as well, until each field that the user
//! named has been seen: a name that nothing has is a mistake to tell of, not an empty column.

mod nesting;
mod pick;
mod probe;

use std::sync::Arc;

pub(crate) use nesting::{may_exceed, nesting};
pub(crate) use pick::{Plan, Value};
use probe::Probe;

use crate::bytes::{Beginning, Filled, Stream, Trouble};
use crate::reader::{Records, following, from_first};
use crate::record::{Body, Told};
use crate::{
    Cause, Error, FieldMap, Ignored, IgnoredKind, Item, Packing, Place, Record, Skipped, Start,
};

/// How a member looks that may begin a line.
const OBJECT: Beginning = Beginning {
    reach: 1,
    fits: |front| front == b"{",
};

/// Reads a JSON Lines file.
pub(crate) struct LineReader {
    stream: Stream,
    packing: Packing,
    input: Arc<str>,
    plan: Arc<Plan>,
    max_line_bytes: u64,
    /// The ordinal of the next line.
    ordinal: u32,
    /// The ordinal of the first line to deliver.
    first: u32,
    /// Watches for the fields that the user named; gone once all are seen.
    probe: Option<Probe>,
    /// How long the line before was.
    last_bytes: usize,
}

/// Room for a line before any of it is seen.
const MOST_RESERVED: usize = 1 << 16;

/// What a line turned out to be.
enum Line {
    Whole(Vec<u8>),
    TooLong(u64),
    Damaged(Cause, String),
}

impl LineReader {
    /// Reads on from where `stream` is, which is at `from`.
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
            plan: Arc::new(Plan::new(fields)),
            max_line_bytes,
            ordinal: from.ordinal.saturating_sub(from.skip),
            first: from.ordinal,
            // What an earlier run saw of the input it did not write down.
            probe: (from.ordinal == 0).then(|| Probe::new(fields)),
            last_bytes: 0,
        }
    }

    fn line(&mut self) -> Result<Option<Line>, Error> {
        // Lines of one file are of about one length.
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
                    Err(trouble) => break Err(trouble),
                },
                Err(trouble) => break Err(trouble),
            }
        };
        let (cause, detail) = match ended {
            Ok(()) if !begun => return Ok(None),
            Ok(()) if length > self.max_line_bytes => return Ok(Some(Line::TooLong(length))),
            Ok(()) => {
                self.last_bytes = line.len();
                return Ok(Some(Line::Whole(line)));
            }
            Err(Trouble::Io(error)) => return Err(Error::from_io(&self.input, error)),
            Err(Trouble::Damaged(cause, detail)) => (cause, detail),
            Err(Trouble::Truncated) => (Cause::Truncated, "the compressed data stop".into()),
        };
        // A member that begins with an object most likely begins with a line.
        match self.stream.find_member(OBJECT) {
            Err(Trouble::Io(error)) => Err(Error::from_io(&self.input, error)),
            _ => Ok(Some(Line::Damaged(cause, detail))),
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
            Line::Whole(line) if line.trim_ascii().is_empty() => Item::Ignored(Ignored {
                place,
                kind: IgnoredKind::Blank,
            }),
            Line::Whole(line) => {
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
                    told: Told::default(),
                    body: Body::Json {
                        line,
                        plan: self.plan.clone(),
                    },
                })
            }
            Line::TooLong(length) => Item::Skipped(Skipped {
                place,
                cause: Cause::LineTooLong,
                detail: format!("{length} bytes, the limit is {}", self.max_line_bytes),
            }),
            Line::Damaged(cause, detail) => Item::Skipped(Skipped {
                place,
                cause,
                detail,
            }),
        }))
    }
}

impl Records for LineReader {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        from_first(self.first, || self.item())
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }
}

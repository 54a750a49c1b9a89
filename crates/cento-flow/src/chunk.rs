//! Rows on their way: chunks ordered by partition, and the ports of a task that collect them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Lease;
use crate::error::{Error, Result};
use crate::row::Row;
use crate::spill::TaskFile;

/// A block of memory that can be looked at as bytes, whatever the type of its rows.
trait Block: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<R: Row> Block for Vec<R> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

/// Bytes that are no rows.
struct Blob(Vec<u8>);

impl Block for Blob {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Rows of a task ordered by partition.
pub(crate) struct Chunk {
    block: Box<dyn Block>,
    /// Where each partition ends, in units of `width` bytes.
    ends: Vec<u32>,
    width: usize,
}

impl Chunk {
    pub(crate) fn new<R: Row>(rows: Vec<R>, ends: Vec<u32>) -> Chunk {
        Chunk {
            block: Box::new(rows),
            ends,
            width: size_of::<R>(),
        }
    }

    /// A single partition of opaque bytes.
    pub(crate) fn blob(bytes: Vec<u8>) -> Chunk {
        Chunk {
            ends: vec![u32::try_from(bytes.len()).unwrap_or(u32::MAX)],
            block: Box::new(Blob(bytes)),
            width: 1,
        }
    }

    /// What it occupies in memory.
    pub(crate) fn weight(&self) -> u64 {
        (self.block.bytes().len() + self.ends.len() * size_of::<u32>()) as u64
    }

    pub(crate) fn piece(&self, partition: usize) -> &[u8] {
        let end = self.ends.get(partition).copied().unwrap_or_default();
        let begin = partition
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or_default();
        self.block
            .bytes()
            .get(begin as usize * self.width..end as usize * self.width)
            .unwrap_or_default()
    }
}

/// What a task has put into one shuffle or table.
pub(crate) struct Port {
    pub(crate) width: usize,
    pub(crate) partitions: u32,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) chunks: Vec<Chunk>,
    /// What the chunks occupy, once the task is finished and they stay in memory.
    pub(crate) lease: Option<Lease>,
}

impl Port {
    /// Fails if rows of another shape are in it already.
    pub(crate) fn check_like(&self, name: &str, width: usize, partitions: u32) -> Result<()> {
        if (self.width, self.partitions) == (width, partitions) {
            return Ok(());
        }
        let describe =
            |width, partitions| format!("rows of {width} bytes in {partitions} partitions");
        Err(Error::Unlike {
            name: name.to_owned(),
            found: describe(self.width, self.partitions),
            wanted: describe(width, partitions),
        })
    }
}

/// All that a finished task has put out. If there is a file, everything is in it; ports hold chunks
/// as far as they are in memory as well.
pub(crate) struct TaskOutput {
    pub(crate) ports: BTreeMap<String, Port>,
    pub(crate) counters: BTreeMap<String, u64>,
    pub(crate) file: Option<Arc<TaskFile>>,
    /// Whether all of it is in memory.
    pub(crate) held: bool,
}

/// What one task gave to one shuffle or table, on its way to who reads that.
pub(crate) struct Contribution {
    pub(crate) port: Port,
    pub(crate) file: Option<Arc<TaskFile>>,
    pub(crate) held: bool,
}

impl Contribution {
    /// Frees the memory of what is in a file as well.
    pub(crate) fn drop_memory(&mut self) {
        if self.file.is_some() {
            self.held = false;
            self.port.chunks = Vec::new();
            self.port.lease = None;
        }
    }
}

impl TaskOutput {
    /// The output of a task that an earlier run has finished.
    pub(crate) fn from_file(file: TaskFile) -> TaskOutput {
        let ports = file.ports().iter().map(|(name, shape)| {
            let port = Port {
                width: shape.width,
                partitions: shape.partitions,
                rows: shape.rows,
                bytes: shape.bytes,
                chunks: Vec::new(),
                lease: None,
            };
            (name.clone(), port)
        });
        TaskOutput {
            ports: ports.collect(),
            counters: file.counters().clone(),
            file: Some(Arc::new(file)),
            held: false,
        }
    }

    /// Takes it apart by port: each is read, and freed, at a time of its own.
    pub(crate) fn contributions(self) -> impl Iterator<Item = (String, Contribution)> {
        let (file, held) = (self.file, self.held);
        self.ports.into_iter().map(move |(name, port)| {
            let file = file.clone();
            (name, Contribution { port, file, held })
        })
    }
}

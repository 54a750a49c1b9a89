//! The output of a task: chunks of rows ordered by partition, one port for each shuffle or table.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Lease;
use crate::error::{Error, Result};
use crate::row::Row;
use crate::spill::TaskFile;

/// A vector of rows of any type, seen as bytes.
trait RowBlock: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<R: Row> RowBlock for Vec<R> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

/// Bytes that are not rows.
struct Blob(Vec<u8>);

impl RowBlock for Blob {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Rows of a task ordered by partition.
pub(crate) struct RowChunk {
    block: Box<dyn RowBlock>,
    /// Where each partition ends, in units of `width` bytes.
    ends: Vec<u32>,
    width: usize,
}

impl RowChunk {
    pub(crate) fn new<R: Row>(rows: Vec<R>, ends: Vec<u32>) -> RowChunk {
        RowChunk {
            block: Box::new(rows),
            ends,
            width: size_of::<R>(),
        }
    }

    /// A single partition of opaque bytes.
    pub(crate) fn blob(bytes: Vec<u8>) -> RowChunk {
        RowChunk {
            ends: vec![u32::try_from(bytes.len()).unwrap_or(u32::MAX)],
            block: Box::new(Blob(bytes)),
            width: 1,
        }
    }

    /// Bytes that it occupies in memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.block.bytes().len() + self.ends.len() * size_of::<u32>()) as u64
    }

    /// The bytes of the rows of a partition.
    pub(crate) fn partition(&self, partition: usize) -> &[u8] {
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

/// What a task has written to one shuffle or table.
pub(crate) struct Port {
    pub(crate) width: usize,
    pub(crate) partitions: u32,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) chunks: Vec<RowChunk>,
    /// The memory of the chunks, if the task is finished and they stay in memory.
    pub(crate) lease: Option<Lease>,
}

impl Port {
    /// Fails if the port has rows of another width or another number of partitions.
    pub(crate) fn check_shape(&self, name: &str, width: usize, partitions: u32) -> Result<()> {
        if (self.width, self.partitions) == (width, partitions) {
            return Ok(());
        }
        let describe =
            |width, partitions| format!("rows of {width} bytes in {partitions} partitions");
        Err(Error::TypeMismatch {
            name: name.to_owned(),
            found: describe(self.width, self.partitions),
            expected: describe(width, partitions),
        })
    }
}

/// The output of a finished task. If there is a file, it contains everything; `in_memory` says
/// whether the ports have everything as well.
pub(crate) struct TaskOutput {
    pub(crate) ports: BTreeMap<String, Port>,
    pub(crate) counters: BTreeMap<String, u64>,
    pub(crate) file: Option<Arc<TaskFile>>,
    pub(crate) in_memory: bool,
}

/// The output of one task for one shuffle or table.
pub(crate) struct Contribution {
    pub(crate) port: Port,
    pub(crate) file: Option<Arc<TaskFile>>,
    pub(crate) in_memory: bool,
}

impl Contribution {
    /// Frees the memory if everything is in a file as well.
    pub(crate) fn drop_memory(&mut self) {
        if self.file.is_some() {
            self.in_memory = false;
            self.port.chunks = Vec::new();
            self.port.lease = None;
        }
    }
}

impl TaskOutput {
    /// The output of a task that an interrupted run has finished.
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
            in_memory: false,
        }
    }

    /// Splits the output by port, so that each part can be read and freed separately.
    pub(crate) fn contributions(self) -> impl Iterator<Item = (String, Contribution)> {
        let (file, in_memory) = (self.file, self.in_memory);
        self.ports.into_iter().map(move |(name, port)| {
            let file = file.clone();
            let contribution = Contribution {
                port,
                file,
                in_memory,
            };
            (name, contribution)
        })
    }
}

//! Collecting the output of a running task.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::budget::{MemoryBudget, Shares};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::row::Row;
use crate::sort::{Partitioner, by_partition};
use crate::spill::TaskFileWriter;
use crate::task_output::{Contribution, Port, RowChunk, TaskOutput};

/// What all tasks of a run share: memory, progress and the folder for temporary files.
#[derive(Clone)]
pub(crate) struct RunResources {
    pub(crate) budget: Arc<MemoryBudget>,
    pub(crate) shares: Shares,
    pub(crate) progress: Arc<Progress>,
    /// Folder for temporary files.
    pub(crate) folder: PathBuf,
}

impl RunResources {
    /// Size of a write buffer in bytes.
    pub(crate) fn write_buffer(&self) -> usize {
        self.shares.chunk.min(256 << 10)
    }

    pub(crate) fn scratch_folder(&self) -> PathBuf {
        self.folder.clone()
    }
}

/// Where the output of a finished task is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// In memory if the budget allows, otherwise in a file.
    Memory,
    /// In a file, and in memory as well if the budget allows.
    MemoryAndFile,
    /// In a file only.
    File,
    /// In an unnamed file only.
    UnnamedFile,
}

/// Collects the chunks of one task, and spills them when the task's share of memory is used up.
pub(crate) struct TaskSink {
    resources: RunResources,
    /// The file for the output, if it is written to a named file.
    path: Option<PathBuf>,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    ports: BTreeMap<String, Port>,
    /// Bytes of the chunks in memory.
    bytes: u64,
    writer: Option<TaskFileWriter>,
}

impl TaskSink {
    pub(crate) fn new(resources: &RunResources, path: Option<PathBuf>) -> Rc<TaskSink> {
        Rc::new(TaskSink {
            resources: resources.clone(),
            path,
            inner: RefCell::default(),
        })
    }

    pub(crate) fn resources(&self) -> &RunResources {
        &self.resources
    }

    /// Bytes of the finished chunks in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.borrow().bytes
    }

    /// Adds a port. A task that has no rows for a shuffle still has a port for it.
    pub(crate) fn open(&self, name: &str, width: usize, partitions: u32) -> Result<()> {
        let mut inner = self.inner.borrow_mut();
        if let Some(port) = inner.ports.get(name) {
            return port.check_shape(name, width, partitions);
        }
        let port = Port {
            width,
            partitions,
            rows: 0,
            bytes: 0,
            chunks: Vec::new(),
            lease: None,
        };
        inner.ports.insert(name.to_owned(), port);
        Ok(())
    }

    /// Adds a chunk to a port, and spills if the task's share of memory is used up.
    pub(crate) fn add(&self, name: &str, chunk: RowChunk, rows: u64, bytes: u64) -> Result<()> {
        self.resources.progress.check()?;
        self.resources.progress.add_rows(rows);
        let inner = &mut *self.inner.borrow_mut();
        let port = inner
            .ports
            .get_mut(name)
            .ok_or_else(|| Error::InvalidFlow(format!("`{name}` was never opened")))?;
        port.rows += rows;
        port.bytes += bytes;
        inner.bytes += chunk.bytes();
        port.chunks.push(chunk);
        // Every open port also has a chunk that is being filled, and one is being partitioned.
        let shares = &self.resources.shares;
        let filling = shares.chunk as u64 * (inner.ports.len() as u64 + 1);
        let limit = shares.task.saturating_sub(filling).max(shares.chunk as u64);
        if inner.bytes > limit {
            self.spill(inner)?;
        }
        Ok(())
    }

    fn spill(&self, inner: &mut Inner) -> Result<()> {
        let buffer = self.resources.write_buffer();
        let writer = match &mut inner.writer {
            Some(writer) => writer,
            none => none.insert(match &self.path {
                Some(path) => TaskFileWriter::create(path.clone(), buffer)?,
                None => TaskFileWriter::unnamed(&self.resources.scratch_folder(), buffer)?,
            }),
        };
        writer.section(by_name(&inner.ports), &self.resources.progress)?;
        for port in inner.ports.values_mut() {
            port.chunks = Vec::new();
        }
        inner.bytes = 0;
        Ok(())
    }

    /// Finishes the task, and returns its output. Output that was spilled once is in a file
    /// entirely.
    pub(crate) fn finish(
        &self,
        counters: BTreeMap<String, u64>,
        placement: Placement,
    ) -> Result<TaskOutput> {
        let inner = &mut *self.inner.borrow_mut();
        let may_stay = matches!(placement, Placement::Memory | Placement::MemoryAndFile);
        let in_memory = inner.writer.is_none() && may_stay && self.lease_memory(inner);
        let mut file = None;
        if !in_memory || placement != Placement::Memory {
            let writer = if in_memory {
                self.spill_copy(inner)?
            } else {
                self.spill(inner)?;
                inner.writer.take()
            };
            if let Some(writer) = writer {
                let whole = match &self.path {
                    Some(_) => writer.finish(&by_name(&inner.ports), &counters)?,
                    None => writer.finish_unnamed(&by_name(&inner.ports))?,
                };
                file = Some(Arc::new(whole));
            }
        }
        Ok(TaskOutput {
            ports: std::mem::take(&mut inner.ports),
            counters,
            file,
            in_memory,
        })
    }

    /// Takes the memory of the chunks from the budget, with one lease for each port. Returns false,
    /// and takes nothing, if the budget does not allow all of them.
    fn lease_memory(&self, inner: &mut Inner) -> bool {
        let mut leases = Vec::with_capacity(inner.ports.len());
        for port in inner.ports.values() {
            let bytes = port.chunks.iter().map(RowChunk::bytes).sum();
            match self.resources.budget.try_take(bytes) {
                Some(lease) => leases.push(lease),
                None => return false,
            }
        }
        for (port, lease) in inner.ports.values_mut().zip(leases) {
            port.lease = Some(lease);
        }
        true
    }

    fn spill_copy(&self, inner: &Inner) -> Result<Option<TaskFileWriter>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let mut writer = TaskFileWriter::create(path.clone(), self.resources.write_buffer())?;
        writer.section(by_name(&inner.ports), &self.resources.progress)?;
        Ok(Some(writer))
    }
}

fn by_name(ports: &BTreeMap<String, Port>) -> impl Iterator<Item = (&str, &Port)> + Clone {
    ports.iter().map(|(name, port)| (name.as_str(), port))
}

/// Writes the output of a finished task to a file; it stays in memory.
pub(crate) fn write_output(
    output: &mut TaskOutput,
    path: &Path,
    resources: &RunResources,
) -> Result<()> {
    let mut writer = TaskFileWriter::create(path.to_owned(), resources.write_buffer())?;
    writer.section(by_name(&output.ports), &resources.progress)?;
    let file = writer.finish(&by_name(&output.ports), &output.counters)?;
    output.file = Some(Arc::new(file));
    Ok(())
}

/// Writes the output of a task for one shuffle or table to a file; it stays in memory.
pub(crate) fn write_contribution(
    name: &str,
    contribution: &mut Contribution,
    path: &Path,
    resources: &RunResources,
) -> Result<()> {
    let mut writer = TaskFileWriter::create(path.to_owned(), resources.write_buffer())?;
    writer.section([(name, &contribution.port)], &resources.progress)?;
    let file = writer.finish(&[(name, &contribution.port)], &BTreeMap::new())?;
    contribution.file = Some(Arc::new(file));
    Ok(())
}

/// Writes rows of a task to one shuffle.
///
/// Rows are collected until they fill a chunk, which is partitioned while it is still in the cache.
pub struct Emitter<R: Row> {
    name: String,
    rows: Vec<R>,
    capacity: usize,
    partitioner: Partitioner,
    sink: Rc<TaskSink>,
}

impl<R: Row> Emitter<R> {
    pub(crate) fn new(
        name: &str,
        sink: Rc<TaskSink>,
        partitioner: Partitioner,
    ) -> Result<Emitter<R>> {
        const { assert!(size_of::<R>() > 0, "a row has at least one byte") };
        sink.open(name, size_of::<R>(), partitioner.partitions())?;
        Ok(Emitter {
            name: name.to_owned(),
            rows: Vec::new(),
            capacity: (sink.resources().shares.chunk / size_of::<R>().max(1)).max(1),
            partitioner,
            sink,
        })
    }

    /// Adds a row to the shuffle.
    #[inline(always)]
    pub fn push(&mut self, row: R) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() >= self.capacity {
            return self.flush();
        }
        Ok(())
    }

    /// Adds rows to the shuffle.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = R>) -> Result<()> {
        rows.into_iter().try_for_each(|row| self.push(row))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let (sorted, ends) = by_partition(&self.rows, &self.partitioner);
        let (rows, bytes) = (sorted.len() as u64, size_of_val(sorted.as_slice()) as u64);
        self.rows.clear();
        self.sink
            .add(&self.name, RowChunk::new(sorted, ends), rows, bytes)
    }
}

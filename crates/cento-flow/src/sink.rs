//! Where a running task puts its rows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::budget::{MemoryBudget, Shares};
use crate::chunk::{Chunk, Contribution, Port, TaskOutput};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::row::Row;
use crate::sort::{Partitioner, by_partition};
use crate::spill::TaskFileWriter;

/// What every task of a run works with.
#[derive(Clone)]
pub(crate) struct Workshop {
    pub(crate) budget: Arc<MemoryBudget>,
    pub(crate) shares: Shares,
    pub(crate) progress: Arc<Progress>,
    /// Where temporary files go; `None` for tasks that are run from outside and keep all in memory.
    pub(crate) folder: Option<PathBuf>,
}

impl Workshop {
    /// Bytes that are collected before a write.
    pub(crate) fn write_buffer(&self) -> usize {
        self.shares.chunk.min(256 << 10)
    }

    pub(crate) fn scratch_folder(&self) -> PathBuf {
        self.folder.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// What is to become of the output of a task when it is finished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// In memory if there is room, else in a file.
    IfRoom,
    /// In a file, and in memory as well if there is room.
    Always,
    /// In a file, and not in memory.
    File,
    /// In a file that has no name, and not in memory.
    Nameless,
}

/// Collects the chunks of one task; writes them out when the task's share of memory is used up.
pub(crate) struct TaskSink {
    workshop: Workshop,
    /// The file that the output goes to if it goes to a file.
    path: Option<PathBuf>,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    ports: BTreeMap<String, Port>,
    held: u64,
    writer: Option<TaskFileWriter>,
}

impl TaskSink {
    pub(crate) fn new(workshop: &Workshop, path: Option<PathBuf>) -> Rc<TaskSink> {
        Rc::new(TaskSink {
            workshop: workshop.clone(),
            path,
            inner: RefCell::default(),
        })
    }

    pub(crate) fn workshop(&self) -> &Workshop {
        &self.workshop
    }

    /// Makes a port known; a task that has no rows for a shuffle still has a port for it.
    pub(crate) fn open(&self, name: &str, width: usize, partitions: u32) -> Result<()> {
        let mut inner = self.inner.borrow_mut();
        if let Some(port) = inner.ports.get(name) {
            return port.check_like(name, width, partitions);
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

    /// Takes a chunk of so many rows and bytes.
    pub(crate) fn add(&self, name: &str, chunk: Chunk, rows: u64, bytes: u64) -> Result<()> {
        self.workshop.progress.check()?;
        self.workshop.progress.add_rows(rows);
        let inner = &mut *self.inner.borrow_mut();
        let port = inner
            .ports
            .get_mut(name)
            .ok_or_else(|| Error::Unsound(format!("`{name}` was never opened")))?;
        port.rows += rows;
        port.bytes += bytes;
        inner.held += chunk.weight();
        port.chunks.push(chunk);
        // Every open port also has a chunk that fills up, and one of them is being ordered.
        let shares = &self.workshop.shares;
        let filling = shares.chunk as u64 * (inner.ports.len() as u64 + 1);
        let limit = shares.task.saturating_sub(filling).max(shares.chunk as u64);
        let keeps_all = self.workshop.folder.is_none();
        if inner.held > limit && !keeps_all {
            self.spill(inner)?;
        }
        Ok(())
    }

    fn spill(&self, inner: &mut Inner) -> Result<()> {
        let buffer = self.workshop.write_buffer();
        let writer = match &mut inner.writer {
            Some(writer) => writer,
            none => none.insert(match &self.path {
                Some(path) => TaskFileWriter::create(path.clone(), buffer)?,
                None => TaskFileWriter::nameless(&self.workshop.scratch_folder(), buffer)?,
            }),
        };
        writer.section(by_name(&inner.ports), &self.workshop.progress)?;
        for port in inner.ports.values_mut() {
            port.chunks = Vec::new();
        }
        inner.held = 0;
        Ok(())
    }

    /// Ends the task. Its output is in memory if it was never written out and there is room, else
    /// in a file.
    pub(crate) fn finish(&self, counters: BTreeMap<String, u64>, keep: Keep) -> Result<TaskOutput> {
        let inner = &mut *self.inner.borrow_mut();
        let may_hold = matches!(keep, Keep::IfRoom | Keep::Always);
        let held = inner.writer.is_none() && may_hold && self.hold(inner);
        let outside = self.workshop.folder.is_none() && keep != Keep::Nameless;
        let mut file = None;
        if !outside && (!held || keep != Keep::IfRoom) {
            // What is held is written and stays; what is not held goes.
            let kept = if held {
                self.spill_copy(inner)?
            } else {
                self.spill(inner)?;
                inner.writer.take()
            };
            if let Some(writer) = kept {
                let whole = match &self.path {
                    Some(_) => writer.finish(&by_name(&inner.ports), &counters)?,
                    None => writer.finish_nameless(&by_name(&inner.ports))?,
                };
                file = Some(Arc::new(whole));
            }
        }
        Ok(TaskOutput {
            ports: std::mem::take(&mut inner.ports),
            counters,
            file,
            held,
        })
    }

    /// Takes what the chunks occupy from the budget, for each port its own, so that they can stay;
    /// all of them or none.
    fn hold(&self, inner: &mut Inner) -> bool {
        let mut leases = Vec::with_capacity(inner.ports.len());
        for port in inner.ports.values() {
            let weight = port.chunks.iter().map(Chunk::weight).sum();
            match self.workshop.budget.try_take(weight) {
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
        let mut writer = TaskFileWriter::create(path.clone(), self.workshop.write_buffer())?;
        writer.section(by_name(&inner.ports), &self.workshop.progress)?;
        Ok(Some(writer))
    }
}

fn by_name(ports: &BTreeMap<String, Port>) -> impl Iterator<Item = (&str, &Port)> + Clone {
    ports.iter().map(|(name, port)| (name.as_str(), port))
}

/// Writes the output of a finished task that is in memory alone to a file as well.
pub(crate) fn persist_output(
    output: &mut TaskOutput,
    path: &Path,
    workshop: &Workshop,
) -> Result<()> {
    let mut writer = TaskFileWriter::create(path.to_owned(), workshop.write_buffer())?;
    writer.section(by_name(&output.ports), &workshop.progress)?;
    let file = writer.finish(&by_name(&output.ports), &output.counters)?;
    output.file = Some(Arc::new(file));
    Ok(())
}

/// The same for what the task gave to one shuffle or table.
pub(crate) fn persist(
    name: &str,
    contribution: &mut Contribution,
    path: &Path,
    workshop: &Workshop,
) -> Result<()> {
    let mut writer = TaskFileWriter::create(path.to_owned(), workshop.write_buffer())?;
    writer.section([(name, &contribution.port)], &workshop.progress)?;
    let file = writer.finish(&[(name, &contribution.port)], &BTreeMap::new())?;
    contribution.file = Some(Arc::new(file));
    Ok(())
}

/// Takes the rows of a task for one shuffle.
///
/// Rows are collected until they fill a chunk, which is then ordered by partition while it is still
/// in the cache.
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
            capacity: (sink.workshop().shares.chunk / size_of::<R>().max(1)).max(1),
            partitioner,
            sink,
        })
    }

    /// Puts a row into the shuffle.
    #[inline(always)]
    pub fn push(&mut self, row: R) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() >= self.capacity {
            return self.flush();
        }
        Ok(())
    }

    /// Puts many rows into the shuffle.
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
            .add(&self.name, Chunk::new(sorted, ends), rows, bytes)
    }
}

//! Who runs the flows of analyses: this process, or a cluster.
//!
//! By default, [`LocalExecutor`] runs each flow with a [`Runner`]. A program that wants to run them
//! elsewhere, or to know which findings an analysis used, calls it inside [`with_executor`]. The
//! executor belongs to the thread rather than to the [`Workplace`](crate::Workplace): one command
//! makes several workplaces deep inside its code, and none of that code should know where flows
//! run. All of them run on the thread that called the analysis.

use std::cell::RefCell;
use std::rc::Rc;

use cento_flow::{Flow, RunReport, Runner};

use crate::error::Result;
use crate::run::Findings;

/// What a process does for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecutorRole {
    /// Everything.
    #[default]
    Local,
    /// It runs the command, and others run the tasks of its flows.
    Driver,
    /// It runs tasks of a driver on the same or another machine, which sees the same files.
    Worker,
}

/// Runs flows.
pub trait FlowExecutor {
    /// Runs a flow and returns its report. The runner has everything that it needs: the registry,
    /// the folder of the tables, the limits, and the progress to report to.
    fn execute(&self, runner: &Runner<'_>, flow: &Flow) -> Result<RunReport> {
        Ok(runner.run(flow)?)
    }

    /// What this process does. There is no default, so that an executor that wraps another one
    /// cannot forget it.
    fn role(&self) -> ExecutorRole;

    /// Called with the findings of each analysis, computed or cached.
    fn found(&self, _findings: &Findings) {}
}

/// Runs flows in this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalExecutor;

impl FlowExecutor for LocalExecutor {
    fn role(&self) -> ExecutorRole {
        ExecutorRole::Local
    }
}

thread_local! {
    static EXECUTOR: RefCell<Rc<dyn FlowExecutor>> = RefCell::new(Rc::new(LocalExecutor));
}

/// Returns the executor of this thread.
pub(crate) fn executor() -> Rc<dyn FlowExecutor> {
    EXECUTOR.with_borrow(Rc::clone)
}

/// Whether other processes run the tasks of flows. Then no process holds the states of a flow: they
/// are shared by the processes of a machine, and the driver declares what each task needs. An
/// analysis must not require that they fit in its memory.
pub(crate) fn on_cluster() -> bool {
    executor().role() != ExecutorRole::Local
}

/// Runs the flows of all analyses in `body` with this executor.
pub fn with_executor<T>(executor: Rc<dyn FlowExecutor>, body: impl FnOnce() -> T) -> T {
    /// Restores the previous executor, also after a panic.
    struct Previous(Rc<dyn FlowExecutor>);
    impl Drop for Previous {
        fn drop(&mut self) {
            EXECUTOR.replace(Rc::clone(&self.0));
        }
    }
    let _previous = Previous(EXECUTOR.replace(executor));
    body()
}

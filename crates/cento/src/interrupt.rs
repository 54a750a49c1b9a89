//! Ctrl-C: one way to stop for all commands.
//!
//! The first press asks the step that runs to stop at the next place where nothing is lost, and
//! waits for it a few seconds: a server that does not answer, say, is not waited for. Where nothing
//! has to be stopped in such a way, and on the second press, the process ends at once. Either way
//! unfinished files and temporary folders are removed, and the exit status is that of an
//! interrupted command.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::failure::INTERRUPTED;

type Action = Box<dyn Fn() + Send>;

/// How long a step may take to stop. What it has committed by then is safe however the process
/// ends.
const GRACE: Duration = Duration::from_secs(5);

static ACTIONS: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);
static PRESSED: AtomicBool = AtomicBool::new(false);

/// A step that is asked to stop when Ctrl-C is pressed, for as long as this lives.
#[must_use]
pub(crate) struct Stop(u64);

/// Has something done when Ctrl-C is pressed.
pub(crate) fn on_interrupt(action: impl Fn() + Send + 'static) -> Stop {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // Pressed between two steps: this one stops as soon as it begins.
    if PRESSED.load(Ordering::SeqCst) {
        action();
    }
    actions.push((number, Box::new(action)));
    Stop(number)
}

impl Drop for Stop {
    fn drop(&mut self) {
        let mut actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        actions.retain(|(number, _)| *number != self.0);
    }
}

/// Begins to listen. Without a handler Ctrl-C still ends the run, only less politely.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if PRESSED.swap(true, Ordering::SeqCst) {
            end();
        }
        let actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if actions.is_empty() {
            end();
        }
        actions.iter().for_each(|(_, action)| action());
        drop(actions);
        let waited = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            end();
        });
        if waited.is_err() {
            end();
        }
    });
}

fn end() -> ! {
    cento_file::clean_up();
    std::process::exit(INTERRUPTED.into());
}

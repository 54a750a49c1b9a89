//! Ctrl-C handling.
//!
//! The first Ctrl-C cancels the running step, which then has a few seconds to stop at a point where
//! no work is lost: the process does not wait for, say, a server that does not answer. The process
//! exits at once if no step is registered, and on the second Ctrl-C. In all cases unfinished files
//! and temporary folders are removed, and the exit status is [`INTERRUPTED`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::command_error::INTERRUPTED;

type Action = Box<dyn Fn() + Send>;

/// How long a step may take to stop. What it has committed by then is safe however the process
/// ends.
const GRACE: Duration = Duration::from_secs(5);

static ACTIONS: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);
static PRESSED: AtomicBool = AtomicBool::new(false);

/// Cancels a step on Ctrl-C until it is dropped.
#[must_use]
pub(crate) struct CancelGuard(u64);

/// Registers the action that cancels a step.
pub(crate) fn on_interrupt(action: impl Fn() + Send + 'static) -> CancelGuard {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // Pressed between two steps: this one is cancelled as soon as it starts.
    if PRESSED.load(Ordering::SeqCst) {
        action();
    }
    actions.push((number, Box::new(action)));
    CancelGuard(number)
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let mut actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        actions.retain(|(number, _)| *number != self.0);
    }
}

/// Installs the handler. If that fails, Ctrl-C ends the process without cleaning up.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if PRESSED.swap(true, Ordering::SeqCst) {
            exit();
        }
        let actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if actions.is_empty() {
            exit();
        }
        actions.iter().for_each(|(_, action)| action());
        drop(actions);
        let waiting = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            exit();
        });
        if waiting.is_err() {
            exit();
        }
    });
}

fn exit() -> ! {
    cento_file::clean_up();
    std::process::exit(INTERRUPTED.into());
}

//! Ctrl-C: one handler for the process, and what each step of a command wants done.

use std::sync::{Mutex, Once, PoisonError};

type Action = Box<dyn Fn() + Send>;

static ACTIONS: Mutex<Vec<Action>> = Mutex::new(Vec::new());
static HANDLER: Once = Once::new();

/// Has something done when Ctrl-C is pressed, beside what was asked for before.
pub(crate) fn on_interrupt(action: impl Fn() + Send + 'static) {
    let mut actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    actions.push(Box::new(action));
    drop(actions);
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C still ends the run, only less politely.
        let _ = ctrlc::set_handler(|| {
            let actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
            actions.iter().for_each(|action| action());
        });
    });
}

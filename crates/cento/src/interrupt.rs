//! Ctrl-C handling of the program.
//!
//! The first Ctrl-C cancels the running step, which then has a few seconds to stop at a point where
//! no work is lost: the process does not wait for, say, a server that does not answer. The process
//! exits at once if no step is registered, and on the second Ctrl-C. In all cases unfinished files
//! and temporary folders are removed, and the exit status is [`INTERRUPTED`].

use std::sync::Arc;
use std::time::Duration;

use crate::command_error::INTERRUPTED;
use crate::session::Session;

/// How long a step may take to stop. What it has committed by then is safe however the process
/// ends.
const GRACE: Duration = Duration::from_secs(5);

/// Installs the handler. If that fails, Ctrl-C ends the process without cleaning up.
pub(crate) fn listen(session: &Arc<Session>) {
    let session = Arc::clone(session);
    let _ = ctrlc::set_handler(move || {
        if session.is_cancelled() || !session.cancel() {
            exit();
        }
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

//! Errors of a command: a message, a hint, and an exit status that says whose fault it is.

use std::path::Path;
use std::process::ExitCode;

use crate::output::{clean, say};

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CommandError {
    error: anyhow::Error,
    hint: Option<String>,
    status: u8,
}

/// Exit status of a command ended by Ctrl-C, as shells expect it.
pub(crate) const INTERRUPTED: u8 = 130;
/// Exit status of wrong usage, the same as clap's.
const USAGE: u8 = 2;

/// The exit statuses, for help and man page.
pub(crate) const EXIT_STATUS: &str = "Exit status: 0 success, 1 failure, 2 wrong usage, 3 damaged input under --strict, 130 interrupted.";

impl CommandError {
    /// A mistake in the command line, found after parsing.
    pub(crate) fn usage(message: String, hint: &str) -> CommandError {
        CommandError {
            error: anyhow::anyhow!(message),
            hint: Some(hint.to_owned()),
            status: USAGE,
        }
    }

    /// Something that was requested and does not exist.
    pub(crate) fn missing(message: String, hint: String) -> CommandError {
        CommandError {
            error: anyhow::anyhow!(message),
            hint: Some(hint),
            status: 1,
        }
    }

    /// A file operation that failed.
    pub(crate) fn io(path: &Path, error: std::io::Error) -> CommandError {
        CommandError {
            error: anyhow::anyhow!("{}: {error}", path.display()),
            hint: None,
            status: 1,
        }
    }

    /// Replaces the hint.
    pub(crate) fn with_hint(mut self, hint: &str) -> CommandError {
        self.hint = Some(hint.to_owned());
        self
    }

    /// Prints the message and the hint, and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        say(&format!("error: {}", clean(&self.error.to_string())));
        if let Some(hint) = &self.hint {
            say(&format!("hint: {}", clean(hint)));
        }
        ExitCode::from(self.status)
    }
}

impl From<cento_store::Error> for CommandError {
    fn from(error: cento_store::Error) -> CommandError {
        let hint = error.hint();
        let status = match error {
            cento_store::Error::Cancelled => INTERRUPTED,
            _ => 1,
        };
        CommandError {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<cento_flow::Error> for CommandError {
    fn from(error: cento_flow::Error) -> CommandError {
        let hint = error.hint();
        let status = match error {
            cento_flow::Error::Cancelled => INTERRUPTED,
            cento_flow::Error::TooLittleMemory { .. } => USAGE,
            _ => 1,
        };
        CommandError {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<cento_find::Error> for CommandError {
    fn from(error: cento_find::Error) -> CommandError {
        use cento_find::Error;
        let hint = error.hint();
        match error {
            Error::Store(error) => error.into(),
            Error::Read(error) => error.into(),
            Error::Flow(error) => error.into(),
            Error::Labels(error) => error.into(),
            error => CommandError {
                status: match error {
                    Error::Parameter(_)
                    | Error::OverItself(_)
                    | Error::OneOutput { .. }
                    | Error::Exists(_) => USAGE,
                    _ => 1,
                },
                error: error.into(),
                hint,
            },
        }
    }
}

impl From<cento_labels::Error> for CommandError {
    fn from(error: cento_labels::Error) -> CommandError {
        let hint = error.hint();
        CommandError {
            error: error.into(),
            hint,
            status: 1,
        }
    }
}

impl From<cento_read::Error> for CommandError {
    fn from(error: cento_read::Error) -> CommandError {
        use cento_read::Error;
        let hint = error.hint();
        let status = match error {
            Error::BadField { .. } | Error::BadBaseUrl { .. } | Error::UnknownFormatName { .. } => {
                USAGE
            }
            _ => 1,
        };
        CommandError {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<cento_synth::Error> for CommandError {
    fn from(error: cento_synth::Error) -> CommandError {
        use cento_synth::Error;
        let hint = error.hint();
        let status = match error {
            Error::Cancelled => INTERRUPTED,
            Error::Settings { .. } => USAGE,
            _ => 1,
        };
        CommandError {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> CommandError {
        CommandError {
            error: error.into(),
            hint: None,
            status: 1,
        }
    }
}

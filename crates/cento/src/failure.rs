//! How a command fails: one line that says what was wrong with what, and a hint that says what to
//! do.

use std::process::ExitCode;

use crate::output::{clean, say};

/// Why a command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    error: anyhow::Error,
    hint: Option<String>,
    status: u8,
}

/// The status by which shells know that Ctrl-C ended a command.
pub(crate) const INTERRUPTED: u8 = 130;
/// The status that clap gives to wrong usage.
const USAGE: u8 = 2;

impl Failure {
    /// A mistake in what was typed, found after parsing.
    pub(crate) fn usage(message: String, hint: &str) -> Failure {
        Failure {
            error: anyhow::anyhow!(message),
            hint: Some(hint.to_owned()),
            status: USAGE,
        }
    }

    /// Something that was asked for and is not there.
    pub(crate) fn missing(message: String, hint: String) -> Failure {
        Failure {
            error: anyhow::anyhow!(message),
            hint: Some(hint),
            status: 1,
        }
    }

    /// Says it and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        say(&format!("error: {}", clean(&self.error.to_string())));
        if let Some(hint) = &self.hint {
            say(&format!("hint: {}", clean(hint)));
        }
        ExitCode::from(self.status)
    }
}

impl From<cento_store::Error> for Failure {
    fn from(error: cento_store::Error) -> Failure {
        let hint = error.hint();
        let status = match error {
            cento_store::Error::Cancelled => INTERRUPTED,
            _ => 1,
        };
        Failure {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<cento_flow::Error> for Failure {
    fn from(error: cento_flow::Error) -> Failure {
        let hint = error.hint();
        let status = match error {
            cento_flow::Error::Cancelled => INTERRUPTED,
            cento_flow::Error::TooLittleMemory { .. } => USAGE,
            _ => 1,
        };
        Failure {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<cento_find::Error> for Failure {
    fn from(error: cento_find::Error) -> Failure {
        use cento_find::Error;
        let hint = error.hint();
        match error {
            Error::Store(error) => error.into(),
            Error::Read(error) => error.into(),
            Error::Flow(error) => error.into(),
            Error::Labels(error) => error.into(),
            error => Failure {
                status: match error {
                    Error::Usage(_)
                    | Error::Unsuitable(_)
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

impl From<cento_labels::Error> for Failure {
    fn from(error: cento_labels::Error) -> Failure {
        let hint = error.hint();
        Failure {
            error: error.into(),
            hint,
            status: 1,
        }
    }
}

impl From<cento_read::Error> for Failure {
    fn from(error: cento_read::Error) -> Failure {
        use cento_read::Error;
        let hint = error.hint();
        let status = match error {
            Error::BadField { .. } | Error::BadBaseUrl { .. } | Error::UnknownFormatName { .. } => {
                USAGE
            }
            _ => 1,
        };
        Failure {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<cento_synth::Error> for Failure {
    fn from(error: cento_synth::Error) -> Failure {
        use cento_synth::Error;
        let hint = error.hint();
        let status = match error {
            Error::Cancelled => INTERRUPTED,
            Error::Settings { .. } => USAGE,
            _ => 1,
        };
        Failure {
            error: error.into(),
            hint,
            status,
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure {
            error: error.into(),
            hint: None,
            status: 1,
        }
    }
}

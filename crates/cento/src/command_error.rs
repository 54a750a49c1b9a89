//! Errors of a command: a message, a hint, and an exit status that says whose fault it is.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use cento_file::{Fault, bug_hint};

use crate::output::{clean, say_always};
use crate::wrong_path::{io_message, missing_input, not_a_corpus, not_labels};

/// Exit status of `index --strict` when some of the input was damaged.
pub(crate) const STRICT: u8 = 3;
/// Exit status of a command ended by Ctrl-C, as shells expect it.
pub(crate) const INTERRUPTED: u8 = 130;
/// Exit status of a bug in cento: `EX_SOFTWARE` of sysexits.h.
const BUG: u8 = 70;

/// The exit statuses, for help and man page.
pub(crate) const EXIT_STATUS: &str = "\
Exit status:
  0    success
  1    failure: an unsuitable corpus or input, a file that cannot be read, the network
  2    wrong usage: options, or a corpus or input that does not exist
  3    success, but some input was damaged (`cento index --strict`)
  4    a corpus, findings or labels are corrupted
  5    out of disk space
  70   a bug in cento
  130  interrupted by Ctrl-C; the same command resumes";

/// Why a command failed.
#[derive(Debug)]
pub struct CommandError {
    message: String,
    hint: Option<String>,
    fault: Fault,
}

impl CommandError {
    fn new(message: impl fmt::Display, hint: Option<String>, fault: Fault) -> CommandError {
        CommandError {
            message: without_error_number(&message.to_string()),
            hint,
            fault,
        }
    }

    /// A mistake in the command line, found after parsing.
    pub(crate) fn usage(message: String, hint: &str) -> CommandError {
        CommandError::new(message, Some(hint.to_owned()), Fault::Usage)
    }

    /// Something that was requested and does not exist.
    pub(crate) fn missing(message: String, hint: String) -> CommandError {
        CommandError::new(message, Some(hint), Fault::Unsuitable)
    }

    /// A file operation that failed.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> CommandError {
        let (message, hint) = io_message(path, error);
        CommandError::new(message, hint.map(str::to_owned), Fault::of_io(error))
    }

    /// A panic, which was printed when it happened.
    pub fn panicked() -> CommandError {
        CommandError::new("internal error: cento panicked", None, Fault::Bug)
    }

    /// Replaces the hint.
    pub(crate) fn with_hint(mut self, hint: &str) -> CommandError {
        self.hint = Some(hint.to_owned());
        self
    }

    /// Returns what is wrong with what, in one line; in several for options that do not parse.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self.fault {
            Fault::Bug => Some(bug_hint()),
            _ => self.hint.clone(),
        }
    }

    /// Returns whose fault it is.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Returns the exit status; [`EXIT_STATUS`] documents them.
    fn status(&self) -> u8 {
        match self.fault {
            Fault::Usage => 2,
            Fault::Corrupted => 4,
            Fault::OutOfSpace => 5,
            Fault::Interrupted => INTERRUPTED,
            Fault::Bug => BUG,
            _ => 1,
        }
    }

    /// Prints the message and the hint, and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        say_always(&format!("error: {}", clean(&self.message)));
        if self.fault == Fault::Bug {
            let words: Vec<String> = std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            say_always(&format!("hint: {}", bug_hint()));
            let version = env!("CARGO_PKG_VERSION");
            let command = words.join(" ");
            say_always(&format!(
                "note: cento {version}, command: {}",
                clean(&command)
            ));
        } else if let Some(hint) = &self.hint {
            say_always(&format!("hint: {}", clean(hint)));
        }
        ExitCode::from(self.status())
    }
}

/// Removes the numbers of errors of the operating system, which follow the words.
fn without_error_number(message: &str) -> String {
    let mut text = message.to_owned();
    while let Some(begin) = text.find(" (os error ") {
        let Some(length) = text[begin..].find(')') else {
            break;
        };
        text.replace_range(begin..=begin + length, "");
    }
    text
}

/// Options that do not parse. The message is that of the command line without its frame: the word
/// `error:` and the advice to try `--help`.
impl From<clap::Error> for CommandError {
    fn from(error: clap::Error) -> CommandError {
        let text = crate::command_line::plain(&error, false);
        let text = text.trim().trim_start_matches("error: ");
        let message = match text.rfind("\n\nFor more information") {
            Some(end) => &text[..end],
            None => text,
        };
        CommandError::new(message, None, Fault::Usage)
    }
}

impl From<cento_find::Error> for CommandError {
    fn from(error: cento_find::Error) -> CommandError {
        match &error {
            cento_find::Error::Store(cento_store::Error::NotACorpus(path)) => not_a_corpus(path),
            cento_find::Error::Labels(cento_labels::Error::NotLabels(path)) => not_labels(path),
            cento_find::Error::Labels(cento_labels::Error::Io { path, source })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                not_labels(path)
            }
            cento_find::Error::Read(cento_read::Error::NotFound { name })
            | cento_find::Error::Store(cento_store::Error::Read(cento_read::Error::NotFound {
                name,
            })) => missing_input(name)
                .unwrap_or_else(|| CommandError::new(&error, error.hint(), error.fault())),
            _ => CommandError::new(&error, error.hint(), error.fault()),
        }
    }
}

#[cfg(feature = "serve")]
impl From<cento_serve::Error> for CommandError {
    fn from(error: cento_serve::Error) -> CommandError {
        match error {
            cento_serve::Error::Find(error) => return error.into(),
            cento_serve::Error::Labels(error) => return error.into(),
            cento_serve::Error::Query(error) => return error.into(),
            _ => {}
        }
        CommandError::new(&error, error.hint(), error.fault())
    }
}

impl From<cento_store::Error> for CommandError {
    fn from(error: cento_store::Error) -> CommandError {
        cento_find::Error::from(error).into()
    }
}

impl From<cento_read::Error> for CommandError {
    fn from(error: cento_read::Error) -> CommandError {
        cento_find::Error::from(error).into()
    }
}

impl From<cento_query::Error> for CommandError {
    fn from(error: cento_query::Error) -> CommandError {
        if let cento_query::Error::Find(error) = error {
            return error.into();
        }
        CommandError::new(&error, error.hint(), error.fault())
    }
}

impl From<cento_labels::Error> for CommandError {
    fn from(error: cento_labels::Error) -> CommandError {
        cento_find::Error::from(error).into()
    }
}

impl From<cento_watch::Error> for CommandError {
    fn from(error: cento_watch::Error) -> CommandError {
        CommandError::new(&error, error.hint(), error.fault())
    }
}

impl From<cento_synth::Error> for CommandError {
    fn from(error: cento_synth::Error) -> CommandError {
        CommandError::new(&error, error.hint(), error.fault())
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> CommandError {
        let fault = Fault::of_io(&error);
        CommandError::new(error, None, fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_says_whose_fault_it_is() {
        let status = |fault: Fault| CommandError::new("", None, fault).status();
        for (fault, expected) in [
            (Fault::Usage, 2),
            (Fault::Unsuitable, 1),
            (Fault::Environment, 1),
            (Fault::Corrupted, 4),
            (Fault::OutOfSpace, 5),
            (Fault::Interrupted, INTERRUPTED),
            (Fault::Bug, BUG),
        ] {
            assert_eq!(status(fault), expected, "{fault:?}");
            assert!(
                EXIT_STATUS.contains(&format!("\n  {expected}  ")),
                "{fault:?}"
            );
        }
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(CommandError::io(Path::new("x"), &full).status(), 5);
    }
}

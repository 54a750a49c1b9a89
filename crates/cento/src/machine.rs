//! Options for threads, memory and temporary files, and how they are resolved.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

/// Threads and memory that a command may use.
#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    /// Worker threads [default: the number of cores]
    #[arg(long, value_name = "N", help_heading = "Machine")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Memory to use [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Machine")]
    pub(crate) memory: Option<Size>,
}

/// Threads, memory and a folder for temporary files.
#[derive(Debug, Args)]
pub(crate) struct ResourceArguments {
    /// Folder for temporary files [default: beside the findings; for inputs, the system's]
    #[arg(long, value_name = "FOLDER", help_heading = "Machine")]
    pub(crate) temp: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
}

/// A number of bytes, typed as `800`, `64M`, `1.5G` or `2GiB`. Units are powers of 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let exponent = match text[digits.len()..].to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 1,
            "m" | "mb" | "mib" => 2,
            "g" | "gb" | "gib" => 3,
            "t" | "tb" | "tib" => 4,
            unit => return Err(format!("unknown unit `{unit}`: use K, M, G or T")),
        };
        let number: f64 = digits
            .trim()
            .parse()
            .map_err(|_| format!("invalid size `{text}`"))?;
        if !number.is_finite() || number <= 0.0 {
            return Err(format!("invalid size `{text}`"));
        }
        Ok(Size((number * 1024f64.powi(exponent)) as u64))
    }
}

/// The least memory that a command is given: less is a number without its unit.
const LEAST_MEMORY: u64 = 64 << 10;

/// Parses an amount of memory.
fn memory(text: &str) -> Result<Size, String> {
    let size: Size = text.parse()?;
    if size.0 >= LEAST_MEMORY {
        return Ok(size);
    }
    Err(match text.parse::<f64>() {
        Ok(_) => format!("{text} bytes are too little: use a unit, such as {text}G"),
        Err(_) => "use at least 64K".to_owned(),
    })
}

/// Parses a duration in seconds, such as `60` or `0.5`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| time.as_millis() > 0)
        .ok_or_else(|| format!("invalid duration `{text}`: use seconds, at least 0.001"))
}

impl MachineArguments {
    /// Returns the number of threads to use.
    pub(crate) fn threads(&self) -> usize {
        threads_or_cores(self.threads)
    }

    /// Returns the number of bytes of memory to use.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
            .map_or_else(|| total_memory().unwrap_or(4 << 30) / 2, |size| size.0)
    }
}

/// Returns the typed number of threads, or the number of cores.
pub(crate) fn threads_or_cores(typed: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, Into::into);
    typed.map_or_else(cores, Into::into)
}

/// Returns the machine's memory, or the limit of its control group if that is lower: in a container
/// that may use a tenth of the host's memory, half of the host's memory is too much.
fn total_memory() -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = all.lines().find(|line| line.starts_with("MemTotal:"))?;
    let total = line
        .split_ascii_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()?
        .saturating_mul(1024);
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = allowed
        .and_then(|text| text.trim().parse::<u64>().ok())
        .unwrap_or(u64::MAX);
    Some(total.min(allowed))
}

#[cfg(test)]
mod tests {
    use super::{Size, memory, seconds};

    #[test]
    fn durations_are_parsed_from_seconds() {
        assert_eq!(seconds("0.5").map(|time| time.as_millis()), Ok(500));
        for text in ["", "0", "-1", "nan", "inf", "1e30", "0.0001", "a minute"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_without_a_unit_is_refused() {
        assert_eq!(memory("64K"), Ok(Size(64 << 10)));
        assert!(memory("3").is_err_and(|error| error.contains("such as 3G")));
        assert!(memory("63K").is_err());
    }

    #[test]
    fn sizes_are_parsed_with_units() {
        for (text, bytes) in [
            ("800", 800),
            ("64M", 64 << 20),
            ("1.5g", 3 << 29),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
        }
        for text in ["", "M", "-1", "0", "5 apples", "1e400", "nan", "12Q"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}

//! What the machine has, and how much of it a command may use.

use std::str::FromStr;
use std::time::Duration;

use crate::arguments::MachineArguments;

/// A number of bytes as people type it: `800`, `64M`, `1.5G`, `2GiB`. Units are powers of 1,024.
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
            unit => return Err(format!("`{unit}` is no unit of size: use K, M, G or T")),
        };
        let number: f64 = digits
            .trim()
            .parse()
            .map_err(|_| format!("`{text}` is no size"))?;
        if !number.is_finite() || number <= 0.0 {
            return Err(format!("`{text}` is no size"));
        }
        Ok(Size((number * 1024f64.powi(exponent)) as u64))
    }
}

/// A time as people type it: `60`, `0.5`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| time.as_millis() > 0)
        .ok_or_else(|| format!("`{text}` is no number of seconds, a thousandth at least"))
}

impl MachineArguments {
    /// Threads to use.
    pub(crate) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, Into::into);
        self.threads.map_or_else(cores, Into::into)
    }

    /// Bytes of memory to use: half of what there is, unless told.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
            .map_or_else(|| total_memory().unwrap_or(4 << 30) / 2, |size| size.0)
    }
}

/// The machine's memory, or what its control group allows if that is less: half of a host's memory
/// is no help in a container that may have a tenth of it.
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
    use super::{Size, seconds};

    #[test]
    fn seconds_are_read_as_people_type_them() {
        assert_eq!(seconds("0.5").map(|time| time.as_millis()), Ok(500));
        for text in ["", "0", "-1", "nan", "inf", "1e30", "0.0001", "a minute"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_people_type_them() {
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

//! Counts of requests for Prometheus, and the log of requests as lines of JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::error::{Error, Result};

/// The upper bounds of the histogram of durations, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];
/// Log lines that wait for the disk. Further ones are counted and dropped.
const WAITING_LINES: usize = 4_096;

/// The counts of one route.
#[derive(Debug, Default, Clone)]
struct RouteCounts {
    /// By status.
    requests: BTreeMap<u16, u64>,
    buckets: [u64; BUCKETS.len()],
    seconds: f64,
}

/// Counts since the server was started.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    routes: Mutex<BTreeMap<String, RouteCounts>>,
    pub(crate) connections: AtomicU64,
    pub(crate) verdicts: AtomicU64,
    pub(crate) detected: AtomicU64,
}

impl Metrics {
    /// Counts a request.
    pub(crate) fn count(&self, route: &str, status: u16, time: Duration) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        // Routes are the patterns of the router, so that there are few.
        let counts = match routes.get_mut(route) {
            Some(counts) => counts,
            None => routes.entry(route.to_owned()).or_default(),
        };
        *counts.requests.entry(status).or_default() += 1;
        let seconds = time.as_secs_f64();
        counts.seconds += seconds;
        for (bucket, bound) in counts.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    /// Renders the counts in the text format of Prometheus.
    pub(crate) fn render(&self, list_bytes: u64) -> String {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let routes = routes.clone();
        let mut out = String::new();
        let _ = writeln!(
            out,
            "# HELP cento_requests_total Requests, by route and status.\n# TYPE cento_requests_total counter"
        );
        for (route, counts) in &routes {
            for (status, count) in &counts.requests {
                let _ = writeln!(
                    out,
                    "cento_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
                );
            }
        }
        let _ = writeln!(
            out,
            "# HELP cento_request_seconds Time until the headers of the response were ready.\n# TYPE cento_request_seconds histogram"
        );
        for (route, counts) in &routes {
            let all: u64 = counts.requests.values().sum();
            let bounds = BUCKETS.iter().map(f64::to_string).zip(counts.buckets);
            for (bound, count) in bounds.chain([("+Inf".to_owned(), all)]) {
                let _ = writeln!(
                    out,
                    "cento_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {count}"
                );
            }
            let _ = writeln!(
                out,
                "cento_request_seconds_sum{{route=\"{route}\"}} {}\ncento_request_seconds_count{{route=\"{route}\"}} {all}",
                counts.seconds
            );
        }
        let gauges = [
            (
                "cento_connections",
                "gauge",
                "Open connections.",
                self.connections.load(Ordering::Relaxed),
            ),
            (
                "cento_list_bytes",
                "gauge",
                "Memory of the loaded lists.",
                list_bytes,
            ),
            (
                "cento_verdicts_total",
                "counter",
                "Verdicts that were stored.",
                self.verdicts.load(Ordering::Relaxed),
            ),
            (
                "cento_detected_pages_total",
                "counter",
                "Pages that were compared with labels.",
                self.detected.load(Ordering::Relaxed),
            ),
        ];
        for (name, kind, help, value) in gauges {
            let _ = writeln!(
                out,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
            );
        }
        out
    }
}

/// Writes a line of JSON for each request, without delaying it.
#[derive(Debug)]
pub(crate) struct RequestLog {
    lines: SyncSender<String>,
    dropped: AtomicU64,
}

impl RequestLog {
    /// Opens the log; `-` is standard error.
    pub(crate) fn open(path: &Path) -> Result<RequestLog> {
        let mut output: Box<dyn std::io::Write + Send> = match path.to_str() {
            Some("-") => Box::new(std::io::stderr()),
            _ => Box::new(
                std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
                    .map_err(|error| Error::io(path, error))?,
            ),
        };
        let (lines, waiting) = sync_channel::<String>(WAITING_LINES);
        let write = move || {
            while let Ok(line) = waiting.recv() {
                // A full disk must not stop the site.
                let _ = output.write_all(line.as_bytes());
            }
        };
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(write)
            .map_err(|error| Error::io(path, error))?;
        Ok(RequestLog {
            lines,
            dropped: AtomicU64::new(0),
        })
    }

    /// Logs a request. The query is not logged: it may contain a token or a text.
    pub(crate) fn request(&self, method: &str, path: &str, status: u16, time: Duration) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        let mut line = json!({
            "time": now(),
            "method": method,
            "path": path,
            "status": status,
            "ms": (time.as_secs_f64() * 1e5).round() / 100.0,
        });
        if dropped > 0 {
            line["dropped_lines"] = dropped.into();
        }
        if let Err(TrySendError::Full(_)) = self.lines.try_send(format!("{line}\n")) {
            self.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }
}

/// Returns the current time in RFC 3339.
pub(crate) fn now() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(0));
    cento_text::date::render(millis)
}

//! `cento flow-bench`: the engine on rows that are ready, for `bench/` and for tests that kill it.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cento_flow::{Progress, Runner, bench};
use serde_json::json;

use crate::arguments::FlowBenchArguments;
use crate::failure::Failure;
use crate::interrupt::on_interrupt;
use crate::output::{print, size};

pub(crate) fn run(arguments: &FlowBenchArguments) -> Result<ExitCode, Failure> {
    if let Some(rows) = arguments.make
        && !arguments.file.exists()
    {
        bench::make_file(&arguments.file, rows)?;
    }
    let Some(output) = &arguments.output else {
        return Ok(ExitCode::SUCCESS);
    };
    let prefilter = arguments.prefilter.map(|size| size.0);
    let flow = bench::flow(&arguments.file, prefilter, arguments.partitions)?;
    let progress = Progress::new();
    let cancelled = Arc::clone(&progress);
    let _stop = on_interrupt(move || cancelled.cancel());
    let watch = Watch::default();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| watch.run());
        let outcome = Runner {
            registry: &bench::registry(),
            threads: arguments.machine.threads(),
            memory: arguments.machine.memory(),
            temp: arguments.temp.clone().unwrap_or_else(|| output.clone()),
            tables: output.clone(),
            progress,
            checkpoint: Duration::from_secs(arguments.checkpoint),
        }
        .run(&flow);
        watch.stop.store(true, Ordering::Relaxed);
        outcome
    });
    let report = outcome?;
    let peak = watch.peak.into_inner();
    print(&if arguments.json {
        format!("{}\n", json!({ "report": report, "anonymous_peak": peak }))
    } else {
        format!(
            "{report}{:.1} seconds, at most {} of anonymous memory\n",
            report.seconds,
            size(peak)
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the operating system how much anonymous memory is resident, again and again, and remembers
/// the most.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    peak: AtomicU64,
}

impl Watch {
    fn run(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            self.peak
                .fetch_max(anonymous_memory().unwrap_or_default(), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// `RssAnon`, in bytes.
fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

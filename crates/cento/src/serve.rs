//! `cento serve`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;

use cento_serve::{ServeSettings, SiteServer, Stopper};
use clap::Args;

use crate::command_error::CommandError;
use crate::machine::MachineArguments;
use crate::output::{clean, print_data, say};
use crate::session::on_cancel;

/// Explore and judge the findings in a browser
///
/// Serves the findings of a corpus as a site: lists to sort and filter, pages coloured by source,
/// pairs of pages side by side, and sessions in which several people judge a random sample of a
/// list. Programs use the same content as JSON under /api.
///
/// The site listens on this machine only, unless there is a token. Content of the pages appears in
/// it only as text, and a browser loads nothing from elsewhere. Stop it with Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
The site shows the newest findings of each analysis when it was started. Verdicts are appended to
NAME.verdicts/verdicts.jsonl beside the corpus NAME.cento, and are on the disk before they are
confirmed.

Addresses for programs: /api/openapi.json describes them, /metrics has counts for Prometheus, and
/health says whether the server is alive.

Examples:
  cento serve crawl.cento
  cento serve crawl.cento --labels spam.labels     # POST /api/detect compares pages with the labels
  cento serve crawl.cento --listen 0.0.0.0:8420 --token @token.txt --host cento.example.com")]
pub(crate) struct ServeArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,
    /// The address to listen on; port 0 is any free port
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8420",
        help_heading = "Access"
    )]
    listen: String,
    /// A token that every request must have, of at least 16 characters; @FILE reads it from a file.
    /// Required if the address is not a loopback address
    #[arg(long, value_name = "TOKEN", help_heading = "Access")]
    token: Option<String>,
    /// A name under which clients reach the server, such as that of a proxy; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Access")]
    host: Vec<String>,
    /// Find these labels, made by `cento discover`
    ///
    /// For /api/detect.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Folder of the findings [default: CORPUS/findings]
    #[arg(long, value_name = "FOLDER")]
    findings: Option<PathBuf>,
    /// Folder of the verdicts [default: NAME.verdicts beside the corpus]
    #[arg(long, value_name = "FOLDER")]
    verdicts: Option<PathBuf>,
    /// Use a corpus whose last index was interrupted: the pages indexed so far
    #[arg(long)]
    partial: bool,
    /// Log each request as a line of JSON; - is standard error
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    log: Option<PathBuf>,
    /// Open the result in a browser
    #[arg(long, help_heading = "Output")]
    open: bool,
    #[command(flatten)]
    machine: MachineArguments,
}

pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode, CommandError> {
    let mut settings = ServeSettings::new(&arguments.corpus);
    settings.listen = address(&arguments.listen)?;
    settings.token = arguments.token.as_deref().map(token).transpose()?;
    settings.hosts = arguments.host.clone();
    settings.labels = arguments.labels.clone();
    if let Some(findings) = &arguments.findings {
        settings.findings = findings.clone();
    }
    if let Some(verdicts) = &arguments.verdicts {
        settings.verdicts = verdicts.clone();
    }
    settings.threads = arguments.machine.threads();
    settings.memory = arguments.machine.memory();
    settings.partial = arguments.partial;
    settings.log = arguments.log.clone();
    let server = SiteServer::bind(&settings)?;
    for sentence in server.summary() {
        say(&clean(&sentence));
    }
    let url = format!("http://{}/", server.address());
    print_data(&format!("{url}\n"))?;
    let stopper = Stopper::new();
    let guard = on_cancel({
        let stopper = stopper.clone();
        move || stopper.stop()
    });
    if arguments.open {
        crate::report::open_target(&url);
    }
    server.run(&stopper)?;
    drop(guard);
    say("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Parses an address with a port. `localhost` is a name of this machine.
fn address(text: &str) -> Result<SocketAddr, CommandError> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        CommandError::usage(
            format!("{text} is not an address with a port"),
            "write it as 127.0.0.1:8420",
        )
    })
}

/// Reads the token from a file, if it is named with @.
fn token(text: &str) -> Result<String, CommandError> {
    let Some(file) = text.strip_prefix('@') else {
        return Ok(text.to_owned());
    };
    let path = PathBuf::from(file);
    let token = std::fs::read_to_string(&path).map_err(|error| CommandError::io(&path, &error))?;
    Ok(token.trim().to_owned())
}

//! `cento serve` through every fault: an answer is right or an error, the server goes on, and no
//! verdict that was confirmed is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::faults::{library, under_limit};
use crate::support::{Random, Sandbox, contents};
use crate::{Rounds, corrupt, plan, results, set_up};

const SERVE: [&str; 9] = [
    "serve",
    "c.cento",
    "--labels",
    "l.labels",
    "--verdicts",
    "v.verdicts",
    "--listen",
    "127.0.0.1:0",
    "--threads=2",
];

/// A server, which is killed when it is dropped.
struct ChaosServer {
    child: Child,
    address: String,
}

impl Drop for ChaosServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ChaosServer {
    /// Starts a server. If it does not start, returns what it printed.
    fn start(command: &mut Command) -> Result<ChaosServer, String> {
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawned.spawn().unwrap();
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
        let address = line
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/');
        if address.is_empty() {
            let mut error = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut error);
            let _ = child.wait();
            return Err(error);
        }
        let address = address.to_owned();
        Ok(ChaosServer { child, address })
    }

    /// Sends a request, and returns the status and the body. `None` if the server is gone.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    fn get(&self, path: &str) -> Option<(u16, String)> {
        self.ask("GET", path, "")
    }
}

/// Returns the addresses of lists and of the evidence behind their first rows.
fn addresses(server: &ChaosServer) -> Vec<String> {
    let mut all = vec!["/api/lists".to_owned(), "/api/neighbourhoods".to_owned()];
    let (_, lists) = server.get("/api/lists").unwrap();
    let lists: Value = serde_json::from_str(&lists).unwrap();
    let lists = lists["lists"].as_array().or(lists.as_array()).unwrap();
    for name in lists.iter().filter_map(|list| list["name"].as_str()) {
        all.push(format!("/api/lists/{name}?size=20"));
        all.push(format!("/lists/{name}"));
    }
    all.extend((0..8).map(|page| format!("/api/pages/{page}")));
    all.extend((0..4).map(|page| format!("/api/pairs?page={page}&of={}", page + 40)));
    all
}

const FAULTS: [&str; 9] = [
    "kill",
    "full disk",
    "read-only disk",
    "failing read",
    "clock jumps",
    "memory",
    "corrupted part",
    "corrupted findings",
    "two processes",
];

#[test]
fn a_server_gives_right_answers_or_errors_whatever_happens() {
    let (rounds, mut random) = plan(9, 200);
    let sandbox = Sandbox::new();
    let Some(library) = library(&sandbox) else {
        return;
    };
    set_up(&sandbox, &mut random);
    results(&sandbox);
    let healthy = ChaosServer::start(&mut sandbox.command(&SERVE)).unwrap();
    let addresses = addresses(&healthy);
    let right: BTreeMap<&String, (u16, String)> = addresses
        .iter()
        .map(|path| (path, healthy.get(path).unwrap()))
        .collect();
    assert!(right.values().filter(|(status, _)| *status == 200).count() > 20);
    let session = json!({"list": "duplicates", "size": 100, "seed": 3}).to_string();
    let (status, started) = healthy.ask("POST", "/api/sessions", &session).unwrap();
    assert_eq!(status, 201, "{started}");
    drop(healthy);
    let whole = contents(&sandbox.path("c.cento"));
    let mut confirmed = BTreeSet::new();
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let fault = FAULTS[(round % FAULTS.len() as u64) as usize];
        counted.add("serve", fault);
        let (mut command, changed) = faulty(&sandbox, fault, &library, &mut random);
        let other = match fault {
            "two processes" => ChaosServer::start(&mut sandbox.command(&SERVE)).ok(),
            _ => None,
        };
        match ChaosServer::start(&mut command) {
            Ok(server) => {
                let kills = fault == "kill";
                let killed_after = random.below(12);
                for request in 0..12 {
                    if kills && request == killed_after {
                        let process = server.child.id().to_string();
                        let _ = Command::new("kill").args(["-9", &process]).status();
                    }
                    let path = &addresses[random.below(addresses.len() as u64) as usize];
                    let answer = match request % 3 {
                        0 => {
                            let item = random.below(8);
                            let verdict = ["spam", "unsure"][random.below(2) as usize];
                            let judge = format!("judge{}", random.below(40));
                            let body = json!({"judge": judge, "item": item, "verdict": verdict});
                            let path = "/api/sessions/0/verdicts";
                            let answer = server.ask("POST", path, &body.to_string());
                            if answer.as_ref().is_some_and(|(status, _)| *status == 201) {
                                confirmed.retain(|(one, other, _)| (one, *other) != (&judge, item));
                                confirmed.insert((judge, item, verdict));
                            }
                            answer
                        }
                        _ => server.get(path).inspect(|answer| {
                            let known = &right[path];
                            assert!(
                                answer.0 >= 400 || answer == known,
                                "{fault}: {path} is {answer:?}\ninstead of {known:?}"
                            );
                        }),
                    };
                    let Some((status, body)) = answer else {
                        assert!(kills || fault == "memory", "{fault}: the server is gone");
                        break;
                    };
                    assert!(!body.contains("panicked"), "{fault}: {status} {body}");
                }
            }
            Err(error) => {
                let said = fault == "memory" || error.contains("error: ");
                assert!(said && !error.contains("panicked"), "{fault}: {error}");
            }
        }
        drop(other);
        if let Some((path, bytes)) = changed {
            fs::write(path, bytes).unwrap();
        }
        // Nothing that was confirmed is lost, and the corpus is as before.
        let server = ChaosServer::start(&mut sandbox.command(&SERVE)).unwrap();
        let (_, session) = server.get("/api/sessions/0").unwrap();
        let session: Value = serde_json::from_str(&session).unwrap();
        let stored: BTreeSet<(&str, u64, &str)> = session["verdicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|verdict| {
                let text = |name: &str| verdict[name].as_str().unwrap();
                (
                    text("judge"),
                    verdict["item"].as_u64().unwrap(),
                    text("verdict"),
                )
            })
            .collect();
        for (judge, item, verdict) in &confirmed {
            let kept = stored.contains(&(judge.as_str(), *item, *verdict));
            assert!(kept, "{fault}: the verdict of {judge} on {item} is lost");
        }
    }
    for (name, bytes) in &whole {
        let now = fs::read(sandbox.path("c.cento").join(name)).unwrap_or_default();
        assert!(now == *bytes, "{name} has changed");
    }
    counted.print();
}

/// Returns the command with a fault, and the file that was corrupted with its content.
fn faulty(
    sandbox: &Sandbox,
    fault: &str,
    library: &Path,
    random: &mut Random,
) -> (Command, Option<(PathBuf, Vec<u8>)>) {
    let at = (1 + random.below(100)).to_string();
    let mut command = sandbox.command(&SERVE);
    let faults: Vec<(&str, &str)> = match fault {
        "full disk" => vec![
            ("FAULT_WRITE", "2"),
            ("FAULT_ERROR", "28"),
            ("FAULT_STAY", "1"),
        ],
        "read-only disk" => vec![("FAULT_ERROR", "30"), ("FAULT_STAY", "1")],
        "failing read" => vec![("FAULT_READ", &at)],
        "clock jumps" => vec![("FAULT_CLOCK", "1")],
        "memory" => {
            let kibibytes = 50_000 + random.below(400_000);
            return (under_limit(sandbox, &SERVE, kibibytes), None);
        }
        "corrupted part" | "corrupted findings" => {
            let of_findings = fault == "corrupted findings";
            let mut files: Vec<PathBuf> = contents(&sandbox.path("c.cento"))
                .into_iter()
                .map(|(name, _)| name)
                .filter(|name| !name.ends_with(".lock"))
                .filter(|name| name.starts_with("findings/") == of_findings)
                .map(|name| sandbox.path("c.cento").join(name))
                .collect();
            let file = files.swap_remove(random.below(files.len() as u64) as usize);
            let whole = corrupt(&file, random);
            return (command, Some((file, whole)));
        }
        _ => Vec::new(),
    };
    if !faults.is_empty() {
        let root = fs::canonicalize(sandbox.path("")).unwrap();
        command.env("LD_PRELOAD", library).env("FAULT_ROOT", root);
        command.envs(faults);
    }
    (command, None)
}

//! A local HTTP server with configurable faults.

#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "each test file uses a part of it, and a failure must end the test"
)]

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A response with this status, without the object.
    Status(u16),
    /// The connection is closed after this many bytes of the body.
    Cut(usize),
    /// Nothing more is sent after this many bytes of the body.
    Stall(usize),
    /// The body is sent one byte at a time, with this delay between bytes.
    Drip(Duration),
    /// The connection is closed without a response.
    Hang,
    /// No fault.
    None,
}

/// The object at one path.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) tag: Option<String>,
    /// Whether ranges are supported.
    pub(crate) ranges: bool,
    /// Whether the body is chunked, without its length.
    pub(crate) chunked: bool,
    /// Additional headers.
    pub(crate) headers: Vec<(String, String)>,
    /// The target of a redirect.
    pub(crate) moved: Option<String>,
    /// The faults of the next requests, one each.
    pub(crate) faults: VecDeque<Fault>,
}

impl Resource {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Resource {
        Resource {
            bytes: Arc::new(bytes.into()),
            tag: Some("\"one\"".into()),
            ranges: true,
            chunked: false,
            headers: Vec::new(),
            moved: None,
            faults: VecDeque::new(),
        }
    }

    pub(crate) fn with_faults(mut self, faults: impl IntoIterator<Item = Fault>) -> Resource {
        self.faults.extend(faults);
        self
    }
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The path with the query.
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
}

#[derive(Default)]
struct State {
    resources: HashMap<String, Resource>,
    requests: Vec<Request>,
}

/// A server that runs until the end of the test.
pub(crate) struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn start<'a>(resources: impl IntoIterator<Item = (&'a str, Resource)>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            resources: resources
                .into_iter()
                .map(|(path, resource)| (path.to_owned(), resource))
                .collect(),
            requests: Vec::new(),
        }));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || {
                    // Fails if the client closes the connection.
                    let _ = serve(&stream, &state);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Server { port, state }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn put(&self, path: &str, resource: Resource) {
        let mut state = self.state.lock().unwrap();
        state.resources.insert(path.into(), resource);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    let mut first = String::new();
    lines.read_line(&mut first)?;
    let Some(path) = first.split(' ').nth(1).map(str::to_owned) else {
        return Ok(());
    };
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let (resource, fault) = {
        let mut state = state.lock().unwrap();
        state.requests.push(Request {
            path: path.clone(),
            headers: headers.clone(),
        });
        match state.resources.get_mut(&path) {
            None => return status(stream, 404, ""),
            Some(resource) => {
                let fault = resource.faults.pop_front().unwrap_or(Fault::None);
                (resource.clone(), fault)
            }
        }
    };
    match fault {
        Fault::Hang => return Ok(()),
        Fault::Status(code) => return status(stream, code, ""),
        _ => {}
    }
    if let Some(moved) = &resource.moved {
        return status(stream, 302, &format!("Location: {moved}\r\n"));
    }
    answer(stream, &resource, &headers, fault)
}

fn status(mut stream: &TcpStream, code: u16, more: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {code} X\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn answer(
    mut stream: &TcpStream,
    resource: &Resource,
    headers: &HashMap<String, String>,
    fault: Fault,
) -> std::io::Result<()> {
    let all = resource.bytes.as_slice();
    if let (Some(wanted), Some(tag)) = (headers.get("if-match"), &resource.tag)
        && wanted != tag
    {
        return status(stream, 412, "");
    }
    let range = headers
        .get("range")
        .filter(|_| resource.ranges)
        .and_then(|range| range.strip_prefix("bytes=")?.split_once('-'))
        .map(|(begin, end)| {
            let begin: usize = begin.parse().unwrap();
            let end = end.parse().map_or(all.len(), |last: usize| last + 1);
            (begin, end.min(all.len()))
        });
    let mut head = String::new();
    let body = match range {
        Some((begin, _)) if begin >= all.len() => {
            let total = all.len();
            return status(stream, 416, &format!("Content-Range: bytes */{total}\r\n"));
        }
        Some((begin, end)) => {
            head.push_str(&format!(
                "HTTP/1.1 206 Partial\r\nContent-Range: bytes {begin}-{}/{}\r\n",
                end - 1,
                all.len()
            ));
            &all[begin..end]
        }
        None => {
            head.push_str("HTTP/1.1 200 OK\r\n");
            all
        }
    };
    if let Some(tag) = &resource.tag {
        head.push_str(&format!("ETag: {tag}\r\n"));
    }
    for (name, value) in &resource.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if resource.chunked {
        head.push_str("Transfer-Encoding: chunked\r\n");
    } else {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let sent = match fault {
        Fault::Cut(bytes) | Fault::Stall(bytes) => bytes.min(body.len()),
        _ => body.len(),
    };
    if resource.chunked {
        for piece in body[..sent].chunks(1000) {
            write!(stream, "{:x}\r\n", piece.len())?;
            stream.write_all(piece)?;
            stream.write_all(b"\r\n")?;
        }
        if sent == body.len() && !matches!(fault, Fault::Cut(_) | Fault::Stall(_)) {
            stream.write_all(b"0\r\n\r\n")?;
        }
    } else if let Fault::Drip(pause) = fault {
        for byte in body {
            stream.write_all(&[*byte])?;
            std::thread::sleep(pause);
        }
    } else {
        stream.write_all(&body[..sent])?;
    }
    if matches!(fault, Fault::Stall(_)) {
        // Until the client gives up.
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let _ = stream.read(&mut [0]);
    }
    Ok(())
}

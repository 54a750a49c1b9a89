//! Clients that send or read slowly are disconnected after a time limit, and others are served
//! meanwhile. The limits are shorter here than by default.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cento_serve::{ServeSettings, SiteServer, Stopper};

use crate::harness::corpus;

const LIMIT: Duration = Duration::from_millis(600);
/// How late the end of a connection may be on a busy machine.
const DELAY: Duration = Duration::from_secs(20);

/// A server in this process.
struct LimitedServer {
    address: SocketAddr,
    stopper: Stopper,
    running: Option<JoinHandle<cento_serve::Result<()>>>,
}

impl LimitedServer {
    fn start(verdicts: &str, connections: usize) -> LimitedServer {
        let mut settings = ServeSettings::new(corpus().path("c.cento"));
        settings.verdicts = corpus().path(verdicts);
        settings.limits.connections = connections;
        settings.limits.headers = LIMIT;
        settings.limits.body = 2 * LIMIT;
        settings.limits.body_pause = LIMIT;
        settings.limits.stalled = LIMIT;
        let server = SiteServer::bind(&settings).unwrap();
        let address = server.address();
        let stopper = Stopper::new();
        let running = {
            let stopper = stopper.clone();
            std::thread::spawn(move || server.run(&stopper))
        };
        LimitedServer {
            address,
            stopper,
            running: Some(running),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DELAY)).unwrap();
        stream.set_write_timeout(Some(DELAY)).unwrap();
        stream
    }

    /// Asks for the health of the server on a new connection.
    fn is_healthy(&self) -> bool {
        let mut stream = self.connect();
        let request = format!(
            "GET /health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply.starts_with("HTTP/1.1 200 ")
    }
}

impl Drop for LimitedServer {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

/// Sends a beginning, and then single bytes until the server closes the connection or answers.
/// Returns the answer and the time that it took.
fn trickle(server: &LimitedServer, beginning: &str, byte: u8) -> (String, Duration) {
    let begun = Instant::now();
    let mut stream = server.connect();
    stream.write_all(beginning.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let mut reply = Vec::new();
    let mut buffer = [0; 4096];
    while begun.elapsed() < DELAY {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => reply.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock) => {
                if stream.write_all(&[byte]).is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    (
        String::from_utf8_lossy(&reply).into_owned(),
        begun.elapsed(),
    )
}

#[test]
fn headers_that_trickle_are_cut_off_and_others_are_served() {
    let server = LimitedServer::start("slow-headers.verdicts", 8);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| trickle(&server, "GET /health HTTP/1.1\r\nX-Slow: ", b'a'));
        assert!(server.is_healthy());
        let (_, took) = slow.join().unwrap();
        assert!(took >= LIMIT && took < DELAY, "{took:?}");
    });
}

#[test]
fn a_body_that_trickles_is_refused_and_others_are_served() {
    let server = LimitedServer::start("slow-body.verdicts", 8);
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
        server.address
    );
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| trickle(&server, &head, b' '));
        assert!(server.is_healthy());
        let (reply, took) = slow.join().unwrap();
        assert!(reply.starts_with("HTTP/1.1 408 "), "{reply}");
        assert!(took >= 2 * LIMIT && took < DELAY, "{took:?}");
    });
}

#[test]
fn a_body_that_stops_is_refused() {
    let server = LimitedServer::start("stopped-body.verdicts", 8);
    let begun = Instant::now();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reply = String::new();
    let _ = stream.read_to_string(&mut reply);
    assert!(reply.starts_with("HTTP/1.1 408 "), "{reply}");
    assert!(begun.elapsed() >= LIMIT && begun.elapsed() < DELAY);
}

#[test]
fn a_reader_that_stalls_is_disconnected_and_others_are_served() {
    let server = LimitedServer::start("stalled.verdicts", 1);
    let mut stream = server.connect();
    // More answers than the buffers of the system hold, and none of them is read.
    let request = format!(
        "GET /api/lists/passages/rows HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.address
    );
    let begun = Instant::now();
    stream
        .set_write_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    // The server stops reading requests when answers wait, until it closes the connection.
    while begun.elapsed() < DELAY {
        let sent = stream.write_all(request.repeat(50).as_bytes());
        let waiting = |kind| {
            matches!(
                kind,
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            )
        };
        match sent {
            Err(error) if !waiting(error.kind()) => break,
            _ => {}
        }
    }
    assert!(begun.elapsed() >= LIMIT && begun.elapsed() < DELAY);
    // There is one place only, which is free again.
    assert!(server.is_healthy());
}

#[test]
fn more_connections_than_places_are_served_after_idle_ones_are_cut_off() {
    let places = 16;
    let server = LimitedServer::start("places.verdicts", places);
    let begun = Instant::now();
    let idle: Vec<TcpStream> = (0..2 * places)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
            stream
        })
        .collect();
    // It waits for two generations of idle connections.
    assert!(server.is_healthy());
    assert!(begun.elapsed() >= LIMIT && begun.elapsed() < DELAY);
    drop(idle);
}

//! Tests with a local server that stalls, closes connections, and sends errors and wrong data.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::server::{Fault, Resource, Server};

/// Short delays, so that the tests are fast.
fn settings() -> RemoteSettings {
    RemoteSettings {
        first_delay: Duration::from_millis(1),
        longest_delay: Duration::from_millis(4),
        stall_timeout: Duration::from_millis(150),
        ..RemoteSettings::default()
    }
}

fn client() -> Arc<Client> {
    Client::new(&settings()).unwrap()
}

/// Inspects the object at a URL.
fn object(client: &Arc<Client>, url: &str) -> Result<Object, TransferFailure> {
    let address = Address::parse(url)?;
    let wanted = Inspection {
        address: address.clone(),
        facts: ObjectFacts::default(),
        front: 1,
    };
    let (facts, _) = client.inspect(vec![wanted]).remove(0)?;
    Ok(Object::new(client.clone(), address, facts))
}

fn read(object: &Object, begin: u64, end: Option<u64>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    RemoteBody::new(object.clone(), begin, end).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn sample(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 253) as u8).collect()
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => (0usize..3000).prop_map(Fault::Cut),
        2 => prop_oneof![Just(503), Just(500), Just(429), Just(502)].prop_map(Fault::Status),
        1 => (0usize..3000).prop_map(Fault::Stall),
        2 => Just(Fault::Hang),
        1 => Just(Fault::None),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_bytes_are_correct_despite_network_faults(
        length in 0usize..6000,
        begin in 0u64..3000,
        faults in prop::collection::vec(fault(), 0..7),
        ranges: bool,
        chunked: bool,
        tagged: bool,
    ) {
        let bytes = sample(length);
        let mut resource = Resource::new(bytes.clone());
        resource.ranges = ranges;
        resource.chunked = chunked;
        resource.tag = tagged.then(|| "\"a\"".to_owned());
        let server = Server::start([("/a", resource.clone())]);
        let client = client();
        let object = object(&client, &server.url("/a")).unwrap();
        server.put("/a", resource.with_faults(faults));
        let begin = begin.min(length as u64);
        let read = read(&object, begin, None).unwrap();
        prop_assert!(read == bytes[begin as usize..]);
    }

    #[test]
    fn reading_at_any_offset_is_like_reading_a_file(
        length in 1usize..900_000,
        reads in prop::collection::vec((0.0..1.1f64, 1usize..300_000), 1..8),
        faults in prop::collection::vec(fault(), 0..4),
    ) {
        let bytes = sample(length);
        let server = Server::start([("/a", Resource::new(bytes.clone()))]);
        let mut settings = settings();
        settings.read_ahead = 1 << 20;
        let client = Client::new(&settings).unwrap();
        let object = object(&client, &server.url("/a")).unwrap();
        server.put("/a", Resource::new(bytes.clone()).with_faults(faults));
        let ranged = RangeReader::new(object, Vec::new());
        for (place, wanted) in reads {
            let at = (length as f64 * place) as usize;
            let mut buffer = vec![0; wanted];
            let mut filled = 0;
            while filled < wanted {
                match ranged.read_at((at + filled) as u64, &mut buffer[filled..]).unwrap() {
                    0 => break,
                    count => filled += count,
                }
            }
            let expected = bytes.get(at..(at + wanted).min(length)).unwrap_or_default();
            prop_assert!(buffer[..filled] == *expected);
        }
    }
}

#[test]
fn a_very_slow_server_counts_as_stalled() {
    let bytes = sample(20_000);
    let server = Server::start([("/a", Resource::new(bytes.clone()))]);
    let client = client();
    let object = object(&client, &server.url("/a")).unwrap();
    // Each pause is shorter than the stall timeout, but all bytes would take a quarter of an hour.
    let drip = Fault::Drip(Duration::from_millis(50));
    server.put(
        "/a",
        Resource::new(bytes.clone()).with_faults(vec![drip.clone(); 2]),
    );
    assert!(read(&object, 0, None).unwrap() == bytes);
    // A server that never recovers is an error.
    server.put("/a", Resource::new(bytes).with_faults(vec![drip; 100]));
    let error = read(&object, 0, None).unwrap_err();
    assert!(error.to_string().contains("bytes in"), "{error}");
}

#[test]
fn a_transfer_resumes_at_the_byte_it_reached() {
    let bytes = sample(500_000);
    let server = Server::start([("/a", Resource::new(bytes.clone()))]);
    let client = client();
    let object = object(&client, &server.url("/a")).unwrap();
    server.put(
        "/a",
        Resource::new(bytes.clone()).with_faults([Fault::Cut(200_000), Fault::Stall(100_000)]),
    );
    assert!(read(&object, 0, None).unwrap() == bytes);
    let ranges: Vec<_> = server
        .requests()
        .into_iter()
        .map(|mut request| {
            (
                request.headers.remove("range"),
                request.headers.remove("if-match"),
            )
        })
        .collect();
    let one = Some("\"one\"".to_owned());
    assert_eq!(
        ranges,
        [
            (Some("bytes=0-0".into()), None),
            (None, one.clone()),
            (Some("bytes=200000-499999".into()), one.clone()),
            (Some("bytes=300000-499999".into()), one),
        ]
    );
}

#[test]
fn a_server_that_never_recovers_is_an_error_with_its_cause() {
    let server = Server::start([(
        "/a",
        Resource::new("x").with_faults(vec![Fault::Status(503); 50]),
    )]);
    let failure = object(&client(), &server.url("/a")).unwrap_err();
    assert_eq!(failure.kind, RemoteErrorKind::Unreachable);
    assert_eq!(failure.tries, 9);
    assert_eq!(
        failure.to_string(),
        format!(
            "{}: the server responded 503 Service Unavailable (tried 9 times)",
            server.url("/a")
        )
    );
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn permanent_errors_are_not_retried() {
    let forbidden = Resource::new("x").with_faults([Fault::Status(403)]);
    let server = Server::start([("/forbidden", forbidden)]);
    for (path, kind) in [
        ("/missing", RemoteErrorKind::Missing),
        ("/forbidden", RemoteErrorKind::Forbidden),
    ] {
        let before = server.requests().len();
        let failure = object(&client(), &server.url(path)).unwrap_err();
        assert_eq!(failure.kind, kind);
        assert_eq!(server.requests().len(), before + 1);
    }
}

#[test]
fn a_refused_connection_is_reported() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let failure = object(&client(), &format!("http://127.0.0.1:{port}/a")).unwrap_err();
    assert_eq!(failure.kind, RemoteErrorKind::Unreachable);
    assert!(failure.detail.contains("refused"), "{failure}");
}

#[test]
fn an_object_that_changes_is_an_error() {
    let server = Server::start([("/a", Resource::new(sample(300_000)))]);
    let client = client();
    let tagged = object(&client, &server.url("/a")).unwrap();
    let mut other = Resource::new(vec![0; 300_000]);
    other.tag = Some("\"two\"".into());
    server.put("/a", other);
    let error = read(&tagged, 0, None).unwrap_err();
    assert_eq!(
        transfer_failure(&error).unwrap().kind,
        RemoteErrorKind::Changed
    );

    // Without tags, length and date are compared.
    let mut untagged = Resource::new(sample(300_000));
    untagged.tag = None;
    untagged.headers = vec![(
        "Last-Modified".into(),
        "Mon, 01 Jan 2024 00:00:00 GMT".into(),
    )];
    server.put("/a", untagged.clone());
    let known = object(&client, &server.url("/a")).unwrap();
    untagged.headers[0].1 = "Tue, 02 Jan 2024 00:00:00 GMT".into();
    server.put("/a", untagged.clone());
    let error = read(&known, 0, None).unwrap_err();
    assert_eq!(
        transfer_failure(&error).unwrap().kind,
        RemoteErrorKind::Changed
    );
    untagged.headers.clear();
    untagged.bytes = Arc::new(sample(299_999));
    server.put("/a", untagged);
    let error = read(&known, 0, None).unwrap_err();
    assert_eq!(
        transfer_failure(&error).unwrap().kind,
        RemoteErrorKind::Changed
    );
}

#[test]
fn a_redirect_is_followed_and_a_compressed_body_is_not_decompressed() {
    let mut moved = Resource::new("");
    moved.moved = Some("/b%20c?d=e".into());
    let mut packed = Resource::new(b"\x1f\x8b not really".as_slice());
    packed.headers = vec![("Content-Encoding".into(), "gzip".into())];
    let server = Server::start([("/a", moved), ("/b%20c?d=e", packed)]);
    let client = client();
    let object = object(&client, &server.url("/a")).unwrap();
    assert_eq!(read(&object, 0, None).unwrap(), b"\x1f\x8b not really");
    let last = server.requests().pop().unwrap();
    assert_eq!(last.path, "/b%20c?d=e");
    assert_eq!(
        last.headers.get("accept-encoding").map(String::as_str),
        Some("identity")
    );
}

#[test]
fn a_password_is_sent_and_not_displayed() {
    let server = Server::start([("/a", Resource::new("x"))]);
    let url = server.url("/a").replace("http://", "http://me:secret@");
    let client = client();
    let object = object(&client, &url).unwrap();
    assert_eq!(read(&object, 0, None).unwrap(), b"x");
    let sent = server.requests().pop().unwrap();
    assert_eq!(
        sent.headers.get("authorization").map(String::as_str),
        Some("Basic bWU6c2VjcmV0")
    );
    assert!(!format!("{object:?}").contains("secret"));
}

#[test]
fn prefetching_is_limited() {
    let bytes = sample(40 << 20);
    let server = Server::start([("/a", Resource::new(bytes.clone()))]);
    let mut settings = settings();
    settings.read_ahead = 1 << 20;
    settings.stall_timeout = Duration::from_secs(20);
    let client = Client::new(&settings).unwrap();
    let object = object(&client, &server.url("/a")).unwrap();
    let mut body = RemoteBody::new(object, 0, None);
    let mut read = vec![0; 3 << 20];
    body.read_exact(&mut read).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    // By now, all the space is used.
    assert!(body.waiting() <= 1 << 20, "{}", body.waiting());
    assert!(body.waiting() >= 512 << 10, "{}", body.waiting());
    assert!(read == bytes[..3 << 20]);
    let mut rest = Vec::new();
    body.read_to_end(&mut rest).unwrap();
    assert!(rest == bytes[3 << 20..]);
}

#[test]
fn small_reads_are_combined_into_few_requests() {
    let bytes = sample(3 << 20);
    let server = Server::start([("/a", Resource::new(bytes.clone()))]);
    let client = client();
    let ranged = RangeReader::new(object(&client, &server.url("/a")).unwrap(), Vec::new());
    // The end first, as with tables and zips, then everything in small pieces.
    let mut buffer = vec![0; 1000];
    ranged.read_at(bytes.len() as u64 - 8, &mut buffer).unwrap();
    ranged
        .read_at(bytes.len() as u64 - 200_000, &mut buffer)
        .unwrap();
    let mut at = 0;
    while at < bytes.len() as u64 {
        at += ranged.read_at(at, &mut buffer).unwrap() as u64;
    }
    assert!(server.requests().len() <= 8, "{}", server.requests().len());
}

#[test]
fn every_received_byte_counts_for_the_rate_limit() {
    // The tests of the throttle show that the rate is kept.
    let bytes = sample(300_000);
    let server = Server::start([("/a", Resource::new(bytes.clone()))]);
    let mut settings = settings();
    settings.max_rate = Some(4_000_000);
    let client = Client::new(&settings).unwrap();
    let object = object(&client, &server.url("/a")).unwrap();
    assert!(read(&object, 0, None).unwrap() == bytes);
    assert!(read(&object, 0, None).unwrap() == bytes);
    let ranged = RangeReader::new(object, Vec::new());
    ranged.read_at(100_000, &mut [0]).unwrap();
    // The inspection, two times everything, and a window up to the end.
    assert_eq!(client.paid(), 1 + 600_000 + 262_144);
}

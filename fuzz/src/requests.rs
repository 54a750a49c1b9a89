//! Requests to the site of `cento serve`.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use cento_find::FINDINGS;
use cento_serve::{ServeSettings, SiteServer, Stopper};

use crate::fixture::Fixture;
use crate::results::{run_analyses, write_labels_of};

struct Site {
    address: SocketAddr,
    stopper: Stopper,
    running: Option<JoinHandle<()>>,
    _fixture: Fixture,
}

thread_local! {
    static SITE: Site = Site::new();
}

impl Site {
    #[expect(clippy::unwrap_used, reason = "a target without its site cannot run")]
    fn new() -> Site {
        let fixture = Fixture::new();
        run_analyses(&fixture.corpus, &fixture.corpus.join(FINDINGS)).unwrap();
        let labels = write_labels_of(&fixture.corpus, fixture.folder.path()).unwrap();
        let mut settings = ServeSettings::new(&fixture.corpus);
        settings.labels = Some(labels);
        let server = SiteServer::bind(&settings).unwrap();
        let address = server.address();
        let stopper = Stopper::new();
        let running = {
            let stopper = stopper.clone();
            std::thread::spawn(move || {
                let _ = server.run(&stopper);
            })
        };
        Site {
            address,
            stopper,
            running: Some(running),
            _fixture: fixture,
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

/// The bytes are what a client sends. `HOST` in them is the address of the site.
pub fn request(bytes: &[u8]) {
    SITE.with(|site| {
        let host = site.address.to_string();
        let mut sent = Vec::with_capacity(bytes.len() + host.len());
        let mut rest = bytes;
        while let Some(at) = rest.windows(4).position(|part| part == b"HOST") {
            let (before, after) = rest.split_at(at);
            sent.extend(before);
            sent.extend(host.bytes());
            rest = after.get(4..).unwrap_or_default();
        }
        sent.extend(rest);
        let Ok(mut stream) = TcpStream::connect(site.address) else {
            return;
        };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
        // The server may refuse the request before it has read all of it.
        let _ = stream.write_all(&sent);
        let _ = stream.shutdown(Shutdown::Write);
        let mut response = Vec::new();
        let ended = stream.read_to_end(&mut response);
        let timed_out = ended.is_err_and(|error| {
            use std::io::ErrorKind::{TimedOut, WouldBlock};
            matches!(error.kind(), TimedOut | WouldBlock)
        });
        assert!(!timed_out, "the server neither answers nor closes");
        let status = response
            .strip_prefix(b"HTTP/1.1 ")
            .and_then(|rest| rest.get(..3));
        assert!(
            status != Some(b"500"),
            "{}",
            String::from_utf8_lossy(&response)
        );
    });
}

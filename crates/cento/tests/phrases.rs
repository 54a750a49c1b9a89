//! `cento phrases` on a synthetic crawl, scored against its truth.

mod support;

use serde_json::Value;
use support::Sandbox;

/// The corpus of a small crawl with a link farm and a spammer with nine pages per host.
fn crawl() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "1500",
        "--words",
        "200",
        "--languages",
        "en,de",
        "--farms",
        "0.07",
        "--spam",
        "0.2",
    ]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    sandbox
}

/// Returns the score of the findings in a folder.
#[expect(clippy::unwrap_used, reason = "a test without a score fails")]
fn score(sandbox: &Sandbox, findings: &str) -> Value {
    let findings = format!("{findings}/phrases");
    let output = sandbox
        .command(&["score", &findings, "--truth", "s/truth.jsonl", "--json"])
        .output()
        .unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(line.lines().next().unwrap()).unwrap()
}

#[test]
fn exactly_the_link_farm_and_the_spammer_are_flagged() {
    let sandbox = crawl();
    for extra in [&[][..], &["--exact"]] {
        let folder = |site: &str| format!("by-{site}{}", extra.len());
        for site in ["host", "domain", "ip"] {
            let findings = folder(site);
            let mut arguments = vec![
                "phrases",
                "s.cento",
                "--site",
                site,
                "--findings",
                &findings,
            ];
            arguments.extend(extra);
            sandbox.succeed(&arguments);
        }
        // The spammer has too few pages per host to be flagged; hosts of the farm have twenty.
        for site in ["host", "domain"] {
            let scored = score(&sandbox, &folder(site));
            assert_eq!(scored["wrong"], 0, "{site}: {scored}");
            assert_eq!(scored["found"], 1, "{site}: {scored}");
        }
        let scored = score(&sandbox, &folder("ip"));
        assert_eq!(scored["wrong"], 0, "{scored}");
        assert_eq!(scored["expected"], 2, "{scored}");
        assert_eq!(scored["found"], 2, "{scored}");
    }
}

#[test]
fn figures_are_written_and_an_empty_result_is_explained() {
    let sandbox = Sandbox::new();
    let line = |at: usize| {
        let words: Vec<String> = (0..40).map(|word| format!("w{at}x{word}")).collect();
        format!(
            "{{\"url\": \"http://h.example/{at}\", \"text\": \"{}\"}}\n",
            words.join(" ")
        )
    };
    sandbox.write("p.jsonl", (0..12).map(line).collect::<String>());
    sandbox.succeed(&["index", "p.jsonl", "-o", "p.cento"]);
    let said = sandbox.run(&["phrases", "p.cento", "--figures", "figures"]);
    assert!(
        said.contains("No phrase was sampled from at least 5 pages. Try a lower --min-pages"),
        "{said}"
    );
    for name in ["popularity", "pages", "covers", "sites"] {
        for ending in ["svg", "csv"] {
            let path = sandbox.path(&format!("figures/{name}.{ending}"));
            assert!(
                path.metadata().is_ok_and(|file| file.len() > 10),
                "{name}.{ending}"
            );
        }
    }
    let pdf = ["--figures", "papers", "--figure-format", "pdf"];
    let said = sandbox.run(&[&["phrases", "p.cento"][..], &pdf].concat());
    assert!(
        said.contains("papers: 5 figures (SVG, PDF and CSV)"),
        "{said}"
    );
    for name in ["popularity", "pages", "covers", "sites", "originality"] {
        let path = sandbox.path(&format!("papers/{name}.pdf"));
        let begins = std::fs::read(&path).is_ok_and(|file| file.starts_with(b"%PDF-1.4"));
        assert!(begins, "{name}");
        assert!(path.with_extension("svg").exists() && path.with_extension("csv").exists());
        assert!(!sandbox.path(&format!("figures/{name}.pdf")).exists());
    }
    let said = sandbox.run(&["phrases", "p.cento", "--figure-format", "pdf"]);
    assert!(
        said.starts_with("status: 2") && said.contains("--figures"),
        "{said}"
    );
    let said = sandbox.run(&["phrases", "p.cento", "--site", "ip"]);
    assert!(said.contains("The pages have no IP addresses"), "{said}");
    let said = sandbox.run(&["phrases", "p.cento", "--min-pages", "1"]);
    assert!(
        said.starts_with("status: 1") || said.starts_with("status: 2"),
        "{said}"
    );
    assert!(said.contains("at least 2"), "{said}");
}

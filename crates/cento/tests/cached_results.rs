//! Cached results depend on the corpus and the parameters, and on nothing else.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox fails"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use support::{Random, Sandbox};

/// A command with cached results: its fixed words, and options, one of each list.
struct CachedCommand {
    always: &'static [&'static str],
    choices: &'static [&'static [&'static str]],
}

/// The inputs have the same fields, numbers of records and lengths: only their content differs.
const INPUTS: [&str; 3] = ["a.jsonl", "b.jsonl", "c.jsonl"];

const COMMANDS: &[CachedCommand] = &[
    CachedCommand {
        always: &["copies"],
        choices: &[
            &["a.jsonl", "b.jsonl", "c.jsonl", "one.cento", "two.cento"],
            &["", "--resemblance 0.7", "--resemblance 0.9"],
            &["", "-k 3"],
            &["", "--keep longest", "--keep shortest-url"],
        ],
    },
    CachedCommand {
        always: &["copies"],
        choices: &[
            &["a.jsonl", "b.jsonl", "one.cento"],
            &["--against two.cento", "--against one.cento"],
            &["--rule megashingle", "--rule resemblance"],
        ],
    },
    CachedCommand {
        always: &["overlap"],
        choices: &[
            &["one.cento", "two.cento", "lines.cento"],
            &["", "--servers=host", "--servers=domain"],
            &["--chunk lines:1", "--chunk sentences:1"],
            &["--min-shared 1", "--min-shared 2"],
            &["", "--max-pages 3"],
        ],
    },
    CachedCommand {
        always: &["overlap", "--replication"],
        choices: &[&["one.cento", "two.cento"]],
    },
    CachedCommand {
        always: &["reuse"],
        choices: &[
            &["one.cento", "two.cento"],
            &["", "--against two.cento", "--against one.cento"],
            &["", "--scheme dct", "--scheme winnow:k=2,w=4"],
            &["", "--most 0.9", "--partial-share 0.3"],
            &["", "--min-shared 2"],
            &["", "--max-pages 3"],
            &["", "--frequent 3"],
            &["", "--frame"],
            &["", "--style reuse", "--style reuse,alias"],
        ],
    },
    CachedCommand {
        always: &["quilts"],
        choices: &[
            &["one.cento", "two.cento"],
            &["", "-k 3"],
            &["", "-m 3"],
            &["-c 1", "-c 2"],
            &["-t 0.3", "-t 0.6"],
            &["", "--foreign none"],
            &["", "--min-source 0.2"],
            &["", "--collapse"],
        ],
    },
    CachedCommand {
        always: &["passages"],
        choices: &[
            &["one.cento", "two.cento"],
            &["", "--min-chars 40"],
            &["", "--fold ocr"],
            &["", "--max-pages 3"],
        ],
    },
    CachedCommand {
        always: &["phrases"],
        choices: &[
            &["one.cento", "two.cento"],
            &["", "-k 3"],
            &["", "--min-pages 2"],
            &["", "--exact"],
            &["", "--site domain"],
            &["", "--collapse=no", "--rule megashingle"],
            &["", "--flag-pages 1"],
            &["", "--cover-from 2"],
        ],
    },
    CachedCommand {
        always: &["discover", "-o", "found.labels"],
        choices: &[
            &["one.cento", "two.cento"],
            &["--most-frequent 3", "--most-frequent 5", "--more-than 1"],
            &["", "--unit files"],
            &["", "--no-stop", "--stop stops.txt", "--stop others.txt"],
        ],
    },
    CachedCommand {
        always: &["discover", "-o", "found.labels"],
        choices: &[
            &[
                "--from a.jsonl",
                "--from b.jsonl",
                "--from c.jsonl",
                "--from one.cento",
            ],
            &["", "--field text=title"],
            &["--min-length 10", "--min-length 20"],
            &["", "--no-stop", "--stop stops.txt"],
        ],
    },
    CachedCommand {
        always: &["detect"],
        choices: &[
            &["one.cento", "two.cento"],
            &[
                "--labels a.labels",
                "--labels b.labels",
                "--labels c.labels",
            ],
            &["", "--threshold 0.25", "--page-threshold 0.25"],
            &["", "--depth 1"],
            &["", "--own site0.example", "--own site1.example"],
            &["", "--fuzzy=0.3"],
        ],
    },
    CachedCommand {
        always: &["detect", "--min-length", "10"],
        choices: &[
            &["one.cento", "two.cento"],
            &[
                "--against a.jsonl",
                "--against b.jsonl",
                "--against c.jsonl",
                "--against one.cento",
            ],
            &["", "--field text=title"],
            &["", "--stop stops.txt"],
        ],
    },
    CachedCommand {
        always: &["detect"],
        choices: &[
            &["one.cento", "two.cento"],
            &[
                "--against a.jsonl",
                "--against b.jsonl",
                "--against c.jsonl",
            ],
            &["", "--field text=title"],
            &["--grams 3", "--grams 4"],
            &["", "--min-share 0.2"],
        ],
    },
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = Random(15);
    let pool: Vec<String> = (0..12).map(|_| random.paragraph(14)).collect();
    let mut page = |input: usize, number: u64| {
        let pick = |random: &mut Random| pool[random.below(12) as usize].trim().to_owned();
        let body: Vec<String> = (0..4).map(|_| pick(&mut random)).collect();
        serde_json::json!({
            "url": format!("http://site{}.example/{input}/{number}", number % 3),
            "text": body.join("\n\n"),
            "title": pick(&mut random),
        })
    };
    for (number, name) in INPUTS.into_iter().enumerate() {
        let lines: Vec<String> = (0..8)
            .map(|line| format!("{}\n", page(number, line)))
            .collect();
        sandbox.write(name, lines.concat());
    }
    // The same length, with one different letter in one page.
    let text = fs::read_to_string(sandbox.path("a.jsonl")).unwrap();
    let at = text
        .find(&pool[0][..8])
        .or_else(|| text.find(&pool[1][..8]))
        .unwrap();
    let mut changed = text.into_bytes();
    changed[at] = if changed[at] == b'z' { b'b' } else { b'z' };
    sandbox.write("c.jsonl", changed);
    sandbox.write("stops.txt", format!("[chunks]\n{}\n", pool[2].trim()));
    sandbox.write("others.txt", format!("[chunks]\n{}\n", pool[3].trim()));
    for (corpus, inputs, more) in [
        ("one.cento", vec!["a.jsonl", "b.jsonl"], vec![]),
        ("two.cento", vec!["b.jsonl", "c.jsonl"], vec![]),
        (
            "lines.cento",
            vec!["a.jsonl", "b.jsonl"],
            vec!["--chunk", "lines:1"],
        ),
    ] {
        let mut arguments = vec!["index"];
        arguments.extend(inputs);
        arguments.extend(["-o", corpus]);
        arguments.extend(more);
        sandbox.succeed(&arguments);
    }
    for name in INPUTS {
        let labels = name.replace("jsonl", "labels");
        sandbox.succeed(&[
            "discover",
            "--from",
            name,
            "--min-length",
            "10",
            "-o",
            &labels,
        ]);
    }
    sandbox
}

/// Returns the runs in a folder of findings.
fn runs(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for analysis in fs::read_dir(folder).into_iter().flatten() {
        for run in fs::read_dir(analysis.unwrap().path()).unwrap() {
            let run = run.unwrap().path();
            if run.join("run.json").is_file() {
                found.insert(run.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found
}

/// Runs an analysis and returns its main table.
fn results(sandbox: &Sandbox, words: &[&str], findings: &str, more: &[&str]) -> String {
    let mut arguments = words.to_vec();
    arguments.extend(["--json", "--findings", findings]);
    arguments.extend(more);
    let output = sandbox.command(&arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{words:?}: {}",
        sandbox.transcript(&output)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_combination_of_corpus_and_parameters_has_its_own_cached_results() {
    let sandbox = sandbox();
    let mut random = Random(2024);
    for (number, command) in COMMANDS.iter().enumerate() {
        let shared = format!("shared{number}");
        let mut seen: BTreeSet<Vec<&str>> = BTreeSet::new();
        for _ in 0..5 {
            let mut words: Vec<&str> = command.always.to_vec();
            for choices in command.choices {
                let chosen = choices[random.below(choices.len() as u64) as usize];
                words.extend(chosen.split_whitespace());
            }
            let new = seen.insert(words.clone());
            let before = runs(&sandbox.path(&shared));
            let found = results(&sandbox, &words, &shared, &[]);
            let after = runs(&sandbox.path(&shared));
            assert_eq!(before != after, new, "{words:?} among {seen:?}");
            // Threads and memory are not parameters: the cached results are used.
            let again = results(
                &sandbox,
                &words,
                &shared,
                &["--memory", "96M", "--threads", "1"],
            );
            assert_eq!(runs(&sandbox.path(&shared)), after, "{words:?}");
            assert_eq!(found, again, "{words:?}");
            // Other cached results have no influence.
            let alone = format!("alone{number}");
            assert_eq!(found, results(&sandbox, &words, &alone, &[]), "{words:?}");
            fs::remove_dir_all(sandbox.path(&alone)).unwrap();
        }
    }
}

#[test]
fn detect_caches_results_by_original() {
    let sandbox = sandbox();
    let detect = |original: &str, more: &[&str]| {
        let mut arguments = vec!["detect", "one.cento", "--against", original, "--json"];
        arguments.extend(more);
        sandbox.succeed(&arguments)
    };
    let grams: &[&str] = &["--grams", "3"];
    for more in [&["--min-length", "10"], grams] {
        let (a, b) = (detect("a.jsonl", more), detect("b.jsonl", more));
        assert_ne!(a, b);
        assert_eq!(a, detect("a.jsonl", more));
    }
    let titles = detect("a.jsonl", &["--grams", "3", "--field", "text=title"]);
    assert_ne!(titles, detect("a.jsonl", grams));
}

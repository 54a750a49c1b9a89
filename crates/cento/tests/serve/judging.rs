//! Sessions of judges, and what their verdicts become.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Reply, corpus, server};

#[test]
fn several_judges_judge_at_once_and_the_statistics_add_up() {
    let server = server("judges.verdicts");
    let started = server.post_json(
        "/api/sessions",
        &json!({"list": "duplicates", "size": 20, "seed": 7}),
    );
    assert_eq!(started.status, 201, "{}", started.body);
    let again = server.post_json(
        "/api/sessions",
        &json!({"list": "duplicates", "size": 20, "seed": 7}),
    );
    let items = |number: u64| {
        server.get(&format!("/api/sessions/{number}")).json()["sample"]["items"].clone()
    };
    let number = |reply: &Reply| reply.json()["session"].as_u64().unwrap();
    assert_eq!(
        items(number(&started)),
        items(number(&again)),
        "a seed draws the same sample"
    );
    let session = number(&started);
    std::thread::scope(|scope| {
        for (judge, spam) in [("Ann", 15), ("Bo", 12), ("汉字", 20)] {
            let server = &server;
            scope.spawn(move || {
                for item in 0..20 {
                    let verdict = if item < spam { "spam" } else { "not-spam" };
                    let body =
                        json!({"judge": judge, "item": item, "verdict": verdict, "note": "=1+1"});
                    let reply =
                        server.post_json(&format!("/api/sessions/{session}/verdicts"), &body);
                    assert_eq!(reply.status, 201, "{}", reply.body);
                }
            });
        }
    });
    let statistics = server.get("/api/verdicts").json();
    let of = |judge: &str| {
        let rows = statistics["precision"].as_array().unwrap();
        rows.iter()
            .find(|row| row["judge"] == judge)
            .unwrap()
            .clone()
    };
    assert_eq!(of("Ann")["precision"], 0.75);
    // Wilson's interval for 15 of 20.
    assert!((of("Ann")["interval"][0].as_f64().unwrap() - 0.531_299).abs() < 1e-5);
    assert!((of("Ann")["interval"][1].as_f64().unwrap() - 0.888_138).abs() < 1e-5);
    let pair = statistics["agreement"]
        .as_array()
        .unwrap()
        .iter()
        .find(|pair| pair["judges"] == json!(["Ann", "Bo"]))
        .unwrap()
        .clone();
    assert_eq!(
        (pair["items"].as_u64(), pair["same"].as_u64()),
        (Some(20), Some(17))
    );
    // (0.85 - 0.55) / (1 - 0.55), by hand.
    assert!((pair["kappa"].as_f64().unwrap() - 0.3 / 0.45).abs() < 1e-9);
    let undone = server.post_json(
        &format!("/api/sessions/{session}/undo"),
        &json!({"judge": "Ann"}),
    );
    assert_eq!(undone.json()["item"], 19);
    let csv = server.get("/judge/export.csv");
    assert_eq!(csv.body.lines().count(), 1 + 59);
    assert!(csv.body.contains("'=1+1"), "no cell is a formula");
    let lines = server.get("/judge/export.jsonl");
    assert!(
        lines
            .body
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    let page = server.get("/judge");
    // 15 of 19, after one was undone.
    assert!(page.body.contains("78.9 %"), "{}", page.body);
    for wrong in [
        json!({"judge": "", "item": 0, "verdict": "spam"}),
        json!({"judge": "Ann", "item": 0, "verdict": "ham"}),
        json!({"judge": "Ann", "item": 0, "verdict": "spam", "extra": 1}),
        json!({"judge": "Ann", "item": -1, "verdict": "spam"}),
    ] {
        assert_eq!(
            server
                .post_json(&format!("/api/sessions/{session}/verdicts"), &wrong)
                .status,
            400,
            "{wrong}"
        );
    }
    assert_eq!(
        server
            .post_json(
                &format!("/api/sessions/{session}/verdicts"),
                &json!({"judge": "Ann", "item": 99, "verdict": "spam"})
            )
            .status,
        404
    );
}

#[test]
fn a_server_killed_while_people_judge_loses_nothing_that_was_confirmed() {
    let mut confirmed: Vec<(u64, &str)> = Vec::new();
    for round in 0..6u64 {
        let mut server = server("killed.verdicts");
        if round == 0 {
            let started = server.post_json(
                "/api/sessions",
                &json!({"list": "passages", "size": 200, "seed": 3}),
            );
            assert_eq!(started.status, 201);
        }
        let session = server.get("/api/sessions/0").json();
        let stored: BTreeSet<(u64, String)> = session["verdicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|verdict| {
                (
                    verdict["item"].as_u64().unwrap(),
                    verdict["verdict"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        for (item, verdict) in &confirmed {
            assert!(
                stored.contains(&(*item, (*verdict).to_owned())),
                "round {round}: item {item} is lost"
            );
        }
        if round == 5 {
            break;
        }
        let address = server.address.clone();
        let process = server.child.id();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60 + 35 * round));
            let _ = Command::new("kill")
                .args(["-9", &process.to_string()])
                .status();
        });
        for item in round * 20..round * 20 + 20 {
            let verdict = if item % 3 == 0 { "spam" } else { "unsure" };
            let body = json!({"judge": "Ann", "item": item, "verdict": verdict}).to_string();
            let request = format!(
                "POST /api/sessions/0/verdicts HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            match server.raw(request.as_bytes()) {
                Some(reply) if reply.status == 201 => confirmed.push((item, verdict)),
                Some(reply) => assert_eq!(reply.status, 201, "{}", reply.body),
                None => break,
            }
        }
        killer.join().unwrap();
        let _ = server.child.wait();
    }
    assert!(!confirmed.is_empty());
}

#[test]
fn confirmed_verdicts_become_labels_and_stop_chunks() {
    let server = server("confirm.verdicts");
    let started = server.post_json(
        "/api/sessions",
        &json!({"list": "labels", "size": 4, "seed": 1}),
    );
    assert_eq!(started.status, 201, "{}", started.body);
    for (item, verdict) in [(0, "spam"), (1, "not-spam"), (2, "spam"), (3, "unsure")] {
        let body = json!({"judge": "Ann", "item": item, "verdict": verdict});
        assert_eq!(
            server.post_json("/api/sessions/0/verdicts", &body).status,
            201
        );
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let written = server.request("POST", "/judge/0/labels", &form, "judge=Ann");
    assert_eq!(written.status, 200, "{}", written.body);
    assert!(
        written.body.contains("2 labels") && written.body.contains("1 stop chunk "),
        "{}",
        written.body
    );
    let info = corpus().succeed(&["labels", "info", "confirm.verdicts/session-0.labels"]);
    assert!(info.contains('2'), "{info}");
    corpus().succeed(&[
        "detect",
        "c.cento",
        "--labels",
        "confirm.verdicts/session-0.labels",
    ]);
}

//! Connected components, the example of an iteration, compared with union-find.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its files should stop there"
)]
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "the `main` of the example is not called here"
)]

#[path = "../examples/components.rs"]
mod components;
mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use support::{Machine, left, numbers, read_table};

fn find(parents: &mut BTreeMap<u64, u64>, page: u64) -> u64 {
    let parent = *parents.entry(page).or_insert(page);
    if parent == page {
        return page;
    }
    let root = find(parents, parent);
    parents.insert(page, root);
    root
}

/// Each page of an edge with the least page of its component.
fn oracle(edges: &[(u32, u32)]) -> Vec<(u64, u64)> {
    let mut parents = BTreeMap::new();
    for &(left, right) in edges.iter().filter(|(left, right)| left != right) {
        let (left, right) = (
            find(&mut parents, left.into()),
            find(&mut parents, right.into()),
        );
        parents.insert(left.max(right), left.min(right));
    }
    let pages: Vec<u64> = parents.keys().copied().collect();
    pages
        .into_iter()
        .map(|page| (page, find(&mut parents, page)))
        .collect()
}

fn run(edges: &[(u32, u32)], threads: usize) -> Vec<(u64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let tasks = edges.chunks(20).map(|some| json!(some)).collect();
    let machine = Machine::smallest(threads);
    machine
        .run(
            folder.path(),
            &components::registry(),
            &components::flow(tasks, 8),
        )
        .unwrap();
    assert!(left(folder.path()).is_empty());
    let table = read_table(folder.path(), "members");
    numbers(&table, "page")
        .into_iter()
        .zip(numbers(&table, "component"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn components_are_those_of_union_find(
        edges in prop::collection::vec((0u32..60, 0u32..60), 0..60),
        threads in prop_oneof![Just(1usize), Just(2), Just(7)],
    ) {
        prop_assert_eq!(run(&edges, threads), oracle(&edges));
    }
}

#[test]
fn a_long_chain_converges_in_few_rounds() {
    let chain: Vec<(u32, u32)> = (0..255).map(|page| (page, page + 1)).collect();
    assert!(
        run(&chain, 2)
            .into_iter()
            .all(|(_, component)| component == 0)
    );
}

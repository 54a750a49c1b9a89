//! Records of any length, compared with a naive implementation.

mod support;

use std::collections::BTreeMap;

use cento_flow::{Flow, Fragment, Registry, Shuffle, Stage, WideGroups, table_row};
use proptest::prelude::*;
use serde_json::json;
use support::{Machine, read_table};

type Record = (String, u64, String);

table_row! {
    /// The records of a group as one string.
    struct Joined {
        key: String,
        records: String,
    }
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.map("records", |context| {
        let mut records = context.wide_shuffle("records")?;
        for (key, order, value) in context.task::<Vec<Record>>()? {
            records.push(key.as_bytes(), order, value.as_bytes())?;
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>("join", |context, groups| {
        let mut joined = context.table::<Joined>("joined")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let records: Vec<_> = group.collect();
            let Some(first) = records.first() else {
                continue;
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let key = text(&first.key);
            if records.iter().any(|record| record.key != first.key) {
                return Err("two keys in one group".into());
            }
            let records = records
                .iter()
                .map(|record| format!("{}:{}|", record.order, text(&record.value)));
            joined.push(Joined {
                key,
                records: records.collect(),
            })?;
        }
        Ok(())
    });
    registry
}

fn record() -> impl Strategy<Value = Record> {
    // Values of about one fragment and of several; few keys, so that there are groups and copies.
    (
        "[a-c]{0,2}|[a-z]{60,90}",
        0u64..3,
        prop_oneof!["[x-z]{0,3}", "[a-z]{68,76}", "[a-z]{200,300}"],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn records_are_complete_and_sorted_in_their_groups(
        tasks in prop::collection::vec(prop::collection::vec(record(), 0..40), 0..4),
        partitions in 1u32..20,
        threads in prop_oneof![Just(1usize), Just(2), Just(7)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let flow = Flow::new("records")
            .shuffle_with("records", Shuffle { partitions, ..Shuffle::default() })
            .table("joined")
            .stage(Stage::map("records", tasks.iter().map(|records| json!(records)).collect()).writes("records"))
            .stage(Stage::reduce("join", "records").writes("joined"));
        Machine::smallest(threads).run(folder.path(), &registry(), &flow).unwrap();
        let mut expected: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
        for (key, order, value) in tasks.into_iter().flatten() {
            expected.entry(key).or_default().push((order, value));
        }
        let mut found: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
        for batch in read_table(folder.path(), "joined") {
            use arrow_array::cast::AsArray;
            let (keys, records) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
            for (key, joined) in keys.iter().flatten().zip(records.iter().flatten()) {
                let parts = joined.split_terminator('|').map(|record| record.split_once(':').unwrap());
                let parts: Vec<(u64, String)> = parts.map(|(order, value)| (order.parse().unwrap(), value.to_owned())).collect();
                prop_assert!(parts.is_sorted_by_key(|(order, _)| *order));
                prop_assert!(found.insert(key.to_owned(), parts).is_none());
            }
        }
        expected.values_mut().chain(found.values_mut()).for_each(|records| records.sort());
        prop_assert_eq!(found, expected);
    }
}

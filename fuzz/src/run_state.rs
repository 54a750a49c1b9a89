//! The files of an interrupted run, from which the next one resumes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use cento_file::Fault;
use cento_flow::{
    Bitmap, Flow, MemoryBudget, Progress, Registry, Row, RunReport, Runner, Shuffle, Stage,
    table_row,
};
use serde_json::json;
use tempfile::TempDir;

use crate::fixture::{collect, named_content};
use crate::forge;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct NumberRow {
    key: u64,
    value: u64,
}

impl Row for NumberRow {
    type Key = u64;
    type Rest = u64;
    fn key(&self) -> u64 {
        self.key
    }
    fn rest(&self) -> u64 {
        self.value
    }
}

table_row! {
    /// A key and the number of its rows.
    pub struct CountRow {
        pub key: u64,
        pub rows: u64,
    }
}

/// A run that was interrupted in its last stage.
struct Interrupted {
    folder: TempDir,
    /// The files of its temporary folder.
    files: BTreeMap<String, Vec<u8>>,
}

thread_local! {
    static INTERRUPTED: Interrupted = Interrupted::new();
}

/// The functions of the flow; the last stage fails if `fails`.
fn registry(fails: bool) -> Registry {
    let mut registry = Registry::new();
    registry.map("make", |context| {
        let first = context.task::<u64>()?;
        let seen = context.state::<Bitmap>("seen")?;
        let mut rows = context.shuffle::<NumberRow>("rows")?;
        for value in first..first + 20 {
            let key = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            seen.set(value % 64);
            rows.push(NumberRow { key, value })?;
        }
        Ok(())
    });
    registry.reduce::<NumberRow, _>("pass", |context, groups| {
        let seen = context.state::<Bitmap>("seen")?;
        let mut rows = context.shuffle::<NumberRow>("again")?;
        while let Some(group) = groups.next_group()? {
            for row in group.filter(|row| seen.get(row.value % 64)) {
                rows.push(row)?;
            }
        }
        Ok(())
    });
    registry.reduce::<NumberRow, _>("count", move |context, groups| {
        if fails && context.task_number() == 1 {
            return Err("interrupted".into());
        }
        let mut table = context.table::<CountRow>("counts")?;
        while let Some(group) = groups.next_group()? {
            let key = group.key();
            let rows = group.count() as u64;
            table.push(CountRow { key, rows })?;
        }
        Ok(())
    });
    registry
}

fn flow() -> Flow {
    let few = Shuffle {
        partitions: 2,
        ..Shuffle::default()
    };
    Flow::new("numbers")
        .shuffle_with("rows", few.clone())
        .shuffle_with("again", few)
        .state("seen", "bitmap", json!({ "bytes": 8 }))
        .table("counts")
        .stage(
            Stage::map("make", vec![json!(0), json!(10)])
                .writes("rows")
                .writes("seen"),
        )
        .stage(Stage::reduce("pass", "rows").reads("seen").writes("again"))
        .stage(Stage::reduce("count", "again").writes("counts"))
}

fn run(folder: &Path, fails: bool) -> cento_flow::Result<RunReport> {
    Runner {
        registry: &registry(fails),
        threads: 1,
        memory: MemoryBudget::MINIMUM_PER_THREAD,
        temp: folder.join("temp"),
        tables: folder.join("tables"),
        progress: Progress::new(),
        checkpoint: Duration::ZERO,
    }
    .run(&flow())
}

impl Interrupted {
    #[expect(clippy::unwrap_used, reason = "a target without its files cannot run")]
    fn new() -> Interrupted {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("tables")).unwrap();
        let error = run(folder.path(), true).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
        let mut files = BTreeMap::new();
        collect(&folder.path().join("temp"), "", &mut files);
        Interrupted { folder, files }
    }

    /// Makes the temporary folder what the interrupted run left.
    #[expect(clippy::unwrap_used, reason = "a target without its files cannot run")]
    fn restore(&self) {
        use std::os::unix::fs::DirBuilderExt;
        let temp = self.folder.path().join("temp");
        let _ = fs::remove_dir_all(&temp);
        for (name, bytes) in &self.files {
            let path = temp.join(name);
            let parent = path.parent().unwrap();
            if !parent.is_dir() {
                let mut folders = fs::DirBuilder::new();
                folders.recursive(true).mode(0o700).create(parent).unwrap();
            }
            fs::write(path, bytes).unwrap();
        }
    }
}

/// The bytes are the name of a file of an interrupted run, a line break, and its content. Its
/// checksums are made to match.
pub fn state(bytes: &[u8]) {
    let Some((name, content)) = named_content(bytes) else {
        return;
    };
    INTERRUPTED.with(|interrupted| {
        let is_named = |path: &&String| short(path) == name && name != "lock";
        let Some(path) = interrupted.files.keys().find(is_named) else {
            return;
        };
        interrupted.restore();
        // Whatever the files of the run name: nothing outside its folder is touched.
        let folder = interrupted.folder.path();
        let outside = folder.join("temp/outside");
        let _ = fs::write(&outside, "kept");
        let mut content = content.to_vec();
        let _ = match name.rsplit_once('.') {
            Some((_, "rows")) => forge::correct_rows(&mut content),
            Some((_, "state")) => forge::correct_state(&mut content),
            _ => {
                content = forge::sealed(&content);
                None
            }
        };
        let _ = fs::write(folder.join("temp").join(path), content);
        if let Err(error) = run(folder, false) {
            assert!(error.fault() != Fault::Bug, "{error}");
            // What is corrupted is removed, and the run succeeds after a while.
            let again = (0..20).find(|_| run(folder, false).is_ok());
            assert!(again.is_some(), "{error}");
        }
        let kept = fs::read(&outside);
        assert!(kept.is_ok_and(|kept| kept == b"kept"), "a file was removed");
    });
}

/// The name of a file without its folder, which is named by a hash of a path.
fn short(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    INTERRUPTED.with(|interrupted| {
        let files = interrupted.files.iter();
        let files = files.filter(|(name, _)| short(name) != "lock");
        let seed = |(path, bytes): (&String, &Vec<u8>)| {
            let name = short(path);
            let content = match name.ends_with(".json") || name.ends_with(".tasks") {
                true => forge::unsealed(bytes),
                false => bytes.clone(),
            };
            (name.to_owned(), [name.as_bytes(), b"\n", &content].concat())
        };
        files.map(seed).collect()
    })
}

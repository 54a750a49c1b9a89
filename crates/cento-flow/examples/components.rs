//! Connected components by iteration.
//!
//! Two reduces alternate, large stars and small stars (Kiveris et al., *Connected Components in
//! MapReduce and Beyond*, 2014). Each of them reads a page with its neighbours and connects them to
//! the smallest of them; after a few rounds every page is connected to the smallest page of its
//! component. No task reads a whole component, so that a component can be larger than memory.
//!
//! ```sh
//! cargo run -p cento-flow --example components
//! ```

use bytemuck::{Pod, Zeroable};
use cento_flow::{CHECKPOINT, Flow, Progress, Registry, Row, Runner, Shuffle, Stage, table_row};
use serde_json::{Value, json};

/// An edge, seen from one of its ends.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Edge {
    page: u32,
    other: u32,
}

impl Row for Edge {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> u32 {
        self.other
    }
}

table_row! {
    /// A page and the smallest page of its component.
    struct Member {
        page: u32,
        component: u32,
    }
}

/// Returns the functions of the flow.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.map("edges", |context| {
        let mut edges = context.shuffle::<Edge>("edges")?;
        for (page, other) in context.task::<Vec<(u32, u32)>>()? {
            edges.push(Edge { page, other })?;
            edges.push(Edge {
                page: other,
                other: page,
            })?;
        }
        Ok(())
    });
    // Connects the larger neighbours of a page to the smallest neighbour, or to the page itself.
    registry.reduce::<Edge, _>("large star", |context, groups| {
        let mut stars = context.shuffle::<Edge>("stars")?;
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let (mut smallest, mut last) = (page, None);
            for edge in group.filter(|edge| edge.other != page) {
                // Neighbours are sorted, so that the first is the smallest.
                smallest = smallest.min(edge.other);
                if edge.other > page && last != Some(edge.other) {
                    stars.push(Edge {
                        page: edge.other,
                        other: smallest,
                    })?;
                    context.count("changes", u64::from(smallest != page));
                }
                last = Some(edge.other);
            }
        }
        Ok(())
    });
    // Connects a page and its smaller neighbours to the smallest of them.
    registry.reduce::<Edge, _>("small star", |context, groups| {
        let mut edges = context.shuffle::<Edge>("edges")?;
        let mut connect = |page: u32, smallest: u32| -> cento_flow::Result<()> {
            edges.push(Edge {
                page,
                other: smallest,
            })?;
            edges.push(Edge {
                page: smallest,
                other: page,
            })
        };
        while let Some(mut group) = groups.next_group()? {
            let page = group.key();
            let Some(first) = group.next() else {
                continue;
            };
            let smallest = first.other;
            connect(page, smallest)?;
            let mut last = smallest;
            for edge in group {
                if edge.other != last {
                    connect(edge.other, smallest)?;
                    context.count("changes", 1);
                    last = edge.other;
                }
            }
        }
        Ok(())
    });
    registry.reduce::<Edge, _>("members", |context, groups| {
        let mut members = context.table::<Member>("members")?;
        while let Some(mut group) = groups.next_group()? {
            let page = group.key();
            if let Some(smallest) = group.next() {
                members.push(Member {
                    page,
                    component: page.min(smallest.other),
                })?;
            }
        }
        Ok(())
    });
    registry
}

/// Returns the flow. Pages are numbers below 2 to the power of `bits`.
pub(crate) fn flow(tasks: Vec<Value>, bits: u32) -> Flow {
    let by_page = Shuffle {
        key_bits: Some(bits),
        ..Shuffle::default()
    };
    Flow::new("components")
        .shuffle_with("edges", by_page.clone())
        .shuffle_with("stars", by_page)
        .table("members")
        .stage(Stage::map("edges", tasks).writes("edges"))
        .repeat(
            vec![
                Stage::reduce("large star", "edges").writes("stars"),
                Stage::reduce("small star", "stars").writes("edges"),
            ],
            "changes",
            100,
        )
        .stage(Stage::reduce("members", "edges").writes("members"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    // A chain of a thousand pages, and a ring of ten.
    let chain: Vec<(u32, u32)> = (0..999).map(|page| (page, page + 1)).collect();
    let ring: Vec<(u32, u32)> = (0..10)
        .map(|page| (2000 + page, 2000 + (page + 1) % 10))
        .collect();
    let report = Runner {
        registry: &registry(),
        threads: 2,
        memory: 64 << 20,
        temp: folder.path().join("temp"),
        tables: folder.path().join("tables"),
        progress: Progress::new(),
        checkpoint: CHECKPOINT,
    }
    .run(&flow(vec![json!(chain), json!(ring)], 12))?;
    print!("{report}");
    Ok(())
}

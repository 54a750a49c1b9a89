//! Names of tables until cento-find exports them.

use cento_find::detect::{CopiedRow, NeighbourhoodRow, PlaceRow};
use cento_find::overlap::{CollectionRow, PairRow, ServerRow};
use cento_find::phrases::{PageRow, PhraseRow, SiteRow};
use cento_find::provenance::LabelRow;
use cento_find::quilts::{PatchRow, QuiltRow, SweepRow};
use cento_flow::TableName;

/// A table.
pub const COPIED: TableName<CopiedRow> = TableName::new("copied");
/// A table.
pub const NEIGHBOURHOODS: TableName<NeighbourhoodRow> = TableName::new("neighbourhoods");
/// A table.
pub const SITES: TableName<NeighbourhoodRow> = TableName::new("sites");
/// A table.
pub const PAIRS: TableName<PairRow> = TableName::new("pairs");
/// A table.
pub const SERVERS: TableName<ServerRow> = TableName::new("servers");
/// A table.
pub const COLLECTIONS: TableName<CollectionRow> = TableName::new("collections");
/// A table.
pub const PHRASE_TABLE: TableName<PhraseRow> = TableName::new("phrases");
/// A table.
pub const PHRASE_PAGES: TableName<PageRow> = TableName::new("pages");
/// A table.
pub const PHRASE_SITES: TableName<SiteRow> = TableName::new("sites");
/// A table.
pub const LABELS: TableName<LabelRow> = TableName::new("labels");
/// A table.
pub const PATCHES_TABLE: TableName<PatchRow> = TableName::new("patches");
/// A table.
pub const QUILTS_TABLE: TableName<QuiltRow> = TableName::new("quilts");
/// A table.
pub const SWEEP_TABLE: TableName<SweepRow> = TableName::new("sweep");
/// A table.
pub const PLACES: TableName<PlaceRow> = TableName::new("places");

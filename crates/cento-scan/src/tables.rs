//! Names of tables until cento-find exports them.

use cento_find::detect::{CopiedRow, NeighbourhoodRow};
use cento_find::overlap::{CollectionRow, PairRow, ServerRow};
use cento_find::phrases::{PageRow, PhraseRow, SiteRow};
use cento_find::provenance::LabelRow;
use cento_find::quilts::{PatchRow, QuiltRow, SweepRow};
use cento_flow::TableName;

pub(crate) const COPIED: TableName<CopiedRow> = TableName::new("copied");
pub(crate) const NEIGHBOURHOODS: TableName<NeighbourhoodRow> = TableName::new("neighbourhoods");
pub(crate) const SITES: TableName<NeighbourhoodRow> = TableName::new("sites");
pub(crate) const PAIRS: TableName<PairRow> = TableName::new("pairs");
pub(crate) const SERVERS: TableName<ServerRow> = TableName::new("servers");
pub(crate) const COLLECTIONS: TableName<CollectionRow> = TableName::new("collections");
pub(crate) const PHRASE_TABLE: TableName<PhraseRow> = TableName::new("phrases");
pub(crate) const PHRASE_PAGES: TableName<PageRow> = TableName::new("pages");
pub(crate) const PHRASE_SITES: TableName<SiteRow> = TableName::new("sites");
pub(crate) const LABELS: TableName<LabelRow> = TableName::new("labels");
pub(crate) const PATCHES_TABLE: TableName<PatchRow> = TableName::new("patches");
pub(crate) const QUILTS_TABLE: TableName<QuiltRow> = TableName::new("quilts");
pub(crate) const SWEEP_TABLE: TableName<SweepRow> = TableName::new("sweep");

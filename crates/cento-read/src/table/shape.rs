//! The types of the fields in the Thrift metadata of Parquet files, by the format's definition
//! (parquet.thrift), as far as the library reads them without checking their type.

/// The known fields of a struct, by number.
pub(super) type Fields = &'static [(i16, Shape)];

/// The type of a value.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Unknown fields are skipped by the type that they claim.
    Any,
    Flag,
    Byte,
    /// A number of 16, 32 or 64 bits, or an enumeration: all are written in the same way.
    Number,
    Double,
    Bytes,
    List(&'static Shape),
    /// A struct or a union.
    Struct(Fields),
}

impl Shape {
    /// Whether a value of this type may be written as this kind of the compact protocol.
    pub(super) fn has_kind(self, kind: u8) -> bool {
        match self {
            Shape::Any => true,
            Shape::Flag => matches!(kind, 1 | 2),
            Shape::Byte => kind == 3,
            Shape::Number => matches!(kind, 4..=6),
            Shape::Double => kind == 7,
            Shape::Bytes => kind == 8,
            // Sets are written like lists.
            Shape::List(_) => matches!(kind, 9 | 10),
            Shape::Struct(_) => kind == 12,
        }
    }
}

use Shape::{Byte, Bytes, Double, Flag, List, Number, Struct};

const EMPTY: Shape = Struct(&[]);

/// `FileMetaData`.
pub(super) const FOOTER: Fields = &[
    (1, Number),
    (2, List(&SCHEMA_ELEMENT)),
    (3, Number),
    (4, List(&ROW_GROUP)),
    (5, List(&KEY_VALUE)),
    (6, Bytes),
    (7, List(&COLUMN_ORDER)),
];

const SCHEMA_ELEMENT: Shape = Struct(&[
    (1, Number),
    (2, Number),
    (3, Number),
    (4, Bytes),
    (5, Number),
    (6, Number),
    (7, Number),
    (8, Number),
    (9, Number),
    (10, LOGICAL_TYPE),
]);

const LOGICAL_TYPE: Shape = Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Struct(&[(1, Number), (2, Number)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Struct(&[(1, Byte), (2, Flag)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Bytes)])),
    (18, Struct(&[(1, Bytes), (2, Number)])),
    (19, EMPTY),
]);

const TIME: Shape = Struct(&[
    (1, Flag),
    (2, Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)])),
]);

const KEY_VALUE: Shape = Struct(&[(1, Bytes), (2, Bytes)]);

const COLUMN_ORDER: Shape = Struct(&[(1, EMPTY), (2, EMPTY)]);

const ROW_GROUP: Shape = Struct(&[
    (1, List(&COLUMN_CHUNK)),
    (2, Number),
    (3, Number),
    (4, List(&Struct(&[(1, Number), (2, Flag), (3, Flag)]))),
    (5, Number),
    (6, Number),
    (7, Number),
]);

const COLUMN_CHUNK: Shape = Struct(&[
    (1, Bytes),
    (2, Number),
    (3, COLUMN_METADATA),
    (4, Number),
    (5, Number),
    (6, Number),
    (7, Number),
]);

const COLUMN_METADATA: Shape = Struct(&[
    (1, Number),
    (2, List(&Number)),
    (3, List(&Bytes)),
    (4, Number),
    (5, Number),
    (6, Number),
    (7, Number),
    (8, List(&KEY_VALUE)),
    (9, Number),
    (10, Number),
    (11, Number),
    (12, STATISTICS),
    (13, List(&Struct(&[(1, Number), (2, Number), (3, Number)]))),
    (14, Number),
    (15, Number),
    (
        16,
        Struct(&[(1, Number), (2, List(&Number)), (3, List(&Number))]),
    ),
    (17, Struct(&[(1, BOUNDING_BOX), (2, List(&Number))])),
]);

const BOUNDING_BOX: Shape = Struct(&[
    (1, Double),
    (2, Double),
    (3, Double),
    (4, Double),
    (5, Double),
    (6, Double),
    (7, Double),
    (8, Double),
]);

const STATISTICS: Shape = Struct(&[
    (1, Bytes),
    (2, Bytes),
    (3, Number),
    (4, Number),
    (5, Bytes),
    (6, Bytes),
    (7, Flag),
    (8, Flag),
    (9, Number),
]);

/// `PageHeader`.
pub(super) const PAGE_HEADER: Fields = &[
    (1, Number),
    (2, Number),
    (3, Number),
    (4, Number),
    (
        5,
        Struct(&[
            (1, Number),
            (2, Number),
            (3, Number),
            (4, Number),
            (5, STATISTICS),
        ]),
    ),
    (6, EMPTY),
    (7, Struct(&[(1, Number), (2, Number), (3, Flag)])),
    (
        8,
        Struct(&[
            (1, Number),
            (2, Number),
            (3, Number),
            (4, Number),
            (5, Number),
            (6, Number),
            (7, Flag),
            (8, STATISTICS),
        ]),
    ),
];

//! Reading Parquet.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use std::fs::File;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Date32Array, Date64Array, DictionaryArray, Float64Array,
    Int8Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
    StructArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt16Array,
};
use arrow_schema::{DataType, Field, Schema};
use cento_read::{Cause, Content, Error, Reject, Settings, Start, resolve};
use common::{Folder, Outcome, pages_of, read_from, settings_with};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

fn write(
    folder: &Folder,
    name: &str,
    columns: Vec<(&str, ArrayRef)>,
    properties: WriterProperties,
) -> String {
    let fields: Vec<_> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder.name(name)
}

fn plain() -> WriterProperties {
    WriterProperties::builder().build()
}

fn numbered(rows: usize, rows_a_group: usize) -> (Folder, String) {
    let folder = Folder::new();
    let texts: Vec<_> = (0..rows).map(|row| format!("row {row}")).collect();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows_a_group))
        .build();
    let path = write(
        &folder,
        "in.parquet",
        vec![("text", Arc::new(StringArray::from(texts)))],
        properties,
    );
    (folder, path)
}

fn text(outcome: &Outcome) -> &str {
    match &outcome.page().content {
        Content::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_string_types_and_codecs_are_read() {
    let words = || vec![Some("one"), None, Some("drei größe"), Some("")];
    let dictionary: DictionaryArray<Int32Type> = words().into_iter().collect();
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(words())),
        Arc::new(LargeStringArray::from(words())),
        Arc::new(StringViewArray::from(words())),
        Arc::new(dictionary),
        Arc::new(BinaryArray::from_opt_vec(
            words()
                .into_iter()
                .map(|word| word.map(str::as_bytes))
                .collect(),
        )),
    ];
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    let folder = Folder::new();
    for (array, codec) in arrays.into_iter().zip(codecs) {
        let properties = WriterProperties::builder().set_compression(codec).build();
        let kind = array.data_type().to_string();
        let path = write(&folder, "in.parquet", vec![("body", array)], properties);
        let outcomes = pages_of(&[path], &settings_with(&["text=body"])).unwrap();
        assert_eq!(text(&outcomes[0]), "one", "{kind}");
        assert!(
            matches!(&outcomes[1], Outcome::Skipped(skipped) if skipped.cause == Cause::MissingField),
            "{kind}"
        );
        assert_eq!(text(&outcomes[2]), "drei größe", "{kind}");
        match &outcomes[3] {
            Outcome::Page(decoded) => {
                assert_eq!(decoded.reject.as_ref().unwrap().reason, Reject::Empty);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn named_columns_nested_columns_and_dates_of_all_types_are_read() {
    let folder = Folder::new();
    let inner = StructArray::from(vec![(
        Arc::new(Field::new("link", DataType::Utf8, true)),
        Arc::new(StringArray::from(vec!["http://a/"])) as ArrayRef,
    )]);
    let columns = || -> Vec<(&str, ArrayRef)> {
        vec![
            ("page", Arc::new(StringArray::from(vec!["<p>words"]))),
            ("meta", Arc::new(inner.clone())),
            ("day", Arc::new(Date32Array::from(vec![18_263]))),
            (
                "time",
                Arc::new(TimestampMillisecondArray::from(vec![1_577_923_200_000])),
            ),
            ("epoch", Arc::new(Int64Array::from(vec![1_577_923_200]))),
            (
                "written",
                Arc::new(StringArray::from(vec!["2 January 2020"])),
            ),
            ("title", Arc::new(StringArray::from(vec!["Title"]))),
            ("id", Arc::new(Int64Array::from(vec![7]))),
        ]
    };
    let path = write(&folder, "in.parquet", columns(), plain());
    for (column, date) in [
        ("day", "2020-01-02"),
        ("time", "2020-01-02T00:00:00Z"),
        ("epoch", "2020-01-02T00:00:00Z"),
        ("written", "2 January 2020"),
    ] {
        let settings = settings_with(&["html=page", "url=meta.link", &format!("date={column}")]);
        let outcomes = pages_of(std::slice::from_ref(&path), &settings).unwrap();
        let page = outcomes[0].page();
        assert_eq!(page.content, Content::Html("<p>words".into()));
        assert_eq!(page.url, "http://a/");
        assert_eq!(page.title.as_deref(), Some("Title"));
        assert_eq!(page.published.as_deref(), Some(date), "{column}");
    }
    let outcomes = pages_of(&[path], &settings_with(&["html=page"])).unwrap();
    assert_eq!(outcomes[0].page().url, "7");
}

#[test]
fn numbers_and_times_of_every_type_are_formatted_and_dates_out_of_range_are_missing() {
    let folder = Folder::new();
    let seconds = 1_577_923_261;
    let dates: Vec<(ArrayRef, Option<&str>)> = vec![
        (
            Arc::new(TimestampSecondArray::from(vec![seconds])),
            Some("2020-01-02T00:01:01Z"),
        ),
        (
            Arc::new(
                TimestampMillisecondArray::from(vec![seconds * 1_000 + 500])
                    .with_timezone("Europe/Berlin"),
            ),
            Some("2020-01-02T00:01:01.5Z"),
        ),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![-1])),
            Some("1969-12-31T23:59:59.999999Z"),
        ),
        (
            Arc::new(TimestampNanosecondArray::from(vec![
                seconds * 1_000_000_000,
            ])),
            Some("2020-01-02T00:01:01Z"),
        ),
        (
            Arc::new(TimestampMillisecondArray::from(vec![i64::MAX])),
            None,
        ),
        (
            Arc::new(Date32Array::from(vec![-719_162])),
            Some("0001-01-01"),
        ),
        (Arc::new(Date32Array::from(vec![i32::MAX])), None),
        (
            Arc::new(Date64Array::from(vec![1_577_923_200_000])),
            Some("2020-01-02T00:00:00Z"),
        ),
        (
            Arc::new(Float64Array::from(vec![1_577_923_261.25])),
            Some("2020-01-02T00:01:01Z"),
        ),
        (Arc::new(UInt16Array::from(vec![1_987])), Some("1987")),
        (Arc::new(Int8Array::from(vec![-3])), Some("-3")),
    ];
    for (array, date) in dates {
        let kind = array.data_type().to_string();
        let body: ArrayRef = Arc::new(StringArray::from(vec!["words"]));
        let columns = vec![("text", body), ("date", array)];
        let path = write(&folder, "in.parquet", columns, plain());
        let outcomes = pages_of(&[path], &settings_with(&["date=date"])).unwrap();
        assert_eq!(outcomes[0].page().published.as_deref(), date, "{kind}");
    }
}

#[test]
fn a_page_in_a_binary_column_is_decoded() {
    let folder = Folder::new();
    let bytes: &[u8] = b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2";
    let path = write(
        &folder,
        "in.parquet",
        vec![("html", Arc::new(BinaryArray::from_vec(vec![bytes])))],
        plain(),
    );
    let outcomes = pages_of(&[path], &Settings::default()).unwrap();
    let expected = "<meta charset=windows-1251><p>Привет";
    assert_eq!(outcomes[0].page().content, Content::Html(expected.into()));
}

#[test]
fn a_missing_column_is_an_error_that_lists_the_columns() {
    let folder = Folder::new();
    let path = write(
        &folder,
        "in.parquet",
        vec![
            ("words", Arc::new(StringArray::from(vec!["a"]))),
            ("n", Arc::new(Int64Array::from(vec![1]))),
        ],
        plain(),
    );
    let open = |fields: &[&str]| {
        let settings = settings_with(fields);
        let inputs = resolve(std::slice::from_ref(&path), &settings)
            .unwrap()
            .inputs;
        inputs[0].open(&settings, Start::default()).err().unwrap()
    };
    let error = open(&["text=body"]);
    assert!(matches!(&error, Error::NoSuchField { field, .. } if field == "body"));
    assert_eq!(
        error.hint().unwrap(),
        "name another with --field text=NAME; it has: words, n"
    );
    assert!(matches!(open(&[]), Error::NoTextField { .. }));
    assert!(matches!(open(&["text=n"]), Error::WrongColumnType { .. }));
}

#[test]
fn rows_are_numbered_across_row_groups_and_reading_resumes_at_any_row() {
    let (_folder, path) = numbered(25, 10);
    common::assert_resumes(&path, &Settings::default(), 25);
    let (_folder, path) = numbered(5_000, 1_700);
    let outcomes = pages_of(std::slice::from_ref(&path), &Settings::default()).unwrap();
    for (row, outcome) in outcomes.iter().enumerate() {
        assert_eq!(text(outcome), format!("row {row}"));
        assert!(outcome.page().url.ends_with(&format!("#{row}")));
    }
}

#[test]
fn a_damaged_row_group_does_not_affect_the_others() {
    let (folder, path) = numbered(30, 10);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(6)
        .position(|window| window == b"row 14")
        .unwrap();
    bytes[at - 40..at].fill(0xff);
    let path = folder.write("damaged.parquet", &bytes);
    let settings = Settings::default();
    let inputs = resolve(&[path], &settings).unwrap().inputs;
    let read = read_from(&inputs[0], &settings, Start::default()).unwrap();
    let rows: Vec<_> = read.iter().map(|(place, _)| place.ordinal).collect();
    assert_eq!(rows, (0..=10).chain(20..30).collect::<Vec<_>>());
    assert!(matches!(&read[10].1, Outcome::Skipped(skipped) if skipped.cause == Cause::BadTable));
}

#[test]
fn a_wrong_page_checksum_affects_only_its_row_group() {
    // Written by pyarrow with `write_page_checksum`: six rows in three row groups, neither
    // compressed nor encoded.
    let folder = Folder::new();
    let mut bytes = include_bytes!("samples/page-checksums.parquet").to_vec();
    let path = folder.write("whole.parquet", &bytes);
    let whole = pages_of(&[path], &Settings::default()).unwrap();
    assert_eq!(whole.len(), 6);
    let word = b"text number 2";
    let at = bytes.windows(word.len()).position(|window| window == word);
    // The text is still valid: only the checksum shows the damage.
    bytes[at.unwrap()] ^= 1;
    let path = folder.write("flipped.parquet", &bytes);
    let read = pages_of(&[path], &Settings::default()).unwrap();
    let kept = read
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Page(_)));
    assert_eq!(kept.count(), 4);
    assert!(read.iter().any(
        |outcome| matches!(outcome, Outcome::Skipped(skipped) if skipped.cause == Cause::BadTable)
    ));
}

#[test]
fn damage_never_causes_a_panic() {
    let (folder, path) = numbered(30, 10);
    let whole = std::fs::read(&path).unwrap();
    let settings = Settings::default();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] = bytes[at].wrapping_add(0x81);
        let damaged = folder.write("damaged.parquet", &bytes);
        // The result may be an error or fewer rows.
        let _ = pages_of(&[damaged], &settings);
        if at % 16 == 0 {
            let cut = folder.write("cut.parquet", &whole[..at]);
            assert!(pages_of(&[cut], &settings).is_err());
        }
    }
}

#[test]
fn a_text_over_the_limit_is_rejected() {
    let folder = Folder::new();
    let long = "a".repeat(1_000);
    let path = write(
        &folder,
        "in.parquet",
        vec![(
            "text",
            Arc::new(StringArray::from(vec![long.as_str(), "b"])),
        )],
        plain(),
    );
    let mut settings = Settings::default();
    settings.limits.max_page_bytes = 999;
    let outcomes = pages_of(&[path], &settings).unwrap();
    match &outcomes[0] {
        Outcome::Page(decoded) => {
            assert_eq!(decoded.reject.as_ref().unwrap().reason, Reject::TooLarge);
            assert_eq!(decoded.page.payload_bytes, 1_000);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(text(&outcomes[1]), "b");
}

#[test]
fn a_table_page_that_expands_too_much_is_skipped_and_the_next_row_group_is_read() {
    let folder = Folder::new();
    let bomb = "a".repeat(8 << 20);
    for (at, compression) in [
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
    ]
    .into_iter()
    .enumerate()
    {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_enabled(at == 0)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_max_row_group_row_count(Some(1))
            .build();
        let column: ArrayRef = Arc::new(StringArray::from(vec![bomb.as_str(), "b"]));
        let path = write(
            &folder,
            &format!("{at}.parquet"),
            vec![("text", column)],
            properties,
        );
        let mut settings = Settings::default();
        settings.limits.max_page_bytes = 1 << 20;
        let outcomes = pages_of(std::slice::from_ref(&path), &settings).unwrap();
        match &outcomes[0] {
            Outcome::Skipped(skipped) => {
                assert_eq!(skipped.cause, Cause::BadTable);
                let detail = &skipped.detail;
                assert!(detail.contains("the limit is 250 times"), "{detail}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(text(&outcomes[1]), "b");
        // The limit can be raised.
        settings.limits.max_ratio = u64::MAX;
        let outcomes = pages_of(&[path], &settings).unwrap();
        match &outcomes[0] {
            Outcome::Page(decoded) => {
                let reason = decoded.reject.as_ref().map(|reject| reject.reason);
                assert_eq!(reason, Some(Reject::TooLarge), "{compression}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The library reads the header of a page and then opens the offset after it. The bytes there must
/// not be checked as a header.
#[test]
fn dictionaries_with_any_bytes_are_read() {
    let folder = Folder::new();
    for (at, compression) in [Compression::UNCOMPRESSED, Compression::SNAPPY]
        .into_iter()
        .enumerate()
    {
        let texts: Vec<String> = (0..2000u32)
            .map(|row| {
                format!(
                    "text {:x} {}",
                    (row % 500).wrapping_mul(2_654_435_761),
                    "\u{7f}é".repeat(row as usize % 7)
                )
            })
            .collect();
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_data_page_row_count_limit(100)
            .set_max_row_group_row_count(Some(700))
            .build();
        let name = format!("{at}.parquet");
        let column: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let path = write(&folder, &name, vec![("text", column)], properties);
        let pages = pages_of(&[path], &Settings::default()).unwrap();
        assert_eq!(pages.len(), texts.len());
        for (page, text) in pages.iter().zip(texts) {
            assert_eq!(page.page().content, Content::Text(text));
        }
    }
}

//! Copies an input without some of its records.
//!
//! In archives and plain JSON Lines, the bytes of the removed records are left out and all other
//! bytes are copied unchanged. If several records share a compressed member, which cannot be cut,
//! the input is decompressed, cut, and compressed again with one member per record.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use arrow_array::BooleanArray;
use arrow_select::filter::filter_record_batch;
use cento_file::Output;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sha1::{Digest, Sha1};

use crate::bytes::{ByteOrigin, ByteSource, Filled, Handle, Stream, StreamError, packing_of};
use crate::decode::sniff;
use crate::input::Location;
use crate::json::replace_string;
use crate::record::RecordBody;
use crate::table::{WholeTable, replace_texts};
use crate::{Error, Format, Input, Item, Packing, Place, Record, Role, Settings, Start};

/// What to do with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Copy it unchanged.
    Keep,
    /// Remove it.
    Drop,
    /// Replace it by a revisit record, because it has the same payload as another page. In formats
    /// other than WARC, remove it.
    Revisit(RevisitOf),
    /// Replace its text. In JSON Lines, only the value of the field changes; a field of HTML and a
    /// single HTML file become a page of plain paragraphs; a WARC record becomes a conversion
    /// record with plain text; in a Parquet table, the value of the column. ARC files are refused.
    Replace(String),
}

/// The page that a revisit record refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisitOf {
    /// The URL of the page that is kept.
    pub url: String,
    /// When that page was fetched, in RFC 3339 format.
    pub date: Option<String>,
    /// The SHA-1 of the payload of both pages, in base 32.
    pub payload_sha1: String,
}

/// The result of copying an input.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The number of removed records.
    pub dropped: u64,
    /// The number of records that were replaced by a revisit record.
    pub revisits: u64,
    /// The number of records whose text was replaced.
    pub replaced: u64,
    /// The number of damaged records that could not be copied. Where bytes are copied, there are
    /// none.
    pub lost: u64,
}

/// A range of bytes that is left out, and the length of its replacement.
struct Hole {
    begin: u64,
    end: u64,
    instead: u64,
}

/// What is left out of an archive.
struct Holes {
    holes: Vec<Hole>,
    /// The replacements, one after the other. They may be as large as the archive, so they are on
    /// disk. The file is never finished, and removed when it is dropped.
    replacements: Option<BufWriter<Output>>,
    done: Rewritten,
}

impl Holes {
    /// The replacements from the first on.
    fn replacements(&mut self) -> io::Result<Box<dyn Read>> {
        let Some(file) = &mut self.replacements else {
            return Ok(Box::new(io::empty()));
        };
        file.flush()?;
        let file = File::open(file.get_ref().partial_path())?;
        Ok(Box::new(BufReader::new(file)))
    }
}

/// The written file and the counts. There is no file if the input was a single page that was
/// removed.
type RewriteResult = Result<(Option<Output>, Rewritten), Error>;

/// Copies `input` to `output` without some records. `fate` decides by ordinal. The compression
/// format is kept. The output appears when it is complete and replaces an existing file.
pub fn rewrite(
    input: &Input,
    settings: &Settings,
    output: &Path,
    fate: &mut dyn FnMut(u32) -> Fate,
) -> Result<Rewritten, Error> {
    let Location::File(path) = &input.location else {
        return Err(Error::NothingToRead {
            name: input.name.clone(),
            problem: "only local files can be filtered".into(),
        });
    };
    let packing = packing(path).map_err(|error| Error::from_io(&input.name, error))?;
    let job = Job {
        input,
        path,
        settings,
        packing,
    };
    let (written, done) = match input.format {
        Some(Format::Wacz) => Err(Error::NothingToRead {
            name: input.name.clone(),
            problem: "a WACZ cannot be filtered; extract its WARC files and filter those".into(),
        }),
        Some(Format::Parquet) => job.table(output, fate),
        Some(Format::Html | Format::Text) | None => job.page(output, fate),
        Some(Format::JsonLines) if packing != Packing::Plain => job.packed_lines(output, fate),
        Some(Format::JsonLines | Format::Warc | Format::Arc) => job.archive(output, fate),
    }?;
    if let Some(written) = written {
        written.finish().map_err(|error| failed(output, error))?;
    }
    Ok(done)
}

/// Flushes a buffer and returns its file.
fn written(out: BufWriter<Output>, place: &Path) -> Result<Option<Output>, Error> {
    let file = out
        .into_inner()
        .map_err(|error| failed(place, error.into_error()))?;
    Ok(Some(file))
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::from_io(&path.display().to_string(), error)
}

fn packing(path: &Path) -> io::Result<Packing> {
    let mut front = Vec::new();
    let file = File::open(path)?;
    file.take(sniff::SNIFFED_BYTES as u64)
        .read_to_end(&mut front)?;
    Ok(packing_of(&front).unwrap_or(Packing::Plain))
}

struct Job<'a> {
    input: &'a Input,
    path: &'a Path,
    settings: &'a Settings,
    packing: Packing,
}

impl Job<'_> {
    fn lost(&self, error: io::Error) -> Error {
        Error::from_io(&self.input.name, error)
    }

    /// Leaves out bytes, or decompresses the archive if records share members.
    fn archive(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> RewriteResult {
        if let Some(mut holes) = self.holes(self.input, self.packing, place, fate)? {
            let mut out = create(place)?;
            copy_around(self.path, &mut holes, &mut out).map_err(|error| failed(place, error))?;
            return Ok((written(out, place)?, holes.done));
        }
        // Removed when it is dropped, because it is never finished.
        let plain = self.unpacked(&place.with_extension("unpacked"))?;
        let input = Input {
            location: Location::File(plain.partial_path().to_owned()),
            ..self.input.clone()
        };
        let mut out = create(place)?;
        let done = self.repack(&input, plain.partial_path(), place, &mut out, fate)?;
        Ok((written(out, place)?, done))
    }

    /// The ranges to leave out. None if a removed record shares its member with others.
    fn holes(
        &self,
        input: &Input,
        packing: Packing,
        place: &Path,
        fate: &mut dyn FnMut(u32) -> Fate,
    ) -> Result<Option<Holes>, Error> {
        let mut reader = input.open(self.settings, Start::default())?;
        let (mut holes, mut done) = (Vec::<Hole>::new(), Rewritten::default());
        let mut replacements = None;
        // Whether the previous record is left out, with everything up to the next record.
        let mut open = false;
        while let Some(item) = reader.next()? {
            let Place {
                ordinal,
                offset,
                length,
                ..
            } = *item.place();
            if open && let Some(last) = holes.last_mut() {
                last.end = last.end.max(offset);
            }
            open = false;
            let Item::Record(record) = item else {
                continue;
            };
            let fate = fate(ordinal);
            let instead = match &fate {
                Fate::Keep => continue,
                Fate::Drop => Vec::new(),
                Fate::Revisit(of) => self.revisit(&record, of),
                Fate::Replace(text) => self.replacement(&record, text)?,
            };
            if length == 0 {
                return Ok(None);
            }
            match fate {
                Fate::Replace(_) => done.replaced += 1,
                _ => count(&mut done, &instead),
            }
            let instead = pack(&instead, packing).map_err(|error| self.lost(error))?;
            if !instead.is_empty() {
                let file = match replacements.take() {
                    Some(file) => file,
                    None => create(&place.with_extension("replacements"))?,
                };
                let file = replacements.insert(file);
                file.write_all(&instead)
                    .map_err(|error| failed(place, error))?;
            }
            holes.push(Hole {
                begin: offset,
                end: offset + length,
                instead: instead.len() as u64,
            });
            open = packing == Packing::Plain;
        }
        Ok(Some(Holes {
            holes,
            replacements,
            done,
        }))
    }

    fn unpacked(&self, plain: &Path) -> Result<Output, Error> {
        let file = File::open(self.path).map_err(|error| self.lost(error))?;
        let length = file.metadata().map_err(|error| self.lost(error))?.len();
        let mut stream = Stream::new(
            ByteSource::new(ByteOrigin::File(file, length)),
            self.packing,
        );
        let mut out = create(plain)?;
        loop {
            let window = stream.window();
            out.write_all(window)
                .map_err(|error| failed(plain, error))?;
            let passed = window.len();
            stream.advance(passed);
            let more = match stream.fill() {
                Ok(Filled::Bytes) => Ok(true),
                Ok(Filled::MemberEnd) => stream.next_member(),
                Ok(Filled::End) => Ok(false),
                Err(error) => Err(error),
            };
            match more {
                Ok(true) => {}
                Err(StreamError::Io(error)) => return Err(self.lost(error)),
                // The bytes after damage within a member cannot be recovered.
                Ok(false) | Err(_) => break,
            }
        }
        out.into_inner()
            .map_err(|error| failed(plain, error.into_error()))
    }

    /// Compresses each record of a decompressed archive separately.
    fn repack(
        &self,
        input: &Input,
        plain: &Path,
        place: &Path,
        out: &mut impl Write,
        fate: &mut dyn FnMut(u32) -> Fate,
    ) -> Result<Rewritten, Error> {
        let Some(mut holes) = self.holes(input, Packing::Plain, place, fate)? else {
            return Err(self.lost(io::ErrorKind::InvalidData.into()));
        };
        let replacements = holes.replacements();
        let mut replacements = replacements.map_err(|error| failed(place, error))?;
        let done = holes.done;
        let mut reader = input.open(self.settings, Start::default())?;
        let mut borders = Vec::new();
        while let Some(item) = reader.next()? {
            borders.push(item.place().offset);
        }
        let mut file = BufReader::new(File::open(plain).map_err(|error| failed(plain, error))?);
        let length = std::fs::metadata(plain)
            .map_err(|error| failed(plain, error))?
            .len();
        borders.push(length);
        let mut holes = holes.holes.iter().peekable();
        let mut at = 0;
        for end in borders {
            if end <= at {
                continue;
            }
            let mut record = Vec::new();
            let read = file.by_ref().take(end - at).read_to_end(&mut record);
            read.map_err(|error| failed(plain, error))?;
            if let Some(hole) = holes.next_if(|hole| hole.begin == at) {
                record.clear();
                let mut instead = replacements.by_ref().take(hole.instead);
                let read = instead.read_to_end(&mut record);
                read.map_err(|error| failed(place, error))?;
            }
            let packed = pack(&record, self.packing).map_err(|error| self.lost(error))?;
            out.write_all(&packed)
                .map_err(|error| failed(plain, error))?;
            at = end;
        }
        out.flush().map_err(|error| failed(plain, error))?;
        Ok(done)
    }

    /// Creates a revisit record for a response. Empty for other records.
    fn revisit(&self, record: &Record, of: &RevisitOf) -> Vec<u8> {
        let (RecordBody::Http(response), Some(Format::Warc)) = (&record.body, self.input.format)
        else {
            return Vec::new();
        };
        let head = response
            .windows(4)
            .position(|bytes| bytes == b"\r\n\r\n")
            .map_or(&[][..], |at| response.get(..at + 4).unwrap_or_default());
        self.warc_record(
            record,
            "revisit",
            &[
                (
                    "WARC-Profile",
                    Some("http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"),
                ),
                ("WARC-Refers-To-Target-URI", Some(&of.url)),
                ("WARC-Refers-To-Date", of.date.as_deref()),
                (
                    "WARC-Payload-Digest",
                    Some(&format!("sha1:{}", of.payload_sha1)),
                ),
                ("Content-Type", Some("application/http; msgtype=response")),
            ],
            head,
        )
    }

    /// Creates a WARC record that takes the place of another.
    fn warc_record(
        &self,
        record: &Record,
        kind: &str,
        fields: &[(&str, Option<&str>)],
        body: &[u8],
    ) -> Vec<u8> {
        // The record id is derived from the position, so that the output is reproducible.
        let name = Sha1::digest(format!("{}\n{}", self.input.name, record.place.ordinal));
        let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
        let id = format!(
            "{}-{}-5{}-8{}-{}",
            part(0..8),
            part(8..12),
            part(13..16),
            part(17..20),
            part(20..32)
        );
        let mut header =
            format!("WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n");
        let length = body.len().to_string();
        let own = [
            ("WARC-Target-URI", record.url.as_deref()),
            ("WARC-Date", record.fetched.as_deref()),
            ("WARC-IP-Address", record.ip.as_deref()),
        ];
        let all = own.iter().chain(fields);
        for (name, value) in all.chain(&[("Content-Length", Some(length.as_str()))]) {
            if let Some(value) = value {
                let value: String = value.chars().filter(|c| !c.is_control()).collect();
                header.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        let mut bytes = header.into_bytes();
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes
    }

    /// Returns the bytes of a record with another text.
    fn replacement(&self, record: &Record, text: &str) -> Result<Vec<u8>, Error> {
        match (&record.body, self.input.format) {
            (RecordBody::Json { line, .. }, _) => self.replaced_line(line, text),
            (_, Some(Format::Warc)) => Ok(self.warc_record(
                record,
                "conversion",
                &[("Content-Type", Some("text/plain; charset=utf-8"))],
                text.as_bytes(),
            )),
            _ => Err(self.irreplaceable("the text of a record cannot be replaced in an ARC file")),
        }
    }

    /// Returns a line with another text in the field that has the text.
    fn replaced_line(&self, line: &[u8], text: &str) -> Result<Vec<u8>, Error> {
        let names = |role| self.settings.fields.names(role);
        let replaced = replace_string(line, names(Role::Text), text)
            .or_else(|| replace_string(line, names(Role::Html), &simple_html(text)));
        let mut replaced = replaced.ok_or_else(|| {
            self.irreplaceable("a line has no field of its own with text, which could be replaced")
        })?;
        replaced.push(b'\n');
        Ok(replaced)
    }

    fn irreplaceable(&self, problem: &str) -> Error {
        Error::NothingToRead {
            name: self.input.name.clone(),
            problem: problem.into(),
        }
    }

    /// Copies line by line, because compressed lines cannot be cut.
    fn packed_lines(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> RewriteResult {
        let write = |error| failed(place, error);
        let mut reader = self.input.open(self.settings, Start::default())?;
        let mut out = Packer::new(create(place)?, self.packing).map_err(write)?;
        let mut done = Rewritten::default();
        while let Some(item) = reader.next()? {
            match item {
                Item::Record(Record {
                    place,
                    body: RecordBody::Json { line, .. },
                    ..
                }) => match fate(place.ordinal) {
                    Fate::Keep => {
                        out.write_all(&line).map_err(write)?;
                        out.write_all(b"\n").map_err(write)?;
                    }
                    Fate::Replace(text) => {
                        out.write_all(&self.replaced_line(&line, &text)?)
                            .map_err(write)?;
                        done.replaced += 1;
                    }
                    Fate::Drop | Fate::Revisit(_) => done.dropped += 1,
                },
                Item::Record(_) | Item::Skipped(_) => done.lost += 1,
                Item::Ignored(_) => {}
            }
        }
        let out = out.finish().map_err(write)?;
        Ok((written(out, place)?, done))
    }

    /// Copies all columns of the rows that are kept.
    fn table(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> RewriteResult {
        let bad = |problem: String| Error::BadTable {
            name: self.input.name.clone(),
            problem,
        };
        let file = File::open(self.path).and_then(Handle::local);
        let file = file.map_err(|error| self.lost(error))?;
        let table = WholeTable::open(file, &self.settings.limits).map_err(bad)?;
        let key_values = table
            .metadata()
            .metadata()
            .file_metadata()
            .key_value_metadata();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(key_values.cloned())
            .build();
        let schema = table.metadata().schema().clone();
        let mut writer = ArrowWriter::try_new(create(place)?, schema, Some(properties))
            .map_err(|error| bad(error.to_string()))?;
        let (mut row, mut done) = (0u32, Rewritten::default());
        let outcome = table.for_each(|batch| {
            let mut texts: HashMap<usize, String> = HashMap::new();
            let kept: BooleanArray = (0..batch.num_rows())
                .map(|at| {
                    let fate = fate(row);
                    row = row.saturating_add(1);
                    let keep = matches!(fate, Fate::Keep | Fate::Replace(_));
                    done.dropped += u64::from(!keep);
                    if let Fate::Replace(text) = fate {
                        texts.insert(at, text);
                    }
                    Some(keep)
                })
                .collect();
            done.replaced += texts.len() as u64;
            let batch = match texts.is_empty() {
                true => batch.clone(),
                false => replace_texts(batch, &self.settings.fields, texts, simple_html)?,
            };
            let rest = filter_record_batch(&batch, &kept).map_err(|error| error.to_string())?;
            writer.write(&rest).map_err(|error| error.to_string())
        });
        outcome.map_err(bad)?;
        let out = writer
            .into_inner()
            .map_err(|error| bad(error.to_string()))?;
        Ok((written(out, place)?, done))
    }

    /// Copies a single page, or not.
    fn page(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> RewriteResult {
        let fate = fate(0);
        if fate == Fate::Keep {
            let mut out = create(place)?;
            io::copy(
                &mut File::open(self.path).map_err(|error| self.lost(error))?,
                &mut out,
            )
            .map_err(|error| failed(place, error))?;
            return Ok((written(out, place)?, Rewritten::default()));
        }
        if let Fate::Replace(text) = fate {
            let mut out = create(place)?;
            let page = match self.input.format {
                Some(Format::Html) => simple_html(&text),
                _ => text,
            };
            let packed =
                pack(page.as_bytes(), self.packing).map_err(|error| failed(place, error))?;
            out.write_all(&packed)
                .map_err(|error| failed(place, error))?;
            let done = Rewritten {
                replaced: 1,
                ..Rewritten::default()
            };
            return Ok((written(out, place)?, done));
        }
        let done = Rewritten {
            dropped: 1,
            ..Rewritten::default()
        };
        Ok((None, done))
    }
}

/// A page of the paragraphs of a text.
fn simple_html(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let mut page = String::from("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n");
    for paragraph in escaped
        .split("\n\n")
        .filter(|paragraph| !paragraph.is_empty())
    {
        page.push_str(&format!("<p>{}</p>\n", paragraph.replace('\n', "<br>\n")));
    }
    page
}

fn count(done: &mut Rewritten, instead: &[u8]) {
    if instead.is_empty() {
        done.dropped += 1;
    } else {
        done.revisits += 1;
    }
}

fn create(path: &Path) -> Result<BufWriter<Output>, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let file = Output::within(path).map_err(|error| failed(path, error))?;
    Ok(BufWriter::with_capacity(256 << 10, file))
}

/// Copies a file without the bytes in `holes`.
fn copy_around(path: &Path, holes: &mut Holes, out: &mut impl Write) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut replacements = holes.replacements()?;
    let mut at = 0;
    for hole in &holes.holes {
        io::copy(&mut (&file).take(hole.begin.saturating_sub(at)), out)?;
        io::copy(&mut replacements.by_ref().take(hole.instead), out)?;
        at = hole.end.max(at);
        file.seek(SeekFrom::Start(at))?;
    }
    io::copy(&mut file, out)?;
    Ok(())
}

/// Compresses bytes into one member. Empty input stays empty.
fn pack(bytes: &[u8], packing: Packing) -> io::Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut packer = Packer::new(Vec::new(), packing)?;
    packer.write_all(bytes)?;
    packer.finish()
}

/// Compresses what is written to it.
enum Packer<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(liblzma::write::XzEncoder<W>),
    Lz4(Box<lz4_flex::frame::FrameEncoder<W>>),
}

impl<W: Write> Packer<W> {
    fn new(out: W, packing: Packing) -> io::Result<Self> {
        Ok(match packing {
            Packing::Plain => Packer::Plain(out),
            Packing::Gzip => Packer::Gzip(flate2::write::GzEncoder::new(
                out,
                flate2::Compression::default(),
            )),
            Packing::Zstd => Packer::Zstd(zstd::Encoder::new(out, 3)?),
            Packing::Bzip2 => Packer::Bzip2(bzip2::write::BzEncoder::new(
                out,
                bzip2::Compression::default(),
            )),
            Packing::Xz => Packer::Xz(liblzma::write::XzEncoder::new(out, 6)),
            Packing::Lz4 => Packer::Lz4(Box::new(lz4_flex::frame::FrameEncoder::new(out))),
        })
    }

    fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Packer::Plain(out) => out,
            Packer::Gzip(encoder) => encoder.finish()?,
            Packer::Zstd(encoder) => encoder.finish()?,
            Packer::Bzip2(encoder) => encoder.finish()?,
            Packer::Xz(encoder) => encoder.finish()?,
            Packer::Lz4(encoder) => encoder.finish().map_err(io::Error::other)?,
        };
        out.flush()?;
        Ok(out)
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packer::Plain(out) => out.write(bytes),
            Packer::Gzip(encoder) => encoder.write(bytes),
            Packer::Zstd(encoder) => encoder.write(bytes),
            Packer::Bzip2(encoder) => encoder.write(bytes),
            Packer::Xz(encoder) => encoder.write(bytes),
            Packer::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packer::Plain(out) => out.flush(),
            Packer::Gzip(encoder) => encoder.flush(),
            Packer::Zstd(encoder) => encoder.flush(),
            Packer::Bzip2(encoder) => encoder.flush(),
            Packer::Xz(encoder) => encoder.flush(),
            Packer::Lz4(encoder) => encoder.flush(),
        }
    }
}

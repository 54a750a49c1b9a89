//! Writing an input again without some of its records.
//!
//! What is kept is kept to the byte: of archives and plain JSON Lines, the bytes of the records
//! that go are left out, and all others are copied as they are stored, whatever is in them. Where
//! records lie together in one compressed member, which cannot be cut, the input is unpacked, cut,
//! and packed again, a member for each record.

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

use crate::bytes::{Filled, Handle, Origin, Source, Stream, Trouble, packing_of};
use crate::decode::sniff;
use crate::input::Location;
use crate::record::Body;
use crate::table::WholeTable;
use crate::{Error, Format, Input, Item, Packing, Place, Record, Settings, Start};

/// What becomes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is.
    Keep,
    /// It is left out.
    Drop,
    /// It has the payload of another page: in a WARC file, a revisit record stands for it;
    /// elsewhere it is left out.
    Revisit(RevisitOf),
}

/// What a revisit record refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisitOf {
    /// The address of the page that stays.
    pub url: String,
    /// When that was fetched, as RFC 3339 has it.
    pub date: Option<String>,
    /// The digest of the payload of both, in base 32.
    pub payload_sha1: String,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Records that were left out.
    pub dropped: u64,
    /// Records that a revisit record stands for now.
    pub revisits: u64,
    /// Records that could not be read, and could not be copied for that reason. What is copied by
    /// bytes loses none.
    pub lost: u64,
}

/// Bytes that are left out, and what stands in their place.
struct Hole {
    begin: u64,
    end: u64,
    instead: Vec<u8>,
}

/// What was written of a file, and what became of its records. There is no file if it was one page,
/// and was dropped.
type Outcome = Result<(Option<Output>, Rewritten), Error>;

/// Writes `input` to `output` without the records that `fate` drops, by their ordinals. The packing
/// stays the same. The file appears when it is whole, in place of whatever had its name.
pub fn rewrite(
    input: &Input,
    settings: &Settings,
    output: &Path,
    fate: &mut dyn FnMut(u32) -> Fate,
) -> Result<Rewritten, Error> {
    let Location::File(path) = &input.location else {
        return Err(Error::NothingToRead {
            name: input.name.clone(),
            problem: "only files on this machine can be written again without some records".into(),
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
            problem: "a WACZ holds an index of its records; unpack it and give the WARC files"
                .into(),
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

/// The file behind a buffer, with all that was written.
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
    file.take(sniff::LOOKED_AT as u64).read_to_end(&mut front)?;
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

    /// By leaving bytes out; or, where records cannot be cut out, by way of the unpacked archive.
    fn archive(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> Outcome {
        if let Some((holes, done)) = self.holes(self.input, self.packing, fate)? {
            let mut out = create(place)?;
            copy_around(self.path, &holes, &mut out).map_err(|error| failed(place, error))?;
            return Ok((written(out, place)?, done));
        }
        // Removed when it is dropped, for it is never finished.
        let plain = self.unpacked(&place.with_extension("unpacked"))?;
        let input = Input {
            location: Location::File(plain.partial_path().to_owned()),
            ..self.input.clone()
        };
        let mut out = create(place)?;
        let done = self.repack(&input, plain.partial_path(), &mut out, fate)?;
        Ok((written(out, place)?, done))
    }

    /// What is to be left out; nothing if a record that goes shares its member with others.
    fn holes(
        &self,
        input: &Input,
        packing: Packing,
        fate: &mut dyn FnMut(u32) -> Fate,
    ) -> Result<Option<(Vec<Hole>, Rewritten)>, Error> {
        let mut reader = input.open(self.settings, Start::default())?;
        let (mut holes, mut done) = (Vec::<Hole>::new(), Rewritten::default());
        // Whether the last record is left out, so that it ends where the next one begins.
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
            let instead = match fate(ordinal) {
                Fate::Keep => continue,
                Fate::Drop => Vec::new(),
                Fate::Revisit(of) => self.revisit(&record, &of),
            };
            if length == 0 {
                return Ok(None);
            }
            count(&mut done, &instead);
            holes.push(Hole {
                begin: offset,
                end: offset + length,
                instead: pack(&instead, packing).map_err(|error| self.lost(error))?,
            });
            open = packing == Packing::Plain;
        }
        Ok(Some((holes, done)))
    }

    fn unpacked(&self, plain: &Path) -> Result<Output, Error> {
        let file = File::open(self.path).map_err(|error| self.lost(error))?;
        let length = file.metadata().map_err(|error| self.lost(error))?.len();
        let mut stream = Stream::new(Source::new(Origin::File(file, length)), self.packing);
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
                Err(trouble) => Err(trouble),
            };
            match more {
                Ok(true) => {}
                Err(Trouble::Io(error)) => return Err(self.lost(error)),
                // What is behind damage within a member is lost to everyone.
                Ok(false) | Err(_) => break,
            }
        }
        out.into_inner()
            .map_err(|error| failed(plain, error.into_error()))
    }

    /// Packs each record of an unpacked archive by itself.
    fn repack(
        &self,
        input: &Input,
        plain: &Path,
        out: &mut impl Write,
        fate: &mut dyn FnMut(u32) -> Fate,
    ) -> Result<Rewritten, Error> {
        let Some((holes, done)) = self.holes(input, Packing::Plain, fate)? else {
            return Err(self.lost(io::ErrorKind::InvalidData.into()));
        };
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
        let mut holes = holes.iter().peekable();
        let mut at = 0;
        for end in borders {
            if end <= at {
                continue;
            }
            let mut record = Vec::new();
            let read = file.by_ref().take(end - at).read_to_end(&mut record);
            read.map_err(|error| failed(plain, error))?;
            let bytes = match holes.next_if(|hole| hole.begin == at) {
                Some(hole) => &hole.instead,
                None => &record,
            };
            let packed = pack(bytes, self.packing).map_err(|error| self.lost(error))?;
            out.write_all(&packed)
                .map_err(|error| failed(plain, error))?;
            at = end;
        }
        out.flush().map_err(|error| failed(plain, error))?;
        Ok(done)
    }

    /// A revisit record for a response; nothing for a record of another kind.
    fn revisit(&self, record: &Record, of: &RevisitOf) -> Vec<u8> {
        let (Body::Http(response), Some(Format::Warc)) = (&record.body, self.input.format) else {
            return Vec::new();
        };
        let head = response
            .windows(4)
            .position(|bytes| bytes == b"\r\n\r\n")
            .map_or(&[][..], |at| response.get(..at + 4).unwrap_or_default());
        // The same input gives the same record, so its name is made of where it lies.
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
            format!("WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n");
        let mut field = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                let value: String = value.chars().filter(|c| !c.is_control()).collect();
                header.push_str(&format!("{name}: {value}\r\n"));
            }
        };
        field("WARC-Target-URI", record.url.as_deref());
        field("WARC-Date", record.fetched.as_deref());
        field("WARC-IP-Address", record.ip.as_deref());
        field(
            "WARC-Profile",
            Some("http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"),
        );
        field("WARC-Refers-To-Target-URI", Some(&of.url));
        field("WARC-Refers-To-Date", of.date.as_deref());
        field(
            "WARC-Payload-Digest",
            Some(&format!("sha1:{}", of.payload_sha1)),
        );
        field("Content-Type", Some("application/http; msgtype=response"));
        field("Content-Length", Some(&head.len().to_string()));
        let mut bytes = header.into_bytes();
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes
    }

    /// Line by line, for packed lines cannot be cut.
    fn packed_lines(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> Outcome {
        let write = |error| failed(place, error);
        let mut reader = self.input.open(self.settings, Start::default())?;
        let mut out = Packer::new(create(place)?, self.packing).map_err(write)?;
        let mut done = Rewritten::default();
        while let Some(item) = reader.next()? {
            match item {
                Item::Record(Record {
                    place,
                    body: Body::Json { line, .. },
                    ..
                }) => {
                    if fate(place.ordinal) == Fate::Keep {
                        out.write_all(&line).map_err(write)?;
                        out.write_all(b"\n").map_err(write)?;
                    } else {
                        done.dropped += 1;
                    }
                }
                Item::Record(_) | Item::Skipped(_) => done.lost += 1,
                Item::Ignored(_) => {}
            }
        }
        let out = out.finish().map_err(write)?;
        Ok((written(out, place)?, done))
    }

    /// All columns, whatever they hold, of the rows that stay.
    fn table(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> Outcome {
        let bad = |problem: String| Error::BadTable {
            name: self.input.name.clone(),
            problem,
        };
        let file = File::open(self.path).and_then(Handle::local);
        let table = WholeTable::open(file.map_err(|error| self.lost(error))?).map_err(bad)?;
        let noted = table
            .metadata()
            .metadata()
            .file_metadata()
            .key_value_metadata();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(noted.cloned())
            .build();
        let schema = table.metadata().schema().clone();
        let mut writer = ArrowWriter::try_new(create(place)?, schema, Some(properties))
            .map_err(|error| bad(error.to_string()))?;
        let (mut row, mut done) = (0u32, Rewritten::default());
        let outcome = table.for_each(|batch| {
            let stays: BooleanArray = (0..batch.num_rows())
                .map(|_| {
                    let stays = fate(row) == Fate::Keep;
                    row = row.saturating_add(1);
                    done.dropped += u64::from(!stays);
                    Some(stays)
                })
                .collect();
            let rest = filter_record_batch(batch, &stays).map_err(|error| error.to_string())?;
            writer.write(&rest).map_err(|error| error.to_string())
        });
        outcome.map_err(bad)?;
        let out = writer
            .into_inner()
            .map_err(|error| bad(error.to_string()))?;
        Ok((written(out, place)?, done))
    }

    /// A file that is one page: it is copied, or not.
    fn page(&self, place: &Path, fate: &mut dyn FnMut(u32) -> Fate) -> Outcome {
        if fate(0) == Fate::Keep {
            let mut out = create(place)?;
            copy_around(self.path, &[], &mut out).map_err(|error| failed(place, error))?;
            return Ok((written(out, place)?, Rewritten::default()));
        }
        let done = Rewritten {
            dropped: 1,
            ..Rewritten::default()
        };
        Ok((None, done))
    }
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

/// Copies a file, but for holes in it.
fn copy_around(path: &Path, holes: &[Hole], out: &mut impl Write) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut at = 0;
    for hole in holes {
        io::copy(&mut (&file).take(hole.begin.saturating_sub(at)), out)?;
        out.write_all(&hole.instead)?;
        at = hole.end.max(at);
        file.seek(SeekFrom::Start(at))?;
    }
    io::copy(&mut file, out)?;
    Ok(())
}

/// Bytes as a member of their own; nothing stays nothing.
fn pack(bytes: &[u8], packing: Packing) -> io::Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut packer = Packer::new(Vec::new(), packing)?;
    packer.write_all(bytes)?;
    packer.finish()
}

/// Packs what is written to it.
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

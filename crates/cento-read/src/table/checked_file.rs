//! A Parquet file whose pages are checked before the library decodes them.
//!
//! The library holds a decompressed page in memory, however large it is. A page of two gigabytes
//! may have a few kilobytes in the file. And with some codecs, the library decompresses to the end,
//! whatever size the header of the page claims. So a page may not expand more than other compressed
//! inputs, nor to more than it claims.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::thrift::{bad, walk};
use crate::Limits;
use crate::bytes::{Handle, HandleReader};

/// The longest header of a page. Real ones have a hundred bytes, or some kilobytes with minimum and
/// maximum values.
const MAX_HEADER: usize = 16 << 20;

/// How far a page may expand.
#[derive(Clone, Copy)]
pub(super) struct PageGrowth {
    /// The decompressed size up to which the ratio is not checked.
    harmless: u64,
    max_ratio: u64,
}

impl PageGrowth {
    /// The size that the format cannot exceed. In tables of cento, a page may have any ratio,
    /// because a text may.
    pub(super) const ANY: PageGrowth = PageGrowth {
        harmless: i32::MAX as u64,
        max_ratio: 0,
    };

    /// The limit for compressed inputs.
    pub(super) fn within(limits: &Limits) -> PageGrowth {
        PageGrowth {
            harmless: limits.max_page_bytes.saturating_mul(4),
            max_ratio: limits.max_ratio,
        }
    }

    /// Fails if this many bytes may not expand to that many.
    fn check(self, packed: u64, unpacked: u64) -> io::Result<()> {
        let ratio = self.max_ratio;
        if unpacked <= self.harmless || unpacked <= packed.saturating_mul(ratio) {
            return Ok(());
        }
        let problem = format!("{packed} bytes expand to {unpacked}, the limit is {ratio} times");
        Err(bad(&problem))
    }
}

/// Where the compressed part of a page begins, and what its header claims.
#[derive(Clone, Copy)]
struct PageClaim {
    levels: u64,
    unpacked: u64,
}

/// A file whose pages are checked before the library decodes them.
#[derive(Clone)]
pub(super) struct CheckedFile {
    file: Handle,
    growth: PageGrowth,
    /// The columns whose pages may expand to more than they claim.
    columns: Arc<[(Range<u64>, Compression)]>,
    /// The pages whose headers were read, by the offset of what follows the header.
    claims: Arc<Mutex<BTreeMap<u64, PageClaim>>>,
}

impl CheckedFile {
    /// A file of which these row groups are read.
    pub(super) fn new(file: Handle, growth: PageGrowth, groups: &[RowGroupMetaData]) -> Self {
        let columns = groups.iter().flat_map(|group| group.columns());
        let columns = columns.filter(|column| worst_ratio(column.compression()).is_some());
        let columns = columns.filter_map(|column| {
            let first = column.dictionary_page_offset();
            let begin = first.unwrap_or(column.data_page_offset());
            let begin = u64::try_from(begin.min(column.data_page_offset())).ok()?;
            let bytes = u64::try_from(column.compressed_size()).ok()?;
            Some((begin..begin.checked_add(bytes)?, column.compression()))
        });
        CheckedFile {
            file,
            growth,
            columns: columns.collect(),
            claims: Arc::default(),
        }
    }

    /// The file itself.
    pub(super) fn handle(&self) -> &Handle {
        &self.file
    }

    /// Fails if the page at this offset expands to more than it claims.
    fn check_page(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let claim = claims.remove(&start);
        drop(claims);
        let column = self
            .columns
            .iter()
            .find(|(range, _)| range.contains(&start));
        let Some((_, compression)) = column else {
            return Ok(());
        };
        let worst = worst_ratio(*compression).unwrap_or(u64::MAX);
        let packed = bytes.len() as u64;
        if packed.saturating_mul(worst) <= self.growth.harmless {
            return Ok(());
        }
        let claim = claim.unwrap_or(PageClaim {
            levels: 0,
            unpacked: self.growth.harmless,
        });
        let begin = usize::try_from(claim.levels).unwrap_or(usize::MAX);
        let body = bytes.get(begin..).unwrap_or_default();
        let most = claim.unpacked.saturating_sub(claim.levels);
        match expands_beyond(*compression, body, most) {
            true => Err(bad("a page expands to more than it claims")),
            false => Ok(()),
        }
    }
}

/// The ratio that a codec cannot exceed, if the library trusts it instead of the size that a page
/// claims.
fn worst_ratio(compression: Compression) -> Option<u64> {
    match compression {
        Compression::GZIP(_) => Some(1_032),
        Compression::LZ4 => Some(255),
        Compression::BROTLI(_) => Some(u64::MAX),
        _ => None,
    }
}

/// Whether the library would decompress more than `most` bytes.
fn expands_beyond(compression: Compression, bytes: &[u8], most: u64) -> bool {
    let expands = |decoder: &mut dyn Read| {
        // An error is the library's to report; it has decompressed as much until then.
        let mut counted = Counted(0);
        let _ = io::copy(&mut decoder.take(most.saturating_add(1)), &mut counted);
        counted.0 > most
    };
    match compression {
        Compression::GZIP(_) => expands(&mut flate2::read::MultiGzDecoder::new(bytes)),
        Compression::LZ4 => expands(&mut lz4_flex::frame::FrameDecoder::new(bytes)),
        Compression::BROTLI(_) => expands(&mut brotli_decompressor::Decompressor::new(bytes, 4096)),
        _ => false,
    }
}

/// Counts what is written to it.
struct Counted(u64);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.file.length()
    }
}

impl ChunkReader for CheckedFile {
    type T = PageHeaderReader;

    fn get_read(&self, start: u64) -> Result<PageHeaderReader> {
        Ok(PageHeaderReader {
            rest: self.file.get_read(start)?,
            head: None,
            start,
            file: self.clone(),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<::bytes::Bytes> {
        let bytes = self.file.get_bytes(start, length)?;
        self.check_page(start, &bytes)
            .map_err(|error| ParquetError::General(error.to_string()))?;
        Ok(bytes)
    }
}

/// Reads the header of a page and the bytes after it. The header is checked at the first read,
/// because the library also opens offsets without a header and then reads nothing.
pub(super) struct PageHeaderReader {
    rest: HandleReader,
    head: Option<Cursor<Vec<u8>>>,
    start: u64,
    file: CheckedFile,
}

impl PageHeaderReader {
    /// Reads and checks the header, and returns its bytes.
    fn header(&mut self) -> io::Result<Vec<u8>> {
        let header = walk(&mut self.rest, MAX_HEADER).map_err(|error| {
            let problem = format!("the header of a page is corrupted: {error}");
            io::Error::new(error.kind(), problem)
        })?;
        self.file.growth.check(header.packed, header.unpacked)?;
        let begin = self.start.saturating_add(header.bytes.len() as u64);
        let claim = PageClaim {
            levels: header.levels,
            unpacked: header.unpacked,
        };
        if !self.file.columns.is_empty() {
            let claims = self.file.claims.lock();
            let mut claims = claims.unwrap_or_else(PoisonError::into_inner);
            claims.insert(begin, claim);
        }
        Ok(header.bytes)
    }
}

impl Read for PageHeaderReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let head = match self.head.take() {
            Some(head) => head,
            None => Cursor::new(self.header()?),
        };
        match self.head.insert(head).read(buffer)? {
            0 => self.rest.read(buffer),
            count => Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::basic::{BrotliLevel, GzipLevel};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn brotli(mut bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let params = brotli::enc::BrotliEncoderParams::default();
        brotli::BrotliCompress(&mut bytes, &mut packed, &params).unwrap();
        packed
    }

    fn lz4(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_page_that_expands_to_more_than_it_claims_is_found() {
        let page = vec![b'a'; 1 << 20];
        let twice = [gzip(&page), gzip(&page)].concat();
        let codecs = [
            (
                Compression::GZIP(GzipLevel::default()),
                gzip(&page),
                1 << 20,
            ),
            (Compression::GZIP(GzipLevel::default()), twice, 2 << 20),
            (
                Compression::BROTLI(BrotliLevel::default()),
                brotli(&page),
                1 << 20,
            ),
            (Compression::LZ4, lz4(&page), 1 << 20),
        ];
        for (compression, packed, size) in codecs {
            assert!(!expands_beyond(compression, &packed, size), "{compression}");
            assert!(
                expands_beyond(compression, &packed, size - 1),
                "{compression}"
            );
            assert!(expands_beyond(compression, &packed, 100), "{compression}");
            // Damage is for the library to report.
            let cut = packed.get(..packed.len() / 2).unwrap_or_default();
            assert!(!expands_beyond(compression, cut, size), "{compression}");
        }
    }

    #[test]
    fn large_pages_have_a_limited_ratio() {
        let growth = PageGrowth::within(&Limits::default());
        assert!(growth.check(1_000, 4 * (64 << 20)).is_ok());
        assert!(growth.check(1_000, 4 * (64 << 20) + 1).is_err());
        assert!(growth.check(2 << 20, 500 << 20).is_ok());
        assert!(PageGrowth::ANY.check(1, i32::MAX as u64).is_ok());
        assert!(PageGrowth::ANY.check(1, 1 << 31).is_err());
    }
}

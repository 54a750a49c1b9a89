//! Small zips, written by hand.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// A file for a zip.
pub(crate) struct File<'a> {
    name: &'a str,
    bytes: &'a [u8],
    deflate: bool,
}

pub(crate) fn stored<'a>(name: &'a str, bytes: &'a [u8]) -> File<'a> {
    File {
        name,
        bytes,
        deflate: false,
    }
}

pub(crate) fn deflated<'a>(name: &'a str, bytes: &'a [u8]) -> File<'a> {
    File {
        deflate: true,
        ..stored(name, bytes)
    }
}

/// A zip, with 64-bit sizes and offsets if `wide`.
pub(crate) fn zip(files: &[File<'_>], wide: bool) -> Vec<u8> {
    let mut zip = Vec::new();
    let mut directory = Vec::new();
    for file in files {
        let bytes = if file.deflate {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(file.bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            file.bytes.to_vec()
        };
        let mut crc = Crc::new();
        crc.update(file.bytes);
        let (packed, unpacked) = (bytes.len() as u64, file.bytes.len() as u64);
        let place = zip.len() as u64;
        let narrow = |number: u64| if wide { u32::MAX } else { number as u32 };
        let fields = |extra: &[u8]| {
            let mut fields = Vec::new();
            let method: u16 = if file.deflate { 8 } else { 0 };
            for number in [20, 0, method, 0, 0] {
                fields.extend_from_slice(&number.to_le_bytes());
            }
            for number in [crc.sum(), narrow(packed), narrow(unpacked)] {
                fields.extend_from_slice(&number.to_le_bytes());
            }
            for number in [file.name.len() as u16, extra.len() as u16] {
                fields.extend_from_slice(&number.to_le_bytes());
            }
            fields
        };
        let extra_of = |numbers: &[u64]| {
            let mut extra = Vec::new();
            if wide {
                extra.extend_from_slice(&1_u16.to_le_bytes());
                extra.extend_from_slice(&(numbers.len() as u16 * 8).to_le_bytes());
                for number in numbers {
                    extra.extend_from_slice(&number.to_le_bytes());
                }
            }
            extra
        };
        let extra = extra_of(&[unpacked, packed]);
        zip.extend_from_slice(b"PK\x03\x04");
        zip.extend_from_slice(&fields(&extra));
        zip.extend_from_slice(file.name.as_bytes());
        zip.extend_from_slice(&extra);
        zip.extend_from_slice(&bytes);
        let extra = extra_of(&[unpacked, packed, place]);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&fields(&extra));
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&narrow(place).to_le_bytes());
        directory.extend_from_slice(file.name.as_bytes());
        directory.extend_from_slice(&extra);
    }
    let (begin, size, count) = (zip.len() as u64, directory.len() as u64, files.len() as u64);
    zip.extend_from_slice(&directory);
    if wide {
        let end = zip.len() as u64;
        zip.extend_from_slice(b"PK\x06\x06");
        zip.extend_from_slice(&44_u64.to_le_bytes());
        zip.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [count, count, size, begin] {
            zip.extend_from_slice(&number.to_le_bytes());
        }
        zip.extend_from_slice(b"PK\x06\x07\0\0\0\0");
        zip.extend_from_slice(&end.to_le_bytes());
        zip.extend_from_slice(&1_u32.to_le_bytes());
    }
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        zip.extend_from_slice(&(count as u16).to_le_bytes());
    }
    for number in [size, begin] {
        let number = if wide { u32::MAX } else { number as u32 };
        zip.extend_from_slice(&number.to_le_bytes());
    }
    zip.extend_from_slice(&[0; 2]);
    zip
}

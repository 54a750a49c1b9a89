//! Writing WARC 1.1 records, each in its own gzip member.

use std::io::{self, Write};

use cento_fingerprint::base32;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use sha1::{Digest, Sha1};

use crate::random::mix;

/// The lowest level: synthetic text compresses badly at any level, and level 6 takes four times as
/// long.
const LEVEL: u32 = 1;

/// Writes records to a file.
pub(crate) struct WarcWriter<W> {
    out: W,
    compress: Compress,
    member: Vec<u8>,
    record: Vec<u8>,
    /// The seed of record ids.
    key: u64,
    records: u64,
    /// Bytes written so far.
    pub(crate) offset: u64,
}

/// The fields of a record header that do not follow from its content.
pub(crate) struct RecordHeader<'a> {
    pub(crate) url: &'a str,
    pub(crate) fetched: i64,
    pub(crate) address: &'a str,
}

/// How a record is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordDamage {
    /// Bytes within the compressed member are wrong.
    BadGzip,
    /// The member is cut off, and the next one follows.
    CutMember,
    /// The body is declared as compressed and starts like a compressed one, but is not.
    BadCoding,
    /// The response does not start like an HTTP response.
    BadHttp,
    /// The record and its response declare a larger length than they have.
    BadLength,
}

impl RecordDamage {
    /// All kinds of damage, used in turn.
    pub(crate) const ALL: [RecordDamage; 5] = [
        RecordDamage::BadGzip,
        RecordDamage::CutMember,
        RecordDamage::BadCoding,
        RecordDamage::BadHttp,
        RecordDamage::BadLength,
    ];

    /// The reason for which an index rejects such a page; `None` if it finds no page.
    pub fn reject(self) -> Option<&'static str> {
        match self {
            RecordDamage::BadGzip | RecordDamage::CutMember | RecordDamage::BadLength => None,
            RecordDamage::BadCoding => Some("undecodable"),
            RecordDamage::BadHttp => Some("bad-http"),
        }
    }
}

/// The SHA-1 of a payload.
pub(crate) fn digest(payload: &[u8]) -> [u8; 20] {
    Sha1::digest(payload).into()
}

impl<W: Write> WarcWriter<W> {
    pub(crate) fn new(out: W, key: u64) -> WarcWriter<W> {
        WarcWriter {
            out,
            compress: Compress::new(Compression::new(LEVEL), false),
            member: Vec::new(),
            record: Vec::new(),
            key,
            records: 0,
            offset: 0,
        }
    }

    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    /// A pseudo-random UUID of version 4, the same in every run.
    fn id(&mut self) -> String {
        self.records += 1;
        let high = mix(self.key ^ mix(self.records));
        let low = mix(high ^ self.records);
        format!(
            "<urn:uuid:{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}>",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff,
        )
    }

    fn begin(&mut self, kind: &str) -> io::Result<()> {
        let id = self.id();
        self.record.clear();
        write!(
            self.record,
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-TruthRecord-ID: {id}\r\n"
        )
    }

    /// Writes the `warcinfo` record at the start of a file.
    pub(crate) fn info(&mut self, name: &str, date: i64) -> io::Result<()> {
        let fields = "software: cento synth\r\nformat: WARC File Format 1.1\r\n\
                      description: a synthetic crawl; nothing in it is true\r\n";
        self.begin("warcinfo")?;
        write!(
            self.record,
            "WARC-Date: {}\r\nWARC-Filename: {name}\r\nContent-Type: application/warc-fields\r\n\
             Content-Length: {}\r\n\r\n{fields}\r\n\r\n",
            cento_text::date::render(date),
            fields.len(),
        )?;
        self.end(None)
    }

    fn about(&mut self, header: &RecordHeader<'_>) -> io::Result<()> {
        write!(
            self.record,
            "WARC-Date: {}\r\nWARC-Target-URI: {}\r\nWARC-IP-Address: {}\r\n",
            cento_text::date::render(header.fetched),
            header.url,
            header.address,
        )
    }

    /// Writes a request.
    pub(crate) fn request(&mut self, header: &RecordHeader<'_>) -> io::Result<()> {
        let rest = header
            .url
            .split_once("://")
            .map_or(header.url, |(_, rest)| rest);
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let block = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: synth\r\n\r\n");
        self.begin("request")?;
        self.about(header)?;
        write!(
            self.record,
            "Content-Type: application/http; msgtype=request\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )?;
        self.end(None)
    }

    /// Writes a response.
    pub(crate) fn response(
        &mut self,
        header: &RecordHeader<'_>,
        payload: &[u8],
        sha1: &[u8; 20],
        damage: Option<RecordDamage>,
    ) -> io::Result<()> {
        let coding = match damage {
            Some(RecordDamage::BadCoding) => "Content-Encoding: gzip\r\n",
            _ => "",
        };
        let line = match damage {
            Some(RecordDamage::BadHttp) => "@@ nothing that HTTP knows",
            _ => "HTTP/1.1 200 OK",
        };
        // Readers, like browsers, would take a body that does not start like a compressed one for
        // plain.
        let magic: &[u8] = match damage {
            Some(RecordDamage::BadCoding) => &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 7],
            _ => &[],
        };
        let extra = if damage == Some(RecordDamage::BadLength) {
            1_000
        } else {
            0
        };
        let head = format!(
            "{line}\r\nServer: synth\r\nContent-Type: text/html; charset=utf-8\r\n{coding}Content-Length: {}\r\n\r\n",
            payload.len() + magic.len() + extra
        );
        self.begin("response")?;
        self.about(header)?;
        write!(
            self.record,
            "WARC-Payload-Digest: sha1:{}\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{head}",
            base32(sha1),
            head.len() + magic.len() + payload.len() + extra,
        )?;
        self.record.extend_from_slice(magic);
        self.record.extend_from_slice(payload);
        self.record.extend_from_slice(b"\r\n\r\n");
        self.end(damage)
    }

    /// Writes a revisit of a page that has not changed since `of`.
    pub(crate) fn revisit(
        &mut self,
        header: &RecordHeader<'_>,
        of: &RecordHeader<'_>,
        sha1: &[u8; 20],
    ) -> io::Result<()> {
        let head =
            "HTTP/1.1 200 OK\r\nServer: synth\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
        self.begin("revisit")?;
        self.about(header)?;
        write!(
            self.record,
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n\
             WARC-Refers-To-Target-URI: {}\r\nWARC-Refers-To-Date: {}\r\nWARC-Payload-Digest: sha1:{}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{head}\r\n\r\n",
            of.url,
            cento_text::date::render(of.fetched),
            base32(sha1),
            head.len(),
        )?;
        self.end(None)
    }

    /// Compresses the record as a gzip member and writes it.
    fn end(&mut self, damage: Option<RecordDamage>) -> io::Result<()> {
        let WarcWriter {
            compress,
            member,
            record,
            ..
        } = self;
        member.clear();
        member.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
        compress.reset();
        loop {
            let done = compress.total_in() as usize;
            member.reserve(record.len() / 2 + 256);
            let rest = record.get(done..).unwrap_or_default();
            let status = compress
                .compress_vec(rest, member, FlushCompress::Finish)
                .map_err(io::Error::other)?;
            if status == Status::StreamEnd {
                break;
            }
        }
        let mut checksum = Crc::new();
        checksum.update(record);
        member.extend_from_slice(&checksum.sum().to_le_bytes());
        member.extend_from_slice(&(record.len() as u32).to_le_bytes());
        match damage {
            Some(RecordDamage::BadGzip) => {
                let middle = member.len() / 2;
                if let Some(bytes) = member.get_mut(middle..middle + 16) {
                    bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
                }
            }
            Some(RecordDamage::CutMember) => member.truncate(member.len() / 2),
            _ => {}
        }
        self.out.write_all(member)?;
        self.offset += member.len() as u64;
        Ok(())
    }
}

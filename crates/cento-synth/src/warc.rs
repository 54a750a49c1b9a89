//! Records of WARC 1.1, one gzip member each.

use std::io::{self, Write};

use cento_fingerprint::base32;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use sha1::{Digest, Sha1};

use crate::random::mix;

/// The lowest level: synthetic text packs badly at any level, and level 6 takes four times as long.
const LEVEL: u32 = 1;

/// Writes records to a file.
pub(crate) struct WarcWriter<W> {
    out: W,
    compress: Compress,
    member: Vec<u8>,
    record: Vec<u8>,
    /// What record ids are made of.
    key: u64,
    records: u64,
    /// Bytes written so far.
    pub(crate) offset: u64,
}

/// What a record says in its header, besides what follows from its content.
pub(crate) struct Header<'a> {
    pub(crate) url: &'a str,
    pub(crate) fetched: i64,
    pub(crate) address: &'a str,
}

/// How a record is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// Bytes within the compressed member are wrong.
    BadGzip,
    /// The member ends in its midst, and the next one begins.
    CutMember,
    /// The body claims to be compressed, and begins as if it were.
    BadCoding,
    /// The response does not begin like one.
    BadHttp,
    /// The record and the response in it say that they are longer than they are.
    BadLength,
}

impl Damage {
    /// All of them; they take turns.
    pub(crate) const ALL: [Damage; 5] = [
        Damage::BadGzip,
        Damage::CutMember,
        Damage::BadCoding,
        Damage::BadHttp,
        Damage::BadLength,
    ];

    /// The reason for which an index rejects such a page; none if it sees no page at all.
    pub fn reject(self) -> Option<&'static str> {
        match self {
            Damage::BadGzip | Damage::CutMember | Damage::BadLength => None,
            Damage::BadCoding => Some("undecodable"),
            Damage::BadHttp => Some("bad-http"),
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

    /// A random-looking UUID of version 4 that is the same in every run.
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
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\n"
        )
    }

    /// The record that opens a file.
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

    fn about(&mut self, header: &Header<'_>) -> io::Result<()> {
        write!(
            self.record,
            "WARC-Date: {}\r\nWARC-Target-URI: {}\r\nWARC-IP-Address: {}\r\n",
            cento_text::date::render(header.fetched),
            header.url,
            header.address,
        )
    }

    /// What was asked for.
    pub(crate) fn request(&mut self, header: &Header<'_>) -> io::Result<()> {
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

    /// A page.
    pub(crate) fn response(
        &mut self,
        header: &Header<'_>,
        payload: &[u8],
        sha1: &[u8; 20],
        damage: Option<Damage>,
    ) -> io::Result<()> {
        let coding = match damage {
            Some(Damage::BadCoding) => "Content-Encoding: gzip\r\n",
            _ => "",
        };
        let line = match damage {
            Some(Damage::BadHttp) => "@@ nothing that HTTP knows",
            _ => "HTTP/1.1 200 OK",
        };
        // A body that does not even begin like a compressed one would be read as it is, as browsers
        // do.
        let magic: &[u8] = match damage {
            Some(Damage::BadCoding) => &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 7],
            _ => &[],
        };
        let extra = if damage == Some(Damage::BadLength) {
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

    /// A page that had not changed since `of`.
    pub(crate) fn revisit(
        &mut self,
        header: &Header<'_>,
        of: &Header<'_>,
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

    /// Packs the record as a member of its own and writes it.
    fn end(&mut self, damage: Option<Damage>) -> io::Result<()> {
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
            Some(Damage::BadGzip) => {
                let middle = member.len() / 2;
                if let Some(bytes) = member.get_mut(middle..middle + 16) {
                    bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
                }
            }
            Some(Damage::CutMember) => member.truncate(member.len() / 2),
            _ => {}
        }
        self.out.write_all(member)?;
        self.offset += member.len() as u64;
        Ok(())
    }
}

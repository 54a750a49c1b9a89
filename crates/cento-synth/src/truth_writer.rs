//! Writing the truth records of a page at the time the page is written.

mod sites;

use cento_fingerprint::text_hash;
use cento_text::date::render;

use crate::error::{Error, Result};
use crate::html;
use crate::page_reader::{PageReader, PageReading, compare};
use crate::pages::{BlockOrigin, MirrorHost, PageMaker, SynthPage, is_clean};
use crate::settings::PageKind;
use crate::truth::{
    AliasKind, CopyExtent, CopyReason, Likeness, QuiltSource, TextSpan, TruthRecord,
};
use crate::warc::RecordDamage;

/// Writes the records of one page after the other to a buffer.
pub(crate) struct TruthWriter<'a> {
    maker: PageMaker<'a>,
    pub(crate) reader: PageReader,
    out: Vec<u8>,
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A page as it was written.
pub(crate) struct WrittenPage<'a> {
    pub(crate) page: &'a SynthPage,
    pub(crate) html: &'a str,
    pub(crate) sha1: [u8; 20],
    pub(crate) file: &'a str,
    pub(crate) damage: Option<RecordDamage>,
}

impl<'a> TruthWriter<'a> {
    pub(crate) fn new(maker: PageMaker<'a>) -> TruthWriter<'a> {
        TruthWriter {
            maker,
            reader: PageReader::default(),
            out: Vec::new(),
        }
    }

    /// Takes the records that were written since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn record(&mut self, record: &TruthRecord) -> Result<()> {
        serde_json::to_writer(&mut self.out, record)
            .map_err(|error| Error::io(std::path::Path::new("truth.jsonl"), error.into()))?;
        self.out.push(b'\n');
        Ok(())
    }

    fn grams(&self) -> u32 {
        self.maker.layout.settings.grams
    }

    /// Writes all records of a page.
    pub(crate) fn write_page(&mut self, written: &WrittenPage<'_>) -> Result<()> {
        let page = written.page;
        self.write_site(page.role)?;
        if let Some(damage) = written.damage {
            self.record(&TruthRecord::Damaged {
                url: page.url.clone(),
                file: written.file.to_owned(),
                damage,
                reject: damage.reject().map(str::to_owned),
            })?;
            if damage.reject().is_none() {
                return Ok(());
            }
        }
        let reject = match page.role.kind {
            PageKind::Revisit => Some("revisit"),
            PageKind::Trap => Some("recursion"),
            _ => written.damage.and_then(RecordDamage::reject),
        };
        self.record(&TruthRecord::Page {
            url: page.url.clone(),
            kind: page.role.kind,
            file: written.file.to_owned(),
            fetched: render(page.fetched),
            published: page.published.map(render),
            ip: page.address.clone(),
            language: page.language.code().to_owned(),
            declared: page.declares_language,
            template: page.template.host(),
            payload_sha1: hex(&written.sha1),
            reject: reject.map(str::to_owned),
        })?;
        match page.role.kind {
            PageKind::Exact | PageKind::Mirror | PageKind::Alias => self.exact(written),
            PageKind::Revisit => self.revisit(page),
            PageKind::Near => self.near(written),
            PageKind::Quilt | PageKind::Aggregator => self.quilt(written),
            PageKind::Passage => self.passages_only(written),
            PageKind::Stolen if !is_clean(page.role.index) => self.stolen(written),
            _ => Ok(()),
        }
    }

    fn exact(&mut self, written: &WrittenPage<'_>) -> Result<()> {
        let page = written.page;
        let role = page.role;
        let (article, why) = match role.kind {
            PageKind::Exact => (self.maker.layout.whole(role).0, CopyReason::Copy),
            PageKind::Alias => (self.maker.layout.whole(role).0, CopyReason::UrlAlias),
            _ => {
                let why = match self.maker.mirror_host(role) {
                    MirrorHost::OtherName => CopyReason::ServerAlias,
                    MirrorHost::Mirror(_) => CopyReason::Mirror,
                };
                (self.maker.layout.mirrored(role.index).0, why)
            }
        };
        let (source, _) = self.maker.article_address(article);
        if why == CopyReason::UrlAlias {
            self.record(&TruthRecord::Alias {
                kind: AliasKind::Url,
                alias: page.url.clone(),
                of: source.clone(),
            })?;
        }
        let how = if role.kind == PageKind::Exact && !self.maker.has_same_bytes(role) {
            Likeness::Text
        } else {
            Likeness::Bytes
        };
        let text = self.reader.text(written.html);
        let chunks = self.reader.sets(&text, self.grams()).chunks.len() as u64;
        self.record(&TruthRecord::Copy {
            copy: page.url.clone(),
            of: source,
            how,
            why,
            resemblance: 1.0,
            of_copy: 1.0,
            of_source: 1.0,
            shared_chunks: chunks,
            edit_rate: None,
        })
    }

    fn revisit(&mut self, page: &SynthPage) -> Result<()> {
        let (article, _) = self.maker.layout.whole(page.role);
        let (of, of_fetched) = self.maker.article_address(article);
        self.record(&TruthRecord::Revisit {
            url: page.url.clone(),
            fetched: render(page.fetched),
            of,
            of_fetched: render(of_fetched),
        })
    }

    fn near(&mut self, written: &WrittenPage<'_>) -> Result<()> {
        let page = written.page;
        let (_, before) = self.maker.layout.whole(page.role);
        let reading = self.reader.rendered(page, written.html)?;
        let rate = self.maker.edit_rate(page.role);
        for source in &page.sources {
            let of = self.reader.page(source)?;
            self.pair(page, &reading, source, &of, CopyReason::Edited, Some(rate))?;
            self.passages(page, &reading, source, &of)?;
        }
        for sibling in 0..before {
            let other = self.maker.layout.sibling(page.role.index, sibling);
            let other = self.maker.page(other);
            let of = self.reader.page(&other)?;
            self.pair(page, &reading, &other, &of, CopyReason::Sibling, None)?;
        }
        Ok(())
    }

    fn pair(
        &mut self,
        page: &SynthPage,
        reading: &PageReading,
        source: &SynthPage,
        of: &PageReading,
        why: CopyReason,
        edit_rate: Option<f64>,
    ) -> Result<()> {
        let ours = self.reader.sets(&reading.text, self.grams());
        let theirs = self.reader.sets(&of.text, self.grams());
        let common = compare(&ours.grams, &theirs.grams);
        let how = if reading.text == of.text {
            Likeness::Text
        } else {
            Likeness::Near
        };
        self.record(&TruthRecord::Copy {
            copy: page.url.clone(),
            of: source.url.clone(),
            how,
            why,
            resemblance: common.resemblance,
            of_copy: common.of_first,
            of_source: common.of_second,
            shared_chunks: ours.chunks.intersection(&theirs.chunks).count() as u64,
            edit_rate,
        })
    }

    /// Writes the passages that a page copies from one source.
    fn passages(
        &mut self,
        page: &SynthPage,
        reading: &PageReading,
        source: &SynthPage,
        of: &PageReading,
    ) -> Result<()> {
        let mut open: Option<(u32, Vec<[u64; 4]>, &BlockOrigin)> = None;
        let mut done = Vec::new();
        for (block, &begin) in page.body.blocks.iter().zip(&reading.blocks) {
            let Some(origin) = block
                .origin
                .as_ref()
                .filter(|origin| origin.source == source.role)
            else {
                continue;
            };
            let Some(&source_begin) = of.blocks.get(origin.block) else {
                continue;
            };
            let segments = origin.runs.iter().map(|run| {
                let (at, from) = (
                    begin as u64 + u64::from(run.begin),
                    source_begin as u64 + u64::from(run.source),
                );
                let length = u64::from(run.length);
                [at, at + length, from, from + length]
            });
            match &mut open {
                Some((number, known, _)) if *number == origin.passage => known.extend(segments),
                _ => {
                    done.extend(open.take());
                    open = Some((origin.passage, segments.collect(), origin));
                }
            }
        }
        done.extend(open);
        for (_, segments, origin) in done {
            let segments = joined(&segments, &reading.text, &of.text);
            if segments.is_empty() {
                continue;
            }
            let layout = self.maker.layout;
            let is_original = source.role.kind == PageKind::Original;
            let filed = is_original && layout.is_filed(source.role.index);
            self.record(&TruthRecord::Passage {
                page: page.url.clone(),
                source: source.url.clone(),
                crawled: !is_original || layout.is_crawled(source.role.index),
                file: filed.then(|| original_file(source.role.index)),
                how: origin.how,
                edit_rate: (origin.rate > 0.0).then_some(origin.rate),
                at: span(
                    &reading.text,
                    segments.iter().map(|segment| (segment[0], segment[1])),
                ),
                source_at: span(
                    &of.text,
                    segments.iter().map(|segment| (segment[2], segment[3])),
                ),
                segments,
            })?;
        }
        Ok(())
    }

    fn passages_only(&mut self, written: &WrittenPage<'_>) -> Result<()> {
        let reading = self.reader.rendered(written.page, written.html)?;
        for source in &written.page.sources {
            let of = self.reader.page(source)?;
            self.passages(written.page, &reading, source, &of)?;
        }
        Ok(())
    }

    fn quilt(&mut self, written: &WrittenPage<'_>) -> Result<()> {
        let page = written.page;
        let reading = self.reader.rendered(page, written.html)?;
        let grams = self.reader.grams(&reading.text, self.grams());
        let mut left = grams.clone();
        let mut sources = Vec::new();
        for source in &page.sources {
            let of = self.reader.page(source)?;
            let theirs = self.reader.grams(&of.text, self.grams());
            left.retain(|gram| !theirs.contains(gram));
            sources.push(QuiltSource {
                url: source.url.clone(),
                share: compare(&grams, &theirs).of_first,
            });
            self.passages(page, &reading, source, &of)?;
        }
        self.record(&TruthRecord::Quilt {
            page: page.url.clone(),
            attributed: page.role.kind == PageKind::Aggregator,
            patch_share: 1.0 - left.len() as f64 / grams.len().max(1) as f64,
            sources,
        })
    }

    fn stolen(&mut self, written: &WrittenPage<'_>) -> Result<()> {
        let page = written.page;
        let (original, whole) = self.maker.stolen_original(page.role);
        let Some(source) = page.sources.first() else {
            return Ok(());
        };
        let reading = self.reader.rendered(page, written.html)?;
        let of = self.reader.page(source)?;
        let ours = self.reader.sets(&reading.text, self.grams());
        let theirs = self.reader.sets(&of.text, self.grams());
        let common = compare(&ours.grams, &theirs.grams);
        let layout = self.maker.layout;
        self.record(&TruthRecord::Copied {
            page: page.url.clone(),
            original: source.url.clone(),
            file: layout.is_filed(original).then(|| original_file(original)),
            crawled: layout.is_crawled(original),
            extent: if whole {
                CopyExtent::Whole
            } else {
                CopyExtent::Partial
            },
            of_page: common.of_first,
            of_original: common.of_second,
            shared_chunks: ours.chunks.intersection(&theirs.chunks).count() as u64,
        })?;
        if whole && layout.is_crawled(original) {
            self.pair(page, &reading, source, &of, CopyReason::Stolen, None)?;
        }
        self.passages(page, &reading, source, &of)
    }

    /// Writes the records at the start of the file, before those of pages.
    pub(crate) fn write_header(&mut self) -> Result<()> {
        let settings = self.maker.layout.settings.clone();
        self.record(&TruthRecord::Truth {
            version: crate::truth::TRUTH_VERSION,
            grams: settings.grams,
            settings,
        })?;
        for language in self.maker.layout.all_languages() {
            self.record(&TruthRecord::Boilerplate {
                language: language.code().to_owned(),
                text: html::notice(language),
            })?;
        }
        Ok(())
    }
}

/// The path of an original in the folder of originals.
pub(crate) fn original_file(original: u64) -> String {
    format!("{:05}/original-{original:08}.html", original / 1_000)
}

/// Joins segments that continue each other on both sides: two paragraphs that are adjacent on both
/// sides have the same gap between them.
fn joined(segments: &[[u64; 4]], text: &str, source: &str) -> Vec<[u64; 4]> {
    let mut joined: Vec<[u64; 4]> = Vec::with_capacity(segments.len());
    let between = |text: &str, begin: u64, end: u64| {
        text.get(begin as usize..end as usize).map(str::to_owned)
    };
    for &segment in segments {
        match joined.last_mut() {
            Some(last)
                if last[1] <= segment[0]
                    && last[3] <= segment[2]
                    && segment[0] - last[1] == segment[2] - last[3]
                    && between(text, last[1], segment[0])
                        == between(source, last[3], segment[2]) =>
            {
                last[1] = segment[1];
                last[3] = segment[3];
            }
            _ => joined.push(segment),
        }
    }
    joined
}

/// The span of a text from the first to the last of these ranges.
fn span(text: &str, ranges: impl Iterator<Item = (u64, u64)> + Clone) -> TextSpan {
    let begin = ranges
        .clone()
        .map(|range| range.0)
        .min()
        .unwrap_or_default();
    let end = ranges.map(|range| range.1).max().unwrap_or_default();
    span_of(text, begin, end).unwrap_or(TextSpan {
        begin,
        end,
        begin_char: 0,
        end_char: 0,
        hash: String::new(),
    })
}

/// The span of a range of bytes, with its characters and hash; `None` if it is not a range of this
/// text.
pub(crate) fn span_of(text: &str, begin: u64, end: u64) -> Option<TextSpan> {
    let before = text.get(..begin as usize)?;
    let inside = text.get(begin as usize..end as usize)?;
    let begin_char = before.chars().count() as u64;
    Some(TextSpan {
        begin,
        end,
        begin_char,
        end_char: begin_char + inside.chars().count() as u64,
        hash: hex(&text_hash(inside)),
    })
}

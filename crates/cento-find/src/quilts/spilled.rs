//! The cover of a page whose patch grams do not fit in memory.
//!
//! The lists of other pages are written to a temporary file, and the cover is computed in rounds.
//! Each round reads the file twice:
//!
//! ```text
//!   1. count the uncovered grams of every candidate, and sort the candidates by their counts
//!   2. load the grams of the best candidates, as many as fit, and choose sources among them
//! ```
//!
//! A source is chosen only while it gains more than the best candidate that was not loaded had at
//! the beginning of the round. Gains only shrink, so the sources are those of
//! [`GramClasses::cover`]. If not even the grams of the best candidate fit, that candidate is the
//! only source of the round.
//!
//! Memory is 12 bytes for each patch gram of the page, 4 bytes for each page of the corpus, 16
//! bytes for each candidate, and what a round may load.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cento_file::PrivateFolder;

use super::cover::{Cover, CoverSource, Gain, GramClasses, GramList, UNCOVERED};

/// Bytes that are written or read together.
const BUFFER: usize = 1 << 16;

/// The patch grams of a page; the other pages that have them are in a file.
pub(super) struct SpilledGrams {
    list: GramList,
    /// For each gram: the number of other pages, then the pages.
    file: File,
    buffer: Vec<u8>,
    entries: u64,
    /// Pages of the corpus.
    pages: u32,
    /// Bytes that a round may load.
    memory: u64,
    /// Removes the file when dropped.
    _folder: PrivateFolder,
}

impl SpilledGrams {
    /// Moves grams to a file in `temp`. More can be added until the first cover.
    pub(super) fn of(
        classes: &GramClasses,
        temp: &Path,
        pages: u32,
        memory: u64,
    ) -> io::Result<SpilledGrams> {
        let folder = PrivateFolder::create(temp)?;
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(folder.path().join("grams"))?;
        let mut spilled = SpilledGrams {
            list: GramList::default(),
            file,
            buffer: Vec::with_capacity(BUFFER),
            entries: 0,
            pages,
            memory,
            _folder: folder,
        };
        for (gram, least_m, others) in classes.all() {
            spilled.add(gram, least_m, others)?;
        }
        spilled.flush()?;
        Ok(spilled)
    }

    /// Adds a gram, like [`GramClasses::add`].
    pub(super) fn add(&mut self, gram: u64, least_m: u16, others: &[u32]) -> io::Result<()> {
        self.list.push(gram, least_m);
        self.entries += others.len() as u64;
        self.buffer.extend((others.len() as u32).to_le_bytes());
        for page in others {
            self.buffer.extend(page.to_le_bytes());
        }
        match self.buffer.len() >= BUFFER {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes what is buffered. Required between the last [`SpilledGrams::add`] and reading.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The patch grams for `m`; each is a class by itself.
    pub(super) fn grams(&self, m: u32) -> impl Iterator<Item = (u64, usize)> {
        let grams = self.list.within(m).iter().enumerate();
        grams.map(|(at, &gram)| (gram, at))
    }

    /// For each gram, whether `holds` is true for any of its other pages.
    pub(super) fn any(&self, holds: impl Fn(u32) -> bool) -> io::Result<Vec<bool>> {
        let mut any = Vec::new();
        self.read(u32::MAX, |_, others| {
            any.push(others.iter().any(|&page| holds(page)));
            true
        })?;
        Ok(any)
    }

    /// The same sources as [`GramClasses::cover`].
    pub(super) fn cover(
        &self,
        m: u32,
        enough: impl Fn(u64) -> bool,
        order: impl Fn(u32) -> u64,
    ) -> io::Result<Cover> {
        let grams = self.list.within(m).len();
        let mut cover = Cover {
            sources: Vec::new(),
            ranks: vec![UNCOVERED; grams],
        };
        let mut counts = vec![0u32; self.pages as usize];
        loop {
            let candidates = self.candidates(m, &cover.ranks, &mut counts)?;
            let Some(&(most, Reverse(page))) = candidates.first() else {
                break;
            };
            if !enough(most) {
                break;
            }
            // An estimate; a round that turns out to be too large is repeated with fewer
            // candidates.
            let bytes = 128 + 64 * self.entries / (grams as u64).max(1);
            let mut loaded = 0;
            let fitting = candidates.iter().take_while(|(count, _)| {
                loaded += count * bytes;
                loaded <= self.memory
            });
            let mut chosen = fitting.count();
            loop {
                if chosen == 0 {
                    self.cover_one(m, (most, page), &order, &mut cover)?;
                    break;
                }
                let floor = candidates.get(chosen).copied();
                if let Some(classes) = self.load(m, &cover.ranks, &counts, floor)? {
                    let first = cover.sources.len() as u32;
                    let round = classes.cover_above(floor, u32::MAX, &enough, &order);
                    for (at, class) in classes.grams(u32::MAX) {
                        let rank = round.rank(class);
                        if let (Some(rank), Some(slot)) = (rank, cover.ranks.get_mut(at as usize)) {
                            *slot = first + rank;
                        }
                    }
                    cover.sources.extend(round.sources);
                    break;
                }
                chosen /= 4;
            }
        }
        Ok(cover)
    }

    /// Counts the uncovered grams of each page. Returns the pages that have any, the best first.
    fn candidates(&self, m: u32, ranks: &[u32], counts: &mut [u32]) -> io::Result<Vec<Gain>> {
        counts.fill(0);
        self.read(m, |at, others| {
            if ranks.get(at) == Some(&UNCOVERED) {
                for &page in others {
                    if let Some(count) = counts.get_mut(page as usize) {
                        *count += 1;
                    }
                }
            }
            true
        })?;
        let counts = (0..).zip(counts.iter()).filter(|(_, count)| **count > 0);
        let mut candidates: Vec<Gain> = counts
            .map(|(page, &count)| (u64::from(count), Reverse(page)))
            .collect();
        candidates.sort_unstable_by(|one, other| other.cmp(one));
        Ok(candidates)
    }

    /// The uncovered grams of all pages above the floor, numbered, if they fit in memory.
    fn load(
        &self,
        m: u32,
        ranks: &[u32],
        counts: &[u32],
        floor: Option<Gain>,
    ) -> io::Result<Option<GramClasses>> {
        let mut classes = GramClasses::default();
        let mut fits = true;
        self.read(m, |at, others| {
            let above = |page: &u32| {
                let count = counts.get(*page as usize).copied().unwrap_or(0);
                floor.is_none_or(|floor| (u64::from(count), Reverse(*page)) > floor)
            };
            if ranks.get(at) == Some(&UNCOVERED) && others.iter().any(above) {
                classes.add(at as u64, 0, others);
                fits = classes.bytes(self.pages) <= self.memory;
            }
            fits
        })?;
        Ok(fits.then_some(classes))
    }

    /// Adds one source without loading its grams.
    fn cover_one(
        &self,
        m: u32,
        (grams, page): (u64, u32),
        order: impl Fn(u32) -> u64,
        cover: &mut Cover,
    ) -> io::Result<()> {
        let rank = cover.sources.len() as u32;
        // The pages that have every gram that this source adds.
        let mut same: Option<Vec<u32>> = None;
        self.read(m, |at, others| {
            if let Some(slot) = cover.ranks.get_mut(at)
                && *slot == UNCOVERED
                && others.binary_search(&page).is_ok()
            {
                *slot = rank;
                match &mut same {
                    Some(same) => same.retain(|page| others.binary_search(page).is_ok()),
                    None => same = Some(others.to_vec()),
                }
            }
            true
        })?;
        let named = same.into_iter().flatten();
        let named = named.min_by_key(|&page| (order(page), page));
        cover.sources.push(CoverSource {
            page: named.unwrap_or(page),
            grams,
        });
        Ok(())
    }

    /// Calls `each` with the number and the other pages of every patch gram for `m`, until
    /// it returns false.
    fn read(&self, m: u32, mut each: impl FnMut(usize, &[u32]) -> bool) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::with_capacity(BUFFER, file);
        let (mut bytes, mut others) = (Vec::new(), Vec::new());
        for at in 0..self.list.within(m).len() {
            let mut count = [0; 4];
            file.read_exact(&mut count)?;
            bytes.resize(4 * u32::from_le_bytes(count) as usize, 0);
            file.read_exact(&mut bytes)?;
            others.clear();
            let pages = bytes.chunks_exact(4);
            others
                .extend(pages.map(|page| u32::from_le_bytes(page.try_into().unwrap_or_default())));
            if !each(at, &others) {
                break;
            }
        }
        Ok(())
    }
}

//! Checksums of the formats of cento, as whoever forges a file computes them.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// The size of the padded header of a label file.
const LABELS_HEADER: usize = 8192;

/// Returns a label file of a header in JSON and the sections after it.
pub fn label_file(header: &[u8], sections: &[u8]) -> Vec<u8> {
    let mut file = b"cento\x00L\n".to_vec();
    file.extend(1u32.to_le_bytes());
    file.extend((header.len() as u32).to_le_bytes());
    file.extend(blake3::hash(header).as_bytes());
    file.extend(header);
    file.resize(LABELS_HEADER.max(file.len()), 0);
    file.extend(sections);
    file
}

/// Splits a label file into its header in JSON and its sections.
pub fn label_parts(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = file.get(12..16)?.first_chunk().copied()?;
    let header = file.get(48..48 + u32::from_le_bytes(length) as usize)?;
    Some((header, file.get(LABELS_HEADER..)?))
}

/// Returns a document of JSON with the checksum of its lines in a line before them. A line break
/// after the opening brace is added if it is missing.
pub fn sealed(json: &[u8]) -> Vec<u8> {
    let body = json.strip_prefix(b"{").unwrap_or(json);
    let body = body.strip_prefix(b"\n").unwrap_or(body);
    let checksum = blake3::hash(body).to_hex();
    let mut document = format!("{{ \"checksum\": \"{checksum}\",\n").into_bytes();
    document.extend(body);
    document.push(b'\n');
    document
}

/// Returns a document without the line of its checksum.
pub fn unsealed(document: &[u8]) -> Vec<u8> {
    let line = document.iter().position(|&byte| byte == b'\n');
    let body = document.get(line.map_or(0, |line| line + 1)..);
    let body = body.unwrap_or_default();
    let mut json = b"{\n".to_vec();
    json.extend(body.strip_suffix(b"\n").unwrap_or(body));
    json
}

/// Corrects the checksums of the blocks and of the footer of a segment of a query index.
pub fn correct_segment(file: &mut [u8]) -> Option<()> {
    let length = file.get(file.len().checked_sub(16)?..)?.first_chunk()?;
    let trailer = file.len().checked_sub(48)?;
    let footer = trailer.checked_sub(u32::from_le_bytes(*length) as usize)?;
    let json = file.get(footer..trailer)?.to_vec();
    let hash = blake3::hash(&json);
    file.get_mut(trailer..trailer + 32)?
        .copy_from_slice(hash.as_bytes());
    let sections: Value = serde_json::from_slice(&json).ok()?;
    for (blocks, index, width) in [("blocks", "block_index", 16), ("entries", "entry_index", 8)] {
        let number = |section: &str, name: &str| {
            let number = sections.get(section)?.get(name)?.as_u64()?;
            usize::try_from(number).ok()
        };
        let begin = number(index, "offset")?;
        let end = begin.checked_add(number(index, "length")?)?;
        let offsets: Vec<usize> = file
            .get(begin..end)?
            .chunks_exact(width)
            .filter_map(|entry| Some(u64::from_le_bytes(*entry.last_chunk()?) as usize))
            .collect();
        let first = number(blocks, "offset")?;
        for pair in offsets.windows(2) {
            let [begin, end] = *pair else { continue };
            let range = first.checked_add(begin).zip(first.checked_add(end));
            let Some(block) = range.and_then(|(begin, end)| file.get_mut(begin..end)) else {
                continue;
            };
            if let Some((checksum, content)) = block.split_first_chunk_mut::<4>() {
                *checksum = (xxh3_64(content) as u32).to_le_bytes();
            }
        }
    }
    Some(())
}

/// Corrects the checksums of a file of rows of an interrupted run: those of its footer, of the
/// indexes of its sections, and of the rows.
pub fn correct_rows(file: &mut [u8]) -> Option<()> {
    let trailer = file.len().checked_sub(24)?;
    let length = file
        .get(trailer + 8..trailer + 16)?
        .first_chunk()
        .copied()?;
    let footer = trailer.checked_sub(usize::try_from(u64::from_le_bytes(length)).ok()?)?;
    let json = file.get(footer..trailer)?.to_vec();
    file.get_mut(trailer..trailer + 8)?
        .copy_from_slice(&xxh3_64(&json).to_le_bytes());
    let shape: Value = serde_json::from_slice(&json).ok()?;
    for section in shape.get("sections")?.as_array()? {
        let begin = usize::try_from(section.as_u64()?).ok()?;
        for port in shape.get("ports")?.as_object()?.values() {
            let number = |name: &str| usize::try_from(port.get(name)?.as_u64()?).ok();
            let (first, partitions) = (number("first")?, number("partitions")?);
            for partition in 0..partitions.min(1 << 12) {
                let at = first.checked_add(partition)?.checked_mul(32)?;
                let at = begin.checked_add(at)?;
                let entry = file.get(at..at.checked_add(32)?)?;
                let number = |at: usize| Some(u64::from_le_bytes(*entry.get(at..)?.first_chunk()?));
                let (offset, bytes) = (number(0)? as usize, number(8)? as usize);
                let end = offset.checked_add(bytes);
                let rows = end.and_then(|end| file.get(offset..end));
                let check = rows.map_or(0, xxh3_64);
                let entry = file.get_mut(at..at + 32)?;
                entry.get_mut(16..24)?.copy_from_slice(&check.to_le_bytes());
                entry.get_mut(24..)?.fill(0);
                let own = xxh3_64(entry) ^ partition as u64;
                entry.get_mut(24..)?.copy_from_slice(&own.to_le_bytes());
            }
        }
    }
    Some(())
}

/// Corrects the checksum at the end of a file of a broadcast state.
pub fn correct_state(file: &mut [u8]) -> Option<()> {
    let (content, checksum) = file.split_last_chunk_mut::<8>()?;
    *checksum = xxh3_64(content).to_le_bytes();
    Some(())
}

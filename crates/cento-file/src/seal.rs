//! JSON documents with a checksum.
//!
//! The first line has the checksum of all other lines, so that the check does not depend on how
//! JSON is formatted. The whole document is still valid JSON.

/// The result of checking the seal of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// The checksum matches.
    Valid,
    /// The checksum does not match.
    Invalid,
    /// There is no checksum: another program has written the document, or its first line is
    /// corrupted.
    Missing,
}

/// Adds a checksum to a JSON object, which must have several lines as written by
/// `serde_json::to_string_pretty`.
pub fn seal(json: &str) -> Vec<u8> {
    let body = json.strip_prefix("{\n").unwrap_or(json);
    let checksum = blake3::hash(body.as_bytes()).to_hex();
    format!("{{ \"checksum\": \"{checksum}\",\n{body}\n").into_bytes()
}

/// Compares a document with its checksum.
pub fn check_seal(bytes: &[u8]) -> Seal {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
        return Seal::Missing;
    };
    let (line, body) = bytes.split_at(end);
    let checksum = line
        .strip_prefix(b"{ \"checksum\": \"")
        .and_then(|rest| rest.strip_suffix(b"\","));
    // Without the line breaks before and after it.
    let body = body.get(1..).unwrap_or_default();
    match (checksum, body.strip_suffix(b"\n")) {
        (None, _) => Seal::Missing,
        (Some(checksum), Some(body)) if checksum == blake3::hash(body).to_hex().as_bytes() => {
            Seal::Valid
        }
        _ => Seal::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_truncation_is_detected() {
        let whole = seal("{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}");
        assert_eq!(check_seal(&whole), Seal::Valid);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert_ne!(check_seal(&flipped), Seal::Valid, "byte {at}, bit {bit}");
            }
            assert_ne!(check_seal(&whole[..at]), Seal::Valid);
        }
        assert_eq!(check_seal(b"{}"), Seal::Missing);
    }
}

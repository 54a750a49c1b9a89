//! JSON that tells whether it is what was written.
//!
//! The first line holds the checksum of all lines after it, so that the check needs no agreement on
//! how JSON is written; and all of it is still JSON.

/// What a seal says of the bytes behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// They are what was written.
    Whole,
    /// They are not.
    Broken,
    /// There is none: the bytes were written by another program, or their first line is damaged.
    Missing,
}

/// A JSON object, written over several lines as `serde_json::to_string_pretty` does, with its
/// checksum before it.
pub fn seal(json: &str) -> Vec<u8> {
    let body = json.strip_prefix("{\n").unwrap_or(json);
    let checksum = blake3::hash(body.as_bytes()).to_hex();
    format!("{{ \"checksum\": \"{checksum}\",\n{body}\n").into_bytes()
}

/// Compares bytes with their seal.
pub fn check_seal(bytes: &[u8]) -> Seal {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
        return Seal::Missing;
    };
    let (line, body) = bytes.split_at(end);
    let checksum = line
        .strip_prefix(b"{ \"checksum\": \"")
        .and_then(|rest| rest.strip_suffix(b"\","));
    // From behind the line break to before the one that ends the file.
    let body = body.get(1..).unwrap_or_default();
    match (checksum, body.strip_suffix(b"\n")) {
        (None, _) => Seal::Missing,
        (Some(checksum), Some(body)) if checksum == blake3::hash(body).to_hex().as_bytes() => {
            Seal::Whole
        }
        _ => Seal::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flipped_bit_and_no_cut_is_missed() {
        let whole = seal("{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}");
        assert_eq!(check_seal(&whole), Seal::Whole);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert_ne!(check_seal(&flipped), Seal::Whole, "byte {at}, bit {bit}");
            }
            assert_ne!(check_seal(&whole[..at]), Seal::Whole);
        }
        assert_eq!(check_seal(b"{}"), Seal::Missing);
    }
}

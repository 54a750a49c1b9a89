//! The hosts of links, and what is known of them.

use super::super::{bare_host_offset, registered_domain};

/// Remembers the hosts that the last links named.
#[derive(Debug, Default)]
pub(super) struct HostCache {
    slots: Vec<Host>,
}

/// A host whose name is plain.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    /// As it was written.
    written: String,
    /// In lower case, and with a slash.
    pub(super) root: String,
    /// Where the key and the registered domain begin.
    pub(super) key: usize,
    pub(super) domain: usize,
}

impl HostCache {
    const SLOTS: usize = 64;

    /// What is known of the host that is written so; none if that is not plainly a name.
    #[inline]
    pub(super) fn get(&mut self, written: &str, private: bool) -> Option<&Host> {
        if self.slots.is_empty() {
            self.slots.resize(Self::SLOTS, Host::default());
        }
        // Names differ at their ends or in their lengths, mostly: enough to keep them apart in few
        // slots.
        let bytes = written.as_bytes();
        let ends = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            (Some(first), Some(last)) => {
                u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
            }
            _ => bytes
                .iter()
                .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
        };
        let mixed = (ends ^ written.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = self.slots.get_mut((mixed >> 58) as usize)?;
        if slot.written != written || written.is_empty() {
            if !is_plain_host(bytes) {
                return None;
            }
            let name = written.to_ascii_lowercase();
            slot.key = bare_host_offset(&name);
            slot.domain = name.len() - registered_domain(&name, private).len();
            slot.root = name + "/";
            written.clone_into(&mut slot.written);
        }
        Some(slot)
    }
}

/// Whether the URL standard takes the name as it is, but for its case.
fn is_plain_host(name: &[u8]) -> bool {
    let mut before = b'.';
    // What follows the last dot must not look like a number: that would be an address.
    let mut label = 0;
    for (position, &byte) in name.iter().enumerate() {
        // Two hyphens may stand for an international name, and two dots, or one at either end, are
        // odd.
        let plain = byte.is_ascii_alphanumeric()
            || byte == b'_'
            || (matches!(byte, b'.' | b'-') && byte != before);
        if !plain {
            return false;
        }
        if byte == b'.' {
            label = position + 1;
        }
        before = byte;
    }
    name.get(label).is_some_and(|first| !first.is_ascii_digit())
}

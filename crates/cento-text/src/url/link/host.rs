//! A cache of the hosts of links.

use super::super::{bare_host_offset, registered_domain};

/// Caches the properties of recently seen hosts.
#[derive(Debug, Default)]
pub(super) struct HostCache {
    slots: Vec<PlainHost>,
}

/// A host with a plain name.
#[derive(Clone, Debug, Default)]
pub(super) struct PlainHost {
    /// The spelling in the link.
    written: String,
    /// The name in lower case, followed by a slash.
    pub(super) root: String,
    /// The start of the key and of the registered domain.
    pub(super) key: usize,
    pub(super) domain: usize,
}

impl HostCache {
    const SLOTS: usize = 64;

    /// Returns the host with this spelling; `None` if it is not a plain name.
    #[inline]
    pub(super) fn get(&mut self, written: &str, private: bool) -> Option<&PlainHost> {
        if self.slots.is_empty() {
            self.slots.resize(Self::SLOTS, PlainHost::default());
        }
        // PlainHost names mostly differ in their first or last bytes or in length, so this
        // distributes them well enough.
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

/// Whether the URL standard leaves the name unchanged except for its case.
fn is_plain_host(name: &[u8]) -> bool {
    let mut before = b'.';
    // The last label must not look like a number, because the host would be an IP address.
    let mut label = 0;
    for (position, &byte) in name.iter().enumerate() {
        // Two hyphens may indicate an internationalised name. Consecutive, leading and trailing
        // dots are left to the `url` crate.
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

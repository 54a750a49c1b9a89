//! Objects of Python as bytes, without copying them.

use std::collections::BTreeMap;

use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// The bytes of an object: `bytes`, or a view of the memory that all processes of a machine share.
pub(crate) enum ObjectBytes {
    Buffer(PyBuffer<u8>),
    /// Those of an object that may change.
    Copy(Vec<u8>),
}

impl<'py> FromPyObject<'_, 'py> for ObjectBytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<ObjectBytes> {
        let buffer = PyBuffer::<u8>::get(&object)?;
        Ok(match buffer.readonly() && buffer.is_c_contiguous() {
            true => ObjectBytes::Buffer(buffer),
            false => ObjectBytes::Copy(buffer.to_vec(object.py())?),
        })
    }
}

impl AsRef<[u8]> for ObjectBytes {
    #[expect(
        unsafe_code,
        reason = "states of gigabytes exist once for all processes of a machine"
    )]
    fn as_ref(&self) -> &[u8] {
        match self {
            // Safety: the buffer is contiguous, and stays at its place until it is released, which
            // is when `self` is dropped. It is read-only: `bytes` never change, and Ray does not
            // change an object once it is sealed. A read-only view of a `bytearray` could change;
            // nothing in this package makes one, and all reads are of plain bytes with checked
            // bounds.
            ObjectBytes::Buffer(buffer) if buffer.len_bytes() > 0 => unsafe {
                std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes())
            },
            ObjectBytes::Buffer(_) => &[],
            ObjectBytes::Copy(bytes) => bytes,
        }
    }
}

/// Makes the bytes of states shareable.
pub(crate) fn shared(states: BTreeMap<String, ObjectBytes>) -> BTreeMap<String, Bytes> {
    let states = states.into_iter();
    states
        .map(|(name, bytes)| (name, Bytes::from_owner(bytes)))
        .collect()
}

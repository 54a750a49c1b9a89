//! Takes the place of the client if cento is built without the feature `remote`.
//!
//! No client can be created, so no remote object is ever opened; its type has no values, which
//! proves to the compiler that the code for open objects is never reached.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use super::{
    Address, Inspected, Inspection, ListedObject, Object, RemoteSettings, TransferFailure,
};

/// A client, which does not exist.
pub(crate) enum Client {}

impl Client {
    pub(crate) fn new(_: &RemoteSettings) -> io::Result<Arc<Client>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this cento was built without support for remote inputs and outputs",
        ))
    }

    pub(crate) fn list(
        &self,
        _: &str,
        _: &str,
        _: bool,
    ) -> Result<Vec<ListedObject>, TransferFailure> {
        match *self {}
    }

    pub(crate) fn inspect(&self, _: Vec<Inspection>) -> Vec<Inspected> {
        match *self {}
    }

    pub(crate) fn read(&self, _: Address, _: usize) -> Result<Vec<u8>, TransferFailure> {
        match *self {}
    }

    pub(crate) fn check_upload(&self, _: &str, _: &str) -> Result<(), TransferFailure> {
        match *self {}
    }

    pub(crate) fn upload(&self, _: &str, _: &str, _: File) -> Result<(), TransferFailure> {
        match *self {}
    }
}

/// Reads an object forward.
pub(crate) struct RemoteBody(Arc<Client>);

impl RemoteBody {
    pub(crate) fn new(object: Object, _: u64, _: Option<u64>) -> Self {
        RemoteBody(object.client)
    }

    pub(crate) fn length(&self) -> Option<u64> {
        match *self.0 {}
    }

    pub(crate) fn seeks(&self) -> bool {
        match *self.0 {}
    }

    pub(crate) fn seek(&mut self, _: u64) -> io::Result<()> {
        match *self.0 {}
    }
}

impl Read for RemoteBody {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self.0 {}
    }
}

/// Reads an object at any offset.
pub(crate) struct RangeReader(Arc<Client>);

impl RangeReader {
    pub(crate) fn new(object: Object, _: Vec<u8>) -> Self {
        RangeReader(object.client)
    }

    pub(crate) fn length(&self) -> u64 {
        match *self.0 {}
    }

    pub(crate) fn failure(&self) -> Option<io::Error> {
        match *self.0 {}
    }

    pub(crate) fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        match *self.0 {}
    }
}

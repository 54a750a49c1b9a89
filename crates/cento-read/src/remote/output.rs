//! Outputs that are objects of a bucket.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::{Address, Client, RemoteErrorKind, RemoteSettings, TransferFailure, is_remote};
use crate::error::Error;

/// An object of a bucket, `s3://bucket/key`, to which a file is uploaded.
///
/// `read(upload(file)) = file`: the object appears, or is replaced, when all of the file has
/// arrived, and not if the upload fails.
pub struct RemoteOutput {
    client: Arc<Client>,
    bucket: String,
    key: String,
}

impl RemoteOutput {
    /// Whether an argument names a remote object rather than a file.
    pub fn is_remote(path: &Path) -> bool {
        path.to_str().is_some_and(is_remote)
    }

    /// Returns the object with a URL.
    pub fn open(path: &Path, settings: &RemoteSettings) -> Result<RemoteOutput, Error> {
        let typed = path.to_string_lossy();
        let address = Address::parse(&typed)?;
        let refuse = |kind, detail: &str| {
            Error::from(TransferFailure {
                name: address.name(),
                kind,
                detail: detail.to_owned(),
                tries: 0,
            })
        };
        match &address {
            Address::S3 { key, .. } if key.is_empty() || key.ends_with('/') => Err(refuse(
                RemoteErrorKind::BadAddress,
                "the key of the object is missing",
            )),
            Address::S3 { bucket, key } => Ok(RemoteOutput {
                client: Client::new(settings).map_err(|source| Error::Network { source })?,
                bucket: bucket.clone(),
                key: key.clone(),
            }),
            Address::Http(_) => Err(refuse(
                RemoteErrorKind::ReadOnly,
                "web servers can only be read",
            )),
        }
    }

    /// Fails if the object cannot be written. It is not changed.
    pub fn check(&self) -> Result<(), Error> {
        Ok(self.client.check_upload(&self.bucket, &self.key)?)
    }

    /// Uploads a file.
    pub fn upload(&self, file: &Path) -> Result<(), Error> {
        let name = file.display().to_string();
        let file = File::open(file).map_err(|error| Error::from_io(&name, error))?;
        Ok(self.client.upload(&self.bucket, &self.key, file)?)
    }
}

//! Uploading: a file becomes an object of a bucket when all of it has arrived.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};

use super::client::{Client, bucket_failure, interrupted};
use super::failure::TransferFailure;

/// The bytes of a part at least. S3 has a minimum of 5 MiB, and at most 10,000 parts.
const PART: u64 = 8 << 20;
const MOST_PARTS: u64 = 9_000;

impl Client {
    /// Starts an upload and cancels it, and so fails if the object cannot be written.
    pub(crate) fn check_upload(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
    ) -> Result<(), TransferFailure> {
        self.with_upload(bucket, key, |mut upload| async move {
            upload.abort().await?;
            Ok(())
        })
    }

    /// Makes a file an object of a bucket. Until all of it has arrived, the object is what it was.
    pub(crate) fn upload(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
        mut file: File,
    ) -> Result<(), TransferFailure> {
        let length = file.metadata().map(|metadata| metadata.len());
        self.with_upload(bucket, key, |mut upload| async move {
            let sent = async {
                let part = length?.div_ceil(MOST_PARTS).max(PART);
                loop {
                    let mut bytes = Vec::new();
                    // Nothing else runs on the runtime that this could delay.
                    Read::by_ref(&mut file).take(part).read_to_end(&mut bytes)?;
                    let is_last = (bytes.len() as u64) < part;
                    upload.put_part(PutPayload::from(bytes)).await?;
                    if is_last {
                        break;
                    }
                }
                upload.complete().await?;
                Ok(())
            };
            let sent: Result<(), UploadError> = sent.await;
            if sent.is_err() {
                // The server keeps the parts otherwise. The first error is the one to report.
                let _ = upload.abort().await;
            }
            sent
        })
    }

    fn with_upload<F>(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
        work: impl FnOnce(Box<dyn MultipartUpload>) -> F + Send + 'static,
    ) -> Result<(), TransferFailure>
    where
        F: Future<Output = Result<(), UploadError>> + Send,
    {
        let name = format!("s3://{bucket}/{key}");
        let failure = |error: UploadError| match error {
            UploadError::Store(error) => bucket_failure(&name, &error),
            UploadError::File(error) => interrupted(&name, &error),
        };
        let prepared = self
            .bucket(bucket)
            .and_then(|store| Ok((store, Path::parse(key)?)));
        let (store, path) = prepared.map_err(|error| failure(error.into()))?;
        let done = self.wait(async move { work(store.put_multipart(&path).await?).await });
        match done {
            Ok(done) => done.map_err(failure),
            Err(error) => Err(interrupted(&name, &error)),
        }
    }
}

/// Why an upload failed: the server, or the file that is read.
enum UploadError {
    Store(object_store::Error),
    File(io::Error),
}

impl From<object_store::Error> for UploadError {
    fn from(error: object_store::Error) -> UploadError {
        UploadError::Store(error)
    }
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> UploadError {
        UploadError::File(error)
    }
}

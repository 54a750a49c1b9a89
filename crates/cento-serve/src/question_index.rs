//! The index for questions, which the server builds if the corpus has none.
//!
//! A build runs in the background, one at a time, on one thread and in half of the memory of the
//! lists, so that others are served meanwhile. Another process that builds the same index is waited
//! for. Only a request that changes something starts a build: looking at a page writes nothing.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::http::StatusCode;
use cento_flow::Progress;
use cento_query::{IndexResources, QueryIndex, update};

use crate::error::{Error, Refusal, Result};
use crate::settings::ServeSettings;

/// How often a build looks whether another process has finished its own.
const RETRY: Duration = Duration::from_millis(200);
/// The least memory of a build.
const LEAST_MEMORY: u64 = 64 << 20;

/// Whether questions can be answered.
#[derive(Clone)]
pub(crate) enum IndexStatus {
    Ready(Arc<QueryIndex>),
    Building,
    /// There is no index, or it does not cover all pages, for this reason. It can be built.
    Missing(String),
    /// It could not be built, for this reason. Only the button tries again: a program that repeats
    /// its question is to learn the reason.
    Failed(String),
    /// There can be none, for this reason.
    Impossible(String),
}

/// The index of the corpus and its build.
pub(crate) struct QuestionIndex {
    corpus: PathBuf,
    memory: u64,
    progress: Arc<Progress>,
    status: Mutex<IndexStatus>,
    build: Mutex<Option<JoinHandle<()>>>,
}

impl QuestionIndex {
    /// Opens the index of a corpus, if there is one that covers it.
    pub(crate) fn open(settings: &ServeSettings) -> Result<QuestionIndex> {
        let missing = |reason: &str| IndexStatus::Missing(reason.to_owned());
        let status = match QueryIndex::open(&settings.corpus) {
            Ok(index) => IndexStatus::Ready(Arc::new(index)),
            Err(cento_query::Error::NotIndexed(_)) => {
                missing("The corpus has no index for questions yet.")
            }
            Err(cento_query::Error::Outdated(_)) => {
                missing("The index for questions does not cover all pages yet.")
            }
            // An unfinished corpus that is served all the same.
            Err(cento_query::Error::Find(_)) if settings.partial => IndexStatus::Impossible(
                "An unfinished corpus has no index for questions.".to_owned(),
            ),
            Err(error) => return Err(Error::Query(error)),
        };
        Ok(QuestionIndex {
            corpus: settings.corpus.clone(),
            memory: (settings.memory / 2).max(LEAST_MEMORY),
            progress: Progress::new(),
            status: Mutex::new(status),
            build: Mutex::new(None),
        })
    }

    /// Whether questions can be answered.
    pub(crate) fn status(&self) -> IndexStatus {
        locked(&self.status).clone()
    }

    /// Returns the index.
    pub(crate) fn get(&self) -> std::result::Result<Arc<QueryIndex>, Refusal> {
        match self.status() {
            IndexStatus::Ready(index) => Ok(index),
            IndexStatus::Building => Err(Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "The index for questions is being built. Try again when it is finished.",
            )),
            IndexStatus::Missing(reason) => {
                Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason))
            }
            IndexStatus::Failed(reason) => {
                Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason))
            }
            IndexStatus::Impossible(reason) => {
                Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, reason))
            }
        }
    }

    /// Starts to build the index, unless it exists, is being built, or could not be built.
    pub(crate) fn start(self: &Arc<QuestionIndex>) {
        self.build_if(|status| matches!(status, IndexStatus::Missing(_)));
    }

    /// Starts to build the index, even if that failed before.
    pub(crate) fn start_again(self: &Arc<QuestionIndex>) {
        self.build_if(|status| matches!(status, IndexStatus::Missing(_) | IndexStatus::Failed(_)));
    }

    fn build_if(self: &Arc<QuestionIndex>, is_wanted: impl Fn(&IndexStatus) -> bool) {
        let mut status = locked(&self.status);
        if !is_wanted(&status) {
            return;
        }
        let index = Arc::clone(self);
        let build = std::thread::Builder::new().name("query index".to_owned());
        match build.spawn(move || index.build()) {
            Ok(build) => {
                *status = IndexStatus::Building;
                *locked(&self.build) = Some(build);
            }
            Err(error) => {
                *status = IndexStatus::Failed(format!("The index cannot be built: {error}."));
            }
        }
    }

    fn build(&self) {
        let built = loop {
            let resources = IndexResources {
                threads: 1,
                memory: self.memory,
                temp: None,
                again: false,
                progress: Arc::clone(&self.progress),
            };
            match update(&self.corpus, &resources) {
                Err(cento_query::Error::Busy(_)) if !self.progress.is_cancelled() => {
                    std::thread::sleep(RETRY);
                }
                updated => break updated.and_then(|_| QueryIndex::open(&self.corpus)),
            }
        };
        *locked(&self.status) = match built {
            Ok(index) => IndexStatus::Ready(Arc::new(index)),
            Err(error) => {
                let hint = error.hint().map(|hint| format!(" Hint: {hint}."));
                let hint = hint.unwrap_or_default();
                IndexStatus::Failed(format!("The index could not be built: {error}.{hint}"))
            }
        };
    }

    /// Cancels a build, and waits until it has stopped. The next build resumes it.
    pub(crate) fn stop(&self) {
        self.progress.cancel();
        let build = locked(&self.build).take();
        if let Some(build) = build {
            let _ = build.join();
        }
    }
}

/// Locks a value. It is valid even if a thread panicked while it had the lock.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

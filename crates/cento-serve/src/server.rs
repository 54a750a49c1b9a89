//! Connections: accepting them, limiting them, and closing them when the server stops.
//!
//! axum's own server has no time limits. This one closes a connection whose client sends its
//! headers too slowly, or stops reading, and keeps a bounded number of connections.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep};

use crate::error::{Error, Result};
use crate::routes;
use crate::settings::ServeSettings;
use crate::state::SiteState;

/// How long open requests may take after the server was asked to stop.
const GRACE: Duration = Duration::from_secs(2);
/// The longest headers of a request, in bytes, and their number.
const HEADER_BYTES: usize = 32 << 10;
const HEADER_LINES: usize = 64;

/// A site that listens and is ready to answer.
pub struct SiteServer {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<SiteState>,
}

/// Stops a running server from any thread.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Creates a stopper for [`SiteServer::run`].
    pub fn new() -> Stopper {
        Stopper(watch::Sender::new(false))
    }

    /// Asks the server to stop: it finishes open requests and closes all connections.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Default for Stopper {
    fn default() -> Stopper {
        Stopper::new()
    }
}

impl SiteServer {
    /// Loads a corpus and its findings, and starts to listen.
    pub fn bind(settings: &ServeSettings) -> Result<SiteServer> {
        settings.check()?;
        let address = settings.listen;
        let failed = |error| Error::io(std::path::Path::new(&address.to_string()), error);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(settings.threads.max(1))
            .max_blocking_threads(settings.threads.max(1) * 2 + 2)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(failed)?;
        // First the address, because that fails at once.
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = Arc::new(SiteState::load(settings)?);
        Ok(SiteServer {
            runtime,
            listener,
            address,
            state,
        })
    }

    /// The address that the site listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the site shows, as sentences: its lists and their memory.
    pub fn summary(&self) -> Vec<String> {
        self.state.summary()
    }

    /// Answers requests until it is asked to stop.
    pub fn run(self, stopper: &Stopper) -> Result<()> {
        let SiteServer {
            runtime,
            listener,
            state,
            ..
        } = self;
        let router = routes::router(Arc::clone(&state));
        let index = Arc::clone(&state.index);
        let stopped = stopper.0.subscribe();
        runtime.block_on(accept(listener, router, state, stopped));
        index.stop();
        runtime.shutdown_timeout(GRACE);
        Ok(())
    }
}

async fn accept(
    listener: TcpListener,
    router: Router,
    state: Arc<SiteState>,
    mut stopped: watch::Receiver<bool>,
) {
    let connections = Arc::new(Semaphore::new(state.limits.connections.max(1)));
    let graceful = GracefulShutdown::new();
    let mut terminated = signal(SignalKind::terminate()).ok();
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(state.limits.headers)
        .max_buf_size(HEADER_BYTES)
        .max_headers(HEADER_LINES);
    loop {
        // No further connection is accepted while all places are taken.
        let accepted = async {
            let place = Arc::clone(&connections).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            accepted = accepted => accepted,
            () = asked_to_stop(&mut stopped, terminated.as_mut()) => break,
        };
        let stream = match stream {
            Ok((stream, _)) => stream,
            // Too many open files, or a client that is gone again.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(
            TokioIo::new(ImpatientStream::new(stream, state.limits.stalled)),
            service,
        );
        let connection = graceful.watch(connection);
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            state.metrics.connections.fetch_add(1, Ordering::Relaxed);
            // An error is a client that went away or was too slow.
            let _ = connection.await;
            state.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

/// Waits until somebody asks the server to stop: through the stopper, or with SIGTERM.
async fn asked_to_stop(stopped: &mut watch::Receiver<bool>, terminated: Option<&mut Signal>) {
    let term = async {
        match terminated {
            Some(signal) => {
                signal.recv().await;
            }
            None => std::future::pending().await,
        }
    };
    let stop = async {
        // An error means that there is no stopper any more.
        if stopped.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = term => {}
        () = stop => {}
    }
}

/// A connection that fails if its client stops reading.
struct ImpatientStream {
    stream: TcpStream,
    /// How long the client may stop reading.
    stalled: Duration,
    patience: Option<Pin<Box<Sleep>>>,
}

impl ImpatientStream {
    fn new(stream: TcpStream, stalled: Duration) -> ImpatientStream {
        ImpatientStream {
            stream,
            stalled,
            patience: None,
        }
    }

    /// Passes on an outcome, and starts or stops the clock.
    fn patiently<T>(
        &mut self,
        outcome: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.patience = None;
            return outcome;
        }
        let until = Instant::now() + self.stalled;
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        match patience.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for ImpatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patiently(outcome, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.patiently(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.patiently(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

//! Where clients are accepted, and within what bounds.
//!
//! Invariant: a client that is slow, silent or one too many costs a connection's worth of memory and no other client's time.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Hosts;
use super::server::{Reply, Server};
use crate::connection::Connection;
use crate::frame::FRAME_LIMIT;

/// How long a client may take for the head of a request.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// The most that a head may hold.
const HEAD_LIMIT: usize = 64 << 10;
/// The most connections of clients at a time; one more waits.
const CONNECTIONS: usize = 4096;

/// Looks at a request first: a token, a page of its own. What it returns is the response.
pub type Guard = Arc<dyn Fn(&Parts) -> Option<Response<String>> + Send + Sync>;

/// Answers the requests to other paths than the endpoint's.
pub type Pages = Arc<dyn Fn(Request<Incoming>) -> BoxFuture<'static, Reply> + Send + Sync>;

/// How a server listens.
#[derive(Clone)]
pub struct Options {
    /// The names it answers to.
    pub hosts: Hosts,
    /// Looks at each request that names the right host.
    pub guard: Option<Guard>,
    /// Pages of the program's own.
    pub pages: Option<Pages>,
    /// The largest frame.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hosts: Hosts::default(),
            guard: None,
            pages: None,
            limit: FRAME_LIMIT,
        }
    }
}

/// Accepts clients. Dropped, it closes without waiting.
pub struct Listener {
    address: SocketAddr,
    accepted: mpsc::Receiver<Connection>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Listener {
    /// Listens at `address`; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn bind(address: SocketAddr, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (accept, accepted) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let (server, clients) = (Server::new(options, accept), GracefulShutdown::new());
            tokio::select! {
                () = accept_all(listener, &server, &clients) => {}
                _ = stopped => {}
            }
            server.drain();
            clients.shutdown().await;
        });
        Ok(Self {
            address,
            accepted,
            stop,
            running,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next session, or the connection that all requests without a session share.
    pub async fn accept(&mut self) -> Option<Connection> {
        self.accepted.recv().await
    }

    /// Takes no more requests: each session is told that its client has no more to say, and its connection is closed behind
    /// its last answer. Ends when all are.
    pub async fn close(self) {
        drop(self.accepted);
        drop(self.stop);
        let _ = self.running.await;
    }
}

async fn accept_all(listener: TcpListener, server: &Arc<Server>, clients: &GracefulShutdown) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(HEAD_LIMIT);
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let permit = free.clone().acquire_owned().await;
        let client = match listener.accept().await {
            Ok((client, _)) => client,
            Err(error) => {
                // Out of file descriptors, most likely: some will be free again.
                tracing::warn!(%error, "accepting a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Without it the last packet of a response waits 40 ms for an acknowledgement.
        let _ = client.set_nodelay(true);
        let server = server.clone();
        let respond =
            service_fn(move |request| server.clone().respond(request).map(Ok::<_, Infallible>));
        let serving = clients.watch(http.serve_connection(TokioIo::new(client), respond));
        tokio::spawn(async move {
            // What ends it early concerns nobody but its client.
            let _ = serving.await;
            drop(permit);
        });
    }
}

//! Where clients are accepted, and within what bounds.
//!
//! Invariant: a client that is slow, silent or one too many costs a connection's worth of memory and no other client's time.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, watch};

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
pub type Pages =
    Arc<dyn Fn(Request<Incoming>) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync>;

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
    /// The most sessions at a time.
    pub sessions: usize,
    /// Ends a session whose client reads no stream and has sent nothing for that long.
    pub idle: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hosts: Hosts::default(),
            guard: None,
            pages: None,
            limit: FRAME_LIMIT,
            sessions: 1024,
            idle: Duration::from_secs(30 * 60),
        }
    }
}

/// Accepts clients.
pub struct Listener {
    address: SocketAddr,
    accepted: mpsc::Receiver<Connection>,
    server: Arc<Server>,
    /// A permit for each connection of a client.
    free: Arc<Semaphore>,
    /// Dropped, nobody is accepted any more.
    stop: watch::Sender<bool>,
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
        let server = Server::new(options, accept);
        let free = Arc::new(Semaphore::new(CONNECTIONS));
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(run(server.clone(), listener, free.clone(), stopped));
        Ok(Self {
            address,
            accepted,
            server,
            free,
            stop,
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
        self.server.drain();
        self.stop.send_replace(true);
        let all = u32::try_from(CONNECTIONS).expect("a few thousand");
        let _ = self.free.acquire_many(all).await;
    }
}

async fn run(
    server: Arc<Server>,
    listener: TcpListener,
    free: Arc<Semaphore>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(HEAD_LIMIT);
    loop {
        let permit = free.clone().acquire_owned().await;
        let client = tokio::select! {
            client = listener.accept() => client,
            _ = stopped.changed() => return,
        };
        let client = match client {
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
        let respond = service_fn(move |request| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.respond(request).await) }
        });
        let serving = http.serve_connection(TokioIo::new(client), respond);
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            let _permit = permit;
            let mut serving = pin!(serving);
            // What ends it early concerns nobody but its client.
            tokio::select! {
                _ = serving.as_mut() => return,
                Ok(_) = stopped.wait_for(|stop| *stop) => serving.as_mut().graceful_shutdown(),
            }
            let _ = serving.await;
        });
    }
}

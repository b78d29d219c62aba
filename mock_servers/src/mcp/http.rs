//! A mock server over streamable HTTP, on loopback.
//!
//! Sessions, streams and the checks of `Host` and `Origin` are the SDK's; the socket is ours.
//! Invariant: it listens on 127.0.0.1 only, and a page of another origin is refused.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::MockServer;

/// The origins whose pages may ask: those of this machine.
const ORIGINS: [&str; 4] =
    ["http://127.0.0.1:*", "http://localhost:*", "https://127.0.0.1:*", "https://localhost:*"];

/// A socket that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Takes `port`, or a free one for 0.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address, for instance `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves `mock` on every path; all clients share its data.
    pub async fn run(self, mock: MockServer) {
        let config = StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(mock.clone()), sessions, config);
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // Out of file descriptors, say: wait for connections to close.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            // Without it a small exchange on loopback waits 40 ms for an acknowledgement.
            let _ = stream.set_nodelay(true);
            let service = service.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let service = service.clone();
                    async move { Ok::<_, Infallible>(service.handle(request).await) }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                // The error of a connection is the client's.
                let _ = connection.await;
            });
        }
    }
}

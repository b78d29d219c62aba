//! Where the browser comes back to: a listener on 127.0.0.1 for one answer.
//!
//! RFC 8252, section 7.3. Invariant: the first answer with the right state is taken and no other, and the page that the browser
//! shows holds nothing of the request.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use url::Url;

const PATH: &str = "/callback";

/// A port of this machine that waits for the browser.
pub struct Callback {
    listener: TcpListener,
    port: u16,
}

impl Callback {
    /// Listens on this port; 0 is any.
    ///
    /// # Errors
    /// When the port is in use.
    pub async fn bind(port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let why = || {
            format!(
                "port {port} of this machine is in use; the login needs it for the browser to come back to"
            )
        };
        let listener = listener.with_context(why)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address that the authorization server sends the browser to.
    pub fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser to come with this state, and returns the whole address it came to.
    pub async fn answer(&self, state: &str) -> Result<String> {
        let (sender, mut answered) = oneshot::channel();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let mut connections = JoinSet::new();
        loop {
            let (stream, _) = tokio::select! {
                accepted = self.listener.accept() => accepted.context("waiting for the browser")?,
                Ok(url) = &mut answered => {
                    // The page is on its way; whoever reads it slowly is not waited for.
                    let sent = async { while connections.join_next().await.is_some() {} };
                    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), sent).await;
                    return Ok(url);
                }
            };
            let (sender, state) = (Arc::clone(&sender), state.to_owned());
            let base = self.redirect_uri();
            let service = service_fn(move |request: Request<Incoming>| {
                let page = page(&request, &base, &state, &sender);
                std::future::ready(Ok::<_, Infallible>(page))
            });
            let mut server = hyper::server::conn::http1::Builder::new();
            connections
                .spawn(server.keep_alive(false).serve_connection(TokioIo::new(stream), service));
        }
    }
}

type Waiting = Arc<Mutex<Option<oneshot::Sender<String>>>>;

fn page(
    request: &Request<Incoming>,
    base: &str,
    state: &str,
    waiting: &Waiting,
) -> Response<String> {
    let (status, text) = if request.uri().path() != PATH {
        (StatusCode::NOT_FOUND, "There is nothing here.")
    } else {
        let url = format!("{base}?{}", request.uri().query().unwrap_or_default());
        let given = parameter(&url, "state");
        let mut waiting = waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if given.as_deref() != Some(state) {
            (StatusCode::BAD_REQUEST, "This is not the login that is being waited for.")
        } else if let Some(sender) = waiting.take() {
            let _ = sender.send(url);
            (StatusCode::OK, "You can close this page and go back to the terminal.")
        } else {
            (StatusCode::GONE, "This login has been used already.")
        }
    };
    let page = format!("<!doctype html><meta charset=utf-8><title>Login</title><p>{text}</p>");
    let mut response = Response::new(page);
    *response.status_mut() = status;
    let html = hyper::header::HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
}

/// A parameter of an address.
pub fn parameter(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let mut pairs = url.query_pairs();
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

//! `mock_servers watch`: stands before a real Messages API and shows what passes.
//!
//! Requests and answers pass byte for byte, streams as they come; what is kept of `/v1/messages` is bodies.
//! Invariant: no header, and so no key, is kept or logged; only this machine is answered.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::mpsc;

use super::page;
use super::show::Show;
use super::tape::{Exchange, Tape};
use crate::model::Log;
use crate::model::body::{Broken, Steps};
use crate::model::http::{Ending, error, of_this_machine, read};
use crate::model::refusal::Refusal;
use crate::model::server::serve;

/// The pieces of an answer that may wait for a slow client.
const PIECES: usize = 16;

/// A proxy that is about to run.
pub struct Proxy {
    listener: TcpListener,
    address: String,
    watched: Arc<Watched>,
}

struct Watched {
    upstream: String,
    client: reqwest::Client,
    tape: Arc<Tape>,
}

impl Proxy {
    /// A proxy on this port (0 takes a free one) before `upstream`. The error is a sentence.
    pub fn bind(port: u16, upstream: &str, show: Option<Log>) -> Result<Self, String> {
        let upstream = upstream.trim_end_matches('/').to_owned();
        match reqwest::Url::parse(&upstream) {
            Ok(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() => {}
            _ => {
                return Err(format!("--upstream {upstream}: expected an http or https URL."));
            }
        }
        // Somebody may have installed one already; any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let client = client.build().map_err(|error| format!("TLS cannot be set up: {error}"))?;
        let taken = |error: io::Error| format!("Port {port} cannot be taken: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(taken)?;
        listener.set_nonblocking(true).map_err(taken)?;
        let address = format!("http://{}", listener.local_addr().map_err(taken)?);
        let tape = Tape::new(&upstream, None, show.map(Show::new), None);
        let watched = Arc::new(Watched {
            upstream,
            client,
            tape,
        });
        Ok(Self {
            listener,
            address,
            watched,
        })
    }

    /// The address, for `ANTHROPIC_BASE_URL` and for a browser.
    pub fn url(&self) -> &str {
        &self.address
    }

    /// Serves until the process ends.
    pub async fn run(self) {
        let respond = move |request| respond(Arc::clone(&self.watched), request);
        serve(self.listener, respond, std::future::pending::<()>()).await;
    }
}

async fn respond(
    watched: Arc<Watched>,
    request: Request<Incoming>,
) -> Result<Response<Steps>, Broken> {
    match route(&watched, request).await {
        Ok(response) => Ok(response),
        Err(Ending::Refused(refusal)) => Ok(error(&refusal, "watch")),
        Err(Ending::Dropped) => Err(Broken),
    }
}

async fn route(watched: &Watched, request: Request<Incoming>) -> Result<Response<Steps>, Ending> {
    of_this_machine(request.headers())?;
    let path = request.uri().path();
    if let Some((content_type, body)) = page::for_people(&watched.tape, path, request.headers()) {
        let mut response = Response::new(body);
        let content_type = HeaderValue::from_static(content_type);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        return Ok(response);
    }
    let is_message = path == "/v1/messages" && request.method() == Method::POST;
    let rest = request.uri().path_and_query().map_or("/", |rest| rest.as_str());
    let url = format!("{}{rest}", watched.upstream);
    let method = request.method().clone();
    let mut headers = request.headers().clone();
    strip(&mut headers);
    // What is compressed could pass, but nobody could read it here.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let body = read(request).await?;
    let exchange = is_message.then(|| watched.tape.request(&body));
    forward(watched, method, url, headers, body, exchange).await
}

async fn forward(
    watched: &Watched,
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Bytes,
    mut exchange: Option<Exchange>,
) -> Result<Response<Steps>, Ending> {
    let sent = watched.client.request(method, url).headers(headers).body(body).send().await;
    let mut answer = match sent {
        Ok(answer) => answer,
        Err(error) => {
            let refusal = Refusal::new(502, unreachable(&watched.upstream, &error));
            if let Some(exchange) = &mut exchange {
                exchange.answered(refusal.status, "");
                exchange.chunk(refusal.body("watch").to_string().as_bytes());
                exchange.whole();
            }
            return Err(Ending::Refused(refusal));
        }
    };
    if let Some(exchange) = &mut exchange {
        exchange.answered(answer.status().as_u16(), "");
    }
    let (sender, receiver) = mpsc::channel(PIECES);
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    tokio::spawn(async move {
        loop {
            // A client that is gone must not leave the model writing.
            let chunk = tokio::select! {
                chunk = answer.chunk() => chunk,
                () = sender.closed() => return,
            };
            match chunk {
                Ok(Some(chunk)) => {
                    if let Some(exchange) = &mut exchange {
                        exchange.chunk(&chunk);
                    }
                    if sender.send(Ok(chunk)).await.is_err() {
                        return;
                    }
                }
                Ok(None) => {
                    if let Some(exchange) = &mut exchange {
                        exchange.whole();
                    }
                    return;
                }
                Err(_) => {
                    // The client's answer breaks where ours did.
                    let _ = sender.send(Err(())).await;
                    return;
                }
            }
        }
    });
    strip(&mut headers);
    let mut response = Response::new(Steps::fed(receiver));
    *response.status_mut() =
        StatusCode::from_u16(status.as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    Ok(response)
}

/// Takes away what belongs to one connection and not to the message.
fn strip(headers: &mut HeaderMap) {
    for name in [HOST, CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH, TE, UPGRADE] {
        headers.remove(name);
    }
}

/// The sentence of an upstream that does not answer, without the URL's query.
fn unreachable(upstream: &str, error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    format!("{upstream} cannot be reached: {cause}")
}

//! Routes, headers and the shape of answers on the wire.
//!
//! Clients, the official SDKs among them, must find what they find at the real address. What the real address has no need
//! of is the check of `Host` and `Origin`: a page in a browser must not reach a server on this machine.
//! Invariant: every answer bears a `request-id`, and every error names it.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN, RETRY_AFTER,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::{Value, json};

use super::body::{Broken, Steps};
use super::check::Betas;
use super::delivery::deliver;
use super::models;
use super::refusal::Refusal;
use super::shared::{Answered, Outcome, Shared};
use crate::watch::page;

/// The most bytes a request may have, as the API documents it.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// What `GET /` says.
const HELLO: &str = "The mock model of the course: a Messages API. POST /v1/messages\n";

/// A response, and what the log says of it.
struct Sent {
    content_type: &'static str,
    body: Steps,
    note: String,
}

/// Why there is no such response.
pub enum Ending {
    /// An error is.
    Refused(Refusal),
    /// The connection ends.
    Dropped,
}

/// Answers one request.
pub async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Steps>, Broken> {
    let id = shared.ids.fresh("req");
    let line = format!("{} {}", request.method(), request.uri().path());
    let sent = route(&shared, request, &id).await;
    if let Some(log) = &shared.options.log {
        let note = match &sent {
            Ok(sent) => format!("200 {}", sent.note),
            Err(Ending::Refused(refusal)) => refusal.to_string(),
            Err(Ending::Dropped) => "dropped".to_owned(),
        };
        log(&format!("{line} {note}"));
    }
    let mut response = match sent {
        Ok(sent) => {
            let mut response = Response::new(sent.body);
            let content_type = HeaderValue::from_static(sent.content_type);
            response.headers_mut().insert(CONTENT_TYPE, content_type);
            response
        }
        Err(Ending::Refused(refusal)) => error(&refusal, &id),
        Err(Ending::Dropped) => return Err(Broken),
    };
    let id = HeaderValue::from_str(&id).expect("an id consists of letters and digits");
    response.headers_mut().insert("request-id", id);
    Ok(response)
}

async fn route(shared: &Shared, request: Request<Incoming>, id: &str) -> Result<Sent, Ending> {
    of_this_machine(request.headers())?;
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let allowed: &[Method] = match path.as_str() {
        "" | page::STREAM => &[Method::GET, Method::HEAD],
        "/v1/messages" | "/v1/messages/count_tokens" => &[Method::POST],
        path if path.starts_with("/v1/models") => &[Method::GET],
        _ => return refuse(404, "Not found"),
    };
    if !allowed.contains(request.method()) {
        return refuse(405, "Method Not Allowed");
    }
    if path.is_empty() || path == page::STREAM {
        return Ok(for_people(shared, &path, request.headers()));
    }
    admit(request.headers(), shared.options.require_key)?;
    let headers = request.headers().get_all("anthropic-beta").iter();
    let betas = Betas::of(headers.filter_map(|value| value.to_str().ok()));
    match path.as_str() {
        "/v1/messages" => message(shared, &read(request).await?, &betas, id),
        "/v1/messages/count_tokens" => {
            let tokens = shared.count(&read(request).await?, &betas).map_err(Ending::Refused)?;
            Ok(sent(json!({"input_tokens": tokens}), format!("{tokens} tokens")))
        }
        "/v1/models" => {
            let query = request.uri().query().unwrap_or_default();
            let page = models::page(query, shared.options.context_tokens);
            let page = page.map_err(|flaw| Ending::Refused(flaw.into()))?;
            Ok(sent(page, String::new()))
        }
        path => match path
            .strip_prefix("/v1/models/")
            .map(|id| (id, models::one(id, shared.options.context_tokens)))
        {
            Some((_, Some(model))) => Ok(sent(model, String::new())),
            Some((id, None)) => refuse(404, format!("model: {id}")),
            None => refuse(404, "Not found"),
        },
    }
}

/// What is there to look at: the page, its stream, and a line for programs.
fn for_people(shared: &Shared, path: &str, headers: &HeaderMap) -> Sent {
    let for_people = page::for_people(&shared.tape, path, headers);
    let (content_type, body) =
        for_people.unwrap_or_else(|| ("text/plain", Steps::whole(HELLO.into())));
    Sent {
        content_type,
        body,
        note: String::new(),
    }
}

/// Refuses requests that name another machine. The browser writes both headers, and a page cannot change them: a name of another
/// machine that leads here (DNS rebinding) stands in `Host`, a page from elsewhere in `Origin`.
pub fn of_this_machine(headers: &HeaderMap) -> Result<(), Ending> {
    for name in [HOST, ORIGIN] {
        if let Some(value) = headers.get(&name)
            && !is_loopback(value)
        {
            let value = value.as_bytes().escape_ascii();
            return refuse(403, format!("{name} {value}: this server is for this machine alone"));
        }
    }
    Ok(())
}

/// Whether a `Host` or an `Origin` is this machine, with any scheme and port.
fn is_loopback(value: &HeaderValue) -> bool {
    let uri = value.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    uri.as_ref().and_then(Uri::host).is_some_and(|host| {
        let host = host.to_ascii_lowercase();
        ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str())
    })
}

fn admit(headers: &HeaderMap, require_key: bool) -> Result<(), Ending> {
    if require_key && !has_key(headers) {
        return refuse(401, "x-api-key header is required");
    }
    match headers.get("anthropic-version") {
        Some(_) => Ok(()),
        None => refuse(400, "anthropic-version: header is required"),
    }
}

fn has_key(headers: &HeaderMap) -> bool {
    let key = headers.get("x-api-key").map(HeaderValue::as_bytes);
    let authorization = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let bearer = authorization.and_then(|value| value.strip_prefix(b"Bearer "));
    key.into_iter().chain(bearer).any(|secret| !secret.trim_ascii().is_empty())
}

/// Reads the body. One that is too long is read to its end, so that the client hears why it is refused.
pub async fn read(request: Request<Incoming>) -> Result<Bytes, Ending> {
    let mut incoming = request.into_body();
    let announced = incoming.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let mut body = BytesMut::with_capacity(announced.unwrap_or(0).min(MOST_BYTES));
    let mut length = 0;
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|_| Ending::Dropped)?;
        if let Some(data) = frame.data_ref() {
            length += data.len();
            if length <= MOST_BYTES {
                body.extend_from_slice(data);
            }
        }
    }
    if length > MOST_BYTES {
        return refuse(413, "Request exceeds the maximum size");
    }
    Ok(body.freeze())
}

fn message(shared: &Shared, body: &Bytes, betas: &Betas, request_id: &str) -> Result<Sent, Ending> {
    let mut exchange = shared.tape.request(body);
    let answered = match shared.message(body, betas) {
        Outcome::Answered(answered) => *answered,
        Outcome::Refused(refusal) => {
            exchange.answered(refusal.status, "");
            exchange.chunk(refusal.body(request_id).to_string().as_bytes());
            exchange.whole();
            return Err(Ending::Refused(refusal));
        }
        Outcome::Dropped => return Err(Ending::Dropped),
    };
    let content_type =
        if answered.stream { "text/event-stream; charset=utf-8" } else { "application/json" };
    let id = shared.ids.fresh("msg");
    let speed = shared.options.tokens_per_second;
    let fault = answered.fault.map(|fault| format!("fault: {fault}"));
    exchange.answered(200, &fault.unwrap_or_default());
    Ok(Sent {
        content_type,
        body: deliver(&answered, &id, speed, request_id).recorded(exchange),
        note: note(&answered),
    })
}

fn note(answered: &Answered) -> String {
    let usage = answered.usage;
    let form = if answered.stream { "stream" } else { "plain" };
    let (input, read, written) = (usage.input, usage.read, usage.written());
    let fault = answered.fault.map(|fault| format!(" fault: {fault}")).unwrap_or_default();
    let output = answered.answer.tokens;
    format!("{form} {input} in, {read} read, {written} written, {output} out{fault}")
}

fn sent(body: Value, note: String) -> Sent {
    let body = Steps::whole(body.to_string().into());
    Sent {
        content_type: "application/json",
        body,
        note,
    }
}

/// The response that says a refusal.
pub fn error(refusal: &Refusal, id: &str) -> Response<Steps> {
    let mut response = Response::new(Steps::whole(refusal.body(id).to_string().into()));
    *response.status_mut() =
        StatusCode::from_u16(refusal.status).expect("a refusal has a valid status");
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(seconds) = refusal.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn refuse<T>(status: u16, message: impl Into<String>) -> Result<T, Ending> {
    Err(Ending::Refused(Refusal::new(status, message)))
}

//! What a server answers, as far as we listen: a stream of events, or an error in words.
//!
//! Whoever answers may be no Messages API, or one that has gone wrong and does not stop. Invariant: neither a reply
//! nor an error takes more memory than it may.

use std::error::Error;
use std::io;
use std::time::Duration;

use futures_util::Stream;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Body, Response};
use serde::Deserialize;
use sse_stream::{Sse, SseStream};

use crate::error::ApiError;

const MIB: usize = 1024 * 1024;
/// The most bytes of a reply with all its events: four times what 128,000 tokens take that come one by one.
const MAX_REPLY: usize = 64 * MIB;
/// The most bytes that are read of an error.
const MAX_ERROR: usize = MIB / 16;

/// The response, if it is what was asked for: some other server may live at the address.
pub(crate) fn a_stream(response: Response) -> Result<Response, ApiError> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    match kind {
        Some(kind) if kind.starts_with("text/event-stream") => Ok(response),
        kind => Err(ApiError::Status {
            status: response.status().as_u16(),
            kind: "no Messages API stream".to_owned(),
            message: format!("its content type is {}", kind.unwrap_or("not given")),
            retry_after: None,
        }),
    }
}

/// Its events, for as long as they keep to the limit.
pub(crate) fn events(
    response: Response,
) -> impl Stream<Item = Result<Sse, impl Error + 'static>> + Send {
    SseStream::new(Limited::new(Body::from(response), MAX_REPLY).map_err(io::Error::other))
}

/// The limit that was reached, if that is the error or what caused it.
pub(crate) fn limit_reached(error: &(dyn Error + 'static)) -> Option<String> {
    let inner = error.downcast_ref().and_then(io::Error::get_ref);
    if inner.is_some_and(|inner| inner.is::<LengthLimitError>()) {
        return Some(format!("the reply has more than {} MiB", MAX_REPLY / MIB));
    }
    error.source().and_then(limit_reached)
}

/// What a response says that is an error by its status.
pub(crate) async fn refusal(mut response: Response) -> ApiError {
    let mut body = Vec::new();
    // What breaks off says what it has said.
    while let Ok(Some(piece)) = response.chunk().await {
        let room = MAX_ERROR - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if body.len() == MAX_ERROR {
            break;
        }
    }
    let (kind, message) = match serde_json::from_slice::<ErrorBody>(&body) {
        Ok(body) => (body.error.kind, body.error.message),
        Err(_) => {
            let line = first_line(&String::from_utf8_lossy(&body));
            ("no Messages API error".to_owned(), line)
        }
    };
    ApiError::Status {
        status: response.status().as_u16(),
        kind,
        message,
        retry_after: retry_after(response.headers()),
    }
}

/// `retry-after` in seconds, the form the API uses.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Enough of a body that is no API error to recognise a proxy's or a wrong server's page.
fn first_line(text: &str) -> String {
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(empty answer)");
    line.chars().take(200).collect()
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorDetail,
}

/// An error in the API's words.
#[derive(Deserialize)]
pub(crate) struct ErrorDetail {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

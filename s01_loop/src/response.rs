//! What a server answers, as far as we listen: a stream of events, or an error in words.
//!
//! Whoever answers may be no Messages API, or one that has gone wrong and does not stop. Invariant: neither a reply
//! nor an error takes more memory than it may.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde::Deserialize;
use sse_stream::SseByteStream;

use crate::error::ApiError;

const MIB: usize = 1024 * 1024;
/// The most bytes of a reply with all its events: four times what 128,000 tokens take that come one by one.
const MAX_REPLY: usize = 64 * MIB;
/// An error is read until it has so many bytes.
const MAX_ERROR: usize = MIB / 16;

/// The data of its events. The answer may be an error, or another server may live at the address.
pub(crate) async fn events(
    response: Response,
) -> Result<impl Stream<Item = Result<String, ApiError>>, ApiError> {
    if !response.status().is_success() {
        return Err(refusal(response).await);
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        return Err(ApiError::Status {
            status: response.status().as_u16(),
            kind: "no Messages API stream".to_owned(),
            message: format!("its content type is {}", kind.unwrap_or("not given")),
            retry_after: None,
        });
    }
    let pieces = stream::try_unfold((response, MAX_REPLY), async |(mut response, room)| {
        let piece = response.chunk().await.map_err(|error| ApiError::Interrupted {
            reason: innermost(&error),
        })?;
        let Some(piece) = piece else { return Ok::<_, ApiError>(None) };
        let room = room.checked_sub(piece.len()).ok_or_else(|| ApiError::Malformed {
            reason: format!("the reply has more than {} MiB", MAX_REPLY / MIB),
        })?;
        Ok(Some((piece, (response, room))))
    });
    let events = SseByteStream::new(Box::pin(pieces)).map(|event| match event {
        Ok(event) => Ok(event.data),
        Err(sse_stream::Error::Body(error)) => Err(*error.downcast().expect("it is ours")),
        Err(error) => Err(ApiError::Malformed {
            reason: error.to_string(),
        }),
    });
    Ok(events.filter_map(async |event| event.transpose()))
}

/// The innermost cause of an error: the outer ones say only that sending or reading failed.
pub(crate) fn innermost(mut error: &(dyn Error + 'static)) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }
    match error.downcast_ref().map(io::Error::kind) {
        // Its own words are about the byte that was missed.
        Some(ErrorKind::UnexpectedEof) => "the connection closed".to_owned(),
        // Its own words are a number of the system's.
        Some(ErrorKind::ConnectionRefused) => "connection refused".to_owned(),
        _ => error.to_string(),
    }
}

/// What a response says that is an error by its status.
async fn refusal(mut response: Response) -> ApiError {
    let mut body = Vec::new();
    // What breaks off says what it has said.
    while body.len() < MAX_ERROR
        && let Ok(Some(piece)) = response.chunk().await
    {
        body.extend_from_slice(&piece);
    }
    let error = match serde_json::from_slice::<ErrorBody>(&body) {
        Ok(body) => body.error,
        Err(_) => {
            // Enough to recognise a proxy's or a wrong server's page.
            let body = String::from_utf8_lossy(&body);
            let line = body.lines().map(str::trim).find(|line| !line.is_empty());
            ErrorDetail {
                kind: "no Messages API error".to_owned(),
                message: line.unwrap_or("(empty answer)").chars().take(200).collect(),
            }
        }
    };
    ApiError::Status {
        status: response.status().as_u16(),
        kind: error.kind,
        message: error.message,
        retry_after: retry_after(response.headers()),
    }
}

/// `retry-after` in seconds, the form the API uses.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
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

//! What an HTTP response says, to the clients of both HTTP transports.
//!
//! Servers refuse in frames, in prose and in pages of HTML. Invariant: no body is read beyond a limit, and what a server
//! says reaches an error as one line without control characters.

use std::time::Duration;

use hyper::http::header::WWW_AUTHENTICATE;
use reqwest::Response;
use tokio::time::timeout;

use super::chain;
use crate::connection::Error;
use crate::frame::{Frame, Id, NotAFrame};

/// The most that is read of a refusal.
const REFUSAL: usize = 64 << 10;
/// How long a server may take to say why it refuses.
const PATIENCE: Duration = Duration::from_secs(10);

/// The whole body, as far as the limit allows.
pub(super) async fn whole(mut response: Response, limit: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| chain(&error))? {
        if body.len() + chunk.len() > limit {
            return Err(NotAFrame::too_long(limit).reason);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A response that is no success, as an error; and the frame in it, if it is one that refuses.
pub(crate) async fn refusal(response: Response, id: Option<Id>) -> (Error, Option<Frame>) {
    let status = response.status().as_u16();
    let challenge = response.headers().get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok());
    let challenge = challenge.map(str::to_owned);
    let text = timeout(PATIENCE, whole(response, REFUSAL)).await;
    let text = text.ok().and_then(Result::ok).unwrap_or_default();
    let error = Error::Refused {
        id,
        status,
        challenge,
        reason: describe(&text),
    };
    let frame = Frame::parse(&text).ok();
    (error, frame.filter(|frame| frame.error.is_some()))
}

/// Its first words.
fn describe(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    let words: String = words
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect();
    if words.is_empty() {
        "no reason given".to_owned()
    } else {
        words
    }
}

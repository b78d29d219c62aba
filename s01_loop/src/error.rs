//! What can go wrong between us and the model, as values that a program can branch on.
//!
//! The user reads one sentence: what happened, and what to do. Invariant: no message ever holds the API key.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::settings::Credentials;

/// What the user can do about an address where nobody answers.
pub const CHECK_ADDRESS: &str = "check the network and ANTHROPIC_BASE_URL";

/// A request that got no usable reply.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ApiError {
    /// The answer is an error by its status, or no stream at all.
    #[error("the model's API answered {status} ({kind}): {message}{}", advice(*status))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The error's type as the API names it (`overloaded_error`, `invalid_request_error`, …).
        kind: String,
        /// The API's own words.
        message: String,
        /// How long the API asks us to wait (`retry-after`).
        retry_after: Option<Duration>,
    },
    /// The API reported an error in the middle of the stream.
    #[error("the model's API broke off its reply ({kind}): {message}")]
    InStream {
        /// The error's type as the API names it.
        kind: String,
        /// The API's own words.
        message: String,
    },
    /// No connection, or none that lasted until the answer began.
    #[error("no answer from {address}: {reason} — {CHECK_ADDRESS}")]
    Unreachable {
        /// The address we tried.
        address: String,
        /// Why it failed.
        reason: String,
        /// True if no request ever reached this address, by this client or a clone: the URL is probably wrong.
        never_met: bool,
    },
    /// The stream broke off or stood still before the reply was complete.
    #[error("the reply was cut off: {reason} — ask again")]
    Interrupted {
        /// What we saw of it.
        reason: String,
    },
    /// The answer is not what the Messages API sends.
    #[error("the answer is not a Messages API stream: {reason} — check ANTHROPIC_BASE_URL")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
}

impl ApiError {
    /// The error without the key, which a server may repeat in whatever it writes.
    pub(crate) fn redacted(mut self, credentials: &Credentials) -> Self {
        let redact = |text: &mut String| *text = credentials.redact(text);
        match &mut self {
            Self::Status { kind, message, .. } | Self::InStream { kind, message } => {
                redact(kind);
                redact(message);
            }
            Self::Unreachable { reason, .. }
            | Self::Interrupted { reason }
            | Self::Malformed { reason } => redact(reason),
        }
        self
    }
}

/// Why a program could not start. `main` returns it, and the user reads one line, not a dump with a backtrace.
pub struct Failure(anyhow::Error);

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self(error)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// What the user can do about an error status.
fn advice(status: u16) -> &'static str {
    match status {
        200..300 => " — check ANTHROPIC_BASE_URL",
        400 => " — if it comes again, start a new session",
        401 | 403 => " — check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
        404 => " — check MODEL_ID and ANTHROPIC_BASE_URL",
        413 => " — start a new session and ask for less at once",
        429 | 529 => " — wait a little and ask again",
        500.. => " — ask again",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_sentence_that_says_what_to_do() {
        let error = ApiError::Status {
            status: 404,
            kind: "not_found_error".into(),
            message: "model: claude-7".into(),
            retry_after: None,
        };
        assert_eq!(
            error.to_string(),
            "the model's API answered 404 (not_found_error): model: claude-7 — check MODEL_ID and ANTHROPIC_BASE_URL"
        );
    }
}

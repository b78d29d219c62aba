//! Recognises the answer that a prompt is too long.
//!
//! The API has no error type of its own for it: status and type say that the request is at fault, the words say how.
//! Invariant: a number somewhere in a text decides nothing.

use s01_loop::ApiError;

/// The wording of the API and of compatible servers.
const WORDS: [&str; 5] = [
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "exceeds the maximum size",
    "request too large",
];

/// Whether this error says that the prompt was too long.
pub fn says(error: &ApiError) -> bool {
    // Inside a stream there is no status; the type is the one of a 400.
    let (status, kind, message) = match error {
        ApiError::Status {
            status,
            kind,
            message,
            ..
        } => (*status, kind, message),
        ApiError::InStream { kind, message } => (400, kind, message),
        ApiError::Unreachable { .. }
        | ApiError::Interrupted { .. }
        | ApiError::Malformed { .. } => return false,
    };
    let is_refusal = match kind.as_str() {
        "invalid_request_error" => matches!(status, 400 | 413),
        "request_too_large" => status == 413,
        _ => false,
    };
    let message = message.replace('`', "").to_lowercase();
    is_refusal && WORDS.iter().any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, kind: &str, message: &str) -> ApiError {
        ApiError::Status {
            status,
            kind: kind.to_owned(),
            message: message.to_owned(),
            retry_after: None,
        }
    }

    #[test]
    fn status_kind_and_words_decide_together() {
        let invalid = "invalid_request_error";
        let words = "prompt is too long: 213462 tokens > 200000 maximum";
        let both = "input length and `max_tokens` exceed context limit: 198000 + 8000 > 200000";
        for (error, expected) in [
            (status(400, invalid, words), true),
            (status(400, invalid, both), true),
            (status(413, "request_too_large", "Request exceeds the maximum size"), true),
            (status(413, invalid, words), true),
            (status(400, invalid, "max_tokens: 413 > 400"), false),
            (status(400, "permission_error", words), false),
            (status(429, "rate_limit_error", words), false),
            (status(500, "api_error", "error 413 behind the proxy"), false),
        ] {
            assert_eq!(says(&error), expected, "{error}");
        }
        let in_stream = ApiError::InStream {
            kind: invalid.to_owned(),
            message: words.to_owned(),
        };
        assert!(says(&in_stream));
    }
}

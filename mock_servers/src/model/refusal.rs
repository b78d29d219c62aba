//! Refusals: the errors of the Messages API, as status, type and message.
//!
//! A harness branches on these three, so the mock says them as the API does. Where the API only says that something is
//! wrong, the mock also says where.
//! Invariant: every error leaves the server in the shape `{"type":"error","error":{"type","message"},"request_id"}`.

use std::fmt::{self, Display};

use serde_json::{Value, json};

/// An error answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The error type, for instance `invalid_request_error`.
    pub kind: &'static str,
    /// What is wrong, where, in one sentence.
    pub message: String,
    /// The value of the `retry-after` header, in seconds.
    pub retry_after: Option<u32>,
    /// What a program is to branch on, in `error.details`.
    pub code: Option<&'static str>,
}

impl Refusal {
    /// An error with this status and its error type.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            kind: kind_of(status),
            message,
            retry_after: None,
            code: None,
        }
    }

    /// A 400: the request breaks a rule.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// The error body.
    pub fn body(&self, request_id: &str) -> Value {
        let mut error = json!({"type": self.kind, "message": self.message});
        if let Some(code) = self.code {
            error["details"] = json!({"error_code": code});
        }
        json!({"type": "error", "error": error, "request_id": request_id})
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.kind, self.message)
    }
}

impl From<Flaw> for Refusal {
    fn from(flaw: Flaw) -> Self {
        Self::invalid(flaw.to_string())
    }
}

/// What is wrong with a field. The place grows on the way out: each level adds its own segment.
#[derive(Clone, Debug)]
pub struct Flaw {
    place: String,
    reason: String,
}

impl Flaw {
    /// Something is wrong right here.
    pub fn here(reason: impl Into<String>) -> Self {
        Self {
            place: String::new(),
            reason: reason.into(),
        }
    }

    /// Something is wrong at `place`.
    pub fn at(place: impl Display, reason: impl Into<String>) -> Self {
        Self::here(reason).under(place)
    }

    /// Puts `outer` before the place.
    pub fn under(self, outer: impl Display) -> Self {
        let place = match self.place.as_str() {
            "" => outer.to_string(),
            inner => format!("{outer}.{inner}"),
        };
        Self { place, ..self }
    }
}

impl Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

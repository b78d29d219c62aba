//! What becomes of a connection and of a call when something goes wrong: the table.
//!
//! Servers are killed, networks drop, tokens expire; what is safe to repeat is decided here and nowhere else. Invariant:
//! a call is made a second time only when the server did not take it the first time, or when it is safe to repeat.

use mcp_wire::{Cause, Error};

/// Failures of the transport in a row after which a connection is closed and opened again.
pub const IN_A_ROW: u32 = 3;

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The connection is gone: reset, timed out, a broken pipe, the end of a stream.
    Broken,
    /// Nobody is there: refused, unreachable. Nothing was sent.
    Unsent,
    /// No answer, or a gateway's (502, 503, 504): the server may have acted.
    Unanswered,
    /// 401: the token is missing, wrong or expired.
    Unauthorized,
    /// 403 that asks for more scope.
    Scope,
    /// The server has forgotten the session.
    SessionLost,
    /// What came is no frame.
    Protocol,
    /// Any other refusal.
    Refused,
}

/// The kind of an error.
pub fn classify(error: &Error) -> Class {
    match error {
        Error::Broken(_) => Class::Broken,
        Error::NotAFrame(_) => Class::Protocol,
        Error::Failed { cause, .. } => match cause {
            Cause::Unsent => Class::Unsent,
            Cause::SessionLost => Class::SessionLost,
            Cause::Unanswered | Cause::Refused(502..=504, _) => Class::Unanswered,
            Cause::Refused(401, _) => Class::Unauthorized,
            Cause::Refused(403, Some(challenge)) if challenge.contains("insufficient_scope") => {
                Class::Scope
            }
            Cause::Refused(..) => Class::Refused,
        },
    }
}

/// What has happened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whether the server has ever answered.
    pub alive: bool,
    /// Failures without an answer in between, this one included.
    pub in_a_row: u32,
    /// Whether the call does no harm when it is made twice.
    pub repeatable: bool,
    /// Whether this call has had its remedy (a login, a new session) already.
    pub remedied: bool,
}

/// What happens to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It stays.
    Keep,
    /// It rests before the next frame is sent.
    Pause,
    /// It is closed, and opened again after a pause.
    Reopen,
    /// It is closed: the server was never there.
    Close,
    /// A login, or more scope.
    Login,
    /// `initialize` again, over the same connection.
    Greet,
}

/// What happens to the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It is made again.
    Again,
    /// It fails, and the caller learns why.
    Fail,
    /// It fails, and nobody knows whether the server acted.
    Unknown,
    /// It fails until somebody logs in.
    NeedsLogin,
}

/// The table.
pub fn decide(class: Class, seen: Seen) -> (Link, Call) {
    let third = seen.in_a_row >= IN_A_ROW;
    let repeated = if seen.repeatable { Call::Again } else { Call::Unknown };
    match class {
        Class::Broken | Class::Unsent | Class::Unanswered if !seen.alive => {
            (Link::Close, Call::Fail)
        }
        Class::Broken => (Link::Reopen, repeated),
        Class::Unsent if third => (Link::Reopen, Call::Again),
        Class::Unsent => (Link::Pause, Call::Again),
        Class::Unanswered if third => (Link::Reopen, repeated),
        Class::Unanswered => (Link::Pause, repeated),
        Class::Unauthorized | Class::Scope if seen.remedied => (Link::Keep, Call::NeedsLogin),
        Class::Unauthorized | Class::Scope => (Link::Login, Call::Again),
        Class::SessionLost if seen.remedied => (Link::Keep, Call::Fail),
        Class::SessionLost => (Link::Greet, Call::Again),
        Class::Protocol if third => (Link::Reopen, Call::Fail),
        Class::Protocol | Class::Refused => (Link::Keep, Call::Fail),
    }
}

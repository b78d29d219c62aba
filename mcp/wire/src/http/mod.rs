//! Streamable HTTP: the client's end and the server's.
//!
//! Frames that belong together share a response; the rest of HTTP is hyper's and reqwest's. Both lifecycles are spoken: the
//! handshake with a session (up to 2025-11-25), and requests that each stand for themselves (from 2026-07-28 on).

mod client;
mod events;
mod host;
mod listener;
mod server;
mod session;

use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;

pub(crate) use client::Client;
pub use client::{Options as ClientOptions, connect};
pub(crate) use events::explained;
pub use host::Hosts;
pub(crate) use host::{Refusal, refusal};
pub use listener::{Guard, Listener, Options as ServerOptions, Pages};
pub use server::Reply;

/// Whether a body is of this type.
fn is(headers: &HeaderMap, kind: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = value.unwrap_or_default().split(';').next();
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(kind))
}

/// An error with its causes, in a line: reqwest's own text leaves them out, tungstenite's ends with them.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.map(ToString::to_string).fold(error.to_string(), |text, cause| {
        if text.ends_with(&cause) { text } else { format!("{text}: {cause}") }
    })
}

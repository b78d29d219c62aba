//! Streamable HTTP: the client's end and the server's.
//!
//! Frames that belong together share a response; the rest of HTTP is hyper's and reqwest's. Both lifecycles are spoken: the
//! handshake with a session (up to 2025-11-25), and requests that each stand for themselves (from 2026-07-28 on).

mod client;
mod host;
mod server;
mod session;

pub use client::{Options as ClientOptions, connect};
pub(crate) use client::{describe, json_body};
pub use host::Hosts;
pub use server::{Guard, Listener, Options as ServerOptions, Reply};

/// An error with its causes, in a line: reqwest's own text leaves them out.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

//! Streamable HTTP: the client's end and the server's.
//!
//! Frames that belong together share a response; the rest of HTTP is hyper's and reqwest's. Both lifecycles are spoken: the
//! handshake with a session (up to 2025-11-25), and requests that each stand for themselves (from 2026-07-28 on).

mod client;
mod events;
mod listener;
mod server;
mod session;

use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Uri};

pub use client::{Options as ClientOptions, connect, connect_sse};
pub use listener::{Guard, Listener, Options as ServerOptions, Pages};
pub use server::Reply;

use crate::frame::{Frame, code};

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

/// A status, and a frame without an id, so that a client can read it like any other error.
pub(crate) type Refusal = (u16, Frame);

pub(crate) fn refusal(status: u16, why: &str) -> Refusal {
    (status, Frame::error(None, code::INVALID_REQUEST, why))
}

/// The names of a server, with any port. `localhost` and the loopback addresses are always among them. A web page can have
/// its own name lead to 127.0.0.1 (DNS rebinding); a request whose Host or Origin names another place is refused.
#[derive(Clone, Debug, Default)]
pub struct Hosts(pub Vec<String>);

impl Hosts {
    /// Whether the headers name this server.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let (hosts, origins) = (headers.get_all(HOST), headers.get_all(ORIGIN));
        if hosts.iter().count() != 1 {
            return Err(refusal(400, "exactly one Host header is wanted"));
        }
        if !hosts.iter().all(|host| self.are_named(host)) {
            return Err(refusal(403, "the Host header names another server"));
        }
        if !origins.iter().all(|origin| self.are_named(origin)) {
            return Err(refusal(403, "the Origin header names another site"));
        }
        Ok(())
    }

    fn are_named(&self, place: &HeaderValue) -> bool {
        let place = place.to_str().ok().and_then(|it| it.parse::<Uri>().ok());
        let host = place.as_ref().and_then(Uri::host).unwrap_or_default();
        let host = host.trim_end_matches('.');
        let own = self.0.iter().map(String::as_str);
        let mut known = ["localhost", "127.0.0.1", "[::1]"].into_iter().chain(own);
        known.any(|known| known.eq_ignore_ascii_case(host))
    }
}

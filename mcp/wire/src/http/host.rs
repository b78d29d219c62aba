//! Which names a server answers to.
//!
//! A web page can have its own name lead to 127.0.0.1 (DNS rebinding) and then talk to a server that trusts the machine
//! it runs on. Invariant: a request whose Host or Origin names another place gets nothing but a refusal.

use hyper::http::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::{HeaderMap, Uri};

use crate::frame::{Frame, code};

/// A status, and a frame without an id, so that a client can read it like any other error.
pub(crate) type Refusal = (u16, Frame);

pub(crate) fn refusal(status: u16, why: &str) -> Refusal {
    (status, Frame::error(None, code::INVALID_REQUEST, why))
}

/// The names of a server, with any port. `localhost` and the loopback addresses are always among them.
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

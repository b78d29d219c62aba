//! Which names a server answers to.
//!
//! A web page can have its own name lead to 127.0.0.1 (DNS rebinding) and then talk to a server that trusts the machine
//! it runs on. Invariant: a request whose Host or Origin names another place gets nothing but a refusal.

use hyper::http::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::{HeaderMap, StatusCode, Uri};

/// The names of a server, with any port. `localhost` and the loopback addresses are always among them.
#[derive(Clone, Debug, Default)]
pub struct Hosts(pub Vec<String>);

impl Hosts {
    /// Whether the headers name this server.
    ///
    /// # Errors
    /// The status of the refusal and its sentence.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let (hosts, origins) = (headers.get_all(HOST), headers.get_all(ORIGIN));
        if hosts.iter().count() != 1 {
            return Err((StatusCode::BAD_REQUEST, "exactly one Host header is wanted"));
        }
        if !hosts.iter().all(|host| self.are_named(host)) {
            let why = "the Host header names another server";
            return Err((StatusCode::FORBIDDEN, why));
        }
        if !origins.iter().all(|origin| self.are_named(origin)) {
            let why = "the Origin header names another site";
            return Err((StatusCode::FORBIDDEN, why));
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

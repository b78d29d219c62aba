//! Which names a server answers to.
//!
//! A web page can have its own name lead to 127.0.0.1 (DNS rebinding) and then talk to a server that trusts the machine
//! it runs on. Invariant: a request whose Host or Origin names another place gets nothing but a refusal.

use hyper::http::header::{HOST, ORIGIN};
use hyper::http::uri::{Authority, Uri};
use hyper::http::{HeaderMap, StatusCode};

/// The names of a server, with any port. `localhost` and the loopback addresses are always among them.
#[derive(Clone, Debug, Default)]
pub struct Hosts(pub Vec<String>);

impl Hosts {
    /// Whether the headers name this server.
    ///
    /// # Errors
    /// The status of the refusal and its sentence.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err((StatusCode::BAD_REQUEST, "exactly one Host header is wanted"));
        };
        let host = host
            .to_str()
            .ok()
            .and_then(|host| host.parse::<Authority>().ok());
        if !host.is_some_and(|host| self.knows(host.host())) {
            return Err((
                StatusCode::FORBIDDEN,
                "the Host header names another server",
            ));
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin
                .to_str()
                .ok()
                .and_then(|origin| origin.parse::<Uri>().ok());
            let known = origin.is_some_and(|it| it.host().is_some_and(|host| self.knows(host)));
            if !known {
                return Err((
                    StatusCode::FORBIDDEN,
                    "the Origin header names another site",
                ));
            }
        }
        Ok(())
    }

    fn knows(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        let own = self.0.iter().map(String::as_str);
        let mut known = ["localhost", "127.0.0.1", "[::1]"].into_iter().chain(own);
        known.any(|known| known.eq_ignore_ascii_case(host))
    }
}

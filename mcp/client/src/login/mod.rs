//! Logins: how a connection gets its `Authorization` header, and what it does when a server wants one.
//!
//! The connection knows nothing of OAuth; it asks a [`Login`] before each request and after each refusal. Invariant: a
//! token stands in a header and nowhere else, never in a log or an error.

mod callback;
mod kept;
mod oauth;
mod store;
mod xaa;

pub use crate::config::OAuth as Settings;
pub use oauth::{OAuth, Visit};
pub use store::Store;
pub use xaa::Xaa;

use std::sync::Arc;

use hyper::header::HeaderValue;
use kit::BoxFuture;

use crate::config::{Server, Transport};

/// A refusal that a login may cure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The address that refused.
    pub url: String,
    /// 401, or 403 when the token lacks scope.
    pub status: u16,
    /// Its `WWW-Authenticate` header.
    pub www_authenticate: Option<String>,
}

/// The logins of one server.
pub trait Login: Send + Sync {
    /// The header to send now; refreshes a token that is about to expire. None sends the headers of the
    /// configuration. The future may be dropped before its end.
    fn authorization(&self) -> BoxFuture<'_, Option<HeaderValue>>;

    /// The server refused. After `Ok` [`Login::authorization`] has a better header and the request is sent once more; an
    /// error is the sentence that says what the user has to do. It may take minutes; frames wait meanwhile.
    fn challenged(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>>;
}

/// For a server without a login of its own: what the configuration's headers say must do.
pub struct NoLogin;

impl Login for NoLogin {
    fn authorization(&self) -> BoxFuture<'_, Option<HeaderValue>> {
        Box::pin(std::future::ready(None))
    }

    fn challenged(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>> {
        let Challenge { url, status, .. } = challenge;
        let why = match status {
            401 => format!("{url} wants a login"),
            _ => format!("{url} wants a login with more rights"),
        };
        Box::pin(std::future::ready(Err(why)))
    }
}

/// The login of a server, as its entry says it. Without somebody to visit an address nobody is asked.
pub fn of(server: &Server, store: &Arc<Store>, visit: Option<Arc<dyn Visit>>) -> Arc<dyn Login> {
    // An editor gives out its token in a file.
    if server.url.is_empty() || server.transport == Transport::SseIde {
        return Arc::new(NoLogin);
    }
    let login = |url: &str, settings: &Settings, visit| {
        OAuth::new(&server.name, url, settings.clone(), store.clone(), visit)
    };
    let Some(provider) = &server.oauth.xaa else {
        return Arc::new(login(&server.url, &server.oauth, visit));
    };
    let known = Settings {
        client_id: Some(provider.client_id.clone()),
        client_secret: provider.client_secret.clone(),
        callback_port: provider.callback_port,
        scopes: vec!["openid".to_owned()],
        ..Settings::default()
    };
    let provider = Arc::new(login(&provider.issuer, &known, visit));
    Arc::new(Xaa::new(login(&server.url, &server.oauth, None), provider))
}

//! What is kept of a login, and rmcp's view of it.
//!
//! Invariant: the registration stays with its tokens, so that a later process can refresh them.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use hyper::header::HeaderValue;
use rmcp::transport::auth::{AuthError, CredentialStore, OAuthClientConfig, StoredCredentials};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::store::Store;

/// A token is refreshed when it has less time than this, or than a tenth of its life.
const EARLY: Duration = Duration::from_secs(5 * 60);

/// What is stored for a server.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    pub client: Option<Client>,
    pub credentials: Option<StoredCredentials>,
}

/// A registration, with the secret that rmcp's credentials leave out: without it no restart could refresh.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Client {
    pub id: String,
    pub secret: Option<String>,
    pub redirect_uri: String,
    pub issuer: Option<String>,
}

impl Client {
    pub fn config(&self) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(self.id.clone(), self.redirect_uri.clone());
        match &self.secret {
            Some(secret) => config.with_client_secret(secret.clone()),
            None => config,
        }
    }
}

/// What is kept for a server, by its address; for rmcp, too. The lock is held by whoever refreshes.
#[derive(Clone)]
pub(super) struct Slot {
    pub store: Arc<Store>,
    pub url: String,
}

impl Slot {
    pub fn kept(&self) -> Result<Kept> {
        Ok(self.store.load(&self.url)?.unwrap_or_default())
    }

    pub fn keep(&self, change: impl FnOnce(&mut Kept)) -> Result<()> {
        let mut kept = self.kept()?;
        change(&mut kept);
        self.store.save(&self.url, &kept)
    }
}

#[async_trait::async_trait]
impl CredentialStore for Slot {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.kept().map(|kept| kept.credentials).map_err(lost)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.keep(|kept| kept.credentials = Some(credentials)).map_err(lost)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.keep(|kept| kept.credentials = None).map_err(lost)
    }
}

fn lost(error: anyhow::Error) -> AuthError {
    AuthError::CredentialStoreError(format!("{error:#}"))
}

pub(super) fn field(credentials: &StoredCredentials, name: &str) -> Option<Value> {
    let token = serde_json::to_value(credentials.token_response.as_ref()?).ok()?;
    token.get(name).filter(|value| !value.is_null()).cloned()
}

pub(super) fn access_token(credentials: &StoredCredentials) -> Option<String> {
    Some(field(credentials, "access_token")?.as_str()?.to_owned())
}

/// The header that shows the token.
pub(super) fn bearer(credentials: &StoredCredentials) -> Option<HeaderValue> {
    let token = access_token(credentials)?;
    let mut header = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

pub(super) fn refresh_token(credentials: &StoredCredentials) -> Option<Value> {
    field(credentials, "refresh_token")
}

pub(super) fn expires_soon(credentials: &StoredCredentials) -> bool {
    let expires = field(credentials, "expires_in").and_then(|seconds| seconds.as_u64());
    let (Some(seconds), Some(received)) = (expires, credentials.token_received_at) else {
        return false;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let early = EARLY.min(Duration::from_secs(seconds) / 10);
    now + early >= Duration::from_secs(received.saturating_add(seconds))
}

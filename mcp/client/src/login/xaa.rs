//! Cross-app access: one login at the company's identity provider, and with it a token for every server.
//!
//! The provider's id token is exchanged for an assertion (RFC 8693) and that for the server's token (RFC 7523), as the MCP
//! extension *Enterprise-Managed Authorization* says; both requests are rmcp's. The user sees one page, for all servers.
//! Invariant: without an id token that the provider accepts there is a login, never a request without one.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use hyper::header::HeaderValue;
use kit::BoxFuture;
use rmcp::transport::auth::enterprise::{
    EmaAuthorizationServer, EmaClientAuthentication, EmaError, EmaExchangeRequest, EmaExchangeStage,
};
use rmcp::transport::auth::{StoredCredentials, default_oauth_http_client};
use serde_json::json;
use tokio::sync::Mutex;

use super::kept::{bearer, expires_soon, field};
use super::oauth::OAuth;
use super::{Challenge, Login};

/// The login of one server through an identity provider.
pub struct Xaa {
    own: OAuth,
    provider: Arc<OAuth>,
    under_way: Mutex<()>,
}

impl Xaa {
    /// `own` is the server, registered beforehand; `provider` the identity provider, shared by all servers, with the scope
    /// `openid`.
    pub fn new(own: OAuth, provider: Arc<OAuth>) -> Self {
        Self {
            own,
            provider,
            under_way: Mutex::default(),
        }
    }

    /// Exchanges what the provider knows of the user for a token, and asks the user when it knows nothing.
    ///
    /// # Errors
    /// Why there is no token.
    pub async fn log_in(&self, challenge: Option<&str>) -> Result<()> {
        let _one = self.under_way.lock().await;
        if let Some(id_token) = self.id_token()? {
            match self.exchange(challenge, &id_token).await {
                Err(error) if is_over(&error) => {}
                outcome => return outcome,
            }
        }
        self.provider.log_in(None).await?;
        let id_token = self.id_token()?.context("the identity provider gives no id token")?;
        self.exchange(challenge, &id_token).await
    }

    fn id_token(&self) -> Result<Option<String>> {
        let credentials = self.provider.slot.kept()?.credentials;
        let token = credentials.and_then(|credentials| field(&credentials, "id_token"));
        Ok(token.and_then(|token| Some(token.as_str()?.to_owned())))
    }

    async fn exchange(&self, challenge: Option<&str>, id_token: &str) -> Result<()> {
        let (resource, provider) =
            (self.own.discover(challenge).await?, self.provider.discover(None).await?);
        let http = default_oauth_http_client()?;
        let request = EmaExchangeRequest::new_with_id_token(
            server(&self.provider, provider.issuer, &provider.token_endpoint)?,
            server(&self.own, resource.issuer, &resource.token_endpoint)?,
            &self.own.slot.url,
            id_token,
        );
        let token = request.exchange(&http, &http).await?;
        let response = json!({
            "access_token": token.access_token.secret(),
            "token_type": "bearer",
            "expires_in": token.expires_in.map(|left| left.as_secs()),
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = self.own.settings.client_id.clone().unwrap_or_default();
        let response = Some(serde_json::from_value(response)?);
        let credentials = StoredCredentials::new(id, response, Vec::new(), Some(now.as_secs()));
        self.own.slot.keep(|kept| kept.credentials = Some(credentials))
    }
}

fn server(login: &OAuth, issuer: Option<String>, endpoint: &str) -> Result<EmaAuthorizationServer> {
    let settings = &login.settings;
    let missing =
        || anyhow!("{} has no client id of ours; an administrator registers it", login.slot.url);
    let id = settings.client_id.as_deref().ok_or_else(missing)?;
    let issuer = issuer
        .with_context(|| format!("the authorization server of {} has no issuer", login.slot.url))?;
    let server = EmaAuthorizationServer::new(issuer, endpoint, id);
    Ok(match &settings.client_secret {
        Some(secret) => {
            let secret = serde_json::from_value(json!(secret))?;
            server.with_client_authentication(EmaClientAuthentication::ClientSecretBasic(secret))
        }
        None => server,
    })
}

/// True if the provider wants to see the user again.
fn is_over(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(
            EmaError::InvalidGrant(EmaExchangeStage::IdentityProvider)
                | EmaError::InsufficientUserAuthentication(EmaExchangeStage::IdentityProvider)
        )
    )
}

impl Login for Xaa {
    fn authorization(&self) -> BoxFuture<'_, Option<HeaderValue>> {
        Box::pin(async {
            let kept = || self.own.slot.kept().ok()?.credentials;
            if expires_soon(&kept()?)
                && let Err(error) = self.log_in(None).await
            {
                tracing::warn!("renewing the token for {}: {error:#}", self.own.slot.url);
            }
            bearer(&kept()?)
        })
    }

    fn challenged(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>> {
        let header = challenge.www_authenticate;
        Box::pin(async move {
            self.log_in(header.as_deref()).await.map_err(|error| format!("{error:#}"))
        })
    }
}

//! OAuth 2.1 for one server: discovery, registration and tokens by rmcp; who is asked and what is kept is decided here.
//!
//! A 401 is cured by what another process has stored meanwhile, by a refresh, or by a login; a 403 for want of scope by a login
//! with the scopes that are missing. Where no user can be asked, the error says what to type.
//! Invariant: of all processes one refreshes at a time, the others take over what it got; after three logins in vain a
//! refusal stands.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use hyper::header::HeaderValue;
use kit::BoxFuture;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, StoredCredentials,
    WWWAuthenticateParams,
};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use super::callback::{Callback, parameter};
use super::kept::{Client, Slot, access_token, bearer, expires_soon, refresh_token};
use super::store::Store;
use super::{Challenge, Login, Settings};

/// The user has this long to log in.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Logins in a row that were refused all the same.
const ATTEMPTS: u32 = 3;
/// Logins with more time between them are no row.
const A_ROW: Duration = Duration::from_secs(60);

/// Shows the user where to log in.
pub trait Visit: Send + Sync {
    /// Opens or shows this address. Returns the address that the browser was sent to when somebody gave it, and otherwise
    /// never: the listener is then waited for.
    fn visit(&self, url: String) -> BoxFuture<'_, Result<String>>;
}

/// The login of one server; clones share it.
#[derive(Clone)]
pub struct OAuth {
    /// The name to be typed after `mcp_client login`.
    name: String,
    pub(super) slot: Slot,
    pub(super) settings: Settings,
    visit: Option<Arc<dyn Visit>>,
    under_way: Arc<Mutex<UnderWay>>,
}

#[derive(Default)]
struct UnderWay {
    /// The token that was given out last.
    given: Option<String>,
    /// Logins, each within a minute of the one before.
    attempts: u32,
    last: Option<Instant>,
}

/// What the metadata say.
pub(super) struct Discovered {
    manager: AuthorizationManager,
    pub issuer: Option<String>,
    pub token_endpoint: String,
    /// A client may name itself by the address of a document.
    by_document: bool,
}

impl OAuth {
    /// The login of the server `name` at `url`. Without somebody to visit an address it refreshes and never asks.
    pub fn new(
        name: &str,
        url: &str,
        settings: Settings,
        store: Arc<Store>,
        visit: Option<Arc<dyn Visit>>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            slot: Slot {
                store,
                url: url.to_owned(),
            },
            settings,
            visit,
            under_way: Arc::default(),
        }
    }

    /// Logs in, whether or not there is a token.
    ///
    /// # Errors
    /// Why there is no token now.
    pub async fn log_in(&self, challenge: Option<&str>) -> Result<()> {
        self.authorize(challenge, &[]).await
    }

    /// The credentials to send, refreshed when they are about to expire.
    async fn credentials(&self) -> Result<Option<StoredCredentials>> {
        let mut under_way = self.under_way.lock().await;
        let Some(mut credentials) = self.slot.kept()?.credentials else {
            return Ok(None);
        };
        if expires_soon(&credentials) && refresh_token(&credentials).is_some() {
            match self.refresh(&credentials, None).await {
                Ok(fresh) => credentials = fresh,
                // It may be accepted still, and a refusal will say what to do.
                Err(error) => tracing::warn!(server = self.name, "refreshing the login: {error:#}"),
            }
        }
        under_way.given = access_token(&credentials);
        Ok(Some(credentials))
    }

    async fn cure(&self, challenge: &Challenge) -> Result<()> {
        let mut under_way = self.under_way.lock().await;
        let header = challenge.www_authenticate.as_deref();
        let kept = self.slot.kept()?.credentials;
        let refused = under_way.given.take();
        if under_way.last.is_some_and(|last| last.elapsed() > A_ROW) {
            under_way.attempts = 0;
        }
        let scopes = if challenge.status == 403 {
            scopes_wanted(&self.slot.url, header)
                .with_context(|| format!("{} forbids it", self.slot.url))?
        } else {
            if let Some(credentials) = kept.filter(|_| refused.is_some()) {
                if access_token(&credentials) != refused {
                    return Ok(());
                }
                if refresh_token(&credentials).is_some() && under_way.attempts == 0 {
                    match self.refresh(&credentials, header).await {
                        Ok(_) => {
                            under_way.attempts = 1;
                            under_way.last = Some(Instant::now());
                            return Ok(());
                        }
                        Err(error) => {
                            tracing::info!(server = self.name, "refreshing the login: {error:#}")
                        }
                    }
                }
            }
            Vec::new()
        };
        if under_way.attempts >= ATTEMPTS {
            bail!("{} refuses after {ATTEMPTS} logins", self.slot.url);
        }
        let outcome = self.authorize(header, &scopes).await;
        under_way.attempts += 1;
        under_way.last = Some(Instant::now());
        outcome
    }

    /// Gets a new token for these credentials. A connection may stop waiting for it; the token that the server then gives is
    /// kept all the same, for the old refresh token is worth nothing any more.
    async fn refresh(
        &self,
        old: &StoredCredentials,
        challenge: Option<&str>,
    ) -> Result<StoredCredentials> {
        let (login, old) = (self.clone(), old.clone());
        let challenge = challenge.map(str::to_owned);
        tokio::spawn(async move { login.refreshed(&old, challenge.as_deref()).await }).await?
    }

    /// A new token, from the server or from another process that was first.
    async fn refreshed(
        &self,
        old: &StoredCredentials,
        challenge: Option<&str>,
    ) -> Result<StoredCredentials> {
        let slot = self.slot.clone();
        let _lock = tokio::task::spawn_blocking(move || slot.store.lock(&slot.url)).await??;
        let kept = self.slot.kept()?;
        let now = kept.credentials.as_ref().and_then(access_token);
        if let Some(credentials) = kept.credentials.filter(|_| now != access_token(old)) {
            return Ok(credentials);
        }
        let client = kept.client.context("the client's registration is lost")?;
        let Discovered {
            mut manager,
            issuer,
            ..
        } = self.discover(challenge).await?;
        if client.issuer != issuer {
            bail!("the authorization server is another one now");
        }
        manager.configure_client(client.config())?;
        match manager.refresh_token().await {
            Ok(_) => self.slot.kept()?.credentials.context("the new token was not kept"),
            Err(error @ AuthError::TokenRefreshRejected(_)) => {
                // It will never be accepted again.
                self.slot.keep(|kept| kept.credentials = None)?;
                Err(error.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the user, with these scopes beside those that were granted.
    async fn authorize(&self, challenge: Option<&str>, more: &[String]) -> Result<()> {
        let Some(visit) = &self.visit else {
            bail!("{} wants a login: `mcp_client login {}`", self.slot.url, self.name);
        };
        let kept = self.slot.kept()?;
        let mut found = self.discover(challenge).await?;
        let known = kept.client.filter(|client| client.issuer == found.issuer);
        let callback = self.callback(known.as_ref()).await?;
        let mut scopes = match more {
            [] if !self.settings.scopes.is_empty() => self.settings.scopes.clone(),
            [] => found.manager.select_initial_scopes(&[]).await,
            _ => kept.credentials.map_or_else(Vec::new, |credentials| credentials.granted_scopes),
        };
        scopes.extend(
            more.iter().filter(|scope| !scopes.contains(scope)).cloned().collect::<Vec<_>>(),
        );
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let redirect_uri = callback.redirect_uri();
        let client = match known.filter(|client| client.redirect_uri == redirect_uri) {
            Some(client) => client,
            None => self.register(&mut found, redirect_uri, &scopes).await?,
        };
        let manager = &mut found.manager;
        manager.configure_client(client.config())?;
        self.slot.keep(|kept| kept.client = Some(client))?;
        let url = manager.get_authorization_url(&scopes).await?;
        let state = parameter(&url, "state").context("the login's address has no state")?;
        let answered = async {
            tokio::select! {
                url = callback.answer(&state) => url,
                url = visit.visit(url.clone()) => url,
            }
        };
        let answer = tokio::time::timeout(PATIENCE, answered).await;
        let answer = answer.map_err(|_| anyhow!("nobody logged in within five minutes"))??;
        if parameter(&answer, "state").as_deref() != Some(&*state) {
            bail!(
                "that address belongs to another login; begin again with `mcp_client login {}`",
                self.name
            );
        }
        if let Some(error) = parameter(&answer, "error") {
            let why = parameter(&answer, "error_description").unwrap_or_default();
            bail!(
                "the login was refused: {} {}",
                kit::cut(&error, 80),
                kit::cut(&kit::one_line(&why), 200)
            );
        }
        let AuthorizationCallback {
            code,
            csrf_token,
            issuer,
            ..
        } = AuthorizationCallback::from_redirect_url(&answer)?;
        manager.exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref()).await?;
        Ok(())
    }

    /// Reads the metadata of the resource and of its authorization server.
    pub(super) async fn discover(&self, challenge: Option<&str>) -> Result<Discovered> {
        let mut manager = AuthorizationManager::new(self.slot.url.as_str()).await?;
        manager.set_credential_store(self.slot.clone());
        let found = manager.resolve_metadata_from_challenge(challenge).await?;
        let issuer = found.metadata.issuer.clone();
        let token_endpoint = found.metadata.token_endpoint.clone();
        let fields = &found.metadata.additional_fields;
        let by_document =
            fields.get("client_id_metadata_document_supported").is_some_and(|by| *by == true);
        manager.set_metadata(found.metadata);
        Ok(Discovered {
            manager,
            issuer,
            token_endpoint,
            by_document,
        })
    }

    /// Listens where the registered client is sent back to, or on any port when nobody prescribes one.
    async fn callback(&self, known: Option<&Client>) -> Result<Callback> {
        if self.settings.callback_port != 0 {
            return Callback::bind(self.settings.callback_port).await;
        }
        let port = known.and_then(|client| Url::parse(&client.redirect_uri).ok()?.port());
        match Callback::bind(port.unwrap_or(0)).await {
            Err(_) if port.is_some() => Callback::bind(0).await,
            bound => bound,
        }
    }

    /// Takes the client that is registered, names our metadata document, or registers, in this order.
    async fn register(
        &self,
        found: &mut Discovered,
        redirect_uri: String,
        scopes: &[&str],
    ) -> Result<Client> {
        let (id, secret) = match (&self.settings.client_id, &self.settings.metadata_url) {
            (Some(id), _) => (id.clone(), self.settings.client_secret.clone()),
            (None, Some(url)) if found.by_document => (url.clone(), None),
            _ => {
                let client =
                    found.manager.register_client("mcp_client", &redirect_uri, scopes).await?;
                (client.client_id, client.client_secret)
            }
        };
        let issuer = found.issuer.clone();
        Ok(Client {
            id,
            secret,
            redirect_uri,
            issuer,
        })
    }
}

impl Login for OAuth {
    fn authorization(&self) -> BoxFuture<'_, Option<HeaderValue>> {
        Box::pin(async {
            let credentials = self.credentials().await;
            let credentials = credentials.unwrap_or_else(|error| {
                tracing::warn!(server = self.name, "{error:#}");
                None
            });
            bearer(&credentials?)
        })
    }

    fn challenged(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { self.cure(&challenge).await.map_err(|error| format!("{error:#}")) })
    }
}

/// The scopes that a 403 says are missing.
fn scopes_wanted(url: &str, header: Option<&str>) -> Option<Vec<String>> {
    let parameters = WWWAuthenticateParams::parse(header?, &Url::parse(url).ok()?);
    let scopes =
        parameters.scope.filter(|_| parameters.error.as_deref() == Some("insufficient_scope"))?;
    Some(scopes.split_whitespace().map(str::to_owned).collect())
}

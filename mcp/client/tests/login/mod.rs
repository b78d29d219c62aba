//! Logins against an authorization server of the tests: the whole flow, what is kept, and what goes wrong.

mod s20;
mod server;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use kit::BoxFuture;
use mcp_client::login::{self, Challenge, Login, OAuth, Settings, Store, Visit};
use reqwest::{Client, redirect::Policy};
use serde_json::json;
use server::{Server, Told};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// A user who logs in at once.
#[derive(Default)]
struct User {
    /// Reads the address out instead of letting the browser go there.
    pastes: bool,
    /// Changes the address that the browser is sent to.
    forges: Option<fn(String) -> String>,
    /// The browser, and the pages that it sees.
    browser: Mutex<Option<JoinHandle<Vec<String>>>>,
    logins: AtomicUsize,
}

impl Visit for User {
    fn visit(&self, url: String) -> BoxFuture<'_, anyhow::Result<String>> {
        Box::pin(async move {
            self.logins.fetch_add(1, Ordering::Relaxed);
            let http = browser();
            let answer = http.get(url).send().await?;
            let mut location = answer.headers()["location"].to_str()?.to_owned();
            if let Some(forge) = self.forges {
                location = forge(location);
            }
            if self.pastes {
                return Ok(location);
            }
            *self.browser.lock().unwrap() = Some(tokio::spawn(async move {
                let mut pages = Vec::new();
                let wrong = location.replace("state=", "state=x");
                for url in [wrong, location.clone(), location] {
                    // The listener has gone when it has what it waited for; a second tab may find nobody.
                    let Ok(page) = http.get(url).send().await else {
                        break;
                    };
                    let status = page.status().as_u16();
                    pages.push(format!("{status} {}", page.text().await.unwrap_or_default()));
                }
                pages
            }));
            std::future::pending().await
        })
    }
}

/// One that goes nowhere by itself.
fn browser() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(Policy::none()).build().unwrap()
}

fn refusal(server: &Server, status: u16, header: Option<&str>) -> Challenge {
    Challenge {
        url: server.url(),
        status,
        www_authenticate: header.map(str::to_owned),
    }
}

fn login(folder: &TempDir, server: &Server, user: Option<Arc<User>>) -> OAuth {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = Arc::new(Store::new(folder.path(), None));
    let visit = user.map(|user| user as Arc<dyn Visit>);
    OAuth::new("files", &server.url(), Settings::default(), store, visit)
}

async fn header(login: &OAuth) -> Option<String> {
    let header = login.authorization().await?;
    Some(header.to_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_login_is_kept_encrypted_and_refreshed_by_a_later_process_with_its_secret() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Told {
        secret: true,
        expires_in: 0,
        ..Told::default()
    })
    .await;
    let user = Arc::new(User::default());
    let first = login(&folder, &server, Some(user.clone()));
    assert_eq!(header(&first).await, None);
    first.challenged(refusal(&server, 401, None)).await.unwrap();
    assert_eq!(server.issued(), ["access-1"]);
    let browser = user.browser.lock().unwrap().take().unwrap();
    let pages = browser.await.unwrap();
    assert!(pages[0].starts_with("400"), "another login's state: {pages:?}");
    assert!(pages[1].contains("close this page"), "{pages:?}");
    assert!(pages.get(2).is_none_or(|page| page.starts_with("410")), "a second tab: {pages:?}");

    // Two processes begin again and find the token expired: one refreshes, and the token server wants the secret.
    let (second, third) = (login(&folder, &server, None), login(&folder, &server, None));
    server.tell(|told| told.expires_in = 3600);
    assert!(second.authorization().now_or_never().is_none());
    let refreshed = async {
        while server.refreshes() == 0 {
            tokio::task::yield_now().await;
        }
    };
    let refreshed = tokio::time::timeout(Duration::from_secs(30), refreshed).await;
    refreshed.expect("who stops waiting does not stop the refresh");
    let (a, b) = tokio::join!(header(&second), header(&third));
    assert_eq!((a.as_deref(), b.as_deref()), (Some("Bearer access-2"), Some("Bearer access-2")));
    assert_eq!(server.refreshes(), 1);

    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for secret in ["access-", "refresh-", "the-secret", "client-1"] {
            assert!(!text.contains(secret), "{secret} stands in {}", path.display());
        }
    }
}

#[tokio::test]
async fn a_refused_token_is_refreshed_and_a_revoked_login_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Told {
        expires_in: 3600,
        ..Told::default()
    })
    .await;
    let user = Arc::new(User {
        pastes: true,
        ..User::default()
    });
    let own = login(&folder, &server, Some(user.clone()));
    own.log_in(None).await.unwrap();
    assert_eq!(header(&own).await.as_deref(), Some("Bearer access-1"));
    own.challenged(refusal(&server, 401, None)).await.unwrap();
    assert_eq!(header(&own).await.as_deref(), Some("Bearer access-2"));
    assert_eq!((server.refreshes(), user.logins.load(Ordering::Relaxed)), (1, 1));

    // What another process got meanwhile is taken over without a request.
    let other = login(&folder, &server, None);
    assert_eq!(header(&other).await.as_deref(), Some("Bearer access-2"));
    let third = login(&folder, &server, Some(user.clone()));
    third.log_in(None).await.unwrap();
    other.challenged(refusal(&server, 401, None)).await.unwrap();
    assert_eq!(header(&other).await.as_deref(), Some("Bearer access-3"));
    assert_eq!(server.refreshes(), 1);

    server.tell(|told| told.revoked = true);
    let why = other.challenged(refusal(&server, 401, None)).await.unwrap_err();
    assert!(why.ends_with("wants a login: `mcp_client login files`"), "{why}");
    assert_eq!(header(&other).await, None, "what is revoked is forgotten");
    third.challenged(refusal(&server, 401, None)).await.unwrap();
    assert_eq!(header(&third).await.as_deref(), Some("Bearer access-4"));
}

#[tokio::test]
async fn a_403_asks_for_the_missing_scope_beside_the_old_ones_and_three_in_a_row_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Told {
        expires_in: 3600,
        ..Told::default()
    })
    .await;
    let user = Arc::new(User {
        pastes: true,
        ..User::default()
    });
    let own = login(&folder, &server, Some(user.clone()));
    let wants = |scope| format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    own.challenged(refusal(&server, 401, Some("Bearer scope=\"read\""))).await.unwrap();
    own.challenged(refusal(&server, 403, Some(&wants("write")))).await.unwrap();
    assert_eq!(server.scopes(), ["read", "read write"]);
    own.challenged(refusal(&server, 403, Some(&wants("write")))).await.unwrap();
    let why = own.challenged(refusal(&server, 403, Some(&wants("write")))).await.unwrap_err();
    assert!(why.contains("refuses after 3 logins"), "{why}");
    assert_eq!(user.logins.load(Ordering::Relaxed), 3);
    let why = own.challenged(refusal(&server, 403, None)).await.unwrap_err();
    assert!(why.contains("forbids it"), "{why}");
}

#[tokio::test]
async fn an_answer_of_another_issuer_or_another_login_is_refused_before_the_token_is_asked_for() {
    type Forge = fn(String) -> String;
    let forgeries: [(Forge, &str); 3] = [
        (|url| url.replace("iss=http", "iss=https"), "issuer"),
        (|url| url.replace("state=", "state=x"), "another login"),
        (|_| "http://127.0.0.1/callback?error=access_denied&state=".to_owned(), "another login"),
    ];
    for (forge, expected) in forgeries {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(Told::default()).await;
        let user = User {
            pastes: true,
            forges: Some(forge),
            ..User::default()
        };
        let own = login(&folder, &server, Some(Arc::new(user)));
        let why = own.challenged(refusal(&server, 401, None)).await.unwrap_err();
        assert!(why.contains(expected), "{why}");
        assert!(server.issued().is_empty());
    }
}

#[tokio::test]
async fn a_port_in_use_is_named_and_a_client_of_our_own_is_not_registered() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Told {
        secret: true,
        ..Told::default()
    })
    .await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let own = |port| {
        let settings = Settings {
            client_id: Some("client-1".to_owned()),
            client_secret: Some("the-secret".to_owned()),
            callback_port: port,
            ..Settings::default()
        };
        let store = Arc::new(Store::new(folder.path(), None));
        let user = Arc::new(User {
            pastes: true,
            ..User::default()
        });
        OAuth::new("files", &server.url(), settings, store, Some(user))
    };
    browser();
    let why = own(port).log_in(None).await.unwrap_err().to_string();
    assert!(why.contains(&format!("port {port} of this machine is in use")), "{why}");
    own(0).log_in(None).await.unwrap();
    assert_eq!((server.registrations(), server.issued().len()), (0, 1));
}

#[test]
fn a_store_opens_with_its_own_key_and_a_file_for_its_own_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path(), None);
    store.save("https://a.example", &"kept").unwrap();
    assert_eq!(store.load::<String>("https://a.example").unwrap().as_deref(), Some("kept"));
    assert_eq!(store.load::<String>("https://b.example").unwrap(), None);
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let other = Store::new(folder.path(), Some(key.to_owned()));
    let why = other.load::<String>("https://a.example").unwrap_err().to_string();
    assert!(why.contains("written with another key"), "{why}");
    let short = Store::new(folder.path(), Some("short".to_owned()));
    let why = short.save("https://c.example", &1).unwrap_err().to_string();
    assert!(why.starts_with("MCP_CLIENT_KEY is not 32 bytes in base64"), "{why}");

    // A file put in another's place does not open, nor does one that was cut short.
    let files = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let a = files().find(|path| !path.ends_with("key")).unwrap();
    store.save("https://b.example", &"other").unwrap();
    let b = files().find(|path| !path.ends_with("key") && *path != a).unwrap();
    std::fs::copy(&a, &b).unwrap();
    assert!(store.load::<String>("https://b.example").is_err());
    std::fs::write(&b, b"short").unwrap();
    assert!(store.load::<String>("https://b.example").is_err());
    assert!(store.remove("https://b.example").unwrap());
    assert!(!store.remove("https://b.example").unwrap());
    use std::os::unix::fs::PermissionsExt;
    for path in files() {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[tokio::test]
async fn one_login_at_the_identity_provider_opens_every_server() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Server::start(Told {
        expires_in: 3600,
        ..Told::default()
    })
    .await;
    let servers = [Server::start(Told::default()).await, Server::start(Told::default()).await];
    browser();
    let store = Arc::new(Store::new(folder.path(), None));
    let user = Arc::new(User {
        pastes: true,
        ..User::default()
    });
    let asked = user.clone() as Arc<dyn Visit>;
    let issuer = provider.url().replace("/mcp", "");
    let logins = servers.each_ref().map(|server| {
        let xaa = json!({ "issuer": issuer, "clientId": "client-1" });
        let entry = json!({ "url": server.url(), "oauth": { "clientId": "client-1", "xaa": xaa } });
        let entry = mcp_client::Server::parse("files", &entry, &|_| None).unwrap();
        login::of(&entry, &store, Some(asked.clone()))
    });
    for (login, server) in logins.iter().zip(&servers) {
        assert!(login.authorization().await.is_none());
        login.challenged(refusal(server, 401, None)).await.unwrap();
        assert_eq!(login.authorization().await.unwrap().to_str().unwrap(), "Bearer access-1");
    }
    assert_eq!(user.logins.load(Ordering::Relaxed), 1);
    assert_eq!(provider.scopes(), ["openid"]);

    // The provider wants to see the user again.
    provider.tell(|told| told.revoked = true);
    logins[0].challenged(refusal(&servers[0], 401, None)).await.unwrap();
    assert_eq!(logins[0].authorization().await.unwrap().to_str().unwrap(), "Bearer access-2");
    assert_eq!(user.logins.load(Ordering::Relaxed), 2);
}

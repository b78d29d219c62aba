//! `login` and `logout`, and the logins of every other command.
//!
//! Invariant: only `login` asks the user; another command that needs one says so and ends with exit code 4.

use std::io::{IsTerminal, stdin};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use kit::BoxFuture;
use mcp_client::login::{self, Login, OAuth, Settings, Store, Visit};
use mcp_client::start::{Failure, say};
use mcp_client::{Client, Server};
use serde_json::Value;

use super::session::Session;
use super::{config, variable};

/// Longer than the user has to log in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The login of a server. Without `visit` nobody is asked.
pub fn of(server: &Server, visit: Option<Arc<dyn Visit>>) -> Arc<dyn Login> {
    login::of(server, &store(), visit)
}

fn store() -> Arc<Store> {
    Arc::new(Store::usual(&variable))
}

impl Session {
    /// Logs in to a server.
    pub async fn log_in(&mut self, name: &str, browser: bool) -> Result<u8, Failure> {
        let server = self.choose(name)?;
        if server.url.is_empty() {
            return Err(config(format!("{name} is a program of this machine; it needs no login")));
        }
        store().remove(&server.url).map_err(|error| config(format!("{error:#}")))?;
        let mut options = self.options(&server);
        options.login = of(&server, Some(Arc::new(User { browser })));
        options.patience.connect = PATIENCE;
        let client = Client::connect(&server, options).await?;
        client.close().await;
        say(format!("{name} is ready"));
        Ok(0)
    }

    /// Forgets the login of a server.
    pub fn log_out(&mut self, name: &str) -> Result<u8, Failure> {
        let server = self.choose(name)?;
        let was = store().remove(&server.url).map_err(|error| config(format!("{error:#}")))?;
        say(if was {
            format!(
                "the login of {name} is forgotten here; the server itself may know the token until it expires"
            )
        } else {
            format!("there was no login of {name}")
        });
        Ok(0)
    }
}

/// Who sits before the terminal.
struct User {
    browser: bool,
}

impl Visit for User {
    fn visit(&self, url: String) -> BoxFuture<'_, Result<String>> {
        Box::pin(async move {
            eprintln!("Log in here:\n\n{url}\n");
            if self.browser && open(&url) {
                return std::future::pending().await;
            }
            if !stdin().is_terminal() {
                return std::future::pending().await;
            }
            eprintln!("When the browser shows a page that it cannot load, paste its address here:");
            let line = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                stdin().read_line(&mut line).map(|_| line)
            });
            Ok(line.await?.context("reading the address")?.trim().to_owned())
        })
    }
}

/// Opens the browser. False when there is no program for it.
fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    let command = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

/// A user for the conformance suite, whose servers log everybody in at once.
struct Nobody;

impl Visit for Nobody {
    fn visit(&self, url: String) -> BoxFuture<'_, Result<String>> {
        Box::pin(async move {
            let http =
                reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
            let answer = http.get(url).send().await?;
            let location = answer.headers().get("location").context("nobody is sent back")?;
            Ok(location.to_str()?.to_owned())
        })
    }
}

/// The login of a server of the conformance suite, kept in a folder that nobody looks at again.
pub fn of_the_suite(url: &str, context: &Value) -> Arc<dyn Login> {
    let text = |key: &str| Some(context[key].as_str()?.to_owned());
    let settings = Settings {
        client_id: text("client_id"),
        client_secret: text("client_secret"),
        metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
        ..Settings::default()
    };
    let folder = std::env::temp_dir().join(format!("mcp_client-{}", kit::fresh_suffix()));
    let store = Arc::new(Store::new(&folder, None));
    Arc::new(OAuth::new("suite", url, settings, store, Some(Arc::new(Nobody))))
}

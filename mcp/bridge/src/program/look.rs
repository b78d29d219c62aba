//! Asks a running owner, and shows what it says.

use std::path::PathBuf;
use std::time::Duration;

use mcp_relay::front::{Failure, say, table};
use serde_json::Value;

use super::failed;

/// A running owner, as its user sees it.
pub struct Look {
    http: reqwest::Client,
    url: String,
    token: PathBuf,
}

impl Look {
    /// The one at this port.
    pub fn new(port: u16, token: PathBuf) -> Self {
        Self {
            http: mcp_bridge::shim::http(),
            url: format!("http://127.0.0.1:{port}/api"),
            token,
        }
    }

    async fn ask(&self, path: &str, body: Option<Value>) -> Result<Value, Failure> {
        let token = std::fs::read_to_string(&self.token).map_err(|error| {
            failed(format!("{}: {error}; does the owner run?", self.token.display()))
        })?;
        let url = format!("{}{path}", self.url);
        let request = match body {
            Some(body) => self.http.post(url).body(body.to_string()),
            None => self.http.get(url),
        };
        let sent = request.bearer_auth(token.trim()).send().await;
        let response = sent
            .map_err(|_| failed(format!("nobody is at {}; start `mcp_bridge serve`", self.url)))?;
        let text = response.text().await.unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        match value["error"]["message"].as_str() {
            Some(why) => Err(failed(why)),
            None => Ok(value),
        }
    }

    /// Sends a message to an agent; its reply.
    pub async fn send(&self, agent: &str, message: Value) -> Result<Value, Failure> {
        self.ask(&format!("/agents/{agent}/messages"), Some(message)).await
    }

    /// How all agents are.
    pub async fn status(&self) -> Result<Vec<Value>, Failure> {
        Ok(self.ask("/agents", None).await?.as_array().cloned().unwrap_or_default())
    }

    /// Prints the agents and the last calls, again and again.
    pub async fn top(&self, once: bool) -> Result<(), Failure> {
        loop {
            if !once {
                print!("\x1b[2J\x1b[H");
            }
            self.agents().await?;
            say("");
            self.audit(None, 10).await?;
            if once {
                return Ok(());
            }
            say("\n(Ctrl-C leaves)");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Prints how all agents are.
    pub async fn agents(&self) -> Result<(), Failure> {
        let mut all = self.status().await?;
        for it in &mut all {
            let mb = it["memory_kb"].as_f64().unwrap_or_default() / 1024.0;
            it["mb"] = format!("{mb:.1}").into();
        }
        show(["agent", "state", "queue", "mb", "answered", "relayed", "trouble"], &all);
        Ok(())
    }

    /// Prints calls.
    pub async fn audit(&self, agent: Option<&str>, limit: u32) -> Result<(), Failure> {
        let agent = agent.map_or_else(String::new, |agent| format!("&agent={agent}"));
        let calls = self.ask(&format!("/audit?limit={limit}{agent}"), None).await?;
        let mut calls = calls.as_array().cloned().unwrap_or_default();
        for it in &mut calls {
            // To the second.
            it["at"] = it["at"].as_str().map(|at| kit::first_chars(at, 19)).into();
        }
        show(["at", "agent", "tool", "arguments", "ms", "outcome"], &calls);
        Ok(())
    }
}

/// As it is read: a string without quotes, and nothing where there is nothing.
pub fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// Prints these fields under their names.
fn show<const N: usize>(fields: [&str; N], all: &[Value]) {
    let rows = all.iter().map(|it| fields.map(|field| word(&it[field])));
    table(&std::iter::once(fields.map(str::to_uppercase)).chain(rows).collect::<Vec<_>>());
}

//! Asks a running owner, and shows what it says.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_relay::front::Failure;
use serde_json::{Value, json};

use super::failed;

/// A running owner, as its user sees it.
pub struct Look {
    http: reqwest::Client,
    url: String,
    token: PathBuf,
}

impl Look {
    /// The one at this port.
    pub fn new(port: u16, token: &Path) -> Self {
        Self {
            http: mcp_bridge::shim::http(),
            url: format!("http://127.0.0.1:{port}/api"),
            token: token.to_owned(),
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

    /// Sends a message, and prints the reply.
    pub async fn send(&self, agent: &str, prompt: &str, lean: bool) -> Result<u8, Failure> {
        let profile = if lean { "lean" } else { "full" };
        let body = json!({ "source": "user", "prompt": prompt, "profile": profile });
        let reply = self.ask(&format!("/agents/{agent}/messages"), Some(body)).await?;
        println!("{}", reply["reply"].as_str().unwrap_or_default());
        if let Some(note) = reply["note"].as_str() {
            eprintln!("(answered by the owner: {note})");
        }
        Ok(0)
    }

    /// Prints the agents and the last calls, again and again.
    pub async fn top(&self, once: bool) -> Result<u8, Failure> {
        loop {
            let (agents, calls) =
                (self.ask("/agents", None).await?, self.ask("/audit?limit=10", None).await?);
            let text = format!("{}\n{}", table(&agents), lines(&calls));
            if once {
                print!("{text}");
                return Ok(0);
            }
            print!("\x1b[2J\x1b[H{text}\n(Ctrl-C leaves)\n");
            let _ = std::io::stdout().flush();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Prints calls.
    pub async fn audit(&self, agent: Option<&str>, limit: u32) -> Result<u8, Failure> {
        let agent = agent.map_or_else(String::new, |agent| format!("&agent={agent}"));
        print!("{}", lines(&self.ask(&format!("/audit?limit={limit}{agent}"), None).await?));
        Ok(0)
    }
}

/// The agents, a line each.
pub fn table(agents: &Value) -> String {
    let mut text = format!(
        "{:<12} {:<9} {:>5} {:>8} {:>9} {:>8}  TROUBLE\n",
        "AGENT", "STATE", "QUEUE", "MB", "ANSWERED", "RELAYED"
    );
    for it in agents.as_array().into_iter().flatten() {
        let word = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| it[key].as_u64().unwrap_or_default();
        text += &format!(
            "{:<12} {:<9} {:>5} {:>8.1} {:>9} {:>8}  {}\n",
            word("agent"),
            word("state"),
            number("queue"),
            number("memory_kb") as f64 / 1024.0,
            number("answered"),
            number("relayed"),
            kit::cut(&word("trouble"), 60)
        );
    }
    text
}

/// Calls, a line each.
fn lines(calls: &Value) -> String {
    let calls = calls.as_array().into_iter().flatten().map(|it| {
        let word = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        format!(
            "{:.19}  {:<10} {:<24} {}  {} ms  {}\n",
            word("at"),
            word("agent"),
            word("tool"),
            word("arguments"),
            it["ms"],
            word("outcome")
        )
    });
    calls.collect()
}

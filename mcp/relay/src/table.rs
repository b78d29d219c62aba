//! What `mcp_relay status` prints.
//!
//! Invariant: it shows what the relay itself answers, and asks again only while it is watched.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use mcp_client::{Client, Options, Server};
use mcp_relay::front::{say, table};
use mcp_wire::body;
use serde_json::{Value, json};

/// `mcp_relay status`.
pub async fn status(relay: &str, watch: bool, token: Option<PathBuf>) -> Result<u8, String> {
    let url = match relay.parse::<u16>() {
        Ok(port) => format!("http://127.0.0.1:{port}/mcp"),
        Err(_) => relay.to_owned(),
    };
    let mut headers = std::collections::BTreeMap::new();
    if let Some(file) = token {
        let token = std::fs::read_to_string(&file);
        let token = token.map_err(|error| format!("{}: {error}", file.display()))?;
        headers.insert("Authorization".to_owned(), format!("Bearer {}", token.trim()));
    }
    let server = Server {
        headers,
        ..Server::at(&url)?
    };
    let failed = |error: mcp_client::Error| format!("no relay answers at {url}: {error}");
    let client = Client::connect(&server, Options::default()).await.map_err(failed)?;
    loop {
        let answer = client.call("relay_get_status", json!({}), |_| {}).await.map_err(failed)?;
        let content = body::get(&answer, &["content"]).map_or("[]", |it| it.get());
        let content: Value = serde_json::from_str(content).unwrap_or_default();
        let status = content[0]["text"].as_str().and_then(|it| serde_json::from_str(it).ok());
        let status: Value = status.ok_or_else(|| format!("{url} is no relay"))?;
        let mut rows = vec![["SERVER", "URL", "HEALTH", "TOOLS", ""].map(str::to_owned).to_vec()];
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for server in status["servers"].as_array().into_iter().flatten() {
            let error = server["error"].as_str().unwrap_or_default();
            let cells = ["name", "url", "health", "tools"].map(|key| text(&server[key]));
            rows.push(cells.into_iter().chain([error.to_owned()]).collect());
        }
        let live = watch && std::io::stdout().is_terminal();
        if live {
            // The screen, from its upper left corner.
            print!("\x1b[H\x1b[2J");
        }
        table(&rows);
        say(format!("{} of {} connected", status["connected_servers"], status["total_servers"]));
        if !watch {
            client.close().await;
            let all = status["connected_servers"] == status["total_servers"];
            return Ok(u8::from(!all));
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

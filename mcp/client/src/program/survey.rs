//! All servers at a glance: which there are, what becomes of connecting to them, what they offer.
//!
//! Invariant: a server that fails is a line among the others; the exit code has the worst.

use std::time::{Duration, Instant};

use mcp_client::start::{CONFIG, FAILED, Failure, say, table};
use mcp_client::{Client, Error, Server, fleet};
use mcp_wire::body;
use serde_json::value::RawValue;

use super::session::Session;
use super::show;

/// What a server lists.
type Listed = Result<Vec<Box<RawValue>>, Error>;

impl Session {
    /// Servers, who configured them and what they override.
    pub fn list(&self) -> u8 {
        let mut rows = vec![["SERVER", "SOURCE", "TRANSPORT", "OVERRIDES", ""].map(str::to_owned)];
        for found in &self.catalog.found {
            let overrides: Vec<_> = found.overrides.iter().map(ToString::to_string).collect();
            let (kind, note) = match &found.server {
                Err(why) => ("?".to_owned(), why.clone()),
                Ok(server) => (server.transport.to_string(), found.standing.to_string()),
            };
            rows.push([
                found.name.clone(),
                found.source.to_string(),
                kind,
                overrides.join(", "),
                note,
            ]);
        }
        table(&rows);
        self.wrong()
    }

    /// Whether the configuration is all right.
    fn wrong(&self) -> u8 {
        let entries = self.catalog.found.iter().any(|found| found.server.is_err());
        if entries || !self.catalog.wrong.is_empty() { CONFIG } else { 0 }
    }

    /// What each server lists, and how long that took.
    async fn gather(&self, servers: &[Server], what: &'static str) -> Vec<(Listed, Duration)> {
        let mut gathered = Vec::new();
        let work = |at: usize| async move {
            let began = Instant::now();
            let listed = async {
                let client = Client::connect(&servers[at], self.options(&servers[at])).await?;
                let items = match what {
                    "tools" => client
                        .tools()
                        .await
                        .map(|tools| tools.into_iter().map(|tool| tool.raw).collect()),
                    _ if body::get(&client.hello, &["capabilities", what]).is_none() => {
                        Ok(Vec::new())
                    }
                    _ => client.list(&format!("{what}/list"), what).await,
                };
                client.close().await;
                items
            };
            (listed.await, began.elapsed())
        };
        fleet::each(servers, self.limits, work, |at, (listed, time): (Listed, _)| {
            match &listed {
                Ok(items) => eprintln!(
                    "{}: connected, {}",
                    servers[at].name,
                    kit::counted(items.len(), &what[..what.len() - 1])
                ),
                Err(error) => eprintln!("{}: {error}", servers[at].name),
            }
            gathered.push((at, listed, time));
        })
        .await;
        gathered.sort_by_key(|(at, ..)| *at);
        gathered.into_iter().map(|(_, listed, time)| (listed, time)).collect()
    }

    /// Connects to everything.
    pub async fn check(&self) -> u8 {
        let (servers, others) = self.catalog.usable();
        let dash = || "-".to_owned();
        let mut rows =
            vec![["SERVER", "TRANSPORT", "STATE", "TOOLS", "TIME", ""].map(str::to_owned)];
        let mut code = self.wrong();
        let gathered = self.gather(&servers, "tools").await;
        for (server, (listed, time)) in servers.iter().zip(gathered) {
            let (state, count, why) = match &listed {
                Ok(tools) => ("connected", tools.len().to_string(), String::new()),
                Err(error @ Error::NeedsLogin(_)) => ("needs-auth", dash(), error.to_string()),
                Err(error) => ("failed", dash(), error.to_string()),
            };
            if listed.is_err() && code == 0 {
                code = FAILED;
            }
            let time = format!("{} ms", time.as_millis());
            rows.push([
                server.name.clone(),
                server.transport.to_string(),
                state.into(),
                count,
                time,
                why,
            ]);
        }
        let others = others
            .into_iter()
            .map(|(name, why)| [name, dash(), "unused".into(), dash(), dash(), why]);
        rows.extend(others);
        table(&rows);
        code
    }

    /// Tools, resources or prompts, of one server or of all.
    pub async fn show(mut self, server: Option<String>, what: &'static str) -> Result<u8, Failure> {
        let (servers, others) = match server {
            Some(name) => (vec![self.choose(&name)?], Vec::new()),
            None => self.catalog.usable(),
        };
        others.iter().for_each(|(name, why)| eprintln!("{name}: {why}"));
        let mut code = self.wrong();
        for (server, (listed, _)) in servers.iter().zip(self.gather(&servers, what).await) {
            match listed {
                Ok(items) if items.is_empty() => {}
                Ok(items) => {
                    say(format!("{}:", show::clean(&server.name, 100)));
                    items.iter().for_each(|item| say(format!("  {}", show::item(item))));
                }
                Err(error) => code = Failure::from(error).0,
            }
        }
        Ok(code)
    }
}

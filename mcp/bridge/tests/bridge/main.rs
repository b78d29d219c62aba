//! The bridge as its users meet it: agents, their processes, the API, the shim, the database.
//!
//! Invariants: time is paused where time is meant; what is started is ended by its test.

mod agents;
mod api;
#[path = "../external/mod.rs"]
mod external;
mod kills;
mod processes;
mod program;
mod schedule;
mod settings;
mod shim;

use std::path::Path;
use std::sync::Arc;

use mcp_bridge::agent::Message;
use mcp_bridge::config::Config;
use mcp_bridge::database::Database;
use mcp_bridge::owner::Owner;
use mcp_bridge::relay;
use mock_servers::model::{MockModel, Options, Reply, Request};
use s01_loop::{Client, Settings, Unobserved};
use s11_recovery::Recovery;

const FIRST: &str = "agents:\n  - { name: one, tools: ['*'] }\n";

fn parsed(text: &str, folder: &Path) -> Result<Config, String> {
    Config::parse(text, folder, &|_| None)
}

fn owner(text: &str, folder: &Path) -> Arc<Owner> {
    let database = Database::open(&folder.join("bridge.db")).unwrap();
    Owner::new(parsed(text, folder).unwrap(), database)
}

/// A model at this address.
fn model_at(url: &str) -> Recovery {
    let settings = Settings {
        base_url: Some(url.to_owned()),
        ..Settings::default()
    };
    relay::model(Client::new(settings, Arc::new(Unobserved)).unwrap())
}

fn model(plays: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (MockModel, Recovery) {
    let mock = MockModel::start(Options::strict(), plays).unwrap();
    let recovery = model_at(mock.url());
    (mock, recovery)
}

fn message(prompt: &str) -> Message {
    Message {
        source: "test".to_owned(),
        prompt: prompt.to_owned(),
        ..Message::default()
    }
}

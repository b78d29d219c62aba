//! What a request puts at the model's disposal: the tools on offer and the system prompt.
//!
//! A model knows of nothing else. A row that needs a tool does not exist where the tool is not offered, so the words of a
//! later chapter mean in an earlier one what they always meant.
//! Invariant: whether a row fits depends on nothing but the words and this.

use super::servers::{NONE, Servers};
use super::table::Intent;
use crate::model::{Request, Tool};

/// The tools on offer and the system prompt.
#[derive(Clone, Copy)]
pub struct Offer<'a> {
    /// The tools.
    pub tools: &'a [Tool],
    /// The system prompt.
    pub system: &'a str,
    /// The teammates there are, or are to be.
    pub team: &'a [String],
    /// The MCP servers there are.
    pub servers: &'a Servers,
}

impl<'a> Offer<'a> {
    /// What this request offers.
    pub fn of(request: &'a Request, team: &'a [String]) -> Self {
        Self {
            tools: &request.tools,
            system: &request.system,
            team,
            servers: &NONE,
        }
    }

    /// The same with these servers.
    pub fn with_servers(self, servers: &'a Servers) -> Self {
        Self { servers, ..self }
    }

    /// Whether a tool of this name is on offer; `bash.run_in_background`: one that takes this argument; `server:docs`:
    /// whether there is this server.
    pub fn has(&self, tool: &str) -> bool {
        if let Some(server) = tool.strip_prefix("server:") {
            return self.servers.named(server).is_some();
        }
        let (tool, argument) = tool.split_once('.').unwrap_or((tool, ""));
        let takes = |offered: &Tool| {
            let properties = offered.input_schema.get("properties");
            argument.is_empty() || properties.is_some_and(|all| all.get(argument).is_some())
        };
        let mut named = self.tools.iter().filter(|offered| offered.name == tool);
        named.any(takes)
    }

    /// Whether a row exists here.
    pub fn knows(&self, intent: &Intent) -> bool {
        intent.needs.is_empty() || self.has(intent.needs)
    }
}

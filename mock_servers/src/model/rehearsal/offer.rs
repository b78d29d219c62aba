//! What a request puts at the model's disposal: the tools on offer and the system prompt.
//!
//! A model knows of nothing else. A row that needs a tool does not exist where the tool is not offered, so the words of a
//! later chapter mean in an earlier one what they always meant.
//! Invariant: whether a row fits depends on nothing but the words and this.

use super::table::Intent;
use crate::model::{Request, Tool};

/// The tools on offer and the system prompt.
#[derive(Clone, Copy)]
pub struct Offer<'a> {
    /// The tools.
    pub tools: &'a [Tool],
    /// The system prompt.
    pub system: &'a str,
}

impl<'a> Offer<'a> {
    /// What this request offers.
    pub fn of(request: &'a Request) -> Self {
        Self {
            tools: &request.tools,
            system: &request.system,
        }
    }

    /// Whether a tool of this name is on offer.
    pub fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered.name == tool)
    }

    /// Whether a row exists here.
    pub fn knows(&self, intent: &Intent) -> bool {
        intent.needs.is_empty() || self.has(intent.needs)
    }
}

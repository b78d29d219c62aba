//! What the model says it can do: the names of the rows that work with the tools it was given.
//!
//! Invariant: nothing is promised that takes a tool which is not on offer.

use std::fmt::Write;

use super::intents::{SECTIONS, row};
use super::table::Intent;
use crate::model::Tool;

/// Says what can be rehearsed with these tools.
pub fn abilities(lead: &str, tools: &[Tool]) -> String {
    let on_offer = |name: &str| tools.iter().any(|tool| tool.name == name);
    let can = |intent: &&Intent| {
        let offered = |intent: &Intent| intent.by.iter().any(|way| on_offer(way.tool));
        let needed = intent.needs.is_empty() || on_offer(intent.needs);
        let parts = || intent.parts.iter().any(|part| offered(row(part.row)));
        !intent.says.is_empty() && needed && (offered(intent) || parts())
    };
    let mut text = String::new();
    for section in SECTIONS {
        let names: Vec<&str> = section
            .rows
            .iter()
            .filter(can)
            .map(|intent| intent.name)
            .collect();
        if !names.is_empty() {
            let _ = write!(text, "\n- {}: {}", section.about, names.join(", "));
        }
    }
    match text.is_empty() {
        true => format!("{lead} I was given no tool that I know how to use, so I can only talk."),
        false => format!("{lead} With the tools I was given I can rehearse this:{text}"),
    }
}

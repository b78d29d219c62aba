//! The rules of the fields beside tools, system and messages.
//!
//! Most of them change nothing in a rehearsal, but a wrong one would cost the whole request with the real API.
//! Invariant: a field that the API does not know, or knows only by a beta that was not asked for, is refused by its name.

use serde_json::Value;

use super::betas::Need;
use super::message::breakpoint;
use super::shape;
use super::tools::ToolSet;
use crate::model::cache::Life;
use crate::model::refusal::{Flaw, Refusal};

/// The small fields of a request, each absent until it was read.
#[derive(Debug, Default)]
pub struct Options {
    /// The model id.
    pub model: Option<String>,
    /// The most tokens the reply may have.
    pub max_tokens: Option<u32>,
    /// Whether the reply is streamed.
    pub stream: bool,
    /// A breakpoint on the last block, wherever that is.
    pub cache: Option<Life>,
    /// What is refused without the header of its beta.
    pub needs: Vec<Need>,
    tool_choice: ToolChoice,
    thinking: Thinking,
    temperature: Option<f64>,
    top_k: Option<u64>,
    top_p: Option<f64>,
    schema: bool,
    thread: bool,
}

#[derive(Debug, Default, PartialEq)]
enum ToolChoice {
    #[default]
    Free,
    Any,
    Named(String),
}

#[derive(Debug, Default, PartialEq)]
enum Thinking {
    #[default]
    Off,
    Adaptive,
    Budget(u64),
}

/// Reads one field.
pub fn option(name: &str, value: &Value, options: &mut Options) -> Result<(), Flaw> {
    let needs = shape::field(name, value)?;
    let needs = needs.into_iter().map(|need| need.under(name));
    options.needs.extend(needs);
    match name {
        "cache_control" => options.cache = breakpoint(value),
        "max_tokens" => {
            let most = value.as_u64().map(u32::try_from);
            options.max_tokens = most.map(|most| most.unwrap_or(u32::MAX));
        }
        "model" => options.model = value.as_str().map(str::to_owned),
        "stream" => options.stream = *value == true,
        "temperature" => options.temperature = value.as_f64(),
        "top_k" => options.top_k = value.as_u64(),
        "top_p" => options.top_p = value.as_f64(),
        "thinking" => {
            options.thinking = match (value["type"].as_str(), value["budget_tokens"].as_u64()) {
                (_, Some(budget)) => Thinking::Budget(budget),
                (Some("adaptive"), _) => Thinking::Adaptive,
                _ => Thinking::Off,
            }
        }
        "tool_choice" => {
            options.tool_choice = match (value["type"].as_str(), value["name"].as_str()) {
                (Some("any"), _) => ToolChoice::Any,
                (_, Some(name)) => ToolChoice::Named(name.to_owned()),
                _ => ToolChoice::Free,
            }
        }
        "output_config" => options.schema |= value["format"].is_object(),
        "output_format" => options.schema |= value.is_object(),
        "thread" => options.thread = value.is_object(),
        _ => {}
    }
    Ok(())
}

impl Options {
    /// Refuses a thread with the code at which clients go on without one.
    pub fn threads(&self) -> Result<(), Refusal> {
        if !self.thread {
            return Ok(());
        }
        let rule = "thread: message threads are not kept here. Send the full conversation without `thread`.";
        Err(Refusal {
            code: Some("thread_unsupported_request"),
            ..Refusal::invalid(rule)
        })
    }

    /// Checks that the tool which must be called is on offer.
    pub fn chosen_among(&self, tools: &ToolSet) -> Result<(), Flaw> {
        match &self.tool_choice {
            ToolChoice::Named(name) if tools.tools.iter().all(|tool| tool.name != *name) => {
                let rule = format!("Tool '{name}' not found in provided tools");
                Err(Flaw::at("tool_choice", rule))
            }
            ToolChoice::Any if tools.pieces.is_empty() => {
                let rule = "may only be specified while providing tools";
                Err(Flaw::at("tool_choice.any", rule))
            }
            ToolChoice::Named(_) | ToolChoice::Any | ToolChoice::Free => Ok(()),
        }
    }

    /// Checks what spans fields. `interleaved` is whether thinking may go on between the calls of tools.
    pub fn together(&self, interleaved: bool) -> Result<(), Refusal> {
        let thinks = self.thinking != Thinking::Off;
        let forced = self.tool_choice != ToolChoice::Free;
        let budget = match self.thinking {
            Thinking::Budget(budget) => Some(budget),
            Thinking::Off | Thinking::Adaptive => None,
        };
        let most = self.max_tokens.map(u64::from);
        let none = most == Some(0);
        let rules = [
            (
                // Between the calls of tools a budget is that of the whole turn, of which this reply is a part.
                !interleaved
                    && most.is_some_and(|most| budget.is_some_and(|budget| budget >= most)),
                "`max_tokens` must be greater than `thinking.budget_tokens`",
            ),
            (
                thinks && self.temperature.is_some_and(|temperature| temperature < 1.0),
                "`temperature` may only be set to 1 when thinking is enabled",
            ),
            (thinks && self.top_k.is_some(), "`top_k` must be unset when thinking is enabled"),
            (
                thinks && self.top_p.is_some_and(|top_p| top_p < 0.95),
                "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled",
            ),
            (thinks && forced, "Thinking may not be enabled when tool_choice forces tool use"),
            (none && self.stream, "max_tokens: 0 is not allowed together with `stream`"),
            (
                none && budget.is_some(),
                "max_tokens: 0 is not allowed together with `thinking.budget_tokens`",
            ),
            (
                none && forced,
                "max_tokens: 0 is not allowed together with a `tool_choice` that forces tool use",
            ),
            (
                none && self.schema,
                "max_tokens: 0 is not allowed together with a format of the output",
            ),
        ];
        let broken = rules.iter().find(|(broken, _)| *broken);
        broken.map_or(Ok(()), |(_, rule)| Err(Refusal::invalid(*rule)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of the README's table with this head.
    fn row(head: &str) -> &'static str {
        let readme = include_str!("../../../README.md");
        let mut rows = readme.lines().filter_map(|line| line.strip_prefix(head));
        rows.next().expect("the README has this row")
    }

    #[test]
    fn the_readme_names_every_field_and_no_other() {
        let (any, _) = row("| fields | any but ").split_once(';').expect("names end");
        let mut named = any.split(", ").collect::<Vec<_>>();
        let open = shape::request_fields().filter(|(_, has_beta)| !has_beta);
        let parts = ["messages", "system", "tools"].into_iter();
        let fields = open.map(|(name, _)| name).chain(parts);
        let mut fields = fields.map(|name| format!("`{name}`")).collect::<Vec<_>>();
        fields.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, fields);
        let (_, betas) = row("| betas | ").split_once(": ").expect("names begin");
        let (betas, _) = betas.split_once(';').expect("names end");
        let brought = shape::request_fields().filter(|(_, has_beta)| *has_beta);
        let brought = brought.map(|(name, _)| format!("`{name}`"));
        assert_eq!(betas.split(", ").collect::<Vec<_>>(), brought.collect::<Vec<_>>());
    }
}

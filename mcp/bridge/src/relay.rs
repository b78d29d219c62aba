//! Relay mode: the course's loop, in the owner, for an agent whose process is away.
//!
//! It imports the lessons by name: the client and history of s01, the toolbox of s02, the retries of s11. Invariants: it has
//! the agent's tools and no others; a history is left in which the next request can stand.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use kit::BoxFuture;
use mcp_relay::service::raw;
use mcp_wire::body;
use s01_loop::{Client, History, Output, ToolSpec};
use s02_tools::{Tool, Toolbox};
use s11_recovery::{Clock, Recovery};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::agent::Agent;
use crate::owner::Owner;

/// The most rounds of a prompt.
const MAX_ROUNDS: usize = 30;

/// In front of a tool's name, so that a model finds it under the same one as in its process.
const PREFIX: &str = "mcp__bridge__";

/// The time as it is; remarks go to the log.
#[derive(Clone, Copy)]
pub struct RealTime;

impl Clock for RealTime {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn chance(&self) -> f64 {
        f64::from(RandomState::new().hash_one(()) as u32) / f64::from(u32::MAX)
    }

    fn remark(&self, text: &str) {
        tracing::info!("the model: {text}");
    }
}

/// A model that retries, in real time.
pub fn model(client: Client) -> Recovery {
    Recovery::with_clock(client, RealTime)
}

/// Answers a prompt, or says why there is no answer.
pub(crate) async fn answer(
    owner: &Arc<Owner>,
    model: &Recovery,
    agent: &Arc<Agent>,
    prompt: &str,
    history: &mut History,
) -> Result<String, String> {
    let (name, role) = (&agent.config.name, agent.config.role.as_str());
    let role = if role.is_empty() { "an agent" } else { role };
    let system = format!("You are {name}, {role}. Use your tools. Act, don't explain.");
    history.user(prompt);
    for _ in 0..MAX_ROUNDS {
        let tools = toolbox(owner, agent);
        let sent = model.send(system.as_str(), history, &tools.specs()).await;
        let reply = sent.map_err(|error| error.to_string())?;
        history.reply(&reply);
        if !reply.wants_tools() {
            return Ok(reply.message().text());
        }
        for batch in tools.batches(reply.tool_calls()) {
            let mut running = tools.run(batch);
            while let Some((call, output)) = running.next().await {
                history.answer(&call, output);
            }
        }
    }
    Err(format!("no end after {MAX_ROUNDS} rounds"))
}

fn toolbox(owner: &Arc<Owner>, agent: &Arc<Agent>) -> Toolbox {
    let tools = owner.tools(&agent.config, agent.profile()).into_iter().filter_map(|tool| {
        let schema = body::get(&tool.raw, &["inputSchema"]).map_or("{}", RawValue::get);
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        if ["oneOf", "anyOf", "allOf"].iter().any(|key| schema.get(key).is_some()) {
            tracing::debug!(tool = tool.name, "left out: the model's API takes no such schema");
            return None;
        }
        let description = body::text(&tool.raw, &["description"]).unwrap_or_default();
        let name = format!("{PREFIX}{}", tool.name);
        let spec = ToolSpec::with_schema(&name, &kit::cut(&description, 2000), schema);
        let (owner, agent) = (owner.clone(), agent.clone());
        Some(Tool::new(spec, move |call| {
            let (owner, agent, tool) = (owner.clone(), agent.clone(), tool.clone());
            async move {
                let done = owner.call(&agent, &tool.name, raw(&call.input), &|_| ()).await;
                done.map_or_else(|failure| Output::error(failure.message), |it| output(&it))
            }
        }))
    });
    Toolbox::new().with_all(tools)
}

/// A result of MCP as a text.
fn output(result: &RawValue) -> Output {
    let value: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let blocks = value["content"].as_array().cloned().unwrap_or_default();
    let texts: Vec<_> = blocks
        .iter()
        .map(|block| match block["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("[{}]", block["type"].as_str().unwrap_or("content")),
        })
        .collect();
    let text = texts.join("\n");
    if value["isError"] == true { Output::error(text) } else { Output::ok(text) }
}

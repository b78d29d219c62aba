//! The seam to the rehearsal, which is a crate of its own (`support/rehearsal`) and knows nothing of this server.
//!
//! It borrows the request as it is: a conversation is not copied for a reply. Invariant: what the brain says is sent as it
//! is; what it may call stands in the request.

use serde_json::Value;

use super::{Block, Brain, Reply, Request, Role, StopReason, says};

/// The brain a newcomer meets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rehearsal;

impl Brain for Rehearsal {
    fn answer(&self, request: &Request) -> Reply {
        let answer = rehearsal::answer(&asked(request));
        let reply = if answer.text.is_empty() { Reply::default() } else { says(answer.text) };
        let mut reply = answer
            .calls
            .into_iter()
            .fold(reply, |reply, (name, input)| reply.and_calls(name, input));
        if answer.stopped_at.is_some() {
            reply = reply.stops_with(StopReason::StopSequence);
            reply.stop_sequence = answer.stopped_at;
        }
        reply
    }
}

/// The request in the rehearsal's words.
fn asked(request: &Request) -> rehearsal::Request<'_> {
    let tools = request.tools.iter().map(|tool| rehearsal::Tool {
        name: &tool.name,
        description: &tool.description,
        schema: &tool.input_schema,
    });
    let messages = request.messages.iter().map(|message| rehearsal::Message {
        from_user: message.role == Role::User,
        blocks: message.blocks.iter().filter_map(block).collect(),
    });
    let mut asked = rehearsal::Request {
        system: &request.system,
        tools: tools.collect(),
        messages: messages.collect(),
        ..rehearsal::Request::default()
    };
    if let Some(options) = options(&request.body) {
        asked.choice = choice(&options["tool_choice"]);
        let format = &options["output_config"]["format"];
        let format = if format.is_object() { format } else { &options["output_format"] };
        asked.format = format.get("schema").cloned();
        let stops = options["stop_sequences"].as_array().into_iter().flatten();
        asked.stops = stops.filter_map(|stop| stop.as_str().map(str::to_owned)).collect();
    }
    asked
}

fn block(block: &Block) -> Option<rehearsal::Block<'_>> {
    Some(match block {
        Block::Text(text) => rehearsal::Block::Text(text),
        Block::ToolUse { id, name, input } => rehearsal::Block::Call { id, name, input },
        Block::ToolResult {
            tool_use_id,
            content,
            is_error,
        } => rehearsal::Block::Result {
            id: tool_use_id,
            text: content,
            failed: *is_error,
        },
        Block::Other(_) => return None,
    })
}

/// The body, when it holds an option that changes what the reply may be. Most bodies do not, and parsing one costs more
/// than all the rest.
fn options(body: &[u8]) -> Option<Value> {
    let body = std::str::from_utf8(body).ok()?;
    let names = ["\"tool_choice\"", "\"output_config\"", "\"output_format\"", "\"stop_sequences\""];
    let is_set = names.iter().any(|name| body.contains(name));
    is_set.then(|| serde_json::from_str(body).ok()).flatten()
}

fn choice(value: &Value) -> rehearsal::Choice {
    match (value["type"].as_str(), value["name"].as_str()) {
        (Some("any"), _) => rehearsal::Choice::Any,
        (Some("none"), _) => rehearsal::Choice::None,
        (Some("tool"), Some(name)) => rehearsal::Choice::Tool(name.to_owned()),
        _ => rehearsal::Choice::Auto,
    }
}

//! The bytes of an answer: one JSON body, or the events of a stream.
//!
//! Clients rely on details of the stream, so it has the real ones: a ping, an empty first `input_json_delta`, no further
//! delta for a call without arguments, usage in the first and in the last but one event.
//! Invariant: the events, put together, say what the plain body says.

use bytes::Bytes;
use serde_json::{Value, json};

use super::answer::{Answer, AnswerBlock};
use super::cache::Usage;
use super::tokens::{BYTES_PER_TOKEN, first_tokens, tokens};
use super::types::StopReason;

/// What the envelope of an answer says beside the answer.
pub struct Envelope<'a> {
    /// The message id.
    pub id: &'a str,
    /// The model id, as the client sent it.
    pub model: &'a str,
    /// What the prompt cost.
    pub usage: Usage,
}

/// One event of a stream.
#[derive(Debug)]
pub struct Event {
    /// Its bytes, the empty line included.
    pub bytes: Bytes,
    /// The tokens of the reply that it carries.
    pub tokens: u32,
}

/// The plain form.
pub fn plain(answer: &Answer, envelope: &Envelope<'_>) -> Bytes {
    let content = answer.blocks.iter().map(|block| match block {
        AnswerBlock::Text(text) => json!({"type": "text", "text": text}),
        AnswerBlock::Call {
            id, name, input, ..
        } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        AnswerBlock::AsItIs(block) => block.clone(),
    });
    let content = content.collect::<Vec<_>>();
    let reason = stop_reason(answer.stop_reason);
    let mut body = message(envelope, content, Some(reason), answer.tokens);
    body["stop_sequence"] = json!(answer.stop_sequence);
    body.to_string().into()
}

/// The streamed form. A delta carries at most `delta` tokens.
pub fn events(answer: &Answer, envelope: &Envelope<'_>, delta: u32) -> Vec<Event> {
    let start = message(envelope, Vec::new(), None, 1);
    let mut events =
        vec![event("message_start", json!({"message": start}), 0), event("ping", json!({}), 0)];
    for (index, block) in answer.blocks.iter().enumerate() {
        events.extend(block_events(index, block, delta));
    }
    let reason = stop_reason(answer.stop_reason);
    let end = json!({
        "delta": {"stop_reason": reason, "stop_sequence": answer.stop_sequence},
        "usage": usage(envelope.usage, answer.tokens),
    });
    events.push(event("message_delta", end, 0));
    events.push(event("message_stop", json!({}), 0));
    events
}

/// An `error` event.
pub fn error_event(body: &Value) -> Bytes {
    format!("event: error\ndata: {body}\n\n").into()
}

fn block_events(index: usize, block: &AnswerBlock, delta: u32) -> Vec<Event> {
    let (start, kind, field, text) = match block {
        AnswerBlock::Text(text) => {
            (json!({"type": "text", "text": ""}), "text_delta", "text", text.as_str())
        }
        AnswerBlock::Call { id, name, json, .. } => {
            let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            let arguments = if json == "{}" { "" } else { json };
            (start, "input_json_delta", "partial_json", arguments)
        }
        AnswerBlock::AsItIs(block) => (block.clone(), "", "", ""),
    };
    let delta_event = |part: &str| {
        let body = json!({"index": index, "delta": {"type": kind, field: part}});
        event("content_block_delta", body, tokens(part))
    };
    let body = json!({"index": index, "content_block": start});
    let mut events = vec![event("content_block_start", body, 0)];
    if kind == "input_json_delta" {
        events.push(delta_event(""));
    }
    events.extend(parts(text, delta).into_iter().map(delta_event));
    events.push(event("content_block_stop", json!({"index": index}), 0));
    events
}

fn parts(mut text: &str, delta: u32) -> Vec<&str> {
    // No character is longer than a token, so no part is empty.
    let delta = delta.max(1);
    let mut parts = Vec::with_capacity(text.len() / BYTES_PER_TOKEN / delta as usize + 1);
    while !text.is_empty() {
        let (part, rest) = text.split_at(first_tokens(text, delta).len());
        parts.push(part);
        text = rest;
    }
    parts
}

fn message(
    envelope: &Envelope<'_>,
    content: Vec<Value>,
    reason: Option<&str>,
    output: u32,
) -> Value {
    json!({
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": null,
        "usage": usage(envelope.usage, output),
    })
}

fn usage(usage: Usage, output: u32) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.written(),
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written_5m,
            "ephemeral_1h_input_tokens": usage.written_1h,
        },
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn event(name: &str, mut data: Value, tokens: u32) -> Event {
    data["type"] = name.into();
    Event {
        bytes: format!("event: {name}\ndata: {data}\n\n").into(),
        tokens,
    }
}

fn stop_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal => "refusal",
    }
}

//! The new part of each request and its answer, as lines for a terminal.
//!
//! Most of a request was in the one before. What is new by agent is what the loop did since.
//! Invariant: no character of a request or an answer reaches the terminal as a command.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::model::Log;

/// The most lines that are shown of one block.
const MOST_LINES: usize = 8;
/// The most characters that are shown of one line.
const MOST_CHARS: usize = 160;
/// How much of a system prompt tells one agent from another that has no name.
const HEAD: usize = 40;

/// Prints what is new.
pub struct Show {
    print: Log,
    /// The lines of each agent's last request.
    agents: Mutex<HashMap<String, Vec<String>>>,
}

impl Show {
    /// Shows by `print`, which gets a text of several lines for each exchange.
    pub fn new(print: Log) -> Self {
        let agents = Mutex::default();
        Self { print, agents }
    }

    /// Shows one exchange that has ended.
    pub fn exchange(&self, number: u64, request: &[u8], answer: &str, is_cut: bool) {
        let request: Value = serde_json::from_slice(request).unwrap_or_default();
        let system = text(&request["system"]);
        let named = system.split_once(" named '");
        let named = named.and_then(|(_, rest)| rest.split_once('\''));
        let head: String = system.chars().take(HEAD).collect();
        let name = named.map_or(head, |(name, _)| name.to_owned());

        let now = lines(&request, &system);
        let mut agents = self.agents.lock().expect("no thread panics while it shows");
        let known = agents.insert(name.clone(), now.clone());
        let mut known = known.unwrap_or_default();
        let is_new = |line: &&String| match known.iter().position(|of| of == *line) {
            Some(at) => {
                known.swap_remove(at);
                false
            }
            None => true,
        };
        let new: Vec<_> = now.iter().filter(is_new).cloned().collect();
        let mut out = vec![format!("── {number} · {}", cut(&name))];
        out.extend(new);
        out.extend(answered(answer));
        if is_cut {
            out.push("✗ the answer was cut".to_owned());
        }
        (self.print)(&out.join("\n   "));
    }
}

/// A request as lines: system prompt, tools, messages.
fn lines(request: &Value, system: &str) -> Vec<String> {
    let items = |name: &str| request[name].as_array().into_iter().flatten();
    let mut lines: Vec<_> = system.lines().map(|line| cut(&format!("system: {line}"))).collect();
    lines.extend(items("tools").map(|tool| cut(&format!("tool: {}", text(&tool["name"])))));
    for message in items("messages") {
        let role = text(&message["role"]);
        match &message["content"] {
            Value::Array(blocks) => lines.extend(blocks.iter().flat_map(|of| block(&role, of))),
            words => lines.extend(labelled(&role, &text(words))),
        }
    }
    lines
}

fn block(role: &str, block: &Value) -> Vec<String> {
    match block["type"].as_str() {
        Some("tool_use") => {
            let label = format!("{role} calls {}", text(&block["name"]));
            // As it was streamed, it is a text.
            let input = &block["input"];
            labelled(&label, &input.as_str().map_or_else(|| input.to_string(), str::to_owned))
        }
        Some("tool_result") if block["is_error"] == true => {
            labelled("result (error)", &text(&block["content"]))
        }
        Some("tool_result") => labelled("result", &text(&block["content"])),
        _ => labelled(role, &text(block)),
    }
}

/// What an answer says, streamed or plain.
fn answered(answer: &str) -> Vec<String> {
    let plain = serde_json::from_str::<Value>(answer).into_iter();
    let data = answer.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = plain.chain(data.filter_map(|data| serde_json::from_str(data).ok()));
    let (mut blocks, mut usage, mut stop) = (Vec::new(), Value::Null, String::new());
    for event in events {
        let parts = [&event, &event["message"], &event["delta"]];
        for part in parts {
            let content = part["content"].as_array().into_iter().flatten();
            blocks.extend(content.cloned());
            if let Some(reason) = part["stop_reason"].as_str() {
                reason.clone_into(&mut stop);
            }
            for (name, tokens) in part["usage"].as_object().into_iter().flatten() {
                usage[name] = tokens.clone();
            }
        }
        if event["content_block"].is_object() {
            blocks.push(event["content_block"].clone());
        }
        if let Some(block) = blocks.last_mut() {
            for (from, to) in [("text", "text"), ("partial_json", "input")] {
                if let Some(more) = event["delta"][from].as_str() {
                    let before = block[to].as_str().unwrap_or_default();
                    block[to] = format!("{before}{more}").into();
                }
            }
        }
        if let Some(error) = event["error"].as_object() {
            let (kind, words) = (text(&error["type"]), text(&error["message"]));
            return vec![cut(&format!("✗ {kind}: {words}"))];
        }
    }
    let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
    let mut lines = vec![format!(
        "← {} tokens in, {} read from the cache, {} written, {} out; {stop}",
        tokens("input_tokens"),
        tokens("cache_read_input_tokens"),
        tokens("cache_creation_input_tokens"),
        tokens("output_tokens"),
    )];
    lines.extend(blocks.iter().flat_map(|of| block("assistant", of)));
    lines
}

fn labelled(label: &str, text: &str) -> Vec<String> {
    let all = text.lines().count();
    let lines = text.lines().take(MOST_LINES).enumerate();
    let mut lines: Vec<_> = lines
        .map(|(at, line)| match at {
            0 => cut(&format!("{label}: {line}")),
            _ => cut(&format!("  {line}")),
        })
        .collect();
    if all > MOST_LINES {
        lines.push(format!("  … {} more lines", all - MOST_LINES));
    }
    lines
}

/// A line without control characters, cut to a length.
fn cut(line: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut letters = line.chars();
    let mut cut: String = letters.by_ref().take(MOST_CHARS).map(clean).collect();
    if letters.next().is_some() {
        cut.push('…');
    }
    cut
}

/// The text of a string, of a block, or of blocks a line apart; of another block its type.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(block) if block.contains_key("text") => text(&block["text"]),
        Value::Object(block) => format!("[{}]", block.get("type").map_or_else(String::new, text)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_second_request_only_the_new_part_is_shown_and_a_refusal_by_its_rule() {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let copy = Arc::clone(&printed);
        let print = move |text: &str| copy.lock().unwrap().push(text.to_owned());
        let show = Show::new(Arc::new(print));
        let system = "You are a teammate named 'alice'.";
        let request = |messages: Value| {
            json!({"system": system, "tools": [{"name": "bash"}], "messages": messages}).to_string()
        };
        let prompt = json!({"role": "user", "content": [{"type": "text", "text": "count", "cache_control": {}}]});
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "ls"}}]});
        let again = json!({"role": "user", "content": "count"});
        let result = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "a\u{1b}[2Jb"}, {"type": "text", "text": "count"}]});
        let events = r#"data: {"type":"message_start","message":{"usage":{"input_tokens":9},"content":[]}}
data: {"type":"content_block_start","content_block":{"type":"text","text":""}}
data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"One file."}}
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#;
        let refusal = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: empty"}}"#;
        show.exchange(1, request(json!([prompt])).as_bytes(), refusal, false);
        let second = request(json!([again, call, result]));
        show.exchange(2, second.as_bytes(), events, true);
        let printed = printed.lock().unwrap();
        assert!(printed[0].ends_with("user: count\n   ✗ invalid_request_error: messages: empty"));
        assert_eq!(
            printed[1],
            "── 2 · alice\n   assistant calls bash: {\"command\":\"ls\"}\n   result: a\u{fffd}[2Jb\n   user: count\n   \
             ← 9 tokens in, 0 read from the cache, 0 written, 3 out; end_turn\n   assistant: One file.\n   ✗ the answer was cut"
        );
    }
}

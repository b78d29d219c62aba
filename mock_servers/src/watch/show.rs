//! The new part of each request and its answer, as lines for a terminal.
//!
//! Most of a request was in the one before. What is new by agent is what the loop did since.
//! Invariant: no character of a request or an answer reaches the terminal as a command.

use std::fmt::Write as _;
use std::sync::Mutex;

use bytes::Bytes;
use serde_json::Value;

use crate::model::Log;

/// The most lines that are shown of one block.
const MOST_LINES: usize = 8;
/// The most characters that are shown of one line.
const MOST_CHARS: usize = 160;
/// How many letters of a system prompt tell one kind of agent from another.
const HEAD: usize = 40;

/// Prints what is new.
pub struct Show {
    print: Log,
    /// What each agent has sent so far.
    agents: Mutex<Vec<Agent>>,
}

struct Agent {
    name: String,
    head: String,
    system: String,
    tools: Vec<String>,
    messages: Vec<Value>,
}

/// What an answer says, streamed or plain.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    blocks: Vec<Value>,
    usage: Value,
    stop_reason: String,
    error: Option<String>,
}

impl Show {
    /// Shows by `print`, which gets a text of several lines for each exchange.
    pub fn new(print: Log) -> Self {
        let agents = Mutex::default();
        Self { print, agents }
    }

    /// Shows one exchange that has ended.
    pub fn exchange(&self, number: u64, request: &Bytes, answer: &str, is_cut: bool) {
        let Ok(request) = serde_json::from_slice::<Value>(request) else {
            (self.print)(&format!("── {number} · a request that is no JSON"));
            return;
        };
        let mut out = self.request(number, &request);
        let answer = Answer::read(answer);
        let tokens = |name: &str| answer.usage[name].as_u64().unwrap_or(0);
        let (read, written) = (
            tokens("cache_read_input_tokens"),
            tokens("cache_creation_input_tokens"),
        );
        let (fresh, output) = (tokens("input_tokens"), tokens("output_tokens"));
        if let Some(error) = &answer.error {
            let _ = writeln!(out, "   ✗ {}", cut(error));
        } else {
            let _ = writeln!(
                out,
                "   ← {fresh} tokens in, {read} read from the cache, {written} written, {output} out; {}",
                answer.stop_reason
            );
        }
        for block in &answer.blocks {
            out.push_str(&lines("assistant", block));
        }
        if is_cut {
            out.push_str("   ✗ the answer was cut\n");
        }
        (self.print)(out.trim_end());
    }

    /// What is new against the request before of the same agent, which it takes the place of.
    fn request(&self, number: u64, request: &Value) -> String {
        let system = texts(&request["system"]);
        let array = |name: &str| request[name].as_array().cloned().unwrap_or_default();
        let tools = array("tools")
            .iter()
            .map(|tool| text_of(&tool["name"]))
            .collect::<Vec<_>>();
        let messages = array("messages")
            .into_iter()
            .map(without_cache)
            .collect::<Vec<_>>();

        let mut agents = self.agents.lock().expect("no thread panics while it shows");
        let (name, head) = name(&system, tools.is_empty(), &agents);
        let before = agents.iter().position(|agent| agent.name == name);
        let before = before.map(|at| agents.remove(at));
        let mut out = format!("── {number} · {} · {} tools", cut(&name), tools.len());
        let known = before.as_ref().map_or(&[][..], |before| &before.messages);
        let same = messages
            .iter()
            .zip(known)
            .take_while(|(a, b)| a == b)
            .count();
        let _ = writeln!(
            out,
            " · {} messages, {} new",
            messages.len(),
            messages.len() - same
        );
        let known_tools = before.as_ref().map_or(&[][..], |before| &before.tools);
        let new = tools
            .iter()
            .filter(|tool| !known_tools.contains(tool))
            .map(|tool| cut(tool));
        let new = new.collect::<Vec<_>>().join(" ");
        if !new.is_empty() {
            let _ = writeln!(out, "   tools: {new}");
        }
        let known_system = before.as_ref().map_or("", |before| &before.system);
        let fresh = system
            .lines()
            .filter(|line| !known_system.lines().any(|known| known == *line));
        let fresh = fresh.collect::<Vec<_>>().join("\n");
        if !fresh.trim().is_empty() {
            out.push_str(&labelled("system", &fresh));
        }
        for message in &messages[same..] {
            let role = text_of(&message["role"]);
            match &message["content"] {
                Value::Array(blocks) => {
                    for block in blocks {
                        out.push_str(&lines(&role, block));
                    }
                }
                text => out.push_str(&labelled(&role, &text_of(text))),
            }
        }
        agents.push(Agent {
            name,
            head,
            system,
            tools,
            messages,
        });
        out
    }
}

impl Answer {
    fn read(text: &str) -> Self {
        if let Ok(body) = serde_json::from_str::<Value>(text) {
            let error = body.get("error").map(|error| {
                format!(
                    "{}: {}",
                    text_of(&error["type"]),
                    text_of(&error["message"])
                )
            });
            return Self {
                blocks: body["content"].as_array().cloned().unwrap_or_default(),
                usage: body["usage"].clone(),
                stop_reason: text_of(&body["stop_reason"]),
                error,
            };
        }
        let mut answer = Self::default();
        let mut arguments = String::new();
        for line in text.lines() {
            let event = line.strip_prefix("data:").map(str::trim_start);
            if let Some(event) = event.and_then(|event| serde_json::from_str::<Value>(event).ok()) {
                answer.take(&event, &mut arguments);
            }
        }
        answer
    }

    /// One event of a stream.
    fn take(&mut self, event: &Value, arguments: &mut String) {
        match event["type"].as_str() {
            Some("message_start") => self.usage = event["message"]["usage"].clone(),
            Some("content_block_start") => {
                self.blocks.push(event["content_block"].clone());
                arguments.clear();
            }
            Some("content_block_delta") => {
                let delta = &event["delta"];
                arguments.push_str(delta["partial_json"].as_str().unwrap_or(""));
                if let (Some(block), Some(more)) = (self.blocks.last_mut(), delta["text"].as_str())
                {
                    block["text"] = format!("{}{more}", text_of(&block["text"])).into();
                }
            }
            Some("content_block_stop") => {
                if let (Some(block), false) = (self.blocks.last_mut(), arguments.is_empty()) {
                    let half = || Value::from(arguments.as_str());
                    block["input"] = serde_json::from_str(arguments).unwrap_or_else(|_| half());
                }
            }
            Some("message_delta") => {
                self.stop_reason = text_of(&event["delta"]["stop_reason"]);
                self.usage["output_tokens"] = event["usage"]["output_tokens"].clone();
            }
            Some("error") => {
                let error = &event["error"];
                self.error = Some(format!(
                    "{}: {}",
                    text_of(&error["type"]),
                    text_of(&error["message"])
                ));
            }
            _ => {}
        }
    }
}

/// Who sends a request with this system prompt: somebody with a name, a side call (no tools), the lead (the first with
/// tools), or a subagent. And the words by which the next one like it is known.
fn name(system: &str, has_no_tools: bool, agents: &[Agent]) -> (String, String) {
    let head = system.chars().take(HEAD).collect::<String>();
    if let Some((name, _)) = system
        .split_once(" named '")
        .and_then(|(_, rest)| rest.split_once('\''))
    {
        return (name.to_owned(), head);
    }
    if has_no_tools {
        return ("side call".to_owned(), head);
    }
    let lead = agents.iter().find(|agent| agent.name == "lead");
    let is_lead = lead.is_none_or(|lead| lead.head == head);
    let name = if is_lead { "lead" } else { "subagent" };
    (name.to_owned(), head)
}

fn lines(role: &str, block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => labelled(role, &text_of(&block["text"])),
        Some("tool_use") => labelled(
            &format!("{role} calls {}", text_of(&block["name"])),
            &block["input"].to_string(),
        ),
        Some("tool_result") => {
            let failed = if block["is_error"] == true {
                " (error)"
            } else {
                ""
            };
            labelled(&format!("result{failed}"), &texts(&block["content"]))
        }
        kind => labelled(
            role,
            &format!("[{}]", kind.unwrap_or("a block without a type")),
        ),
    }
}

fn labelled(label: &str, text: &str) -> String {
    let mut out = String::new();
    let all = text.lines().count();
    for (at, line) in text.lines().take(MOST_LINES).enumerate() {
        let label = if at == 0 {
            format!("{}: ", cut(label))
        } else {
            "  ".to_owned()
        };
        let _ = writeln!(out, "   {label}{}", cut(line));
    }
    if all > MOST_LINES {
        let _ = writeln!(out, "     … {} more lines", all - MOST_LINES);
    }
    out
}

/// A line without control characters, cut to a length.
fn cut(line: &str) -> String {
    let clean = |letter: char| {
        if letter.is_control() {
            '\u{fffd}'
        } else {
            letter
        }
    };
    let mut letters = line.chars();
    let mut cut = letters
        .by_ref()
        .take(MOST_CHARS)
        .map(clean)
        .collect::<String>();
    if letters.next().is_some() {
        cut.push('…');
    }
    cut
}

/// The texts of a string or of blocks, a line apart.
fn texts(content: &Value) -> String {
    match content {
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("[{}]", text_of(&block["type"])),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => text_of(other),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A message without its breakpoints, which move from request to request.
fn without_cache(mut message: Value) -> Value {
    if let Some(blocks) = message["content"].as_array_mut() {
        for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
            block.remove("cache_control");
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn shown(exchanges: &[(Value, &str)]) -> String {
        let printed = Arc::new(Mutex::new(String::new()));
        let copy = Arc::clone(&printed);
        let show = Show::new(Arc::new(move |text: &str| {
            let mut printed = copy.lock().expect("nobody panics");
            printed.push_str(text);
            printed.push('\n');
        }));
        for (number, (request, answer)) in (1..).zip(exchanges) {
            show.exchange(number, &request.to_string().into(), answer, false);
        }
        let printed = printed.lock().expect("nobody panics");
        printed.clone()
    }

    #[test]
    fn of_a_second_request_only_the_new_part_is_shown() {
        let tools = json!([{"name": "bash"}]);
        let prompt = json!({"role": "user", "content": [{"type": "text", "text": "count", "cache_control": {}}]});
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "ls"}}]});
        let again = json!({"role": "user", "content": [{"type": "text", "text": "count"}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "a\u{1b}[2Jb"}]});
        let events = "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n\
            data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
            data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"One file.\"}}\n\n\
            data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n";
        let text = shown(&[
            (
                json!({"system": "You are it.", "tools": tools, "messages": [prompt]}),
                "{}",
            ),
            (
                json!({"system": "You are it.", "tools": tools, "messages": [again, call, result]}),
                events,
            ),
        ]);
        let (_, second) = text.split_once("── 2").expect("two exchanges");
        assert_eq!(
            second,
            " · lead · 1 tools · 3 messages, 2 new\n   assistant calls bash: {\"command\":\"ls\"}\n   \
             result: a\u{fffd}[2Jb\n   ← 9 tokens in, 0 read from the cache, 0 written, 3 out; end_turn\n   \
             assistant: One file.\n"
        );
    }

    #[test]
    fn agents_are_known_by_their_system_prompts_and_a_refusal_by_its_rule() {
        let ask =
            |system: &str, tools: Value| json!({"system": system, "tools": tools, "messages": []});
        let bash = json!([{"name": "bash"}]);
        let refused = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: empty"}}"#;
        let text = shown(&[
            (ask("You are a coding agent.", bash.clone()), refused),
            (ask("You are a subagent.", bash.clone()), "{}"),
            (
                ask("You are a teammate named 'alice', a tester.", bash),
                "{}",
            ),
            (ask("Sum up.", json!([])), "{}"),
        ]);
        for expected in [
            "1 · lead",
            "2 · subagent",
            "3 · alice",
            "4 · side call",
            "✗ invalid_request_error: messages: empty",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
}

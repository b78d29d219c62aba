//! Tools behind two: a server that has one tool to find others, and one to call what was found.
//!
//! What was found is offered to the rest of the rehearsal like any other tool of that server, and a call of it goes out
//! through the second. Invariant: nothing is called that was not found in this conversation.

use serde_json::{Map, Value, json};

use crate::mcp::parts;
use crate::persona;
use crate::types::{Block, Reply, Request, Tool};

/// Stands in front of a call that is ready to be copied, with the name of the tool that makes it.
const READY: &str = "Ready to call with ";

/// A tool that was found.
struct Found {
    /// As if its server were connected: `mcp__proxy__search_issues`.
    name: String,
    description: String,
    schema: Value,
    /// The tool that makes the call, and what it calls this one.
    caller: String,
    own: String,
}

/// The reply to a request, with what was found among its tools.
pub fn answer(request: &Request) -> Reply {
    let found = found(request);
    if found.is_empty() {
        return persona::answer(request);
    }
    let mut seen = request.clone();
    seen.tools.extend(found.iter().map(|it| Tool {
        name: &it.name,
        description: &it.description,
        schema: &it.schema,
    }));
    for block in seen.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if let Block::Call { name, input, .. } = block {
            let is_it = |it: &&Found| it.caller == *name && input["tool_name"] == *it.own;
            if let Some(it) = found.iter().find(is_it) {
                (*name, *input) = (&it.name, &input["arguments"]);
            }
        }
    }
    let mut reply = persona::answer(&seen);
    for (name, input) in &mut reply.calls {
        if let Some(it) = found.iter().find(|it| it.name == *name) {
            name.clone_from(&it.caller);
            *input = json!({ "tool_name": it.own, "arguments": input });
        }
    }
    reply
}

/// All that was found in the conversation.
fn found(request: &Request) -> Vec<Found> {
    let blocks = || request.messages.iter().flat_map(|message| &message.blocks);
    let mut all: Vec<Found> = Vec::new();
    for block in blocks() {
        let Block::Result { id, text, .. } = block else { continue };
        if !text.contains(READY) {
            continue;
        }
        let finder = blocks().find_map(|block| match block {
            Block::Call { id: of, name, .. } if of == id => Some(*name),
            _ => None,
        });
        let finder = finder.filter(|name| request.tools.iter().any(|tool| tool.name == *name));
        let Some(prefix) = finder.and_then(|name| name.strip_suffix(parts(name).1)) else {
            continue;
        };
        for it in text.split("\n\n").filter_map(|recipe| read(recipe, prefix)) {
            // Of two servers the one that came first, of one tool what was said last.
            all.retain(|other| other.own != it.own);
            if all.iter().all(|other| other.name != it.name) {
                all.push(it);
            }
        }
    }
    all
}

/// Reads a recipe: a name, what the tool does, which tool calls it, the call, and what may stand in it.
fn read(recipe: &str, prefix: &str) -> Option<Found> {
    let (told, rest) = recipe.split_once(READY)?;
    let mut lines = rest.lines();
    let caller = lines.next()?.trim_end_matches(':');
    let call: Value = serde_json::from_str(lines.next()?).ok()?;
    let own = call["tool_name"].as_str()?;
    let notes: Vec<&str> = lines.filter_map(|line| line.strip_prefix("# ")).collect();
    let arguments = call["arguments"].as_object()?;
    let mut known: Map<String, Value> = arguments
        .iter()
        .map(|(name, value)| {
            let others = notes.iter().find_map(|note| note.strip_prefix(&format!("{name}: or ")));
            (name.clone(), schema(value, others))
        })
        .collect();
    for optional in notes.iter().filter_map(|note| note.strip_prefix("Optional: ")) {
        let named = optional.split(", ").filter_map(|it| it.trim().split_once(' '));
        known.extend(named.map(|(name, kind)| (name.to_owned(), json!({ "type": kind }))));
    }
    let required: Vec<&String> = arguments.keys().collect();
    Some(Found {
        name: format!("{prefix}{}", own.rsplit(':').next().unwrap_or(own)),
        description: told.trim().lines().skip(1).collect::<Vec<_>>().join(" "),
        schema: json!({ "type": "object", "properties": known, "required": required }),
        caller: format!("{prefix}{caller}"),
        own: own.to_owned(),
    })
}

/// The schema of an argument, as its place holder tells it, and the other values that it may have.
fn schema(value: &Value, others: Option<&str>) -> Value {
    match value {
        Value::String(first) if others.is_some() => {
            let others = format!("[{}]", others.unwrap_or_default());
            let mut all: Vec<String> = serde_json::from_str(&others).unwrap_or_default();
            all.insert(0, first.clone());
            json!({ "type": "string", "enum": all })
        }
        Value::String(_) | Value::Null => json!({ "type": "string" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Array(_) => json!({ "type": "array" }),
        Value::Object(_) => json!({ "type": "object" }),
    }
}

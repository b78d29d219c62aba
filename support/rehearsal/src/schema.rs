//! An instance of a JSON Schema, and a call where one is demanded.
//!
//! `output_config.format` wants text that obeys a schema, `tool_choice` wants a call. Invariant: what is made has each
//! required property with a value of its type.

use serde_json::{Map, Value, json};

use crate::types::{Choice, Reply, Request, Tool};
use crate::words::has;

/// The properties of a schema.
pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The properties that an instance must have.
pub fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The values of which an instance must be one.
pub fn choices(schema: &Value) -> impl Iterator<Item = &str> {
    schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The type that a schema names first.
pub fn kind(schema: &Value) -> Option<&str> {
    schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str())
}

/// A value that obeys the schema; texts in it say `text`.
pub fn instance(schema: &Value, text: &str) -> Value {
    build(schema, schema, text, 0)
}

fn build(schema: &Value, root: &Value, text: &str, depth: usize) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
        return match target {
            Some(target) if depth < 8 => build(target, root, text, depth + 1),
            _ => Value::Null,
        };
    }
    if let Some(value) =
        schema.get("const").or_else(|| schema["enum"].get(0)).or_else(|| schema.get("default"))
    {
        return value.clone();
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[several].get(0) {
            return build(first, root, text, depth + 1);
        }
    }
    match kind(schema).unwrap_or(if schema.get("properties").is_some() {
        "object"
    } else {
        "string"
    }) {
        "object" => {
            let one = |name: &str| build(&schema["properties"][name], root, text, depth + 1);
            required(schema).map(|name| (name.to_owned(), one(name))).collect()
        }
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            (0..least).map(|_| build(&schema["items"], root, text, depth + 1)).collect()
        }
        "integer" => json!(schema["minimum"].as_i64().unwrap_or(0)),
        "number" => json!(schema["minimum"].as_f64().unwrap_or(0.0)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => {
            let most = schema["maxLength"].as_u64().map_or(usize::MAX, |most| most as usize);
            json!(text.chars().take(most).collect::<String>())
        }
    }
}

/// Fills in what a schema requires beside: its first choice, else the longest text that is given. The items of a list are
/// filled in as well: a plan of another harness wants more of each.
pub fn complete(schema: &Value, input: &mut Map<String, Value>) {
    for name in required(schema) {
        if input.contains_key(name) {
            continue;
        }
        let own = &schema["properties"][name];
        let longest = input.values().filter_map(Value::as_str).max_by_key(|text| text.len());
        let value = match (own["enum"].get(0), own["type"].as_str()) {
            (Some(first), _) => first.clone(),
            (None, Some("string") | None) => json!(longest.unwrap_or(name)),
            (None, Some(_)) => instance(own, ""),
        };
        input.insert(name.to_owned(), value);
    }
    for (name, value) in input {
        let items = value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
        items.for_each(|item| complete(&schema["properties"][name.as_str()]["items"], item));
    }
}

/// Makes the reply call what `tool_choice` demands.
pub fn obey_choice(request: &Request, reply: &mut Reply) {
    let wanted = match &request.choice {
        Choice::Auto | Choice::None => return,
        Choice::Any => None,
        Choice::Tool(name) => Some(name),
    };
    reply.calls.retain(|(called, _)| wanted.is_none_or(|name| name == called));
    if !reply.calls.is_empty() {
        return;
    }
    // A tool that reads does no harm when nobody knows what is wanted.
    let is_verb = |word: &str| has("list read get check glob search", word);
    let reads = |name: &str| name.to_lowercase().split(['_', '-']).any(is_verb);
    let is_it = |tool: &&Tool| wanted.map_or_else(|| reads(tool.name), |name| name == tool.name);
    let tool =
        request.tools.iter().find(is_it).or(request.tools.first().filter(|_| wanted.is_none()));
    let mut users = request.messages.iter().rev().filter(|message| message.from_user);
    let asked = users.find_map(|user| user.texts().next_back());
    if let Some(tool) = tool {
        reply.calls =
            vec![(tool.name.to_owned(), instance(tool.schema, asked.unwrap_or_default().trim()))];
        reply.text = String::new();
    }
}

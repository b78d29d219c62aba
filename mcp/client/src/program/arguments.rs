//! The arguments of a call as they are typed: `key=value`, or one JSON object.
//!
//! Invariant: a value has the type that the tool's schema gives it, or the sentence says which one it wants.

use std::collections::BTreeMap;

use mcp_client::Tool;
use mcp_wire::body;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// Values as they were typed, so that a number stays what it is.
type Arguments = BTreeMap<String, Box<RawValue>>;

/// The arguments for this tool.
pub fn read(tool: &Tool, pairs: &[String], json: Option<&str>) -> Result<Arguments, String> {
    if let Some(json) = json {
        let object = serde_json::from_str(json);
        return object.map_err(|error| format!("--json: it must be an object: {error}"));
    }
    let schema = body::get(&tool.raw, &["inputSchema"]);
    let schema: Value =
        schema.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
    let mut arguments = Arguments::new();
    for pair in pairs {
        let (key, text) =
            pair.split_once('=').ok_or_else(|| format!("{pair}: an argument is key=value"))?;
        let wanted = &schema["properties"][key]["type"];
        let wants = |kind: &str| {
            wanted == kind
                || wanted.as_array().is_some_and(|kinds| kinds.iter().any(|it| it == kind))
        };
        let parsed = serde_json::from_str::<Value>(text).ok();
        let fits = |value: &Value| match value {
            Value::Null => wants("null"),
            Value::Bool(_) => wants("boolean"),
            Value::Number(number) => wants("number") || wants("integer") && !number.is_f64(),
            Value::String(_) => false,
            Value::Array(_) => wants("array"),
            Value::Object(_) => wants("object"),
        };
        let value = match parsed {
            Some(value) if fits(&value) => RawValue::from_string(text.trim().to_owned()),
            _ if wants("string") => to_raw_value(text),
            // The schema says nothing: what looks like JSON is meant so.
            Some(_) if wanted.is_null() => RawValue::from_string(text.trim().to_owned()),
            None if wanted.is_null() => to_raw_value(text),
            _ => return Err(format!("{key}={text}: {} wants {wanted} there", tool.name)),
        };
        arguments.insert(key.to_owned(), value.map_err(|error| format!("{key}: {error}"))?);
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(format!("{} needs {name}=…", tool.name));
        }
    }
    Ok(arguments)
}

//! The arguments of a call as they are typed: `key=value`, or one JSON object.
//!
//! Invariant: a value has the type that the tool's schema gives it, or the sentence says which one it wants.

use mcp_client::Tool;
use mcp_wire::body;
use serde_json::{Map, Value};

/// The arguments for this tool.
pub fn read(tool: &Tool, pairs: &[String], json: Option<&str>) -> Result<Value, String> {
    if let Some(json) = json {
        return match serde_json::from_str(json) {
            Ok(Value::Object(object)) => Ok(Value::Object(object)),
            Ok(_) => Err("--json: it must be an object".to_owned()),
            Err(error) => Err(format!("--json: {error}")),
        };
    }
    let schema = body::get(&tool.raw, &["inputSchema"]);
    let schema: Value =
        schema.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
    let mut arguments = Map::new();
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
            Some(value) if fits(&value) => value,
            _ if wants("string") => text.into(),
            // The schema says nothing: what looks like JSON is meant so.
            Some(value) if wanted.is_null() => value,
            None if wanted.is_null() => text.into(),
            _ => return Err(format!("{key}={text}: {} wants {wanted} there", tool.name)),
        };
        arguments.insert(key.to_owned(), value);
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(format!("{} needs {name}=…", tool.name));
        }
    }
    Ok(Value::Object(arguments))
}

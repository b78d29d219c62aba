//! Which input schemas the API takes.
//!
//! One tool with a broken schema makes the API refuse the whole request, with all other tools in it. So a schema is checked
//! before it goes into the pool: the top level, the names of arguments, and in every schema below `type` and `required`,
//! where servers go wrong. Invariant: what the API refuses for one of these never reaches it; other keywords pass.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// How deep a schema may be nested. JSON parsers give up at 128, and in a request it lies in other objects.
const MAX_DEPTH: usize = 100;

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// What is wrong with a tool's input schema, if anything.
pub(crate) fn flaw(schema: &Value) -> Option<String> {
    let Some(keywords) = schema.as_object() else {
        return Some("it is no object".to_owned());
    };
    if depth(schema) > MAX_DEPTH {
        return Some(format!("it is nested over {MAX_DEPTH} deep"));
    }
    if schema["type"] != "object" {
        return Some("its type is not `object`".to_owned());
    }
    let choices = ["oneOf", "allOf", "anyOf"];
    if let Some(choice) = choices.iter().find(|name| keywords.contains_key(**name)) {
        return Some(format!("`{choice}` stands at the top"));
    }
    let mut names = schema["properties"].as_object().into_iter().flat_map(Map::keys);
    if let Some(name) = names.find(|name| !is_argument_name(name)) {
        return Some(format!("`{name}` cannot be the name of an argument"));
    }
    below(schema, "")
}

fn is_argument_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// What is wrong in this schema or in one below it: where.
fn below(schema: &Value, path: &str) -> Option<String> {
    let wrong = || Some(format!("`{path}` is not as it should be"));
    let Some(keywords) = schema.as_object() else {
        return if schema.is_boolean() { None } else { wrong() };
    };
    keywords.iter().find_map(|(keyword, value)| {
        let path = format!("{path}.{keyword}");
        let path = path.trim_start_matches('.');
        let wrong = || Some(format!("`{path}` is not as it should be"));
        match (keyword.as_str(), value) {
            ("type", value) if !is_type(value) => wrong(),
            ("required", value) if !are_names(value) => wrong(),
            // Draft 4 has booleans here, drafts 4 to 7 a list there.
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => wrong(),
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.iter().find_map(|(name, schema)| below(schema, &format!("{path}.{name}")))
            }
            ("properties" | "$defs" | "definitions", _) => wrong(),
            ("anyOf" | "oneOf" | "allOf", Value::Array(several)) if !several.is_empty() => {
                several.iter().find_map(|schema| below(schema, path))
            }
            ("anyOf" | "oneOf" | "allOf", _) => wrong(),
            ("items" | "additionalProperties" | "not", value) => below(value, path),
            _ => None,
        }
    })
}

fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}

fn is_type(value: &Value) -> bool {
    let is_known = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(several) => !several.is_empty() && several.iter().all(is_known),
        single => is_known(single),
    }
}

/// Whether it is a list of strings, none twice.
fn are_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    let mut is_new = |name: &Value| name.as_str().is_some_and(|name| seen.insert(name.to_owned()));
    value.as_array().is_some_and(|names| names.iter().all(&mut is_new))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_api_would_refuse_is_named_and_what_servers_send_passes() {
        for row in [
            r##"{"type": "object"} => "##,
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"path": {"type": ["string", "null"], "default": null, "x-of-ours": 1}}, "required": ["path"], "additionalProperties": false} => "##,
            r##"{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/B"}]}}, "$defs": {"B": {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3}}} => "##,
            r#"null => it is no object"#,
            r#"{"properties": {}} => its type is not `object`"#,
            r#"{"type": "string"} => its type is not `object`"#,
            r#"{"type": "object", "anyOf": [{}]} => `anyOf` stands at the top"#,
            r#"{"type": "object", "properties": {"a b": {}}} => `a b` cannot be the name of an argument"#,
            r#"{"type": "object", "required": "a"} => `required` is not as it should be"#,
            r#"{"type": "object", "required": ["a", "a"]} => `required` is not as it should be"#,
            r#"{"type": "object", "properties": {"a": {"type": "text"}}} => `properties.a.type` is not as it should be"#,
            r#"{"type": "object", "properties": {"a": 7}} => `properties.a` is not as it should be"#,
            r#"{"type": "object", "properties": {"a": {"properties": {"b": {"type": 7}}}}} => `properties.a.properties.b.type` is not as it should be"#,
            r#"{"type": "object", "properties": {"a": {"exclusiveMinimum": true}}} => `properties.a.exclusiveMinimum` is not as it should be"#,
            r#"{"type": "object", "properties": {"a": {"items": [{"type": "string"}]}}} => `properties.a.items` is not as it should be"#,
            r#"{"type": "object", "properties": {"a": {"anyOf": []}}} => `properties.a.anyOf` is not as it should be"#,
        ] {
            let (schema, expected) = row.split_once(" => ").unwrap();
            let schema = serde_json::from_str(schema).unwrap();
            assert_eq!(flaw(&schema).unwrap_or_default(), expected, "{schema}");
        }
        let object = |inner| json!({"type": "object", "properties": {"a": inner}});
        let deep = (0..50).fold(json!({"type": "object"}), |inner, _| object(inner));
        assert_eq!(flaw(&deep).unwrap(), "it is nested over 100 deep");
    }
}

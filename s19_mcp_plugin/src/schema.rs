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
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

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
    let mut names = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(Map::keys);
    if let Some(name) = names.find(|name| !is_argument_name(name)) {
        return Some(format!("`{name}` cannot be the name of an argument"));
    }
    below(schema, "")
}

fn is_argument_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// What is wrong in this schema or in one below it.
fn below(schema: &Value, path: &str) -> Option<String> {
    let wrong = |path: &str| Some(format!("`{path}` is not as it should be"));
    let Some(keywords) = schema.as_object() else {
        return if schema.is_boolean() {
            None
        } else {
            wrong(path)
        };
    };
    keywords.iter().find_map(|(keyword, value)| {
        let path = match path {
            "" => keyword.clone(),
            path => format!("{path}.{keyword}"),
        };
        match (keyword.as_str(), value) {
            ("type", value) if !is_type(value) => wrong(&path),
            ("required", value) if !are_names(value) => wrong(&path),
            // Draft 4 has booleans here.
            ("exclusiveMinimum" | "exclusiveMaximum", value) if !value.is_number() => wrong(&path),
            ("properties" | "patternProperties" | "$defs" | "definitions", value) => {
                let Some(named) = value.as_object() else {
                    return wrong(&path);
                };
                let mut named = named.iter();
                named.find_map(|(name, schema)| below(schema, &format!("{path}.{name}")))
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", value) => match value.as_array() {
                Some(several) if !several.is_empty() => {
                    several.iter().find_map(|schema| below(schema, &path))
                }
                _ => wrong(&path),
            },
            ("items" | "additionalProperties" | "not", value) => below(value, &path),
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
    let mut is_new = |name: &Value| {
        name.as_str()
            .is_some_and(|name| seen.insert(name.to_owned()))
    };
    value
        .as_array()
        .is_some_and(|names| names.iter().all(&mut is_new))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_api_would_refuse_is_named_and_what_servers_send_passes() {
        let of_a = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        let not = |path: &str| format!("`{path}` is not as it should be");
        let fine = String::new;
        for (schema, expected) in [
            (json!({"type": "object"}), fine()),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": {"path": {"type": ["string", "null"], "default": null, "x-of-ours": 1}},
                "required": ["path"], "additionalProperties": false}),
                fine(),
            ),
            (
                json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/B"}]}},
                "$defs": {"B": {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3}}}),
                fine(),
            ),
            (Value::Null, "it is no object".to_owned()),
            (
                json!({"properties": {}}),
                "its type is not `object`".to_owned(),
            ),
            (
                json!({"type": "string"}),
                "its type is not `object`".to_owned(),
            ),
            (
                json!({"type": "object", "anyOf": [{}]}),
                "`anyOf` stands at the top".to_owned(),
            ),
            (
                json!({"type": "object", "properties": {"a b": {}}}),
                "`a b` cannot be the name of an argument".to_owned(),
            ),
            (json!({"type": "object", "required": "a"}), not("required")),
            (
                json!({"type": "object", "required": ["a", "a"]}),
                not("required"),
            ),
            (of_a(json!({"type": "text"})), not("properties.a.type")),
            (of_a(json!(7)), not("properties.a")),
            (
                of_a(json!({"properties": {"b": {"type": 7}}})),
                not("properties.a.properties.b.type"),
            ),
            // As drafts 4 and 7 wrote them.
            (
                of_a(json!({"exclusiveMinimum": true})),
                not("properties.a.exclusiveMinimum"),
            ),
            (
                of_a(json!({"items": [{"type": "string"}]})),
                not("properties.a.items"),
            ),
            (of_a(json!({"anyOf": []})), not("properties.a.anyOf")),
            (
                (0..50).fold(json!({"type": "object"}), |inner, _| of_a(inner)),
                "it is nested over 100 deep".to_owned(),
            ),
        ] {
            assert_eq!(flaw(&schema).unwrap_or_default(), expected, "{schema}");
        }
    }
}

//! Which input schemas the API takes.
//!
//! One tool with a broken schema makes the API refuse the whole request, with all other tools in it. So a schema is looked
//! at before it goes into the pool. Invariant: what passes is an object schema of JSON Schema draft 2020-12 in which each
//! keyword has the shape that the draft gives it; what a keyword means is not looked at.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// How deep a schema may be nested. Readers of JSON give up at 128, and in a request it lies in other things.
const MAX_DEPTH: usize = 100;

/// What is wrong with a tool's input schema, if anything.
pub(crate) fn flaw(schema: &Value) -> Option<String> {
    let Some(keywords) = schema.as_object() else {
        return Some("it is no object".to_owned());
    };
    if depth(schema) > MAX_DEPTH {
        return Some(format!("it is nested over {MAX_DEPTH} deep"));
    }
    if keywords.get("type").and_then(Value::as_str) != Some("object") {
        return Some("its type is not `object`".to_owned());
    }
    if let Some(choice) = ["oneOf", "allOf", "anyOf"]
        .into_iter()
        .find(|name| keywords.contains_key(*name))
    {
        return Some(format!("`{choice}` stands at the top"));
    }
    let mut names = keywords
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys);
    if let Some(name) = names.find(|name| !is_argument_name(name)) {
        return Some(format!("`{name}` cannot be the name of an argument"));
    }
    in_object(keywords).map(|path| format!("`{}` is not as it should be", path.join(".")))
}

fn is_argument_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}

/// What a keyword's value has to be.
enum Shape {
    Schema,
    Schemas,
    SchemasByName,
    Holds(fn(&Value) -> bool),
}

fn shape(keyword: &str) -> Shape {
    match keyword {
        "type" => Shape::Holds(is_type),
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Shape::SchemasByName
        }
        "items"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Shape::Schema,
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => Shape::Schemas,
        "required" => Shape::Holds(are_names),
        "dependentRequired" => Shape::Holds(|value| {
            value
                .as_object()
                .is_some_and(|map| map.values().all(are_names))
        }),
        "enum" | "examples" => Shape::Holds(Value::is_array),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            Shape::Holds(Value::is_number)
        }
        "multipleOf" => Shape::Holds(|value| value.as_f64().is_some_and(|number| number > 0.0)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Shape::Holds(|value| {
            value
                .as_f64()
                .is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
        }),
        "title" | "description" | "format" | "pattern" | "$ref" | "$schema" | "$id" | "$anchor"
        | "$comment" | "contentEncoding" | "contentMediaType" => Shape::Holds(Value::is_string),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Shape::Holds(Value::is_boolean),
        // `default` and `const` take anything, and so does a keyword that the draft does not know.
        _ => Shape::Holds(|_| true),
    }
}

/// The way to the keyword that is wrong; none when all are right.
type Wrong = Option<Vec<String>>;

fn in_object(keywords: &Map<String, Value>) -> Wrong {
    keywords.iter().find_map(|(keyword, value)| {
        let wrong = match shape(keyword) {
            Shape::Schema => in_schema(value),
            Shape::Schemas => match value.as_array() {
                Some(schemas) if !schemas.is_empty() => schemas.iter().find_map(in_schema),
                _ => Some(Vec::new()),
            },
            Shape::SchemasByName => match value.as_object() {
                Some(named) => named
                    .iter()
                    .find_map(|(name, schema)| below(name, in_schema(schema))),
                None => Some(Vec::new()),
            },
            Shape::Holds(holds) => (!holds(value)).then(Vec::new),
        };
        below(keyword, wrong)
    })
}

fn in_schema(value: &Value) -> Wrong {
    match value {
        Value::Bool(_) => None,
        Value::Object(keywords) => in_object(keywords),
        _ => Some(Vec::new()),
    }
}

fn below(name: &str, wrong: Wrong) -> Wrong {
    wrong.map(|mut path| {
        path.insert(0, name.to_owned());
        path
    })
}

fn is_type(value: &Value) -> bool {
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    let known = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(several) => !several.is_empty() && several.iter().all(known),
        single => known(single),
    }
}

/// Whether it is a list of texts, none twice.
fn are_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    let is_new_name = |name: &Value| {
        name.as_str()
            .is_some_and(|name| seen.insert(name.to_owned()))
    };
    value
        .as_array()
        .is_some_and(|names| names.iter().all(is_new_name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_servers_send_passes() {
        for schema in [
            json!({"type": "object"}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": {"path": {"type": ["string", "null"], "default": null, "x-of-ours": 1}},
                "required": ["path"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/B"}]}},
                "$defs": {"B": {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3}}}),
        ] {
            assert_eq!(flaw(&schema), None, "{schema}");
        }
    }

    #[test]
    fn what_the_api_would_refuse_is_named() {
        let of_a = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        for (schema, expected) in [
            (Value::Null, "it is no object"),
            (json!({"properties": {}}), "its type is not `object`"),
            (json!({"type": "string"}), "its type is not `object`"),
            (
                json!({"type": "object", "anyOf": [{}]}),
                "`anyOf` stands at the top",
            ),
            (
                json!({"type": "object", "properties": {"a b": {}}}),
                "`a b` cannot be the name of an argument",
            ),
            (
                json!({"type": "object", "required": "a"}),
                "`required` is not as it should be",
            ),
            (
                json!({"type": "object", "required": ["a", "a"]}),
                "`required` is not as it should be",
            ),
            (
                of_a(json!({"type": "text"})),
                "`properties.a.type` is not as it should be",
            ),
            (of_a(json!(7)), "`properties.a` is not as it should be"),
            // As drafts 4 and 7 wrote them.
            (
                of_a(json!({"exclusiveMinimum": true})),
                "`properties.a.exclusiveMinimum` is not as it should be",
            ),
            (
                of_a(json!({"items": [{"type": "string"}]})),
                "`properties.a.items` is not as it should be",
            ),
            (
                of_a(json!({"anyOf": []})),
                "`properties.a.anyOf` is not as it should be",
            ),
            (
                (0..50).fold(json!({"type": "object"}), |inner, _| of_a(inner)),
                "it is nested over 100 deep",
            ),
        ] {
            assert_eq!(flaw(&schema).as_deref(), Some(expected), "{schema}");
        }
    }
}

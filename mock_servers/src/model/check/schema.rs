//! The rules of a tool's `input_schema`: an object schema of JSON Schema draft 2020-12.
//!
//! A schema that is slightly wrong goes unnoticed until a real model refuses the whole request, so each keyword is
//! checked for the shape the draft gives it. What a schema means is not looked at.
//! Invariant: a schema that schemars derives from a struct passes.

use serde_json::{Map, Value};

use crate::model::refusal::Flaw;

/// Checks the schema of a tool's arguments.
pub fn input_schema(schema: &Value) -> Result<(), Flaw> {
    let Value::Object(keywords) = schema else {
        return Err(Flaw::here("Input should be an object"));
    };
    match keywords.get("type") {
        None => return Err(Flaw::at("type", "Field required")),
        Some(kind) if kind != "object" => {
            return Err(Flaw::at("type", "Input should be 'object'"));
        }
        Some(_) => {}
    }
    if ["oneOf", "allOf", "anyOf"].iter().any(|keyword| keywords.contains_key(*keyword)) {
        return Err(Flaw::here(
            "input_schema does not support oneOf, allOf, or anyOf at the top level",
        ));
    }
    if let Some(Value::Object(properties)) = keywords.get("properties")
        && let Some(key) = properties.keys().find(|key| !is_property_key(key))
    {
        let rule = "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'";
        return Err(Flaw::at("properties", format!("{rule} ('{key}' does not)")));
    }
    all(keywords).map_err(|wrong| {
        Flaw::here(format!(
            "JSON schema is invalid. It must match JSON Schema draft 2020-12 \
             (https://json-schema.org/draft/2020-12). At `{wrong}`."
        ))
    })
}

fn is_property_key(key: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&key.len()) && key.bytes().all(allowed)
}

/// The path of the keyword that is wrong; it grows on the way out.
type Wrong = String;

fn schema(value: &Value) -> Result<(), Wrong> {
    match value {
        Value::Bool(_) => Ok(()),
        Value::Object(keywords) => all(keywords),
        _ => Err(Wrong::new()),
    }
}

fn all(keywords: &Map<String, Value>) -> Result<(), Wrong> {
    for (name, value) in keywords {
        under(name, keyword(name, value))?;
    }
    Ok(())
}

fn keyword(name: &str, value: &Value) -> Result<(), Wrong> {
    match name {
        "type" => holds(is_type(value)),
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            let named = value.as_object().ok_or_else(Wrong::new)?;
            named.iter().try_for_each(|(key, inner)| under(key, schema(inner)))
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
        | "unevaluatedProperties" => schema(value),
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
            let items = value.as_array().filter(|items| !items.is_empty());
            let items = items.ok_or_else(Wrong::new)?;
            let mut numbered = items.iter().enumerate();
            numbered.try_for_each(|(i, inner)| under(&i.to_string(), schema(inner)))
        }
        "required" => holds(is_name_list(value)),
        "dependentRequired" => {
            holds(value.as_object().is_some_and(|map| map.values().all(is_name_list)))
        }
        "enum" | "examples" => holds(value.is_array()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => holds(value.is_number()),
        "multipleOf" => holds(value.as_f64().is_some_and(|number| number > 0.0)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => holds(value.as_f64().is_some_and(is_count)),
        "title" | "description" | "format" | "pattern" | "$ref" | "$schema" | "$id" | "$anchor"
        | "$comment" | "contentEncoding" | "contentMediaType" => holds(value.is_string()),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => holds(value.is_boolean()),
        // `default` and `const` take any value; a keyword the draft does not know is an annotation.
        _ => Ok(()),
    }
}

fn holds(rule: bool) -> Result<(), Wrong> {
    if rule { Ok(()) } else { Err(Wrong::new()) }
}

fn under(outer: &str, result: Result<(), Wrong>) -> Result<(), Wrong> {
    result.map_err(|inner| match inner.as_str() {
        "" => outer.to_owned(),
        inner => format!("{outer}.{inner}"),
    })
}

fn is_type(value: &Value) -> bool {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let known = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(several) => !several.is_empty() && several.iter().all(known),
        single => known(single),
    }
}

fn is_name_list(value: &Value) -> bool {
    let Some(names) = value.as_array() else {
        return false;
    };
    let unique = |i: usize| !names[..i].contains(&names[i]);
    names.iter().all(Value::is_string) && (0..names.len()).all(unique)
}

fn is_count(number: f64) -> bool {
    number >= 0.0 && number.fract() == 0.0
}

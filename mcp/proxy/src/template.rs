//! A tool as a recipe: the call ready to copy, made from its schema.
//!
//! A model that gets a schema must find what is required, of which type and in which form before it can call; the recipe has
//! done that. Required arguments stand in it as placeholders of their type, optional ones behind it by name and type.
//! Invariant: the arguments are JSON that the tool's schema accepts once the placeholders are filled, and making them ends
//! for every schema, also one that refers to itself.

use serde_json::{Map, Value, json};

use crate::index::Tool;

/// Nested objects, arrays and references that are followed.
const DEPTH: usize = 6;
/// Optional arguments that are named; the whole schema has the others.
const OPTIONAL: usize = 15;
/// Values of an enum that are named.
const VALUES: usize = 12;
/// Characters of a description's first sentence.
const SENTENCE: usize = 160;

/// The recipe of a tool, to be called through `call`: its name, what it does, its template.
pub fn recipe(tool: &Tool, call: &str) -> String {
    let sentence = first_sentence(&tool.description);
    let rest = if sentence.is_empty() { "" } else { "\n" };
    format!("{}\n{sentence}{rest}{}", tool.name, template(tool, call))
}

/// The call of a tool ready to copy, and what else may stand in it.
pub fn template(tool: &Tool, call: &str) -> String {
    let mut maker = Maker {
        root: &tool.input_schema,
        notes: Vec::new(),
    };
    let arguments = maker.object(&tool.input_schema, "", DEPTH);
    let name = json!(tool.name);
    let mut text =
        format!("Ready to call with {call}:\n{{\"tool_name\":{name},\"arguments\":{arguments}}}\n");
    let optional = maker.optional();
    if !optional.is_empty() {
        maker.notes.push(format!("Optional: {optional}"));
    }
    // A name of a schema may hold anything.
    maker.notes.iter().for_each(|note| text += &format!("# {}\n", kit::one_line(note)));
    text
}

/// The first sentence of a description, on one line.
pub fn first_sentence(description: &str) -> String {
    let line = kit::one_line(description);
    let ends = [". ", "! ", "? ", "。"];
    let end = ends.iter().filter_map(|end| line.find(end).map(|at| at + end.trim_end().len()));
    let sentence = &line[..end.min().unwrap_or(line.len())];
    match sentence.char_indices().nth(SENTENCE) {
        Some((cut, _)) => format!("{}…", &sentence[..cut]),
        None => sentence.to_owned(),
    }
}

struct Maker<'a> {
    root: &'a Value,
    /// What the template cannot say: the other values of an enum.
    notes: Vec<String>,
}

impl<'a> Maker<'a> {
    /// The required properties of an object, filled.
    fn object(&mut self, schema: &'a Value, path: &str, depth: usize) -> Value {
        let mut filled = Map::new();
        for part in self.parts(schema, depth) {
            for name in part["required"].as_array().into_iter().flatten() {
                let Some(name) = name.as_str() else { continue };
                let property = self.property(schema, name, depth).unwrap_or(&Value::Null);
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                filled.insert(name.to_owned(), self.fill(property, &path, depth));
            }
        }
        Value::Object(filled)
    }

    fn fill(&mut self, schema: &'a Value, path: &str, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else {
            return Value::Null;
        };
        let schema = self.plain(schema, depth);
        for key in ["const", "default"] {
            if let Some(value) = schema.get(key) {
                return value.clone();
            }
        }
        if let Some([first, others @ ..]) = schema["enum"].as_array().map(Vec::as_slice) {
            if !others.is_empty() {
                let shown: Vec<String> = others.iter().take(VALUES).map(Value::to_string).collect();
                let more = if others.len() > VALUES { ", …" } else { "" };
                self.notes.push(format!("{path}: or {}{more}", shown.join(", ")));
            }
            return first.clone();
        }
        match self.kind(schema, depth) {
            "integer" => schema
                .get("minimum")
                .filter(|least| least.as_i64() > Some(0))
                .cloned()
                .unwrap_or(json!(0)),
            "number" => json!(0.0),
            "boolean" => json!(false),
            "null" => Value::Null,
            "array" => match schema.get("items").or_else(|| schema["prefixItems"].get(0)) {
                Some(items) if items.is_object() => json!([self.fill(items, path, depth)]),
                _ => json!([]),
            },
            "object" => self.object(schema, path, depth),
            _ => json!(placeholder(path.rsplit('.').next().unwrap_or(path), schema)),
        }
    }

    /// The schema behind references, and of a union the first that is not null.
    fn plain(&self, schema: &'a Value, depth: usize) -> &'a Value {
        let mut schema = schema;
        for _ in 0..=depth {
            let union = ["oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array());
            let chosen = union.and_then(|all| all.iter().find(|one| one["type"] != "null"));
            schema = match (schema["$ref"].as_str(), chosen) {
                (Some(reference), _) => self.referred(reference),
                (None, Some(chosen)) if schema.get("properties").is_none() => chosen,
                _ => return schema,
            };
        }
        &Value::Null
    }

    /// What a reference within the schema names; one that leads elsewhere is never fetched.
    fn referred(&self, reference: &str) -> &'a Value {
        let pointer = reference.strip_prefix('#');
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(&Value::Null)
    }

    /// A schema and all schemas that must hold with it.
    fn parts(&self, schema: &'a Value, depth: usize) -> Vec<&'a Value> {
        let schema = self.plain(schema, depth);
        let mut parts = vec![schema];
        if let (Some(all), Some(depth)) = (schema["allOf"].as_array(), depth.checked_sub(1)) {
            parts.extend(all.iter().flat_map(|part| self.parts(part, depth)));
        }
        parts
    }

    fn property(&self, schema: &'a Value, name: &str, depth: usize) -> Option<&'a Value> {
        let parts = self.parts(schema, depth);
        parts.into_iter().find_map(|part| part["properties"].get(name))
    }

    fn kind(&self, schema: &'a Value, depth: usize) -> &'a str {
        let types = schema["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let named =
            schema["type"].as_str().or_else(|| types.into_iter().find(|kind| *kind != "null"));
        let guessed = if self.parts(schema, depth).iter().any(|part| part["properties"].is_object())
        {
            "object"
        } else if schema.get("items").is_some() {
            "array"
        } else {
            "string"
        };
        named.unwrap_or(guessed)
    }

    /// The optional arguments, `name type`, by comma.
    fn optional(&self) -> String {
        let parts = self.parts(self.root, DEPTH);
        let required = |name: &str| {
            let mut lists = parts.iter().filter_map(|part| part["required"].as_array());
            lists.any(|list| list.iter().any(|one| one == name))
        };
        let mut optional = Vec::new();
        for part in &parts {
            for (name, schema) in part["properties"].as_object().into_iter().flatten() {
                let schema = self.plain(schema, DEPTH);
                let kind = match date(name, schema) {
                    Some(form) if self.kind(schema, DEPTH) == "string" => form,
                    _ if schema["enum"].is_array() => "enum",
                    _ => self.kind(schema, DEPTH),
                };
                if !required(name) {
                    optional.push(format!("{name} {kind}"));
                }
            }
        }
        let more = optional.len().saturating_sub(OPTIONAL);
        optional.truncate(OPTIONAL);
        if more > 0 {
            optional.push(format!("and {more} more (detail: \"schema\" shows all)"));
        }
        optional.join(", ")
    }
}

fn placeholder(name: &str, schema: &Value) -> String {
    match date(name, schema) {
        Some(form) => format!("<{form}>"),
        None => format!("<{}>", snake_case(name)),
    }
}

/// The form of a date or time, told by `format`, by the name, or by the description.
fn date(name: &str, schema: &Value) -> Option<&'static str> {
    const DATE: &str = "YYYY-MM-DD";
    const DATE_TIME: &str = "YYYY-MM-DDThh:mm:ssZ";
    match schema["format"].as_str() {
        Some("date") => return Some(DATE),
        Some("date-time") => return Some(DATE_TIME),
        Some("time") => return Some("hh:mm:ss"),
        Some(_) => return None,
        None => {}
    }
    let description = schema["description"].as_str().unwrap_or_default().to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| description.contains(word));
    if says(&["yyyy-mm-ddt", "yyyy-mm-dd hh", "rfc 3339", "rfc3339", "date-time"]) {
        return Some(DATE_TIME);
    }
    if says(&["yyyy-mm-dd"]) {
        return Some(DATE);
    }
    let name = snake_case(name);
    let last = name.rsplit('_').next().unwrap_or_default();
    match last {
        "date" => Some(DATE),
        "at" | "datetime" | "timestamp" if name.contains('_') || last != "at" => Some(DATE_TIME),
        _ if says(&["iso 8601", "iso-8601", "iso8601"]) => Some(DATE_TIME),
        _ => None,
    }
}

fn snake_case(name: &str) -> String {
    let snake = crate::index::tokens::joined(name, "_");
    if snake.is_empty() { "value".to_owned() } else { snake }
}

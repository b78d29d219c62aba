//! A tool called by its name: `call word_count with path=README.md`.
//!
//! The table knows the course's own tools. A student who adds another wants to see it called as well, so a request that
//! names a tool on offer is carried out from the tool's input schema.
//! Invariant: a call is made only when every required argument was given.

use serde_json::{Map, Value};

use super::pattern;
use super::tokens::{Token, tokenize};
use super::words;
use crate::model::Tool;

/// The tool a request names and the arguments it gives; `None` when it names none, or too few arguments.
pub fn call<'t>(request: &str, tools: &'t [Tool]) -> Option<(&'t str, Value)> {
    let tokens = tokenize(request);
    let named = |at: usize| {
        tools
            .iter()
            .find(|tool| tool.name == tokens[at].text)
            .map(|tool| (at, tool))
    };
    let (at, tool) = (0..tokens.len())
        .filter_map(named)
        .find(|(at, tool)| is_called(&tokens, *at, tool))?;
    let rest = &tokens[at + 1..];
    let input = arguments(request, rest, tool)?;
    Some((&tool.name, Value::Object(input)))
}

/// Whether the words around a tool's name ask for it: `use the bash tool`, `call read_file`, but not `use bash`.
fn is_called(tokens: &[Token], at: usize, tool: &Tool) -> bool {
    let before = tokens[..at]
        .iter()
        .rev()
        .find(|token| !token.is_any(words::FILLERS) && !token.is("tool"));
    let verb = before.is_some_and(|token| token.is_any(words::CALLS));
    let beside = tokens[..at]
        .last()
        .into_iter()
        .chain(tokens.get(at + 1))
        .any(|token| token.is("tool"));
    verb && (beside || tool.name.contains('_'))
}

fn arguments(request: &str, rest: &[Token], tool: &Tool) -> Option<Map<String, Value>> {
    let no_properties = Map::new();
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&no_properties);
    let mut input = given_as_json(rest.first().map_or("", |first| &request[first.start..]))
        .unwrap_or_else(|| given_by_name(rest, properties));
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let missing = |input: &Map<String, Value>| -> Vec<String> {
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        names
            .filter(|name| !input.contains_key(*name))
            .map(str::to_owned)
            .collect()
    };
    if let [only] = &missing(&input)[..] {
        let value = rest
            .iter()
            .find(|token| token.quoted || pattern::is_path(token))?;
        input.insert(only.clone(), typed(value.text, properties.get(only)));
    }
    missing(&input).is_empty().then_some(input)
}

/// `{"path": "README.md"}` somewhere behind the tool's name.
pub fn given_as_json(rest: &str) -> Option<Map<String, Value>> {
    let json = &rest[rest.find('{')?..=rest.rfind('}')?];
    serde_json::from_str(json).ok()
}

/// `path=README.md`, `path: README.md` or `path README.md`.
fn given_by_name(rest: &[Token], properties: &Map<String, Value>) -> Map<String, Value> {
    let mut input = Map::new();
    for (at, token) in rest.iter().enumerate() {
        let (name, value) = match token.text.split_once('=') {
            Some((name, "")) => (name, rest.get(at + 1).map(|next| next.text)),
            Some((name, value)) => (name, Some(value.trim_matches(['"', '\'']))),
            None => (token.text, rest.get(at + 1).map(|next| next.text)),
        };
        if let (Some(schema), Some(value)) = (properties.get(name), value) {
            input.insert(name.to_owned(), typed(value, Some(schema)));
        }
    }
    input
}

/// A word as the type its schema names.
fn typed(word: &str, schema: Option<&Value>) -> Value {
    let kind = |name: &str| {
        schema
            .and_then(|schema| schema.get("type"))
            .is_some_and(|kind| {
                kind == name
                    || kind
                        .as_array()
                        .is_some_and(|kinds| kinds.iter().any(|kind| kind == name))
            })
    };
    let parsed = if kind("integer") || kind("number") || kind("boolean") {
        serde_json::from_str(word).ok()
    } else {
        None
    };
    parsed.unwrap_or_else(|| Value::from(word))
}

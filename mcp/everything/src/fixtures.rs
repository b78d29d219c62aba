//! What the server offers and answers, as JSON.
//!
//! The names are the conformance suite's. Invariant: nothing here depends on a client.

use serde_json::{Value, json};

/// A red dot.
pub const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// A WAV file without a sample.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// An argument: its name, its type, and the header that it goes into.
type Argument = (&'static str, &'static str, &'static str);

/// The tools, and the arguments that each takes.
pub const TOOLS: [(&str, &[Argument]); 28] = [
    ("test_simple_text", &[]),
    ("test_image_content", &[]),
    ("test_audio_content", &[]),
    ("test_embedded_resource", &[]),
    ("test_multiple_content_types", &[]),
    ("test_error_handling", &[]),
    ("test_tool_with_progress", &[]),
    ("test_tool_with_logging", &[]),
    ("test_sampling", &[("prompt", "string", "")]),
    ("test_elicitation", &[("message", "string", "")]),
    ("test_elicitation_sep1034_defaults", &[]),
    ("test_elicitation_sep1330_enums", &[]),
    ("test_missing_capability", &[]),
    ("test_streaming_elicitation", &[]),
    ("test_logging_tool", &[]),
    ("test_trigger_tool_change", &[]),
    ("test_trigger_prompt_change", &[]),
    ("test_input_required_result_elicitation", &[]),
    ("test_input_required_result_sampling", &[]),
    ("test_input_required_result_list_roots", &[]),
    ("test_input_required_result_request_state", &[]),
    ("test_input_required_result_multiple_inputs", &[]),
    ("test_input_required_result_multi_round", &[]),
    ("test_input_required_result_tampered_state", &[]),
    ("test_input_required_result_capabilities", &[]),
    ("test_headers", &[("region", "string", "Region"), ("count", "integer", "Count")]),
    ("json_schema_2020_12_tool", &[("name", "string", "")]),
    ("test_reconnection", &[]),
];

/// The resources and their types.
pub const RESOURCES: [(&str, &str); 3] = [
    ("test://static-text", "text/plain"),
    ("test://static-binary", "image/png"),
    ("test://watched-resource", "text/plain"),
];

/// As `tools/list` shows them.
pub fn tools() -> Vec<Value> {
    let property = |(name, kind, header): &Argument| {
        let mut schema = json!({ "type": kind });
        if !header.is_empty() {
            schema["x-mcp-header"] = json!(header);
        }
        ((*name).to_owned(), schema)
    };
    let tool = |(name, arguments): &(&str, &[Argument])| {
        let properties: serde_json::Map<_, _> = arguments.iter().map(property).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if name.starts_with("json_schema") {
            schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
            schema["$defs"] = json!({ "address": { "type": "object", "properties": {
                "street": { "type": "string" }, "city": { "type": "string" }
            }}});
            schema["properties"]["address"] = json!({ "$ref": "#/$defs/address" });
            schema["additionalProperties"] = json!(false);
        }
        let description = format!("A fixture of the conformance suite: {}", name.replace('_', " "));
        json!({ "name": name, "description": description, "inputSchema": schema })
    };
    TOOLS.iter().map(tool).collect()
}

/// The result of a tool that always answers the same.
pub fn content(name: &str) -> Option<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" });
    let resource = json!({ "type": "resource", "resource": {
        "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "embedded"
    }});
    let content = match name {
        "test_simple_text" => vec![text("a simple text")],
        "test_image_content" => vec![image],
        "test_audio_content" => {
            vec![json!({ "type": "audio", "data": AUDIO, "mimeType": "audio/wav" })]
        }
        "test_embedded_resource" => vec![resource],
        "test_multiple_content_types" => vec![text("three at once"), image, resource],
        "test_error_handling" => {
            return Some(json!({ "content": [text("it failed, as it should")], "isError": true }));
        }
        // They could do more, and must not without being allowed to.
        "test_streaming_elicitation" | "test_logging_tool" => vec![text("nothing but this")],
        "json_schema_2020_12_tool" | "test_reconnection" => vec![text("done")],
        _ => return None,
    };
    Some(json!({ "content": content }))
}

/// What a tool asks the user, and the form.
pub fn form(name: &str) -> Option<(&'static str, Value)> {
    let texts = |names: &[&str]| -> Value {
        let texts = names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" })));
        Value::Object(texts.collect())
    };
    let titled = |names: [&str; 3]| {
        names.map(|name| json!({ "const": name, "title": format!("The {name}") }))
    };
    let choice = ["option1", "option2", "option3"];
    let (message, properties) = match name {
        "test_elicitation" => ("who are you?", texts(&["username", "email"])),
        "test_elicitation_sep1034_defaults" => (
            "is this right?",
            json!({
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": {
                    "type": "string", "enum": ["active", "inactive", "pending"], "default": "active"
                },
                "verified": { "type": "boolean", "default": true }
            }),
        ),
        "test_elicitation_sep1330_enums" => (
            "which of these?",
            json!({
                "untitledSingle": { "type": "string", "enum": choice },
                "titledSingle": { "type": "string", "oneOf": titled(["value1", "value2", "value3"]) },
                "legacyEnum": {
                    "type": "string", "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"]
                },
                "untitledMulti": { "type": "array", "items": { "type": "string", "enum": choice } },
                "titledMulti": {
                    "type": "array", "items": { "anyOf": titled(["value1", "value2", "value3"]) }
                }
            }),
        ),
        _ => return None,
    };
    Some((message, json!({ "type": "object", "properties": properties })))
}

/// As `prompts/list` shows them.
pub fn prompts() -> Value {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments
            .iter()
            .map(|name| json!({ "name": name, "description": "any text", "required": true }))
            .collect();
        json!({ "name": name, "description": "a fixture", "arguments": arguments })
    };
    json!([
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ])
}

//! The rules of tools and their schemas.

use mock_servers::model::{MockModel, says};
use serde_json::{Value, json};

use super::{assert_invalid, assert_table, offers, takes, with};
use crate::client::post;

#[test]
fn tools_are_well_formed() {
    let schema = json!({"type": "object"});
    let named = |name: &str| offers(json!({"name": name, "input_schema": schema}));
    let pattern = "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
    let tool = json!({"name": "read", "input_schema": schema});
    let mut forced = offers(tool.clone());
    forced["tool_choice"] = json!({"type": "tool", "name": "write"});
    assert_invalid(&[
        (named("mcp.read"), pattern),
        (named(""), pattern),
        (named(&"a".repeat(129)), pattern),
        (
            offers(json!({"input_schema": schema})),
            "tools.0.custom.name: Field required",
        ),
        (
            offers(json!({"name": "read"})),
            "tools.0.custom.input_schema: Field required",
        ),
        (
            offers(json!({"name": "read", "input_schema": schema, "server": "docs"})),
            "tools.0.custom.server: Extra inputs are not permitted",
        ),
        (
            offers(json!({"name": "read", "description": 1, "input_schema": schema})),
            "tools.0.custom.description: Input should be a valid string",
        ),
        (
            with("tools", json!([tool, tool])),
            "tools: Tool names must be unique.",
        ),
        (
            with("tools", json!({})),
            "tools: Input should be a valid array",
        ),
        (
            forced,
            "tool_choice: Tool 'write' not found in provided tools",
        ),
    ]);
}

#[test]
fn a_tool_that_the_api_provides_has_its_type_and_its_name() {
    assert_table(
        r#"
{"tools": [{"type": "bash_2", "name": "bash"}]} -> tools.0: Input tag 'bash_2' found using 'type' does not match any of the expected tags: 'bash_20250124', 'browser_toolset_20260801', …
{"tools": [{"type": 7, "name": "bash"}]} -> tools.0.type: Input should be a valid string
{"tools": [{"type": "bash_20250124"}]} -> tools.0.bash_20250124.name: Field required
{"tools": [{"type": "bash_20250124", "name": "shell"}]} -> tools.0.bash_20250124.name: Input should be 'bash'
{"tools": [{"type": "bash_20250124", "name": "bash"}, {"name": "bash", "input_schema": {"type": "object"}}]} -> tools: Tool names must be unique.
{"tools": [{"type": "bash_20250124", "name": "bash"}]}
{"tools": [{"type": "web_search_20260318", "name": "web_search", "max_uses": 5}]}
{"tools": [{"type": "computer_toolset_20260801", "display_width_px": 1024}], "tool_choice": {"type": "any"}}
{"tools": [{"type": "custom", "name": "ls", "input_schema": {"type": "object"}}, {"type": null, "name": "cat", "input_schema": {"type": "object"}}]}
[mcp-client-2025-11-20] {"tools": [{"type": "mcp_toolset"}]} -> tools.0.mcp_toolset.mcp_server_name: Field required
[mcp-client-2025-11-20] {"tools": [{"type": "mcp_toolset", "mcp_server_name": "docs"}, {"type": "mcp_toolset", "mcp_server_name": "jira"}]}
"#,
    );
}

#[test]
fn an_input_schema_describes_an_object() {
    let place = "tools.0.custom.input_schema";
    let combined = "input_schema does not support oneOf, allOf, or anyOf at the top level";
    let key = |key: &str| takes(json!({"type": "object", "properties": {key: {"type": "string"}}}));
    let keys = "properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'";
    let long = "a".repeat(65);
    for (request, rule) in [
        (takes(json!("object")), ": Input should be an object"),
        (takes(json!({})), ".type: Field required"),
        (
            takes(json!({"type": "string"})),
            ".type: Input should be 'object'",
        ),
        (
            takes(json!({"type": "object", "oneOf": [{}]})),
            &format!(": {combined}"),
        ),
        (key("file name"), &format!(".{keys} ('file name' does not)")),
        (key(&long), &format!(".{keys} ('{long}' does not)")),
    ] {
        assert_invalid(&[(request, &format!("{place}{rule}"))]);
    }
}

#[test]
fn an_input_schema_follows_the_draft_and_the_place_is_named() {
    let object = |keyword: &str, value: Value| json!({"type": "object", keyword: value});
    let property = |schema: Value| object("properties", json!({"path": schema}));
    for (schema, place) in [
        (object("properties", json!([])), "properties"),
        (object("required", json!("path")), "required"),
        (object("required", json!(["a", "a"])), "required"),
        (
            object("$defs", json!({"Item": {"type": "nothing"}})),
            "$defs.Item.type",
        ),
        (property(json!("string")), "properties.path"),
        (property(json!({"type": "text"})), "properties.path.type"),
        (property(json!({"type": []})), "properties.path.type"),
        (property(json!({"minimum": "1"})), "properties.path.minimum"),
        (
            property(json!({"exclusiveMinimum": true})),
            "properties.path.exclusiveMinimum",
        ),
        (
            property(json!({"multipleOf": 0})),
            "properties.path.multipleOf",
        ),
        (
            property(json!({"maxLength": -1})),
            "properties.path.maxLength",
        ),
        (property(json!({"enum": "a"})), "properties.path.enum"),
        (
            property(json!({"items": [{"type": "string"}]})),
            "properties.path.items",
        ),
        (property(json!({"anyOf": []})), "properties.path.anyOf"),
        (
            property(json!({"anyOf": [{"type": 1}]})),
            "properties.path.anyOf.0.type",
        ),
        (
            property(json!({"description": 1})),
            "properties.path.description",
        ),
        (
            property(json!({"uniqueItems": "yes"})),
            "properties.path.uniqueItems",
        ),
    ] {
        let rule = "JSON schema is invalid. It must match JSON Schema draft 2020-12 \
                    (https://json-schema.org/draft/2020-12).";
        let message = format!("tools.0.custom.input_schema: {rule} At `{place}`.");
        assert_invalid(&[(takes(schema), &message)]);
    }
}

#[test]
fn a_schema_of_every_usual_keyword_passes() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Read",
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A path.", "minLength": 1, "pattern": "^[^/]"},
            "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 0, "default": null},
            "mode": {"enum": ["text", "bytes"]},
            "ranges": {"type": "array", "items": {"$ref": "#/$defs/Range"}, "maxItems": 4},
            "either": {"anyOf": [{"const": 1}, true]},
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {"Range": {"type": "object", "additionalProperties": {"type": "number"}}},
        "x-note": ["an annotation"],
    });
    let model = MockModel::scripted([says("Fine.")]);
    assert_eq!(post(&model, &takes(schema)).status, 200);
}

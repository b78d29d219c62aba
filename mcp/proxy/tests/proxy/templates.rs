//! Schemas and the templates made from them, a row each.

use mcp_proxy::index::Tool;
use mcp_proxy::template::{first_sentence, recipe, template};
use serde_json::{Value, json};

/// A property's schema, and what stands in the template for it when it is required under the name `x`.
const PROPERTIES: [(&str, &str); 34] = [
    (r#"{"type":"string"}"#, r#""<x>""#),
    (r#"{}"#, r#""<x>""#),
    (r#"true"#, r#""<x>""#),
    (r#"{"type":"integer"}"#, "0"),
    (r#"{"type":"integer","minimum":1}"#, "1"),
    (r#"{"type":"number"}"#, "0.0"),
    (r#"{"type":"boolean"}"#, "false"),
    (r#"{"type":"null"}"#, "null"),
    (r#"{"type":["null","integer"]}"#, "0"),
    (r#"{"type":"string","format":"date"}"#, r#""<YYYY-MM-DD>""#),
    (r#"{"type":"string","format":"date-time"}"#, r#""<YYYY-MM-DDThh:mm:ssZ>""#),
    (r#"{"type":"string","format":"time"}"#, r#""<hh:mm:ss>""#),
    (r#"{"type":"string","format":"uri"}"#, r#""<x>""#),
    (r#"{"type":"string","description":"Day, as YYYY-MM-DD"}"#, r#""<YYYY-MM-DD>""#),
    (r#"{"type":"string","description":"An ISO 8601 moment"}"#, r#""<YYYY-MM-DDThh:mm:ssZ>""#),
    (r#"{"type":"string","description":"YYYY-MM-DDThh:mm"}"#, r#""<YYYY-MM-DDThh:mm:ssZ>""#),
    (r#"{"enum":["b","a"]}"#, r#""b""#),
    (r#"{"type":"integer","enum":[3]}"#, "3"),
    (r#"{"const":{"a":1}}"#, r#"{"a":1}"#),
    (r#"{"type":"string","default":"main"}"#, r#""main""#),
    (r#"{"type":"integer","default":null}"#, "null"),
    (r#"{"type":"array"}"#, "[]"),
    (r#"{"type":"array","items":{"type":"string"}}"#, r#"["<x>"]"#),
    (r#"{"items":{"type":"integer"}}"#, "[0]"),
    (r#"{"type":"array","prefixItems":[{"type":"number"}]}"#, "[0.0]"),
    (
        r#"{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"note":{}},"required":["id"]}}"#,
        r#"[{"id":0}]"#,
    ),
    (r#"{"type":"object"}"#, "{}"),
    (
        r#"{"type":"object","properties":{"startDate":{"type":"string"},"b":{}},"required":["startDate"]}"#,
        r#"{"startDate":"<YYYY-MM-DD>"}"#,
    ),
    (r#"{"anyOf":[{"type":"null"},{"type":"boolean"}]}"#, "false"),
    (
        r#"{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"}},"required":["kind"]},{"type":"string"}]}"#,
        r#"{"kind":"a"}"#,
    ),
    (r##"{"$ref":"#/$defs/Point"}"##, r#"{"lat":0.0,"lon":0.0}"#),
    (r##"{"$ref":"#/$defs/Missing"}"##, r#""<x>""#),
    (r#"{"$ref":"https://example.org/schema.json"}"#, r#""<x>""#),
    (
        r##"{"allOf":[{"$ref":"#/$defs/Point"},{"required":["name"],"properties":{"name":{"type":"string"}}}]}"##,
        r#"{"lat":0.0,"lon":0.0,"name":"<name>"}"#,
    ),
];

/// The arguments of the call that is made for this schema.
fn arguments(schema: &Value) -> Value {
    let tool = json!({"name": "x", "inputSchema": schema});
    let template = template(&serde_json::from_value::<Tool>(tool).unwrap(), "call_tool");
    let call: Value = serde_json::from_str(template.lines().nth(1).unwrap()).unwrap();
    call["arguments"].clone()
}

#[test]
fn every_kind_of_property_has_its_placeholder() {
    for (property, expected) in PROPERTIES {
        let property: Value = serde_json::from_str(property).unwrap();
        let point = json!({
            "type": "object",
            "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
            "required": ["lat", "lon"],
        });
        let schema = json!({
            "type": "object",
            "properties": {"x": property},
            "required": ["x"],
            "$defs": {"Point": point},
        });
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(arguments(&schema)["x"], expected, "{property}");
    }
}

/// Names of required strings, and their placeholders.
const NAMES: [(&str, &str); 9] = [
    ("accountId", "<account_id>"),
    ("X-Api-Key", "<x_api_key>"),
    ("名前", "<名前>"),
    ("$", "<value>"),
    ("activityDate", "<YYYY-MM-DD>"),
    ("date", "<YYYY-MM-DD>"),
    ("created_at", "<YYYY-MM-DDThh:mm:ssZ>"),
    ("at", "<at>"),
    ("candidate", "<candidate>"),
];

#[test]
fn a_name_becomes_a_placeholder_or_tells_a_form() {
    for (name, expected) in NAMES {
        let schema = json!({"properties": {name: {"type": "string"}}, "required": [name]});
        assert_eq!(arguments(&schema)[name], expected);
    }
}

#[test]
fn schemas_without_arguments_and_schemas_without_end_have_a_template() {
    for schema in [
        json!(null),
        json!({}),
        json!({"type": "object", "properties": {}}),
        json!({"required": "x"}),
    ] {
        assert_eq!(arguments(&schema), json!({}), "{schema}");
    }
    let endless = json!({
        "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Loop"}},
        "required": ["a", "b"],
        "$defs": {
            "Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]},
            "Loop": {"$ref": "#/$defs/Loop"},
            "All": {"allOf": [{"$ref": "#/$defs/All"}, {"$ref": "#/$defs/All"}]},
        },
        "allOf": [{"$ref": "#/$defs/All"}],
    });
    assert!(arguments(&endless)["a"]["next"]["next"].is_object());
}

#[test]
fn a_recipe_is_a_sentence_a_call_and_what_is_optional() {
    let tool = Tool {
        name: "log_customer_interaction".to_owned(),
        server: "crm".to_owned(),
        description: "Log a customer\n interaction or activity. It is kept for ever.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "accountId": {"type": "string"},
                "activityType": {"type": "string", "enum": ["Call", "Meeting", "Demo"]},
                "activityDate": {"type": "string", "format": "date"},
                "duration": {"type": ["integer", "null"]},
                "tags": {"type": "array"},
            },
            "required": ["accountId", "activityType"],
        }),
        annotations: Value::Null,
    };
    let expected = r#"log_customer_interaction
Log a customer interaction or activity.
Ready to call with call_tool:
{"tool_name":"log_customer_interaction","arguments":{"accountId":"<account_id>","activityType":"Call"}}
# activityType: or "Meeting", "Demo"
# Optional: activityDate YYYY-MM-DD, duration integer, tags array
"#;
    assert_eq!(recipe(&tool, "call_tool"), expected);
    let many: Value = (0..30).map(|n| (format!("p{n:02}"), json!({"type": "string"}))).collect();
    let tool = Tool {
        input_schema: json!({"properties": many}),
        ..tool
    };
    let recipe = recipe(&tool, "call_tool");
    assert!(recipe.contains("p14 string, and 15 more (detail: \"schema\" shows all)"), "{recipe}");
}

#[test]
fn a_sentence_ends_where_its_point_stands() {
    for (description, expected) in [
        ("Reads v1.2 of a file. Then more.", "Reads v1.2 of a file."),
        ("No point", "No point"),
        ("搜索文件。返回结果", "搜索文件。"),
        ("", ""),
    ] {
        assert_eq!(first_sentence(description), expected);
    }
    assert_eq!(first_sentence(&"word ".repeat(99)).chars().count(), 161);
}

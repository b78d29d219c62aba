//! The result of a call as text for the model.
//!
//! A server answers in blocks: text, images, audio, resources, and data for programs. A tool_result of this course is
//! text, so the rest is described: what it is, how big, where to get it. Invariant: nothing that a server sent is dropped
//! without a word.

use kit::grouped;
use s01_loop::Output;
use serde_json::Value;

use crate::protocol::CallToolResult;

/// The result of a call, in the server's order.
pub(crate) fn output(result: &CallToolResult) -> Output {
    let mut parts: Vec<String> = result.content.iter().map(block).collect();
    parts.extend(structured(result));
    parts.retain(|part| !part.trim().is_empty());
    let text = if parts.is_empty() { "(no output)".to_owned() } else { parts.join("\n") };
    if result.is_error { Output::error(text) } else { Output::ok(text) }
}

fn block(block: &Value) -> String {
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    match field("type") {
        "text" => field("text").to_owned(),
        kind @ ("image" | "audio") => format!(
            "[{kind}: {}, {}; it cannot be shown here]",
            named(field("mimeType"), "of unknown type"),
            size(field("data"))
        ),
        "resource" => resource(&block["resource"]),
        "resource_link" => link(block),
        kind => format!("[a block of the type {}, left out]", named(kind, "?")),
    }
}

/// A resource that came along: its text, or what it is.
fn resource(resource: &Value) -> String {
    let field = |name: &str| resource[name].as_str();
    let uri = named(field("uri").unwrap_or_default(), "without address");
    let kind = field("mimeType").map_or_else(String::new, |kind| format!(", {kind}"));
    match (field("text"), field("blob")) {
        (Some(text), _) => format!("[resource {uri}{kind}]\n{text}"),
        (None, Some(blob)) => format!("[resource {uri}{kind}, {}; it is no text]", size(blob)),
        (None, None) => format!("[resource {uri}{kind}]"),
    }
}

/// A resource that stays where it is.
fn link(link: &Value) -> String {
    let field = |name: &str| link[name].as_str();
    let name = field("title").or(field("name")).unwrap_or("resource");
    let about = ["mimeType", "description"].into_iter().filter_map(field);
    let about: String = about.map(|about| format!(", {about}")).collect();
    let uri = named(field("uri").unwrap_or_default(), "no address");
    format!("[link to {name}: {uri}{about}]")
}

/// Data for programs. Servers say the same as text beside it; what they do not say there is written out.
fn structured(result: &CallToolResult) -> Option<String> {
    let data = result.structured_content.as_ref()?;
    let texts = result.content.iter();
    let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() {
        return Some(data.to_string());
    }
    (!is_told(data, &texts)).then(|| format!("[data: {data}]"))
}

/// Whether the texts hold each value of the data.
fn is_told(data: &Value, texts: &[&str]) -> bool {
    let holds = |value: &str| texts.iter().any(|text| text.contains(value));
    match data {
        Value::Null => true,
        Value::String(text) => holds(text),
        Value::Bool(_) | Value::Number(_) => holds(&data.to_string()),
        Value::Array(items) => items.iter().all(|item| is_told(item, texts)),
        Value::Object(fields) => fields.values().all(|value| is_told(value, texts)),
    }
}

/// About how many bytes are in a text of base64.
fn size(base64: &str) -> String {
    format!("{} bytes", grouped(base64.trim_end_matches('=').len() * 3 / 4))
}

fn named<'a>(name: &'a str, nameless: &'a str) -> &'a str {
    if name.is_empty() { nameless } else { name }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(result: Value) -> Output {
        output(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_are_joined_and_the_rest_is_described() {
        let link = json!({"type": "resource_link", "uri": "file:///a.rs", "name": "a.rs", "mimeType": "text/x-rust"});
        let blocks = json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGVsbG8="},
            {"type": "resource", "resource": {"uri": "docs://1", "mimeType": "text/plain", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "docs://2", "blob": "aGVsbG8="}},
            link,
            {"type": "hologram"},
            7,
            {"type": "text", "text": "two"},
        ]});
        assert_eq!(
            read(blocks).text,
            "one\n\
             [image: image/png, 5 bytes; it cannot be shown here]\n\
             [audio: of unknown type, 5 bytes; it cannot be shown here]\n\
             [resource docs://1, text/plain]\ninside\n\
             [resource docs://2, 5 bytes; it is no text]\n\
             [link to a.rs: file:///a.rs, text/x-rust]\n\
             [a block of the type hologram, left out]\n\
             [a block of the type ?, left out]\n\
             two"
        );
    }

    #[test]
    fn data_is_written_out_where_there_is_no_text_and_never_twice() {
        let data = json!({"total": 2, "hits": ["a"]});
        let only = read(json!({"content": [], "structuredContent": data}));
        assert_eq!(only.text, r#"{"hits":["a"],"total":2}"#);
        let same = json!({"content": [{"type": "text", "text": data.to_string()}], "structuredContent": data});
        assert_eq!(read(same).text, data.to_string());
        let other =
            json!({"content": [{"type": "text", "text": "2 hits"}], "structuredContent": data});
        assert_eq!(
            read(other).text,
            "2 hits\n[data: {\"hits\":[\"a\"],\"total\":2}]",
            "a is said nowhere else"
        );
        let told =
            json!({"content": [{"type": "text", "text": "2 hits: a"}], "structuredContent": data});
        assert_eq!(read(told).text, "2 hits: a");
    }

    #[test]
    fn a_failure_of_the_tool_is_an_error_and_nothing_is_still_an_answer() {
        let failed =
            json!({"content": [{"type": "text", "text": "no such service"}], "isError": true});
        assert_eq!(read(failed), Output::error("no such service"));
        assert_eq!(read(json!({})), Output::ok("(no output)"));
        assert_eq!(read(json!({"isError": true})), Output::error("(no output)"));
    }
}

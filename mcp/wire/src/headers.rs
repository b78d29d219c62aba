//! What streamable HTTP says in headers about the frame in the body.
//!
//! From 2026-07-28 on each request carries its version, its method, the name it uses and marked arguments as headers, so
//! that a gateway can route without reading bodies; a client writes them and a server holds them against the body.
//! Invariant: both ends take them from the frame by the same function.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::http::{HeaderMap, HeaderName};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::body;
use crate::frame::Frame;

/// The session of a client, in the revisions before 2026-07-28.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision that a message follows.
pub const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The last event that a client has seen of a stream.
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The most arguments of a tool with a header of their own, and the most tools with such arguments.
const MARKS: usize = 64;
const TOOLS: usize = 10_000;

/// The first revision without handshake and sessions. Revisions are dates, so later ones compare greater.
pub const STATELESS: &str = "2026-07-28";

/// Where a request says which revision it follows, from 2026-07-28 on.
pub const META_VERSION: [&str; 2] = ["_meta", "io.modelcontextprotocol/protocolVersion"];
/// What its client can do.
pub const META_CAPABILITIES: [&str; 2] = ["_meta", "io.modelcontextprotocol/clientCapabilities"];
/// The subscription that a notification belongs to: the id of the request that began it.
pub const META_SUBSCRIPTION: [&str; 2] = ["_meta", "io.modelcontextprotocol/subscriptionId"];
/// What progress notifications of a request will name.
pub const META_PROGRESS: [&str; 2] = ["_meta", "progressToken"];

/// The revision that a request itself names: it belongs to no session.
pub fn own_version(frame: &Frame) -> Option<String> {
    body::text(frame.params.as_deref()?, &META_VERSION)
}

/// The keys of an argument, from `arguments` on, and the header that it goes into.
pub type Mark = (Vec<String>, HeaderName);

/// The arguments of tools that go into headers, as the last `tools/list` marked them.
#[derive(Debug, Default)]
pub(crate) struct ToolHeaders(Mutex<HashMap<String, Arc<[Mark]>>>);

impl ToolHeaders {
    /// Takes the marks from the result of a `tools/list`. A malformed entry costs the others nothing.
    pub(crate) fn learn(&self, result: &RawValue) {
        let tools = body::get(result, &["tools"]).map(RawValue::get);
        let tools = tools.and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools).ok());
        let mut known = self.0.lock().unwrap();
        for tool in tools.into_iter().flatten() {
            let Some(name) = body::text(tool, &["name"]) else { continue };
            known.remove(&name);
            let schema = body::get(tool, &["inputSchema"]).map(RawValue::get);
            let schema = schema.filter(|schema| schema.contains("x-mcp-header"));
            let schema = schema.and_then(|schema| serde_json::from_str(schema).ok());
            let marks = schema.and_then(|schema| marked(&schema).ok()).unwrap_or_default();
            if !marks.is_empty() && known.len() < TOOLS {
                known.insert(name, marks.into());
            }
        }
    }

    /// Each header that the body of a request calls for, with its value; None for one that must not be there.
    fn wanted(&self, frame: &Frame) -> Vec<(HeaderName, Option<String>)> {
        let text = |key| body::text(frame.params.as_deref()?, &[key]);
        let method = frame.method.as_deref().unwrap_or_default();
        let name = match method {
            "tools/call" | "prompts/get" => text("name"),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => text("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => text("taskId"),
            _ => None,
        };
        let tool = name.as_ref().filter(|_| method == "tools/call");
        let marks = tool.and_then(|tool| self.0.lock().unwrap().get(tool).cloned());
        let mut wanted = vec![(VERSION, own_version(frame)), (METHOD, Some(method.to_owned()))];
        wanted.extend(name.map(|name| (NAME, Some(name))));
        for (path, header) in marks.iter().flat_map(|marks| marks.iter()) {
            let value = frame.params.as_deref().and_then(|params| body::get(params, path));
            wanted.push((header.clone(), value.and_then(plain)));
        }
        wanted
    }

    /// What a client says about a frame without a session.
    pub(crate) fn write(&self, frame: &Frame, headers: &mut HeaderMap) {
        for (name, value) in self.wanted(frame) {
            if let Some(Ok(value)) = value.map(|text| encode(&text).parse()) {
                headers.insert(name, value);
            }
        }
    }

    /// Holds the headers of a request without a session against its body.
    ///
    /// # Errors
    /// The header that is missing, or says something else.
    pub(crate) fn check(&self, frame: &Frame, headers: &HeaderMap) -> Result<(), String> {
        for (name, wanted) in self.wanted(frame) {
            let values: Vec<_> = headers.get_all(&name).iter().collect();
            let said = values.first().map(|value| decode(value.to_str().ok()?));
            let wrong = match (said, wanted) {
                _ if values.len() > 1 => "is there twice",
                (Some(None), _) => "cannot be decoded",
                (None, Some(_)) => "is missing",
                (Some(_), None) => "has no value in the body",
                (Some(said), wanted) if said != wanted => "says something else than the body",
                _ => continue,
            };
            return Err(format!("the header {name} {wrong}"));
        }
        Ok(())
    }
}

/// The arguments that an input schema marks with `x-mcp-header`.
///
/// # Errors
/// Which mark is not as it must be; the specification has clients leave out such a tool.
pub fn marked(schema: &Value) -> Result<Vec<Mark>, String> {
    let mut found: Vec<Mark> = Vec::new();
    let mut open = vec![(vec!["arguments".to_owned()], schema)];
    while let Some((above, schema)) = open.pop() {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let path = [&above[..], std::slice::from_ref(name)].concat();
            if let Some(mark) = property.get("x-mcp-header") {
                let wrong = |why| Err(format!("x-mcp-header of {}: {why}", path[1..].join(".")));
                let mark = mark.as_str().filter(|mark| !mark.is_empty());
                let header = mark.and_then(|mark| format!("mcp-param-{mark}").parse().ok());
                let Some(header) = header else {
                    return wrong("it must be a string that can name a header");
                };
                let kind = property["type"].as_str().unwrap_or_default();
                if !["string", "integer", "boolean"].contains(&kind) {
                    return wrong("only a string, an integer or a boolean goes into a header");
                }
                if found.len() == MARKS {
                    return wrong("too many arguments have a header");
                }
                if found.iter().any(|(_, other)| *other == header) {
                    return wrong("another argument has the same header");
                }
                found.push((path.clone(), header));
            }
            open.push((path, property));
        }
    }
    Ok(found)
}

/// The text of a string, a number or a boolean.
fn plain(value: &RawValue) -> Option<String> {
    match value.get().as_bytes().first()? {
        b'"' => serde_json::from_str(value.get()).ok(),
        b'{' | b'[' | b'n' => None,
        _ => Some(value.get().to_owned()),
    }
}

const WRAPPED: (&str, &str) = ("=?base64?", "?=");

/// A text as a header holds it: wrapped when blanks at its ends, control characters or other scripts would not survive.
fn encode(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim() == text;
    if plain && !(text.starts_with(WRAPPED.0) && text.ends_with(WRAPPED.1)) {
        text.to_owned()
    } else {
        format!("{}{}{}", WRAPPED.0, BASE64_STANDARD.encode(text), WRAPPED.1)
    }
}

fn decode(value: &str) -> Option<String> {
    let inner = value.strip_prefix(WRAPPED.0);
    match inner.and_then(|rest| rest.strip_suffix(WRAPPED.1)) {
        None => Some(value.to_owned()),
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
    }
}

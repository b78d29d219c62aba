//! How a server says who it is, in both lifecycles.
//!
//! Up to 2025-11-25 a client begins with `initialize`; from 2026-07-28 on each request stands for itself, and
//! `server/discover` asks. Invariant: what a revision does not have is refused as that revision says.

use mcp_wire::body;
use mcp_wire::frame::{Frame, Id, code};
use mcp_wire::headers::{STATELESS, own_version};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The revisions with a handshake, the newest first.
pub const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// What the revisions without a session do not have any more.
const GONE: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Who a server is.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name, for programs.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it offers.
    pub capabilities: Value,
    /// What a model should know about it.
    pub instructions: String,
}

/// Why a request has no result: the error of JSON-RPC.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// One of [`code`], most of the time.
    pub code: i64,
    /// In a sentence.
    pub message: String,
    /// For programs.
    pub data: Option<Value>,
}

impl Refusal {
    /// Without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Nobody here knows the method.
    pub fn unknown(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// As the answer to a request.
    pub fn answer(&self, asked: Option<Id>) -> Frame {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        Frame {
            error: Some(raw(error)),
            ..Frame::error(asked, 0, "")
        }
    }
}

/// What concerns the lifecycle, answered; None for all other requests.
pub fn answer(asked: &Frame, about: impl FnOnce() -> About) -> Option<Result<Value, Refusal>> {
    let method = asked.method.as_deref()?;
    let version = own_version(asked);
    if let Some(version) = version.as_ref().filter(|version| *version != STATELESS) {
        return Some(Err(Refusal {
            code: code::UNSUPPORTED_VERSION,
            message: format!("Unsupported protocol version: {version}"),
            data: Some(json!({ "supported": [STATELESS], "requested": version })),
        }));
    }
    if version.is_some() && GONE.contains(&method) {
        return Some(Err(Refusal::unknown(method)));
    }
    match method {
        "ping" => Some(Ok(json!({}))),
        "initialize" => {
            let wanted = asked.params.as_deref();
            let wanted = wanted.and_then(|params| body::text(params, &["protocolVersion"]));
            let known = REVISIONS.into_iter().find(|it| Some(*it) == wanted.as_deref());
            let about = about();
            Some(Ok(json!({
                "protocolVersion": known.unwrap_or(REVISIONS[0]),
                "capabilities": about.capabilities,
                "serverInfo": { "name": about.name, "version": about.version },
                "instructions": about.instructions,
            })))
        }
        "server/discover" => {
            let about = about();
            let info = json!({ "name": about.name, "version": about.version });
            Some(Ok(complete(json!({
                "supportedVersions": [STATELESS],
                "capabilities": about.capabilities,
                "instructions": about.instructions,
                "_meta": { "io.modelcontextprotocol/serverInfo": info },
            }))))
        }
        _ => None,
    }
}

/// A list, with what the revision of the request wants beside it.
pub fn list(asked: &Frame, key: &str, items: impl Serialize) -> Value {
    let list = json!({ key: items });
    if own_version(asked).is_some() { complete(list) } else { list }
}

/// The marks of a result from 2026-07-28 on: nothing follows, and it may be old the moment it is read.
fn complete(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = 0.into();
    result["cacheScope"] = "private".into();
    result
}

/// Text of JSON that is made here.
pub fn raw(value: impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(&value).expect("it is JSON")
}

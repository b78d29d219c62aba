//! A JSON-RPC frame: what is read from a transport, and written to the next one.
//!
//! A program between client and server looks at a name or a token and passes the rest on. Types would drop what they do
//! not know and round what does not fit them; so the bodies stay text. Invariant: `params`, `result`, `error` and members
//! that nobody knows leave as the bytes they came as.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

/// The largest frame that is read, unless an option says otherwise.
pub const FRAME_LIMIT: usize = 16 << 20;

/// The error codes of JSON-RPC and of the specification that this crate itself answers with.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is no frame.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Nobody knows the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// What the request must carry is missing.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The other side is gone, or refuses for a reason that JSON-RPC has no number for.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// A header contradicts the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client did not declare a capability (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the version (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// The id of a request: a string or a number of any length. Two ids are equal when their values are.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<str>);

impl Id {
    /// The id that `raw` holds, when it is a string or a number.
    pub fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            // Escapes differ from writer to writer; what they stand for does not.
            b'"' if text.contains('\\') => {
                let decoded: String = serde_json::from_str(text).ok()?;
                Some(Self::from(decoded.as_str()))
            }
            b'"' | b'-' | b'0'..=b'9' => Some(Self(text.into())),
            _ => None,
        }
    }

    /// As JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// As a value for [`crate::body::set`].
    pub fn to_raw(&self) -> Box<RawValue> {
        RawValue::from_string(self.0.to_string()).expect("an id is JSON")
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self(serde_json::Value::from(text).to_string().into())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has a method and an id.
    Request,
    /// It has a method and no id.
    Notification,
    /// It has a result or an error.
    Response,
}

/// One message of JSON-RPC 2.0.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Of a request or a response. A response without one answers a request that could not be read.
    pub id: Option<Id>,
    /// Of a request or a notification.
    pub method: Option<Box<str>>,
    /// Arguments of the method.
    pub params: Option<Box<RawValue>>,
    /// The answer.
    pub result: Option<Box<RawValue>>,
    /// The refusal.
    pub error: Option<Box<RawValue>>,
    /// Members that JSON-RPC does not define.
    pub extra: Vec<(Box<str>, Box<RawValue>)>,
    /// The request on whose stream it came, where the transport says so (HTTP). It is not sent on.
    pub about: Option<Id>,
}

impl Frame {
    /// A request; `params` of `null` are left out.
    ///
    /// # Panics
    /// When `params` cannot be JSON: a map with keys that are no strings.
    pub fn request(id: impl Into<Id>, method: &str, params: impl Serialize) -> Self {
        Self {
            id: Some(id.into()),
            ..Self::notification(method, params)
        }
    }

    /// A notification; `params` of `null` are left out.
    ///
    /// # Panics
    /// When `params` cannot be JSON.
    pub fn notification(method: &str, params: impl Serialize) -> Self {
        Self {
            method: Some(method.into()),
            params: Some(raw(params)).filter(|params| params.get() != "null"),
            ..Self::default()
        }
    }

    /// An answer.
    ///
    /// # Panics
    /// When `result` cannot be JSON.
    pub fn result(id: Id, result: impl Serialize) -> Self {
        Self {
            id: Some(id),
            result: Some(raw(result)),
            ..Self::default()
        }
    }

    /// A refusal; without an id when the request could not be read.
    pub fn error(id: Option<Id>, code: i64, message: &str) -> Self {
        Self {
            id,
            error: Some(raw(json!({ "code": code, "message": message }))),
            ..Self::default()
        }
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// When the text is no JSON, or no frame.
    pub fn parse(text: &[u8]) -> Result<Self, NotAFrame> {
        let Parts(members) = serde_json::from_slice(text).map_err(|error| {
            if error.is_data() {
                NotAFrame::invalid(
                    None,
                    "a frame is one JSON object; batches are not supported",
                )
            } else {
                NotAFrame {
                    id: None,
                    code: code::PARSE_ERROR,
                    reason: format!("Parse error: {error}"),
                }
            }
        })?;
        let mut frame = Self::default();
        let (mut version, mut id, mut method) = (None, None, None);
        let mut twice = None;
        for (name, value) in members {
            let place = match &*name {
                "jsonrpc" => &mut version,
                "id" => &mut id,
                "method" => &mut method,
                "params" => &mut frame.params,
                "result" => &mut frame.result,
                "error" => &mut frame.error,
                _ => {
                    frame.extra.push((name, value));
                    continue;
                }
            };
            if place.replace(value).is_some() {
                twice = Some(name);
            }
        }
        // First of all, so that a refusal can name the request that it refuses.
        frame.id = id.as_deref().and_then(Id::parse);
        let refuse = |reason: &str| Err(NotAFrame::invalid(frame.id.clone(), reason));
        if let Some(name) = twice {
            return refuse(&format!("{name} is there twice"));
        }
        if version.is_none_or(|version| version.get() != "\"2.0\"") {
            return refuse("jsonrpc is not \"2.0\"");
        }
        let null = id.as_deref().is_some_and(|id| id.get() == "null");
        if id.is_some() && frame.id.is_none() && !(null && frame.error.is_some()) {
            return refuse("id is neither a string nor a number");
        }
        if let Some(method) = method {
            frame.method = match serde_json::from_str(method.get()) {
                Ok(method) => Some(method),
                Err(_) => return refuse("method is not a string"),
            };
        }
        let answers = [&frame.result, &frame.error].into_iter().flatten().count();
        match (&frame.method, answers) {
            (Some(_), 0) => Ok(frame),
            (None, 1) if frame.id.is_some() || null => Ok(frame),
            (None, 0) => refuse("there is neither a method nor a result nor an error"),
            (None, 1) => refuse("an answer without the id of its request"),
            _ => refuse("there may be only one of method, result and error"),
        }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match (&self.method, &self.id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) => Kind::Response,
        }
    }

    /// Whether it calls this method.
    pub fn calls(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// Adds it to `out` as one JSON object.
    pub fn write(&self, out: &mut Vec<u8>) {
        let bodies = [
            ("params", &self.params),
            ("result", &self.result),
            ("error", &self.error),
        ];
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
        if let Some(id) = &self.id {
            member(out, "id", id.as_json());
        } else if self.method.is_none() {
            member(out, "id", "null");
        }
        if let Some(method) = &self.method {
            member(
                out,
                "method",
                &serde_json::Value::from(&**method).to_string(),
            );
        }
        for (name, body) in bodies {
            if let Some(body) = body {
                member(out, name, body.get());
            }
        }
        for (name, value) in &self.extra {
            member(out, name, value.get());
        }
        out.push(b'}');
    }

    /// As one JSON object.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        self.write(&mut out);
        out
    }

    /// As text without line breaks, for transports whose frames end with one. Inside JSON they are blanks.
    pub fn to_line(&self) -> String {
        let mut out = self.to_vec();
        for byte in &mut out {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        String::from_utf8(out).expect("its parts are text")
    }
}

/// As raw JSON.
pub(crate) fn raw(value: impl Serialize) -> Box<RawValue> {
    to_raw_value(&value).expect("the value can be JSON")
}

fn member(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b',');
    // A name may hold quotes and control characters too.
    serde_json::to_writer(&mut *out, name).expect("a vector takes everything");
    out.push(b':');
    out.extend_from_slice(value.as_bytes());
}

/// The members of an object, as they stand there.
struct Parts(Vec<(Box<str>, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Parts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some(member) = map.next_entry()? {
                    // A flood of members would cost more memory than its text.
                    if members.len() == 64 {
                        return Err(A::Error::custom("too many members"));
                    }
                    members.push(member);
                }
                Ok(Parts(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A text that is no frame, and what the specification answers to it.
#[derive(Clone, Debug, PartialEq)]
pub struct NotAFrame {
    /// Of the request that it seems to be.
    pub id: Option<Id>,
    /// One of [`code`].
    pub code: i64,
    /// What is wrong, in a sentence.
    pub reason: String,
}

impl NotAFrame {
    /// A frame that is JSON, but not as it must be.
    pub fn invalid(id: Option<Id>, reason: &str) -> Self {
        Self {
            id,
            code: code::INVALID_REQUEST,
            reason: format!("Invalid Request: {reason}"),
        }
    }

    /// A frame over the limit, which was skipped unread.
    pub(crate) fn too_long(limit: usize) -> Self {
        Self::invalid(None, &format!("the frame is longer than {limit} bytes"))
    }

    /// The answer.
    pub fn reply(&self) -> Frame {
        Frame::error(self.id.clone(), self.code, &self.reason)
    }
}

impl fmt::Display for NotAFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NotAFrame {}

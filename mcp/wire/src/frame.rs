//! A JSON-RPC frame: what is read from a transport, and written to the next one.
//!
//! A program between client and server looks at a name or a token and passes the rest on. Types would drop what they do
//! not know and round what does not fit them; so the bodies stay text. Invariant: `params`, `result`, `error` and members
//! that nobody knows leave as the bytes they came as.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::body;

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
    /// A header contradicts the body (2026-07-28). Of the three that HTTP answers with 400 the greatest.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The server does not speak the version (2026-07-28). Of those three the least.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// The id of a request: a string or a number of any length. Two ids are equal when their values are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<str>);

impl Id {
    /// The id that `raw` holds, when it is a string or a number.
    pub fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            // Escapes differ from writer to writer; what they stand for does not. Some stand for nothing.
            b'"' if text.contains('\\') => match serde_json::from_str::<String>(text) {
                Ok(decoded) => Some(Self::from(&*decoded)),
                Err(_) => Some(Self(text.into())),
            },
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
        Self(json!(text).to_string().into())
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
    /// Members that JSON-RPC does not define, as they stand there, each behind a comma.
    pub extra: Box<str>,
    /// The request on whose stream it came, where the transport says so (HTTP). It is not sent on.
    pub about: Option<Id>,
}

/// Made of bodies that serde can write: one that it cannot, a map with keys that are no strings, panics.
impl Frame {
    /// A request; `params` of `null` are left out.
    pub fn request(id: impl Into<Id>, method: &str, params: impl Serialize) -> Self {
        Self {
            id: Some(id.into()),
            ..Self::notification(method, params)
        }
    }

    /// A notification; `params` of `null` are left out.
    pub fn notification(method: &str, params: impl Serialize) -> Self {
        Self {
            method: Some(method.into()),
            params: Some(raw(params)).filter(|params| params.get() != "null"),
            ..Self::default()
        }
    }

    /// An answer.
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

    /// The refusal of what is JSON, but not as it must be.
    pub(crate) fn invalid(id: Option<Id>, why: &str) -> Self {
        Self::error(id, code::INVALID_REQUEST, &format!("Invalid Request: {why}"))
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// The answer to a text that is no JSON, or no frame; it has the id of the request that the text seems to be.
    pub fn parse(text: &[u8]) -> Result<Self, Self> {
        const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
        let no_json = |why: &dyn fmt::Display| {
            Self::error(None, code::PARSE_ERROR, &format!("Parse error: {why}"))
        };
        let text = str::from_utf8(text).map_err(|error| no_json(&error))?;
        let members = body::members(text).map_err(|error| {
            let why = "a frame is one JSON object; batches are not supported";
            if error.is_data() { Self::invalid(None, why) } else { no_json(&error) }
        })?;
        let mut found = [None; MEMBERS.len()];
        let (mut extra, mut twice) = (String::new(), false);
        for (key, value) in members {
            let name = body::string(key);
            match MEMBERS.iter().position(|member| *member == name) {
                Some(at) => twice |= found[at].replace(value).is_some(),
                None => extra.extend([",", key.get(), ":", value.get()]),
            }
        }
        let [version, id, method, params, result, error] = found;
        // First of all, so that a refusal can name the request that it refuses.
        let named = id.and_then(Id::parse);
        let null = id.is_some_and(|id| id.get() == "null") && error.is_some();
        let other_version = version.is_none_or(|version| version.get() != "\"2.0\"");
        let odd_id = id.is_some() && named.is_none() && !null;
        let name = method.map(|method| serde_json::from_str::<Box<str>>(method.get()).ok());
        let whats = [method, result, error].iter().flatten().count();
        let rules = [
            (twice, "a member is there twice"),
            (other_version, "jsonrpc is not \"2.0\""),
            (odd_id, "id is neither a string nor a number"),
            (name == Some(None), "method is not a string"),
            (whats == 0, "there is no method, result or error"),
            (whats > 1, "method, result and error exclude each other"),
            (id.or(method).is_none(), "an answer needs its request's id"),
        ];
        if let Some((_, why)) = rules.iter().find(|(broken, _)| *broken) {
            return Err(Self::invalid(named, why));
        }
        Ok(Self {
            id: named,
            method: name.flatten(),
            params: params.map(RawValue::to_owned),
            result: result.map(RawValue::to_owned),
            error: error.map(RawValue::to_owned),
            extra: extra.into(),
            about: None,
        })
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

    /// The id that its params or its result hold at `path`.
    pub fn names(&self, path: &[&str]) -> Option<Id> {
        Id::parse(body::get(self.params.as_deref().or(self.result.as_deref())?, path)?)
    }

    /// Puts an id there.
    pub fn rename(&mut self, path: &[&str], id: &Id) {
        let body = if self.params.is_some() { &mut self.params } else { &mut self.result };
        if let Some(renamed) = body.as_ref().and_then(|body| body::set(body, path, &id.to_raw())) {
            *body = Some(renamed);
        }
    }

    /// Why it refuses, in the words of its error.
    pub fn refusal(&self) -> String {
        self.error.as_deref().map(message).unwrap_or_default()
    }

    /// The bytes of its bodies.
    pub(crate) fn size(&self) -> usize {
        let bodies = [&self.params, &self.result, &self.error];
        let bodies = bodies.iter().filter_map(|body| body.as_deref());
        bodies.map(|body| body.get().len()).sum::<usize>() + self.extra.len()
    }

    /// As text without line breaks, for transports whose frames end with one. Inside JSON they are blanks.
    pub fn to_line(&self) -> String {
        let text = self.to_string();
        if text.contains('\n') || text.contains('\r') {
            text.replace(['\n', '\r'], " ")
        } else {
            text
        }
    }
}

/// As one JSON object.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id.as_ref().map(Id::as_json);
        let method = self.method.as_deref().map(|name| json!(name).to_string());
        let members = [
            ("id", id.or(self.method.is_none().then_some("null"))),
            ("method", method.as_deref()),
            ("params", self.params.as_deref().map(RawValue::get)),
            ("result", self.result.as_deref().map(RawValue::get)),
            ("error", self.error.as_deref().map(RawValue::get)),
        ];
        f.write_str("{\"jsonrpc\":\"2.0\"")?;
        for (name, value) in members {
            if let Some(value) = value {
                write!(f, ",\"{name}\":{value}")?;
            }
        }
        write!(f, "{}}}", self.extra)
    }
}

/// As raw JSON.
pub(crate) fn raw(value: impl Serialize) -> Box<RawValue> {
    to_raw_value(&value).expect("the value can be JSON")
}

/// What an error says.
pub(crate) fn message(error: &RawValue) -> String {
    body::text(error, &["message"]).unwrap_or_else(|| error.get().to_owned())
}

//! Channels: messages that a server pushes to an agent, and permissions that it asks the user for.
//!
//! They come through [`Options::notifications`](crate::Options::notifications); [`Channel::read`] says what they mean.
//! Invariants: what a server says cannot end the tag that it stands in; a permission is given once, in time, and to the
//! server that has asked.

use std::time::Duration;

use kit::{Tickets, cut, one_line, quoted};
use mcp_wire::body;
use mcp_wire::frame::Frame;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The capability under `experimental` of a server that pushes messages.
pub const CAPABILITY: &str = "claude/channel";
/// A message.
pub const MESSAGE: &str = "notifications/claude/channel";
/// A permission that the server asks for.
pub const REQUEST: &str = "notifications/claude/channel/permission_request";
/// What the user has said about it; sent with [`Client::notify`](crate::Client::notify).
pub const ANSWER: &str = "notifications/claude/channel/permission";

/// A question may wait so long.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// Questions of a server that may wait at a time; one more is refused.
const QUESTIONS: usize = 8;
/// The most characters of a message and of a question.
const TEXT: usize = 16_000;
const QUESTION: usize = 500;

/// What a server says of its own accord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// For the model: `<channel source="NAME">…</channel>`.
    Message(String),
    /// For the user, who allows or denies it by the id: it is handed to [`Channel::answer`].
    Question {
        /// Five letters, good for one answer within ten minutes.
        id: String,
        /// What the server wants to do.
        text: String,
    },
    /// Too many questions wait: this tells the server no, as params of [`ANSWER`].
    Refused(Value),
}

/// The channel of one server.
#[derive(Debug)]
pub struct Channel {
    server: String,
    /// The server's ids of its questions.
    questions: Tickets<Value>,
}

impl Channel {
    /// The channel of the server that greets with `hello`; None when it declares none.
    pub fn of(server: &str, hello: &RawValue) -> Option<Self> {
        let declared = body::get(hello, &["capabilities", "experimental", CAPABILITY])?;
        (declared.get() != "null").then(|| Self {
            server: server.to_owned(),
            questions: Tickets::new(LIFE),
        })
    }

    /// What a notification means here; None for one that is not about channels.
    pub fn read(&mut self, notification: &Frame) -> Option<Event> {
        let params = notification.params.as_deref().map_or("{}", RawValue::get);
        let params: Value = serde_json::from_str(params).unwrap_or_default();
        if notification.calls(MESSAGE) {
            let message = message(&self.server, &params)?;
            return Some(Event::Message(message));
        }
        if !notification.calls(REQUEST) {
            return None;
        }
        if self.questions.waiting() >= QUESTIONS {
            return Some(Event::Refused(verdict(&params["request_id"], false)));
        }
        let text = question(&params);
        let id = self.questions.issue(params["request_id"].clone());
        Some(Event::Question { id, text })
    }

    /// The params of [`ANSWER`] when the user has said yes or no; None when no question has this id any more.
    pub fn answer(&mut self, id: &str, allow: bool) -> Option<Value> {
        self.questions.take(id).map(|asked| verdict(&asked, allow))
    }

    /// The same for the questions that nobody has answered in time: no.
    pub fn expired(&mut self) -> Vec<Value> {
        self.questions.expired().iter().map(|asked| verdict(asked, false)).collect()
    }
}

fn verdict(asked: &Value, allow: bool) -> Value {
    json!({ "request_id": asked, "behavior": if allow { "allow" } else { "deny" } })
}

/// The message in its tag. What the server adds to it in `meta` becomes attributes, as far as they have plain names.
fn message(server: &str, params: &Value) -> Option<String> {
    let text = params["content"].as_str()?;
    let meta = params["meta"].as_object().into_iter().flatten();
    let meta = meta.filter_map(|(name, value)| Some((&**name, value.as_str()?)));
    Some(quoted("channel", server, meta, text, TEXT))
}

/// What the user is asked, in one line.
fn question(params: &Value) -> String {
    let text = |key: &str| params[key].as_str().map(one_line).filter(|text| !text.is_empty());
    let parts: Vec<_> =
        ["tool_name", "description", "input_preview"].into_iter().filter_map(text).collect();
    let all = if parts.is_empty() { one_line(&params.to_string()) } else { parts.join(": ") };
    cut(&all, QUESTION)
}

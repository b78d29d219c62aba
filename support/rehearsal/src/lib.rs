//! The rehearsal: plays a language model so that a newcomer needs no key and no network.
//!
//! ```text
//! request ─ scene ─▶ who asked for what, and what was called since
//!         ─ understand ─▶ a plan: rows of the table, their slots filled; or a refusal that quotes the word it stumbled over
//!         ─ act ─▶ the next calls ─▶ tool_use blocks
//!              └▶ nothing left ──▶ speak: text made from the results
//! ```
//!
//! It keeps no state: every reply is worked out from the conversation in the request. Invariants: it calls only tools on
//! offer, never sends an empty text, ends every turn, and does all of a request or none of it.

mod act;
mod clause;
mod create;
mod engine;
mod history;
mod mcp;
mod people;
mod persona;
mod plan;
mod python;
mod rank;
mod scene;
mod schema;
mod side;
mod slots;
mod speak;
mod table;
mod tasks;
mod tools;
mod understand;
mod when;
mod words;

use serde_json::Value;

/// How it speaks of itself.
pub(crate) const WHO: &str = "I am the rehearsal model of this course";

/// A tool on offer.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    /// The name it is called by.
    pub name: &'a str,
    /// What it says it does.
    pub description: &'a str,
    /// The JSON Schema of its input.
    pub schema: &'a Value,
}

/// One block of a message.
#[derive(Clone, Copy, Debug)]
pub enum Block<'a> {
    /// Text.
    Text(&'a str),
    /// A call of the model.
    Call {
        /// The id that its result names.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// The arguments.
        input: &'a Value,
    },
    /// What a tool answered.
    Result {
        /// The id of the call.
        id: &'a str,
        /// The text.
        text: &'a str,
        /// Whether the tool failed.
        failed: bool,
    },
}

/// One message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// Whether it comes from the user's side.
    pub from_user: bool,
    /// What it consists of.
    pub blocks: Vec<Block<'a>>,
}

/// Which tools the reply may or must call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Choice {
    /// As the model likes.
    #[default]
    Auto,
    /// Some tool.
    Any,
    /// This tool.
    Tool(String),
    /// No tool.
    None,
}

/// What the model is asked.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The tools on offer.
    pub tools: Vec<Tool<'a>>,
    /// The conversation.
    pub messages: Vec<Message<'a>>,
    /// Which tools may be called.
    pub choice: Choice,
    /// The schema that the text of the reply must obey.
    pub format: Option<Value>,
    /// Texts at which the reply ends.
    pub stops: Vec<String>,
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text; empty only when there are calls.
    pub text: String,
    /// The calls, in order: a tool's name and its arguments.
    pub calls: Vec<(String, Value)>,
    /// The stop sequence at which the text ends.
    pub stopped_at: Option<String>,
}

/// The reply to a request.
pub fn answer(request: &Request) -> Reply {
    let mut reply = match request.choice {
        Choice::None => persona::answer(&Request { tools: Vec::new(), ..request.clone() }),
        _ => persona::answer(request),
    };
    schema::obey_choice(request, &mut reply);
    if let (Some(format), true) = (&request.format, reply.calls.is_empty()) {
        reply.text = schema::instance(format, &reply.text).to_string();
    }
    if reply.text.trim().is_empty() && reply.calls.is_empty() {
        reply.text = "I have nothing to say to that.".to_owned();
    }
    let stops = request.stops.iter().filter(|stop| !stop.is_empty());
    let first = stops.filter_map(|stop| Some((reply.text.find(stop.as_str())?, stop)));
    if let Some((at, stop)) = first.min_by_key(|(at, _)| *at) {
        reply.text.truncate(at);
        reply.calls.clear();
        reply.stopped_at = Some(stop.clone());
    }
    reply
}

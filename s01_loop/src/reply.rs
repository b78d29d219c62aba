//! The reply, put together from the stream of events (Messages API, "Streaming").
//!
//! Text is shown as it comes; a block counts only when it is whole. Invariant: a reply holds nothing that the API would
//! refuse to read back: no empty text, no half tool call, no id twice, no block that is unknown to it.

use std::ops::AddAssign;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::mend::{is_used, mend};
use crate::message::{Block, Message, Role};
use crate::observer::{Event, Observer};
use crate::response::ErrorDetail;
use crate::tool::ToolCall;

/// What a request cost, in tokens, as the API counts them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input neither read from nor written to the prompt cache.
    pub input_tokens: u64,
    /// Output.
    pub output_tokens: u64,
    /// Input written to the prompt cache.
    pub cache_creation_input_tokens: u64,
    /// Input read from the prompt cache.
    pub cache_read_input_tokens: u64,
}

// The counts come from a server: whatever it writes, a sum is no reason to stop.
impl Usage {
    /// All tokens of the request and its reply.
    pub fn total(&self) -> u64 {
        let read = self.cache_read_input_tokens;
        let written = self.cache_creation_input_tokens;
        let counts = [self.input_tokens, self.output_tokens, read, written];
        counts.into_iter().fold(0, u64::saturating_add)
    }

    /// What came on top of an earlier sum.
    pub fn since(&self, before: &Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    fn with(&self, other: &Self, sum: fn(u64, u64) -> u64) -> Self {
        let sum = |count: fn(&Self) -> u64| sum(count(self), count(other));
        Self {
            input_tokens: sum(|usage| usage.input_tokens),
            output_tokens: sum(|usage| usage.output_tokens),
            cache_creation_input_tokens: sum(|usage| usage.cache_creation_input_tokens),
            cache_read_input_tokens: sum(|usage| usage.cache_read_input_tokens),
        }
    }
}

impl AddAssign<&Usage> for Usage {
    fn add_assign(&mut self, more: &Usage) {
        *self = self.with(more, u64::saturating_add);
    }
}

/// A complete reply of the model.
#[derive(Clone, Debug)]
pub struct Reply {
    message: Message,
    /// Why it ended, in the API's words (`end_turn`, `tool_use`, `max_tokens`, …). Never decide on it alone whether to
    /// go on: ask [`Reply::wants_tools`].
    pub stop_reason: String,
    /// What it cost.
    pub usage: Usage,
    /// Whether a tool call was dropped because the reply was cut in the middle of it.
    pub lost_a_call: bool,
    /// How large the conversation is that ends with it, in tokens. Not the sum of `usage` when it took several requests.
    size: u64,
}

impl Reply {
    /// The message to keep in the history.
    pub fn message(&self) -> Message {
        self.message.clone()
    }

    /// Whether tools must run before the model goes on.
    pub fn wants_tools(&self) -> bool {
        self.message.tool_calls().next().is_some()
    }

    /// The calls, in order.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        self.message.tool_calls().cloned().collect()
    }

    /// Whether a limit ended it before the model did.
    pub fn is_cut(&self) -> bool {
        is_cut(&self.stop_reason)
    }

    /// How large the conversation is that ends with this reply, in tokens.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// This reply and the one that goes on where it was cut, as one: the text without a seam, unless a call was lost there;
    /// the costs added up. How it ended is how the second one ended.
    pub fn followed_by(self, next: Self) -> Self {
        let mut blocks = self.message.blocks().to_vec();
        let mut more = next.message.blocks().iter().cloned().peekable();
        if !self.lost_a_call
            && let Some(Block::Text { text, .. }) = blocks.last_mut()
            && let Some(Block::Text { text: rest, .. }) =
                more.next_if(|block| matches!(block, Block::Text { extra, .. } if extra.is_empty()))
        {
            text.push_str(&rest);
        }
        blocks.extend(more);
        let mut usage = self.usage;
        usage += &next.usage;
        Self {
            message: Message::new(Role::Assistant, blocks),
            usage,
            ..next
        }
    }

    /// What the user should know about how it ended.
    fn remark(&self) -> Option<String> {
        let reason = self.stop_reason.as_str();
        let is_usual =
            matches!(reason, "" | "end_turn" | "tool_use" | "stop_sequence" | "pause_turn");
        if self.lost_a_call {
            Some("the reply was cut in the middle of a tool call, which was dropped".into())
        } else if self.is_cut() {
            Some(format!("the reply was cut ({reason})"))
        } else if !is_usual {
            Some(format!("the model ended its reply with `{reason}`"))
        } else {
            self.message.blocks().is_empty().then(|| "the model answered nothing".into())
        }
    }
}

/// Collects the events of one request into a reply. However it ends, by its reply, an error, or Ctrl-C, what it costs is added
/// to the sum and its end is seen.
pub(crate) struct Assembler<'a> {
    watch: &'a dyn Observer,
    spent: &'a Mutex<Usage>,
    /// The conversation so far: a call that repeats an id of it gets a new one.
    history: &'a [Message],
    open: Option<OpenBlock>,
    blocks: Vec<Block>,
    stop_reason: Option<String>,
    /// What the API has counted, as it wrote it.
    counts: Map<String, Value>,
    complete: bool,
}

/// A block that is still arriving.
struct OpenBlock {
    fields: Map<String, Value>,
    /// The JSON text of a tool's input, which arrives in pieces.
    input: String,
}

impl Drop for Assembler<'_> {
    fn drop(&mut self) {
        *self.spent.lock().unwrap() += &self.usage();
        self.watch.see(Event::Done);
    }
}

impl<'a> Assembler<'a> {
    pub(crate) fn new(
        watch: &'a dyn Observer,
        history: &'a [Message],
        spent: &'a Mutex<Usage>,
    ) -> Self {
        watch.see(Event::Waiting);
        Self {
            watch,
            spent,
            history,
            open: None,
            blocks: Vec::new(),
            stop_reason: None,
            counts: Map::new(),
            complete: false,
        }
    }

    /// Takes one event; true when the reply is complete.
    pub(crate) fn take(&mut self, data: &str) -> Result<bool, ApiError> {
        let event: Wire = serde_json::from_str(data).map_err(|error| ApiError::Malformed {
            reason: format!("an event cannot be read ({error})"),
        })?;
        match event {
            Wire::MessageStart { message } => self.count(&message["usage"]),
            Wire::ContentBlockStart { content_block } => {
                self.close_block();
                if let Some(Value::String(text)) = content_block.get("text")
                    && !text.is_empty()
                {
                    self.watch.see(Event::Text(text));
                }
                self.open = Some(OpenBlock {
                    fields: content_block,
                    input: String::new(),
                });
            }
            Wire::ContentBlockDelta { delta } => self.extend(delta),
            Wire::ContentBlockStop {} => self.close_block(),
            Wire::MessageDelta { delta, usage } => {
                let reason = delta["stop_reason"].as_str().map(str::to_owned);
                self.stop_reason = reason.or(self.stop_reason.take());
                self.count(&usage);
            }
            Wire::MessageStop {} => self.complete = true,
            Wire::Error { error } => {
                return Err(ApiError::InStream {
                    kind: error.kind,
                    message: error.message,
                });
            }
            Wire::Unknown => {}
        }
        Ok(self.complete)
    }

    /// The reply, once the stream has ended.
    pub(crate) fn finish(mut self) -> Result<Reply, ApiError> {
        let stop_reason = match self.stop_reason.take() {
            Some(reason) => reason,
            None if self.complete => String::new(),
            None => {
                return Err(ApiError::Interrupted {
                    reason: "the connection closed in the middle of it".into(),
                });
            }
        };
        self.close_block();
        let lost_a_call = self.drop_half_call(&stop_reason);
        while self.blocks.pop_if(|last| matches!(last, Block::Other(_))).is_some() {
            // The API refuses an assistant message that ends in thinking, which is all that a mended reply has of these.
        }
        let reply = Reply {
            message: Message::new(Role::Assistant, std::mem::take(&mut self.blocks)),
            stop_reason,
            size: self.usage().total(),
            usage: self.usage(),
            lost_a_call,
        };
        self.watch.see(Event::Spent(&reply.usage));
        if let Some(remark) = reply.remark() {
            self.watch.see(Event::Notice(&remark));
        }
        Ok(reply)
    }

    /// A last call whose input is no JSON object is half a call when the reply was cut, and then it goes. Otherwise the model
    /// wrote it like that, and the tool will say what is wrong with it.
    fn drop_half_call(&mut self, stop_reason: &str) -> bool {
        let lost = |block: &Block| match block {
            Block::ToolUse(call) if call.lost_input().is_some() => Some(call.clone()),
            _ => None,
        };
        let is_half =
            is_cut(stop_reason) && self.blocks.pop_if(|last| lost(last).is_some()).is_some();
        for call in self.blocks.iter().filter_map(lost) {
            self.watch.see(Event::Call(&call));
        }
        is_half
    }

    /// Takes the token counts of an event: cumulative, and only those it knows.
    fn count(&mut self, usage: &Value) {
        let counts = usage.as_object().cloned().into_iter().flatten();
        self.counts.extend(counts.filter(|(_, count)| count.is_u64()));
    }

    fn usage(&self) -> Usage {
        serde_json::from_value(Value::Object(self.counts.clone())).unwrap_or_default()
    }

    /// Adds a delta to the open block. Deltas of unknown types add to the field of the same name, so that a block type
    /// we do not know (thinking and its signature) still arrives whole.
    fn extend(&mut self, delta: Map<String, Value>) {
        let Some(open) = &mut self.open else { return };
        for (key, value) in delta {
            match (key.as_str(), value) {
                ("type", _) => {}
                ("partial_json", Value::String(piece)) => open.input.push_str(&piece),
                (_, Value::String(piece)) => {
                    if key == "text" && !piece.is_empty() {
                        self.watch.see(Event::Text(&piece));
                    }
                    match open.fields.get_mut(&key) {
                        Some(Value::String(text)) => text.push_str(&piece),
                        _ => {
                            open.fields.insert(key, Value::String(piece));
                        }
                    }
                }
                (_, value) => {
                    open.fields.insert(key, value);
                }
            }
        }
    }

    /// The open block is whole, or as whole as it will get.
    fn close_block(&mut self) {
        let Some(OpenBlock { mut fields, input }) = self.open.take() else {
            return;
        };
        let is_call = fields.get("type").is_some_and(|kind| kind == "tool_use");
        if is_call || !input.is_empty() {
            let parsed = parse_input(fields.get("input"), &input);
            fields.insert("input".into(), parsed.unwrap_or(Value::String(input)));
        }
        let fields = Value::Object(fields);
        let kind = fields["type"].as_str().unwrap_or_default().to_owned();
        let block = serde_json::from_value(fields.clone()).unwrap_or(Block::Other(fields));
        match mend(block, |id| is_used(id, &self.blocks, self.history)) {
            Some(block) => {
                if let Block::ToolUse(call) = &block
                    && call.lost_input().is_none()
                {
                    self.watch.see(Event::Call(call));
                }
                self.blocks.push(block);
            }
            // Nothing that the user would have seen.
            None if matches!(kind.as_str(), "text" | "thinking") => {}
            None => self.watch.see(Event::Notice(&format!(
                "a block of the type {kind:.50?} was left out, which could not be sent back"
            ))),
        }
    }
}

/// The input of a tool call, or nothing when its JSON cannot be read. An object sent as a string is unpacked.
fn parse_input(start: Option<&Value>, pieces: &str) -> Option<Value> {
    let input = match (pieces, start) {
        ("", Some(start)) => start.clone(),
        ("", None) => json!({}),
        (pieces, _) => serde_json::from_str(pieces).ok()?,
    };
    let unpacked = input.as_str().and_then(|text| serde_json::from_str(text).ok());
    Some(unpacked.unwrap_or(input))
}

/// Whether a limit ended the reply before the model did.
fn is_cut(stop_reason: &str) -> bool {
    matches!(stop_reason, "max_tokens" | "model_context_window_exceeded")
}

/// The events of the wire. Unknown ones are skipped, as the API's versioning policy asks.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire {
    MessageStart {
        message: Value,
    },
    ContentBlockStart {
        content_block: Map<String, Value>,
    },
    ContentBlockDelta {
        delta: Map<String, Value>,
    },
    ContentBlockStop {},
    MessageDelta {
        delta: Value,
        #[serde(default)]
        usage: Value,
    },
    MessageStop {},
    Error {
        error: ErrorDetail,
    },
    #[serde(other)]
    Unknown,
}

//! Turns a brain's reply into the message of the API: ids, stop reason, tokens, and the cut at `max_tokens`.
//!
//! Brains only think; what the API adds to every reply is added here, in one place for the plain and the streamed form.
//! Invariant: a message never costs more than `max_tokens`.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

use super::tokens::{BYTES_PER_TOKEN, first_tokens, tokens};
use super::types::{Reply, ReplyBlock, StopReason};

/// A message on its way to the client.
#[derive(Debug)]
pub struct Answer {
    /// What it consists of.
    pub blocks: Vec<AnswerBlock>,
    /// Why it ends.
    pub stop_reason: StopReason,
    /// The stop sequence that ended it.
    pub stop_sequence: Option<String>,
    /// What it costs.
    pub tokens: u32,
}

/// One block of it.
#[derive(Debug)]
pub enum AnswerBlock {
    /// Text.
    Text(String),
    /// A tool call.
    Call {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments as the stream carries them: JSON, possibly cut in the middle.
        json: String,
        /// The arguments as the plain form carries them: of a cut call, those that were complete.
        input: Value,
    },
    /// A block as it stands.
    AsItIs(Value),
}

/// Makes ids that no other server made, so that a conversation may be continued with the next one.
pub struct Ids {
    seed: u64,
    count: AtomicU64,
}

impl Default for Ids {
    fn default() -> Self {
        Self {
            seed: RandomState::new().hash_one(0),
            count: AtomicU64::new(0),
        }
    }
}

impl Ids {
    /// A fresh id, for instance `toolu_01…`.
    pub fn fresh(&self, prefix: &str) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}_01{:016x}{count:06x}", self.seed)
    }
}

impl Answer {
    /// The message for a reply. `cut_call` cuts its first tool call in half.
    pub fn new(reply: Reply, max_tokens: u32, cut_call: bool, ids: &Ids) -> Self {
        let calls = reply.blocks.iter().any(|block| matches!(block, ReplyBlock::ToolUse { .. }));
        let usual = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let mut answer = Self {
            blocks: Vec::new(),
            stop_reason: reply.stop_reason.unwrap_or(usual),
            stop_sequence: reply.stop_sequence,
            tokens: 0,
        };
        for block in reply.blocks {
            let room = max_tokens - answer.tokens;
            let whole = match block {
                ReplyBlock::Text(text) => answer.say(text, room),
                ReplyBlock::ToolUse { id, name, input } => {
                    let id = id.unwrap_or_else(|| ids.fresh("toolu"));
                    answer.call(id, name, input, room, cut_call)
                }
                ReplyBlock::AsItIs(block) => {
                    answer.tokens += tokens(&block.to_string()).min(room);
                    answer.blocks.push(AnswerBlock::AsItIs(block));
                    true
                }
            };
            if !whole {
                answer.stop_reason = StopReason::MaxTokens;
                answer.stop_sequence = None;
                break;
            }
        }
        // The API charges for an empty reply, too, unless it was asked for none.
        answer.tokens = answer.tokens.max(1).min(max_tokens);
        answer
    }

    fn say(&mut self, text: String, room: u32) -> bool {
        let kept = first_tokens(&text, room);
        let whole = kept.len() == text.len();
        self.tokens += tokens(kept);
        if !kept.is_empty() {
            self.blocks.push(AnswerBlock::Text(kept.to_owned()));
        }
        whole
    }

    fn call(&mut self, id: String, name: String, input: Value, room: u32, cut: bool) -> bool {
        let Some(room) = room.checked_sub(tokens(&name)) else {
            return false;
        };
        let whole = input.to_string();
        let kept = first_tokens(&whole, room);
        let kept = if cut { first_half(kept) } else { kept };
        self.tokens += tokens(&name) + tokens(kept);
        let json = kept.to_owned();
        let is_whole = json.len() == whole.len();
        let input = if is_whole { input } else { complete_part(input, json.len()) };
        self.blocks.push(AnswerBlock::Call {
            id,
            name,
            json,
            input,
        });
        is_whole
    }
}

fn first_half(text: &str) -> &str {
    let half = u32::try_from(text.len() / 2 / BYTES_PER_TOKEN).unwrap_or(u32::MAX);
    match first_tokens(text, half) {
        "" => first_char(text),
        half => half,
    }
}

fn first_char(text: &str) -> &str {
    let end = text.chars().next().map_or(0, char::len_utf8);
    &text[..end]
}

/// The arguments that lie wholly within the first `length` bytes of the compact JSON.
fn complete_part(input: Value, length: usize) -> Value {
    let Value::Object(arguments) = input else {
        return Value::Object(Map::new());
    };
    // The opening brace, and from there each argument with the comma or brace behind it.
    let mut end = 1;
    let mut kept = Map::new();
    for (name, value) in arguments {
        let name_length = Value::from(name.as_str()).to_string().len();
        end += name_length + 1 + value.to_string().len() + 1;
        if end > length {
            break;
        }
        kept.insert(name, value);
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::types::says;
    use super::*;

    #[test]
    fn a_reply_never_costs_more_than_max_tokens() {
        let input = json!({"path": "a.txt", "limit": 10});
        let reply = says("Reading both files.").and_calls("read", input);
        let whole = tokens("Reading both files.") + tokens("read") + 7;
        for max_tokens in 1..20 {
            let answer = Answer::new(reply.clone(), max_tokens, false, &Ids::default());
            assert_eq!(answer.tokens, whole.min(max_tokens), "{answer:?}");
            let reason =
                if max_tokens >= whole { StopReason::ToolUse } else { StopReason::MaxTokens };
            assert_eq!(answer.stop_reason, reason, "{max_tokens}");
        }
    }

    #[test]
    fn ids_of_two_servers_differ() {
        let (one, other) = (Ids::default(), Ids::default());
        assert_ne!(one.fresh("toolu"), other.fresh("toolu"));
        assert_ne!(one.fresh("toolu"), one.fresh("toolu"));
    }
}

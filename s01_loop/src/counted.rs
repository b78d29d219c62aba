//! How large a conversation is, in tokens.
//!
//! Only the API counts tokens, and it counts a request when it answers it. Invariant: what came or went since the last
//! count is estimated by its bytes; nothing that was counted is estimated.

use crate::message::Message;
use crate::reply::Usage;

/// About how many bytes make a token, where nobody has counted.
const BYTES_PER_TOKEN: u64 = 4;

/// A conversation's size at the moment the API counted it. Before the first count both are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// System prompt and tools included.
    tokens: u64,
    /// The messages alone.
    bytes: u64,
}

impl Counted {
    /// What a reply says of the conversation that now ends with it.
    pub fn new(usage: &Usage, messages: &[Message]) -> Self {
        Self {
            tokens: usage.total(),
            bytes: bytes(messages),
        }
    }

    /// How many tokens a request with these messages has.
    pub fn tokens_now(&self, messages: &[Message]) -> u64 {
        let now = bytes(messages);
        let came = now.saturating_sub(self.bytes) / BYTES_PER_TOKEN;
        let went = self.bytes.saturating_sub(now) / BYTES_PER_TOKEN;
        (self.tokens + came).saturating_sub(went)
    }
}

fn bytes(messages: &[Message]) -> u64 {
    let sizes = messages.iter().map(|message| message.wire().len() as u64);
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_what_the_api_counted_and_a_quarter_of_the_bytes_since() {
        let mut messages = vec![Message::user("go")];
        let small = bytes(&messages);
        assert_eq!(Counted::default().tokens_now(&messages), small / 4);
        let usage = Usage {
            input_tokens: 900,
            output_tokens: 100,
            ..Usage::default()
        };
        let counted = Counted::new(&usage, &messages);
        assert_eq!(counted.tokens_now(&messages), 1_000);
        messages.push(Message::assistant("x".repeat(400)));
        let came = (bytes(&messages) - small) / 4;
        assert_eq!(counted.tokens_now(&messages), 1_000 + came);
        assert_eq!(counted.tokens_now(&[]), 1_000 - small / 4);
    }
}

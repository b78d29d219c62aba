//! How large a conversation is, in tokens.
//!
//! Only the API counts tokens, and it counts a request when it answers it. Invariant: what came or went since the last
//! count is estimated by its bytes; nothing that was counted is estimated.

use crate::message::Message;

/// About how many bytes make a token, where nobody has counted.
const BYTES_PER_TOKEN: u64 = 4;

/// A conversation's size at the moment the API counted it. Before the first count both are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// System prompt and tools included.
    tokens: u64,
    /// The messages alone.
    bytes: u64,
    /// What system prompt and tools have of it, and how many bytes of messages were beside them: the fewer there were,
    /// the better it is known.
    fixed: Option<(u64, u64)>,
}

impl Counted {
    /// The count of these messages, which the API has just made.
    pub fn next(self, tokens: u64, messages: &[Message]) -> Self {
        let bytes = bytes(messages);
        let beside = (tokens.saturating_sub(bytes / BYTES_PER_TOKEN), bytes);
        Self {
            tokens,
            bytes,
            fixed: self.fixed.filter(|fixed| fixed.1 < bytes).or(Some(beside)),
        }
    }

    /// How many tokens a request with these messages has.
    pub fn tokens_now(&self, messages: &[Message]) -> u64 {
        let now = bytes(messages);
        let came = now.saturating_sub(self.bytes) / BYTES_PER_TOKEN;
        let went = self.bytes.saturating_sub(now) / BYTES_PER_TOKEN;
        let rest = self.tokens.saturating_add(came).saturating_sub(went);
        // A message has more bytes than text; when many go, what cannot go would be taken for gone.
        let least = |fixed: u64| fixed.saturating_add(now / BYTES_PER_TOKEN);
        match self.fixed {
            // Less than was counted is never more than was counted.
            Some((fixed, _)) if went > 0 => rest.max(least(fixed).min(self.tokens)),
            Some(_) | None => rest,
        }
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
        let counted = Counted::default().next(1_000, &messages);
        assert_eq!(counted.tokens_now(&messages), 1_000);
        messages.push(Message::assistant("x".repeat(400)));
        let came = (bytes(&messages) - small) / 4;
        assert_eq!(counted.tokens_now(&messages), 1_000 + came);
        assert_eq!(counted.tokens_now(&[]), 1_000 - small / 4);
    }

    #[test]
    fn what_system_prompt_and_tools_have_is_never_taken_for_gone() {
        let first = [Message::user("go")];
        let counted = Counted::default().next(1_008, &first);
        // The JSON of line breaks has twice the bytes of its text.
        let long = [Message::user("go"), Message::assistant("\n".repeat(8_000))];
        let counted = counted.next(3_400, &long);
        let (beside, small) = (1_008 - bytes(&first) / 4, bytes(&first) / 4);
        assert_eq!(counted.tokens_now(&first), beside + small);
    }

    #[test]
    fn a_conversation_that_has_become_shorter_is_not_larger_than_it_was_counted() {
        // Counted where a word had many bytes, so that system prompt and tools seem to be larger than they are.
        let first = [Message::user("go")];
        let counted = Counted::default().next(1_000, &first);
        let long = [Message::user("go"), Message::assistant("x".repeat(8_000))];
        let counted = counted.next(1_400, &long);
        let shorter = [Message::user("go"), Message::assistant("x".repeat(7_000))];
        assert!(counted.tokens_now(&shorter) <= 1_400);
    }
}

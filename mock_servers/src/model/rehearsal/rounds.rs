//! How many replies a turn took, counted aloud once that is needed.
//!
//! A harness may take the oldest replies of a long turn away. A model that counted only what it sees would never know how
//! long it has been at work, so it says the number: `I will read them (round 7).`
//! Invariant: `Rounds::of` understands what `say` says, and the count never falls.

use std::sync::Arc;

use crate::model::{Block, Message, Role};

/// From this round on the replies are counted aloud, whatever the conversation looks like.
const COUNTED_FROM: usize = 5;

/// More rounds than any turn has.
const MAX: usize = 10_000;

/// The replies since the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// How many there were.
    pub taken: usize,
    /// Whether one of them said its number.
    pub aloud: bool,
}

impl Rounds {
    /// Counts the replies in what followed the request.
    pub fn of(since: &[Arc<Message>]) -> Self {
        // A text between two waits for mail is no round of work.
        let is_work = |&(at, message): &(usize, &Arc<Message>)| {
            let is_behind = || since[at + 1..].iter().any(|later| later.role == Role::User);
            message.role == Role::Assistant && (has_calls(message) || !is_behind())
        };
        let replies: Vec<&Arc<Message>> = since
            .iter()
            .enumerate()
            .filter(is_work)
            .map(|(_, message)| message)
            .collect();
        let said = replies
            .iter()
            .rev()
            .enumerate()
            .find_map(|(after, message)| Some(number(message)?.min(MAX) + after));
        Self {
            taken: said.unwrap_or(0).max(replies.len()),
            aloud: said.is_some(),
        }
    }

    /// The sentence of the next reply; with its number when the turn is long, or when something of it is gone.
    pub fn say(self, sentence: &str, gone: bool) -> String {
        let number = self.taken + 1;
        let counts = number >= COUNTED_FROM || self.taken > 0 && gone || self.aloud;
        match sentence.strip_suffix('.').filter(|_| counts) {
            Some(sentence) => format!("{sentence} (round {number})."),
            None => sentence.to_owned(),
        }
    }
}

fn has_calls(message: &Message) -> bool {
    let is_call = |block: &Block| matches!(block, Block::ToolUse { .. });
    message.blocks.iter().any(is_call)
}

/// The number a reply says at its end.
fn number(message: &Message) -> Option<usize> {
    let text = message.blocks.iter().rev().find_map(|block| match block {
        Block::Text(text) => Some(text),
        Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
    })?;
    let (_, number) = text.rsplit_once(" (round ")?;
    number.strip_suffix(").")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Vec<Arc<Message>> {
        let message = |text: &&str| Message {
            role: Role::Assistant,
            blocks: vec![Block::Text(text.to_string())],
        };
        texts.iter().map(message).map(Arc::new).collect()
    }

    #[test]
    fn a_short_turn_is_not_counted_aloud_and_a_long_one_is() {
        let short = Rounds::of(&said(&["I will read a.md."; 3]));
        assert_eq!(short.say("I will go on.", false), "I will go on.");
        assert_eq!(short.say("I will go on.", true), "I will go on (round 4).");
        let long = Rounds::of(&said(&["I will read a.md."; 4]));
        assert_eq!(long.say("I will go on.", false), "I will go on (round 5).");
    }

    #[test]
    fn the_count_goes_on_when_the_oldest_replies_are_gone() {
        let mut rounds = Rounds::of(&said(&["I will read a.md (round 7)."]));
        assert_eq!(rounds.taken, 7);
        rounds = Rounds::of(&said(&["I will read a.md (round 7).", "I will look."]));
        assert_eq!(
            rounds.say("I will go on.", false),
            "I will go on (round 9)."
        );
        assert_eq!(Rounds::of(&[]).say("I will go on.", true), "I will go on.");
    }
}

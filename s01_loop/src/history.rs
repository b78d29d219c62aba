//! The conversation so far, always in a shape that can be sent.
//!
//! The API refuses a tool_use without its tool_result, results behind text, and empty messages; whoever writes a loop
//! breaks one of these rules sooner or later (Ctrl-C, a failed request, a notice at the wrong moment). So the rules
//! live here. Invariant: roles alternate, a user speaks first, and between two turns every tool_use has its
//! tool_result at the head of the next message.

use std::collections::HashSet;
use std::ops::Deref;

use crate::message::{Block, Message, Role};
use crate::reply::{Reply, Usage};
use crate::tool::{Output, ToolCall};

const INTERRUPTED_CALL: &str =
    "interrupted: the user stopped the turn before this call was answered";
/// What the conversation says behind a turn that was interrupted.
pub const INTERRUPTED_TURN: &str = "[The turn above ended before its answer was complete.]";

/// About how many bytes make a token, where nobody has counted.
const BYTES_PER_TOKEN: u64 = 4;

/// The messages between one user and one model.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    /// Whether the last request still waits for its final reply.
    unfinished: bool,
    /// Where the current turn begins: the message that holds its request.
    turn: usize,
    /// That request, word for word; it finds its turn again when the messages are replaced.
    request: String,
    /// Notes that came while calls were unanswered; they follow the last result.
    held: Vec<Block>,
    /// How many tokens the API last counted, system prompt and tools included, and how many bytes the messages had then.
    counted: (u64, u64),
    /// What the replies of the current turn have cost.
    spent: Usage,
    /// How many replies the model has given.
    replies: usize,
}

impl History {
    /// The user asks for something. What an earlier turn left unanswered is settled first.
    pub fn user(&mut self, request: impl Into<String>) {
        if self.unfinished {
            self.settle();
            self.remind([INTERRUPTED_TURN]);
        }
        self.unfinished = true;
        self.spent = Usage::default();
        self.request = request.into();
        self.append(Block::text(&self.request));
        self.turn = self.messages.len().saturating_sub(1);
    }

    /// Adds what the harness wants the model to know (reminders, notices, mail), each text as a block of its own and never
    /// between a call and its result.
    pub fn remind(&mut self, texts: impl IntoIterator<Item = impl Into<String>>) {
        for block in texts.into_iter().map(Block::text) {
            if self.has_open_calls() {
                self.held.push(block);
            } else {
                self.append(block);
            }
        }
    }

    /// Adds the model's reply and keeps what it cost.
    pub fn reply(&mut self, reply: &Reply) {
        self.push(reply.message());
        self.spent += &reply.usage;
        self.replies += 1;
        self.counted = (reply.size(), bytes(&self.messages));
    }

    /// Adds a message of the model. An empty reply adds nothing: the API would refuse it.
    pub fn push(&mut self, reply: Message) {
        self.unfinished = reply.tool_calls().next().is_some();
        if reply.blocks().is_empty() {
            return;
        }
        match self.messages.pop_if(|last| last.role() == Role::Assistant) {
            Some(last) => {
                let blocks = [last.blocks(), reply.blocks()].concat();
                self.messages.push(Message::new(Role::Assistant, blocks));
            }
            None => self.messages.push(reply),
        }
    }

    /// Answers one call of the last reply. Answers may come in any order; they are kept in the order of the calls.
    pub fn answer(&mut self, call: &ToolCall, output: Output) {
        self.insert_result(call.answer(output));
        if !self.has_open_calls() {
            for note in std::mem::take(&mut self.held) {
                self.append(note);
            }
        }
    }

    /// Answers every open call with a note that it was interrupted, so that the conversation can go on.
    pub fn settle(&mut self) {
        let open: Vec<ToolCall> = self.open_calls().cloned().collect();
        for call in open {
            self.answer(&call, Output::error(INTERRUPTED_CALL));
        }
    }

    /// Whether the last reply has calls without a result.
    pub fn has_open_calls(&self) -> bool {
        self.open_calls().next().is_some()
    }

    /// The calls of the last reply that have no result yet.
    fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let last = self.last_reply().map_or(&[][..], |at| &self.messages[at..]);
        let answered: HashSet<&str> = last.iter().flat_map(Message::answered_ids).collect();
        let calls = last.iter().flat_map(Message::tool_calls);
        calls.filter(move |call| !answered.contains(call.id.as_str()))
    }

    fn last_reply(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| message.role() == Role::Assistant)
    }

    /// Puts these messages in place of the old ones: a compacted or a resumed conversation. Where a cut has torn a call from
    /// its result, the result goes and the call is answered as interrupted. The turn begins where its request stands; in a
    /// conversation that does not hold it, at the last message that answers nothing.
    pub fn replace(&mut self, messages: Vec<Message>) {
        self.messages.clear();
        for message in messages {
            match message.role() {
                Role::Assistant if self.messages.is_empty() => {}
                Role::Assistant => {
                    self.settle();
                    self.push(message);
                }
                Role::User if self.can_follow(&message) => self.messages.push(message),
                Role::User => self.take_back(&message),
            }
        }
        self.turn = self.find_turn().unwrap_or(0);
        self.unfinished |=
            self.last().is_some_and(|last| last.role() == Role::User) || self.has_open_calls();
    }

    /// The messages of the current turn, from its request on.
    pub fn turn(&self) -> &[Message] {
        self.messages.get(self.turn..).unwrap_or_default()
    }

    /// The request of the current turn, word for word.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// How many tokens the next request will have: what the API counted with the last reply, and a quarter of the bytes
    /// that came or went since.
    pub fn tokens(&self) -> u64 {
        self.tokens_with(&self.messages)
    }

    /// How many tokens it would have with these messages in place of ours.
    pub fn tokens_with(&self, messages: &[Message]) -> u64 {
        let ((tokens, before), now) = (self.counted, bytes(messages));
        let came = now.saturating_sub(before) / BYTES_PER_TOKEN;
        let went = before.saturating_sub(now) / BYTES_PER_TOKEN;
        tokens.saturating_add(came).saturating_sub(went)
    }

    /// What the replies of the current turn have cost.
    pub fn spent(&self) -> &Usage {
        &self.spent
    }

    /// How many replies the model has given since this value was made; a resumed conversation begins with none.
    pub fn replies(&self) -> usize {
        self.replies
    }

    fn find_turn(&self) -> Option<usize> {
        let request = Block::text(&self.request);
        let last = |is_it: &dyn Fn(&Message) -> bool| {
            self.messages.iter().rposition(|it| it.role() == Role::User && is_it(it))
        };
        last(&|message| message.blocks().contains(&request))
            .or_else(|| last(&|message| message.answered_ids().next().is_none()))
    }

    /// Whether a user message can be taken as it is: it answers the calls before it one by one, at its head.
    fn can_follow(&self, message: &Message) -> bool {
        let last = self.last();
        let calls = last.into_iter().flat_map(Message::tool_calls);
        let blocks = message.blocks();
        last.is_none_or(|last| last.role() == Role::Assistant)
            && message.answered_ids().eq(calls.map(|call| &call.id))
            && blocks.is_sorted_by_key(|block| block.answered_id().is_none())
            && !blocks.is_empty()
            && !blocks.iter().any(Block::is_empty_text)
    }

    /// Adds a user message of an earlier conversation: results that answer an open call, and everything else.
    fn take_back(&mut self, message: &Message) {
        let (results, others): (Vec<_>, Vec<_>) =
            message.blocks().iter().cloned().partition(|block| block.answered_id().is_some());
        for result in results {
            self.insert_result(result);
        }
        if !others.is_empty() {
            self.settle();
        }
        for block in others {
            self.append(block);
        }
    }

    /// Puts a result where it belongs: at the head of the message behind the calls, in the order of the calls. One that
    /// answers no open call is dropped.
    fn insert_result(&mut self, result: Block) {
        if !self.open_calls().any(|call| result.answered_id() == Some(&call.id)) {
            return;
        }
        let asked = self.last_reply().expect("an open call stands in a reply");
        let calls: Vec<_> = self.messages[asked].tool_calls().map(|call| &call.id).collect();
        let place = |block: &Block| calls.iter().position(|id| block.answered_id() == Some(id));
        let answers = self.messages.get(asked + 1).map_or(&[][..], Message::blocks);
        let mut blocks = [answers, &[result]].concat();
        blocks.sort_by_key(|block| place(block).unwrap_or(calls.len()));
        self.messages.truncate(asked + 1);
        self.messages.push(Message::new(Role::User, blocks));
    }

    /// Adds a block to the user's side: to the last message when it is the user's, else as a new one.
    fn append(&mut self, block: Block) {
        if block.is_empty_text() {
            return;
        }
        let mut blocks = match self.messages.pop_if(|last| last.role() == Role::User) {
            Some(last) => last.blocks().to_vec(),
            None => Vec::new(),
        };
        blocks.push(block);
        self.messages.push(Message::new(Role::User, blocks));
    }
}

impl Deref for History {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.messages
    }
}

fn bytes(messages: &[Message]) -> u64 {
    let sizes = messages.iter().map(|message| message.wire().len() as u64);
    sizes.sum()
}

#[cfg(test)]
mod tests;

//! What stays of messages that go: the user's requests, and what the harness has added to the current turn.
//!
//! A model that has forgotten the request works at something else. Invariant: the current request is one block, word for
//! word; of notes that say the same only the newest stays.

use std::cmp::Ordering;

use s01_loop::{Block, History, Message, Role};

use crate::layers::{Budget, bytes, gap, text};
use crate::{requests, summary};

/// A reminder is about the state of things; of several only the newest is true.
const REMINDER: &str = "<todo-reminder>";

/// A place in a conversation: the message, and the block in it.
pub type Position = (usize, usize);

/// Where the current turn begins: the place of its request. What stands before it in its message belongs to the past.
pub fn begin(history: &History) -> Position {
    let at = history.len() - history.turn().len();
    let blocks = history.get(at).map_or(&[][..], |message| message.blocks());
    let is_request = |block: &Block| text(block) == Some(history.request());
    // A resumed conversation does not know its request: then all that was said there is kept.
    let begin = blocks.iter().rposition(is_request);
    let begin = begin.or_else(|| blocks.iter().position(is_said));
    (at, begin.unwrap_or(blocks.len()))
}

/// What must be told of the part of a conversation that goes, from one place up to another: earlier requests, the current one,
/// and the newest notes of its turn.
pub fn carried(history: &History, from: Position, to: Position, budget: &Budget) -> Vec<Block> {
    let turn = begin(history);
    let (mut past, mut request, mut notes) = (Vec::new(), None, Vec::new());
    for (at, message) in history.iter().enumerate() {
        let said = message.blocks().iter().enumerate();
        for (place, block) in said.map(|(block, it)| ((at, block), it)) {
            if message.role() == Role::Assistant || place < from || place >= to {
                continue;
            }
            match place.cmp(&turn) {
                Ordering::Less => past.push(block),
                Ordering::Equal => request = Some(block),
                Ordering::Greater => notes.push(block),
            }
        }
    }
    let current = history.get(turn.0).and_then(|it| it.blocks().get(turn.1));
    let mut carried: Vec<Block> = Vec::new();
    carried.extend(requests::earlier(past, current, 2 * budget.share));
    carried.extend(request.cloned());
    carried.extend(newest(notes, budget.share.max(8_000)));
    carried
}

/// The newest of these notes, up to so many bytes, each once.
fn newest(notes: Vec<&Block>, most: usize) -> impl Iterator<Item = Block> {
    let mut newest: Vec<&Block> = Vec::new();
    let mut size = 0;
    for block in notes.into_iter().rev().filter(|block| is_said(block)) {
        if newest.iter().any(|newer| outdates(newer, block)) {
            continue;
        }
        size += bytes(&[Message::new(Role::User, vec![block.clone()])]);
        if size <= most {
            newest.push(block);
        }
    }
    newest.into_iter().rev().cloned()
}

/// Whether the user or the harness said this: no result, no summary, no list of requests, no line about a gap.
fn is_said(block: &Block) -> bool {
    let is_ours = gap(block).is_some() || summary::is_summary(block) || requests::is_earlier(block);
    matches!(block, Block::Text { .. } | Block::Other(_)) && !is_ours
}

/// Whether the older of two notes says nothing that the newer does not say.
fn outdates(newer: &Block, older: &Block) -> bool {
    let is_reminder = |block| text(block).is_some_and(|text| text.starts_with(REMINDER));
    newer == older || is_reminder(newer) && is_reminder(older)
}

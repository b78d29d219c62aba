//! Layer 3: results of older rounds become one line.
//!
//! What a file said ten calls ago has been read and used; the line says what was there and how to get it back.
//! Invariants: counted are rounds, not blocks, so that a result the model has not seen is never among them; the path of a
//! moved result stays in its line; the rounds with what goes are kept in a transcript first.

use std::borrow::Cow;

use anyhow::Result;
use kit::{counted, grouped};
use s01_loop::{Block, History, Message, Role};

use super::{Change, Room, bytes, moved, plain, tool_name, with_contents};
use crate::store::Store;

/// A result of at most so many bytes stays: its line would not be shorter.
const SHORT: usize = 120;

/// How the line begins that stands in the place of a result.
const OLD: &str = "[old result of ";

/// The most bytes of such a line: words, the name of a tool, a path.
const LONGEST_LINE: usize = 600;

/// Puts a line in the place of each longer result that is older than the newest rounds.
///
/// # Errors
/// When the transcript cannot be written; then nothing is changed.
pub fn results(history: &History, room: &Room, store: &Store) -> Result<Option<Change>> {
    let answers = |message: &&Message| message.answered_ids().next().is_some();
    let rounds = history.iter().enumerate().rev();
    let mut rounds = rounds.filter(|(_, message)| answers(message));
    let newest = room.newest_rounds.checked_sub(1);
    let Some((first_newest, _)) = newest.and_then(|newest| rounds.nth(newest)) else {
        return Ok(None);
    };
    let goes = |at: &usize| long_results(&history[*at]).next().is_some();
    let going: Vec<usize> = (1..first_newest).filter(goes).collect();
    if bytes(going.iter().map(|at| &history[*at])) < room.least.max(1) {
        return Ok(None);
    }
    let taken = going.iter().flat_map(|at| &history[at - 1..=*at]);
    store.keep_transcript(taken)?;
    let mut messages = history.to_vec();
    let mut count = 0;
    for at in going {
        count += long_results(&history[at]).count();
        messages[at] = with_lines(&history[at], &history[at - 1]);
    }
    let what = counted(count, "result");
    Ok(Some(Change { what, messages }))
}

fn long_results(message: &Message) -> impl Iterator<Item = &Block> {
    let blocks = match message.role() {
        Role::User => message.blocks(),
        Role::Assistant => &[],
    };
    blocks.iter().filter(|block| is_long(block))
}

fn is_long(block: &Block) -> bool {
    let Block::ToolResult { content, .. } = block else {
        return false;
    };
    // Pictures are never short.
    plain(content).is_none_or(|text| text.len() > SHORT && !is_line(&text))
}

/// Whether this is the line of a result that was removed before, and not a long text that begins like one.
fn is_line(text: &str) -> bool {
    text.starts_with(OLD) && text.len() <= LONGEST_LINE && !text.contains('\n')
}

fn with_lines(message: &Message, asked: &Message) -> Message {
    with_contents(message, |at| {
        let block = &message.blocks()[at];
        let Block::ToolResult {
            tool_use_id,
            content,
            ..
        } = block
        else {
            return None;
        };
        let text = plain(content).unwrap_or_else(|| Cow::Owned(content.text()));
        is_long(block).then(|| line(tool_name(Some(asked), tool_use_id), &text))
    })
}

fn line(tool: &str, text: &str) -> String {
    let (chars, or_read) = match moved(text) {
        Some((path, chars)) => (chars, format!(", or read {path}")),
        None => (text.chars().count() as u64, String::new()),
    };
    let chars = grouped(chars);
    format!("{OLD}{tool} removed: {chars} characters; call it again if you need it{or_read}]")
}

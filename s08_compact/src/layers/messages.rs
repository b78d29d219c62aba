//! Layer 2: of a very long conversation, beginning and end stay.
//!
//! The first messages say what the work is, the last ones where it stands. Invariants: the cut lies between a result and
//! the next reply; the current request is never cut away, and the user's earlier ones are told; one line says how many
//! messages are missing and where they are.

use anyhow::Result;
use kit::counted;
use s01_loop::{Block, History, Message, Role};

use super::{Budget, Change, bytes, text};
use crate::store::Store;
use crate::turn;

/// A conversation of more messages is cut.
const MOST: usize = 50;
/// So many messages stay at its beginning.
const FIRST: usize = 3;
/// So many stay at its end, or one less: the end begins with a reply, so that no result is torn from its call.
const LAST: usize = 47;

/// What stands in that line between how many are missing and where they are.
const LEFT_OUT: &str = " left out here: ";

/// Leaves out the middle of a long conversation. Requests stay, and the notes of the current turn that stood there.
///
/// # Errors
/// When the transcript cannot be written; then nothing is changed.
pub fn messages(history: &History, budget: &Budget, store: &Store) -> Result<Option<Change>> {
    if history.len() <= MOST {
        return Ok(None);
    }
    let replies = |message: &Message| message.role() == Role::Assistant;
    let late = history.len() - LAST;
    let Some(end) = history[late..].iter().position(replies) else {
        return Ok(None);
    };
    let (at, end) = (FIRST - 1, late + end);
    let seam = history[at].blocks();
    let missing = seam.iter().find_map(gap).unwrap_or(0);
    // What was carried over an earlier gap goes again, and in the current turn whatever is no result.
    let is_past = turn::begin(history).0 > at;
    let goes = |block: &Block| {
        gap(block).is_some() || !is_past && !matches!(block, Block::ToolResult { .. })
    };
    let kept = seam.iter().position(goes).unwrap_or(seam.len());
    let carried = turn::carried(history, (at, kept), (end, 0), budget);
    let count = counted((end - FIRST).saturating_add(missing), "message");
    let seam = |path: &str| {
        let line = Block::text(format!("[{count}{LEFT_OUT}{path}]"));
        Message::new(Role::User, [&seam[..kept], &[line], &carried].concat())
    };
    // What is carried over the gap may be most of what was there.
    if bytes(&history[at..end]) < bytes(&[seam("")]) + budget.least.max(1) {
        return Ok(None);
    }
    let middle = &history[FIRST..end];
    let seam = seam(&store.keep_transcript(middle)?);
    let what = format!("{} left out", counted(middle.len(), "message"));
    let messages = [&history[..at], &[seam], &history[end..]].concat();
    Ok(Some(Change { what, messages }))
}

/// How many messages are missing where this block stands, if it is the line that says so.
pub fn gap(block: &Block) -> Option<usize> {
    let line = text(block)?.strip_prefix('[')?.strip_suffix(']')?;
    let (count, noun) = line.split_once(LEFT_OUT)?.0.split_once(' ')?;
    let is_line = ["message", "messages"].contains(&noun);
    count.replace(',', "").parse().ok().filter(|_| is_line)
}

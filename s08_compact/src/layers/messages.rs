//! Layer 2: of a very long conversation, beginning and end stay.
//!
//! The first messages say what the work is, the last ones where it stands. Invariants: the cut lies between a result and
//! the next reply; the current request is never cut away, and the user's earlier ones are told; one line says how many
//! messages are missing and where they are.

use std::cmp::Ordering;

use anyhow::Result;
use kit::counted;
use s01_loop::{Block, History, Message, Role};

use super::{Change, Room, bytes};
use crate::requests;
use crate::store::Store;
use crate::turn::Turn;

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
pub fn messages(history: &History, room: &Room, store: &Store) -> Result<Option<Change>> {
    if history.len() <= MOST {
        return Ok(None);
    }
    let replies = |message: &Message| message.role() == Role::Assistant;
    let late = history.len() - LAST;
    let Some(end) = history[late..].iter().position(replies) else {
        return Ok(None);
    };
    let end = late + end;
    let seam = |kept: &str| Message::new(Role::User, seam_blocks(history, end, room, kept));
    // What is carried over the gap may be most of what was there.
    if bytes(&history[FIRST - 1..end]) < bytes(&[seam("")]) + room.least.max(1) {
        return Ok(None);
    }
    let middle = &history[FIRST..end];
    let seam = seam(&store.keep_transcript(middle)?);
    let what = format!("{} left out", counted(middle.len(), "message"));
    let messages = [&history[..FIRST - 1], &[seam], &history[end..]].concat();
    Ok(Some(Change { what, messages }))
}

/// What the last message before the gap says: what it said, the line about the gap, and what would be lost with the
/// messages up to `end`: earlier requests, and the request and notes of the current turn.
fn seam_blocks(history: &History, end: usize, room: &Room, kept: &str) -> Vec<Block> {
    let at = FIRST - 1;
    let seam = history[at].blocks();
    let turn = Turn::of(history);
    // What stands behind the line of an earlier cut was carried over it for the turn that was current then.
    let earlier = seam.iter().position(|block| gap(block).is_some());
    let (own, carried) = seam.split_at(earlier.unwrap_or(seam.len()));
    let mut blocks: Vec<Block> = match turn.at().cmp(&at) {
        // Its notes are the current turn's and counted with the others below.
        Ordering::Less => own
            .iter()
            .filter(|block| is_result(block))
            .cloned()
            .collect(),
        Ordering::Equal => own.iter().take(turn.before().len()).cloned().collect(),
        Ordering::Greater => own.to_vec(),
    };
    let missing = carried.first().and_then(gap).unwrap_or(0);
    let count = counted((end - FIRST).saturating_add(missing), "message");
    blocks.push(Block::text(format!("[{count}{LEFT_OUT}{kept}]")));
    let left_out = history[FIRST..end]
        .iter()
        .filter(|message| message.role() == Role::User);
    let left_out = carried.iter().chain(left_out.flat_map(Message::blocks));
    blocks.extend(requests::earlier(left_out, turn.request(), room.requests));
    if (at..end).contains(&turn.at()) {
        blocks.extend(turn.request().cloned());
    }
    blocks.extend(turn.notes(at..end, room.notes));
    blocks
}

fn is_result(block: &Block) -> bool {
    matches!(block, Block::ToolResult { .. })
}

/// How many messages are missing where this block stands, if it is the line that says so.
pub fn gap(block: &Block) -> Option<usize> {
    let Block::Text { text, .. } = block else {
        return None;
    };
    let (count, _) = text
        .strip_prefix('[')?
        .strip_suffix(']')?
        .split_once(LEFT_OUT)?;
    let (count, noun) = count.split_once(' ')?;
    match noun {
        "message" | "messages" => count.replace(',', "").parse().ok(),
        _ => None,
    }
}

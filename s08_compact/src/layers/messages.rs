//! Layer 2: of a very long conversation, beginning and end stay.
//!
//! The first messages say what the work is, the last ones where it stands. Invariants: the cut lies between a result and
//! the next reply; the current request is never cut away; one line says how many messages are missing.

use std::cmp::Ordering;

use s01_loop::{Block, History, Message, Role};

use super::Change;
use crate::text::counted;
use crate::turn::Turn;

/// A conversation of more messages is cut.
const MOST: usize = 50;
/// So many messages stay at its beginning.
const FIRST: usize = 3;
/// So many stay at its end, or one less: the end begins with a reply, so that no result is torn from its call.
const LAST: usize = 47;

/// How the line ends that stands in the place of the messages.
const LEFT_OUT: &str = " left out here]";

/// Leaves out the middle of a long conversation. Notes of the current turn that stood there stay, the newest first, up
/// to `most_notes` bytes.
pub fn messages(history: &History, most_notes: usize) -> Option<Change> {
    if history.len() <= MOST {
        return None;
    }
    let replies = |message: &Message| message.role() == Role::Assistant;
    let late = history.len() - LAST;
    let end = late + history[late..].iter().position(replies)?;
    let seam = Message::new(Role::User, seam_blocks(history, end, most_notes));
    let what = format!("{} left out", counted(end - FIRST, "message"));
    let messages = [&history[..FIRST - 1], &[seam], &history[end..]].concat();
    Some(Change { what, messages })
}

/// What the last message before the gap says: what it said, the line about the gap, and what of the current turn would
/// be lost with the messages up to `end`.
fn seam_blocks(history: &History, end: usize, most_notes: usize) -> Vec<Block> {
    let at = FIRST - 1;
    let seam = history[at].blocks();
    let turn = Turn::of(history);
    // What stands behind the line of an earlier cut was carried over it for the turn that was current then.
    let earlier = seam.iter().position(|block| gap(block).is_some());
    let own = &seam[..earlier.unwrap_or(seam.len())];
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
    let missing = earlier.and_then(|earlier| gap(&seam[earlier]));
    blocks.push(gap_line((end - FIRST).saturating_add(missing.unwrap_or(0))));
    if (at..end).contains(&turn.at()) {
        blocks.extend(turn.request().cloned());
    }
    blocks.extend(turn.notes(at..end, most_notes));
    blocks
}

fn is_result(block: &Block) -> bool {
    matches!(block, Block::ToolResult { .. })
}

fn gap_line(count: usize) -> Block {
    Block::text(format!("[{}{LEFT_OUT}", counted(count, "message")))
}

/// How many messages are missing where this block stands, if it is the line that says so.
pub fn gap(block: &Block) -> Option<usize> {
    let Block::Text { text, .. } = block else {
        return None;
    };
    let (count, noun) = text
        .strip_prefix('[')?
        .strip_suffix(LEFT_OUT)?
        .split_once(' ')?;
    match noun {
        "message" | "messages" => count.replace(',', "").parse().ok(),
        _ => None,
    }
}

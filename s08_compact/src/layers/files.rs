//! Layer 1: what is too large of the newest results goes into files; the model gets the beginning and the path.
//!
//! It has not read them yet, so nothing may be lost: the file has all of it, and the file tools read parts. Invariant: a
//! result is moved once; the tag says where it is and how long.

use std::cmp::Reverse;

use anyhow::Result;
use kit::{counted, first_chars, harmless};
use s01_loop::{Block, History, Message};

use super::{Budget, Change, with_results};
use crate::store::Store;

/// A result longer than this, in characters, goes into a file.
const LARGE_RESULT: usize = 30_000;

/// The results of one message may have so many bytes in all; the largest go first.
const LARGE_MESSAGE: usize = 200_000;

/// So many characters of a moved result stay; fewer where there is no room for as many of each.
const PREVIEW: usize = 2_000;

/// The beginning that tells at least what it was.
const SHORTEST_PREVIEW: usize = 200;

/// How the tag of a moved result begins.
const OPEN: &str = "<persisted-output path=\"";

/// How it ends, and what follows it.
const CLOSE: &str = "\n</persisted-output>\n\
                     (its first characters; read_file with offset and limit, or grep, finds the rest in the file)";

/// The most bytes of a moved result: its preview, in characters of four bytes, and what is around it.
const MOVED: usize = 4 * PREVIEW + 1_000;

/// The most bytes of a path.
const LONGEST_PATH: usize = 300;

/// Moves results of the newest message into files until none is large and all together have the room for results.
///
/// # Errors
/// When a file cannot be written; then nothing is changed.
pub fn files(history: &History, budget: &Budget, store: &Store) -> Result<Option<Change>> {
    // Half of the room for the results of one round: no summary could make room for more.
    let most = (4 * budget.share).min(LARGE_MESSAGE);
    let [before @ .., asked, last] = &history[..] else {
        return Ok(None);
    };
    if last.wire().len() <= most.min(LARGE_RESULT) {
        return Ok(None);
    }
    let results = last.answered_ids().count().max(1);
    let preview = (most / results).clamp(SHORTEST_PREVIEW, PREVIEW);
    let large = too_large(last, most, preview);
    let moved = with_results(last, asked, |id, tool, text| {
        if !large.contains(&id) {
            return Ok(None);
        }
        let path = store.keep_output(tool, text)?;
        let chars = text.chars().count();
        let start = harmless("persisted-output", first_chars(text, preview));
        Ok(Some(format!("{OPEN}{path}\" chars=\"{chars}\">\n{start}{CLOSE}")))
    })?;
    Ok(moved.map(|(count, message)| Change {
        what: format!("{} kept in files", counted(count, "result")),
        messages: [before, &[asked.clone(), message]].concat(),
    }))
}

/// The ids of the results to move: each that is large by itself, and the largest of the others while there is too much.
fn too_large(message: &Message, most: usize, preview: usize) -> Vec<&str> {
    let results = message.blocks().iter().filter_map(|block| match block {
        Block::ToolResult {
            tool_use_id: id,
            content,
            ..
        } => Some((id.as_str(), content.as_str())),
        Block::Text { .. } | Block::ToolUse(_) | Block::Other(_) => None,
    });
    let mut results: Vec<_> = results.collect();
    let mut total: usize = results.iter().map(|(_, text)| text.len()).sum();
    // A result in a file keeps its preview, so that a short one gains nothing.
    results.retain(|(_, text)| text.len() > 2 * preview && moved(text).is_none());
    results.sort_by_key(|(_, text)| Reverse(text.len()));
    results.retain(|(_, text)| {
        // What has few bytes has few characters.
        let is_large = text.len() > LARGE_RESULT && text.chars().count() > LARGE_RESULT;
        let moves = is_large || total > most;
        total -= if moves { text.len() - preview } else { 0 };
        moves
    });
    results.into_iter().map(|(id, _)| id).collect()
}

/// The path of a moved result, and its length in characters. `None` for a text that only looks like one, such as a large
/// file that begins with the tag, which would otherwise never be moved.
pub fn moved(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix(OPEN).filter(|_| text.len() <= MOVED)?;
    let (path, rest) = rest.strip_suffix(CLOSE)?.split_once("\" chars=\"")?;
    let (chars, _) = rest.split_once('"')?;
    let is_path = path.len() <= LONGEST_PATH && !path.contains(char::is_control);
    Some((path, chars.parse().ok()?)).filter(|_| is_path)
}

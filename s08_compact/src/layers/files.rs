//! Layer 1: what is too large of the newest results goes into files; the model gets the beginning and the path.
//!
//! It has not read them yet, so nothing may be lost: the file has all of it, and the file tools read parts. Invariant: a
//! result is moved once; the tag says where it is and how long.

use std::borrow::Cow;
use std::cmp::Reverse;

use anyhow::Result;
use kit::{counted, first_chars, harmless};
use s01_loop::{Block, History, Message};

use super::{Change, Room, plain, tool_name, with_contents};
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
pub fn files(history: &History, room: &Room, store: &Store) -> Result<Option<Change>> {
    let most = room.results.min(LARGE_MESSAGE);
    let Some((last, before)) = history.split_last() else {
        return Ok(None);
    };
    if last.wire().len() <= most.min(LARGE_RESULT) {
        return Ok(None);
    }
    let results = last.answered_ids().count().max(1);
    let preview = (most / results).clamp(SHORTEST_PREVIEW, PREVIEW);
    let large = too_large(last, most, preview);
    if large.is_empty() {
        return Ok(None);
    }
    let what = format!("{} kept in files", counted(large.len(), "result"));
    let mut tags: Vec<Option<String>> = vec![None; last.blocks().len()];
    for Found { at, id, text } in large {
        let path = store.keep_output(tool_name(before.last(), id), &text)?;
        tags[at] = Some(tag(&path, &text, preview));
    }
    let mut messages = before.to_vec();
    messages.push(with_contents(last, |at| tags[at].take()));
    Ok(Some(Change { what, messages }))
}

/// A result of text, and where it stands in its message.
struct Found<'a> {
    at: usize,
    id: &'a str,
    text: Cow<'a, str>,
}

/// The results to move: each that is large by itself, and the largest of the others while there is too much.
fn too_large(message: &Message, most: usize, preview: usize) -> Vec<Found<'_>> {
    let mut found = texts(message);
    let mut total: usize = found.iter().map(|result| result.text.len()).sum();
    found.retain(|result| {
        // A result in a file keeps its preview, so that a short one gains nothing.
        result.text.len() > 2 * preview && moved(&result.text).is_none()
    });
    found.sort_by_key(|result| Reverse(result.text.len()));
    found.retain(|result| {
        let size = result.text.len();
        // What has few bytes has few characters.
        let is_large = size > LARGE_RESULT && result.text.chars().count() > LARGE_RESULT;
        let moves = is_large || total > most;
        total -= if moves { size - preview } else { 0 };
        moves
    });
    found
}

fn texts(message: &Message) -> Vec<Found<'_>> {
    let blocks = message.blocks().iter().enumerate();
    let found = blocks.filter_map(|(at, block)| match block {
        Block::ToolResult {
            tool_use_id: id,
            content,
            ..
        } => plain(content).map(|text| Found { at, id, text }),
        Block::Text { .. } | Block::ToolUse(_) | Block::Other(_) => None,
    });
    found.collect()
}

/// What stands in the place of a moved result.
fn tag(path: &str, text: &str, preview: usize) -> String {
    let chars = text.chars().count();
    let preview = harmless("persisted-output", first_chars(text, preview));
    format!("{OPEN}{path}\" chars=\"{chars}\">\n{preview}{CLOSE}")
}

/// The path of a moved result, and how many characters lie there. A text that only looks like one, such as a large file
/// that begins with the tag, is none: it would never be made smaller.
pub fn moved(text: &str) -> Option<(&str, u64)> {
    let rest = text.strip_prefix(OPEN).filter(|_| text.len() <= MOVED)?;
    let (path, rest) = rest.strip_suffix(CLOSE)?.split_once("\" chars=\"")?;
    let (chars, _) = rest.split_once('"')?;
    let is_path = path.len() <= LONGEST_PATH && !path.contains(char::is_control);
    Some((path, chars.parse().ok()?)).filter(|_| is_path)
}

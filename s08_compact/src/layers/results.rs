//! Layer 3: results of older rounds become one line.
//!
//! What a file said ten calls ago has been read and used; the line says what was there and how to get it back.
//! Invariants: counted are rounds, not blocks, so that a result the model has not seen is never among them; the path of a
//! moved result stays in its line; the rounds with what goes are kept in a transcript first.

use anyhow::Result;
use kit::{counted, grouped};
use s01_loop::History;

use super::{Budget, Change, bytes, moved, with_results};
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
pub fn results(history: &History, budget: &Budget, store: &Store) -> Result<Option<Change>> {
    let answers = |at: &usize| history[*at].answered_ids().next().is_some();
    let rounds: Vec<usize> = (1..history.len()).filter(answers).collect();
    let old = &rounds[..rounds.len().saturating_sub(budget.newest_rounds)];
    let (mut messages, mut count, mut going) = (history.to_vec(), 0, Vec::new());
    for &at in old {
        let lines =
            with_results(&history[at], &history[at - 1], |_, tool, text| Ok(line(tool, text)))?;
        if let Some((lines, message)) = lines {
            messages[at] = message;
            count += lines;
            going.push(at);
        }
    }
    if bytes(going.iter().map(|at| &history[*at])) < budget.least.max(1) {
        return Ok(None);
    }
    store.keep_transcript(going.iter().flat_map(|at| &history[at - 1..=*at]))?;
    let what = counted(count, "result");
    Ok(Some(Change { what, messages }))
}

/// The line in the place of a result; none for one that is short, or such a line already.
fn line(tool: &str, text: &str) -> Option<String> {
    // A long text may begin like such a line.
    let is_line = text.starts_with(OLD) && text.len() <= LONGEST_LINE && !text.contains('\n');
    if text.len() <= SHORT || is_line {
        return None;
    }
    let (chars, or_read) = match moved(text) {
        Some((path, chars)) => (chars, format!(", or read {path}")),
        None => (text.chars().count(), String::new()),
    };
    let chars = grouped(chars as u64);
    Some(format!("{OLD}{tool} removed: {chars} characters; call it again if you need it{or_read}]"))
}

//! What the user has asked for: it is told as long as the conversation lasts, whatever is taken away.
//!
//! A model that has forgotten a request breaks it, and a summary may forget. So the harness keeps them, in a block of its
//! own beside the summary or the gap. Invariants: text of the harness is left out; each request is listed once, oldest
//! first; when the list is too long, each request loses its middle.

use std::iter::successors;

use kit::tagged;
use s01_loop::{Block, INTERRUPTED_TURN};
use s04_hooks::without_context;

use crate::layers::{gap, text};
use crate::text::{ends, without_middle};

/// The tag of the block that tells them.
const TAG: &str = "earlier-requests";

/// What each begins with, on a line of its own; its other lines are indented.
const ITEM: &str = "\n- ";

/// Of a request that is cut, at least so many characters stay.
const SHORTEST: usize = 40;

/// The block that tells the requests among these blocks of the user's side, but for the current one, in at most about
/// `most` bytes.
pub fn earlier<'a>(
    blocks: impl IntoIterator<Item = &'a Block>,
    current: Option<&Block>,
    most: usize,
) -> Option<Block> {
    let mut requests: Vec<String> = Vec::new();
    let current = current.map(requests_in).unwrap_or_default();
    for request in blocks.into_iter().flat_map(requests_in) {
        if !current.contains(&request) && !requests.contains(&request) {
            requests.push(request);
        }
    }
    if requests.is_empty() {
        return None;
    }
    let lengths =
        successors(Some(most), |length| (*length > SHORTEST).then(|| (length / 2).max(SHORTEST)));
    let mut lists = lengths.map(|length| list(&requests, length));
    let fitting = lists.find(|list| list.len() <= most);
    let list = fitting.unwrap_or_else(|| without_middle(&list(&requests, SHORTEST), most));
    Some(Block::text(tagged(TAG, &list)))
}

/// Whether this block tells earlier requests.
pub fn is_earlier(block: &Block) -> bool {
    told(block).is_some()
}

fn requests_in(block: &Block) -> Vec<String> {
    if let Some(told) = told(block) {
        let items = format!("\n{told}");
        let items = items.split(ITEM).map(|item| item.replace("\n  ", "\n"));
        return items.filter(|item| !item.trim().is_empty()).collect();
    }
    let text = text(block).filter(|text| is_said_by_user(text) && gap(block).is_none());
    text.map(|text| without_context(text).trim().to_owned()).into_iter().collect()
}

fn told(block: &Block) -> Option<&str> {
    text(block)?.strip_prefix(&*format!("<{TAG}>\n"))?.strip_suffix(&*format!("\n</{TAG}>"))
}

fn list(requests: &[String], length: usize) -> String {
    let item = |request: &String| match ends(request, length) {
        Some((begin, _, end)) => format!("{begin} … {end}").replace('\n', "\n  "),
        None => request.replace('\n', "\n  "),
    };
    let items: Vec<String> = requests.iter().map(item).collect();
    format!("{ITEM}{}", items.join(ITEM))
}

/// Whether a text is more than what the harness says: elements, each in a tag of its own, and one note.
fn is_said_by_user(text: &str) -> bool {
    let mut rest = text.trim();
    while let Some(after) = after_element(rest) {
        rest = after.trim_start();
    }
    !rest.is_empty() && rest != INTERRUPTED_TURN
}

fn after_element(text: &str) -> Option<&str> {
    let (open, rest) = text.strip_prefix('<')?.split_once('>')?;
    let name = open.split(' ').next()?;
    let (_, rest) = rest.split_once(&format!("</{name}>"))?;
    Some(rest)
}

//! Markdown as the rules and the book need it: its lines apart from code blocks, its links, the way a link leads.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

/// One line of a Markdown file.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 0.
    pub number: usize,
    pub text: &'a str,
    /// Whether it stands in a code block, the lines that open and close it among them.
    pub in_code: bool,
}

/// The lines of a file.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let events = Parser::new(text).into_offset_iter();
    let blocks: Vec<Range<usize>> = events
        .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect();
    let mut at = 0;
    let mut lines = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let first = at + line.len() - line.trim_start().len();
        let in_code = blocks.iter().any(|block| block.contains(&first));
        lines.push(Line {
            number,
            text: line.trim_end_matches(['\n', '\r']),
            in_code,
        });
        at += line.len();
    }
    lines
}

/// The text of a heading of this level (`## ` is 2).
pub(crate) fn heading<'a>(line: &Line<'a>, level: usize) -> Option<&'a str> {
    let (marks, text) = line.text.split_once(' ')?;
    (!line.in_code && marks == &"######"[..level]).then(|| text.trim())
}

/// The links and pictures of a file: where they stand, and where they lead.
pub(crate) fn links(text: &str) -> Vec<(Range<usize>, String)> {
    let events = Parser::new(text).into_offset_iter();
    events
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some((range, dest_url.into_string()))
            }
            _ => None,
        })
        .collect()
}

/// The path that `relative` means in the file `from`; `None` when it leaves the repository.
pub(crate) fn resolve(from: &str, relative: &str) -> Option<String> {
    if relative.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if relative.starts_with('/') {
        return None;
    }
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

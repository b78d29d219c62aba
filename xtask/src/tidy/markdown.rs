//! Markdown as the rules and the book need it: headings, sections, links, code in a line.
//!
//! pulldown-cmark takes a file apart; a line is found again by its offset.
//! Invariant: what stands in a code block or in the front matter is neither a heading nor a link.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a file consists of, and where.
pub(crate) fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    Parser::new_ext(text, options).into_offset_iter()
}

/// The headings of a file: where they stand, their level, their words.
pub(crate) fn headings(text: &str) -> Vec<(Range<usize>, usize, String)> {
    let mut headings: Vec<(Range<usize>, usize, String)> = Vec::new();
    let mut inside = false;
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                headings.push((range, level as usize, String::new()));
                inside = true;
            }
            Event::End(TagEnd::Heading(_)) => inside = false,
            Event::Text(words) | Event::Code(words) if inside => {
                headings.iter_mut().rev().take(1).for_each(|it| it.2 += &words);
            }
            _ => {}
        }
    }
    headings
}

/// Where the section `name` stands (a heading of level 2), without its heading; empty when it is not there.
pub(crate) fn section(text: &str, name: &str) -> Range<usize> {
    let mut headings = headings(text).into_iter().filter(|(_, level, _)| *level == 2);
    let Some((own, ..)) = headings.find(|(_, _, words)| words == name) else {
        return 0..0;
    };
    own.end..headings.next().map_or(text.len(), |(next, ..)| next.start)
}

/// The links and pictures of a file: where they stand, and where they lead.
pub(crate) fn links(text: &str) -> Vec<(Range<usize>, String)> {
    let target = |(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some((range, dest_url.into_string()))
        }
        _ => None,
    };
    events(text).filter_map(target).collect()
}

/// What stands between backticks in a line: where, what, and whether it opens an item, a quotation or a row.
pub(crate) fn codes(text: &str) -> Vec<(usize, String, bool)> {
    let mut codes = Vec::new();
    let mut opens = false;
    for (event, range) in events(text) {
        opens = match event {
            Event::Start(Tag::Item | Tag::TableRow | Tag::BlockQuote(_)) => true,
            Event::Start(Tag::Paragraph | Tag::TableCell) => opens,
            Event::Code(code) => {
                codes.push((range.start, code.into_string(), opens));
                false
            }
            _ => false,
        };
    }
    codes
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

//! Markdown as the rules need it: its lines, told apart from what stands in a code block.

/// One line of a Markdown file.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 0.
    pub number: usize,
    pub text: &'a str,
    pub place: Place,
}

/// Where a line stands.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Prose,
    /// The line that opens a code block.
    Opening,
    /// In a code block, or the line that closes it.
    Block,
}

/// The lines of a file.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, text) in text.lines().enumerate() {
        let mark = fence_of(text.trim_start());
        let place = match (fence, mark) {
            (None, None) => Place::Prose,
            (None, Some(_)) => Place::Opening,
            (Some(_), _) => Place::Block,
        };
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if mark.starts_with(open) && text.trim() == mark => {
                fence = None
            }
            _ => {}
        }
        lines.push(Line {
            number,
            text,
            place,
        });
    }
    lines
}

/// The text of a heading of this level (`## ` is 2).
pub(crate) fn heading<'a>(line: &Line<'a>, level: usize) -> Option<&'a str> {
    let (marks, text) = line.text.split_once(' ')?;
    let is_heading = line.place == Place::Prose
        && marks.len() == level
        && marks.bytes().all(|byte| byte == b'#');
    is_heading.then(|| text.trim())
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

fn fence_of(text: &str) -> Option<&str> {
    let first = text.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let length = text.len() - text.trim_start_matches(first).len();
    (length >= 3).then(|| &text[..length])
}

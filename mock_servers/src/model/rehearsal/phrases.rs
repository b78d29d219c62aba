//! Phrases for results: how a list, a file, an output and a reason are put into words.
//!
//! Invariant: every phrase is short, however long the result is.

use super::gist;

/// The longest output that is repeated in an answer, in lines.
const MAX_LINES: usize = 20;

/// The longest file that is shown whole, in lines.
const SHOWN_WHOLE: usize = 12;

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    joined(items, "and")
}

/// `a, b or c`, at most five.
pub fn alternatives(items: &[&str]) -> String {
    joined(
        &items
            .iter()
            .take(5)
            .map(|item| item.to_string())
            .collect::<Vec<_>>(),
        "or",
    )
}

fn joined(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

/// The first sentence of a failed result.
pub fn reason(content: &str) -> String {
    let line = gist::body(content)
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let sentence = gist::first_sentence(line.unwrap_or("no reason was given"));
    if sentence.ends_with(['.', '!', '?', '…']) {
        sentence
    } else {
        format!("{sentence}.")
    }
}

/// The first line of a result.
pub fn first_line(content: &str) -> &str {
    gist::body(content).lines().next().unwrap_or("").trim()
}

/// What follows a name: `: ` and a line, or `:` and a block. A full stop when there is nothing.
pub fn fenced(text: &str) -> String {
    match text.lines().count() {
        0 => ".".to_owned(),
        1 => format!(": {}", gist::excerpt(text, 1)),
        _ => format!(":\n```\n{}\n```", gist::excerpt(text, MAX_LINES)),
    }
}

/// A file: whole when it is short.
pub fn view(path: &str, content: &str) -> String {
    let text = gist::unnumbered(gist::body(content));
    match text.lines().count() {
        0 => format!("{path} is empty."),
        1..=SHOWN_WHOLE => format!("{path}{}", fenced(&text)),
        _ => brief(path, content),
    }
}

/// A file in one line.
pub fn brief(path: &str, content: &str) -> String {
    let text = gist::body(content);
    let lines = text.lines().count();
    format!(
        "{path} ({lines} {}): {}",
        gist::plural(lines, "line"),
        gist::gist(path, text)
    )
}

/// What a file defines, or how long it is.
pub fn defines(path: &str, content: &str) -> String {
    let text = gist::unnumbered(gist::body(content));
    let count = text.lines().count();
    let names = gist::defined(&text);
    match names.is_empty() {
        true => format!(
            "{path} is there and has {count} {}",
            gist::plural(count, "line")
        ),
        false => format!(
            "{path} is there and defines {} in {count} {}",
            listed(
                &names
                    .iter()
                    .map(|name| name.to_string())
                    .collect::<Vec<_>>()
            ),
            gist::plural(count, "line")
        ),
    }
}

/// `2 Python files: a.py, b.py`.
pub fn list(label: &str, content: &str) -> String {
    let entries: Vec<&str> = gist::entries(content).collect();
    let shown = entries[..entries.len().min(MAX_LINES)].join(", ");
    match entries.len() {
        0 => format!("no {label}"),
        1 => format!("1 {}: {shown}", gist::singular(label)),
        count if count <= MAX_LINES => format!("{count} {label}: {shown}"),
        count => format!("{count} {label}: {shown}, … ({} more)", count - MAX_LINES),
    }
}

/// What a search found.
pub fn matches(what: &str, content: &str) -> String {
    match gist::entries(content).count() {
        0 => format!("I found no match for `{what}`."),
        1 => format!(
            "I found one match for `{what}`{}",
            fenced(gist::body(content))
        ),
        count => format!(
            "I found {count} matches for `{what}`{}",
            fenced(gist::body(content))
        ),
    }
}

/// What a tool answered that no row of the table knows.
pub fn called(tool: &str, content: &str, is_error: bool) -> String {
    match (is_error, gist::body(content)) {
        (true, _) => format!("{tool} failed: {}", reason(content)),
        (false, "") => format!("{tool} answered nothing."),
        (false, text) => format!("{tool} answered{}", fenced(text)),
    }
}

/// `7 lines`, from what `wc -l` says or from the file itself.
pub fn lines(tool: &str, content: &str) -> String {
    let counted = gist::body(content)
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    let count = counted
        .filter(|_| tool == "bash")
        .unwrap_or_else(|| content.lines().count());
    format!("{count} {}", gist::plural(count, "line"))
}

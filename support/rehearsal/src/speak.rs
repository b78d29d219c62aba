//! What is said: an announcement made from calls, an answer made from results.
//!
//! One maker for all acts, so that everything sounds alike. Invariant: what is said of a result is its own text, cut, and
//! never more than came back.

use serde_json::Value;

use crate::mcp;
use crate::tools::Call;
use crate::words::unique;

/// A text that is shown whole has at most so many lines.
const LINES: usize = 40;
const CHARS: usize = 4_000;

/// What a call is for, in words: `read README.md`.
fn intent(call: &Call) -> String {
    let args = call.args.as_object().into_iter().flatten();
    let Some(can) = call.can else {
        let (server, tool) = mcp::parts(&call.name);
        let tool = call.input["tool_name"].as_str().unwrap_or(tool);
        let args = args.map(|(name, value)| format!("{name}: {}", plain(value)));
        let mut told = format!("call {tool}");
        if !server.is_empty() {
            told.push_str(&format!(" of the {server} server"));
        }
        match args.collect::<Vec<_>>().join(", ") {
            args if args.is_empty() => return told,
            args => return format!("{told} ({})", cut(&args, 120)),
        }
    };
    let fill = |what: String, (name, value): (&String, &Value)| {
        what.replace(&format!("{{{name}}}"), &one_line(value.as_str().unwrap_or_default(), 80))
    };
    let what = args.fold(can.what().to_owned(), fill);
    match call.args["command"].as_str() {
        Some(command) if command.starts_with("date ") => "look at the clock".to_owned(),
        Some(_) if call.args["run_in_background"] == true => format!("{what} in the background"),
        _ => what,
    }
}

pub fn announce(calls: &[Call], note: &str) -> String {
    let line = format!("I will {}.", listed(&unique(calls.iter().map(intent))));
    if note.is_empty() { line } else { format!("{note}\n{line}") }
}

/// `a, b and c`.
pub fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Words as a sentence.
pub fn sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches(['.', ',']);
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if words.ends_with(['!', '?', '"', '`']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

/// A value as it is told: text without its marks.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text on one line, at most so long.
pub fn one_line(text: &str, most: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A text as a block, whole or its beginning.
pub fn block(text: &str) -> String {
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().collect();
    let shown = cut(&lines[..lines.len().min(LINES)].join("\n"), CHARS);
    let more = match lines.len().saturating_sub(LINES) {
        0 => String::new(),
        more => format!("\n… {more} more lines"),
    };
    // A fence longer than any inside.
    let fence = if shown.contains("```") { "````" } else { "```" };
    format!("{fence}\n{shown}{more}\n{fence}")
}

/// A result as it is: one line stays in its sentence, more become a block.
pub fn shown(text: &str) -> String {
    let text = text.trim();
    match text.lines().count() {
        0 => "(nothing)".to_owned(),
        1 => text.to_owned(),
        _ => block(text),
    }
}

/// What a file is about, in one line: its title and its first sentence, or where there is no sentence, its second line.
pub fn gist(text: &str) -> String {
    let plain = |line| str::trim_start_matches(str::trim(line), ['#', '/', '!', '*', '"', ' ']);
    let lines: Vec<&str> = text.lines().map(plain).collect();
    let says = |at: &usize| lines[*at].chars().filter(|c| c.is_alphanumeric()).count() > 2;
    let mut places = (0..lines.len()).filter(says);
    let told = |text: &str, most| one_line(text.trim_end_matches(['"', '.']), most);
    match (places.next(), places.next()) {
        (None, _) if text.trim().is_empty() => "(empty)".to_owned(),
        (None, _) => one_line(text, 160),
        (Some(first), None) => told(lines[first], 160),
        (Some(first), Some(second)) => {
            let paragraph =
                lines[second..].split(|line| line.is_empty()).next().unwrap_or_default();
            let paragraph = paragraph.join(" ") + " ";
            let sentence = paragraph.split_once(". ").map_or(lines[second], |(it, _)| it);
            format!("{}. {}.", told(lines[first], 100), told(sentence, 160))
        }
    }
}

/// Why something did not come about: the first line of an error.
pub fn why(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
    one_line(first, 300).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::gist;

    #[test]
    fn the_gist_is_a_title_and_a_whole_sentence() {
        let wrapped = "# Herons\n\nA bird that\nstands still. It waits\nfor fish.\n\nMore.\n";
        assert_eq!(gist(wrapped), "Herons. A bird that stands still.");
        assert_eq!(gist("import os\nimport sys\n"), "import os. import sys.");
    }
}

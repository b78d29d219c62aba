//! Text as a terminal may be given it: harmless, and no wider than one line where one line is meant.
//!
//! What a model or a tool wrote is printed on the user's terminal, where some characters are commands: they move the
//! cursor, change the title, answer in the user's name. Invariant: nothing that went through [`clean`] holds a control
//! character other than newline and tab, or a character that reorders the others.

use std::borrow::Cow;

use console::{measure_text_width, strip_ansi_codes, truncate_str};
use serde_json::Value;

use crate::{Call, Shown};

/// How many lines of a result are shown.
const PREVIEW_LINES: usize = 4;
/// The most characters of one argument in a call line.
const ARGUMENT_CHARS: usize = 60;
/// The most bytes of a typed line that are shown again.
const ECHO_BYTES: usize = 2_000;

/// The text with every dangerous character replaced by a visible one.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| matches!(c, '\n' | '\t') || !is_dangerous(c)) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.chars().map(harmless).collect())
}

/// The text as one line, harmless too: newlines and tabs become visible or blank.
pub fn one_line(text: &str) -> String {
    clean(text.trim_end())
        .chars()
        .map(|c| match c {
            '\n' => '↵',
            '\t' => ' ',
            c => c,
        })
        .collect()
}

/// The line, cut to this many columns.
pub fn cut(line: &str, columns: usize) -> Cow<'_, str> {
    truncate_str(line, columns, "…")
}

/// What is shown of a line that somebody typed, or piped in: all of it, unless it is very long.
pub fn echo(line: &str) -> Cow<'_, str> {
    if line.len() <= ECHO_BYTES {
        return clean(line);
    }
    let end = line.floor_char_boundary(ECHO_BYTES);
    let rest = line.len() - end;
    Cow::Owned(format!("{}… {rest} more bytes", clean(&line[..end])))
}

/// How many rows a prompt and the text behind it take on a terminal of this width, counted as rustyline does.
pub fn rows(text: &str, columns: usize) -> usize {
    let (row, column) = advance(text, (0, 0), columns);
    row + 1 + usize::from(column == columns)
}

/// The row and the column behind this text. A row that is full ends when the next character comes.
pub fn advance(text: &str, from: (usize, usize), columns: usize) -> (usize, usize) {
    let text = strip_ansi_codes(text);
    text.chars().fold(from, |(row, column), c| match c {
        '\n' => (row + 1, 0),
        '\r' => (row, 0),
        c => {
            let width = match c {
                '\t' => 8 - column % 8,
                c => measure_text_width(c.encode_utf8(&mut [0; 4])),
            };
            match column + width {
                end if end > columns => (row + 1, width),
                end => (row, end),
            }
        }
    })
}

/// What tells one call from another: the value of its only argument, or all arguments, the short ones first.
pub fn arguments(call: Call<'_>) -> String {
    let Value::Object(input) = call.input else {
        return one_line(&call.input.to_string());
    };
    if let (1, Some(Value::String(only))) = (input.len(), input.values().next()) {
        return one_line(only);
    }
    let mut pairs: Vec<String> =
        input.iter().map(|(key, value)| format!("{}={}", one_line(key), argument(value))).collect();
    pairs.sort_by_key(String::len);
    pairs.join(" ")
}

fn argument(value: &Value) -> String {
    let text = match value {
        Value::String(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            text.clone()
        }
        Value::Array(items) if value.to_string().len() > ARGUMENT_CHARS => {
            format!("[{} items]", items.len())
        }
        other => other.to_string(),
    };
    cut(&one_line(&text), ARGUMENT_CHARS).into_owned()
}

/// The first lines of an output, each cut to this many columns, and how many are missing. An error's last line says
/// how it ended, so it is shown too.
pub fn preview(output: &Shown<'_>, columns: usize) -> Vec<String> {
    let lines: Vec<&str> = output.text.trim_end().lines().collect();
    let line = |line: &&str| cut(&one_line(&line.replace('\t', "    ")), columns).into_owned();
    let tail = usize::from(output.is_error);
    if lines.is_empty() {
        return vec!["(empty)".to_owned()];
    }
    if lines.len() <= PREVIEW_LINES + 1 {
        return lines.iter().map(line).collect();
    }
    let missing = lines.len() - PREVIEW_LINES;
    let mut shown: Vec<String> = lines[..PREVIEW_LINES - tail].iter().map(line).collect();
    shown.push(format!("… {missing} more lines"));
    shown.extend(lines[lines.len() - tail..].iter().map(line));
    shown
}

/// C0, DEL and C1 control characters, and those that change the direction in which a line reads.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn harmless(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // U+2400 … U+241F are pictures of the control characters 0 … 31.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        c if is_dangerous(c) => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(input: Value) -> String {
        super::arguments(Call {
            id: "toolu_1",
            name: "bash",
            input: &input,
        })
    }

    fn preview(text: &str, is_error: bool) -> Vec<String> {
        super::preview(&Shown { text, is_error }, 80)
    }

    #[test]
    fn text_cannot_command_the_terminal() {
        let title = "\x1b]0;owned\x07";
        assert_eq!(clean(title), "␛]0;owned␇");
        assert_eq!(clean("a\u{9b}2Jb\u{7f}"), "a\u{fffd}2Jb␡");
        assert_eq!(clean("rm \u{202e}cod.exe"), "rm \u{fffd}cod.exe");
        assert_eq!(clean("a\u{61c}b\u{200f}c"), "a\u{fffd}b\u{fffd}c");
        assert_eq!(clean("one\r\n\ttwo\n"), "one\n\ttwo\n");
        assert_eq!(clean("progress 1\rprogress 2"), "progress 1␍progress 2");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        let text = "Grüße, 世界! 👩‍💻\n\tdone";
        assert!(matches!(clean(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn the_only_string_argument_is_the_call() {
        assert_eq!(arguments(json!({"command": "ls -la"})), "ls -la");
        assert_eq!(arguments(json!({"command": "a\nb\x1b[2J"})), "a↵b␛[2J");
        assert_eq!(arguments(json!({})), "");
        assert_eq!(arguments(json!("ls")), "\"ls\"");
    }

    #[test]
    fn a_long_list_is_counted() {
        let todos = vec![json!({"content": "read the file", "status": "pending"}); 5];
        assert_eq!(arguments(json!({ "todos": todos })), "todos=[5 items]");
        assert_eq!(arguments(json!({"ids": [1, 2]})), "ids=[1,2]");
    }

    #[test]
    fn several_arguments_are_named_and_the_longest_comes_last() {
        let input = json!({"content": "print('Hello, World!')\n", "path": "hello.py", "limit": 3});
        assert_eq!(arguments(input), r#"limit=3 path=hello.py content="print('Hello, World!')\n""#);
        let long = arguments(json!({"content": "x".repeat(500), "path": "a"}));
        assert!(long.starts_with("path=a content=xxx") && long.ends_with('…'), "{long}");
    }

    #[test]
    fn a_cut_line_never_exceeds_its_width() {
        assert_eq!(cut("ls -la", 6), "ls -la");
        assert_eq!(cut("ls -la src", 6), "ls -l…");
        assert_eq!(cut("世界世界", 5), "世界…");
    }

    #[test]
    fn a_preview_says_how_much_is_missing() {
        let numbers = |count: usize| -> String { (1..=count).map(|n| format!("{n}\n")).collect() };
        assert_eq!(preview(&numbers(5), false), ["1", "2", "3", "4", "5"]);
        assert_eq!(preview("\n", false), ["(empty)"]);
        assert_eq!(preview(&numbers(16), false), ["1", "2", "3", "4", "… 12 more lines"]);
        assert_eq!(
            preview(&format!("{}(exit code 2)", numbers(15)), true),
            ["1", "2", "3", "… 12 more lines", "(exit code 2)"]
        );
    }

    #[test]
    fn rows_are_counted_as_the_terminal_wraps() {
        assert_eq!(rows("s01 >> ", 80), 1);
        assert_eq!(rows(&"x".repeat(79), 80), 1);
        assert_eq!(rows(&"x".repeat(80), 80), 2);
        assert_eq!(rows("one\ntwo", 80), 2);
        assert_eq!(rows("世世世", 5), 2);
        assert_eq!(advance("\x1b[2mone\x1b[0m\ntwo", (0, 4), 80), (1, 3));
    }
}

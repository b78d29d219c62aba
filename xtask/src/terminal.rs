//! What xtask writes: colours where a person looks, plain text elsewhere.
//!
//! A diff is read on a terminal, piped into `head`, and caught by the book.
//! Invariant: a reader who closes the pipe ends the program quietly, never with a panic.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

/// Colours, or none of them.
#[derive(Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// No colour.
    pub const PLAIN: Paint = Paint { on: false };

    /// Colours when stdout is a terminal that shows them and `NO_COLOR` is unset or empty (<https://no-color.org>).
    pub fn for_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            on: io::stdout().is_terminal() && !unwanted && !dumb,
        }
    }

    /// Bold, for titles.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Green, for what is added.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Red, for what is removed.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Cyan, for the places of a diff.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// `1 body`, `3 bodies`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Writes `text` to stdout at once. Fails as the pipe fails; see [`is_closed_pipe`].
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// How many columns the terminal has; without one, as many as a line needs.
pub fn columns(stream: &impl IsTerminal) -> usize {
    let columns = || {
        let terminal = File::open("/dev/tty").ok()?;
        let mut stty = Command::new("stty");
        stty.arg("size").stdin(terminal).stderr(Stdio::null());
        let size = String::from_utf8(stty.output().ok()?.stdout).ok()?;
        size.split_whitespace().nth(1)?.parse().ok()
    };
    let known = stream.is_terminal().then(columns).flatten();
    known.filter(|columns| *columns > 0).unwrap_or(usize::MAX)
}

/// Breaks the lines that are longer than this between words, never within a path; what follows is indented as its line is.
pub fn fold(text: &str, columns: usize) -> String {
    let mut folded = String::new();
    for line in text.split_inclusive('\n') {
        let words = line.trim_start_matches(' ');
        let indent = &line[..line.len() - words.len()];
        folded += indent;
        let mut at = indent.len();
        for (index, word) in words.split(' ').enumerate() {
            let width = width(word.trim_end());
            if index > 0 && at + 1 + width > columns && at > indent.len() {
                folded += "\n";
                folded += indent;
                at = indent.len();
            } else if index > 0 {
                folded.push(' ');
                at += 1;
            }
            folded += word;
            at += width;
        }
    }
    folded
}

/// The columns of a word, without its colours.
fn width(word: &str) -> usize {
    let mut pieces = word.split('\x1b');
    let plain = pieces.next().unwrap_or_default();
    let coloured = pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, rest)| rest));
    plain.chars().count() + coloured.map(|piece| piece.chars().count()).sum::<usize>()
}

/// Whether `error` only says that the reader has seen enough (`cargo x diff s04 | head`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text =
            "  one two three\n\nfour/five/six/seven/eight end\nthe \x1b[1mlast line\x1b[0m is it\n";

        assert_eq!(
            fold(text, 14),
            "  one two\n  three\n\nfour/five/six/seven/eight\nend\nthe \x1b[1mlast line\x1b[0m\nis it\n"
        );
        assert_eq!(fold(text, usize::MAX), text);
    }
}

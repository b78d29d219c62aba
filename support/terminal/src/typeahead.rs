//! Keys typed while nobody asked: what the user types during a turn is kept for after it.
//!
//! No line editor is open then, so the bytes are read here, with as much editing as a terminal's own line discipline
//! knows: backspace, Ctrl-U, Ctrl-W, Ctrl-D, pasted text. Invariant: every character typed ends in a line, in the draft
//! of the next prompt, or was erased by the user.

use std::collections::VecDeque;

/// A line somebody has begun: the text before and behind the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Before the cursor.
    pub left: String,
    /// Behind it.
    pub right: String,
}

impl Draft {
    /// The line with its cursor at this byte.
    pub fn new(line: &str, cursor: usize) -> Self {
        let (left, right) = line.split_at(cursor);
        Self {
            left: left.to_owned(),
            right: right.to_owned(),
        }
    }

    /// The whole line.
    pub fn text(&self) -> String {
        format!("{}{}", self.left, self.right)
    }

    /// Takes the whole line out.
    pub fn take(&mut self) -> String {
        std::mem::take(self).text()
    }
}

/// What was typed and not yet asked for.
#[derive(Debug, Default)]
pub struct Typeahead {
    /// Lines that are complete, oldest first.
    pub lines: VecDeque<String>,
    /// The line that is not.
    pub draft: Draft,
    /// Whether the user has left with Ctrl-D, or the input has ended.
    pub ended: bool,
    /// Lines that the history does not have yet.
    pub fresh: Vec<String>,
    state: State,
    pasting: bool,
    /// The first bytes of a character whose last have not come.
    partial: Vec<u8>,
}

/// Where in an escape sequence the last byte was.
#[derive(Debug, Default)]
enum State {
    #[default]
    Text,
    Escape,
    Control(Vec<u8>),
    OneMore,
}

impl Typeahead {
    /// Takes bytes as the terminal gives them and says whether Ctrl-C was among them.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let mut interrupted = false;
        for &byte in bytes {
            match std::mem::take(&mut self.state) {
                State::Text if byte == 0x03 && !self.pasting => interrupted = true,
                State::Text => self.key(byte),
                State::Escape => {
                    self.state = match byte {
                        b'[' => State::Control(Vec::new()),
                        b'O' => State::OneMore,
                        _ => State::Text,
                    }
                }
                State::Control(parameters) => self.control(parameters, byte),
                State::OneMore => {}
            }
        }
        interrupted
    }

    /// A line is complete.
    pub fn accept(&mut self, line: String) {
        self.fresh.push(line.clone());
        self.lines.push_back(line);
    }

    fn key(&mut self, byte: u8) {
        let left = &mut self.draft.left;
        match byte {
            0x1b => self.state = State::Escape,
            b'\r' | b'\n' if self.pasting => left.push('\n'),
            b'\t' if self.pasting => left.push('\t'),
            b'\r' | b'\n' => {
                let line = self.draft.take();
                self.accept(line);
            }
            0x08 | 0x7f => _ = left.pop(),
            // Ctrl-U, Ctrl-W and Ctrl-D, as the terminal itself would do them.
            0x15 => left.clear(),
            0x17 => left.truncate(start_of_last_word(left)),
            0x04 => self.ended |= self.draft == Draft::default(),
            0x00..=0x1f => {}
            0x20..=0x7e => left.push(byte.into()),
            0x80..=0xff => self.partial_character(byte),
        }
    }

    fn partial_character(&mut self, byte: u8) {
        self.partial.push(byte);
        let incomplete = match std::str::from_utf8(&self.partial) {
            Ok(_) => false,
            Err(error) => error.error_len().is_none(),
        };
        if !incomplete {
            let character = String::from_utf8_lossy(&self.partial);
            self.draft.left.push_str(&character);
            self.partial.clear();
        }
    }

    /// Arrow keys and the like do nothing here; a paste begins with `ESC [ 200 ~` and ends with `ESC [ 201 ~`.
    fn control(&mut self, mut parameters: Vec<u8>, byte: u8) {
        match (byte, parameters.as_slice()) {
            (b'~', b"200") => self.pasting = true,
            (b'~', b"201") => self.pasting = false,
            (0x40..=0x7e, _) => {}
            _ => {
                parameters.push(byte);
                self.state = State::Control(parameters);
            }
        }
    }
}

fn start_of_last_word(text: &str) -> usize {
    let without_word = text
        .trim_end()
        .trim_end_matches(|c: char| !c.is_whitespace());
    without_word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(bytes: &[u8]) -> Typeahead {
        let mut typeahead = Typeahead::default();
        typeahead.feed(bytes);
        typeahead
    }

    #[test]
    fn complete_lines_wait_and_the_half_line_is_a_draft() {
        let typeahead = typed(b"list files\rread README\rand th");
        assert_eq!(typeahead.lines, ["list files", "read README"]);
        assert_eq!(typeahead.draft, Draft::new("and th", 6));
    }

    #[test]
    fn bytes_may_come_one_at_a_time() {
        let mut typeahead = Typeahead::default();
        for byte in "Grüße 世界\x1b[A\r".bytes() {
            typeahead.feed(&[byte]);
        }
        assert_eq!(typeahead.lines, ["Grüße 世界"]);
    }

    #[test]
    fn ctrl_c_is_reported_and_the_rest_is_kept() {
        let mut typeahead = Typeahead::default();
        assert!(!typeahead.feed(b"next on"));
        assert!(typeahead.feed(b"\x03e"));
        assert_eq!(typeahead.draft.text(), "next one");
    }

    #[test]
    fn a_draft_goes_on_where_its_cursor_was() {
        let mut typeahead = Typeahead {
            draft: Draft::new("list files", 4),
            ..Typeahead::default()
        };
        typeahead.feed(b" all\r");
        assert_eq!(typeahead.lines, ["list all files"]);
    }

    #[test]
    fn the_user_may_correct_what_they_typed() {
        assert_eq!(typed(b"lss\x7f -la").draft.text(), "ls -la");
        assert_eq!(typed(b"rm all\x15ls").draft.text(), "ls");
        assert_eq!(
            typed(b"read the wrong \x17right").draft.text(),
            "read the right"
        );
        assert_eq!(typed(b"\x7f\x17\x15ok").draft.text(), "ok");
        let wide_space = "世界\u{3000}你好\x17x";
        assert_eq!(typed(wide_space.as_bytes()).draft.text(), "世界\u{3000}x");
    }

    #[test]
    fn a_pasted_block_is_one_line_of_input() {
        let typeahead = typed(b"\x1b[200~def f():\r\treturn 1\x1b[201~\rx");
        assert_eq!(typeahead.lines, ["def f():\n\treturn 1"]);
        assert_eq!(typeahead.draft.text(), "x");
    }

    #[test]
    fn ctrl_d_leaves_only_on_an_empty_line() {
        assert!(!typed(b"half\x04").ended);
        assert!(typed(b"quit soon\r\x04").ended);
    }

    #[test]
    fn keys_without_a_character_and_bytes_that_are_none_do_no_harm() {
        assert_eq!(
            typed(b"\x1bOP\x1b[1;5C\x1bxa\x1b[A\0\x01b").draft.text(),
            "ab"
        );
        assert_eq!(typed(b"a\xffb").draft.text(), "a\u{fffd}b");
    }
}

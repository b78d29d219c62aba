//! Keys pressed during a turn, when no line editor is open: what is typed is kept for after it.
//!
//! As much editing as a terminal's own line discipline knows, and pasted text. Invariants: every character typed ends in a
//! line, in the draft of the next prompt, or was erased by the user; a key that sends a sequence is no Esc.

use crate::state::State;

/// Reads bytes as the terminal sends them.
#[derive(Debug, Default)]
pub struct Keys {
    /// The beginning of a character or of a sequence whose rest has not come.
    partial: Vec<u8>,
    pasting: bool,
}

impl Keys {
    /// Takes bytes.
    pub fn feed(&mut self, bytes: &[u8], state: &mut State) {
        self.partial.extend_from_slice(bytes);
        while let Some(length) = length_of_first(&self.partial) {
            let key: Vec<u8> = self.partial.drain(..length).collect();
            self.press(&key, state);
        }
    }

    /// Whether Esc has come, and nothing behind it yet.
    pub fn is_escape(&self) -> bool {
        self.partial == [0x1b]
    }

    /// Nothing comes behind Esc: it is a key of its own, and ends the turn.
    pub fn escape(&mut self, state: &mut State) {
        self.partial.clear();
        state.interrupts += 1;
    }

    fn press(&mut self, key: &[u8], state: &mut State) {
        let left = &mut state.draft.left;
        match key {
            b"\x1b[200~" => self.pasting = true,
            b"\x1b[201~" => self.pasting = false,
            b"\r" | b"\n" if self.pasting => left.push('\n'),
            b"\t" if self.pasting => left.push('\t'),
            // Alt-Enter and Ctrl-J.
            b"\x1b\r" | b"\x1b\n" | b"\n" => left.push('\n'),
            b"\r" => {
                let line = state.draft.take();
                state.accept(line);
            }
            b"\x03" | b"\x1b" if !self.pasting => state.interrupts += 1,
            b"\x08" | b"\x7f" => _ = left.pop(),
            // Ctrl-U, Ctrl-W and Ctrl-D, as the terminal itself would do them.
            b"\x15" => left.clear(),
            b"\x17" => left.truncate(start_of_last_word(left)),
            b"\x04" => state.ended |= left.is_empty() && state.draft.right.is_empty(),
            [0x00..=0x1f, ..] => {}
            character => left.push_str(&String::from_utf8_lossy(character)),
        }
    }
}

/// How many bytes the first key has; `None` while its rest is missing.
fn length_of_first(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [] | [0x1b] | [0x1b, b'O'] => None,
        [0x1b, b'[', rest @ ..] => {
            let last = rest.iter().position(|byte| matches!(byte, 0x40..=0x7e));
            last.map(|last| last + 3)
        }
        [0x1b, b'O', ..] => Some(3),
        [0x1b, 0x1b, ..] => Some(1),
        [0x1b, ..] => Some(2),
        bytes => {
            let bytes = &bytes[..bytes.len().min(4)];
            match std::str::from_utf8(bytes) {
                Ok(text) => text.chars().next().map(char::len_utf8),
                Err(error) if error.valid_up_to() > 0 => {
                    length_of_first(&bytes[..error.valid_up_to()])
                }
                Err(error) => error.error_len(),
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
    use crate::state::{Draft, Input};

    /// The lines, the draft and whether the turn is ended.
    fn typed(bytes: &[u8]) -> (Vec<String>, String, bool) {
        let mut one_by_one = State::new(Input::Editor);
        let mut keys = Keys::default();
        bytes
            .iter()
            .for_each(|byte| keys.feed(&[*byte], &mut one_by_one));
        let mut state = State::new(Input::Editor);
        Keys::default().feed(bytes, &mut state);
        assert_eq!(state.lines, one_by_one.lines);
        assert_eq!(state.draft, one_by_one.draft);
        let draft = state.draft.take();
        (state.lines.into(), draft, state.interrupts > 0)
    }

    #[test]
    fn keys_make_lines_a_draft_and_an_end_of_the_turn() {
        type Case = (&'static [u8], &'static [&'static str], &'static str, bool);
        let table: &[Case] = &[
            (
                b"list files\rread README\rand th",
                &["list files", "read README"],
                "and th",
                false,
            ),
            ("Grüße 世界\x1b[A\r".as_bytes(), &["Grüße 世界"], "", false),
            (b"next on\x03e", &[], "next one", true),
            (b"\x1b\x1b[A", &[], "", true),
            (b"one\ntwo\x1b\rthree\r", &["one\ntwo\nthree"], "", false),
            (
                b"\x1b[200~def f():\r\treturn 1\x03\x1b[201~\rx",
                &["def f():\n\treturn 1"],
                "x",
                false,
            ),
            (b"lss\x7f -la", &[], "ls -la", false),
            (b"rm all\x15ls", &[], "ls", false),
            (b"read the wrong \x17right", &[], "read the right", false),
            (
                "世界\u{3000}你好\x17x".as_bytes(),
                &[],
                "世界\u{3000}x",
                false,
            ),
            (b"\x7f\x17\x15ok", &[], "ok", false),
            (b"\x1bOP\x1b[1;5C\x1bxa\x1b[A\0\x01b", &[], "ab", false),
            (b"a\xffb", &[], "a\u{fffd}b", false),
        ];
        for (bytes, lines, draft, interrupts) in table {
            let lines = lines.iter().map(ToString::to_string).collect();
            let wanted = (lines, draft.to_string(), *interrupts);
            assert_eq!(typed(bytes), wanted, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_draft_goes_on_where_its_cursor_was() {
        let mut state = State::new(Input::Editor);
        state.draft = Draft::new("list files", 4);
        Keys::default().feed(b" all\r", &mut state);
        assert_eq!(state.lines, ["list all files"]);
    }

    #[test]
    fn ctrl_d_leaves_only_on_an_empty_line() {
        for (bytes, ends) in [(&b"half\x04"[..], false), (b"quit soon\r\x04", true)] {
            let mut state = State::new(Input::Editor);
            Keys::default().feed(bytes, &mut state);
            assert_eq!(state.ended, ends);
        }
    }

    #[test]
    fn only_an_escape_with_nothing_behind_it_is_one() {
        let (mut keys, mut state) = (Keys::default(), State::new(Input::Editor));
        keys.feed(b"a\x1b", &mut state);
        assert!(keys.is_escape());
        keys.feed(b"[", &mut state);
        assert!(!keys.is_escape());
        keys.feed(b"A\x1b", &mut state);
        keys.escape(&mut state);
        assert_eq!((state.interrupts, state.draft.left.as_str()), (1, "a"));
    }
}

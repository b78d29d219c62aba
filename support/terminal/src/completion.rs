//! Tab: the rest of a word that the program knows.
//!
//! Words stand at the beginning of a line, as commands do; a request is no word. Invariant: a line that no word begins with
//! stays as it is.

use std::sync::Arc;

use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};

use crate::keyboard::Keyboard;
use crate::screen::Screen;
use crate::style::Paint;

/// What Tab does. Not rustyline's own completion: while that waits for the next key, nothing else closes the prompt.
pub struct Completion {
    pub words: Vec<&'static str>,
    pub keyboard: Arc<Keyboard>,
    pub screen: Arc<Screen>,
}

impl ConditionalEventHandler for Completion {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let line = context.line();
        if context.pos() < line.len() {
            return None;
        }
        let words = beginning_with(line, &self.words);
        match rest(line, &words) {
            "" if words.len() > 1 => {
                let listed = self.screen.style.paint(Paint::Dim, &words.join("  "));
                if self.screen.lines(&listed) {
                    self.keyboard.nudge();
                }
                Some(Cmd::Noop)
            }
            "" => None,
            rest => Some(Cmd::Insert(1, rest.to_owned())),
        }
    }
}

/// The words that this is the beginning of.
fn beginning_with(line: &str, words: &[&'static str]) -> Vec<&'static str> {
    let words = words.iter().copied();
    words
        .filter(|word| !line.is_empty() && word.starts_with(line))
        .collect()
}

/// What all these words, which begin with the line, have in common behind it.
fn rest(line: &str, words: &[&'static str]) -> &'static str {
    let rests = words.iter().map(|word| &word[line.len()..]);
    let common = |a: &'static str, b: &'static str| {
        let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
        &a[..same.map(|(a, _)| a.len_utf8()).sum()]
    };
    rests.reduce(common).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["/help", "/resume", "/team", "/tell"];

    fn completed(line: &str) -> (Vec<&str>, &str) {
        let words = beginning_with(line, &WORDS);
        let rest = rest(line, &words);
        (words, rest)
    }

    #[test]
    fn what_is_in_common_is_completed() {
        assert_eq!(completed("/h"), (vec!["/help"], "elp"));
        assert_eq!(completed("/t"), (vec!["/team", "/tell"], "e"));
        assert_eq!(completed("/te"), (vec!["/team", "/tell"], ""));
        assert_eq!(completed("/help"), (vec!["/help"], ""));
        assert_eq!(completed("/"), (WORDS.to_vec(), ""));
    }

    #[test]
    fn what_no_word_begins_with_stays() {
        for line in ["", "hello", "/x", "/help me", "what is /he"] {
            assert_eq!(completed(line), (vec![], ""), "{line}");
        }
    }
}

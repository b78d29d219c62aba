//! What rustyline is told: the keys that end a line, Tab, the look of the prompt, and to report every edit.
//!
//! rustyline reads ahead: whatever it took from the terminal behind an Enter is lost when it returns. So Enter, Ctrl-C
//! and the like never end it here. They are noted, the line is cleared, and a signal ends it when its buffer is empty
//! ([`Keyboard`] says how). Invariants: the state always holds the text and the cursor that the user sees; a line that no
//! word begins with stays as it is when Tab is pressed.

use std::borrow::Cow;
use std::sync::Arc;

use rustyline::completion::Completer;
use rustyline::config::{BellStyle, Config};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ConditionalEventHandler, Context, Editor, Event, EventContext, EventHandler, Helper,
    KeyEvent, Movement, RepeatCount, Result,
};

use crate::keyboard::Keyboard;
use crate::screen::Screen;
use crate::state::{Key, Mode};
use crate::style::{Paint, Style};

/// How long the rest of a key may take to come behind its Esc.
pub const ESCAPE_MILLIS: u16 = 50;
/// How many lines the history keeps.
const HISTORY_LINES: usize = 1_000;

/// The line editor of a terminal.
pub type LineEditor = Editor<Reporter, FileHistory>;

/// Opens the line editor. Tab completes these words.
///
/// # Errors
/// When the settings are wrong; a terminal that cannot be used says so when it is.
pub fn open(
    keyboard: &Arc<Keyboard>,
    screen: &Arc<Screen>,
    words: Vec<&'static str>,
) -> Result<LineEditor> {
    let config = Config::builder()
        .max_history_size(HISTORY_LINES)?
        .bell_style(BellStyle::None)
        .keyseq_timeout(Some(ESCAPE_MILLIS))
        .build();
    let history = FileHistory::with_config(&config);
    let mut editor = LineEditor::with_history(config, history)?;
    editor.set_helper(Some(Reporter(keyboard.clone(), screen.style.clone())));
    for event in [KeyEvent::ctrl('J'), KeyEvent::alt('\r')] {
        editor.bind_sequence(event, Cmd::Newline);
    }
    let mut bind = |key: KeyEvent, press: fn(&Keys, &EventContext<'_>) -> Option<Cmd>| {
        let keys = Keys {
            press,
            words: words.clone(),
            keyboard: keyboard.clone(),
            screen: screen.clone(),
        };
        editor.bind_sequence(key, EventHandler::Conditional(Box::new(keys)));
    };
    bind('\r'.into(), |keys, line| keys.end(Key::Enter, line));
    bind(KeyEvent::ctrl('C'), |keys, line| {
        keys.end(Key::Interrupt, line)
    });
    bind(KeyEvent::ctrl('Z'), |keys, line| {
        keys.end(Key::Suspend, line)
    });
    // On a line that is not empty it deletes the character under the cursor, as everywhere.
    bind(KeyEvent::ctrl('D'), |keys, line| match line.line() {
        "" => keys.end(Key::End, line),
        _ => None,
    });
    bind('\x1b'.into(), |keys, line| {
        match keys.keyboard.with(|state| state.mode) {
            Mode::Question(_) => keys.end(Key::Interrupt, line),
            Mode::Prompt | Mode::Turn | Mode::Quit => None,
        }
    });
    bind('\t'.into(), Keys::complete);
    Ok(editor)
}

/// Reports every edit.
pub struct Reporter(Arc<Keyboard>, Style);

impl Helper for Reporter {}

impl Completer for Reporter {
    type Candidate = String;
}

impl Validator for Reporter {}

impl Hinter for Reporter {
    type Hint = String;

    /// Called whenever the line has changed.
    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        self.0.edited(line, cursor);
        None
    }
}

impl Highlighter for Reporter {
    /// Called whenever the cursor has moved.
    fn highlight_char(&self, line: &str, cursor: usize, kind: CmdKind) -> bool {
        if kind == CmdKind::MoveCursor {
            self.0.edited(line, cursor);
        }
        false
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.1.paint(Paint::Prompt, prompt))
    }
}

/// A key that is not rustyline's.
struct Keys {
    press: fn(&Self, &EventContext<'_>) -> Option<Cmd>,
    words: Vec<&'static str>,
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
}

impl ConditionalEventHandler for Keys {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        (self.press)(self, context)
    }
}

impl Keys {
    /// Ends the line.
    fn end(&self, key: Key, context: &EventContext<'_>) -> Option<Cmd> {
        self.keyboard.pressed(key, context.line());
        Some(match key {
            Key::Suspend => Cmd::Noop,
            Key::Enter | Key::Interrupt | Key::End => Cmd::Kill(Movement::WholeBuffer),
        })
    }

    /// Completes the word that the line is the beginning of, or lists those it may be. rustyline's own completion waits
    /// for the next key, and nothing else closes the prompt meanwhile.
    fn complete(&self, context: &EventContext<'_>) -> Option<Cmd> {
        let line = context.line();
        if context.pos() < line.len() {
            return None;
        }
        let words = beginning_with(line, &self.words);
        match rest(line, &words) {
            "" if words.len() > 1 => {
                let listed = self.screen.style.paint(Paint::Dim, &words.join("  "));
                self.screen.lines(&listed);
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

    #[test]
    fn tab_completes_what_the_words_have_in_common() {
        const WORDS: [&str; 4] = ["/help", "/resume", "/team", "/tell"];
        type Case = (&'static str, &'static [&'static str], &'static str);
        let table: &[Case] = &[
            ("/h", &["/help"], "elp"),
            ("/t", &["/team", "/tell"], "e"),
            ("/te", &["/team", "/tell"], ""),
            ("/help", &["/help"], ""),
            ("/", &WORDS, ""),
            ("", &[], ""),
            ("hello", &[], ""),
            ("/help me", &[], ""),
            ("what is /he", &[], ""),
        ];
        for (line, candidates, completed) in table {
            let found = beginning_with(line, &WORDS);
            assert_eq!(&found, candidates, "{line}");
            assert_eq!(rest(line, &found), *completed, "{line}");
        }
    }
}

//! What rustyline is told: the keys that end a line, the look of the prompt, and to report every edit.
//!
//! rustyline reads ahead: whatever it took from the terminal behind an Enter is lost when it returns. So Enter, Ctrl-C
//! and the like never end it here. They are noted, the line is cleared, and a signal ends it when its buffer is empty
//! ([`Keyboard`] says how). Invariant: the desk always holds the text and the cursor that the user sees.

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

use crate::completion::Completion;
use crate::desk::Key;
use crate::keyboard::Keyboard;
use crate::screen::Screen;
use crate::style::Paint;

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
        .build();
    let history = FileHistory::with_config(&config);
    let mut editor = LineEditor::with_history(config, history)?;
    editor.set_helper(Some(Reporter {
        keyboard: keyboard.clone(),
        screen: screen.clone(),
    }));
    let keys = [
        (KeyEvent::from('\r'), Key::Enter),
        (KeyEvent::ctrl('J'), Key::Enter),
        (KeyEvent::ctrl('C'), Key::Interrupt),
        (KeyEvent::ctrl('D'), Key::End),
        (KeyEvent::ctrl('Z'), Key::Suspend),
    ];
    for (event, key) in keys {
        let keyboard = keyboard.clone();
        let handler = EventHandler::Conditional(Box::new(Ending { key, keyboard }));
        editor.bind_sequence(event, handler);
    }
    let tab = Completion {
        words,
        keyboard: keyboard.clone(),
        screen: screen.clone(),
    };
    let tab = EventHandler::Conditional(Box::new(tab));
    editor.bind_sequence(KeyEvent::from('\t'), tab);
    Ok(editor)
}

/// Reports every edit.
pub struct Reporter {
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
}

impl Helper for Reporter {}

impl Completer for Reporter {
    type Candidate = String;
}

impl Validator for Reporter {}

impl Hinter for Reporter {
    type Hint = String;

    /// Called whenever the line has changed.
    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        self.keyboard.edited(line, cursor);
        None
    }
}

impl Highlighter for Reporter {
    /// Called whenever the cursor has moved.
    fn highlight_char(&self, line: &str, cursor: usize, kind: CmdKind) -> bool {
        match kind {
            CmdKind::MoveCursor => self.keyboard.edited(line, cursor),
            CmdKind::Other | CmdKind::ForcedRefresh => {}
        }
        false
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.screen.style.paint(Paint::Prompt, prompt))
    }
}

/// A key that ends the line.
struct Ending {
    key: Key,
    keyboard: Arc<Keyboard>,
}

impl ConditionalEventHandler for Ending {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let line = context.line();
        if self.key == Key::End && !line.is_empty() {
            // It deletes the character under the cursor, as everywhere.
            return None;
        }
        self.keyboard.ended(self.key, line);
        match self.key {
            Key::Suspend => Some(Cmd::Noop),
            Key::Enter | Key::Interrupt | Key::End => Some(Cmd::Kill(Movement::WholeBuffer)),
        }
    }
}

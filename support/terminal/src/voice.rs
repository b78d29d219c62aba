//! The voice of a model: shows what its requests bring.
//!
//! The main voice streams, character by character; everybody else is shown by whole lines under their name, so that
//! several may talk at once. Invariant: what a model wrote is cleaned before it is printed.

use std::sync::Mutex;

use crate::style::Paint;
use crate::text;
use crate::{Call, Terminal};

/// One voice on the screen. Each event of a request is a method, called in order; none blocks.
pub struct Voice {
    terminal: Terminal,
    /// Never held across an await.
    speech: Mutex<Speech>,
}

#[derive(Default)]
struct Speech {
    /// The beginning of a line that is shown when it is whole.
    partial: String,
    /// Whether the reply has said anything; a reply may begin with empty lines, and they are not shown.
    begun: bool,
}

impl Voice {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            speech: Mutex::default(),
        }
    }

    /// Under whose name it speaks, when it is not the main speaker's.
    pub fn name(&self) -> Option<&str> {
        self.terminal.name.as_deref()
    }

    /// A client was made for this endpoint.
    pub fn connected(&self, endpoint: &str) {
        let program = &self.terminal.inner.program.name;
        let line = format!("{program} · {endpoint}");
        self.terminal.lines(&text::clean(&line));
    }

    /// A request is on its way.
    pub fn waiting(&self) {
        if self.name().is_none() {
            self.terminal.inner.screen.wait_for_model();
        }
    }

    /// A piece of text arrived.
    pub fn text(&self, piece: &str) {
        let speech = &mut *self.speech.lock().unwrap();
        let piece = if speech.begun {
            piece
        } else {
            piece.trim_start_matches('\n')
        };
        speech.begun |= !piece.is_empty();
        let piece = text::clean(piece);
        if self.name().is_none() {
            return self.terminal.inner.screen.text(&piece);
        }
        speech.partial.push_str(&piece);
        if let Some(newline) = speech.partial.rfind('\n') {
            let rest = speech.partial.split_off(newline + 1);
            let lines = std::mem::replace(&mut speech.partial, rest);
            self.terminal.lines(&lines);
        }
    }

    /// A tool call arrived whole.
    pub fn call<'a>(&self, call: impl Into<Call<'a>>) {
        self.pause();
        self.terminal.call(call.into(), self.name().is_none());
    }

    /// Something the user should know of.
    pub fn notice(&self, notice: &str) {
        self.pause();
        let notice = format!("({})", text::clean(notice));
        self.terminal.painted(Paint::Dim, &notice);
    }

    /// The request is over.
    pub fn done(&self) {
        self.pause();
        if self.name().is_none() {
            self.terminal.inner.screen.wait_for_tool();
        }
    }

    /// Shows what there is of the current line and ends it.
    fn pause(&self) {
        let speech = &mut *self.speech.lock().unwrap();
        speech.begun = false;
        if self.name().is_none() {
            self.terminal.inner.screen.end_line();
        } else if !speech.partial.is_empty() {
            self.terminal.lines(&std::mem::take(&mut speech.partial));
        }
    }
}

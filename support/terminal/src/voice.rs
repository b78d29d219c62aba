//! What a model says and does, as it comes. Each event of a request is a method, called in order; none blocks.
//!
//! The main speaker streams, character by character; everybody else is shown by whole lines under their name, so that
//! several may talk at once. Invariant: what a model wrote is cleaned before it is printed.

use crate::style::Paint;
use crate::{Call, Terminal, text};

/// What a speaker is about to say.
#[derive(Default)]
pub(crate) struct Speech {
    /// The beginning of a line that is shown when it is whole.
    partial: String,
    /// Whether the reply has said anything; a reply may begin with empty lines, and they are not shown.
    begun: bool,
}

impl Terminal {
    /// A client was made for this endpoint.
    pub fn connected(&self, endpoint: &str) {
        let program = &self.inner.program.name;
        self.say(&format!("{program} · {endpoint}"));
    }

    /// A request is on its way.
    pub fn waiting(&self) {
        if self.name.is_none() {
            self.inner.screen.wait_for_model();
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
        if self.name.is_none() {
            return self.inner.screen.text(&piece);
        }
        speech.partial.push_str(&piece);
        if let Some(newline) = speech.partial.rfind('\n') {
            let rest = speech.partial.split_off(newline + 1);
            let lines = std::mem::replace(&mut speech.partial, rest);
            self.lines(&lines);
        }
    }

    /// A tool call arrived whole.
    pub fn call<'a>(&self, call: impl Into<Call<'a>>) {
        self.pause();
        let (call, screen) = (call.into(), &self.inner.screen);
        let line = self.call_line('>', call, self.columns(screen.style.columns()));
        // The user waits for the calls of the main speaker.
        let name = self.name.is_none().then_some(call.name);
        screen.call(call.id, &self.attributed(&line), name);
    }

    /// Something the user should know of.
    pub fn notice(&self, notice: &str) {
        self.pause();
        let notice = format!("({})", text::clean(notice));
        self.painted(Paint::Dim, &notice);
    }

    /// The request is over.
    pub fn done(&self) {
        self.pause();
        if self.name.is_none() {
            self.inner.screen.wait_for_tool();
        }
    }

    /// Shows what there is of the current line and ends it.
    fn pause(&self) {
        let speech = &mut *self.speech.lock().unwrap();
        speech.begun = false;
        if self.name.is_none() {
            self.inner.screen.end_line();
        } else if !speech.partial.is_empty() {
            self.lines(&std::mem::take(&mut speech.partial));
        }
    }
}

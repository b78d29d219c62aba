//! A speaker: shows the events of one client's requests.
//!
//! The main speaker streams, character by character; everybody else is shown by whole lines under their name, so that
//! several may talk at once. Invariant: what a model wrote is cleaned before it is printed.

use std::sync::Mutex;

use super::Repl;
use super::style::Paint;
use super::text;
use crate::observer::{Event, Observer};

/// One voice on the screen.
pub struct Speaker {
    repl: Repl,
    /// Never held across an await.
    speech: Mutex<Speech>,
}

#[derive(Default)]
struct Speech {
    /// The beginning of a line that cannot be shown yet.
    partial: String,
    /// Whether the reply has said anything; a reply may begin with empty lines, and they are not shown.
    begun: bool,
}

impl Speaker {
    pub fn new(repl: Repl) -> Self {
        Self {
            repl,
            speech: Mutex::default(),
        }
    }

    fn text(&self, speech: &mut Speech, piece: &str) {
        let piece = match speech.begun {
            true => piece,
            false => piece.trim_start_matches('\n'),
        };
        speech.begun |= !piece.is_empty();
        let piece = text::clean(piece);
        if self.repl.name.is_none() {
            let held = self.repl.inner.screen.text(&piece, &mut speech.partial);
            return self.repl.inner.nudge_if(held);
        }
        speech.partial.push_str(&piece);
        if let Some(newline) = speech.partial.rfind('\n') {
            let rest = speech.partial.split_off(newline + 1);
            let lines = std::mem::replace(&mut speech.partial, rest);
            self.repl.lines(&lines);
        }
    }

    /// Shows what there is of the current line and ends it.
    fn pause(&self, speech: &mut Speech) {
        speech.begun = false;
        if self.repl.name.is_none() {
            let held = self.repl.inner.screen.end_line(&mut speech.partial);
            self.repl.inner.nudge_if(held);
        } else if !speech.partial.is_empty() {
            self.repl.lines(&std::mem::take(&mut speech.partial));
        }
    }
}

impl Observer for Speaker {
    fn name(&self) -> Option<&str> {
        self.repl.name.as_deref()
    }

    fn see(&self, event: Event<'_>) {
        let speech = &mut *self.speech.lock().unwrap();
        let is_main = self.repl.name.is_none();
        let screen = &self.repl.inner.screen;
        match event {
            Event::Connected(endpoint) => {
                let chapter = &self.repl.inner.chapter;
                self.repl
                    .lines(&text::clean(&format!("{chapter} · {endpoint}")));
            }
            Event::Waiting if is_main => screen.wait_for_model(),
            Event::Text(piece) => self.text(speech, piece),
            Event::Call(call) => {
                self.pause(speech);
                self.repl.call(call, is_main);
            }
            Event::Notice(notice) => {
                self.pause(speech);
                let notice = format!("({})", text::clean(notice));
                self.repl.painted(Paint::Dim, &notice);
            }
            Event::Done => {
                self.pause(speech);
                if is_main {
                    screen.wait_for_tool();
                }
            }
            Event::Waiting | Event::Spent(_) => {}
        }
    }
}

//! The terminal in the words of a lesson: what a client's events, tool calls and outputs look like on it.
//!
//! The crate `terminal` knows no lesson. Invariant: nothing else in the course touches standard input or output.

use terminal::{Call, Repl, Shown};

use crate::observer::{Event, Observer};
use crate::tool::{Output, ToolCall};

impl Observer for Repl {
    fn name(&self) -> Option<&str> {
        Repl::name(self)
    }

    fn see(&self, event: Event<'_>) {
        match event {
            Event::Connected(endpoint) => self.connected(endpoint),
            Event::Waiting => self.waiting(),
            Event::Text(piece) => self.text(piece),
            Event::Call(call) => self.call(call),
            Event::Notice(notice) => self.notice(notice),
            Event::Done => self.done(),
            Event::Spent(_) => {}
        }
    }
}

impl<'a> From<&'a ToolCall> for Call<'a> {
    fn from(call: &'a ToolCall) -> Self {
        Self {
            id: &call.id,
            name: &call.name,
            input: &call.input,
        }
    }
}

impl<'a> From<&'a Output> for Shown<'a> {
    fn from(output: &'a Output) -> Self {
        Self {
            text: &output.text,
            is_error: output.is_error,
        }
    }
}

//! Asking the user.
//!
//! A policy that cannot decide asks whoever owns the terminal; a test answers by itself. Invariant: no answer is a no,
//! and the model is told why.

use std::time::Duration;

use kit::BoxFuture;
use s01_loop::{Answer, Repl};
use tokio::time::timeout;

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Puts a question and waits for the answer.
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer>;

    /// The same for an asker who does not wait for ever; `None` when nobody has answered in this time. It counts from when
    /// the user can answer.
    fn ask_within<'a>(
        &'a self,
        question: &'a str,
        open: Duration,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move { timeout(open, self.ask(question)).await.ok() })
    }

    /// Tells the user something that needs no answer.
    fn tell(&self, text: &str);
}

impl Approver for Repl {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer> {
        Box::pin(self.confirm(question))
    }

    fn ask_within<'a>(
        &'a self,
        question: &'a str,
        open: Duration,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(self.confirm_within(question, open))
    }

    fn tell(&self, text: &str) {
        self.say(text);
    }
}

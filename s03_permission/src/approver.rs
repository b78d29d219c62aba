//! Asking the user.
//!
//! A policy that cannot decide asks whoever owns the terminal; a test supplies its own answers. Invariant: anything but an
//! explicit yes is a denial with a reason.

use std::time::Duration;

use kit::BoxFuture;
use s01_loop::{Answer, Repl};
use tokio::time::timeout;

/// Answers permission questions.
pub trait Approver: Send + Sync {
    /// Asks a question and waits for the answer.
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer>;

    /// Like [`Approver::ask`], with a time limit; `None` when it expires. The time starts when the user can answer.
    fn ask_within<'a>(
        &'a self,
        question: &'a str,
        open: Duration,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move { timeout(open, self.ask(question)).await.ok() })
    }

    /// Shows the user a message.
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

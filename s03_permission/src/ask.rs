//! Asking the user.
//!
//! A policy that cannot decide asks whoever owns the terminal; a test answers by itself. Invariant: no answer is a no,
//! and the model is told why.

use std::future::Future;
use std::pin::Pin;

use s01_loop::{Answer, Repl};

/// An answer on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Somebody who can be asked.
pub trait Ask: Send + Sync {
    /// Puts a question and waits for the answer.
    fn ask<'a>(&'a self, question: &'a str) -> Answering<'a>;

    /// Tells the user something that needs no answer.
    fn tell(&self, text: &str);
}

impl Ask for Repl {
    fn ask<'a>(&'a self, question: &'a str) -> Answering<'a> {
        Box::pin(self.confirm(question))
    }

    fn tell(&self, text: &str) {
        self.say(text);
    }
}

//! Something that a task wants of the keyboard: the next line, or an answer.
//!
//! Whoever waits may be dropped at any moment, because something else happened first. Invariant: the wanting ends with
//! this value, or in the moment it is fulfilled, and no later: the thread would read the next line for nobody.

use tokio::sync::watch;

use crate::desk::Desk;
use crate::keyboard::{Keyboard, State};

/// Something wanted of the thread for as long as this lives.
pub struct Wants<'a> {
    keyboard: &'a Keyboard,
    changed: watch::Receiver<()>,
    /// Ends the wanting, once.
    end: Option<fn(&mut Desk)>,
}

impl<'a> Wants<'a> {
    /// Begins the wanting; `end` ends it.
    pub fn new(keyboard: &'a Keyboard, begin: impl FnOnce(&mut Desk), end: fn(&mut Desk)) -> Self {
        let changed = keyboard.changes();
        keyboard.change(begin);
        Self {
            keyboard,
            changed,
            end: Some(end),
        }
    }

    /// Waits until it can be taken.
    pub async fn until<T>(mut self, mut take: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            {
                let mut state = self.keyboard.state();
                if let Some(taken) = take(&mut state) {
                    if let Some(end) = self.end.take() {
                        end(&mut state.desk);
                    }
                    return taken;
                }
            }
            // The sender lives in the keyboard, so waiting cannot fail.
            let _ = self.changed.changed().await;
        }
    }
}

impl Drop for Wants<'_> {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            self.keyboard.change(end);
        }
    }
}

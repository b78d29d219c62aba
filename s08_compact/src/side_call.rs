//! A side call: one question to a model, beside the conversation.
//!
//! Invariant: it has no tools and a history of its own; nothing of it reaches the conversation but what the caller does
//! with the answer.

use std::sync::Arc;

use anyhow::{Result, ensure};
use s01_loop::{Event, History, Observer, SharedObserver, System};
use s06_subagent::Model;

/// A model for side calls: the user sees that something is under way and whose it is, not what is said.
pub fn side_model(
    model: &impl Model,
    name: &'static str,
    watcher: SharedObserver,
) -> Arc<dyn Model> {
    model.watched_by(Arc::new(SideObserver { name, watcher }))
}

struct SideObserver {
    name: &'static str,
    watcher: SharedObserver,
}

impl Observer for SideObserver {
    fn name(&self) -> Option<&str> {
        Some(self.name)
    }

    fn see(&self, event: Event<'_>) {
        match event {
            Event::Waiting | Event::Spent(_) | Event::Done => self.watcher.see(event),
            Event::Connected(_) | Event::Text(_) | Event::Call(_) | Event::Notice(_) => {}
        }
    }
}

/// Asks the model one question and returns its text.
///
/// # Errors
/// When the request fails, the reply was cut, or it holds no text.
pub async fn side_call(model: &dyn Model, system: &str, question: String) -> Result<String> {
    let mut history = History::default();
    history.user(question);
    let reply = model.send(&System::from(system), &mut history, &[]).await?;
    ensure!(!reply.is_cut(), "the answer was cut ({})", reply.stop_reason);
    let text = reply.message().text();
    ensure!(!text.trim().is_empty(), "the answer was empty");
    Ok(text)
}

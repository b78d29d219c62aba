//! A model as the loop knows it: what a conversation is sent to.
//!
//! A subagent does not care whether the client answers it or something around the client, such as one that tries again.
//! Invariant: a model may shorten the history, and never separates a call from its result.

use std::sync::Arc;

use kit::BoxFuture;
use s01_loop::{ApiError, Client, History, Reply, SharedObserver, System, ToolSpec};

/// Anything that can answer a conversation: the client, or a layer around it.
pub trait Model: Send + Sync {
    /// Sends the conversation and returns the reply, which is not yet in the history.
    fn send<'a>(
        &'a self,
        system: &'a System,
        history: &'a mut History,
        tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<Reply, ApiError>>;

    /// The same model with another observer.
    fn watched_by(&self, watcher: SharedObserver) -> Arc<dyn Model>;

    /// The same model with at most this many tries, for a question that may stay unanswered.
    fn with_tries(&self, most: u32) -> Arc<dyn Model>;

    /// How many tokens a request and its reply may have together.
    fn context_tokens(&self) -> u64;

    /// The most tokens a reply may have.
    fn max_tokens(&self) -> u32;
}

impl Model for Client {
    fn send<'a>(
        &'a self,
        system: &'a System,
        history: &'a mut History,
        tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(Client::send(self, system.clone(), history, tools))
    }

    fn watched_by(&self, watcher: SharedObserver) -> Arc<dyn Model> {
        Arc::new(self.clone().watched_by(watcher))
    }

    /// A client tries once in any case.
    fn with_tries(&self, _most: u32) -> Arc<dyn Model> {
        Arc::new(self.clone())
    }

    fn context_tokens(&self) -> u64 {
        Client::context_tokens(self)
    }

    fn max_tokens(&self) -> u32 {
        Client::max_tokens(self)
    }
}

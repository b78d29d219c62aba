//! A client that retries.
//!
//! The loop, subagents, summaries and memory all send through it. Invariants: it is the only place that
//! tries again; the history is what the caller made it, shortened at most; a raised limit and another model are for one
//! request and gone with it.

use std::sync::Arc;

use kit::BoxFuture;
use s01_loop::{ApiError, Client, History, Repl, Reply, SharedObserver, System, ToolSpec, Usage};
use s06_subagent::Model;
use s08_compact::Compactor;

use crate::backoff::MAX_TRIES;
use crate::clock::Clock;
use crate::outcome::{Outcome, RetryState};
use crate::partial_reply::PartialReply;
use crate::remark::remark;

/// The name in a remark when the observer has none.
const NAMELESS: &str = "side call";

/// A client that retries. Cloning it is cheap.
#[derive(Clone)]
pub struct Recovery {
    client: Client,
    clock: Arc<dyn Clock>,
    /// Shortens a history that is too long. The compactor's own requests use a recovery without one, so a compaction
    /// never starts another.
    compactor: Option<Compactor>,
    /// The name in front of remarks about requests outside the user's conversation.
    aside: Option<Arc<str>>,
    /// How often a request is tried.
    tries: u32,
}

impl Recovery {
    /// Wraps this client; remarks go to this terminal.
    pub fn new(client: Client, repl: &Repl) -> Self {
        Self::with_clock(client, repl.clone())
    }

    /// Wraps this client with another clock.
    pub fn with_clock(client: Client, clock: impl Clock + 'static) -> Self {
        Self {
            client,
            clock: Arc::new(clock),
            compactor: None,
            aside: None,
            tries: MAX_TRIES,
        }
    }

    /// With a compactor for a prompt that is too long.
    pub fn with_compactor(mut self, compactor: &Compactor) -> Self {
        self.compactor = Some(compactor.clone());
        self
    }

    /// Sends the conversation until there is a reply, or until retrying makes no sense. The caller adds the reply to
    /// the history.
    ///
    /// # Errors
    /// The last error, when nothing helped.
    pub async fn send(
        &self,
        system: impl Into<System>,
        history: &mut History,
        tools: &[ToolSpec],
    ) -> Result<Reply, ApiError> {
        let system = system.into();
        let mut client = self.client.clone();
        let mut tried = self.nothing_tried();
        let mut kept = PartialReply::Nothing;
        loop {
            let conversation = kept.conversation(history);
            let result = client.send(system.clone(), &conversation, tools).await;
            let result = result.map(|reply| std::mem::take(&mut kept).joined(reply));
            let outcome = tried.next(result, self.clock.chance());
            self.say(&outcome, &tried);
            match outcome {
                Outcome::Done(reply) => return Ok(reply),
                Outcome::Retry { after, .. } => self.clock.wait(after).await,
                Outcome::FallBack => client = client.fallback().unwrap_or(client),
                Outcome::Escalate { cut, limit } => {
                    client = client.with_max_tokens(limit);
                    kept = PartialReply::Spare(cut);
                }
                Outcome::TakeBack => {
                    client = client.with_max_tokens(self.client.max_tokens());
                    kept = kept.into_part();
                }
                Outcome::Continue(part) => kept = PartialReply::Part(part),
                Outcome::Compact(error) => {
                    if !self.recover(&error, history).await {
                        return Err(error);
                    }
                    self.remark("the prompt was too long: sending it again, shorter");
                }
                Outcome::GiveUp(error) => return self.keep(kept, error),
            }
        }
    }

    /// The id of the model that is asked.
    pub fn model(&self) -> &str {
        self.client.model()
    }

    /// What all replies so far have cost, through this client and its clones.
    pub fn spent(&self) -> Usage {
        self.client.spent()
    }

    fn nothing_tried(&self) -> RetryState {
        let fallback = self.client.fallback();
        RetryState {
            may_fall_back: fallback.is_some_and(|other| other.model() != self.client.model()),
            may_compact: self.compactor.is_some(),
            may_raise: true,
            limit: self.client.max_tokens(),
            window: self.client.context_tokens(),
            tries: self.tries,
            ..RetryState::default()
        }
    }

    async fn recover(&self, error: &ApiError, history: &mut History) -> bool {
        match &self.compactor {
            Some(compactor) => compactor.recover(error, history).await,
            None => false,
        }
    }

    /// Returns what has arrived if it is usable, else the error.
    fn keep(&self, kept: PartialReply, error: ApiError) -> Result<Reply, ApiError> {
        let Some(reply) = kept.usable() else {
            return Err(error);
        };
        self.remark(&format!("the reply ends here: {error}"));
        Ok(reply)
    }

    fn say(&self, outcome: &Outcome, tried: &RetryState) {
        if let Some(text) = remark(outcome, tried, &self.client) {
            self.remark(&text);
        }
    }

    fn remark(&self, text: &str) {
        match &self.aside {
            Some(name) => self.clock.remark(&format!("{name}: {text}")),
            None => self.clock.remark(text),
        }
    }
}

impl Model for Recovery {
    fn send<'a>(
        &'a self,
        system: &'a System,
        history: &'a mut History,
        tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(Recovery::send(self, system.clone(), history, tools))
    }

    fn watched_by(&self, watcher: SharedObserver) -> Arc<dyn Model> {
        let aside = watcher.name().unwrap_or(NAMELESS).into();
        Arc::new(Self {
            client: self.client.clone().watched_by(watcher),
            aside: Some(aside),
            ..self.clone()
        })
    }

    fn with_tries(&self, most: u32) -> Arc<dyn Model> {
        Arc::new(Self {
            tries: most,
            ..self.clone()
        })
    }

    fn context_tokens(&self) -> u64 {
        self.client.context_tokens()
    }

    fn max_tokens(&self) -> u32 {
        self.client.max_tokens()
    }
}

//! The compactor: what is done about a full context, the cheapest layer first.
//!
//! Every round adds to the conversation and the window does not grow. Moving a large result into a file costs nothing,
//! a summary costs a request and what it forgets. Any change costs the cached prefix, so that none is made before there
//! is need. Invariants: a request and its newest round stay word for word, and earlier requests are told; what is taken
//! away is written to a file first; no call loses its result; a conversation is replaced in one step, so that Ctrl-C
//! leaves the old one whole.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use kit::{counted, grouped};
use s01_loop::{ApiError, History, Output, Repl, ToolSpec};
use s02_tools::{Access, Tool, Workspace};
use s06_subagent::Model;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::layers::{Budget, Change, files, messages, results};
use crate::side_call::side_model;
use crate::store::Store;
use crate::{summary, too_long};

/// After this many consecutive failures, automatic summaries are switched off.
const MAX_FAILURES: u32 = 3;

/// A summary that replaces less than this, in bytes, is not worth a request.
const LEAST: usize = 200;

/// Makes room in a conversation. Clones share their state.
#[derive(Clone)]
pub struct Compactor {
    model: Arc<dyn Model>,
    store: Store,
    repl: Repl,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The focus of a summary that the model or the user has requested. Std locks: nothing is awaited while they are held.
    asked: Mutex<Option<String>>,
    /// Failed summaries since the last good one.
    failures: AtomicU32,
    /// The request and the number of replies when the conversation last recovered; it does not a second time before
    /// there is another.
    recovered: Mutex<Option<(String, usize)>>,
}

/// The input of compact.
#[derive(Deserialize, JsonSchema)]
struct Compact {
    /// What the summary must keep in every detail. Default: what matters for the work in hand.
    focus: Option<String>,
}

impl Compactor {
    /// A compactor that asks this model for summaries and keeps what it takes away in the state folder.
    pub fn new<M: Model + Clone + 'static>(model: &M, ws: &Workspace, repl: &Repl) -> Self {
        Self {
            model: side_model(model, "summary", repl.watcher()),
            store: Store::new(ws),
            repl: repl.clone(),
            state: Arc::default(),
        }
    }

    /// The tool compact. It only sets a flag: its call must be answered before the conversation is replaced.
    pub fn tool(&self) -> Tool {
        let description = "Replace the conversation so far by a summary, keeping the current request and the newest \
                           round. Use it when a piece of work is done and its details are needed no more.";
        let state = Arc::clone(&self.state);
        let spec = ToolSpec::new::<Compact>("compact", description);
        Tool::new(spec, move |call| {
            let asked = call.args::<Compact>().map(|input| {
                *state.asked.lock().unwrap() = Some(input.focus.unwrap_or_default());
                "the conversation is summarized before your next step".to_owned()
            });
            std::future::ready(Output::from(asked))
        })
        .touching(Access::Harness)
    }

    /// Called before each request: makes the room that is needed, the cheapest way first. Nothing but a large new result
    /// goes before the conversation has half of the window.
    pub async fn shrink(&self, history: &mut History) {
        if history.has_open_calls() {
            return;
        }
        let limit = self.limit();
        let budget = Budget {
            from: self.model.context_tokens() / 2,
            ..budget(limit)
        };
        self.apply_layers(history, &budget);
        let asked = self.state.asked.lock().unwrap().take();
        let is_automatic = self.state.failures.load(Ordering::Relaxed) < MAX_FAILURES;
        if asked.is_some() || is_automatic && history.tokens() > limit {
            self.summarize(history, &budget, asked.as_deref()).await;
        }
    }

    /// Summarizes at the user's request, with this focus, which may be empty. An interrupted turn is settled first.
    pub async fn compact(&self, focus: &str, history: &mut History) {
        history.settle();
        *self.state.asked.lock().unwrap() = Some(focus.to_owned());
        self.shrink(history).await;
    }

    /// Resets the state of a finished conversation: a requested summary and the count of failures.
    pub fn clear(&self) {
        self.state.asked.lock().unwrap().take();
        self.state.recovered.lock().unwrap().take();
        self.state.failures.store(0, Ordering::Relaxed);
    }

    /// Called when a request failed: whether the prompt was too long and is shorter now. It helps once; then the model
    /// must have answered before it helps again.
    pub async fn recover(&self, error: &ApiError, history: &mut History) -> bool {
        if !too_long::says(error) || history.has_open_calls() {
            return false;
        }
        let now = Some((history.request().to_owned(), history.replies()));
        if *self.state.recovered.lock().unwrap() == now {
            return false;
        }
        let before = history.tokens();
        // The API counts otherwise than we do, or it would not have come to this: aim well below.
        let budget = Budget {
            newest_rounds: 1,
            least: 0,
            ..budget(self.limit().min(before / 2))
        };
        self.apply_layers(history, &budget);
        self.summarize(history, &budget, None).await;
        *self.state.recovered.lock().unwrap() = now;
        history.tokens() < before
    }

    /// The layers that cost no request.
    fn apply_layers(&self, history: &mut History, budget: &Budget) {
        self.apply(history, files(history, budget, &self.store));
        for layer in [messages, results] {
            if history.tokens() > budget.from {
                self.apply(history, layer(history, budget, &self.store));
            }
        }
    }

    /// The most tokens of a request: the window minus the reply, and at least half of the window.
    fn limit(&self) -> u64 {
        let window = self.model.context_tokens();
        let reply = self.model.max_tokens().into();
        window.saturating_sub(reply).max(window / 2)
    }

    /// Replaces the conversation with the result of a layer, and reports it.
    fn apply(&self, history: &mut History, change: Result<Option<Change>>) {
        match change {
            Ok(None) => {}
            Ok(Some(Change { what, messages })) => {
                let before = grouped(history.tokens());
                history.replace(messages);
                let after = grouped(history.tokens());
                self.repl.remark(&format!("[compacted: {what}, {before} → {after} tokens]"));
            }
            Err(error) => self.repl.remark(&format!("[not compacted: {error:#}]")),
        }
    }

    /// Replaces the past by a summary. `asked` is the focus, when the model or the user has asked for one.
    async fn summarize(&self, history: &mut History, budget: &Budget, asked: Option<&str>) {
        let parts = summary::Parts::of(history, budget);
        let least = asked.map_or(budget.least, |_| 0).max(LEAST);
        if parts.replaced_bytes() < least {
            if asked.is_some() {
                self.repl.remark("[not compacted: there is nothing to summarize]");
            }
            return;
        }
        let change = self.summarized(history, &parts, budget, asked).await;
        let failures = match change {
            Ok(_) => 0,
            Err(_) => self.state.failures.load(Ordering::Relaxed) + 1,
        };
        self.state.failures.store(failures, Ordering::Relaxed);
        self.apply(history, change.map(Some));
        if failures == MAX_FAILURES {
            self.repl.remark("[automatic summaries are switched off: three in a row have failed]");
        }
    }

    /// The conversation with a summary in place of its old part. Nothing is changed before it is there.
    async fn summarized(
        &self,
        history: &History,
        parts: &summary::Parts,
        budget: &Budget,
        asked: Option<&str>,
    ) -> Result<Change> {
        let kept = self.store.keep_transcript(history.iter())?;
        // Three bytes a token: code has more tokens than a quarter of its bytes, and the question must fit.
        let most = 6 * budget.share;
        let text = summary::ask(&*self.model, parts, asked.unwrap_or_default(), most).await?;
        let messages = parts.with_summary(&text, &kept);
        let is_shorter = history.tokens_with(&messages) < history.tokens();
        ensure!(is_shorter || asked.is_some(), "the summary is longer than what it replaces");
        let what = format!("{} summarized", counted(parts.replaced_messages(), "message"));
        Ok(Change { what, messages })
    }
}

/// The budget for requests of at most `limit` tokens of about four bytes.
fn budget(limit: u64) -> Budget {
    let share = usize::try_from(limit / 2).unwrap_or(usize::MAX / 8);
    Budget {
        from: 0,
        share,
        least: share,
        newest_rounds: 3,
    }
}

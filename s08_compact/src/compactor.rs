//! The compactor: what is done about a full context, the cheapest layer first.
//!
//! Every round adds to the conversation and the window does not grow. Moving a large result into a file costs nothing,
//! a summary costs a request and what it forgets. Any change costs the cached prefix, so that none is made before there
//! is need. Invariants: a request and its newest round stay word for word, and earlier requests are told; what is taken
//! away lies in a file before; no call loses its result; a conversation is replaced in one step, so that whoever stops in
//! between finds the old one whole.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use kit::grouped;
use s01_loop::{ApiError, History, Message, Output, Repl, Role, ToolSpec};
use s02_tools::{Access, Tool, Workspace};
use s06_subagent::Model;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::layers::{Change, Layer, Room, files, messages, results};
use crate::side_call::aside;
use crate::store::Store;
use crate::{summary, too_long};

/// So many failed summaries in a row end the attempts that nobody asked for.
pub const MAX_FAILURES: u32 = 3;

/// Results of so many newest rounds stay as they are.
pub const NEWEST_ROUNDS: usize = 3;

/// About how many bytes make a token; the history estimates with the same number.
const BYTES_PER_TOKEN: u64 = 4;

/// A summary that replaces less than this, in bytes, is not worth a request.
const LEAST: u64 = 200;

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
    /// The focus of a summary that somebody has asked for, the model or the user. A std lock, like the other: nothing is awaited under it.
    asked: Mutex<Option<String>>,
    /// Failed summaries since the last good one.
    failures: AtomicU32,
    /// Where the last rescue was made; there is no second one before the model has answered.
    rescued: Mutex<Option<Stand>>,
}

/// How far a conversation has come: what the user asked for, and the newest reply.
#[derive(PartialEq)]
struct Stand {
    request: String,
    reply: Option<Message>,
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
            model: aside(model, "summary", repl.watcher()),
            store: Store::new(ws),
            repl: repl.clone(),
            state: Arc::default(),
        }
    }

    /// The tool compact. It only leaves word: its call must be answered before the conversation is replaced.
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
        let room = Room {
            least: share(limit),
            ..self.room(limit)
        };
        self.cheap_layers(history, self.model.context_tokens() / 2, &room);
        let asked = self.state.asked.lock().unwrap().take();
        match asked {
            Some(focus) => self.summarize(history, limit, Why::Asked(focus)).await,
            None if history.tokens() > limit && self.is_automatic() => {
                self.summarize(history, limit, Why::Full).await;
            }
            None => {}
        }
    }

    /// Makes room because the user has asked for it: a summary with this focus, which may be empty. A turn that was
    /// interrupted is settled first.
    pub async fn compact(&self, focus: &str, history: &mut History) {
        history.settle();
        *self.state.asked.lock().unwrap() = Some(focus.to_owned());
        self.shrink(history).await;
    }

    /// Forgets what belonged to a conversation that is over: a summary that it has asked for, and those that failed.
    pub fn clear(&self) {
        self.state.asked.lock().unwrap().take();
        self.state.rescued.lock().unwrap().take();
        self.state.failures.store(0, Ordering::Relaxed);
    }

    /// Called when a request failed: whether the prompt was too long and is shorter now. It helps once; then the model
    /// must have answered before it helps again.
    pub async fn recover(&self, error: &ApiError, history: &mut History) -> bool {
        if !too_long::says(error) || history.has_open_calls() {
            return false;
        }
        let stand = Stand::of(history);
        if self.state.rescued.lock().unwrap().as_ref() == Some(&stand) {
            return false;
        }
        let before = history.tokens();
        // The API counts otherwise than we do, or it would not have come to this: aim well below.
        let limit = self.limit().min(before / 2);
        let room = Room {
            newest_rounds: 1,
            ..self.room(limit)
        };
        self.cheap_layers(history, 0, &room);
        self.summarize(history, limit, Why::Refused).await;
        *self.state.rescued.lock().unwrap() = Some(stand);
        history.tokens() < before
    }

    /// How many tokens a request may have: the window less the reply. Where a window is hardly larger than a reply, half
    /// of the window.
    fn limit(&self) -> u64 {
        let window = self.model.context_tokens();
        let reply = self.model.max_tokens().into();
        window.saturating_sub(reply).max(window / 2)
    }

    /// What the layers keep under this limit, and that they take whatever there is.
    fn room(&self, limit: u64) -> Room {
        Room {
            // Half of the room for the results of one round: no summary could make room for more.
            results: 4 * share(limit),
            notes: notes_budget(limit),
            requests: 2 * share(limit),
            newest_rounds: NEWEST_ROUNDS,
            least: 0,
        }
    }

    /// The layers that cost no request. All but the first begin when the conversation has more tokens than `begin`.
    fn cheap_layers(&self, history: &mut History, begin: u64, room: &Room) {
        for (layer, begin) in [(files as Layer, 0), (messages, begin), (results, begin)] {
            if history.tokens() <= begin {
                continue;
            }
            match layer(history, room, &self.store) {
                Ok(None) => {}
                Ok(Some(change)) => self.apply(history, change),
                Err(error) => self.repl.remark(&format!("[not compacted: {error:#}]")),
            }
        }
    }

    fn apply(&self, history: &mut History, Change { what, messages }: Change) {
        let before = history.tokens();
        history.replace(messages);
        let after = history.tokens();
        let (before, after) = (grouped(before), grouped(after));
        let line = format!("[compacted: {what}, {before} → {after} tokens]");
        self.repl.remark(&line);
    }

    async fn summarize(&self, history: &mut History, limit: u64, why: Why) {
        let parts = summary::Parts::of(history, &self.room(limit));
        let least = match why {
            Why::Asked(_) | Why::Refused => LEAST,
            Why::Full => share(limit) as u64,
        };
        if parts.replaced_bytes() < least.max(LEAST) {
            if let Why::Asked(_) = why {
                self.repl
                    .remark("[not compacted: there is nothing to summarize]");
            }
            return;
        }
        match self.summarized(history, &parts, limit, &why).await {
            Ok(change) => {
                self.state.failures.store(0, Ordering::Relaxed);
                self.apply(history, change);
            }
            Err(error) => {
                let failures = self.state.failures.fetch_add(1, Ordering::Relaxed) + 1;
                self.repl.remark(&format!("[not compacted: {error:#}]"));
                if failures == MAX_FAILURES {
                    self.repl
                        .remark("[no more summaries on its own: three in a row have failed]");
                }
            }
        }
    }

    /// The conversation with a summary in place of its old part. Nothing is changed before it is there.
    async fn summarized(
        &self,
        history: &History,
        parts: &summary::Parts,
        limit: u64,
        why: &Why,
    ) -> Result<Change> {
        let kept = self.store.keep_transcript(history.iter())?;
        let focus = match why {
            Why::Asked(focus) => focus,
            Why::Full | Why::Refused => "",
        };
        // Three bytes a token: code has more tokens than a quarter of its bytes, and the question must fit.
        let most = usize::try_from(limit * 3).unwrap_or(usize::MAX);
        let text = summary::ask(&*self.model, parts, focus, most).await?;
        let messages = parts.with_summary(&text, &kept);
        let is_shorter = history.tokens_with(&messages) < history.tokens();
        ensure!(
            is_shorter || matches!(why, Why::Asked(_)),
            "the summary is longer than what it replaces"
        );
        let what = match parts.replaced_messages() {
            1 => "1 message summarized".to_owned(),
            count => format!("{count} messages summarized"),
        };
        Ok(Change { what, messages })
    }

    fn is_automatic(&self) -> bool {
        self.state.failures.load(Ordering::Relaxed) < MAX_FAILURES
    }
}

/// Why a summary is made.
enum Why {
    /// The model or the user has asked for it, with this focus.
    Asked(String),
    /// The conversation is over the limit.
    Full,
    /// The API has refused the conversation.
    Refused,
}

impl Stand {
    fn of(history: &History) -> Self {
        let newest = history
            .iter()
            .rfind(|message| message.role() == Role::Assistant);
        Self {
            request: history.request().to_owned(),
            reply: newest.cloned(),
        }
    }
}

/// An eighth of the room, in bytes: what makes a change worth while.
fn share(limit: u64) -> usize {
    usize::try_from(limit * BYTES_PER_TOKEN / 8).unwrap_or(usize::MAX)
}

/// How many bytes of notes a compacted turn keeps.
fn notes_budget(limit: u64) -> usize {
    const LEAST_BYTES: usize = 8_000;
    share(limit).max(LEAST_BYTES)
}

//! What all connections of a mock model share, and the way of one request through it.
//!
//! Read and check, look for a fault, charge for the prompt, think, spoil, send: the order is that of the API, so that a
//! refused request costs nothing and a fault hits only requests that are right.
//! Invariant: every request that passed the checks is kept, whatever becomes of it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use bytes::Bytes;

use super::answer::{Answer, Ids};
use super::cache::{Cache, Usage};
use super::check::Betas;
use super::faults::{self, Fault};
use super::models;
use super::options::Options;
use super::reader::{Read, Reader};
use super::refusal::{Flaw, Refusal};
use super::script::Mind;
use super::types::{Block, Reply, Request, Role, StopReason, says};
use crate::watch::{show::Show, tape::Tape};

/// The state behind a handle and its server.
pub struct Shared {
    /// The settings it was started with.
    pub options: Options,
    /// Who thinks.
    pub mind: Mind,
    /// Where ids come from.
    pub ids: Ids,
    /// What is recorded for whoever watches.
    pub tape: Arc<Tape>,
    state: Mutex<State>,
    /// Signals that a request was kept.
    kept: Condvar,
}

/// What changes from request to request.
pub struct State {
    reader: Reader,
    /// The prompt cache.
    pub cache: Cache,
    /// The faults to come.
    pub faults: VecDeque<Fault>,
    /// Whether requests without tools are spared: a user who asks for faults means the conversation, not the side calls beside it.
    spares_side_calls: bool,
    /// The requests that passed the checks, oldest first.
    pub requests: VecDeque<Arc<Request>>,
    /// How many there were, kept or not.
    pub count: usize,
    /// The requests that did not pass.
    pub refusals: Vec<Refusal>,
    /// What is wrong with the test, not with the request.
    pub failures: Vec<String>,
}

/// A request that gets an answer, perhaps a broken one.
pub struct Answered {
    /// The model id the client asked for.
    pub model: String,
    /// Whether it wants a stream.
    pub stream: bool,
    /// What the prompt cost.
    pub usage: Usage,
    /// The message.
    pub answer: Answer,
    /// What breaks on its way.
    pub fault: Option<Fault>,
}

/// What becomes of a request.
pub enum Outcome {
    /// A message.
    Answered(Box<Answered>),
    /// An error.
    Refused(Refusal),
    /// Nothing at all.
    Dropped,
}

impl Shared {
    /// The state of a server that has seen nothing yet.
    pub fn new(options: Options, mind: Mind) -> Self {
        let state = State {
            reader: Reader::default(),
            cache: Cache::default(),
            faults: options.faults.iter().copied().collect(),
            spares_side_calls: false,
            requests: VecDeque::new(),
            count: 0,
            refusals: Vec::new(),
            failures: Vec::new(),
        };
        let (state, kept) = (Mutex::new(state), Condvar::new());
        let show = options.show.clone().map(Show::new);
        let (window, record) = (Some(options.context_tokens), options.record.clone());
        let tape = Tape::new("the mock model", window, show, record);
        Self {
            tape,
            options,
            mind,
            ids: Ids::default(),
            state,
            kept,
        }
    }

    /// The state, for a moment; no `.await` happens under this lock.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The state, and the signal that it has kept a request.
    pub fn watch(&self) -> (MutexGuard<'_, State>, &Condvar) {
        (self.state(), &self.kept)
    }

    /// Answers `POST /v1/messages`.
    pub fn message(&self, body: &Bytes, betas: &Betas) -> Outcome {
        let mut state = self.state();
        let (request, read) = match self.read(&mut state, body, betas) {
            Ok(checked) => checked,
            Err(refusal) => {
                state.refusals.push(refusal.clone());
                return Outcome::Refused(refusal);
            }
        };
        state.keep(&request, self.options.keep);
        self.kept.notify_all();
        if let Some(line) = fault_command(&request) {
            let reply = says(faults::command(line, &mut state.faults));
            state.spares_side_calls = !request.tools.is_empty();
            let usage = state.cache.charge(&request.model, &read.prompt);
            return self.answered(&request, &read, usage, reply, None);
        }
        let is_spared = state.spares_side_calls && request.tools.is_empty();
        let fault = state.faults.front().copied().filter(|_| !is_spared);
        if let Some(outcome) = fault.and_then(|fault| instead_of_an_answer(fault, &read)) {
            state.faults.pop_front();
            return outcome;
        }
        let usage = state.cache.charge(&request.model, &read.prompt);
        // A brain may take its time, and a test may look at the handle meanwhile.
        drop(state);
        if request.max_tokens == 0 {
            // It was sent to fill the cache.
            let reply = Reply::default().stops_with(StopReason::MaxTokens);
            return self.spoilt(&request, &read, usage, reply, fault);
        }
        match self.mind.answer(&request) {
            Ok(reply) => self.spoilt(&request, &read, usage, reply, fault),
            Err(failure) => {
                self.state().failures.push(failure.clone());
                Outcome::Refused(Refusal::new(500, format!("the mock model: {failure}")))
            }
        }
    }

    /// Answers `POST /v1/messages/count_tokens`.
    pub fn count(&self, body: &Bytes, betas: &Betas) -> Result<u32, Refusal> {
        let mut state = self.state();
        let read = state.reader.read(body, betas).and_then(|read| match &read.options.model {
            Some(_) => Ok(read),
            None => Err(Flaw::at("model", "Field required").into()),
        });
        if let Err(refusal) = &read {
            state.refusals.push(refusal.clone());
        }
        Ok(read?.tokens())
    }

    fn read(
        &self,
        state: &mut State,
        body: &Bytes,
        betas: &Betas,
    ) -> Result<(Arc<Request>, Read), Refusal> {
        let mut read = state.reader.read(body, betas)?;
        let required = |name| Refusal::from(Flaw::at(name, "Field required"));
        let model = read.options.model.take().ok_or_else(|| required("model"))?;
        let max_tokens = read.options.max_tokens.ok_or_else(|| required("max_tokens"))?;
        let most = models::most_output(&model);
        if max_tokens > most {
            let rule = "which is the maximum allowed number of output tokens for";
            let reason = format!("{max_tokens} > {most}, {rule} {model}");
            return Err(Flaw::at("max_tokens", reason).into());
        }
        let (tokens, window) = (read.tokens(), self.options.context_tokens);
        if tokens > window {
            return Err(too_long(tokens, window));
        }
        let request = Request {
            model,
            max_tokens,
            system: Arc::clone(&read.system),
            tools: Arc::clone(&read.tools.tools),
            messages: std::mem::take(&mut read.messages),
            body: body.clone(),
        };
        Ok((Arc::new(request), read))
    }

    fn spoilt(
        &self,
        request: &Request,
        read: &Read,
        usage: Usage,
        mut reply: Reply,
        fault: Option<Fault>,
    ) -> Outcome {
        let waiting = fault.is_some();
        let fault = fault.filter(|fault| fault.spoil(&mut reply, request));
        if waiting && fault.is_none() {
            // It found nothing to spoil; the faults behind it must not wait for it.
            self.state().faults.rotate_left(1);
        }
        if let Some(fault) = fault {
            self.state().faults.pop_front();
            if fault.breaks_the_answer() {
                self.mind.put_back(request, reply.clone());
            }
        }
        self.answered(request, read, usage, reply, fault)
    }

    fn answered(
        &self,
        request: &Request,
        read: &Read,
        usage: Usage,
        reply: Reply,
        fault: Option<Fault>,
    ) -> Outcome {
        let cut_call = fault == Some(Fault::CutCall);
        Outcome::Answered(Box::new(Answered {
            model: request.model.clone(),
            stream: read.options.stream,
            usage,
            answer: Answer::new(reply, request.max_tokens, cut_call, &self.ids),
            fault,
        }))
    }
}

impl State {
    fn keep(&mut self, request: &Arc<Request>, most: usize) {
        while self.requests.len() >= most.max(1) {
            self.requests.pop_front();
        }
        self.requests.push_back(Arc::clone(request));
        self.count += 1;
    }
}

/// The faults that come before any thinking.
fn instead_of_an_answer(fault: Fault, read: &Read) -> Option<Outcome> {
    let refusal = match fault {
        Fault::RateLimited { retry_after } => Refusal {
            retry_after: Some(retry_after),
            ..Refusal::new(
                429,
                "This request would exceed your account's rate limit. Please try again later.",
            )
        },
        Fault::Overloaded => Refusal::new(529, "Overloaded"),
        // An error in mid-stream needs a stream.
        Fault::ErrorEvent if !read.options.stream => Refusal::new(529, "Overloaded"),
        Fault::Internal => Refusal::new(500, "Internal server error"),
        Fault::TooLong => too_long(read.tokens(), read.tokens().saturating_sub(1)),
        Fault::Drop => return Some(Outcome::Dropped),
        _ => return None,
    };
    Some(Outcome::Refused(refusal))
}

fn too_long(tokens: u32, most: u32) -> Refusal {
    Refusal::invalid(format!("prompt is too long: {tokens} tokens > {most} maximum"))
}

/// The line of the last user message that arms a fault.
fn fault_command(request: &Request) -> Option<&str> {
    let last = request.messages.last().filter(|message| message.role == Role::User)?;
    last.blocks.iter().find_map(|block| match block {
        Block::Text(text) if text.split_whitespace().next() == Some("/fault") => {
            text.trim_start().lines().next()
        }
        Block::Text(_) | Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
    })
}

//! Agents, as those see them who have something for them: a queue each, and how they are.
//!
//! Prompts from a user, a schedule and another program wait in one line. Invariants: every prompt that was taken is answered
//! once, by an answer or by a failure of its own; no more wait than the limit, users before schedules and each in their order;
//! who hangs up while waiting leaves the line.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{Instant, timeout};

use crate::config;
use crate::owner::{Failure, Profile};
use crate::process::memory;

/// The most prompts that wait for an agent.
const LIMIT: usize = 100;
/// How long a prompt waits for its turn, unless it says otherwise.
const DEADLINE: Duration = Duration::from_secs(3600);

/// A prompt, as it is posted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who wants it, for the log.
    pub source: String,
    /// What.
    pub prompt: String,
    /// With which tools.
    #[serde(default)]
    pub profile: Profile,
    /// Whether a schedule wants it, and nobody waits.
    #[serde(skip)]
    pub cron: bool,
    /// How many seconds it may wait for its turn.
    pub deadline_s: Option<u64>,
}

/// What came of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct Reply {
    /// What the agent says.
    #[serde(rename = "reply")]
    pub text: String,
    /// `process`, or `relay`.
    pub by: &'static str,
    /// Why the process did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What it cost, in dollars, when that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// How an agent is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Its name.
    pub agent: String,
    /// `asleep`, `resting`, `working`, `relay` or `away`.
    pub state: &'static str,
    /// How many prompts wait.
    pub queue: usize,
    /// Its process.
    pub process: Option<u32>,
    /// The memory of the process and what it started, in kilobytes.
    pub memory_kb: u64,
    /// Prompts that were answered.
    pub answered: u64,
    /// Of them by the owner.
    pub relayed: u64,
    /// What went wrong last with the process.
    pub trouble: Option<String>,
}

/// What becomes of a prompt.
pub(crate) type Answered = Result<Reply, Failure>;

struct Waiting {
    message: Message,
    /// Tells the caller that its turn has come. Closed, nobody waits any more.
    turn: oneshot::Sender<()>,
    reply: oneshot::Sender<Answered>,
}

/// An agent at work.
pub struct Agent {
    /// As the configuration has it.
    pub config: config::Agent,
    /// None when the owner is stopping.
    queue: Mutex<Option<VecDeque<Waiting>>>,
    wake: Notify,
    pub(crate) status: Mutex<Status>,
    /// Of the prompt that it has in hand.
    pub(crate) profile: watch::Sender<Profile>,
    /// The tools it has called that may have changed something.
    acted: Mutex<BTreeSet<String>>,
    pub(crate) called: watch::Sender<Instant>,
}

impl Agent {
    pub(crate) fn new(config: config::Agent) -> Self {
        let status = Status {
            agent: config.name.clone(),
            state: "asleep",
            ..Status::default()
        };
        Self {
            config,
            queue: Mutex::new(Some(VecDeque::new())),
            wake: Notify::new(),
            status: status.into(),
            profile: watch::channel(Profile::Full).0,
            acted: Mutex::default(),
            called: watch::channel(Instant::now()).0,
        }
    }

    /// Puts a prompt and waits for what comes of it. Dropped while it waits for its turn, it is cancelled.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn post(&self, message: Message) -> Result<Reply, Failure> {
        let deadline = message.deadline_s.map_or(DEADLINE, Duration::from_secs);
        let ((turn, mut begun), (reply, answer)) = (oneshot::channel(), oneshot::channel());
        self.push(Waiting {
            message,
            turn,
            reply,
        })?;
        if timeout(deadline, &mut begun).await.is_err() {
            begun.close();
            if begun.try_recv().is_err() {
                let why = format!("it was not its turn within {deadline:?}; nothing was done");
                return Err(Failure::new(408, "deadline", why));
            }
        }
        answer.await.unwrap_or_else(|_| Err(stopping()))
    }

    fn push(&self, waiting: Waiting) -> Result<(), Failure> {
        if waiting.message.prompt.trim().is_empty() {
            return Err(Failure::new(400, "bad_message", "prompt: must not be empty"));
        }
        let mut queue = self.queue.lock().unwrap();
        let queue = queue.as_mut().ok_or_else(stopping)?;
        queue.retain(|it| !it.turn.is_closed());
        if queue.len() >= LIMIT {
            let name = &self.config.name;
            let why = format!("{LIMIT} prompts wait for {name} already; try again later");
            return Err(Failure::new(429, "queue_full", why));
        }
        let users = queue.partition_point(|it| !it.message.cron);
        let place = if waiting.message.cron { queue.len() } else { users };
        queue.insert(place, waiting);
        self.wake.notify_one();
        Ok(())
    }

    /// The next prompt for which somebody waits; None when the owner is stopping. Cancel-safe.
    pub(crate) async fn next(&self) -> Option<(Message, oneshot::Sender<Answered>)> {
        loop {
            let first = self.queue.lock().unwrap().as_mut()?.pop_front();
            match first {
                None => self.wake.notified().await,
                Some(it) => {
                    if it.turn.send(()).is_ok() {
                        return Some((it.message, it.reply));
                    }
                }
            }
        }
    }

    pub(crate) fn count(&self, served: &Answered) {
        let mut status = self.status.lock().unwrap();
        status.answered += u64::from(served.is_ok());
        status.relayed += u64::from(served.as_ref().is_ok_and(|it| it.by == "relay"));
    }

    /// How it is.
    pub fn status(&self) -> Status {
        let status = self.status.lock().unwrap().clone();
        let queue = self.queue.lock().unwrap();
        let waits = queue.iter().flatten().filter(|it| !it.turn.is_closed());
        Status {
            queue: waits.count(),
            memory_kb: status.process.map_or(0, memory),
            ..status
        }
    }

    /// The profile of the prompt that it has in hand.
    pub fn profile(&self) -> Profile {
        *self.profile.borrow()
    }

    /// It calls a tool that may change something.
    pub(crate) fn acts(&self, tool: &str) {
        self.acted.lock().unwrap().insert(tool.to_owned());
    }

    /// Which of those it has called since this was asked last.
    pub(crate) fn acted(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.acted.lock().unwrap())
    }

    /// Takes no more prompts; those that wait are told so.
    pub(crate) fn close(&self) {
        self.queue.lock().unwrap().take();
        self.wake.notify_one();
    }

    /// When it called last.
    pub fn calls(&self) -> watch::Receiver<Instant> {
        self.called.subscribe()
    }
}

fn stopping() -> Failure {
    Failure::new(503, "stopping", "the owner is stopping; nothing was done")
}

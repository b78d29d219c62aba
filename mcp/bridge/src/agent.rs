//! Agents, as those see them who have something for them: a queue each, and how they are.
//!
//! Prompts from a user, a schedule and another program wait in one line. Invariant: every prompt that was taken is answered
//! once, by an answer or by a failure of its own; who hangs up while waiting leaves the line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s01_loop::History;
use s11_recovery::Recovery;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::config;
use crate::owner::{Failure, Owner, Profile, near};
use crate::process::{Process, memory};
use crate::queue::{Class, Queue};
use crate::worker::Worker;

/// The most prompts that wait for an agent.
pub const LIMIT: usize = 100;
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
    /// Whether somebody waits for it.
    #[serde(skip)]
    pub class: Class,
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

/// Knows how the processes of agents are started.
pub trait Harness: Send + Sync {
    /// Starts one.
    ///
    /// # Errors
    /// Why it does not start.
    fn start(&self, agent: &config::Agent) -> Result<Process, String>;

    /// It is about to be ended: what it calls from now on comes too late.
    fn revoke(&self, agent: &str);
}

pub(crate) struct Waiting {
    pub message: Message,
    pub reply: oneshot::Sender<Result<Reply, Failure>>,
}

/// What callers and the worker share.
pub(crate) struct Shared {
    pub queue: Mutex<Queue<Waiting>>,
    pub wake: Notify,
    pub status: Mutex<Status>,
}

impl Shared {
    pub fn clear(&self) {
        while self.queue.lock().unwrap().pop().is_some() {}
    }
}

/// All agents. Clones share them.
#[derive(Clone)]
pub struct Agents {
    shared: Arc<HashMap<String, Arc<Shared>>>,
    workers: Arc<tokio::sync::Mutex<JoinSet<()>>>,
    /// When what is under way must have ended, once they are being stopped.
    stop: Arc<watch::Sender<Option<Instant>>>,
}

impl Agents {
    /// Lets them work.
    pub fn start(owner: &Arc<Owner>, model: &Recovery, harness: impl Harness + 'static) -> Self {
        let harness = Arc::new(harness);
        let (mut all, mut workers) = (HashMap::new(), JoinSet::new());
        let stop = Arc::new(watch::channel(None).0);
        for agent in &owner.config.agents {
            let shared = Arc::new(Shared {
                queue: Mutex::new(Queue::new(LIMIT)),
                wake: Notify::new(),
                status: Mutex::new(Status {
                    agent: agent.name.clone(),
                    state: "asleep",
                    ..Status::default()
                }),
            });
            let worker = Worker {
                agent: agent.clone(),
                owner: owner.clone(),
                model: model.clone(),
                shared: shared.clone(),
                harness: harness.clone(),
                process: None,
                history: History::default(),
                failures: 0,
                away_until: None,
            };
            workers.spawn(worker.run(stop.subscribe()));
            all.insert(agent.name.clone(), shared);
        }
        Self {
            shared: Arc::new(all),
            workers: Arc::new(workers.into()),
            stop,
        }
    }

    /// Puts a prompt and waits for what comes of it. Dropped while it waits for its turn, it is cancelled.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn post(&self, agent: &str, message: Message) -> Result<Reply, Failure> {
        let Some(shared) = self.shared.get(agent) else {
            let near = near(agent, self.shared.keys().map(String::as_str));
            return Err(Failure::new(
                404,
                "no_such_agent",
                format!("there is no agent {agent:?}; {near}"),
            ));
        };
        let gone = || Failure::new(503, "stopping", "the owner is stopping; nothing was done");
        if self.stop.borrow().is_some() {
            return Err(gone());
        }
        let deadline = message.deadline_s.map_or(DEADLINE, Duration::from_secs);
        let (reply, mut answer) = oneshot::channel();
        let number = shared.queue.lock().unwrap().push(message.class, Waiting { message, reply });
        let Some(number) = number else {
            let why = format!("{LIMIT} prompts wait for {agent} already; try again later");
            return Err(Failure::new(429, "queue_full", why));
        };
        shared.wake.notify_one();
        let place = Place { shared, number };
        tokio::select! {
            biased;
            answer = &mut answer => answer.unwrap_or_else(|_| Err(gone())),
            () = tokio::time::sleep(deadline) => {
                if place.leave() {
                    let why = format!("it was not its turn within {deadline:?}; nothing was done");
                    return Err(Failure::new(408, "deadline", why));
                }
                answer.await.unwrap_or_else(|_| Err(gone()))
            }
        }
    }

    /// How all of them are, by name.
    pub fn status(&self) -> Vec<Status> {
        let mut all: Vec<Status> = self
            .shared
            .values()
            .map(|shared| {
                let status = shared.status.lock().unwrap().clone();
                Status {
                    queue: shared.queue.lock().unwrap().len(),
                    memory_kb: status.process.map_or(0, memory),
                    ..status
                }
            })
            .collect();
        all.sort_by(|a, b| a.agent.cmp(&b.agent));
        all
    }

    /// Ends them and their processes. What waits is told so at once; what is under way has so long to end, or, when this is
    /// called again meanwhile, so long from then on.
    pub async fn stop(&self, patience: Duration) {
        self.stop.send_replace(Some(Instant::now() + patience));
        for shared in self.shared.values() {
            shared.clear();
        }
        let mut workers = self.workers.lock().await;
        while workers.join_next().await.is_some() {}
    }
}

/// A place in a queue; left when nobody waits any more.
struct Place<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Place<'_> {
    /// Whether it was not its turn yet.
    fn leave(&self) -> bool {
        self.shared.queue.lock().unwrap().cancel(self.number).is_some()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

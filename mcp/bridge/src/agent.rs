//! An agent: its queue, its process while it has one, and what answers while it has none.
//!
//! Prompts from a user, a schedule and another program reach one process, which answers one at a time. Invariants: every
//! prompt that was taken is answered once, by an answer or by a failure of its own; the idle timer runs between prompts only;
//! a prompt of which anything was acted on is not run again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit::BoxFuture;
use s01_loop::History;
use s11_recovery::Recovery;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::config::{self, Kind};
use crate::owner::{Failure, Owner, Profile, near};
use crate::process::{Lost, Process, memory};
use crate::queue::{Class, Queue};
use crate::relay;

/// The most prompts that wait for an agent.
pub const LIMIT: usize = 100;
/// How long a prompt waits for its turn, unless it says otherwise.
const DEADLINE: Duration = Duration::from_secs(3600);
/// The longest that a process that has failed is left alone.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

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

/// Starts a process.
pub type Starter = Arc<dyn Fn() -> BoxFuture<'static, Result<Process, String>> + Send + Sync>;

struct Waiting {
    message: Message,
    reply: oneshot::Sender<Result<Reply, Failure>>,
}

/// What callers and the worker share.
struct Shared {
    queue: Mutex<Queue<Waiting>>,
    wake: Notify,
    status: Mutex<Status>,
}

impl Shared {
    fn clear(&self) {
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
    /// Lets them work; `starter` says how a process is started, `revoke` is called when one has ended.
    pub fn start(
        owner: &Arc<Owner>,
        model: &Recovery,
        starter: impl Fn(&config::Agent) -> Starter,
        revoke: impl Fn(&str) + Clone + Send + Sync + 'static,
    ) -> Self {
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
                starter: starter(agent),
                revoke: Box::new(revoke.clone()),
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

type Stopped = watch::Receiver<Option<Instant>>;

struct Worker {
    agent: config::Agent,
    owner: Arc<Owner>,
    model: Recovery,
    shared: Arc<Shared>,
    starter: Starter,
    revoke: Box<dyn Fn(&str) + Send + Sync>,
    process: Option<Process>,
    /// What was said in relay mode.
    history: History,
    /// Of the process, in a row.
    failures: u32,
    away_until: Option<Instant>,
}

/// Why a worker stops waiting.
enum Next {
    Prompt(Waiting),
    /// The process has rested long enough.
    Idle,
    /// It has ended by itself.
    Ended(Lost),
    Stop,
}

impl Worker {
    async fn run(mut self, mut stop: Stopped) {
        loop {
            let next = tokio::select! {
                biased;
                _ = stop.wait_for(Option::is_some) => Next::Stop,
                waiting = next(&self.shared) => Next::Prompt(waiting),
                rested = rest(&mut self.process, &self.agent, &self.owner) => rested,
            };
            match next {
                Next::Prompt(Waiting { message, reply }) => {
                    let served = tokio::select! {
                        served = self.serve(&message) => served,
                        () = over(&mut stop) => {
                            let why = "the owner had to stop in the middle of it; whether it has acted is unknown";
                            Err(Failure::new(503, "stopped", why))
                        }
                    };
                    self.tell(|status| {
                        status.answered += u64::from(served.is_ok());
                        status.relayed +=
                            u64::from(served.as_ref().is_ok_and(|it| it.by == "relay"));
                    });
                    let _ = reply.send(served);
                }
                Next::Idle => {
                    tracing::info!(agent = self.agent.name, "its process has rested long enough");
                    self.end_process().await;
                    self.tell(|status| status.state = "asleep");
                }
                Next::Ended(lost) => self.lose(&lost).await,
                Next::Stop => break,
            }
        }
        self.end_process().await;
        self.shared.clear();
    }

    /// Answers a prompt: by the process, or without it when nothing of it was acted on.
    async fn serve(&mut self, message: &Message) -> Result<Reply, Failure> {
        let name = self.agent.name.clone();
        tracing::info!(agent = name, source = message.source, "a prompt");
        let lost = match self.ready().await {
            Err(why) => why,
            Ok(()) => {
                self.tell(|status| status.state = "working");
                self.owner.begin(&name, message.profile);
                let process = self.process.as_mut().expect("it is ready");
                let cap = self.agent.cap;
                let outcome = timeout(cap, process.prompt(&message.prompt)).await;
                let outcome =
                    outcome.unwrap_or_else(|_| Err(Lost(format!("it took longer than {cap:?}"))));
                match outcome {
                    Ok(answer) => {
                        self.owner.end(&name);
                        (self.failures, self.away_until) = (0, None);
                        self.tell(|status| (status.state, status.trouble) = ("resting", None));
                        if answer.is_error {
                            return Err(Failure::new(502, "prompt_failed", answer.text));
                        }
                        return Ok(Reply {
                            text: answer.text,
                            by: "process",
                            note: None,
                            cost: answer.cost,
                        });
                    }
                    Err(lost) => {
                        let own = std::mem::take(&mut process.acted);
                        // From here on nothing of it reaches a tool, so what is counted is all there was.
                        self.lose(&lost).await;
                        let acted = [self.owner.end(&name), own].concat();
                        if !acted.is_empty() {
                            let why = format!(
                                "the process of {name} is gone ({}), after it had called {}; the prompt is not run again",
                                lost.0,
                                acted.join(", ")
                            );
                            return Err(Failure::new(502, "outcome_unknown", why));
                        }
                        lost.0
                    }
                }
            }
        };
        self.relay(message, lost).await
    }

    async fn relay(&mut self, message: &Message, why: String) -> Result<Reply, Failure> {
        let before = self.shared.status.lock().unwrap().state;
        self.tell(|status| status.state = "relay");
        let work = relay::answer(
            &self.owner,
            &self.model,
            &self.agent,
            message.profile,
            &mut self.history,
            &message.prompt,
        );
        let cap = self.agent.cap;
        let answered = timeout(cap, work)
            .await
            .unwrap_or_else(|_| Err(format!("it took longer than {cap:?}")));
        self.history.settle();
        self.tell(|status| status.state = before);
        match answered {
            Ok(text) => Ok(Reply {
                text,
                by: "relay",
                note: (self.agent.process != Kind::None).then_some(why),
                cost: None,
            }),
            Err(error) => {
                Err(Failure::new(502, "no_answer", format!("{why}; and in relay mode: {error}")))
            }
        }
    }

    /// Sees to it that there is a process.
    async fn ready(&mut self) -> Result<(), String> {
        if self.process.is_some() {
            return Ok(());
        }
        if self.agent.process == Kind::None {
            return Err("it has no process".to_owned());
        }
        if self.away_until.is_some_and(|until| Instant::now() < until) {
            let trouble = self.shared.status.lock().unwrap().trouble.clone();
            return Err(format!("its process is away: {}", trouble.unwrap_or_default()));
        }
        match (self.starter)().await {
            Ok(process) => {
                let id = process.id();
                self.tell(|status| (status.state, status.process) = ("resting", id));
                self.process = Some(process);
                Ok(())
            }
            Err(why) => {
                self.lose(&Lost(why.clone())).await;
                Err(why)
            }
        }
    }

    /// The process is of no use any more, and left alone for a while.
    async fn lose(&mut self, lost: &Lost) {
        tracing::warn!(agent = self.agent.name, why = lost.0, "its process is away");
        self.end_process().await;
        let wait = Duration::from_secs(self.owner.config.retry_s)
            .saturating_mul(1 << self.failures.min(10));
        self.failures += 1;
        self.away_until = Some(Instant::now() + wait.min(LONGEST_RETRY));
        self.tell(|status| (status.state, status.trouble) = ("away", Some(lost.0.clone())));
    }

    async fn end_process(&mut self) {
        if let Some(process) = self.process.take() {
            (self.revoke)(&self.agent.name);
            process.stop().await;
        }
        self.tell(|status| status.process = None);
    }

    fn tell(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.shared.status.lock().unwrap());
    }
}

/// Waits until what is under way must end.
async fn over(stop: &mut Stopped) {
    loop {
        let until = *stop.borrow_and_update();
        tokio::select! {
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return,
            changed = stop.changed() => if changed.is_err() { return },
        }
    }
}

/// The next prompt. Cancel-safe.
async fn next(shared: &Shared) -> Waiting {
    loop {
        if let Some((_, waiting)) = shared.queue.lock().unwrap().pop() {
            return waiting;
        }
        shared.wake.notified().await;
    }
}

/// Waits until the process has done nothing for long enough, or ends; for ever when there is none.
async fn rest(process: &mut Option<Process>, agent: &config::Agent, owner: &Owner) -> Next {
    let Some(process) = process else {
        return std::future::pending().await;
    };
    let mut calls = owner.activity();
    loop {
        let called = calls.borrow_and_update().get(&agent.name).copied();
        let last = called.map_or(process.heard, |called| called.max(process.heard));
        tokio::select! {
            () = sleep_until(last + agent.idle) => return Next::Idle,
            line = process.line() => if let Err(lost) = line {
                return Next::Ended(lost);
            },
            _ = calls.changed() => {}
        }
    }
}

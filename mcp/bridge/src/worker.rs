//! What answers an agent's prompts: its process while it has one, and relay mode while it has none.
//!
//! Invariants: one prompt at a time; the idle timer runs between prompts only; a prompt of which anything was acted on is not
//! run again.

use std::sync::Arc;
use std::time::Duration;

use s01_loop::History;
use s11_recovery::Recovery;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::agent::{Harness, Message, Reply, Shared, Status, Waiting};
use crate::config::{self, Kind};
use crate::owner::{Failure, Owner};
use crate::process::{Lost, Process};
use crate::relay;

/// The longest that a process that has failed is left alone.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// When what is under way must have ended, once the owner is being stopped.
type Stopped = watch::Receiver<Option<Instant>>;

/// Answers the prompts of an agent.
pub struct Worker {
    pub agent: config::Agent,
    pub owner: Arc<Owner>,
    pub model: Recovery,
    pub shared: Arc<Shared>,
    pub harness: Arc<dyn Harness>,
    pub process: Option<Process>,
    /// What was said in relay mode.
    pub history: History,
    /// Of the process, in a row.
    pub failures: u32,
    pub away_until: Option<Instant>,
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
    pub async fn run(mut self, mut stop: Stopped) {
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
        match self.harness.start(&self.agent) {
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
            self.harness.revoke(&self.agent.name);
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

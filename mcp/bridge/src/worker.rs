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

use crate::agent::{Agent, Answered, Message, Reply, Start, Status, Stop};
use crate::config::Kind;
use crate::owner::{Failure, Owner, Profile};
use crate::process::Process;
use crate::relay;

/// The longest that a process that has failed is left alone.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// Answers the prompts of an agent.
pub struct Worker {
    agent: Arc<Agent>,
    owner: Arc<Owner>,
    model: Recovery,
    start: Start,
    process: Option<Process>,
    /// What was said in relay mode.
    history: History,
    /// Of the process, in a row.
    failures: u32,
    /// Until when its process is left alone, and why.
    away: Option<(Instant, String)>,
}

impl Worker {
    pub fn new(agent: Arc<Agent>, owner: Arc<Owner>, model: Recovery, start: Start) -> Self {
        Self {
            agent,
            owner,
            model,
            start,
            process: None,
            history: History::default(),
            failures: 0,
            away: None,
        }
    }

    pub async fn run(mut self, mut stop: watch::Receiver<Stop>) {
        let agent = self.agent.clone();
        loop {
            tokio::select! {
                biased;
                () = async { _ = stop.wait_for(|stop| *stop >= Stop::Soon).await } => break,
                (message, reply) = agent.next() => {
                    let served = tokio::select! {
                        served = self.serve(&message) => served,
                        _ = stop.wait_for(|stop| *stop == Stop::Now) => {
                            let why = "the owner had to stop in the middle of it; whether it has acted is unknown";
                            Err(Failure::new(503, "stopped", why))
                        }
                    };
                    self.tell(|status| {
                        status.answered += u64::from(served.is_ok());
                        status.relayed += u64::from(served.as_ref().is_ok_and(|it| it.by == "relay"));
                    });
                    let _ = reply.send(served);
                }
                ended = rest(&mut self.process, &agent) => match ended {
                    Some(why) => self.lose(&why).await,
                    None => {
                        tracing::info!(agent = agent.config.name, "its process has rested long enough");
                        self.end_process().await;
                        self.tell(|status| status.state = "asleep");
                    }
                }
            }
        }
        self.end_process().await;
    }

    /// Answers a prompt: by the process, or without it when nothing of it was acted on.
    async fn serve(&mut self, message: &Message) -> Answered {
        tracing::info!(agent = self.agent.config.name, source = message.source, "a prompt");
        match self.by_process(message).await {
            Ok(answered) => answered,
            Err(why) => self.relay(message, why).await,
        }
    }

    /// What its process makes of a prompt. The error is why it has none to make anything of it; nothing was acted on.
    async fn by_process(&mut self, message: &Message) -> Result<Answered, String> {
        self.ready().await?;
        self.tell(|status| status.state = "working");
        self.owner.begin(&self.agent, message.profile);
        let process = self.process.as_mut().expect("it is ready");
        let cap = self.agent.config.cap;
        let answered = timeout(cap, process.prompt(&message.prompt)).await;
        let answered = answered.unwrap_or_else(|_| Err(format!("it took longer than {cap:?}")));
        let Err(why) = answered else {
            self.owner.begin(&self.agent, Profile::Full);
            (self.failures, self.away) = (0, None);
            self.tell(|status| (status.state, status.trouble) = ("resting", None));
            return answered;
        };
        let own = std::mem::take(&mut process.acted);
        // From here on nothing of it reaches a tool, so what is counted is all there was.
        self.lose(&why).await;
        let acted = [self.owner.begin(&self.agent, Profile::Full), own].concat();
        if acted.is_empty() {
            return Err(why);
        }
        let why = format!(
            "the process of {} is gone ({why}), after it had called {}; the prompt is not run again",
            self.agent.config.name,
            acted.join(", ")
        );
        Ok(Err(Failure::new(502, "outcome_unknown", why)))
    }

    async fn relay(&mut self, message: &Message, why: String) -> Answered {
        let before = self.agent.status.lock().unwrap().state;
        self.tell(|status| status.state = "relay");
        let (cap, history) = (self.agent.config.cap, &mut self.history);
        let work = relay::answer(&self.owner, &self.model, &self.agent, message, history);
        let answered = timeout(cap, work).await;
        let answered = answered.unwrap_or_else(|_| Err(format!("it took longer than {cap:?}")));
        self.history.settle();
        self.tell(|status| status.state = before);
        match answered {
            Ok(text) => Ok(Reply {
                text,
                by: "relay",
                note: (self.agent.config.process != Kind::None).then_some(why),
                cost: None,
            }),
            Err(error) => {
                let why = format!("{why}; and in relay mode: {error}");
                Err(Failure::new(502, "no_answer", why))
            }
        }
    }

    /// Sees to it that there is a process.
    async fn ready(&mut self) -> Result<(), String> {
        if self.process.is_some() {
            return Ok(());
        }
        if self.agent.config.process == Kind::None {
            return Err("it has no process".to_owned());
        }
        if let Some((until, why)) = &self.away
            && Instant::now() < *until
        {
            return Err(format!("its process is away: {why}"));
        }
        match (self.start)(&self.agent.config) {
            Ok(process) => {
                self.tell(|status| status.process = process.id());
                self.process = Some(process);
                Ok(())
            }
            Err(why) => {
                self.lose(&why).await;
                Err(why)
            }
        }
    }

    /// The process is of no use any more, and left alone for a while.
    async fn lose(&mut self, why: &str) {
        tracing::warn!(agent = self.agent.config.name, why, "its process is away");
        self.end_process().await;
        let wait = Duration::from_secs(self.owner.config.retry_s)
            .saturating_mul(1 << self.failures.min(10));
        self.failures += 1;
        self.away = Some((Instant::now() + wait.min(LONGEST_RETRY), why.to_owned()));
        self.tell(|status| (status.state, status.trouble) = ("away", Some(why.to_owned())));
    }

    async fn end_process(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop().await;
        }
        self.tell(|status| status.process = None);
    }

    fn tell(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.agent.status.lock().unwrap());
    }
}

/// Waits until the process has done nothing for long enough, or says why it has ended; for ever when there is none.
async fn rest(process: &mut Option<Process>, agent: &Agent) -> Option<String> {
    let Some(process) = process else {
        return std::future::pending().await;
    };
    let mut calls = agent.calls();
    loop {
        let last = process.heard.max(*calls.borrow_and_update());
        tokio::select! {
            () = sleep_until(last + agent.config.idle) => return None,
            line = process.line() => if let Err(why) = line {
                return Some(why);
            },
            _ = calls.changed() => {}
        }
    }
}

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

use crate::agent::{Agent, Answered, Message, Reply};
use crate::config::{self, Kind};
use crate::owner::{Failure, Owner, Profile};
use crate::process::Process;
use crate::relay;

/// The longest that a process that has failed is left alone.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

type Start = Arc<dyn Fn(&config::Agent) -> Result<Process, String> + Send + Sync>;

impl Owner {
    /// Lets the agents work. `start` starts the process of one, or says why it does not start.
    pub fn start(
        self: &Arc<Self>,
        model: &Recovery,
        start: impl Fn(&config::Agent) -> Result<Process, String> + Send + Sync + 'static,
    ) {
        let start: Start = Arc::new(start);
        for agent in self.agents.values() {
            let worker = Worker {
                agent: agent.clone(),
                owner: self.clone(),
                model: model.clone(),
                start: start.clone(),
                process: None,
                history: History::default(),
                away: None,
            };
            tokio::spawn(worker.run(self.stop.subscribe()));
        }
    }

    /// Ends the agents and their processes. What waits is told so at once; what is under way has so long to end, or, when
    /// this is called again meanwhile, so long from then on.
    pub async fn stop(&self, patience: Duration) {
        self.agents.values().for_each(|agent| agent.close());
        // Each worker has a receiver.
        let _ = timeout(patience, self.stop.closed()).await;
        self.stop.send_replace(true);
        self.stop.closed().await;
        self.changed.send_replace(true);
    }
}

/// Answers the prompts of an agent.
struct Worker {
    agent: Arc<Agent>,
    owner: Arc<Owner>,
    model: Recovery,
    start: Start,
    process: Option<Process>,
    /// What was said in relay mode.
    history: History,
    away: Option<Away>,
}

/// A process that has failed is left alone.
struct Away {
    until: Instant,
    /// How long, which is doubled the next time.
    wait: Duration,
    why: String,
}

impl Worker {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let agent = self.agent.clone();
        loop {
            self.show(None);
            tokio::select! {
                biased;
                next = agent.next() => {
                    let Some((message, reply)) = next else { break };
                    let served = tokio::select! {
                        served = self.serve(&message) => served,
                        _ = stop.wait_for(|stop| *stop) => {
                            let why = "the owner had to stop in the middle of it; whether it has acted is unknown";
                            Err(Failure::new(503, "stopped", why))
                        }
                    };
                    self.show(None);
                    agent.count(&served);
                    let _ = reply.send(served);
                }
                ended = rest(&mut self.process, &agent) => match ended {
                    Some(why) => self.lose(why).await,
                    None => {
                        tracing::info!(agent = agent.config.name, "its process has rested long enough");
                        self.end_process().await;
                    }
                }
            }
        }
        self.end_process().await;
    }

    /// Answers a prompt: by the process, or without it when nothing of it was acted on.
    async fn serve(&mut self, message: &Message) -> Answered {
        tracing::info!(agent = self.agent.config.name, source = message.source, "a prompt");
        self.owner.begin(&self.agent, message.profile);
        let answered = match self.by_process(message).await {
            Ok(answered) => answered,
            Err(why) => self.relay(message, why).await,
        };
        self.owner.begin(&self.agent, Profile::Full);
        answered
    }

    /// What its process makes of a prompt. The error is why it has none to make anything of it; nothing was acted on.
    async fn by_process(&mut self, message: &Message) -> Result<Answered, String> {
        self.ready().await?;
        self.show(Some("working"));
        self.agent.acted();
        let process = self.process.as_mut().expect("it is ready");
        let work = process.prompt(&message.prompt, |tool| self.agent.acts(tool));
        let answered = within(self.agent.config.cap, work).await;
        let Err(why) = answered else {
            self.away = None;
            return answered;
        };
        // From here on nothing of it reaches a tool, so what is counted is all there was.
        self.lose(why.clone()).await;
        let acted = Vec::from_iter(self.agent.acted()).join(", ");
        if acted.is_empty() {
            return Err(why);
        }
        let name = &self.agent.config.name;
        let why = format!(
            "the process of {name} is gone ({why}), after it had called {acted}; the prompt is not run again"
        );
        Ok(Err(Failure::new(502, "outcome_unknown", why)))
    }

    async fn relay(&mut self, message: &Message, why: String) -> Answered {
        self.show(Some("relay"));
        let config = &self.agent.config;
        let history = &mut self.history;
        let work = relay::answer(&self.owner, &self.model, &self.agent, &message.prompt, history);
        let answered = within(config.cap, work).await;
        self.history.settle();
        match answered {
            Ok(text) => Ok(Reply {
                text,
                by: "relay",
                note: (config.process != Kind::None).then_some(why),
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
        if let Some(away) = self.away.as_ref().filter(|away| Instant::now() < away.until) {
            return Err(format!("its process is away: {}", away.why));
        }
        match (self.start)(&self.agent.config) {
            Ok(process) => self.process = Some(process),
            Err(why) => {
                self.lose(why.clone()).await;
                return Err(why);
            }
        }
        Ok(())
    }

    /// The process is of no use any more, and left alone for a while.
    async fn lose(&mut self, why: String) {
        tracing::warn!(agent = self.agent.config.name, why, "its process is away");
        self.end_process().await;
        let first = Duration::from_secs(self.owner.config.retry_s);
        let wait = self.away.as_ref().map_or(first, |away| away.wait * 2).min(LONGEST_RETRY);
        let until = Instant::now() + wait;
        self.away = Some(Away { until, wait, why });
    }

    async fn end_process(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop().await;
        }
    }

    /// Says how the agent is, to those who look on.
    fn show(&self, busy: Option<&'static str>) {
        let mut status = self.agent.status.lock().unwrap();
        let idle = match (&self.process, &self.away) {
            (Some(_), _) => "resting",
            (None, Some(_)) => "away",
            (None, None) => "asleep",
        };
        status.state = busy.unwrap_or(idle);
        status.process = self.process.as_ref().and_then(Process::id);
        status.trouble = self.away.as_ref().map(|away| away.why.clone());
    }
}

async fn within<T>(
    cap: Duration,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let done = timeout(cap, work).await;
    done.unwrap_or_else(|_| Err(format!("it took longer than {cap:?}")))
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

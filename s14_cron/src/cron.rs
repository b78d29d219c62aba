//! Cron: prompts that fire on a schedule.
//!
//! A model cannot wait for nine o'clock; the harness can. Due prompts are notices, so they reach a running turn at its
//! next round and wake an idle session. Invariants: a job fires once for a minute, however late; a one-shot is removed
//! after the model has received it, not before; a job missed while nothing ran is run once and marked as late; every
//! session watches the clock, because another one may leave it jobs at any time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use jiff::Timestamp;
use kit::fresh_suffix;
use s01_loop::Repl;
use s02_tools::Workspace;
use s13_background::Notices;
use serde_json::Map;
use tokio::time::MissedTickBehavior;

use crate::file::JobStore;
use crate::job::Job;
use crate::schedule::Schedule;

/// The most jobs there may be.
pub const MAX_JOBS: usize = 50;

/// How often the clock and the file are looked at.
pub const TICK: Duration = Duration::from_secs(1);

/// What time it is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The scheduled prompts of a session. Clones share them.
#[derive(Clone)]
pub struct Cron {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Clock,
    notices: Notices,
    repl: Repl,
    jobs: JobStore,
    /// The last error that was shown, so that it is not repeated each second.
    complaint: Mutex<String>,
}

impl Cron {
    /// The jobs of this workspace, fired into these notices.
    pub fn start(ws: &Workspace, notices: &Notices, repl: &Repl) -> Self {
        Self::with_clock(ws, notices, repl, Arc::new(Timestamp::now))
    }

    /// The same with another clock.
    pub fn with_clock(ws: &Workspace, notices: &Notices, repl: &Repl, clock: Clock) -> Self {
        let cron = Self {
            shared: Arc::new(Shared {
                clock,
                notices: notices.clone(),
                repl: repl.clone(),
                jobs: JobStore::new(ws, repl),
                complaint: Mutex::default(),
            }),
        };
        // Weak, because the jobs hold the notices: a cycle would keep both, and the task that watches the clock, for
        // ever.
        let shared = Arc::downgrade(&cron.shared);
        let due = move || shared.upgrade().map(|shared| shared.due());
        notices.take_from(move || due().unwrap_or_default());
        let shared = Arc::downgrade(&cron.shared);
        let ends = move || shared.upgrade().map(|shared| shared.ending());
        notices.ends(move || ends().unwrap_or_default());
        cron.look_each_second();
        cron
    }

    /// Adds a job.
    ///
    /// # Errors
    /// When the schedule cannot be read or never comes, the prompt is empty, or there are too many jobs.
    pub fn schedule(
        &self,
        cron: &str,
        prompt: &str,
        recurring: bool,
        durable: bool,
    ) -> Result<Job> {
        ensure!(
            !prompt.trim().is_empty(),
            "schedule_cron: the prompt is empty; say what is to be done"
        );
        let now = (self.shared.clock)();
        let Some(next) = Schedule::parse(cron)?.after(now) else {
            bail!("{cron:?} never comes");
        };
        let jobs = &self.shared.jobs;
        let job = Job {
            id: format!("cron_{}", fresh_suffix()),
            cron: cron.to_owned(),
            prompt: prompt.trim().to_owned(),
            recurring,
            next,
            computed_at: now,
            handed_over: false,
            session: durable.then(|| jobs.session()).transpose()?,
            durable,
            extra: Map::new(),
        };
        jobs.change(|jobs| {
            ensure!(jobs.len() < MAX_JOBS, "there are {MAX_JOBS} jobs already; cancel one first");
            jobs.push(job.clone());
            Ok(job)
        })
    }

    /// All jobs, the next one first.
    ///
    /// # Errors
    /// When cron.json cannot be read.
    pub fn list(&self) -> Result<Vec<Job>> {
        let mut jobs = self.shared.jobs.all()?;
        jobs.retain(|job| !job.handed_over);
        jobs.sort_by_key(|job| job.next);
        Ok(jobs)
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn cancel(&self, id: &str) -> Result<Job> {
        self.shared.jobs.change(|jobs| {
            let at = jobs.iter().position(|job| job.id == id.trim());
            let Some(at) = at else {
                bail!("there is no job {id:?}; list_crons shows the ids");
            };
            Ok(jobs.remove(at))
        })
    }

    /// Wakes the session when something is due, as long as there is one.
    fn look_each_second(&self) {
        let shared = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let Some(shared) = shared.upgrade() else {
                    return;
                };
                if shared.is_due() {
                    shared.notices.wake();
                }
            }
        });
    }
}

impl Shared {
    /// Whether a job is due that this session fires.
    fn is_due(&self) -> bool {
        self.jobs.is_due((self.clock)())
    }

    /// The prompts that are due. Removes one-shots that were handed over before.
    fn due(&self) -> Vec<String> {
        let now = (self.clock)();
        let fired = match self.jobs.take_due(now) {
            Ok(fired) => fired,
            Err(error) => {
                self.complain(format!("[scheduled prompts wait: {error:#}]"));
                return Vec::new();
            }
        };
        for job in &fired {
            self.repl.remark(&job.remark(now));
        }
        fired.iter().map(|job| job.notice(now)).collect()
    }

    /// The jobs that are lost with this session; the others are in the file.
    fn ending(&self) -> Vec<String> {
        let jobs = self.jobs.of_session().into_iter();
        let waiting = jobs.filter(|job| !job.handed_over);
        waiting.map(|job| format!("{}: {}", job.id, job.prompt_line())).collect()
    }

    fn complain(&self, complaint: String) {
        let mut last = self.complaint.lock().unwrap();
        if *last != complaint {
            self.repl.remark(&complaint);
            *last = complaint;
        }
    }
}

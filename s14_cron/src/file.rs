//! The jobs: those of this session in memory, the durable ones in `cron.json`.
//!
//! Two sessions may stand in one folder. A durable job is fired by the session that made it, and by the next one that looks
//! when that has ended. Invariants: the file is whole or absent; one that cannot be read is set aside and named, not
//! overwritten; a one-shot whose session died over it is fired again.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Context, Result};
use jiff::Timestamp;
use kit::{FolderLock, fresh_suffix, write_whole};
use s01_loop::Repl;
use s02_tools::Workspace;
use s12_tasks::Session;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::job::{Job, take_due};

const VERSION: u32 = 1;

/// All jobs, as this session sees them.
pub struct JobStore {
    path: PathBuf,
    /// The folder whose lock makes reading and writing one step.
    lock: PathBuf,
    session: Session,
    repl: Repl,
    /// The jobs that end with this session. A std lock: nothing is awaited while it is held.
    own: Mutex<Vec<Job>>,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    #[serde(default)]
    jobs: Vec<Job>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl JobStore {
    pub fn new(ws: &Workspace, repl: &Repl) -> Self {
        Self {
            path: ws.state("cron.json"),
            lock: ws.state("cron.lock"),
            session: Session::new(ws),
            repl: repl.clone(),
            own: Mutex::default(),
        }
    }

    /// The id of the session that fires what is made here.
    pub fn session(&self) -> Result<String> {
        self.session.id()
    }

    /// All jobs there are.
    pub fn all(&self) -> Result<Vec<Job>> {
        let mut jobs = match self.read()?.map(|bytes| parse(&bytes)) {
            None => Vec::new(),
            Some(Ok(content)) => content.jobs,
            // Looked at once more under the lock, and set aside there.
            Some(Err(_)) => return self.change(|jobs| Ok(jobs.clone())),
        };
        jobs.extend(self.of_session());
        Ok(jobs)
    }

    /// The jobs that end with this session.
    pub fn of_session(&self) -> Vec<Job> {
        self.own.lock().unwrap().clone()
    }

    /// True if there is something to fire here: a job that is due, or one that was handed over by a session that has
    /// died since.
    pub fn is_due(&self, now: Timestamp) -> bool {
        // A file that cannot be read now may be readable at the next look.
        let jobs = self.all().unwrap_or_default();
        let waits = |job: &Job| job.is_due(now) || (job.handed_over && !self.is_own(job));
        jobs.iter().any(|job| waits(job) && self.is_mine(job))
    }

    /// Takes the jobs that are due here, and removes those that were handed over before.
    pub fn take_due(&self, now: Timestamp) -> Result<Vec<Job>> {
        let waits = |job: &Job| job.is_due(now) || job.handed_over;
        let jobs = self.all()?;
        if !jobs.iter().any(|job| waits(job) && self.is_mine(job)) {
            return Ok(Vec::new());
        }
        self.change(|jobs| {
            let (mut mine, others): (Vec<Job>, Vec<Job>) =
                jobs.drain(..).partition(|job| self.is_mine(job));
            for job in mine.iter_mut().filter(|job| !self.is_own(job)) {
                job.session = Some(self.session.id()?);
                job.handed_over = false;
            }
            let due = take_due(&mut mine, now);
            *jobs = [others, mine].concat();
            Ok(due)
        })
    }

    /// Changes the jobs in one step, also among processes. Each stays in its place, in memory or in the file.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Job>) -> Result<T>) -> Result<T> {
        let _lock = FolderLock::wait(&self.lock)?;
        let mut content = match self.read()?.map(|bytes| parse(&bytes)) {
            None => Content::default(),
            Some(Ok(content)) => content,
            Some(Err(error)) => {
                self.set_aside(&error)?;
                Content::default()
            }
        };
        let mut own = self.own.lock().unwrap();
        let before = content.jobs.clone();
        let mut jobs = [&content.jobs[..], &own].concat();
        let changed = change(&mut jobs)?;
        let of_session;
        (content.jobs, of_session) = jobs.into_iter().partition(|job| job.durable);
        if content.jobs != before {
            content.version = content.version.max(VERSION);
            let mut json = serde_json::to_vec_pretty(&content).context("jobs are JSON")?;
            json.push(b'\n');
            write_whole(&self.path, &json).context("writing cron.json")?;
        }
        *own = of_session;
        Ok(changed)
    }

    /// Whether a job is this session's to fire: its own, or one whose session has ended.
    fn is_mine(&self, job: &Job) -> bool {
        let is_alive = |session: &String| self.session.is_alive(session);
        self.is_own(job) || !job.session.as_ref().is_some_and(is_alive)
    }

    fn is_own(&self, job: &Job) -> bool {
        let session = job.session.as_deref();
        !job.durable || session.is_some_and(|session| self.session.is_own(session))
    }

    fn read(&self) -> Result<Option<Vec<u8>>> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("reading cron.json"),
        }
    }

    fn set_aside(&self, error: &serde_json::Error) -> Result<()> {
        let name = format!("cron.json.damaged-{}", fresh_suffix());
        fs::rename(&self.path, self.path.with_file_name(&name))
            .context("setting cron.json aside")?;
        self.repl.remark(&format!("[cron.json cannot be read ({error}); it was kept as {name}]"));
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> serde_json::Result<Content> {
    let mut content: Content = serde_json::from_slice(bytes)?;
    content.jobs.iter_mut().for_each(|job| job.durable = true);
    Ok(content)
}

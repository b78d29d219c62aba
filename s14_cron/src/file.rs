//! `cron.json`: the jobs that outlive the session.
//!
//! Two sessions may stand in one folder. Both may add jobs; the one that holds the lock fires them. Invariants: the file is
//! whole or absent; one that cannot be read is set aside and named, not overwritten; a one-shot whose session died over
//! it is fired again.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result};
use kit::{FolderLock, fresh_suffix, make_state_folder, write_whole};
use s01_loop::Repl;
use s02_tools::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::job::Job;

const VERSION: u32 = 1;

/// The file and the right to fire what is in it.
pub struct CronFile {
    path: PathBuf,
    /// The folder whose lock makes reading and writing one step.
    folder: PathBuf,
    repl: Repl,
    /// Locked while this session is the one that fires.
    firing: Option<File>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    #[serde(default)]
    jobs: Vec<Job>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl CronFile {
    pub fn new(ws: &Workspace, repl: &Repl) -> Self {
        Self {
            path: ws.state("cron.json"),
            folder: ws.state("cron.lock"),
            repl: repl.clone(),
            firing: None,
        }
    }

    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Whether this session fires the jobs of the file.
    pub fn is_firing(&self) -> bool {
        self.firing.is_some()
    }

    /// Becomes the session that fires, unless another one is. What that one had handed over when it died is due again.
    pub fn try_firing(&mut self) {
        if self.firing.is_none() {
            self.firing = self.lock_firing();
            if self.firing.is_some() {
                let again = self.change(|jobs| {
                    jobs.iter_mut().for_each(|job| job.handed_over = false);
                    Ok(())
                });
                if let Err(error) = again {
                    self.repl.remark(&format!("[{error:#}]"));
                }
            }
        }
    }

    /// Lets another session fire.
    pub fn stop_firing(&mut self) {
        self.firing = None;
    }

    fn lock_firing(&self) -> Option<File> {
        make_state_folder(&self.folder).ok()?;
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        let file = options.open(self.folder.join("firing")).ok()?;
        file.try_lock().is_ok().then_some(file)
    }

    /// The jobs in the file.
    pub fn load(&self) -> Result<Vec<Job>> {
        match self.read()?.map(|bytes| parse(&bytes)) {
            None => Ok(Vec::new()),
            Some(Ok(content)) => Ok(content.jobs),
            // Looked at once more under the lock, and set aside there.
            Some(Err(_)) => self.change(|jobs| Ok(jobs.clone())),
        }
    }

    /// Changes the jobs in the file in one step.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Job>) -> Result<T>) -> Result<T> {
        let _lock = FolderLock::wait(&self.folder)?;
        let mut content = match self.read()?.map(|bytes| parse(&bytes)) {
            None => Content::empty(),
            Some(Ok(content)) => content,
            Some(Err(error)) => {
                self.set_aside(&error)?;
                Content::empty()
            }
        };
        let before = content.jobs.clone();
        let changed = change(&mut content.jobs)?;
        if content.jobs != before {
            let mut json = serde_json::to_vec_pretty(&content).context("jobs are JSON")?;
            json.push(b'\n');
            write_whole(&self.path, &json).context("writing cron.json")?;
        }
        Ok(changed)
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
        self.repl.remark(&format!(
            "[cron.json cannot be read ({error}); it was kept as {name}]"
        ));
        Ok(())
    }
}

impl Content {
    fn empty() -> Self {
        Self {
            version: VERSION,
            jobs: Vec::new(),
            extra: Map::new(),
        }
    }
}

fn parse(bytes: &[u8]) -> serde_json::Result<Content> {
    let mut content: Content = serde_json::from_slice(bytes)?;
    content.jobs.iter_mut().for_each(|job| job.durable = true);
    Ok(content)
}

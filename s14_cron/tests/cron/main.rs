//! Cron through its public handle, by a clock that the test sets.
//!
//! Invariant: nothing here waits: the clock is the test's, and tokio's time is paused.

mod firing;
mod keeping;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use s01_loop::Repl;
use s02_tools::Workspace;
use s13_background::Notices;
use s14_cron::{Cron, Job, TICK};
use serde_json::Value;
use tempfile::TempDir;

/// A clock on the wall of a folder.
struct Desk {
    _dir: TempDir,
    ws: Workspace,
    now: Arc<Mutex<Timestamp>>,
}

/// One run of the program.
struct Session {
    cron: Cron,
    notices: Notices,
}

impl Desk {
    /// It is 27 February 2026, six minutes and 52 seconds past ten.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        Self {
            _dir: dir,
            ws,
            now: Arc::new(Mutex::new(moment("2026-02-27T10:06:52"))),
        }
    }

    fn session(&self) -> Session {
        let notices = Notices::default();
        let now = self.now.clone();
        let clock = Arc::new(move || *now.lock().unwrap());
        let repl = Repl::once("test", "");
        let cron = Cron::with_clock(&self.ws, &notices, &repl, clock);
        Session { cron, notices }
    }

    fn set(&self, local: &str) {
        *self.now.lock().unwrap() = moment(local);
    }

    fn pass(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }

    fn path(&self) -> PathBuf {
        self.ws.state("cron.json")
    }

    /// What lies in the file.
    fn stored(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path()).unwrap()).unwrap()
    }
}

impl Session {
    fn every(&self, cron: &str, prompt: &str, durable: bool) -> Job {
        self.cron.schedule(cron, prompt, true, durable).unwrap()
    }

    fn once(&self, cron: &str, prompt: &str, durable: bool) -> Job {
        self.cron.schedule(cron, prompt, false, durable).unwrap()
    }
}

/// Lets whoever looks at the clock each second do so.
async fn tick() {
    for _ in 0..2 {
        tokio::time::advance(TICK).await;
        tokio::task::yield_now().await;
    }
}

fn moment(local: &str) -> Timestamp {
    let civil: DateTime = local.parse().unwrap();
    civil.to_zoned(TimeZone::system()).unwrap().timestamp()
}

fn refusal<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

//! A folder with a clock on the wall, and sessions in it.
//!
//! The chapter's tests and its exercises work at one. Invariant: the time is what the test says.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use s01_loop::{Output, Repl, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s13_background::Notices;
use s14_cron::{Cron, Job, TICK};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a clock on the wall.
pub struct Desk {
    _dir: TempDir,
    pub ws: Workspace,
    now: Arc<Mutex<Timestamp>>,
}

/// One run of the program.
pub struct Session {
    pub cron: Cron,
    pub notices: Notices,
}

impl Desk {
    /// It is 27 February 2026, six minutes and 52 seconds past ten.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        Self {
            _dir: dir,
            ws,
            now: Arc::new(Mutex::new(moment("2026-02-27T10:06:52"))),
        }
    }

    pub fn session(&self) -> Session {
        let notices = Notices::default();
        let now = self.now.clone();
        let clock = Arc::new(move || *now.lock().unwrap());
        let repl = Repl::once("test", "");
        let cron = Cron::with_clock(&self.ws, &notices, &repl, clock);
        Session { cron, notices }
    }

    pub fn set(&self, local: &str) {
        *self.now.lock().unwrap() = moment(local);
    }

    pub fn pass(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }

    pub fn path(&self) -> PathBuf {
        self.ws.state("cron.json")
    }

    /// What lies in the file.
    pub fn stored(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path()).unwrap()).unwrap()
    }
}

impl Session {
    pub async fn call(&self, name: &str, input: Value) -> Output {
        let tools = Toolbox::new().with_all(self.cron.tools());
        tools.call(ToolCall::new("toolu_1", name, input)).await
    }

    /// What a call answers that must not fail.
    pub async fn told(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(!output.is_error, "{name} was refused: {}", output.text);
        output.text
    }

    /// What wakes the session, which stays open without input because somebody is at work.
    pub async fn woken(&self) -> Option<String> {
        let _at_work = self.notices.at_work("the test");
        self.notices.next_input(&Repl::once("test", "")).await
    }

    pub fn every(&self, cron: &str, prompt: &str, durable: bool) -> Job {
        self.cron.schedule(cron, prompt, true, durable).unwrap()
    }

    pub fn once(&self, cron: &str, prompt: &str, durable: bool) -> Job {
        self.cron.schedule(cron, prompt, false, durable).unwrap()
    }
}

/// Lets whoever looks at the clock each second do so.
pub async fn tick() {
    for _ in 0..2 {
        tokio::time::advance(TICK).await;
        tokio::task::yield_now().await;
    }
}

pub fn moment(local: &str) -> Timestamp {
    let civil: DateTime = local.parse().unwrap();
    civil.to_zoned(TimeZone::system()).unwrap().timestamp()
}

pub fn refusal<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

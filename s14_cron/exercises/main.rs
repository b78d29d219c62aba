//! The exercises of this chapter; `cargo x check s14` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. Invariant: nothing here waits: the clock is the
//! test's.

mod ex1_the_next_three_times;
mod ex2_so_many_times;
mod ex3_as_edited;

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use s01_loop::{Output, Repl, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s13_background::Notices;
use s14_cron::Cron;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a clock on the wall.
struct Desk {
    _dir: TempDir,
    ws: Workspace,
    now: Arc<Mutex<Timestamp>>,
}

/// One run of the program.
struct Session {
    tools: Toolbox,
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
        let (notices, now) = (Notices::default(), self.now.clone());
        let clock = Arc::new(move || *now.lock().unwrap());
        let cron = Cron::with_clock(&self.ws, &notices, &Repl::once("test", ""), clock);
        let tools = Toolbox::new().with_all(cron.tools());
        Session { tools, notices }
    }

    fn set(&self, local: &str) {
        *self.now.lock().unwrap() = moment(local);
    }

    /// What lies in cron.json.
    fn stored(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.ws.state("cron.json")).unwrap()).unwrap()
    }
}

impl Session {
    async fn call(&self, name: &str, input: Value) -> Output {
        let call = ToolCall::new("toolu_1", name, input);
        self.tools.call(call).await
    }

    /// What a call answers that must not fail.
    async fn told(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(!output.is_error, "{name} was refused: {}", output.text);
        output.text
    }
}

fn moment(local: &str) -> Timestamp {
    let civil: DateTime = local.parse().unwrap();
    civil.to_zoned(TimeZone::system()).unwrap().timestamp()
}

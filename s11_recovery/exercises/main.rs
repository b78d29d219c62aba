//! The exercises of this chapter; `cargo x check s11` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. The clock of these tests writes
//! down each wait and lets it pass at once. Invariant: a test compiles before its exercise is solved, fails then, and
//! passes afterwards.

mod ex1_not_all_at_once;
mod ex2_enough_waiting;
mod ex3_an_empty_reply;

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mock_servers::model::{Fault, MockModel, Options, Request, says};
use s01_loop::{ApiError, Client, Credentials, History, Reply, Settings, Unobserved};
use s11_recovery::{Clock, Recovery};

/// What a request went through.
#[derive(Clone, Default)]
struct Diary {
    /// What its dice show.
    chance: f64,
    waits: Arc<Mutex<Vec<Duration>>>,
    remarks: Arc<Mutex<Vec<String>>>,
}

impl Clock for Diary {
    fn wait(&self, time: Duration) -> kit::BoxFuture<'static, ()> {
        self.waits.lock().unwrap().push(time);
        Box::pin(ready(()))
    }

    fn chance(&self) -> f64 {
        self.chance
    }

    fn remark(&self, text: &str) {
        self.remarks.lock().unwrap().push(text.to_owned());
    }
}

impl Diary {
    /// The waits so far, in seconds.
    fn waits(&self) -> Vec<f64> {
        let waits = self.waits.lock().unwrap();
        waits.iter().map(Duration::as_secs_f64).collect()
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap().clone()
    }
}

/// A recovery around a client of this model, in this clock.
fn recovery(model: &MockModel, clock: &(impl Clock + Clone + 'static)) -> Recovery {
    let settings = Settings {
        credentials: Credentials::api_key("sk-test"),
        base_url: Some(model.url().to_owned()),
        ..Settings::default()
    };
    let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
    Recovery::with_clock(client, clock.clone())
}

/// A model that fails so often in this way, and answers then.
fn failing(fault: Fault, times: usize) -> MockModel {
    let options = Options {
        faults: vec![fault; times],
        ..Options::strict()
    };
    MockModel::start(options, |_: &Request| says("Fine.")).unwrap()
}

/// Sends one request of a conversation.
async fn ask(model: &MockModel, clock: &(impl Clock + Clone + 'static)) -> Result<Reply, ApiError> {
    let recovery = recovery(model, clock);
    recovery.send("", &mut asking("go"), &[]).await
}

fn asking(request: &str) -> History {
    let mut history = History::default();
    history.user(request);
    history
}

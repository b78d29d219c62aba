//! A clock that writes down each wait and lets it pass at once, and requests that it is there for.
//!
//! The chapter's tests and its exercises use it. Invariant: no real time passes.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit::BoxFuture;
use mock_servers::model::{Fault, MockModel, Options, Request, says};
use s01_loop::{ApiError, Client, Credentials, History, Reply, Settings, Unobserved};
use s11_recovery::{Clock, Recovery};

pub const SENTENCE: &str = "A sentence that is long enough to be broken in the middle.";

/// What a request went through.
#[derive(Clone, Default)]
pub struct Diary {
    /// What its dice show.
    pub chance: f64,
    pub entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
pub struct Entries {
    waits: Vec<Duration>,
    remarks: Vec<String>,
    /// Makes a model fail from this remark on.
    fails_at: Option<(&'static str, Arc<MockModel>, Fault, u32)>,
}

impl Clock for Diary {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.entries.lock().unwrap().waits.push(time);
        Box::pin(ready(()))
    }

    fn chance(&self) -> f64 {
        self.chance
    }

    fn remark(&self, text: &str) {
        let mut entries = self.entries.lock().unwrap();
        entries.remarks.push(text.to_owned());
        if let Some((remark, model, fault, times)) = &entries.fails_at
            && text.starts_with(remark)
        {
            model.fault(*fault, *times);
        }
    }
}

impl Diary {
    /// A diary whose model begins to fail with this remark.
    pub fn failing_at(
        remark: &'static str,
        model: &Arc<MockModel>,
        fault: Fault,
        times: u32,
    ) -> Self {
        let diary = Self::default();
        diary.entries.lock().unwrap().fails_at = Some((remark, model.clone(), fault, times));
        diary
    }

    /// The waits so far, in seconds.
    pub fn waits(&self) -> Vec<f64> {
        let entries = self.entries.lock().unwrap();
        entries.waits.iter().map(Duration::as_secs_f64).collect()
    }

    pub fn remarks(&self) -> Vec<String> {
        self.entries.lock().unwrap().remarks.clone()
    }
}

pub fn settings(url: &str) -> Settings {
    Settings {
        credentials: Credentials::ApiKey("sk-test".into()),
        base_url: Some(url.to_owned()),
        ..Settings::default()
    }
}

pub fn client(settings: Settings) -> Client {
    Client::new(settings, Arc::new(Unobserved)).unwrap()
}

/// A recovery around a client of this model, in this clock.
pub fn recovery(model: &MockModel, clock: &Diary) -> Recovery {
    Recovery::with_clock(client(settings(model.url())), clock.clone())
}

/// A model that meets these faults, and answers then.
pub fn failing(faults: impl IntoIterator<Item = Fault>) -> MockModel {
    let options = Options {
        faults: faults.into_iter().collect(),
        ..Options::strict()
    };
    MockModel::start(options, |_: &Request| says(SENTENCE)).unwrap()
}

/// Sends one request of a conversation.
pub async fn ask(model: &MockModel, clock: &Diary) -> Result<Reply, ApiError> {
    recovery(model, clock).send("", &mut asking("go"), &[]).await
}

pub fn asking(request: &str) -> History {
    let mut history = History::default();
    history.user(request);
    history
}

//! The table of recovery, row by row, against a model that fails on request.
//!
//! Real HTTP, but no real time: the clock of these tests writes down each wait and lets it pass at once. Invariant: after
//! every test the history is one that the model, which is strict, takes.

mod beside;
mod compaction;
mod limits;
mod table;

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mock_servers::model::{Fault, MockModel, Options, Reply as Scripted, Request, says};
use s01_loop::{
    ApiError, Client, Credentials, History, Reply, Settings, ToolSpec, Unobserved, bash,
};
use s11_recovery::{Clock, Recovery};

/// What happened to a request, beside its reply.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Entries>>);

/// Makes a model fail from a remark on: a fault in the middle of a story, and how often.
struct FailsAt {
    remark: &'static str,
    model: Arc<MockModel>,
    fault: (Fault, u32),
}

#[derive(Default)]
struct Entries {
    waits: Vec<Duration>,
    remarks: Vec<String>,
    fails_at: Option<FailsAt>,
}

impl Clock for Diary {
    fn wait(&self, time: Duration) -> kit::BoxFuture<'static, ()> {
        self.0.lock().unwrap().waits.push(time);
        Box::pin(ready(()))
    }

    fn chance(&self) -> f64 {
        0.0
    }

    fn remark(&self, text: &str) {
        let mut entries = self.0.lock().unwrap();
        entries.remarks.push(text.to_owned());
        if let Some(at) = entries.fails_at.as_ref()
            && text.starts_with(at.remark)
        {
            at.model.fault(at.fault.0, at.fault.1);
        }
    }
}

impl Diary {
    /// The waits so far, in milliseconds.
    fn waits(&self) -> Vec<u128> {
        let entries = self.0.lock().unwrap();
        entries.waits.iter().map(Duration::as_millis).collect()
    }

    fn remarks(&self) -> Vec<String> {
        self.0.lock().unwrap().remarks.clone()
    }
}

/// A model that answers everything with a sentence, long enough to be broken in the middle.
fn talkative(faults: impl IntoIterator<Item = Fault>) -> MockModel {
    let options = Options {
        faults: faults.into_iter().collect(),
        ..Options::strict()
    };
    MockModel::start(options, |_: &Request| says(SENTENCE)).unwrap()
}

const SENTENCE: &str = "A sentence that is long enough to be broken in the middle.";

fn scripted(replies: impl IntoIterator<Item = Scripted>) -> MockModel {
    MockModel::scripted(replies)
}

fn settings(url: &str) -> Settings {
    Settings {
        credentials: Credentials::api_key("sk-test"),
        base_url: Some(url.to_owned()),
        ..Settings::default()
    }
}

fn client(settings: Settings) -> Client {
    Client::new(settings, Arc::new(Unobserved)).unwrap()
}

fn asking(request: &str) -> History {
    let mut history = History::default();
    history.user(request);
    history
}

fn tools() -> [ToolSpec; 1] {
    [bash::spec()]
}

/// One request through a recovery.
struct Sent {
    result: Result<Reply, ApiError>,
    history: History,
    diary: Diary,
}

/// A request whose faults begin at this remark.
async fn send_failing(
    model: &Arc<MockModel>,
    remark: &'static str,
    fault: Fault,
    times: u32,
) -> Sent {
    let diary = Diary::default();
    diary.0.lock().unwrap().fails_at = Some(FailsAt {
        remark,
        model: Arc::clone(model),
        fault: (fault, times),
    });
    let recovery = Recovery::with_clock(client(settings(model.url())), diary.clone());
    send_through(&recovery, diary).await
}

async fn send_with(client: Client) -> Sent {
    let diary = Diary::default();
    send_through(&Recovery::with_clock(client, diary.clone()), diary).await
}

async fn send_through(recovery: &Recovery, diary: Diary) -> Sent {
    let mut history = asking("go");
    let result = recovery.send("Be brief.", &mut history, &tools()).await;
    Sent {
        result,
        history,
        diary,
    }
}

async fn send(model: &MockModel) -> Sent {
    send_with(client(settings(model.url()))).await
}

impl Sent {
    /// The text of the reply.
    #[track_caller]
    fn text(&self) -> String {
        self.result.as_ref().expect("a reply").message().text()
    }

    /// The sentence that the user reads.
    #[track_caller]
    fn error(&self) -> String {
        self.result.as_ref().expect_err("an error").to_string()
    }

    /// Asserts how many requests it took, the waits between them in milliseconds, and what the user read.
    #[track_caller]
    fn took(&self, model: &MockModel, requests: usize, waits: &[u128], remarks: &[&str]) {
        assert_eq!(self.diary.remarks(), remarks);
        assert_eq!(self.diary.waits(), waits);
        assert_eq!(model.requests().len(), requests);
    }

    /// Asserts that the conversation can go on, with a model that answers.
    async fn goes_on_with(mut self, model: &MockModel) {
        if let Ok(reply) = &self.result {
            self.history.reply(reply);
        }
        assert!(!self.history.has_open_calls());
        self.history.user("and now?");
        let client = client(settings(model.url()));
        let sent = client.send("", &self.history, &tools()).await;
        sent.expect("a history that can be sent");
    }
}

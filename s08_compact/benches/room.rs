//! What a long run costs with a compactor and without: requests, input tokens, the largest request.
//!
//! 200 rounds of large outputs in one turn. With the compactor the window has 20,000 tokens, without it as many as it
//! takes. Invariant: tokens are those that the API counted, summaries included; nothing here asserts.
//!
//! `cargo bench -p s08_compact`

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kit::BoxFuture;
use mock_servers::model::{MockModel, Options};
use s01_loop::{
    ApiError, Client, History, Output, Repl, Reply, Settings, SharedObserver, System, ToolSpec,
    Unobserved,
};
use s02_tools::{Toolbox, Workspace, read_file};
use s06_subagent::Model;
use s08_compact::Compactor;

#[path = "../tests/long_run.rs"]
mod long_run;

use long_run::{FILES, REQUEST, ROUNDS, Reader, content};

const SMALL_WINDOW: u32 = 20_000;
const LARGE_WINDOW: u32 = 20_000_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{ROUNDS} rounds of outputs of 1,000 to 40,000 characters");
    println!(
        "| | window | requests | of them summaries | input tokens | largest request | shrink, µs a round |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    long("with", SMALL_WINDOW, true).await;
    long("without", LARGE_WINDOW, false).await;
}

/// A model that adds up what its replies cost.
#[derive(Clone)]
struct Counting {
    client: Client,
    /// The input tokens of each request.
    spent: Arc<Mutex<Vec<u64>>>,
}

impl Counting {
    fn new(url: &str, window: u32) -> Self {
        let settings = Settings {
            base_url: Some(url.to_owned()),
            context_tokens: Some(window.to_string()),
            ..Settings::default()
        };
        Self {
            client: Client::new(settings, Arc::new(Unobserved)).expect("loopback"),
            spent: Arc::default(),
        }
    }
}

impl Model for Counting {
    fn send<'a>(
        &'a self,
        system: &'a System,
        history: &'a mut History,
        tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            let reply = Model::send(&self.client, system, history, tools).await?;
            self.spent.lock().unwrap().push(reply.usage.total() - reply.usage.output_tokens);
            Ok(reply)
        })
    }

    fn watched_by(&self, _: SharedObserver) -> Arc<dyn Model> {
        Arc::new(self.clone())
    }

    fn with_tries(&self, _: u32) -> Arc<dyn Model> {
        Arc::new(self.clone())
    }

    fn context_tokens(&self) -> u64 {
        self.client.context_tokens()
    }

    fn max_tokens(&self) -> u32 {
        self.client.max_tokens()
    }
}

async fn long(name: &str, window: u32, compacts: bool) {
    let brain = Reader::default();
    let options = Options {
        context_tokens: window,
        keep: 1,
        strict: true,
        ..Options::default()
    };
    let mock = MockModel::start(options, brain.clone()).expect("loopback has a free port");
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, size) in FILES {
        std::fs::write(directory.path().join(name), content(size)).expect("a file in it");
    }
    let ws = Workspace::at(directory.path()).expect("it is there");
    let model = Counting::new(mock.url(), window);
    let compactor = Compactor::new(&model, &ws, &Repl::typed("s08_compact").quiet());
    let tools = Toolbox::new().with(read_file(&ws));
    let mut history = History::default();
    let mut shrinking = Duration::ZERO;
    history.user(REQUEST);
    loop {
        if compacts {
            let started = Instant::now();
            compactor.shrink(&mut history).await;
            shrinking += started.elapsed();
        }
        let system = System::from("You are a coding agent.");
        let reply = Model::send(&model, &system, &mut history, &tools.specs()).await;
        let reply = reply.expect("the request is not refused");
        history.reply(&reply);
        if !reply.wants_tools() {
            break;
        }
        for call in reply.tool_calls() {
            let output: Output = tools.call(call.clone()).await;
            history.answer(&call, output);
        }
    }
    let spent = model.spent.lock().unwrap();
    let (requests, tokens) = (spent.len(), spent.iter().sum::<u64>());
    let largest = spent.iter().max().copied().unwrap_or_default();
    let micros = shrinking.as_micros() / (ROUNDS as u128 + 1);
    println!(
        "| {name} | {window} | {requests} | {} | {tokens} | {largest} | {micros} |",
        brain.summaries()
    );
}

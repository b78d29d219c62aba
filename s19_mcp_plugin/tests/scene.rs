//! What the tests of processes share: a folder, servers played in it by bash, and the search for what they leave behind.
//!
//! A script hears and says one line at a time; our ids are 1 for `initialize`, 2 for the first page of tools, and so on.
//! Invariant: nothing here waits for an event longer than ten seconds.

use std::collections::VecDeque;
use std::future::ready;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use kit::BoxFuture;
use s01_loop::{Answer, ToolCall};
use s02_tools::Workspace;
use s03_permission::Approver;
use s19_mcp_plugin::{Server, StdioServerConfig, Timeouts};
use serde_json::{Map, Value, json};

/// Reads a line and forgets it.
pub const HEAR: &str = "read -r line";

/// Reads until the input ends.
pub const STAY: &str = "cat >/dev/null";

/// For servers that end by themselves.
pub const LONG: Timeouts = Timeouts {
    start: Duration::from_secs(10),
    call: Duration::from_secs(10),
    end: Duration::from_secs(10),
};

/// For servers that do not.
pub const SHORT: Timeouts = Timeouts {
    end: Duration::from_millis(100),
    ..LONG
};

/// A folder with servers in it.
pub struct Scene {
    pub ws: Workspace,
    folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ws = Workspace::at(folder.path()).unwrap();
        Self { ws, folder }
    }

    /// A server that does these steps one after the other.
    pub fn script(&self, steps: &[&str]) -> StdioServerConfig {
        self.program("bash", &["-c", &steps.join("\n")])
    }

    /// The mock docs server, in the form that a chapter's own binary serves it.
    pub fn docs(&self, faults: &[&str]) -> StdioServerConfig {
        let mut args = vec!["mock-mcp", "docs"];
        args.extend(faults.iter().flat_map(|fault| ["--fault", fault]));
        self.program(env!("CARGO_BIN_EXE_s19_mcp_plugin"), &args)
    }

    pub fn program(&self, command: &str, args: &[&str]) -> StdioServerConfig {
        StdioServerConfig {
            name: "docs".to_owned(),
            command: command.into(),
            args: args.iter().copied().map(str::to_owned).collect(),
            env: [("MARK".to_owned(), self.mark())].into(),
            ..StdioServerConfig::default()
        }
    }

    /// Starts a server that is initialized, lists no tools, and then does these steps.
    pub async fn connected(&self, steps: &[&str], timeouts: Timeouts) -> Server {
        let (hello, page) = (hello(), answer(2, json!({ "tools": [] })));
        let steps = [&[HEAR, &hello, HEAR, HEAR, &page], steps].concat();
        let config = self.script(&steps);
        Server::start(&config, &self.ws, timeouts).await.unwrap()
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, content: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What a script has written into a file of this name.
    pub fn written(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Every process that was started here ends now or has ended.
    pub fn nothing_is_left(&self) {
        let limit = Instant::now() + Duration::from_secs(10);
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < limit, "still there: {left:?}");
            thread::yield_now();
        }
    }

    /// The processes that carry this scene's mark, wherever they have gone. A zombie carries none.
    pub fn left(&self) -> Vec<String> {
        let mark = format!("MARK={}", self.mark());
        let processes = fs::read_dir("/proc").into_iter().flatten();
        let ours = |path: &PathBuf| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        };
        let ours = processes.map(|entry| entry.unwrap().path()).filter(ours);
        ours.map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default()).collect()
    }

    fn mark(&self) -> String {
        self.folder.path().display().to_string()
    }
}

/// A step that says this.
fn say(message: Value) -> String {
    let message = message.to_string();
    format!("printf '%s\\n' {}", shell_words::quote(&message))
}

/// A step that answers the request of this id.
pub fn answer(id: u64, result: Value) -> String {
    say(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// A step that answers `initialize`.
pub fn hello() -> String {
    let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } });
    answer(1, result)
}

/// A call of the model.
pub fn tool_call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "toolu_1".into(),
        name: name.into(),
        input,
        extra: Map::new(),
    }
}

/// Waits until this is so, while everything else goes on.
pub async fn until(mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < limit, "it has not come to pass");
        tokio::task::yield_now().await;
    }
}

/// Answers as it was told to, then with yes, and keeps the questions.
#[derive(Clone, Default)]
pub struct User {
    pub questions: Arc<Mutex<Vec<String>>>,
    pub answers: Arc<Mutex<VecDeque<Answer>>>,
}

impl Approver for User {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer> {
        self.questions.lock().unwrap().push(question.to_owned());
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(ready(answer.unwrap_or(Answer::Yes)))
    }

    fn tell(&self, _: &str) {}
}

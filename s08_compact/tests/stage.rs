//! What every test here needs: a mock model, a compactor that asks it, a workspace, and conversations.
//!
//! Invariant: a conversation is judged by the mock model, which refuses what the API would refuse.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use mock_servers::model::{Brain, MockModel, Options, Reply, Request, says};
use s01_loop::{
    Block, Client, History, Message, Output, Repl, Role, Settings, System, ToolCall, Unobserved,
};
use s02_tools::Workspace;
use s08_compact::Compactor;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How the system prompt of the side call begins.
pub const SUMMARIZER: &str = "You summarize a conversation";

/// A window with a limit of 12,000 tokens, half of which is 10,000.
pub const SMALL: u32 = 20_000;

pub struct Stage {
    pub dir: TempDir,
    pub model: MockModel,
    pub client: Client,
    pub compactor: Compactor,
}

impl Stage {
    /// A stage with a window of so many tokens, and a model with these replies.
    pub fn scripted(window: u32, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(window, MockModel::scripted_with(options(window), replies))
    }

    /// A stage whose window is half full with this conversation, and two tokens more.
    pub fn half_full(history: &History) -> Self {
        let window = 2 * history.tokens() - 4;
        let fine = |_: &Request| says("fine");
        Self::thinking(u32::try_from(window).unwrap(), fine)
    }

    /// A stage whose model thinks with this brain.
    pub fn thinking(window: u32, brain: impl Brain + 'static) -> Self {
        let model = MockModel::start(options(window), brain).expect("loopback has a free port");
        Self::with(window, model)
    }

    fn with(window: u32, model: MockModel) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings {
            base_url: Some(model.url().to_owned()),
            context_tokens: Some(window.to_string()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let compactor = Compactor::new(&client, &ws, &Repl::typed("s08_compact").quiet());
        Self {
            dir,
            model,
            client,
            compactor,
        }
    }

    /// Makes room and sends the conversation as it is then.
    pub async fn shrink(&self, history: &mut History) -> s01_loop::Reply {
        self.compactor.shrink(history).await;
        self.send(history).await
    }

    /// The files in a folder of the state, by name.
    pub fn kept(&self, folder: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.dir.path().join(".harness").join(folder)) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    /// The path of a transcript, as the model is told.
    pub fn path(&self, at: usize) -> String {
        let path = &self.kept("transcripts")[at];
        format!(".harness/transcripts/{}", path.file_name().unwrap().display())
    }

    /// The messages of a transcript.
    pub fn transcript(&self, at: usize) -> Vec<Value> {
        let lines = fs::read_to_string(&self.kept("transcripts")[at]).unwrap();
        let lines = lines.lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Sends the conversation as it is; the mock model complains at the end of the test if it may not be sent.
    pub async fn send(&self, history: &History) -> s01_loop::Reply {
        let system = System::from("You are a coding agent.");
        self.client.send(system, history, &[]).await.unwrap()
    }
}

fn options(window: u32) -> Options {
    Options {
        context_tokens: window,
        ..Options::strict()
    }
}

pub fn is_summary_request(request: &Request) -> bool {
    request.system.starts_with(SUMMARIZER)
}

pub fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "read_file", json!({"path": format!("{id}.txt")}))
}

/// A reply that makes these calls.
pub fn asks(ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| Block::ToolUse(call(id)));
    Message::new(Role::Assistant, calls.collect())
}

/// One round: these calls, each with its output.
pub fn round(history: &mut History, outputs: &[(&str, &str)]) {
    let ids: Vec<&str> = outputs.iter().map(|(id, _)| *id).collect();
    history.push(asks(&ids));
    for (id, output) in outputs {
        history.answer(&call(id), Output::ok(*output));
    }
}

/// Rounds of one short result each.
pub fn short_rounds(history: &mut History, ids: &[&str]) {
    for id in ids {
        round(history, &[(id, "short")]);
    }
}

/// A conversation whose first request is followed by so many rounds of outputs of so many characters.
pub fn rounds(request: &str, count: usize, chars: usize) -> History {
    let mut history = asking(request);
    for number in 0..count {
        let output = format!("{number}:{}", "x".repeat(chars));
        round(&mut history, &[(&format!("c{number}"), &output)]);
    }
    history
}

/// So many questions, each with its answer.
pub fn chat(count: usize) -> History {
    let mut history = History::default();
    for number in 0..count {
        history.user(format!("question {number}"));
        history.push(Message::assistant(format!("answer {number}")));
    }
    history
}

/// Each block in a few words: texts whole, calls by id, results by their beginning.
pub fn shape(history: &[Message]) -> Vec<String> {
    let block = |block: &Block| match block {
        Block::Text { text, .. } => text.clone(),
        Block::ToolUse(call) => format!("call {}", call.id),
        Block::ToolResult { content, .. } => {
            format!("result {}", content.chars().take(90).collect::<String>())
        }
        Block::Other(value) => value.to_string(),
    };
    let message = |message: &Message| {
        let blocks: Vec<String> = message.blocks().iter().map(block).collect();
        blocks.join(" | ")
    };
    history.iter().map(message).collect()
}

/// The texts of all results, in order.
pub fn results(history: &[Message]) -> Vec<String> {
    let blocks = history.iter().flat_map(Message::blocks);
    let text = |block: &Block| match block {
        Block::ToolResult { content, .. } => Some(content.clone()),
        Block::Text { .. } | Block::ToolUse(_) | Block::Other(_) => None,
    };
    blocks.filter_map(text).collect()
}

/// A conversation of one request.
pub fn asking(request: &str) -> History {
    let mut history = History::default();
    history.user(request);
    history
}

pub fn wire(history: &[Message]) -> Vec<Value> {
    let messages = history.iter();
    messages.map(|message| serde_json::from_str(message.wire()).unwrap()).collect()
}

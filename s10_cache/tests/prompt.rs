//! The assembled prompt against the API's rules of caching, through the public handle and a client.

use std::sync::Arc;

use mock_servers::model::{MockModel, says};
use s01_loop::{Block, Client, History, Message, Output, Repl, Role, Settings};
use s01_loop::{ToolCall, Unobserved, Usage};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use s08_compact::Compactor;
use s10_cache::{Context, PromptCache};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A directory, its tools, and a model that only counts.
struct Place {
    _root: TempDir,
    ws: Workspace,
    tools: Toolbox,
    model: MockModel,
    client: Client,
    cache: PromptCache,
}

impl Place {
    /// A place whose model is asked this often.
    fn new(requests: usize) -> Self {
        let root = tempfile::tempdir().unwrap();
        let ws = Workspace::at(root.path()).unwrap();
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        let model = MockModel::scripted((0..requests).map(|_| says("Fine.")));
        let settings = Settings {
            base_url: Some(model.url().to_owned()),
            ..Settings::default()
        };
        Self {
            client: Client::new(settings, Arc::new(Unobserved))
                .unwrap()
                .with_breakpoint_on_last_message(),
            cache: PromptCache::new(&Repl::typed("s10_cache").quiet()),
            _root: root,
            ws,
            tools,
            model,
        }
    }

    fn context(&self) -> Context {
        Context::read(&self.ws, &self.tools)
    }

    /// Sends what the cache makes of a context.
    async fn send(&mut self, context: Context, history: &History) -> Usage {
        let (system, tools) = self.cache.assemble(context);
        self.client.send(system, history, &tools).await.unwrap().usage
    }
}

fn asked(text: &str) -> History {
    let mut history = History::default();
    history.user(text);
    history
}

/// A section of about this many tokens.
fn long(tokens: usize) -> String {
    "word ".repeat(tokens * 4 / 5)
}

/// The breakpoints of a request: `tool 5`, `system 2`, `message 1`.
fn breakpoints(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, list) in [("tool", &body["tools"]), ("system", &body["system"])] {
        let blocks = list.as_array().unwrap().iter().enumerate();
        let marked = blocks.filter(|(_, block)| block.get("cache_control").is_some());
        found.extend(marked.map(|(index, _)| format!("{name} {}", index + 1)));
    }
    for (index, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        if message.to_string().contains("cache_control") {
            found.push(format!("message {}", index + 1));
        }
    }
    found
}

#[tokio::test]
async fn there_are_four_breakpoints_and_each_has_its_place() {
    let mut place = Place::new(3);
    let history = asked("Hello");
    place.send(place.context(), &history).await;
    let first = place.model.last_request().json();
    // Identity, tools, workspace | date.
    assert_eq!(breakpoints(&first), ["tool 5", "system 3", "system 4", "message 1"]);
    let full = place.context().servers("docs").skills("pdf").memory("tabs");
    place.send(full, &history).await;
    // Identity, tools, workspace, servers, skills | memory, date.
    assert_eq!(
        breakpoints(&place.model.last_request().json()),
        ["tool 5", "system 5", "system 7", "message 1"]
    );
    let without_tools = Context::read(&place.ws, &Toolbox::new());
    place.send(without_tools, &history).await;
    let body = place.model.last_request().json();
    assert_eq!(body.get("tools"), None);
    assert!(!body["system"].to_string().contains("# Tools"));
}

#[tokio::test]
async fn a_changed_memory_leaves_the_stable_sections_in_the_cache() {
    let mut place = Place::new(3);
    let history = asked("Hello");
    let context = place.context().skills(long(2_000));
    let first = place.send(context.clone().memory(long(100)), &history).await;
    assert_eq!(first.cache_read_input_tokens, 0);
    let second = place.send(context.clone().memory(long(120)), &history).await;
    let stable = first.cache_creation_input_tokens - 100;
    assert!(second.cache_read_input_tokens > 2_000, "{second:?}");
    assert!(second.cache_read_input_tokens <= stable, "{second:?}");
    let third = place.send(context.memory(long(120)), &history).await;
    assert_eq!(third.cache_creation_input_tokens, 0, "{third:?}");
    assert_eq!(third.input_tokens, 0, "{third:?}");
}

/// A reply with ten calls and their results are more blocks than a breakpoint looks back.
#[tokio::test]
async fn many_calls_in_one_reply_cost_the_messages_and_not_the_prompt() {
    let mut place = Place::new(2);
    let context = place.context().skills(long(2_000));
    let mut history = asked(&long(500));
    let first = place.send(context.clone(), &history).await;
    let call = |index: usize| {
        let id = format!("toolu_{index}");
        ToolCall::new(id, "glob", json!({"pattern": "*"}))
    };
    let calls = (0..10).map(|index| Block::ToolUse(call(index)));
    history.push(Message::new(Role::Assistant, calls.collect()));
    for index in 0..10 {
        history.answer(&call(index), Output::ok("(nothing)"));
    }
    let second = place.send(context, &history).await;
    let missed = first.cache_creation_input_tokens - second.cache_read_input_tokens;
    assert!((500..600).contains(&missed), "{first:?} {second:?}");
}

/// What is read from the cache in each of twelve rounds, in each of which the model reads a file of 500 tokens. Room is
/// made in a window of so many tokens.
async fn read_in_each_round(window: u64) -> Vec<u64> {
    let mut place = Place::new(12);
    let settings = Settings {
        base_url: Some(place.model.url().to_owned()),
        context_tokens: Some(window.to_string()),
        ..Settings::default()
    };
    let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
    let compactor = Compactor::new(&client, &place.ws, &Repl::typed("s10_cache").quiet());
    let mut history = asked("read all files");
    let mut read = Vec::new();
    for index in 0..12 {
        compactor.shrink(&mut history).await;
        let context = place.context().skills(long(1_000));
        let usage = place.send(context, &history).await;
        read.push(usage.cache_read_input_tokens);
        let id = format!("toolu_{index}");
        let call = ToolCall::new(id, "read_file", json!({"path": "a.txt"}));
        history.push(Message::new(Role::Assistant, vec![Block::ToolUse(call.clone())]));
        history.answer(&call, Output::ok(long(500)));
    }
    read
}

/// In a large window nothing is taken away. In a small one old results go, once in twelve rounds.
#[tokio::test]
async fn room_is_made_late_and_seldom_because_the_common_prefix_ends_there() {
    let misses = |read: &[u64]| read.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let (large, small) = (read_in_each_round(200_000).await, read_in_each_round(8_000).await);
    assert_eq!((misses(&large), misses(&small)), (0, 1), "{large:?} {small:?}");
    // The prompt and ten results.
    assert!(large[11] > 10 * 500, "{large:?}");
}

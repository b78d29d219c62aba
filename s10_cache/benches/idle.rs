//! What each mechanism costs a round in which it has nothing to do.
//!
//! An agent carries a dozen mechanisms, and in most rounds most of them find nothing. What that costs must stay far below
//! what a request costs. Invariant: nothing here asserts; figures are for a reader.
//!
//! `cargo bench -p s10_cache`, and `cargo bench -p s10_cache --profile dev` for what a class runs.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use s01_loop::{Client, History, Message, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{HookOutput, Hooks};
use s05_todo::Todo;
use s06_subagent::Subagents;
use s07_skills::Skills;
use s08_compact::Compactor;
use s09_memory::Memory;
use s10_cache::{Context, PromptCache};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const ROUNDS: usize = 2_000;
const MESSAGES: usize = 50;

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    // In its context, so that the mock model finds it.
    let _inside = runtime.enter();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let agent = Agent::at(&Workspace::at(directory.path()).expect("a workspace"));
    println!("| nothing to do, {ROUNDS} times | µs, median | µs, 95th of 100 |");
    println!("|---|--:|--:|");
    mechanisms(&runtime, &agent);
    prompts(&agent);
}

/// What is asked before and after every request.
fn mechanisms(runtime: &Runtime, agent: &Agent) {
    let mut history = conversation();
    let one_each = Hooks::new()
        .on_prompt(async |_| HookOutput::Go)
        .on_pre_tool(async |_| HookOutput::Go)
        .on_post_tool(async |_| HookOutput::Go)
        .on_stop(async |_| HookOutput::Go);
    for (name, hooks) in
        [("hooks, nobody attached", Hooks::new()), ("hooks, one on each event", one_each)]
    {
        row(name, || runtime.block_on(one_turn(&hooks, &agent.tools, &history)));
    }
    row("todo.nag", || agent.todo.nag());
    row(&format!("compactor.shrink, {MESSAGES} messages"), || {
        runtime.block_on(agent.compactor.shrink(&mut history));
    });
    row("skills.catalogue, none on disk", || agent.skills.catalogue());
    let many = twenty_skills(&agent.repl);
    row("skills.catalogue, 20 on disk", || many.1.catalogue());
    row("memory.index", || agent.memory.index());
    row("memory.recall, nothing known", || runtime.block_on(agent.memory.recall(&history)));
}

/// The system prompt and the tools, written and kept.
fn prompts(agent: &Agent) {
    row("Context::read", || Context::read(&agent.ws, &agent.tools));
    let context = agent.context();
    let mut fresh: Vec<PromptCache> = (0..=ROUNDS).map(|_| PromptCache::new(&agent.repl)).collect();
    row("prompt, assembled the first time", || {
        let mut prompt = fresh.pop().expect("one a round");
        let assembled = prompt.assemble(context.clone());
        (prompt, assembled)
    });
    let mut prompt = PromptCache::new(&agent.repl);
    row("prompt, cached", || prompt.assemble(context.clone()));
    let mut odd = false;
    row("prompt, one section changed", || {
        odd = !odd;
        prompt.assemble(context.clone().memory(if odd { "odd" } else { "even" }))
    });
}

/// The mechanisms of this chapter's agent.
struct Agent {
    repl: Repl,
    ws: Workspace,
    tools: Toolbox,
    todo: Todo,
    skills: Skills,
    compactor: Compactor,
    memory: Memory,
}

impl Agent {
    fn at(ws: &Workspace) -> Self {
        let repl = Repl::typed("s10_cache").quiet();
        let client =
            Client::new(Settings::default(), Arc::new(Unobserved)).expect("the mock model");
        let compactor = Compactor::new(&client, ws, &repl);
        let memory = Memory::open(ws, &client, &repl);
        let policy = Policy::open(ws, repl.clone());
        let todo = Todo::new(&repl);
        let skills = Skills::with_home(ws, None, &repl);
        let tools = Toolbox::new()
            .with(bash(ws))
            .with(read_file(ws))
            .with(write_file(ws))
            .with(edit_file(ws))
            .with(glob(ws));
        let subagents = Subagents::new(&client, &tools, &Hooks::new(), &policy, &repl);
        let tools = tools
            .with(todo.tool())
            .with(subagents.tool())
            .with(skills.tool())
            .with(compactor.tool());
        Self {
            repl,
            ws: ws.clone(),
            tools,
            todo,
            skills,
            compactor,
            memory,
        }
    }

    fn context(&self) -> Context {
        Context::read(&self.ws, &self.tools)
            .skills(self.skills.catalogue())
            .memory(self.memory.index())
    }
}

/// Skills of a project, and the directory that holds them.
fn twenty_skills(repl: &Repl) -> (TempDir, Skills) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for index in 0..20 {
        let folder = directory.path().join(format!("skills/skill-{index}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = format!("---\nname: skill-{index}\ndescription: One of twenty.\n---\nBody.\n");
        std::fs::write(folder.join("SKILL.md"), text).expect("a skill");
    }
    let ws = Workspace::at(directory.path()).expect("a workspace");
    let skills = Skills::with_home(&ws, None, repl);
    (directory, skills)
}

/// A conversation of short messages: nothing in it is worth a layer.
fn conversation() -> History {
    let mut history = History::default();
    for index in 0..MESSAGES / 2 {
        history.user(format!("request {index}"));
        history.push(Message::assistant(format!("answer {index}")));
    }
    history
}

/// Everything that hooks see of a turn with one call.
async fn one_turn(hooks: &Hooks, tools: &Toolbox, history: &History) {
    let call = ToolCall::new("toolu_1", "glob", json!({"pattern": "*"}));
    black_box(hooks.prompt("go".to_owned()).await);
    black_box(hooks.pre_tool(tools, call.clone()).await);
    black_box(hooks.post_tool(&call, Output::ok("a.txt")).await);
    black_box(hooks.stop(history).await);
}

fn row<T>(name: &str, mut work: impl FnMut() -> T) {
    black_box(work());
    let once = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(once).collect();
    times.sort();
    let micros = |at: usize| times[at].as_secs_f64() * 1e6;
    println!("| {name} | {:.2} | {:.2} |", micros(ROUNDS / 2), micros(ROUNDS * 95 / 100));
}

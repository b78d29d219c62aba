//! What each mechanism costs a round in which it has nothing to do, and what making room costs the prompt cache.
//!
//! An agent carries a dozen mechanisms, and in most rounds most of them find nothing. What that costs must stay far below
//! what a request costs. Old results that are taken away save tokens and spoil a prefix; the second table says how much of
//! each, in every round and as seldom as s08 does it. Invariant: nothing here asserts; figures are for a reader.
//!
//! `cargo bench -p s10_cache`, and `cargo bench -p s10_cache --profile dev` for what a class runs.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use s01_loop::{
    Block, Client, History, Message, Output, Repl, Role, Settings, System, ToolCall, Unobserved,
    Usage,
};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{HookOutput, Hooks};
use s05_todo::Todo;
use s06_subagent::Subagents;
use s07_skills::Skills;
use s08_compact::Compactor;
use s09_memory::Memory;
use s10_cache::{Context, PromptCache};
use serde_json::{Map, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const ROUNDS: usize = 2_000;
const MESSAGES: usize = 50;
const READS: usize = 20;
const READ: usize = 8_000;
/// A window that is half full after about eight files.
const SMALL_WINDOW: u32 = 40_000;

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
    println!();
    println!(
        "| {READS} files read one by one, {READ} characters each | read | wrote | fresh | price |"
    );
    println!("|---|--:|--:|--:|--:|");
    prefixes(&runtime, &agent);
}

/// What is asked before and after every request.
fn mechanisms(runtime: &Runtime, agent: &Agent) {
    let mut history = conversation();
    let one_each = Hooks::new()
        .on_prompt(async |_| HookOutput::Go)
        .on_pre_tool(async |_| HookOutput::Go)
        .on_post_tool(async |_| HookOutput::Go)
        .on_stop(async |_| HookOutput::Go);
    for (name, hooks) in [
        ("hooks, nobody attached", Hooks::new()),
        ("hooks, one on each event", one_each),
    ] {
        row(name, || {
            runtime.block_on(one_turn(&hooks, &agent.tools, &history))
        });
    }
    row("todo.nag", || agent.todo.nag());
    row(&format!("compactor.shrink, {MESSAGES} messages"), || {
        runtime.block_on(agent.compactor.shrink(&mut history));
    });
    row("skills.catalogue, none on disk", || {
        agent.skills.catalogue()
    });
    let many = twenty_skills(&agent.repl);
    row("skills.catalogue, 20 on disk", || many.1.catalogue());
    row("memory.index", || agent.memory.index());
    row("memory.recall, nothing known", || {
        runtime.block_on(agent.memory.recall(&history))
    });
}

/// The system prompt and the tools, written and kept.
fn prompts(agent: &Agent) {
    row("Context::read", || Context::read(&agent.ws, &agent.tools));
    let context = agent.context();
    let mut fresh: Vec<PromptCache> = (0..=ROUNDS)
        .map(|_| PromptCache::new(&agent.repl))
        .collect();
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

/// When old results are taken away.
#[derive(Clone, Copy)]
enum OldResults {
    Stay,
    GoInEachRound,
    GoAtHalf,
}

/// What a long turn costs, with and without breakpoints, and however room is made.
fn prefixes(runtime: &Runtime, agent: &Agent) {
    for (name, has_breakpoints, old) in [
        ("no breakpoints", false, OldResults::Stay),
        (
            "no breakpoints, old results go in each round",
            false,
            OldResults::GoInEachRound,
        ),
        ("breakpoints", true, OldResults::Stay),
        (
            "breakpoints, old results go in each round",
            true,
            OldResults::GoInEachRound,
        ),
        (
            "breakpoints, old results go when half of a window of 40,000 is full",
            true,
            OldResults::GoAtHalf,
        ),
    ] {
        let spent = runtime.block_on(reading(agent, has_breakpoints, old));
        let (read, wrote, fresh) = (
            spent.cache_read_input_tokens,
            spent.cache_creation_input_tokens,
            spent.input_tokens,
        );
        // A tenth for what is read, a quarter more for what is written.
        let price = read as f64 * 0.1 + wrote as f64 * 1.25 + fresh as f64;
        println!("| {name} | {read} | {wrote} | {fresh} | {price:.0} |");
    }
}

/// One turn that reads a file a round. A mock model of its own counts.
async fn reading(agent: &Agent, has_breakpoints: bool, old: OldResults) -> Usage {
    let settings = Settings {
        context_tokens: Some(SMALL_WINDOW.to_string()),
        ..Settings::default()
    };
    let client = Client::new(settings, Arc::new(Unobserved)).expect("the mock model");
    let compactor = Compactor::new(&client, &agent.ws, &agent.repl);
    let client = if has_breakpoints {
        client.with_breakpoint_on_last_message()
    } else {
        client
    };
    let context = agent.context();
    let (system, tools) = if has_breakpoints {
        PromptCache::new(&agent.repl).assemble(context)
    } else {
        (
            System::from("You are a coding agent.").and(agent.skills.catalogue()),
            agent.tools.specs(),
        )
    };
    let mut history = History::default();
    history.user("read all files");
    let mut spent = Usage::default();
    for index in 0..READS {
        match old {
            OldResults::Stay => {}
            OldResults::GoInEachRound => take_old_results(&mut history),
            OldResults::GoAtHalf => compactor.shrink(&mut history).await,
        }
        let reply = client.send(system.clone(), &history, &tools).await;
        spent += &reply.expect("a reply").usage;
        let call = read_call(index);
        history.push(Message::new(
            Role::Assistant,
            vec![Block::ToolUse(call.clone())],
        ));
        history.answer(&call, Output::ok(format!("{index} ").repeat(READ / 3)));
    }
    spent
}

fn read_call(index: usize) -> ToolCall {
    ToolCall {
        id: format!("toolu_{index}"),
        name: "read_file".to_owned(),
        input: json!({"path": format!("file_{index}.txt")}),
        extra: Map::new(),
    }
}

/// What s08 would do if it did not wait: a line in place of each result but the three newest.
fn take_old_results(history: &mut History) {
    let mut messages = history.to_vec();
    let newest = messages.len().saturating_sub(6);
    for (index, at) in (2..newest).step_by(2).enumerate() {
        let line =
            "[old result of read_file removed: 8,000 characters; call it again if you need it]";
        let result = read_call(index).answer(Output::ok(line));
        messages[at] = Message::new(Role::User, vec![result]);
    }
    history.replace(messages);
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
    let call = ToolCall {
        id: "toolu_1".to_owned(),
        name: "glob".to_owned(),
        input: json!({"pattern": "*"}),
        extra: Map::new(),
    };
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
    println!(
        "| {name} | {:.2} | {:.2} |",
        micros(ROUNDS / 2),
        micros(ROUNDS * 95 / 100)
    );
}

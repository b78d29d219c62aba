//! The lesson as a class sees it: everything that was taught, on one loop.

use std::fs;
use std::sync::Arc;

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Key, Ran, assert_pool};

const PLAN: &str = "Create a todo list for inspecting this repo, then list Python files";
const DOCS: &str = "Connect to the docs MCP server and search for agent loop";
const TEAM: &str = "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";
const REMINDER: &str = "remind me of the meeting in 3 minutes.";
const BACKGROUND: &str = "Run cargo build in the background and continue reading README.md";

const BACKGROUND_TOOLS: &[&str] = &["bash", "read_file"];

/// A repository in which everybody may build.
fn class() -> Class {
    let settings = json!({"permissions": {"allow": ["bash(cargo build:*)"]}}).to_string();
    Class::new(env!("CARGO_BIN_EXE_s20_full"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("tools/count.py", "print(1)\n")
        .file(".harness/settings.json", settings)
        .git()
}

/// A model that plays all agents as `agent` says; nothing is remembered.
fn model(agent: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> MockModel {
    let brain = move |request: &Request| {
        if request.system.starts_with("You extract memories") {
            return says("[]");
        }
        agent(request)
    };
    MockModel::start(Options::strict(), brain).expect("loopback has a free port")
}

/// A prompt and the model a newcomer meets.
fn rehearses(prompt: &str) -> (Class, MockModel, Ran) {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(&[prompt]);
    ran.succeeds();
    (class, model, ran)
}

fn is_mate(request: &Request) -> bool {
    request.system.contains("You are a teammate named '")
}

fn is_subagent(request: &Request) -> bool {
    request.system.starts_with("You are a subagent")
}

/// The requests of the lead, without side calls.
fn leads(model: &MockModel) -> Vec<Arc<Request>> {
    let mut requests = model.requests();
    requests.retain(|request| request.tool_names().contains(&"connect_mcp".to_owned()));
    requests
}

/// The names of all tools that the lead has called.
fn called(model: &MockModel) -> Vec<String> {
    let last = leads(model).pop().expect("the lead asks");
    last.calls().concat()
}

/// The tasks on the board.
fn board(class: &Class) -> Vec<Value> {
    let files = fs::read_dir(class.dir().join(".harness/tasks")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let tasks = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    tasks
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

#[test]
fn a_team_works_off_a_board_and_its_lead_reports() {
    let (class, _, ran) = rehearses(
        "Create three tasks, the second blocked by the first, spawn alice and bob to do them, and give me a report at the end.",
    );
    let tasks = board(&class);
    let is_done = |task: &Value| task["status"] == "completed";
    assert!(tasks.len() == 3 && tasks.iter().all(is_done), "{tasks:?}");
    ran.shows("blockedBy=[\"write notes/tools.md\"]")
        .shows("All is done:");
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s20_full"));
}

/// Prompts in other words, too: what is shown, and which tools are called in this order.
#[test]
fn the_rehearsal_does_what_it_is_asked_for_in_other_words_as_well() {
    for (shown, tools, prompts) in [
        (
            ["[ ] ", "count.py"],
            &["todo_write", "glob"][..],
            [
                PLAN,
                "Write a todo list for reviewing this project, then find all Python files.",
                "Plan how to inspect the repository and then list the *.py files",
                "Make a todo list for looking through this repo. After that, list the Python files.",
            ],
        ),
        (
            ["Connected to 'docs'. ", "Discovered: "],
            &["connect_mcp", "mcp__docs__search"],
            [
                DOCS,
                "Use the docs MCP server to look up the agent loop.",
                "Connect to the docs server, then search it for permission rules",
                "connect docs and search for \"prompt cache\"",
            ],
        ),
        (
            ["scheduled cron_", ", once, "],
            &["schedule_cron"],
            [
                REMINDER,
                "Remind me in 10 minutes to call Ada.",
                "in five minutes remind me of the tea",
                "Set a reminder in 20 minutes for the stand-up",
            ],
        ),
        (
            ["run_in_background=true", "A small project."],
            BACKGROUND_TOOLS,
            [
                BACKGROUND,
                "Start cargo build in the background and read README.md meanwhile.",
                "While `cargo build` runs in the background, read README.md",
                "Run `cargo build` in the background, then read the file README.md",
            ],
        ),
    ] {
        for prompt in prompts {
            let (_, model, ran) = rehearses(prompt);
            for part in shown {
                ran.shows(part);
            }
            let mut called = called(&model);
            called.retain(|name| tools.contains(&name.as_str()));
            assert_eq!(called, tools, "{}", ran.transcript());
            let last = leads(&model).pop().unwrap();
            let texts = last.user_texts().join("\n");
            let ended = texts.contains("<task_notification");
            assert_eq!(ended, tools == BACKGROUND_TOOLS, "{}", ran.transcript());
        }
    }
}

#[test]
fn two_agents_in_two_worktrees_send_their_plans_first() {
    for prompt in [
        TEAM,
        "Create two tasks, create worktrees for them and spawn alice and bob. Have both submit a plan before they claim a task.",
        "Create 2 tasks. Create a worktree for each. Spawn alice and bob. Ask each to submit a plan before claiming a task.",
        "Add two tasks, create a worktree for each of them, spawn alice and bob and have them submit plans first.",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        // Nothing is approved before the user says so.
        let ran = class.types(&[prompt, "Approve their plans."]);
        ran.succeeds();
        let tasks = board(&class);
        assert_eq!(tasks.len(), 2, "{}", ran.transcript());
        for task in &tasks {
            let worktree = task["worktree"].as_str().expect("it is bound");
            assert!(
                class
                    .dir()
                    .join(".harness/worktrees")
                    .join(worktree)
                    .exists()
            );
        }
        let is_done = |task: &Value| task["status"] == "completed";
        assert!(tasks.iter().any(is_done), "{tasks:?}\n{}", ran.transcript());
        let called = called(&model);
        for tool in ["create_worktree", "request_plan", "review_plan"] {
            let is_it = |of: &&String| *of == tool;
            assert_eq!(
                called.iter().filter(is_it).count().min(2),
                2,
                "{}",
                ran.transcript()
            );
        }
        let mates = model.requests();
        for request in mates.iter().filter(|request| is_mate(request)) {
            let calls = request.calls().concat();
            let first = |name: &str| calls.iter().position(|of| of == name);
            // A claim before the approval is refused by the gate, so a task that is done was planned.
            let is_planned = first("complete_task")
                .is_none_or(|done| first("submit_plan").is_some_and(|plan| plan < done));
            assert!(is_planned, "{calls:?}\n{}", ran.transcript());
        }
    }
}

#[test]
fn the_tool_pool() {
    let model = model(|request: &Request| match request.calls().len() {
        _ if is_mate(request) || is_subagent(request) => says("Done."),
        0 => calls("task", json!({"description": "look around"})),
        1 => calls(
            "spawn_teammate",
            json!({"name": "alice", "role": "developer", "prompt": "Wait."}),
        ),
        2 => calls("connect_mcp", json!({"name": "docs"})),
        _ => says("Done."),
    });
    class().model(&model).types(&["go"]).succeeds();
    let requests = model.requests();
    let of =
        |is_it: fn(&Request) -> bool| requests.iter().find(|one| is_it(one)).unwrap().tool_names();
    let leads = leads(&model);
    let built_in = leads[0].tool_names();
    let pools = [
        ("lead", built_in.clone()),
        ("teammate", of(is_mate)),
        ("subagent", of(is_subagent)),
    ];
    assert_pool(env!("CARGO_MANIFEST_DIR"), pools);
    let connected = leads.last().unwrap().tool_names();
    let (first, servers) = connected.split_at(built_in.len());
    assert_eq!(first, built_in, "the built-ins stay in front");
    assert_eq!(servers, ["mcp__docs__search", "mcp__docs__get_version"]);
}

/// What the API read from its cache in the request that follows connect_mcp: everything up to the last built-in.
#[test]
fn a_connected_server_costs_no_built_in_its_place_in_the_cache() {
    let model = model(|request: &Request| match request.calls().len() {
        0 => calls("connect_mcp", json!({"name": "docs"})),
        _ => says("Connected."),
    });
    let class = class().model(&model);
    let ran = class.runs(&["-p", "--output-format", "json", "connect"], "");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let read = answer["usage"]["cache_read_input_tokens"].as_u64().unwrap();
    // The first request can read nothing, and side calls are too short for the cache.
    assert_eq!(leads(&model).len(), 2);
    assert!(read >= 1_024, "read {read} tokens\n{}", ran.transcript());
    let bodies = leads(&model);
    let built_ins = |request: &Request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let (built_ins, _) = body
            .split_once(r#""name":"write_file""#)
            .expect("the last one");
        built_ins.to_owned()
    };
    assert_eq!(built_ins(&bodies[0]), built_ins(&bodies[1]));
    let marked = r#"{"cache_control":{"type":"ephemeral"},"description":"#;
    assert_eq!(built_ins(&bodies[1]).matches(marked).count(), 1);
}

#[test]
fn help_is_named_at_the_start_tab_completes_a_command_and_quit_leaves() {
    let model = model(|_: &Request| says("A request."));
    let mut terminal = class().model(&model).terminal(100, 40);
    let prompt = "s20 >>";
    terminal
        .wait_for("[/help lists the commands]")
        .wait_for(prompt);
    terminal.type_text("/c").press(Key::Tab);
    // Three commands with nothing more in common: they are shown, and the line stays.
    terminal.wait_for("/cost  /compact  /clear");
    terminal.wait_until("the line", |screen| {
        screen.trim_end().ends_with("s20 >> /c")
    });
    terminal.type_text("os").press(Key::Tab).press(Key::Enter);
    terminal.wait_for("this session   fresh 0").wait_for(prompt);
    terminal.type_text("what is /he").press(Key::Tab);
    terminal.type_line("lp?").wait_for("A request.");
    let texts = model.requests()[0].user_texts();
    assert_eq!(texts, ["what is /help?"], "Tab is no part of a request");
    assert_eq!(terminal.type_line("/quit").wait_exit(), 0);
}

#[test]
fn what_help_shows_can_be_typed_as_it_stands_in_an_empty_directory() {
    let help = class().asks("help");
    let requests: Vec<&str> = help
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("- "))
        .collect();
    assert_eq!(requests.len(), 8, "{}", help.transcript());
    for request in requests {
        class()
            .asks(request)
            .succeeds()
            .never_shows("✗")
            .never_shows("I could not")
            .never_shows("I am only");
    }
}

//! The lesson as a class sees it, and what a chapter's tests cannot know: pairs of mechanisms that meet, the command line,
//! slash commands, sessions.
//!
//! Invariants: after whatever happened, the session goes on and its next request is one that the API takes; nothing waits
//! for a clock, commands that hang wait at a named pipe.

mod agents;
mod asked_once;
mod channels;
mod commands;
mod context;
mod interrupts;
mod kills;
mod secrets;
mod servers;
mod session;
mod sessions;
mod stream;

use std::fs;
use std::sync::Arc;

use mock_servers::model::{Block, MockModel, Options, Reply, Request, Role, calls, says};
use serde_json::{Value, json};
use testkit::team::teammate;
use testkit::{Class, Ran, Terminal, assert_pool};

const PLAN: &str = "Create a todo list for inspecting this repo, then list Python files";
const DOCS: &str = "Connect to the docs MCP server and search for agent loop";
const TEAM: &str = "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";
const REMINDER: &str = "remind me of the meeting in 3 minutes.";
const BACKGROUND: &str = "Run cargo build in the background and continue reading README.md";

const BACKGROUND_TOOLS: &[&str] = &["bash", "read_file"];

const PROMPT: &str = "s20 >>";
const QUESTION: &str = "[y]es / [a]lways / [N]o:";
/// A command that says so at the gate and then stays until somebody kills it.
const HANGS: &str = "exec 3> gate; sleep 1000";

/// A repository in which these calls need no permission.
fn class(allowed: &[&str]) -> Class {
    let settings = json!({"permissions": {"allow": allowed}}).to_string();
    Class::new(env!("CARGO_BIN_EXE_s20_full"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("tools/count.py", "print(1)\n")
        .file(".harness/settings.json", settings)
        .git()
}

/// A model that plays all agents as `plays` says; nothing is remembered.
fn model(plays: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> MockModel {
    model_with(Options::strict(), plays)
}

fn model_with(
    options: Options,
    plays: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> MockModel {
    let brain = move |request: &Request| {
        if !is_side_call(request) {
            return plays(request);
        }
        let is_summary = request.system.starts_with("You summarize");
        says(if is_summary { "They talked." } else { "[]" })
    };
    MockModel::start(options, brain).expect("loopback has a free port")
}

fn is_side_call(request: &Request) -> bool {
    let begins = ["You choose", "You extract", "You summarize"];
    begins.iter().any(|begin| request.system.starts_with(begin))
}

/// Repeats what the user said last.
fn echo(request: &Request) -> Reply {
    let texts = request.user_texts();
    says(format!("You said: {}", texts.last().map_or("", String::as_str)))
}

/// A model that does, and a workspace beside it.
fn echoing() -> (MockModel, Class) {
    let model = model(echo);
    let class = class(&[]).model(&model);
    (model, class)
}

/// The requests of the lead, without side calls.
fn of_the_lead(model: &MockModel) -> Vec<Arc<Request>> {
    let mut requests = model.requests();
    requests.retain(|request| {
        !is_side_call(request) && !is_subagent(request) && teammate(request).is_none()
    });
    requests
}

/// What the user has said in the last request of the lead, with what came beside it.
fn last_texts(model: &MockModel) -> Vec<String> {
    of_the_lead(model).last().expect("a request").user_texts()
}

/// The session at its first prompt.
fn session(class: &Class) -> Terminal {
    let mut terminal = class.terminal(110, 50);
    terminal.wait_for(PROMPT);
    terminal
}

/// Waits until this stands on the screen and an empty prompt below it.
#[track_caller]
fn prompt_below(terminal: &mut Terminal, text: &str) {
    terminal.wait_until(&format!("a prompt below {text:?}"), |screen| {
        let below = screen.rsplit_once(text).map_or("", |(_, below)| below);
        below.trim_end().ends_with(PROMPT)
    });
}

fn bash(command: &str) -> Reply {
    calls("bash", json!({"command": command}))
}

fn background(command: &str) -> Reply {
    calls("bash", json!({"command": command, "run_in_background": true}))
}

fn spawn(name: &str) -> Value {
    json!({"name": name, "role": "developer", "prompt": "Do your part."})
}

fn is_subagent(request: &Request) -> bool {
    request.system.starts_with("You are a subagent")
}

/// What was said to the model since its last reply, results of tools included.
fn news(request: &Request) -> String {
    let since = request.messages.iter().rev();
    let since = since.take_while(|message| message.role == Role::User);
    let blocks = since.flat_map(|message| &message.blocks);
    let text = |block: &Block| match block {
        Block::Text(text) | Block::ToolResult { content: text, .. } => text.clone(),
        Block::ToolUse { .. } | Block::Other(_) => String::new(),
    };
    blocks.map(text).collect::<Vec<_>>().join("\n")
}

/// The files of the saved sessions, the first one first.
fn saved(class: &Class) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(class.dir().join(".harness/sessions")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let read = |path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut saved: Vec<Value> = files.map(read).collect();
    saved.sort_by_key(|one| one["started"].as_str().unwrap().to_owned());
    saved
}

fn id(saved: &Value) -> &str {
    saved["id"].as_str().unwrap()
}

/// A prompt and the model a newcomer meets, in a repository in which everybody may build.
fn rehearses(lines: &[&str]) -> (Class, MockModel, Ran) {
    let model = MockModel::strict_rehearsal();
    let class = class(&["bash(cargo build:*)"]).model(&model);
    let ran = class.types(lines);
    ran.succeeds();
    (class, model, ran)
}

/// The names of all tools that the lead has called.
fn called(model: &MockModel) -> Vec<String> {
    let last = of_the_lead(model).pop().expect("the lead asks");
    last.calls().concat()
}

/// The tasks on the board.
fn board(class: &Class) -> Vec<Value> {
    let files = fs::read_dir(class.dir().join(".harness/tasks")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let tasks = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    tasks.map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).collect()
}

#[test]
fn a_team_works_off_a_board_and_its_lead_reports() {
    let (class, _, ran) = rehearses(&[
        "Create three tasks, the second blocked by the first, spawn alice and bob to do them, and give me a report at the end.",
    ]);
    let tasks = board(&class);
    let is_done = |task: &Value| task["status"] == "completed";
    assert!(tasks.len() == 3 && tasks.iter().all(is_done), "{tasks:?}");
    ran.shows("blockedBy=[\"write notes/tools.md\"]").shows("All is done:");
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
            let (_, model, ran) = rehearses(&[prompt]);
            for part in shown {
                ran.shows(part);
            }
            let mut called = called(&model);
            called.retain(|name| tools.contains(&name.as_str()));
            assert_eq!(called, tools, "{}", ran.transcript());
            let ended = last_texts(&model).join("\n").contains("<task_notification");
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
        // Nothing is approved before the user says so.
        let (class, model, ran) = rehearses(&[prompt, "Approve their plans."]);
        let tasks = board(&class);
        let worktrees = class.dir().join(".harness/worktrees");
        let is_bound = |task: &Value| worktrees.join(task["worktree"].as_str().unwrap()).exists();
        let is_done = |task: &Value| task["status"] == "completed";
        assert!(
            tasks.len() == 2 && tasks.iter().all(is_bound) && tasks.iter().any(is_done),
            "{tasks:?}\n{}",
            ran.transcript()
        );
        let called = called(&model);
        for tool in ["create_worktree", "request_plan", "review_plan"] {
            let count = called.iter().filter(|of| *of == tool).count();
            assert!(count >= 2, "{tool}\n{}", ran.transcript());
        }
        let requests = model.requests();
        for request in requests.iter().filter(|of| teammate(of).is_some()) {
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
        _ if teammate(request).is_some() || is_subagent(request) => says("Done."),
        0 => calls("task", json!({"description": "look around"})),
        1 => calls("spawn_teammate", spawn("alice")),
        2 => calls("connect_mcp", json!({"name": "docs"})),
        _ => says("Done."),
    });
    class(&[]).model(&model).types(&["go"]).succeeds();
    let requests = model.requests();
    let of =
        |is_it: fn(&Request) -> bool| requests.iter().find(|one| is_it(one)).unwrap().tool_names();
    let leads = of_the_lead(&model);
    let built_in = leads[0].tool_names();
    let pools = [
        ("lead", built_in.clone()),
        ("teammate", of(|request| teammate(request).is_some())),
        ("subagent", of(is_subagent)),
    ];
    assert_pool(env!("CARGO_MANIFEST_DIR"), pools);
    let connected = leads.last().unwrap().tool_names();
    let (first, servers) = connected.split_at(built_in.len());
    assert_eq!(first, built_in, "the built-ins stay in front");
    assert_eq!(servers, ["mcp__docs__search", "mcp__docs__get_version"]);
}

/// Calls in one conversation, and what each result says; `$` is the id that was given out last.
const EFFECTS: &str = r#"
write_file {"path": "notes.txt", "content": "hello wrold\n"} => created notes.txt
edit_file {"path": "notes.txt", "old_text": "wrold", "new_text": "world"} => notes.txt
load_skill {"name": "code-review"} => <skill name="code-review"
task {"description": "List the files."} => There are none.
schedule_cron {"cron": "0 0 1 1 *", "prompt": "a happy new year"} => cheduled
list_crons {} => a happy new year
cancel_cron {"job_id": "$"} => cancelled cron_
spawn_teammate {"name": "carol", "role": "writer", "prompt": "Wait."} => carol is at work
send_message {"to": "carol", "content": "Welcome."} => sent to carol
request_shutdown {"teammate": "carol"} => asked carol to leave
check_inbox {} => mail
create_task {"subject": "docs"} => : docs
get_task {"task_id": "$"} => docs
claim_task {"task_id": "$"} => is yours: docs
complete_task {"task_id": "$"} => is completed: docs
list_tasks {} => docs
create_worktree {"name": "one"} => .harness/worktrees/one
keep_worktree {"name": "one"} => kept .harness/worktrees/one
remove_worktree {"name": "one"} => removed the worktree one
compact {} => the conversation is summarized
"#;

#[test]
fn every_tool_works_beside_the_others() {
    let model = model(|request: &Request| {
        if teammate(request).is_some() || is_subagent(request) {
            return says("There are none.");
        }
        let mut given = request.results().into_iter().filter_map(|(_, text)| {
            let (_, id) = text.split_once("created ").or(text.split_once("cheduled "))?;
            id.split([' ', ':', ',']).next().map(str::to_owned)
        });
        let given = given.rfind(|id| id.contains(['_', '-']));
        match EFFECTS.lines().nth(request.calls().len() + 1) {
            Some(row) if !request.user_texts().concat().contains("-summary>") => {
                let (call, _) = row.split_once(" => ").unwrap();
                let (tool, input) = call.split_once(' ').unwrap();
                let input = input.replace('$', &given.unwrap_or_default());
                calls(tool, serde_json::from_str(&input).expect(row))
            }
            _ => says("All done."),
        }
    });
    let allowed =
        ["write_file", "edit_file", "create_worktree", "remove_worktree", "schedule_cron"];
    let ran = class(&allowed).model(&model).types(&["go"]);
    ran.succeeds().shows("All done.");
    let requests = of_the_lead(&model);
    let asked = requests.iter().max_by_key(|request| request.results().len());
    let results = asked.unwrap().results();
    for (row, (is_error, result)) in EFFECTS.trim().lines().zip(&results) {
        let (_, effect) = row.split_once(" => ").unwrap();
        assert!(!is_error && result.contains(effect), "{row}\n{result}");
    }
    assert_eq!(results.len() + 1, EFFECTS.trim().lines().count(), "all but the summary");
}

/// What the API read from its cache in the request that follows connect_mcp: everything up to the last built-in.
#[test]
fn a_connected_server_costs_no_built_in_its_place_in_the_cache() {
    let model = model(|request: &Request| match request.calls().len() {
        0 => calls("connect_mcp", json!({"name": "docs"})),
        _ => says("Connected."),
    });
    let class = class(&[]).model(&model);
    let ran = class.runs(&["-p", "--output-format", "json", "connect"], "");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let read = answer["usage"]["cache_read_input_tokens"].as_u64().unwrap();
    // The first request can read nothing, and side calls are too short for the cache.
    let [before, after] = &of_the_lead(&model)[..] else {
        panic!("{}", ran.transcript());
    };
    assert!(read >= 1_024, "read {read} tokens\n{}", ran.transcript());
    let built_ins = |request: &Request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let last = body.find(r#""name":"write_file""#).expect("the last one");
        body[..last].to_owned()
    };
    assert_eq!(built_ins(before), built_ins(after));
    let marked = r#"{"cache_control":{"type":"ephemeral"},"description":"#;
    assert_eq!(built_ins(after).matches(marked).count(), 1);
}

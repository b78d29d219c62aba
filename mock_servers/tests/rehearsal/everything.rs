//! Every prompt of the course with every tool of the course on offer, and those of MCP servers besides.
//!
//! The words of one chapter must not be taken for those of another: a todo list is no task of the board, a reminder is
//! no memory, a search in the sources is none on a server.

use mock_servers::model::{Block, Role, Tool};
use serde_json::{Value, json};

use crate::servers::company_stage;

/// The built-in tools of the last chapter, with their required and their optional arguments.
const BUILT_IN: &[(&str, &[&str], &[&str])] = &[
    ("bash", &["command"], &["run_in_background"]),
    ("read_file", &["path"], &["offset", "limit"]),
    ("write_file", &["path", "content"], &[]),
    ("edit_file", &["path", "old_text", "new_text"], &[]),
    ("glob", &["pattern"], &[]),
    ("todo_write", &["todos"], &[]),
    ("task", &["description"], &[]),
    ("load_skill", &["name"], &[]),
    ("compact", &[], &["focus"]),
    ("create_task", &["subject"], &["description", "blockedBy"]),
    ("list_tasks", &[], &[]),
    ("get_task", &["task_id"], &[]),
    ("claim_task", &["task_id"], &[]),
    ("complete_task", &["task_id"], &[]),
    (
        "schedule_cron",
        &["cron", "prompt"],
        &["recurring", "durable"],
    ),
    ("list_crons", &[], &[]),
    ("cancel_cron", &["job_id"], &[]),
    ("spawn_teammate", &["name", "role", "prompt"], &[]),
    ("send_message", &["to", "content"], &[]),
    ("check_inbox", &[], &[]),
    ("request_shutdown", &["teammate"], &[]),
    ("request_plan", &["teammate", "task"], &[]),
    ("review_plan", &["request_id", "approve"], &["feedback"]),
    ("create_worktree", &["name"], &["task_id"]),
    ("remove_worktree", &["name"], &["discard_changes"]),
    ("keep_worktree", &["name"], &[]),
    ("connect_mcp", &["name"], &[]),
];

/// The 27 built-in tools.
pub fn built_in() -> Vec<Tool> {
    let tools = BUILT_IN.iter();
    tools
        .map(|(name, required, optional)| tool(name, "", required, optional))
        .collect()
}

/// A tool whose arguments are texts, but for those that are known to be something else.
pub fn tool(name: &str, description: &str, required: &[&str], optional: &[&str]) -> Tool {
    let property = |field: &&str| {
        let kind = match *field {
            "todos" | "blockedBy" => "array",
            "offset" | "limit" | "lines" => "integer",
            "approve" | "recurring" | "durable" | "run_in_background" | "discard_changes" => {
                "boolean"
            }
            _ => "string",
        };
        (field.to_string(), json!({"type": kind}))
    };
    let properties: Value = required.iter().chain(optional).map(property).collect();
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
    }
}

/// The prompts of the course, and which tools the first reply calls; none when it only talks.
const PROMPTS: &[(&str, &[&str])] = &[
    (
        "Create a file called hello.py that prints \"Hello, World!\"",
        &["write_file"],
    ),
    ("List all Python files in this directory", &["glob"]),
    ("What is the current git branch?", &["bash"]),
    (
        "Read the file README.md and tell me what this project is about",
        &["read_file"],
    ),
    (
        "Create a file called test.py that prints \"hello\", then read it back",
        &["write_file"],
    ),
    ("Find all Python files in this directory", &["glob"]),
    (
        "Read both README.md and Cargo.toml, then create a summary file",
        &["read_file", "read_file"],
    ),
    (
        "Create a file called test.txt in the current directory",
        &["write_file"],
    ),
    ("Delete the file test.txt", &["bash"]),
    ("What files are in the current directory?", &["bash"]),
    ("Try to write a file to /etc/something", &["write_file"]),
    ("Read the file README.md", &["read_file"]),
    ("Create a file called test.txt", &["write_file"]),
    ("Delete all temporary files in /tmp", &["bash"]),
    (
        "Refactor examples/hello.py: add type hints, docstrings, and a main guard",
        &["todo_write"],
    ),
    (
        "Create a Python package under examples/demo_pkg with __init__.py, utils.py, and tests/test_utils.py",
        &["todo_write"],
    ),
    (
        "Review Python files under examples and fix any style issues",
        &["todo_write"],
    ),
    (
        "Use a subtask to find what testing framework this project uses",
        &["task"],
    ),
    (
        "Delegate: read all .rs files in s01_loop and summarize what each one does",
        &["task"],
    ),
    (
        "Use a task to create string_tools.py with a slugify(text: str) function, then verify it from the parent agent",
        &["task"],
    ),
    ("What skills are available?", &[]),
    (
        "Load the code-review skill and follow its instructions",
        &["load_skill"],
    ),
    (
        "I need to do a code review -- load the relevant skill first",
        &["load_skill"],
    ),
    (
        "Read the file README.md, then read Cargo.toml, then read s01_loop/README.md",
        &["read_file"],
    ),
    ("Read every file in s08_compact/", &["glob"]),
    (
        "I prefer using tabs for indentation, not spaces. Remember that.",
        &[],
    ),
    ("Create a Python file called test.py", &["write_file"]),
    ("What did I tell you about my preferences?", &[]),
    (
        "I also prefer single quotes over double quotes for strings.",
        &[],
    ),
    (
        "Create a file called .harness/memory/MEMORY.md with content \"- [test](test.md) — test memory\"",
        &["write_file"],
    ),
    ("Read the file Cargo.toml", &["read_file"]),
    (
        "Write a very long module: 40 functions with docstrings",
        &["write_file"],
    ),
    ("Read every file in this workspace", &["glob"]),
    (
        "Create tasks: setup database schema, create API endpoints (depends on schema), write tests (depends on endpoints), write docs (depends on schema)",
        &["create_task", "create_task", "create_task", "create_task"],
    ),
    ("List all tasks and their statuses", &["list_tasks"]),
    (
        "Claim the first unblocked task and complete it",
        &["list_tasks"],
    ),
    (
        "List tasks again — which ones are now unblocked?",
        &["list_tasks"],
    ),
    (
        "Run cargo --version in the background and find all Python files in this directory",
        &["bash", "glob"],
    ),
    (
        "Run sleep 2 && echo done in the background and while waiting, read Cargo.toml",
        &["bash", "read_file"],
    ),
    (
        "Create a task to setup the project, then run cargo --version in the background",
        &["create_task"],
    ),
    (
        "Schedule a task to print the current date every 2 minutes",
        &["schedule_cron"],
    ),
    ("List all cron jobs", &["list_crons"]),
    (
        "Create a one-shot reminder in 1 minute to check the build status",
        &["bash"],
    ),
    (
        "Cancel the recurring job and verify with list_crons",
        &["list_crons"],
    ),
    (
        "Spawn alice as a backend developer. Ask her to create a file called schema.sql with a users table.",
        &["spawn_teammate"],
    ),
    ("Check your inbox for alice's result.", &["check_inbox"]),
    (
        "Spawn bob as a tester. Ask him to check if schema.sql exists and list its contents.",
        &["spawn_teammate"],
    ),
    (
        "Spawn alice as a backend dev. Ask her to create a file. Then request her shutdown.",
        &["spawn_teammate"],
    ),
    (
        "Spawn bob with a refactoring task. Have him submit a plan first. Then review and approve it.",
        &["spawn_teammate", "request_plan"],
    ),
    (
        "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob and give each one of the tasks to do in its worktree.",
        &["create_task", "create_task"],
    ),
    (
        "Create 3 tasks on the board, then spawn alice and bob. Watch them auto-claim and work.",
        &["create_task", "create_task", "create_task"],
    ),
    (
        "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob. Watch them auto-claim and work in isolated directories.",
        &["create_task", "create_task"],
    ),
    (
        "Create a todo list for inspecting this repo, then list Python files",
        &["todo_write"],
    ),
    (
        "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.",
        &["create_task", "create_task"],
    ),
    ("remind me of the meeting in 3 minutes.", &["bash"]),
    (
        "Run cargo build in the background and continue reading README.md",
        &["bash", "read_file"],
    ),
    // Words that also name a server.
    (
        "Create tasks: write the docs, deploy the service (depends on docs)",
        &["create_task", "create_task"],
    ),
    ("Create a task to search the docs", &["create_task"]),
    ("delete the docs folder", &["bash"]),
    ("read docs/guide.md", &["read_file"]),
    ("search for TODO in src", &["bash"]),
    ("Remind me to deploy in 5 minutes", &["bash"]),
    ("Have a subagent look for the docs in this repo", &["task"]),
];

/// The prompts about servers, which are called at once when the server is connected.
const SERVERS: &[(&str, &[&str], &[&str])] = &[
    (
        "Connect to the docs MCP server and search for something",
        &["connect_mcp"],
        &["connect_mcp"],
    ),
    (
        "Connect to the deploy server and trigger a deployment",
        &["connect_mcp"],
        &["connect_mcp"],
    ),
    (
        "Connect both servers — what tools are now available?",
        &["connect_mcp", "connect_mcp"],
        &["connect_mcp", "connect_mcp"],
    ),
    (
        "Connect to the docs MCP server and search for agent loop",
        &["connect_mcp"],
        &["connect_mcp"],
    ),
    (
        "search the docs for hooks",
        &["connect_mcp"],
        &["mcp__docs__search"],
    ),
    ("deploy web", &["connect_mcp"], &["mcp__deploy__trigger"]),
];

/// Which tools the first reply calls, with these servers connected before.
fn first_calls(prompt: &str, servers: &[&str]) -> Vec<String> {
    let mut served = company_stage();
    servers.iter().for_each(|server| served.connect(server));
    let stage = &mut served.stage;
    stage.push(Role::User, vec![Block::Text(prompt.to_owned())]);
    let calls = stage.reply(0).into_iter().filter_map(|block| match block {
        Block::ToolUse { name, .. } => Some(name),
        Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    calls.collect()
}

const ALL: &[&str] = &["docs", "deploy", "jira", "notion"];

#[test]
fn every_prompt_of_the_course_calls_its_own_tools_whatever_else_is_on_offer() {
    assert_eq!(built_in().len(), 27);
    for (prompt, expected) in PROMPTS {
        for servers in [&[], ALL] {
            assert_eq!(
                first_calls(prompt, servers),
                *expected,
                "{prompt} with {servers:?}"
            );
        }
    }
    for (prompt, before, after) in SERVERS {
        assert_eq!(first_calls(prompt, &[]), *before, "{prompt}");
        assert_eq!(first_calls(prompt, ALL), *after, "{prompt}");
    }
}

#[test]
fn a_todo_list_is_no_task_and_the_files_are_listed_behind_it() {
    for prompt in [
        "Create a todo list for inspecting this repo, then list Python files",
        "Make a todo list for inspecting this repository and then find all Python files",
        "Write a checklist for looking through this repo, then show me the Python files",
        "First write a todo list for inspecting the repo. Then list all Python files.",
        "I need a todo list to inspect this repo; afterwards list the .py files",
        "Put together a to-do list for inspecting this repo, then list Python files",
        "Plan how to inspect this repo as a todo list, then list the Python files",
    ] {
        let play = company_stage().ask(prompt);
        let calls: Vec<&str> = play
            .calls
            .iter()
            .map(|(_, name, _)| name.as_str())
            .collect();
        assert_eq!(calls, ["todo_write", "glob"], "{prompt}: {}", play.answer);
        let todos = play.calls[0].2["todos"].as_array().expect("a list");
        assert_eq!(
            todos[0],
            json!({"content": "List the files", "status": "pending"}),
            "{prompt}"
        );
        assert!(
            play.answer
                .ends_with("I found 2 Python files: boil.py, src/pour.py."),
            "{prompt}: {}",
            play.answer
        );
    }
}

#[test]
fn a_reminder_is_scheduled_for_the_minute_it_is_wanted() {
    for prompt in [
        "remind me of the meeting in 3 minutes.",
        "in 3 minutes remind me of the meeting",
        "Set a reminder of the meeting in 3 minutes",
        "give me a reminder of the meeting in three minutes",
        "Set a reminder for the meeting in 3 minutes",
        "please remind me of the meeting 3 minutes from now",
    ] {
        let mut served = company_stage();
        served
            .answering(|name, _| (name == "bash").then(|| ("2026-12-31 23:58".to_owned(), false)));
        let play = served.ask(prompt);
        let (_, name, input) = play.calls.last().expect("it is scheduled");
        assert_eq!(
            (name.as_str(), play.calls.len()),
            ("schedule_cron", 2),
            "{prompt}"
        );
        assert_eq!(input["cron"], "1 0 1 1 *", "{prompt}");
        let said = input["prompt"].as_str().unwrap().to_lowercase();
        assert_eq!(said, "remind me of the meeting", "{prompt}");
    }
}

#[test]
fn a_build_runs_in_the_background_while_a_file_is_read() {
    for prompt in [
        "Run cargo build in the background and continue reading README.md",
        "Start cargo build in the background and go on reading README.md",
        "Build the project in the background while you read README.md",
        "Kick off cargo build in the background and keep reading the README",
        "In the background run cargo build; meanwhile read README.md",
        "Let cargo build run in the background and carry on with reading README.md",
    ] {
        let mut served = company_stage();
        let job = "job_1 runs in the background; its end will be reported";
        served.answering(move |name, _| (name == "bash").then(|| (job.to_owned(), false)));
        let play = served.ask(prompt);
        let calls: Vec<(usize, &str)> = play
            .calls
            .iter()
            .map(|(round, name, _)| (*round, name.as_str()))
            .collect();
        assert_eq!(
            calls,
            [(0, "bash"), (0, "read_file")],
            "{prompt}: {}",
            play.answer
        );
        assert_eq!(
            play.calls[0].2,
            json!({"command": "cargo build", "run_in_background": true}),
            "{prompt}"
        );
    }
}

#[test]
fn what_can_be_started_is_asked_of_the_board() {
    for prompt in [
        "what can I start with?",
        "Which can we start now?",
        "what should I work on next?",
        "what can I claim?",
    ] {
        assert_eq!(first_calls(prompt, &[]), ["list_tasks"], "{prompt}");
    }
}

//! The lesson as a class sees it: jobs handed on, each in a conversation and under a name of its own; several at once, a
//! question of one of them, and Ctrl-C for all.

mod session;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Key, Terminal, assert_pool};

/// What begins every subagent's system prompt.
const SUBAGENT: &str = "You are a subagent";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s06_subagent"))
}

fn job(description: &str) -> Value {
    json!({ "description": description })
}

/// A lead that hands on one job, and the subagent that does it.
fn team(job_of: &str, subagent: impl IntoIterator<Item = Reply>) -> MockModel {
    let model = MockModel::scripted([calls("task", job(job_of)), says("All done.")]);
    model.script_for(SUBAGENT, subagent);
    model
}

fn log(class: &Class) -> Vec<Value> {
    class
        .read(".harness/log.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A small project with Python and Rust in it.
fn project() -> Class {
    let test = "import pytest\n\n\ndef test_double():\n    assert double(2) == 4\n";
    class()
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("pyproject.toml", "[tool.pytest.ini_options]\n")
        .file("src/demo.py", "def double(x):\n    return 2 * x\n")
        .file("tests/test_demo.py", test)
        .file("s01_loop/src/main.rs", "//! The loop itself.\n")
        .file("s01_loop/src/bash.rs", "//! The tool bash.\n")
}

/// The calls of the lead, and how often somebody else called something.
fn calls_of_lead(class: &Class) -> (Vec<String>, usize) {
    let log = log(class);
    let is_lead = |entry: &&Value| entry["agent"] == "lead";
    let tool = |entry: &Value| entry["tool"].as_str().unwrap().to_owned();
    let lead: Vec<String> = log.iter().filter(is_lead).map(tool).collect();
    let others = log.len() - lead.len();
    (lead, others)
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s06_subagent"));
}

/// What is asked for, and what the user sees of the report.
const JOBS: &str = "\
Use a subtask to find what testing framework this project uses | pytest
let a subagent figure out which test framework we use here | pytest
Delegate: read all .rs files in s01_loop and summarize what each one does | The tool bash
delegate reading all rust files in s01_loop to a subagent | > read_file  s01_loop/src/main.rs
have a subagent read README.md and report back | > read_file  README.md
Hand this to a subagent: list the Python files here | src/demo.py
Use two subagents: one reads README.md, the other lists the Python files | task 2 │
In a subtask, create notes.md with the text hello | > write_file";

#[test]
fn a_job_is_handed_on_and_its_report_comes_back() {
    for (request, shown) in JOBS.lines().map(|line| line.split_once(" | ").unwrap()) {
        let model = MockModel::strict_rehearsal();
        let class = project().model(&model);
        let ran = class.types(&[request]);
        ran.succeeds().shows("task 1 │ > ").shows(shown);
        let (lead, others) = calls_of_lead(&class);
        assert!(lead.iter().all(|tool| tool == "task"), "{request}: {lead:?}");
        assert!(others > 0, "{request}");
    }
}

#[test]
fn a_file_is_made_in_a_task_and_verified_by_the_lead() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class
        .types(&["Use a task to create string_tools.py with a slugify(text: str) function, then verify it from the parent agent"])
        .succeeds()
        .shows("task 1 │ > write_file  path=string_tools.py");
    let (lead, _) = calls_of_lead(&class);
    assert_eq!(lead[0], "task");
    assert!(lead.len() > 1, "the lead looks itself: {lead:?}");
    assert!(class.read("string_tools.py").contains("def slugify(text: str)"));
}

#[test]
fn a_subagent_asks_under_its_name_and_a_no_is_a_no() {
    for (answer, exists) in [("n", false), ("y", true)] {
        let model =
            team("touch a file", [calls("bash", json!({"command": "touch a"})), says("I tried.")]);
        let class = class().model(&model);
        class
            .types(&["go", answer])
            .succeeds()
            .shows("task 1 │ bash needs permission:\n")
            .shows("All done.");
        assert_eq!(class.dir().join("a").exists(), exists);
        let log = log(&class);
        assert_eq!(log[0]["agent"], "lead");
        assert_eq!(log[0]["tool"], "task");
        assert_eq!(log[1]["agent"], "task 1");
        let why = log[1]["blocked"].as_str().unwrap_or_default();
        assert_eq!(why.contains("the user said no"), !exists, "{why}");
    }
}

#[test]
fn an_always_counts_for_the_lead_and_for_all_subagents() {
    let touch = || calls("bash", json!({"command": "touch a"}));
    let model = MockModel::scripted([
        calls("task", job("one")),
        calls("task", job("two")),
        touch(),
        says("All done."),
    ]);
    model.script_for(SUBAGENT, [touch(), says("1"), touch(), says("2")]);
    let ran = class().model(&model).types(&["go", "always"]);
    ran.succeeds().shows("All done.");
    assert_eq!(ran.stdout.matches("[y]es").count(), 1, "{}", ran.transcript());
}

#[test]
fn the_user_sees_who_does_what_and_the_lead_reads_the_report_alone() {
    let model = team(
        "count the files\nand mind the hidden ones",
        [
            says("Let me look.").and_calls("glob", json!({"pattern": "*"})),
            says("There is one file."),
        ],
    );
    class()
        .file("one.txt", "")
        .model(&model)
        .types(&["go"])
        .succeeds()
        .shows("task 1 │ count the files\n")
        .shows("task 1 │ Let me look.\ntask 1 │ > glob  *\n")
        .shows("task 1 │ There is one file.\n")
        .shows("task 1 │ [done in round 2: a conversation of ");
    let lead = model.last_request();
    assert_eq!(lead.results(), [(false, "There is one file.".to_owned())]);
    assert_eq!(lead.calls(), [["task"]]);
}

#[test]
fn jobs_and_other_calls_of_one_reply_are_all_answered_in_order() {
    let lead = [
        calls("task", job("a"))
            .and_calls("bash", json!({"command": "touch refused"}))
            .and_calls("task", json!({}))
            .and_calls("task", job("b"))
            .and_calls("todo_write", json!({"todos": []})),
        says("All done."),
    ];
    let model = MockModel::scripted(lead);
    model.script_for(SUBAGENT, [says("Report."), says("Report.")]);
    class().model(&model).types(&["go", "n"]).succeeds();
    let results = model.last_request().results();
    let failed: Vec<bool> = results.iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [false, true, true, false, false], "{results:?}");
}

#[test]
fn the_tool_pool() {
    let model = team("Greet.", [says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let requests = model.requests();
    let lead = requests[0].tool_names();
    let subagent = requests[1].tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", lead), ("subagent", subagent)]);
}

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);
const QUESTION: &str = "[y]es / [a]lways / [N]o:";

fn bash(command: &str) -> Reply {
    calls("bash", json!({ "command": command }))
}

/// A session with a model that thinks like this, where these calls need no permission, in a directory with a named pipe
/// that commands can wait at.
fn session(allowed: &[&str], brain: fn(&Request) -> Reply) -> (Class, MockModel, Terminal) {
    let model = MockModel::start(Options::strict(), brain).expect("loopback has a free port");
    let class = Class::new(env!("CARGO_BIN_EXE_s06_subagent"))
        .file(".harness/settings.json", json!({"permissions": {"allow": allowed}}).to_string())
        .model(&model);
    let made = Command::new("mkfifo").arg(class.dir().join("gate")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let mut terminal = class.terminal(100, 40);
    terminal.wait_for("s06 >>");
    (class, model, terminal)
}

/// Tells when processes have opened the pipe for writing, and again when every one of them has gone.
fn watch(dir: &Path) -> Receiver<()> {
    let (sender, receiver) = channel();
    let path = dir.join("gate");
    std::thread::spawn(move || {
        let mut pipe = File::open(path).expect("the pipe exists");
        let _ = sender.send(());
        let _ = pipe.read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    receiver
}

/// Lets the command that reads the pipe go on.
fn open(dir: &Path) {
    File::options().write(true).open(dir.join("gate")).expect("somebody reads the pipe");
}

fn is_subagent(request: &Request) -> bool {
    request.system.starts_with("You are a subagent")
}

#[test]
fn ctrl_c_ends_the_commands_of_all_subagents_and_the_lead_knows() {
    let (class, model, mut terminal) = session(&["bash"], |request| {
        if is_subagent(request) {
            return bash("exec 3> gate; sleep 1000 & sleep 1000");
        }
        match request.user_texts().len() {
            1 => calls("task", job("a")).and_calls("task", job("b")),
            _ => says("As you wish."),
        }
    });
    let holders = watch(&class.dir());
    terminal.type_line("go");
    holders.recv_timeout(PATIENCE).expect("a command begins");
    terminal
        .wait_for("task 1 │ > bash")
        .wait_for("task 2 │ > bash")
        .press(Key::CtrlC)
        .wait_for("(interrupted)\ns06 >>");
    holders.recv_timeout(PATIENCE).expect("every process of the commands has gone");
    terminal.type_line("never mind").wait_for("As you wish.");
    let results = model.last_request().results();
    let is_told = |(failed, text): &(bool, String)| *failed && text.starts_with("interrupted");
    assert!(results.len() == 2 && results.iter().all(is_told), "{results:?}");
}

#[test]
fn while_one_subagent_asks_the_other_goes_on() {
    let (class, _model, mut terminal) = session(&[], |request| {
        let asks = request.user_texts()[0] == "asks";
        match (is_subagent(request), asks, request.results().len()) {
            (true, true, 0) => bash("touch asked"),
            (true, false, 0) => bash("cat gate"),
            (true, _, _) => says("reported"),
            (false, _, 0) => calls("task", job("asks")).and_calls("task", job("works")),
            (false, _, _) => says("All done."),
        }
    });
    terminal.type_line("go").wait_for("task 1 │ run it?").wait_for(QUESTION);
    // The other one comes to its end behind the open question, which holds its lines back.
    open(&class.dir());
    terminal.wait_for("task 2 │ [done in round 2").type_line("y").wait_for("All done.");
    assert!(class.dir().join("asked").exists());
}

//! The lesson as a class sees it: jobs handed on, each in a conversation and under a name of its own.

use mock_servers::model::{MockModel, Reply, calls, says};
use serde_json::{Value, json};
use testkit::{Class, assert_pool};

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

/// A small Python project.
fn project() -> Class {
    class()
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("pyproject.toml", "[project]\nname = \"demo\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n")
        .file("src/demo.py", "def double(x):\n    return 2 * x\n")
        .file("tests/test_demo.py", "import pytest\nfrom demo import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
}

/// A small Rust project.
fn crate_folder() -> Class {
    class()
        .file(
            "s01_loop/src/main.rs",
            "//! The loop itself.\n\nfn main() {}\n",
        )
        .file(
            "s01_loop/src/bash.rs",
            "//! The tool bash.\n\npub fn run() {}\n",
        )
        .file("s01_loop/README.md", "# The loop\n")
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

#[test]
fn a_subtask_finds_the_testing_framework() {
    let model = MockModel::strict_rehearsal();
    let class = project().model(&model);
    class
        .types(&["Use a subtask to find what testing framework this project uses"])
        .succeeds()
        .shows("task 1 │ > ");
    let (lead, others) = calls_of_lead(&class);
    assert_eq!(
        lead,
        ["task"],
        "what the subagent read is not in the lead's history"
    );
    assert!(others > 0);
    let report = &model.last_request().results()[0];
    assert!(!report.0 && report.1.contains("pytest"), "{report:?}");
}

#[test]
fn reading_a_folder_is_delegated() {
    let model = MockModel::strict_rehearsal();
    let class = crate_folder().model(&model);
    class
        .types(&["Delegate: read all .rs files in s01_loop and summarize what each one does"])
        .succeeds()
        .shows("task 1 │ > read_file  s01_loop/src/bash.rs")
        .never_shows("\n> read_file");
    assert_eq!(calls_of_lead(&class).0, ["task"]);
    let report = &model.last_request().results()[0].1;
    for part in ["main.rs", "The loop itself", "bash.rs", "The tool bash"] {
        assert!(report.contains(part), "{report}");
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
    assert!(
        class
            .read("string_tools.py")
            .contains("def slugify(text: str)")
    );
}

#[test]
fn two_jobs_of_one_request_are_done_side_by_side() {
    let model = MockModel::strict_rehearsal();
    let class = project().model(&model);
    class
        .types(&["Use two subagents: one reads README.md, the other lists the Python files"])
        .succeeds()
        .shows("task 1 │ > read_file  README.md")
        .shows("task 2 │ ");
    assert_eq!(calls_of_lead(&class).0, ["task", "task"]);
    let lead = model.last_request();
    assert_eq!(lead.calls(), [["task", "task"]], "in one reply");
    assert!(
        lead.results()[1].1.contains("src/demo.py"),
        "{:?}",
        lead.results()
    );
}

#[test]
fn other_words_do_as_well() {
    for (request, class, shown) in [
        (
            "let a subagent figure out which test framework we use here",
            project(),
            "task 1 │ > ",
        ),
        (
            "have a subagent read README.md and report back",
            project(),
            "task 1 │ > read_file  README.md",
        ),
        (
            "Hand this to a subagent: list the Python files here",
            project(),
            "task 1 │ ",
        ),
        (
            "delegate reading all rust files in s01_loop to a subagent",
            crate_folder(),
            "s01_loop/src/main.rs",
        ),
        (
            "In a subtask, create notes.md with the text hello",
            project(),
            "task 1 │ > write_file",
        ),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class.model(&model);
        class.types(&[request]).succeeds().shows(shown);
        assert_eq!(calls_of_lead(&class).0[0], "task", "{request}");
    }
}

#[test]
fn a_subagent_asks_under_its_name_and_a_no_is_a_no() {
    for (answer, exists) in [("n", false), ("y", true)] {
        let model = team(
            "touch a file",
            [
                calls("bash", json!({"command": "touch a"})),
                says("I tried."),
            ],
        );
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
    assert_eq!(
        ran.stdout.matches("[y]es").count(),
        1,
        "{}",
        ran.transcript()
    );
}

#[test]
fn a_hook_from_the_settings_stops_a_subagent_too() {
    let hook = json!({"type": "command", "command": "echo 'not today' >&2; exit 2"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "write_file", "hooks": [hook]}]}});
    let model = team(
        "write a file",
        [
            calls("write_file", json!({"path": "a", "content": "x"})),
            says("I was stopped."),
        ],
    );
    let class = class()
        .file(".harness/settings.json", settings.to_string())
        .model(&model);
    class.types(&["go"]).succeeds().shows("not today");
    assert!(!class.dir().join("a").exists());
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
fn an_end_without_a_report_is_news_for_the_lead_and_its_turn_goes_on() {
    let model = team("say nothing", [Reply::default()]);
    class()
        .model(&model)
        .types(&["go"])
        .succeeds()
        .shows("All done.");
    let (failed, text) = model.last_request().results().remove(0);
    assert!(
        failed && text.starts_with("task 1: ended without a report"),
        "{text}"
    );
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
    assert_pool(
        env!("CARGO_MANIFEST_DIR"),
        [("lead", lead), ("subagent", subagent)],
    );
}

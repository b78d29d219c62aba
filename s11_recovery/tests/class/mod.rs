//! The lesson as a class sees it: failures that pass, failures that do not, and replies that are cut.

mod session;

use std::sync::Arc;
use std::thread;

use mock_servers::model::{
    Fault, MockModel, Options, Refusal, Rehearsal, Reply, Request, calls, says,
};
use serde_json::json;
use testkit::{Class, Key, assert_pool};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s11_recovery")).file("README.md", "# Demo\n\nA small project.\n")
}

/// What begins the lead's system prompt.
const LEAD: &str = "You are a coding agent";

/// A lead with a script; the side calls beside it are rehearsed.
fn lead(replies: impl IntoIterator<Item = Reply>) -> MockModel {
    let model = MockModel::strict_rehearsal();
    model.script_for(LEAD, replies);
    model
}

/// The requests of the lead.
fn leads(model: &MockModel) -> Vec<Arc<Request>> {
    let mut requests = model.requests();
    requests.retain(|request| request.system.contains(LEAD));
    requests
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s11_recovery"));
}

/// The one test in which seconds pass, two and a half of them: it shows the waits as a class sees them.
#[test]
fn armed_faults_are_got_over_with_waits_that_can_be_read() {
    let limited = thread::spawn(|| class().types(&["/fault 429 2", "Read the file README.md"]));
    let overloaded = thread::spawn(|| {
        let class = class().env("FALLBACK_MODEL_ID", "the-other-model");
        class.types(&["/fault 529 4", "Read the file README.md"])
    });
    limited
        .join()
        .unwrap()
        .succeeds()
        .shows("Armed. The next 2 requests get a 429")
        .shows(
            "[retrying in 1.0 s (1/10): rate limited]\n[retrying in 1.0 s (2/10): rate limited]\n",
        )
        .shows("> read_file  README.md");
    overloaded
        .join()
        .unwrap()
        .succeeds()
        .shows("Armed. The next 4 requests get a 529")
        .shows("[retrying in 0.")
        .shows("retrying in 1.")
        .shows("[overloaded 3 times in a row: asking `the-other-model` for this reply]\n[retrying in 0.")
        .shows("s (4/10): overloaded")
        .shows("> read_file  README.md");
}

#[test]
fn a_wait_of_an_hour_is_not_begun() {
    let ran = class().types(&["  /fault   429=3600 ", "what does README.md say?"]);
    ran.fails_with(1).shows("giving up: the server asks for a wait of 3600 s]\nError: ");
}

#[test]
fn a_wait_ends_at_once_with_ctrl_c_and_the_conversation_goes_on() {
    let model = lead([says("Hi again.")]);
    model.fault(Fault::RateLimited { retry_after: 60 }, 1);
    let class = class().model(&model);
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s11 >>").type_line("Hello");
    terminal.wait_for("[retrying in 60.0 s (1/10): rate limited; Ctrl-C ends the turn]");
    terminal.press(Key::CtrlC).wait_for("(interrupted)\ns11 >>");
    terminal.type_line("once more").wait_for("Hi again.");
    let asked = leads(&model);
    assert_eq!(asked.len(), 2);
    assert!(asked[1].user_texts().contains(&"once more".to_owned()));
}

/// A workspace with more in it than the model takes, and a model that takes less than the chapter believes.
fn crowded() -> (Class, MockModel) {
    let options = Options {
        context_tokens: 12_000,
        ..Options::strict()
    };
    let model = MockModel::start(options, Rehearsal).unwrap();
    let class = (1..9).fold(class(), |class, number| {
        class.file(format!("file{number}.txt"), format!("{number} and more text\n").repeat(700))
    });
    (class.model(&model), model)
}

#[test]
fn what_does_not_fit_is_sent_again_shorter() {
    for request in ["Read every file in this workspace", "open all the files of this folder"] {
        let (class, model) = crowded();
        let ran = class.types(&[request]);
        ran.succeeds()
            .shows("[compacted: ")
            .shows("the prompt was too long: sending it again, shorter")
            .shows("file8.txt");
        let refusals = model.refusals();
        let is_too_long = |refusal: &Refusal| refusal.message.contains("too long");
        assert!(!refusals.is_empty() && refusals.iter().all(is_too_long));
    }
}

/// The limits that the lead's replies had.
fn limits(model: &MockModel) -> Vec<u32> {
    let requests = leads(model);
    requests.iter().map(|request| request.max_tokens).collect()
}

#[test]
fn a_call_that_was_cut_runs_when_it_has_come_whole() {
    for (request, file, functions) in [
        ("Write a very long module: 40 functions with docstrings", "long_module.py", 40),
        ("create a huge Python module called tea.py with 45 documented functions", "tea.py", 45),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[request]);
        ran.succeeds()
            .shows("the reply was cut in the middle of a tool call, which was dropped")
            .shows("asking again with a limit of 64,000 tokens; the reply begins again")
            .shows("[summary] 2 calls: bash 1, write_file 1");
        let written = class.read(file);
        assert_eq!(written.matches("\ndef ").count(), functions);
        // It looks for the file first.
        let limits = limits(&model);
        assert_eq!(limits, [8_000, 8_000, 64_000, 8_000], "{request}");
    }
}

#[test]
fn the_tool_pool() {
    let model = lead([calls("task", json!({"description": "Greet."})), says("Hi.")]);
    model.script_for("You are a subagent", [says("Done.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let requests = model.requests();
    let [names, subagent] = [0, 1].map(|at| requests[at].tool_names());
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names), ("subagent", subagent)]);
}

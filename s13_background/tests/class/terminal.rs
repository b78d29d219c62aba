//! The lesson at a prompt: who waits is woken, what is half typed stays, and who leaves takes the jobs along.
//!
//! Invariant: nothing here waits for a clock; jobs wait at a named pipe.

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::{Class, Gate, Key, Terminal};

use super::background;

/// A session at its prompt, with everything allowed and a pipe called `gate`.
fn session(model: &MockModel) -> (Class, Gate, Terminal) {
    let settings = json!({"permissions": {"allow": ["bash"]}}).to_string();
    let class = Class::new(env!("CARGO_BIN_EXE_s13_background"))
        .file(".harness/settings.json", settings)
        .model(model);
    let gate = Gate::new(&class.dir());
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s13 >>");
    (class, gate, terminal)
}

#[test]
fn a_job_that_ends_wakes_the_prompt_and_keeps_the_half_typed_line() {
    let model = MockModel::scripted([
        calls("bash", background("cat gate; echo built")),
        says("It runs."),
        says("The build is ready."),
        says("Both."),
    ]);
    let (_class, gate, mut terminal) = session(&model);
    terminal
        .type_line("build it")
        .wait_for_below("It runs.", "\ns13 >>")
        .type_text("what about te")
        .wait_for("s13 >> what about te");
    drop(gate.open());
    terminal
        .wait_for("[job_1: cat gate; echo built: finished, exit code 0]")
        .wait_for_below("The build is ready.", "\ns13 >> what about te")
        .type_line("sts?")
        .wait_for("Both.");
    let requests = model.requests();
    assert_eq!(requests.len(), 4, "nobody asked how far it is");
    let last = |at: usize| requests[at].user_texts().pop().unwrap();
    let notice = "<task_notification>\njob: job_1\n";
    assert!(last(2).starts_with(notice), "{}", last(2));
    assert_eq!(last(3), "what about tests?");
}

#[test]
fn ctrl_c_ends_the_turn_and_the_job_goes_on() {
    let both = calls("bash", background("cat gate; echo built"))
        .and_calls("bash", json!({"command": "sleep 1000"}));
    let model = MockModel::scripted([both, says("The build is ready.")]);
    let (_class, gate, mut terminal) = session(&model);
    terminal
        .type_line("build it")
        .wait_for("> bash  sleep 1000")
        .wait_for("job_1 runs in the background")
        .press(Key::CtrlC)
        .wait_for("(interrupted)\ns13 >>");
    drop(gate.open());
    terminal.wait_for("The build is ready.");
}

#[test]
fn who_leaves_is_told_what_is_stopped_and_nothing_of_it_goes_on() {
    let stays = "exec 3> gate; sleep 1000 & sleep 1000";
    for leave in ["exit\r", "\u{4}"] {
        let begin = calls("bash", background(stays));
        let model = MockModel::scripted([begin, says("It runs.")]);
        let (_class, gate, mut terminal) = session(&model);
        let held = gate.watch();
        terminal.type_line("serve").wait_for_below("It runs.", "\ns13 >>");
        held.wait_for("the beginning of the job");
        terminal.type_text(leave).wait_for(&format!("[stopped at the end: job_1: {stays}]"));
        assert_eq!(terminal.wait_exit(), 0);
        held.wait_for("the end of its group");
    }
}

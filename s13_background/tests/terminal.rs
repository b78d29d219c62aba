//! The lesson at a prompt: who waits is woken, what is half typed stays, and who leaves takes the jobs along.
//!
//! Invariant: nothing here waits for a clock; jobs wait at a named pipe.

use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mock_servers::model::{MockModel, Reply, calls, says};
use serde_json::json;
use testkit::{Class, Key, Terminal};

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

fn background(command: &str) -> Reply {
    let input = json!({"command": command, "run_in_background": true});
    calls("bash", input)
}

/// A session at its prompt, with everything allowed and a pipe called `gate`.
fn session(model: &MockModel) -> (Class, Terminal) {
    let class = Class::new(env!("CARGO_BIN_EXE_s13_background"))
        .file(
            ".harness/settings.json",
            json!({"permissions": {"allow": ["bash"]}}).to_string(),
        )
        .model(model);
    let made = Command::new("mkfifo")
        .arg(class.dir().join("gate"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s13 >>");
    (class, terminal)
}

/// Waits until the prompt stands, with these keys typed at it, below this answer.
fn answered(terminal: &mut Terminal, answer: &str, typed: &str) {
    terminal.wait_until(&format!("a prompt below {answer:?}"), |screen| {
        let below = screen.split_once(answer).map_or("", |(_, below)| below);
        below.contains(format!("\ns13 >> {typed}").trim_end())
    });
}

/// Lets the job go on that reads the gate.
fn open_gate(class: &Class) {
    let gate = class.dir().join("gate");
    File::options()
        .write(true)
        .open(gate)
        .expect("somebody reads the gate");
}

/// Tells when a process has opened the gate for writing, and again when every process that had has closed it.
fn watch_gate(class: &Class) -> Receiver<()> {
    let (sender, receiver) = channel();
    let gate = class.dir().join("gate");
    std::thread::spawn(move || {
        let mut gate = File::open(gate).expect("the gate is there");
        let _ = sender.send(());
        let _ = gate.read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    receiver
}

#[test]
fn a_job_that_ends_wakes_the_prompt_and_keeps_the_half_typed_line() {
    let model = MockModel::scripted([
        background("cat gate; echo built"),
        says("It runs."),
        says("The build is ready."),
        says("Both."),
    ]);
    let (class, mut terminal) = session(&model);
    terminal.type_line("build it");
    answered(&mut terminal, "It runs.", "");
    terminal
        .type_text("what about te")
        .wait_for("s13 >> what about te");
    open_gate(&class);
    terminal.wait_for("[job_1: cat gate; echo built: finished, exit code 0]");
    answered(&mut terminal, "The build is ready.", "what about te");
    terminal.type_line("sts?").wait_for("Both.");
    let requests = model.requests();
    assert_eq!(requests.len(), 4, "nobody asked how far it is");
    let woken = requests[2].user_texts();
    assert!(
        woken
            .last()
            .unwrap()
            .starts_with("<task_notification>\njob: job_1\n"),
        "{woken:?}"
    );
    assert_eq!(
        requests[3].user_texts().last().unwrap(),
        "what about tests?"
    );
}

#[test]
fn ctrl_c_ends_the_turn_and_the_job_goes_on() {
    let model = MockModel::scripted([
        background("cat gate; echo built").and_calls("bash", json!({"command": "sleep 1000"})),
        says("The build is ready."),
    ]);
    let (class, mut terminal) = session(&model);
    terminal
        .type_line("build it")
        .wait_for("> bash  sleep 1000");
    terminal.wait_for("job_1 runs in the background");
    terminal.press(Key::CtrlC).wait_for("(interrupted)\ns13 >>");
    open_gate(&class);
    terminal.wait_for("The build is ready.");
}

#[test]
fn who_leaves_is_told_what_is_stopped_and_nothing_of_it_goes_on() {
    for leave in ["exit\r", "\u{4}"] {
        let model = MockModel::scripted([
            background("exec 3> gate; sleep 1000 & sleep 1000"),
            says("It runs."),
        ]);
        let (class, mut terminal) = session(&model);
        let gate = watch_gate(&class);
        terminal.type_line("serve");
        answered(&mut terminal, "It runs.", "");
        gate.recv_timeout(PATIENCE).expect("the job has begun");
        terminal.type_text(leave);
        terminal.wait_for("[stopped at the end: job_1: exec 3> gate; sleep 1000 & sleep 1000]");
        assert_eq!(terminal.wait_exit(), 0);
        gate.recv_timeout(PATIENCE).expect("the group is gone");
    }
}

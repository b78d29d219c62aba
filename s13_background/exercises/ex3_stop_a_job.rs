//! Exercise 3 · /stop (15 minutes).
//!
//! Give the user a command `/stop job_1`, as a UserPromptSubmit hook that the assembly in `main.rs` adds. It kills the
//! job with all it has started and says `stopping job_1` on the screen; nothing of what was typed goes to the model. An
//! id that is not of a running job is answered `no such job: job_7`.
//!
//! The model must learn of it, by the one notice that every job ends in. Its status is `stopped by the user` and not
//! `lost: …`, and as ever it holds the end of what the job wrote, with the number of bytes.
//!
//! Hint: `Jobs::follow` in src/jobs.rs runs the work as a task of its own. `abort_handle()` of that task stops it, and
//! a process that is dropped takes its group with it.
//!
//! Hint: a task that was stopped ends with a `JoinError` that says so (`is_cancelled`), and anyhow gives it back from
//! beneath its context (`downcast_ref`).

use mock_servers::model::{Block, MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Gate, Ran};

const NOTICE: &str = "<task_notification>";

fn bash(command: &str, run_in_background: bool) -> Value {
    json!({"command": command, "run_in_background": run_in_background})
}

/// Starts a job that writes `begun` and waits, and lets it go on when it is told to. All the rest it takes note of.
fn brain(request: &Request) -> Reply {
    let last = request.messages.last().expect("a request has a message");
    let says_it = |word: &str| {
        let is_it = |block: &Block| matches!(block, Block::Text(text) if text == word);
        last.blocks.iter().any(is_it)
    };
    if says_it("start it") {
        // The pipe is open before the job says that it has begun, so nothing written to it is lost.
        let command =
            "exec 3<>gate; echo begun | tee begun; read -r _ <&3; echo done | tee -a begun";
        let job = bash(command, true);
        return calls("bash", job)
            .and_calls("bash", bash("until test -s begun; do :; done", false));
    }
    if says_it("let it go on") {
        // Opened for both directions, a pipe waits for no reader.
        return calls("bash", bash("echo 1<>gate", false));
    }
    says("Noted.")
}

/// Types these lines; returns what was shown and all that the model was sent as text.
fn run(lines: &[&str]) -> (Ran, Vec<String>) {
    let model = MockModel::start(Options::strict(), brain).unwrap();
    let class = Class::new(env!("CARGO_BIN_EXE_s13_background"))
        .file(".harness/settings.json", json!({"permissions": {"allow": ["bash"]}}).to_string())
        .model(&model);
    Gate::new(&class.dir());
    let ran = class.types(lines);
    ran.succeeds();
    (ran, model.last_request().user_texts())
}

#[test]
#[ignore = "exercise 3"]
fn a_job_is_stopped_and_the_model_learns_it_from_the_one_notice() {
    let (ran, texts) = run(&["start it", "/stop job_1", "let it go on"]);
    ran.shows("stopping job_1");
    assert!(
        !texts.iter().any(|text| text.contains("/stop")),
        "a command is not for the model; it was sent: {texts:#?}"
    );
    let notices: Vec<_> = texts.iter().filter(|text| text.starts_with(NOTICE)).collect();
    assert_eq!(notices.len(), 1, "one notice was to come: {texts:#?}");
    assert!(
        notices[0].contains("\nstatus: stopped by the user\n"),
        "the notice was to say `status: stopped by the user`:\n{}",
        notices[0]
    );
}

#[test]
#[ignore = "exercise 3"]
fn what_a_stopped_job_has_written_is_told() {
    let (_, texts) = run(&["start it", "/stop job_1", "let it go on"]);
    let notice = texts.iter().find(|text| text.starts_with(NOTICE));
    let notice = notice.expect("a notice was to come");
    assert!(
        notice.ends_with("(6 bytes)\nbegun\n</task_notification>"),
        "the job had written one line of 6 bytes, `begun`, when it was stopped; its notice:\n{notice}"
    );
}

#[test]
#[ignore = "exercise 3"]
fn what_does_not_run_is_not_stopped() {
    let (ran, texts) = run(&["start it", "/stop job_7", "let it go on"]);
    ran.shows("no such job: job_7");
    let notices: Vec<_> = texts.iter().filter(|text| text.starts_with(NOTICE)).collect();
    assert!(
        notices.len() == 1 && notices[0].contains("status: finished, exit code 0"),
        "job_1 was to go on to its end: {texts:#?}"
    );
}

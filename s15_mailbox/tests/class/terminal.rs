//! The lesson at a prompt: mail wakes it and keeps the half-typed line, and a teammate's question names who asks.
//!
//! Invariant: nothing here waits for a clock; teammates wait at a named pipe.

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::{Class, Gate, Terminal, team};

/// A session at its prompt, with `cat gate` allowed. The lead spawns alice, who begins with a command.
fn session(command: &str, last: &[&str]) -> (Class, MockModel, Gate, Terminal) {
    let model = MockModel::scripted([team::spawn("alice", "Build it."), says("She is at work.")]);
    let begins = calls("bash", json!({"command": command}));
    model.script_for("teammate named 'alice'", [begins, says("It is built.")]);
    let class = Class::new(env!("CARGO_BIN_EXE_s15_mailbox")).model(&model);
    let gate = Gate::new(&class.dir());
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s15 >>").type_line("build it");
    terminal.wait_for("She is at work.\n");
    model.script_for("", last.iter().copied().map(says));
    (class, model, gate, terminal)
}

#[test]
fn mail_that_comes_at_the_prompt_wakes_it_and_keeps_the_half_typed_line() {
    let replies = ["Alice has built it.", "All of them."];
    let (_class, model, gate, mut terminal) = session("cat gate", &replies);
    terminal
        .wait_for_below("She is at work.", "\ns15 >>")
        .type_line("/team")
        .wait_for_below("alice  developer  working", "\ns15 >>")
        .type_text("run the te")
        .wait_for("s15 >> run the te");
    drop(gate.open());
    terminal
        .wait_for_below("Alice has built it.", "\ns15 >> run the te")
        .type_line("sts")
        .wait_for("All of them.");
    let last = model.last_request();
    assert_eq!(last.user_texts().last().unwrap(), "run the tests");
    terminal
        .type_line("/team")
        .wait_for("alice  developer  gone (done)");
}

#[test]
fn a_teammate_s_question_names_it_and_takes_the_answer_from_the_prompt() {
    let (class, _model, _, mut terminal) = session("touch built", &["Alice has built it."]);
    terminal
        .wait_for("alice │ run it? [y]es / [a]lways / [N]o:")
        .type_line("y")
        .wait_for_below("Alice has built it.", "\ns15 >>");
    assert!(class.dir().join("built").exists());
}

//! The lesson at a prompt: mail wakes it and keeps the half-typed line, and a teammate's question names who asks.
//!
//! Invariant: nothing here waits for a clock; teammates wait at a named pipe.

use std::fs::File;
use std::process::Command;

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::{Class, Terminal};

/// A session at its prompt, with `cat` of a pipe called `gate` allowed. The lead spawns alice, who begins with a command.
fn session(command: &str) -> (Class, MockModel, Terminal) {
    let job = json!({"name": "alice", "role": "developer", "prompt": "Build it."});
    let model = MockModel::scripted([calls("spawn_teammate", job), says("She is at work.")]);
    model.script_for(
        "teammate named 'alice'",
        [
            calls("bash", json!({"command": command})),
            says("It is built."),
        ],
    );
    let class = Class::new(env!("CARGO_BIN_EXE_s15_mailbox")).model(&model);
    let made = Command::new("mkfifo")
        .arg(class.dir().join("gate"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s15 >>").type_line("build it");
    terminal.wait_for("She is at work.\n");
    (class, model, terminal)
}

/// Waits until the prompt stands, with these keys typed at it, below this text.
fn prompt_below(terminal: &mut Terminal, text: &str, typed: &str) {
    terminal.wait_until(&format!("a prompt below {text:?}"), |screen| {
        let below = screen.split_once(text).map_or("", |(_, below)| below);
        below.contains(format!("\ns15 >> {typed}").trim_end())
    });
}

#[test]
fn mail_that_comes_at_the_prompt_wakes_it_and_keeps_the_half_typed_line() {
    let (class, model, mut terminal) = session("cat gate");
    model.script_for("", [says("Alice has built it."), says("All of them.")]);
    prompt_below(&mut terminal, "She is at work.", "");
    terminal.type_line("/team");
    prompt_below(&mut terminal, "alice  developer  working", "");
    terminal
        .type_text("run the te")
        .wait_for("s15 >> run the te");
    let gate = File::options().write(true).open(class.dir().join("gate"));
    drop(gate.expect("alice reads the gate"));
    prompt_below(&mut terminal, "Alice has built it.", "run the te");
    terminal.type_line("sts").wait_for("All of them.");
    let last = model.last_request();
    assert_eq!(last.user_texts().last().unwrap(), "run the tests");
    terminal
        .type_line("/team")
        .wait_for("alice  developer  gone (done)");
}

#[test]
fn a_teammate_s_question_names_it_and_takes_the_answer_from_the_prompt() {
    let (class, model, mut terminal) = session("touch built");
    model.script_for("", [says("Alice has built it.")]);
    terminal.wait_for("alice │ run it? [y]es / [a]lways / [N]o:");
    terminal.type_line("y");
    prompt_below(&mut terminal, "Alice has built it.", "");
    assert!(class.dir().join("built").exists());
}

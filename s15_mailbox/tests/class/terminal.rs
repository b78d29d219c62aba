//! The lesson at a prompt: a teammate's question names who asks.

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::{Class, team};

#[test]
fn a_teammate_s_question_names_it_and_takes_the_answer_from_the_prompt() {
    let model = MockModel::scripted([team::spawn("alice", "Build it."), says("She is at work.")]);
    let begins = calls("bash", json!({"command": "touch built"}));
    model.script_for("teammate named 'alice'", [begins, says("It is built.")]);
    let class = Class::new(env!("CARGO_BIN_EXE_s15_mailbox")).model(&model);
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s15 >>").type_line("build it");
    terminal.wait_for("She is at work.\n");
    model.script_for("", [says("Alice has built it.")]);
    terminal
        .wait_for("alice │ run it? [y]es / [a]lways / [N]o:")
        .type_line("y")
        .wait_for_below("Alice has built it.", "\ns15 >>")
        .type_line("/team")
        .wait_for("alice  developer  gone (done)");
    assert!(class.dir().join("built").exists());
}

//! Ctrl-C and signals: a turn ends, the session goes on, and nothing the turn started survives it.

use mock_servers::model::{Block, Fault, calls, says};
use serde_json::json;
use testkit::{Gate, Key};

use super::{last_text, model, session};

#[test]
fn ctrl_c_ends_a_running_command_with_all_it_started() {
    let command = "exec 3> gate; sleep 1000 & echo started; sleep 1000";
    let model = model([calls("bash", json!({"command": command})), says("as you wish")]);
    let (class, mut terminal) = session(&model);
    let gate = Gate::new(&class.dir());
    let holders = gate.watch();
    terminal.type_line("take your time");
    holders.wait_for("the command begins");
    terminal.press(Key::CtrlC).wait_for("(interrupted)\ns01 >>");
    holders.wait_for("every process of the command has gone");

    terminal.type_line("never mind").wait_for("as you wish\ns01 >>");
    let requests = model.requests();
    let last = requests[1].messages.last().expect("a message");
    assert!(matches!(&last.blocks[0], Block::ToolResult { is_error: true, .. }), "{last:?}");
    assert_eq!(last_text(&requests[1]), "never mind");
}

#[test]
fn kill_9_leaves_no_command_behind() {
    let command = "exec 3> gate; sleep 1000 & (sleep 1000; true) & kill -9 $PPID; sleep 1000";
    for _ in 0..20 {
        let model = model([calls("bash", json!({ "command": command }))]);
        let (class, mut terminal) = session(&model);
        let holders = Gate::new(&class.dir()).watch();
        terminal.type_line("be killed");
        holders.wait_for("the command begins");
        holders.wait_for("every process of the command has gone");
    }
}

#[test]
fn ctrl_c_ends_a_reply_in_the_middle() {
    // A reply that did not arrive is the next one's.
    let story = "once upon a time there was a model that went on, ".repeat(20);
    let model = model([says(story + "the end")]);
    model.fault(Fault::Stall, 1);
    let (_class, mut terminal) = session(&model);
    terminal.type_line("tell me a story").wait_for("once upon");
    terminal.press(Key::CtrlC).wait_for("(interrupted)\ns01 >>");
    terminal.type_line("once more").wait_for("the end\ns01 >>");
    assert_eq!(last_text(&model.requests()[1]), "once more");
}

#[test]
fn sigterm_ends_the_session_as_a_shell_reports_it() {
    // The command's parent is the chapter.
    let model = model([calls("bash", json!({"command": "kill -TERM $PPID; cat gate"}))]);
    let (class, mut terminal) = session(&model);
    let _gate = Gate::new(&class.dir());
    terminal.type_line("stop yourself");
    assert_eq!(terminal.wait_exit(), 128 + 15);
}

//! Typing: the line editor, the history, keys pressed during a turn, the size of the terminal.

use mock_servers::model::{calls, says};
use serde_json::json;
use testkit::{Class, Gate, Key};

use super::{last_text, model, session};

#[test]
fn a_tools_output_cannot_command_the_terminal() {
    let command = r"printf 'before\033[2J\033[1;1H\033]0;owned\007after\rover\n'";
    let model = model([calls("bash", json!({"command": command})), says("printed \x1b[2Jit")]);
    let (_class, mut terminal) = session(&model);
    terminal.type_line("print it").wait_for("printed ␛[2Jit");
    terminal.wait_for("  before␛[2J␛[1;1H␛]0;owned␇after␍over\n");
}

#[test]
fn a_terminal_that_only_prints_is_enough() {
    let model = model([calls("bash", json!({"command": "echo from bash"})), says("done")]);
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop")).model(&model).env("TERM", "dumb");
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("s01 >>").type_line("run it");
    terminal.wait_for("s01 >> run it\n> bash  echo from bash\n  from bash\ndone\ns01 >>");
    terminal.type_text("half a line").press(Key::CtrlC).wait_for("^C\ns01 >>");
    assert_eq!(terminal.press(Key::CtrlD).wait_exit(), 0);
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_gives_it_back() {
    let model = model([says("I am back")]);
    let class = Class::new("bash").arg("--norc").arg("-i").model(&model);
    let class = class.env("PS1", "shell> ");
    let mut shell = class.terminal(80, 24);
    shell.wait_for("shell>").type_line(env!("CARGO_BIN_EXE_s01_loop"));
    shell.wait_for("s01 >>").type_text("are you").wait_for("s01 >> are you");
    shell.press(Key::CtrlZ).wait_for("Stopped").type_line("fg");
    shell.wait_for("\ns01 >> are you").type_line(" back?");
    shell.wait_for("s01 >> are you back?\nI am back\ns01 >>");
}

#[test]
fn a_command_that_reads_standard_input_gets_nothing_of_what_is_typed() {
    let command = "cat gate; cat; read line; echo \"read: [$line]\"";
    let model = model([
        calls("bash", json!({ "command": command })),
        says("That was empty."),
        says("This was typed."),
    ]);
    let (class, mut terminal) = session(&model);
    let gate = Gate::new(&class.dir());
    terminal.type_line("read").wait_for("> bash  cat gate");
    terminal.type_line("for the prompt");
    gate.open();
    terminal.wait_for("read: []").wait_for("That was empty.").wait_for("This was typed.");
    assert_eq!(last_text(&model.requests()[2]), "for the prompt");
}

//! Typing: the line editor, the history, keys pressed during a turn, the size of the terminal.

use mock_servers::model::{Fault, calls, says};
use serde_json::json;
use testkit::{Class, Key};

use crate::{Gate, last_text, model, session};

#[test]
fn a_line_is_edited_before_it_is_sent() {
    let model = model([says("hello yourself")]);
    let (_class, mut terminal) = session(&model);
    terminal.type_text("say hullo");
    for _ in 0..3 {
        terminal.press(Key::Left);
    }
    terminal
        .press(Key::Backspace)
        .type_text("e")
        .press(Key::Enter);
    terminal.wait_for("s01 >> say hello\nhello yourself\ns01 >>");
    assert_eq!(last_text(&model.requests()[0]), "say hello");
}

#[test]
fn an_empty_line_does_nothing() {
    let model = model([says("here I am")]);
    let (_class, mut terminal) = session(&model);
    terminal
        .press(Key::Enter)
        .type_line("   ")
        .type_line("are you there?");
    terminal.wait_for("here I am");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn arrow_up_brings_earlier_lines_back_in_this_session_and_the_next() {
    let model = model([says("first"), says("second"), says("third")]);
    let (class, mut terminal) = session(&model);
    terminal.type_line("count on").wait_for("first\ns01 >>");
    terminal
        .press(Key::Up)
        .press(Key::Enter)
        .wait_for("second\ns01 >>");
    terminal.type_line("exit").wait_exit();

    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("s01 >>").press(Key::Up).press(Key::Up);
    terminal.wait_for("s01 >> count on").press(Key::Enter);
    terminal.wait_for("third");
    let asked: Vec<_> = model
        .requests()
        .iter()
        .map(|request| last_text(request).to_owned())
        .collect();
    assert_eq!(asked, ["count on"; 3]);
    assert_eq!(class.read(".harness/.gitignore"), "*\n");
}

#[test]
fn two_sessions_keep_each_others_history() {
    let model = model([says("one"), says("two"), says("three")]);
    let (class, mut left) = session(&model);
    let mut right = class.terminal(80, 24);
    right.wait_for("s01 >>");
    left.type_line("from the left").wait_for("one\ns01");
    right.type_line("from the right").wait_for("two\ns01");
    left.type_line("left again").wait_for("three\ns01");
    assert_eq!(
        class.read(".harness/history"),
        "#V2\nfrom the left\nfrom the right\nleft again\n"
    );
}

#[test]
fn nothing_is_written_before_the_first_line() {
    let model = model([]);
    let (class, mut terminal) = session(&model);
    assert_eq!(terminal.press(Key::CtrlD).wait_exit(), 0);
    assert!(!class.dir().join(".harness").exists());
}

#[test]
fn ctrl_c_clears_the_line_and_then_says_how_to_leave() {
    let model = model([says("good morning")]);
    let (_class, mut terminal) = session(&model);
    terminal
        .type_text("delete everything")
        .wait_for("everything");
    terminal.press(Key::CtrlC).type_line("good morning");
    terminal.wait_for("s01 >> good morning\ngood morning\ns01 >>");
    assert_eq!(last_text(&model.requests()[0]), "good morning");
    terminal
        .press(Key::CtrlC)
        .wait_for("(Ctrl-D, q or exit leaves)\ns01 >>");
}

#[test]
fn ctrl_d_leaves_from_an_empty_line_only() {
    let model = model([says("still here")]);
    let (_class, mut terminal) = session(&model);
    terminal
        .type_text("stay")
        .press(Key::CtrlD)
        .press(Key::Enter)
        .wait_for("still here");
    assert_eq!(terminal.press(Key::CtrlD).wait_exit(), 0);
}

#[test]
fn lines_that_come_in_one_piece_are_all_kept() {
    let model = model([says("first"), says("second"), says("third")]);
    let (_class, mut terminal) = session(&model);
    terminal
        .type_text("one\rtwo\rthr")
        .wait_for("second\ns01 >> thr");
    terminal.type_text("ee\r").wait_for("s01 >> three\nthird\n");
    let asked: Vec<_> = model
        .requests()
        .iter()
        .map(|request| last_text(request).to_owned())
        .collect();
    assert_eq!(asked, ["one", "two", "three"]);
}

#[test]
fn a_pasted_block_is_one_request() {
    let model = model([says("a fine function")]);
    let (_class, mut terminal) = session(&model);
    terminal
        .type_text("\x1b[200~def f():\n    return 1\x1b[201~")
        .press(Key::Enter);
    terminal.wait_for("a fine function");
    assert_eq!(last_text(&model.requests()[0]), "def f():\n    return 1");
}

#[test]
fn what_is_typed_during_a_turn_comes_after_it() {
    let wait = calls("bash", json!({"command": "echo reading; cat gate"}));
    let model = model([
        wait,
        says("done waiting"),
        says("second answer"),
        says("third answer"),
    ]);
    let (class, mut terminal) = session(&model);
    let gate = Gate::new(&class.dir());
    terminal
        .type_line("wait")
        .wait_for("> bash  echo reading; cat gate");
    terminal.type_text("then this\rand th");
    gate.open();
    terminal.wait_for("done waiting\ns01 >> then this\nsecond answer\ns01 >> and th");
    terminal
        .type_text("is too\r")
        .wait_for("s01 >> and this too\nthird answer");
    assert_eq!(last_text(&model.requests()[3]), "and this too");
}

#[test]
fn a_resized_terminal_keeps_the_line() {
    let words =
        "a request that is longer than the terminal is wide, so that it takes several rows of it";
    let model = model([says("that was long")]);
    let (_class, mut terminal) = session(&model);
    terminal.type_text(words).wait_for("rows of it");
    terminal
        .resize(40, 24)
        .type_text(" now")
        .resize(100, 30)
        .type_line(" and then");
    terminal.wait_for("that was long");
    assert_eq!(
        last_text(&model.requests()[0]),
        format!("{words} now and then")
    );
}

#[test]
fn a_narrow_terminal_breaks_lines_between_words() {
    let model = model([
        says(
            "A loop asks a model, runs the calls of its reply, and asks again.\n\n    let indented = true;",
        ),
        says("A loop asks a model, runs the calls of its reply, and asks again."),
    ]);
    let (_class, mut terminal) = session(&model);
    terminal.resize(30, 24).type_line("what is this");
    terminal.wait_for(
        "A loop asks a model, runs the\ncalls of its reply, and asks\nagain.\n\n    let indented = true;\ns01 >>",
    );
    terminal.resize(40, 24).type_line("once more");
    terminal.wait_for("A loop asks a model, runs the calls of\nits reply, and asks again.\ns01 >>");
    terminal.press(Key::CtrlD).wait_exit();
}

#[test]
fn an_error_is_broken_between_words_too() {
    let model = model([]);
    model.fault(Fault::Internal, 1);
    let (_class, mut terminal) = session(&model);
    terminal.resize(30, 24).type_line("hello");
    terminal.wait_for(
        "\nError: the model's API\nanswered 500 (api_error):\nInternal server error — ask\nagain",
    );
}

#[test]
fn a_tools_output_cannot_command_the_terminal() {
    let command = r"printf 'before\033[2J\033[1;1H\033]0;owned\007after\rover\n'";
    let model = model([
        calls("bash", json!({"command": command})),
        says("printed \x1b[2Jit"),
    ]);
    let (_class, mut terminal) = session(&model);
    terminal.type_line("print it").wait_for("printed ␛[2Jit");
    terminal.wait_for("  before␛[2J␛[1;1H␛]0;owned␇after␍over\n");
}

#[test]
fn a_terminal_that_only_prints_is_enough() {
    let model = model([
        calls("bash", json!({"command": "echo from bash"})),
        says("done"),
    ]);
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop"))
        .model(&model)
        .env("TERM", "dumb");
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("s01 >>").type_line("run it");
    terminal.wait_for("s01 >> run it\n> bash  echo from bash\n  from bash\ndone\ns01 >>");
    terminal
        .type_text("half a line")
        .press(Key::CtrlC)
        .wait_for("^C\ns01 >>");
    assert_eq!(terminal.press(Key::CtrlD).wait_exit(), 0);
}

#[test]
fn without_a_place_for_its_history_it_works_and_says_so_once() {
    let model = model([says("one"), says("two")]);
    // A file where the folder should be: nobody may write there, not even root.
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop"))
        .model(&model)
        .file(".harness", "");
    let mut terminal = class.terminal(80, 24);
    terminal
        .wait_for("s01 >>")
        .type_line("count")
        .wait_for("one\ns01 >>");
    terminal
        .press(Key::Up)
        .type_line(" on")
        .wait_for("s01 >> count on\ntwo\ns01 >>");
    assert_eq!(
        terminal.screen().matches("the history is not kept").count(),
        1
    );
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_gives_it_back() {
    let model = model([says("I am back")]);
    let class = Class::new("bash").arg("--norc").arg("-i").model(&model);
    let class = class.env("PS1", "shell> ");
    let mut shell = class.terminal(80, 24);
    shell
        .wait_for("shell>")
        .type_line(env!("CARGO_BIN_EXE_s01_loop"));
    shell
        .wait_for("s01 >>")
        .type_text("are you")
        .wait_for("s01 >> are you");
    shell.press(Key::CtrlZ).wait_for("Stopped").type_line("fg");
    shell.wait_for("\ns01 >> are you").type_line(" back?");
    shell.wait_for("s01 >> are you back?\nI am back\ns01 >>");
}

#[test]
fn the_terminal_is_left_as_it_was_found() {
    let model = model([]);
    let class = Class::new("bash")
        .arg("-c")
        .arg("\"$0\"; stty -a; echo end");
    let class = class.arg(env!("CARGO_BIN_EXE_s01_loop")).model(&model);
    let mut terminal = class.terminal(80, 24);
    terminal
        .wait_for("s01 >>")
        .press(Key::CtrlD)
        .wait_for("\nend");
    let settings = terminal.screen();
    for off in ["-isig", "-icanon", "-echo ", "-icrnl", "-ixon"] {
        assert!(!settings.contains(off), "{settings}");
    }
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
    terminal
        .wait_for("read: []")
        .wait_for("That was empty.")
        .wait_for("This was typed.");
    assert_eq!(last_text(&model.requests()[2]), "for the prompt");
}

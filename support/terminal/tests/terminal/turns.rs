//! A turn: a sign of life, what is typed meanwhile, and how it is ended.

use testkit::Key;

use crate::program::{self, Program};

/// A program whose turn has begun.
fn turn() -> Program {
    let mut program = Program::start();
    program.order("turn").wait_for("the turn begins");
    program
}

#[test]
fn a_turn_gives_a_sign_of_life_when_nothing_is_written_and_its_text_goes_on_where_it_was() {
    let mut program = turn();
    program.order("wait for it").wait_for(" waiting for the model ");
    program.order("stream I will").wait_for("the turn begins\nI will");
    // In the middle of a line the sign stands below it.
    program.terminal.wait_until("a sign below the line", |screen| {
        screen.contains("I will\n") && screen.contains(" waiting for the model ")
    });
    program.order("stream  write it.").wait_for("\nI will write it.");
    program.order("call make").wait_for("I will write it.\n> make  null");
    program.order("done it is").wait_for(" running make ");
    program.order("progress 3 of 4").wait_for(" running make: 3 of 4 ");
    program.order("result done").wait_for("> make  null\n  done");
    program.order("end").wait_for("> make  null\n  done\nthe turn ends\ns01 >>");
    assert!(!program.terminal.screen().contains("waiting for"));
}

#[test]
fn what_is_typed_during_a_turn_is_seen_and_comes_after_it() {
    let mut program = turn();
    program
        .terminal
        .type_text("then this\rand th")
        .wait_for("the turn begins\ns01 >> then this ⏎ and th");
    program
        .order("stream the model talks")
        .wait_for("the turn begins\nthe model talks\ns01 >> then this ⏎ and th");
    program.terminal.type_text("\x7f\x7fth");
    program.order("end").wait_for(
        "the model talks\nthe turn ends\ns01 >> then this\nrequest: then this\ns01 >> and th",
    );
    program.terminal.type_line("is too").wait_for("request: and this too\n");
}

#[test]
fn a_turn_that_comes_by_itself_prints_above_the_half_line_and_gives_it_back() {
    let mut program = Program::start();
    program.terminal.type_text("half").press(Key::Left).wait_for("s01 >> half");
    program.order("turn").wait_for("the turn begins\ns01 >> half");
    program.order("say the build is green");
    program
        .order("stream the model talks")
        .wait_for("the turn begins\nthe build is green\nthe model talks\ns01 >> half");
    program.terminal.type_text("l").wait_for("\ns01 >> hallf");
    program.order("end").wait_for("the model talks\nthe turn ends\ns01 >> hallf");
    program.terminal.type_line("-").wait_for("request: hall-f\n");
}

#[test]
fn several_lines_pasted_while_a_model_talks_are_one_half_typed_request() {
    let mut program = turn();
    for piece in [" one", " two", " three"].repeat(20) {
        program.order(&format!("stream {piece}"));
    }
    program
        .terminal
        .type_text("\x1b[200~def f():\r    return 1\x1b[201~")
        .wait_for(" three\ns01 >> def f():\n    return 1");
    program.order("end");
    program
        .terminal
        .wait_for("the turn ends\ns01 >> def f():\n    return 1")
        .press(Key::Enter)
        .wait_for("request: def f():\n    return 1\ns01 >>");
}

#[test]
fn a_line_that_a_turn_works_on_is_typed_ahead_no_more() {
    let mut program = Program::start();
    program.terminal.type_text("turn\rturn\ra half").wait_for("s01 >> turn\nthe turn begins");
    program.order("stream one").wait_for("s01 >> turn\nthe turn begins\none\ns01 >> turn ⏎ a half");
    program.order("end").wait_for("the turn ends\ns01 >> turn\nthe turn begins\ns01 >> a half");
}

#[test]
fn ctrl_c_and_esc_end_a_turn_and_no_other_key_does() {
    for key in [Key::CtrlC, Key::Escape] {
        let mut program = turn();
        program.terminal.type_text("th\x1b[A\x1b[1;5C\x1bOPe\x1b\rn");
        program.terminal.wait_for("s01 >> the\nn");
        program.terminal.press(key);
        program.terminal.wait_for("(interrupted)\ns01 >> the\nn").type_text(" this");
        program.terminal.press(Key::Enter).wait_for("request: the\nn this\n");
    }
}

#[test]
fn the_terminal_is_left_as_it_was_found_whatever_ends_the_program() {
    for typed in ["\x04", "exit\r", "panic\r", "stop\r"] {
        let class = program::behind_a_shell().file("go", "");
        let mut terminal = class.terminal(80, 24);
        terminal.wait_for("s01 >>").type_text(typed).wait_for("\nend");
        let settings = terminal.screen();
        for off in ["-isig", "-icanon", "-echo ", "-icrnl", "-ixon"] {
            assert!(!settings.contains(off), "{typed:?}: {settings}");
        }
    }
}

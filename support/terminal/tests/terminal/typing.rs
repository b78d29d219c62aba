//! Typing at the prompt: the line editor, the history, the size of the terminal.

use testkit::{Class, Key, Terminal};

use crate::program;

/// Another session in this class.
fn session(class: &Class) -> Terminal {
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("s01 >>");
    terminal
}

/// What is typed, and the requests that come of it, in their order.
#[test]
fn keys_make_requests() {
    let paste = "\x1b[200~def f():\n    return 1\x1b[201~\r";
    for (keys, requests) in [
        ("say hullo\x1b[D\x1b[D\x1b[D\x7fe\r", &["say hello"][..]),
        ("\r   \rare you there?\r", &["are you there?"]),
        ("delete everything\x03good morning\r", &["good morning"]),
        ("stay\x04\r", &["stay"]),
        ("stay\x1b[D\x04\r", &["sta"]),
        ("one\rtwo\rthree\r", &["one", "two", "three"]),
        (paste, &["def f():\n    return 1"]),
        ("first\nsecond\x1b\rthird\r", &["first\nsecond\nthird"]),
        ("Grüße 世界\x7f\r", &["Grüße 世"]),
        ("/he\t\r", &["/help"]),
    ] {
        let class = program::class(None);
        let mut terminal = session(&class);
        terminal.type_text(keys);
        let wanted: Vec<String> = requests.iter().map(|r| format!("request: {r}\n")).collect();
        terminal.wait_until(&format!("{wanted:?}"), |screen| {
            let found = screen.match_indices("request: ").count() == wanted.len();
            found && wanted.iter().all(|wanted| screen.contains(wanted))
        });
        terminal.wait_until("an empty prompt", |screen| screen.trim_end().ends_with("s01 >>"));
    }
}

#[test]
fn ctrl_c_at_an_empty_prompt_says_how_to_leave_and_ctrl_d_leaves() {
    let class = program::class(None);
    let mut terminal = session(&class);
    terminal.press(Key::CtrlC).wait_for("(Ctrl-D, q or exit leaves)\ns01 >>");
    assert_eq!(terminal.press(Key::CtrlD).wait_exit(), 0);
    assert!(!class.dir().join(".harness").exists(), "nothing is written before the first line");
}

#[test]
fn a_resized_terminal_keeps_the_line() {
    let words =
        "a request that is longer than the terminal is wide, so that it takes several rows of it";
    let class = program::class(None);
    let mut terminal = session(&class);
    terminal.type_text(words).wait_for("rows of it");
    terminal.resize(40, 24).type_text(" now").resize(120, 30).type_line(" and then");
    terminal.wait_for(&format!("request: {words} now and then\n"));
}

#[test]
fn arrow_up_brings_earlier_lines_back_in_this_session_and_the_next() {
    let class = program::class(None);
    let mut terminal = session(&class);
    terminal.type_text("count\non\r");
    terminal.wait_for("request: count\non\ns01 >>");
    terminal.press(Key::Up).press(Key::Enter);
    terminal.wait_until("it again", |screen| screen.matches("request: count\non\n").count() == 2);
    terminal.type_line("exit").wait_exit();
    let history = class.read(".harness/history");
    assert_eq!(history, "#V2\ncount\\non\n");

    let mut terminal = session(&class);
    terminal.press(Key::Up).wait_for("s01 >> count\non");
}

#[test]
fn two_sessions_keep_each_others_history() {
    let class = program::class(None);
    let (mut left, mut right) = (session(&class), session(&class));
    left.type_line("from the left").wait_for("request: from the left\ns01");
    right.type_line("from the right").wait_for("request: from the right\ns01");
    left.type_line("left again").wait_for("request: left again\ns01");
    assert_eq!(class.read(".harness/history"), "#V2\nfrom the left\nfrom the right\nleft again\n");
}

#[test]
fn without_a_place_for_its_history_it_works_and_says_so_once() {
    // A file where the folder should be: nobody may write there, not even root.
    let class = program::class(None).file(".harness", "");
    let mut terminal = session(&class);
    terminal.type_line("count").wait_for("the history is not kept").wait_for("request: count\n");
    terminal.press(Key::Up).type_line(" on").wait_for("request: count on\ns01 >>");
    assert_eq!(terminal.screen().matches("the history is not kept").count(), 1);
}

#[test]
fn lines_that_were_typed_before_the_program_started_are_requests() {
    let class = program::behind_a_shell();
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("ready").type_text("early\rbird\rhal");
    terminal.wait_for("bird");
    std::fs::write(class.dir().join("go"), "").expect("the class has a folder");
    terminal.wait_for("request: early\ns01 >> bird\nrequest: bird\ns01 >>");
    terminal.type_line("f").wait_for("request: half\n");
}

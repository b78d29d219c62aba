//! Questions: they take the terminal over, get only what was typed to them, and give it back as it was.

use testkit::Key;

use crate::program::{self, Program};

#[test]
fn the_answers_are_yes_always_and_no() {
    let mut program = Program::start();
    for (typed, answer) in [("y", "Yes"), ("always", "Always"), ("N", "No(User)"), ("", "No(User)")]
    {
        let question = format!("May I, answer {answer} {typed}?");
        let terminal = program.order(&format!("ask {question}"));
        terminal.wait_for(&format!("{question} [y]es / [a]lways / [N]o:"));
        terminal.type_line(typed).wait_for(&format!("{question} {answer}\ns01 >>"));
    }
}

#[test]
fn a_question_in_the_middle_of_a_line_gives_the_line_back() {
    for (typed, answer) in [("y", "Yes"), ("a", "Always"), ("n", "No(User)")] {
        let mut program = Program::start();
        program.terminal.type_text("delete the l").wait_for("s01 >> delete the l");
        program.order("ask May I?").wait_for("May I? [y]es / [a]lways / [N]o:");
        let screen = program.terminal.screen();
        assert!(!screen.contains("delete"), "the half line is out of the way:\n{screen}");
        program.terminal.type_line(typed);
        program.terminal.wait_for(&format!("May I? {answer}\ns01 >> delete the l"));
        program
            .terminal
            .type_line("ogs")
            .wait_for("s01 >> delete the logs\nrequest: delete the logs\n");
    }
}

#[test]
fn a_teammates_question_comes_while_the_prompt_stays_wanted() {
    let mut program = Program::start();
    program.terminal.type_text("half").wait_for("s01 >> half");
    program.order("aside May I push?").wait_for("alice │ May I push? [y]es");
    program.terminal.type_line("y").wait_for("alice │ May I push? Yes\ns01 >> half");
    program.terminal.type_line(" done").wait_for("request: half done");
}

#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let mut program = Program::start();
    program.order("turn").wait_for("the turn begins");
    program.terminal.type_text("y\ra half");
    program.order("ask Really?").wait_for("Really? [y]es / [a]lways / [N]o:");
    program.terminal.type_line("n").wait_for("Really? No(User)");
    program.order("end").wait_for("the turn ends\ns01 >> y\nrequest: y\ns01 >> a half");
}

#[test]
fn text_that_is_no_answer_is_nothing_at_all() {
    let mut program = Program::start();
    program.order("ask Sure?").wait_for("Sure? [y]es");
    for (count, text) in (1..).zip(["why", "list the files", "hm"]) {
        program.terminal.type_line(text).wait_for(&format!("[N]o: {text}\n"));
        if count < 3 {
            program
                .terminal
                .wait_until("the question again", |screen| screen.matches("[N]o:").count() > count);
        }
    }
    program.terminal.wait_for("Sure? No(NotAnAnswer)\ns01 >>");
    program.terminal.type_line("next").wait_for("request: next");
    assert_eq!(program.terminal.screen().matches("request:").count(), 1);
}

#[test]
fn ctrl_c_at_a_question_is_no_and_ends_the_turn() {
    let mut program = Program::start();
    program.terminal.type_text("half").wait_for("s01 >> half");
    program.order("ask Sure?").wait_for("Sure? [y]es");
    program.terminal.press(Key::CtrlC).wait_for("(interrupted)\ns01 >> half");
}

#[test]
fn a_withdrawn_question_leaves_nothing_behind() {
    let mut program = Program::start();
    program.terminal.type_text("half").wait_for("s01 >> half");
    program.order("withdraw Sure?").wait_for("Sure? [y]es");
    program.terminal.type_text("ye").wait_for("[N]o: ye");
    program.order("too late").wait_for("withdrawn: too late\ns01 >> half");
    assert!(!program.terminal.screen().contains("Sure?"));
    program.terminal.type_line("!").wait_for("request: half!");
}

#[test]
fn several_questions_wait_in_line() {
    let mut program = Program::start();
    program.order("both First?|Second?").wait_for("First? [y]es");
    assert!(!program.terminal.screen().contains("Second?"));
    program.terminal.type_line("y").wait_for("Second? [y]es");
    program.terminal.type_line("n").wait_for("Second? No(User)");
    program.terminal.wait_for("First? Yes");
}

#[test]
fn what_is_said_stands_above_the_open_prompt() {
    let mut program = Program::start();
    program.terminal.type_text("helo").press(Key::Left).wait_for("s01 >> helo");
    program.order("say the build is green").wait_for("the build is green\ns01 >> helo");
    program.order("alice I am done\there").wait_for("alice │ I am done");
    program.terminal.type_text("l").wait_for("s01 >> hello");
    program.terminal.press(Key::Enter).wait_for("request: hello");
}

#[test]
fn a_terminal_that_only_prints_asks_the_same_questions() {
    let mut program = Program::start_on("dumb");
    program.order("turn").wait_for("the turn begins");
    program.terminal.type_line("y").wait_for("\ny");
    program.order("ask Really?").wait_for("Really? [y]es");
    program.terminal.type_line("hm");
    program
        .terminal
        .wait_for("[N]o: hm\nThat is no answer, and it was not taken as a request. Type y, a or n.\nReally? [y]es");
    program.terminal.type_line("n").wait_for("\nReally? No(User)");
    program.order("ask Still?").wait_for("Still? [y]es");
    program.terminal.press(Key::CtrlC).wait_for("(interrupted)\ns01 >> y\nrequest: y\ns01 >>");
}

#[test]
fn on_a_pipe_the_next_line_answers_if_it_is_an_answer() {
    let ran = program::class(None).types(&[
        "ask May I?",
        " Yes",
        "ask Again?",
        "a",
        "ask Still?",
        "list the files",
        "n",
        "ask Anybody?",
    ]);
    ran.shows("May I? Yes\n")
        .shows("Again? Always\n")
        .shows("Still? No(NotAnAnswer)\ns01 >> list the files\nrequest: list the files\n")
        .shows("s01 >> n\nrequest: n\n")
        .shows("Anybody? No(Nobody)\n");
}

#[test]
fn what_is_typed_behind_an_answer_in_one_piece_comes_after_the_turn() {
    let mut program = Program::start();
    program.order("ask Sure?").wait_for("Sure? [y]es");
    program
        .terminal
        .type_text("y\rlist files\rand th")
        .wait_for("Sure? Yes\ns01 >> list files\nrequest: list files\ns01 >> and th");
}

//! Permission questions on a real terminal: who is asked, what counts as an answer, and what becomes of half a line.

use std::io::Write;

use mock_servers::model::{Block, MockModel, calls, says};
use serde_json::json;
use testkit::{Class, Key, Terminal};

const QUESTION: &str = "[y]es / [a]lways / [N]o:";

/// A session with a model that wants to touch files, one reply each.
fn session(files: &[&str]) -> (Class, MockModel, Terminal) {
    let touches =
        files.iter().map(|file| calls("bash", json!({ "command": format!("touch {file}") })));
    let model = MockModel::scripted(touches.chain([says("All done.")]));
    let class = Class::new(env!("CARGO_BIN_EXE_s03_permission")).model(&model);
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s03 >>").type_line("go").wait_for(QUESTION);
    (class, model, terminal)
}

fn questions(screen: &str) -> usize {
    screen.matches(QUESTION).count()
}

#[test]
fn yes_counts_once_and_no_and_enter_both_mean_no() {
    let (class, model, mut terminal) = session(&["a", "a", "b"]);
    terminal.type_line("y");
    terminal.wait_until("a second question", |screen| questions(screen) == 2);
    terminal.type_line("n");
    terminal.wait_until("a third question", |screen| questions(screen) == 3);
    terminal.press(Key::Enter).wait_for("All done.");
    assert!(class.dir().join("a").exists() && !class.dir().join("b").exists());
    for (_, text) in &model.last_request().results()[1..] {
        let no = "permission denied: the user said no.";
        assert!(text.starts_with(no), "{text}");
    }
}

#[test]
fn other_text_is_no_answer_and_the_question_stands() {
    let (class, _model, mut terminal) = session(&["a"]);
    terminal.type_line("what is this?").wait_for("it was not taken as a request");
    terminal.wait_until("the question again", |screen| questions(screen) == 2);
    terminal.type_line("yes").wait_for("All done.");
    assert!(class.dir().join("a").exists());
}

#[test]
fn ctrl_c_at_a_question_says_no_and_ends_the_turn() {
    let (class, model, mut terminal) = session(&["a"]);
    terminal.press(Key::CtrlC).wait_for("(interrupted)");
    terminal.type_line("go on").wait_for("All done.");
    assert!(!class.dir().join("a").exists());
    // The strict model has accepted the request: the call was answered, by the question or by the end of the turn.
    let answers = model.last_request().results();
    assert!(answers[0].1.contains("interrupted"), "{answers:?}");
}

#[test]
fn a_half_typed_line_is_no_answer_and_comes_back() {
    let slow = MockModel::scripted([
        calls("bash", json!({"command": "head -1 gate"}))
            .and_calls("bash", json!({"command": "true"})),
        calls("bash", json!({"command": "touch a"})),
        says("All done."),
        says("As you said."),
    ]);
    let class = Class::new(env!("CARGO_BIN_EXE_s03_permission")).model(&slow);
    // Reading the pipe holds the turn up until the test writes into it: time to type.
    assert!(
        std::process::Command::new("mkfifo")
            .arg(class.dir().join("gate"))
            .status()
            .unwrap()
            .success()
    );
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s03 >>").type_line("go").wait_for("> bash  head -1 gate");
    terminal.type_text("yes, and the");
    // Open for both, the pipe takes the line also when its reader has died; the test fails then, and does not wait.
    let mut gate =
        std::fs::File::options().read(true).write(true).open(class.dir().join("gate")).unwrap();
    writeln!(gate, "open").unwrap();
    terminal.wait_for(QUESTION).type_line("n").wait_for("All done.");
    assert!(!class.dir().join("a").exists(), "half a line was taken for an answer");
    terminal.wait_for("s03 >> yes, and the").type_line(" next thing").wait_for("As you said.");
    let requests = slow.requests();
    let last = requests.last().unwrap().messages.last().unwrap();
    assert_eq!(last.blocks, [Block::Text("yes, and the next thing".into())]);
}

#[test]
fn a_question_shows_the_whole_command_and_nothing_it_could_do_to_the_terminal() {
    let command = "touch a\u{1b}[2J\u{1b}]0;title\u{7}\necho second line";
    let model =
        MockModel::scripted([calls("bash", json!({ "command": command })), says("All done.")]);
    let class = Class::new(env!("CARGO_BIN_EXE_s03_permission")).model(&model);
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s03 >>").type_line("go").wait_for(QUESTION);
    let screen = terminal.screen();
    assert!(screen.contains("s03 >> go") && screen.contains("  echo second line"), "{screen}");
    terminal.type_line("n").wait_for("All done.");
}

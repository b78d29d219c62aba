//! Ctrl-C, whatever is going on: what runs in the turn ends with it, what runs beside it goes on, and the session is as
//! good as before.

use mock_servers::model::{MockModel, Options, Request, calls, says};
use serde_json::json;
use testkit::{Gate, Key, Terminal};

use super::{
    HANGS, PROMPT, QUESTION, bash, class, is_side_call, last_texts, model, news, prompt_below,
    session, spawn, teammate,
};

fn is_the_end(request: &Request) -> bool {
    news(request).contains("still there?")
}

/// The turn has ended, and the next one is like any other.
#[track_caller]
fn goes_on(terminal: &mut Terminal) {
    terminal.wait_for("(interrupted)");
    terminal.type_line("still there?");
    prompt_below(terminal, "Still here.");
}

/// The summary comes so slowly that it is not there yet; what it would have replaced stays.
#[test]
fn in_the_middle_of_a_summary() {
    let options = Options {
        tokens_per_second: Some(60),
        ..Options::strict()
    };
    let slow = |request: &Request| match (is_side_call(request), request.calls().len()) {
        (true, _) if request.system.starts_with("You summarize") => says("word ".repeat(5_000)),
        (true, _) => says("[]"),
        (false, 0) if !is_the_end(request) => calls("compact", json!({})),
        (false, _) => says("Still here."),
    };
    let model = MockModel::start(options, slow).unwrap();
    let mut terminal = session(&class(&[]).model(&model));
    terminal.type_line("the first request of all");
    terminal.wait_for("> compact");
    model.wait_for_requests(2);
    terminal.press(Key::CtrlC);
    goes_on(&mut terminal);
    assert_eq!(last_texts(&model)[0], "the first request of all");
}

#[test]
fn a_teammate_works_on_and_ends_with_the_session() {
    let model = model(|request: &Request| match (teammate(request), request.calls().len()) {
        (Some(_), _) => bash(HANGS),
        (None, _) if is_the_end(request) => says("Still here."),
        (None, 0) => calls("spawn_teammate", spawn("alice")),
        (None, _) => bash("sleep 1001"),
    });
    let class = class(&["bash"]).model(&model);
    let gate = Gate::new(&class.dir()).watch();
    let mut terminal = session(&class);
    terminal.type_line("go").wait_for("> bash  sleep 1001");
    gate.wait_for("alice has begun");
    terminal.press(Key::CtrlC);
    goes_on(&mut terminal);
    terminal.type_line("/team").wait_until("alice at work", |screen| {
        let mut lines = screen.lines();
        lines.any(|line| line.starts_with("alice") && line.contains("working"))
    });
    terminal.wait_for(PROMPT).type_line("exit");
    terminal.wait_for("[stopped at the end: alice");
    assert_eq!(terminal.wait_exit(), 0);
    gate.wait_for("alice's command is gone");
}

/// What a stopped turn leaves behind is kept, and can be sent: stopped by the user, and by the end of the program itself.
#[test]
fn a_turn_that_was_stopped_is_resumed() {
    for stop in [HANGS, "kill -KILL $PPID"] {
        let model = model(move |request: &Request| {
            if is_the_end(request) {
                return says("Still here.");
            }
            calls("read_file", json!({"path": "README.md"}))
                .and_calls("bash", json!({"command": stop}))
                .and_calls("list_tasks", json!({}))
        });
        let class = class(&["bash"]).model(&model);
        let gate = Gate::new(&class.dir()).watch();
        let mut terminal = session(&class);
        terminal.type_line("stop it");
        if stop == HANGS {
            gate.wait_for("the command has begun");
            terminal.press(Key::CtrlC).wait_for("(interrupted)");
            terminal.wait_for(PROMPT).type_line("exit");
        }
        assert_eq!(terminal.wait_exit() == 0, stop == HANGS);
        let ran = class.arg("--resume").types(&["still there?"]);
        ran.succeeds().shows("Still here.");
        let texts = last_texts(&model).join("\n");
        assert!(texts.contains("stop it"), "{texts}\n{}", ran.transcript());
    }
}

/// Ctrl-C stops what the user sees: the lead's command, and the question of a teammate, which is told so and goes on.
#[test]
fn in_a_turn_while_a_teammate_asks() {
    let model = model(|request: &Request| match (teammate(request), request.calls().len()) {
        (Some(_), 0) => bash("touch of-alice"),
        (Some(_), _) => says(format!("told: {}", news(request))),
        (None, _) if is_the_end(request) => says("Still here."),
        (None, 0) => calls("spawn_teammate", spawn("alice")),
        (None, 1) => bash("cat gate"),
        (None, _) => says("Noted."),
    });
    let class = class(&[]).model(&model);
    Gate::new(&class.dir());
    let mut terminal = session(&class);
    terminal.type_line("go").wait_for(QUESTION);
    terminal.wait_for("> bash  cat gate").press(Key::CtrlC);
    terminal.wait_for("(interrupted)");
    terminal.wait_for("alice │ told: permission denied: the user interrupted the question");
    prompt_below(&mut terminal, "Noted.");
    goes_on(&mut terminal);
    assert!(!class.dir().join("of-alice").exists());
}

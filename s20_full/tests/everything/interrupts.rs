//! Ctrl-C, whatever is going on: what runs in the turn ends with it, what runs beside it goes on, and the session is as
//! good as before.

use mock_servers::model::{Fault, MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use testkit::{Class, Key, Terminal};

use crate::{
    HANGS, PATIENCE, PROMPT, QUESTION, background, bash, class, is_subagent, model, news,
    prompt_below, session, side_call, spawn, teammate, watch,
};

/// Presses Ctrl-C in the turn, and sees that the next one is like any other.
#[track_caller]
fn interrupts(terminal: &mut Terminal) {
    terminal.press(Key::CtrlC).wait_for("(interrupted)");
    goes_on(terminal);
}

#[track_caller]
fn goes_on(terminal: &mut Terminal) {
    terminal.type_line("still there?");
    prompt_below(terminal, "Still here.");
}

/// Answers the line that every test here ends with, and lets `plays` do the rest.
fn brain(plays: fn(&Request) -> Reply) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| match side_call(request) {
        Some(reply) => reply,
        None if news(request).contains("still there?") => says("Still here."),
        None => plays(request),
    }
}

fn start(allowed: &[&str], plays: fn(&Request) -> Reply) -> (MockModel, Class, Terminal) {
    let model = model(brain(plays));
    let class = class(allowed).model(&model);
    let terminal = session(&class);
    (model, class, terminal)
}

#[test]
fn in_a_command_of_the_lead_and_in_one_of_a_subagent() {
    let plays: [fn(&Request) -> Reply; 2] = [
        |_| bash(HANGS).and_calls("read_file", json!({"path": "README.md"})),
        |request| match is_subagent(request) {
            true => bash(HANGS),
            false => calls("task", json!({"description": "wait"}))
                .and_calls("task", json!({"description": "wait"})),
        },
    ];
    for plays in plays {
        let (_model, class, mut terminal) = start(&["bash"], plays);
        let gate = watch(&class.dir());
        terminal.type_line("go");
        gate.recv_timeout(PATIENCE).expect("the command has begun");
        interrupts(&mut terminal);
        gate.recv_timeout(PATIENCE).expect("the group is gone");
    }
}

#[test]
fn at_a_question_of_the_lead_and_at_one_of_a_subagent() {
    let plays: [fn(&Request) -> Reply; 2] = [
        |_| bash("touch made").and_calls("write_file", json!({"path": "made", "content": ""})),
        |request| match is_subagent(request) {
            true => bash("touch made"),
            false => calls("task", json!({"description": "touch"})),
        },
    ];
    for plays in plays {
        let (_model, class, mut terminal) = start(&[], plays);
        terminal.type_line("go").wait_for(QUESTION);
        interrupts(&mut terminal);
        assert!(!class.dir().join("made").exists(), "{}", terminal.screen());
    }
}

#[test]
fn in_the_wait_for_another_try() {
    let (model, _class, mut terminal) = start(&[], |_| says("Never said."));
    model.fault(Fault::RateLimited { retry_after: 30 }, 1);
    terminal.type_line("go").wait_for("retrying in");
    interrupts(&mut terminal);
    let screen = terminal.screen();
    assert!(!screen.contains("Never said."), "{screen}");
}

/// The summary comes so slowly that it is not there yet; what it would have replaced stays.
#[test]
fn in_the_middle_of_a_summary() {
    let options = Options {
        tokens_per_second: Some(60),
        ..Options::strict()
    };
    let plays = brain(|request| match request.calls().len() {
        0 => calls("compact", json!({})),
        _ => says("Never said."),
    });
    let slow = move |request: &Request| match request.system.starts_with("You summarize") {
        true => says("word ".repeat(5000)),
        false => plays(request),
    };
    let model = MockModel::start(options, slow).unwrap();
    let class = class(&[]).model(&model);
    let mut terminal = session(&class);
    terminal.type_line("the first request of all");
    terminal.wait_for("> compact");
    model.wait_for_requests(2);
    interrupts(&mut terminal);
    let last = model.requests();
    let last = last
        .iter()
        .rfind(|request| news(request).contains("still there?"));
    let texts = last.unwrap().user_texts().join("\n");
    assert!(texts.contains("the first request of all"), "{texts}");
}

/// What was asked for to run on does so, and its end is told in the next turn or wakes the prompt.
#[test]
fn a_job_that_the_turn_has_started_runs_on() {
    let (_model, class, mut terminal) = start(&["bash"], |request| {
        match news(request).contains("<task_notification>") {
            true => says("The job has ended."),
            false => background("cat gate").and_calls("bash", json!({"command": "sleep 1000"})),
        }
    });
    terminal.type_line("go").wait_for("> bash  sleep 1000");
    terminal.wait_for("job_1 runs in the background");
    interrupts(&mut terminal);
    crate::open_gate(&class.dir());
    prompt_below(&mut terminal, "The job has ended.");
}

#[test]
fn a_teammate_works_on_and_ends_with_the_session() {
    let (_model, class, mut terminal) = start(&["bash"], |request| {
        match (teammate(request), request.calls().len()) {
            (Some(_), _) => bash(HANGS),
            (None, 0) => calls("spawn_teammate", spawn("alice")),
            (None, _) => bash("sleep 1001"),
        }
    });
    let gate = watch(&class.dir());
    terminal.type_line("go").wait_for("> bash  sleep 1001");
    gate.recv_timeout(PATIENCE).expect("alice has begun");
    interrupts(&mut terminal);
    terminal
        .type_line("/team")
        .wait_until("alice at work", |screen| {
            screen
                .lines()
                .any(|line| line.starts_with("alice") && line.contains("working"))
        });
    terminal.wait_for(PROMPT).type_line("exit");
    terminal.wait_for("[stopped at the end: alice");
    assert_eq!(terminal.wait_exit(), 0);
    gate.recv_timeout(PATIENCE)
        .expect("alice's command is gone");
}

/// What a stopped turn leaves behind is kept, and can be sent: stopped by the user, and by the end of the program itself.
#[test]
fn a_turn_that_was_stopped_is_resumed() {
    for stop in [HANGS, "kill -KILL $PPID"] {
        let model = model(brain(|request| {
            let command = request.user_texts().concat();
            let command = command.split('`').nth(1).unwrap_or_default().to_owned();
            calls("read_file", json!({"path": "README.md"}))
                .and_calls("bash", json!({"command": command}))
                .and_calls("list_tasks", json!({}))
        }));
        let class = class(&["bash"]).model(&model);
        let gate = watch(&class.dir());
        let mut terminal = session(&class);
        terminal.type_line(&format!("do `{stop}`"));
        match stop == HANGS {
            true => {
                gate.recv_timeout(PATIENCE).expect("the command has begun");
                terminal.press(Key::CtrlC).wait_for("(interrupted)");
                terminal.wait_for(PROMPT).type_line("exit");
                assert_eq!(terminal.wait_exit(), 0);
            }
            false => assert_ne!(terminal.wait_exit(), 0),
        }
        let class = class.arg("--resume");
        let ran = class.types(&["still there?"]);
        ran.succeeds().shows("Still here.");
        let mut requests = model.requests();
        requests.retain(|request| side_call(request).is_none());
        let last = requests.pop().expect("requests");
        let texts = last.user_texts().join("\n");
        assert!(texts.contains(stop), "{texts}\n{}", ran.transcript());
    }
}

/// Ctrl-C stops what the user sees: the lead's command, and the question of a teammate, which is told so and goes on.
#[test]
fn in_a_turn_while_a_teammate_asks() {
    let (_model, class, mut terminal) = start(&[], |request| {
        match (teammate(request), request.calls().len()) {
            (Some(_), 0) => bash("touch of-alice"),
            (Some(_), _) => says(format!("told: {}", news(request))),
            (None, 0) => calls("spawn_teammate", spawn("alice")),
            (None, 1) => bash("cat gate"),
            (None, _) => says("Noted."),
        }
    });
    terminal.type_line("go").wait_for(QUESTION);
    terminal.wait_for("> bash  cat gate").press(Key::CtrlC);
    terminal.wait_for("(interrupted)");
    terminal.wait_for("alice │ told: permission denied: the user interrupted the question");
    prompt_below(&mut terminal, "Noted.");
    goes_on(&mut terminal);
    assert!(!class.dir().join("of-alice").exists());
}

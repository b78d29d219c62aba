//! The whole agent on a real terminal: keys, questions, interrupts and commands beside each other.
//!
//! Invariant: whatever happens while a line is half typed, the line is there afterwards.

use std::process::Command;

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use testkit::{Class, Key, Terminal};

const PROMPT: &str = "s20 >>";
const QUESTION: &str = "[y]es / [a]lways / [N]o:";

/// A session with a model whose conversation goes like this; nothing is remembered.
fn session(
    lead: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (Class, MockModel, Terminal) {
    let brain = move |request: &Request| match request.system.starts_with("You extract memories") {
        true => says("[]"),
        false => lead(request),
    };
    let model = MockModel::start(Options::strict(), brain).expect("loopback has a free port");
    let class = Class::new(env!("CARGO_BIN_EXE_s20_full"))
        .git()
        .model(&model);
    let mut terminal = class.terminal(100, 40);
    terminal.wait_for(PROMPT);
    (class, model, terminal)
}

fn echo(request: &Request) -> Reply {
    let texts = request.user_texts();
    says(format!(
        "You said: {}.",
        texts.last().map_or("", String::as_str)
    ))
}

/// Waits until this stands on the screen and an empty prompt below it.
#[track_caller]
fn prompt_below(terminal: &mut Terminal, text: &str) {
    terminal.wait_until(&format!("a prompt below {text:?}"), |screen| {
        let below = screen.rsplit_once(text).map_or("", |(_, below)| below);
        below.trim_end().ends_with(PROMPT)
    });
}

#[test]
fn the_start_names_help_and_quit_leaves() {
    let (_class, model, mut terminal) = session(echo);
    terminal.wait_for("[/help lists the commands]");
    terminal.type_line("/help").wait_for("/resume [ID]");
    prompt_below(&mut terminal, "Ctrl-C stops a turn.");
    assert_eq!(terminal.type_line("/quit").wait_exit(), 0);
    assert!(model.requests().is_empty());
}

#[test]
fn a_line_is_edited_and_comes_back_with_the_arrows() {
    let (_class, _model, mut terminal) = session(echo);
    terminal
        .type_text("/csot")
        .press(Key::Left)
        .press(Key::Left);
    terminal
        .press(Key::Backspace)
        .press(Key::Right)
        .type_text("s");
    terminal
        .wait_for("s20 >> /cost")
        .press(Key::Enter)
        .wait_for("this session   fresh 0");
    terminal.type_line("hello").wait_for("You said: hello.");
    prompt_below(&mut terminal, "[cache: ");
    terminal.press(Key::Up).press(Key::Up);
    terminal.wait_until("the command in the prompt", |screen| {
        screen.trim_end().ends_with("s20 >> /cost")
    });
    terminal.press(Key::Down).press(Key::Enter);
    terminal.wait_until("the request again", |screen| {
        screen.matches("You said: hello.").count() == 2
    });
}

#[test]
fn tab_completes_a_command_and_nothing_else() {
    let (_class, model, mut terminal) = session(echo);
    let ends = |terminal: &mut Terminal, prompt: &str| {
        terminal.wait_until(prompt, |screen| screen.trim_end().ends_with(prompt));
    };
    terminal.type_text("/c").press(Key::Tab);
    // Three words, and nothing in common: they are shown, and the line stays.
    terminal.wait_for("/cost  /compact  /clear");
    ends(&mut terminal, "s20 >> /c");
    terminal.type_text("os").press(Key::Tab);
    ends(&mut terminal, "s20 >> /cost");
    terminal.press(Key::Tab).press(Key::Enter);
    terminal.wait_for("this session   fresh 0");
    terminal.type_text("what is /he").press(Key::Tab);
    terminal
        .type_line("lp?")
        .wait_for("You said: what is /help?.");
    assert_eq!(
        model.requests()[0].user_texts(),
        ["what is /help?"],
        "Tab is no part of a request"
    );
}

#[test]
fn ctrl_c_ends_a_turn_and_the_session_goes_on_and_can_be_resumed() {
    let hangs = |request: &Request| match request.user_texts().last().unwrap().as_str() {
        "hang" => calls("bash", json!({"command": "cat gate"})),
        _ => echo(request),
    };
    let (class, _model, mut terminal) = session(hangs);
    let made = Command::new("mkfifo")
        .arg(class.dir().join("gate"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    terminal.type_line("hang").wait_for("> bash  cat gate");
    terminal.press(Key::CtrlC).wait_for("(interrupted)");
    terminal.type_line("/cost").wait_for("this session");
    terminal.type_line("go on").wait_for("You said: go on.");
    terminal.type_line("/quit").wait_exit();
    let ran = class.runs(&["--resume"], "and now\n");
    ran.succeeds()
        .shows("it began with: hang")
        .shows("You said: and now.");
}

#[test]
fn a_question_takes_the_prompt_and_gives_the_half_line_back() {
    let asks = |request: &Request| match request.results().last() {
        None => calls("bash", json!({"command": "touch made"})),
        Some(_) => says("Made."),
    };
    let (class, _model, mut terminal) = session(asks);
    terminal.type_line("go").wait_for(QUESTION);
    terminal
        .type_line("/help")
        .wait_for("it was not taken as a request");
    // What is typed before the question stands there again is no answer to it.
    terminal.wait_until("the question again", |screen| {
        screen.matches(QUESTION).count() == 2
    });
    terminal.type_line("y").wait_for("Made.");
    assert!(class.dir().join("made").exists());
    assert!(
        !terminal.screen().contains("/resume [ID]"),
        "{}",
        terminal.screen()
    );
    prompt_below(&mut terminal, "[cache: ");
}

/// A job ends while a command is half typed: its turn runs, and the half line stands in the next prompt.
#[test]
fn a_notice_wakes_an_idle_session_and_leaves_the_half_line() {
    let waits = |request: &Request| match request.calls().len() {
        0 => calls(
            "bash",
            json!({"command": "cat gate", "run_in_background": true}),
        ),
        _ if request
            .user_texts()
            .last()
            .unwrap()
            .contains("<task_notification") =>
        {
            says("It has ended.")
        }
        _ => says("It runs."),
    };
    let (class, _model, mut terminal) = session(waits);
    let gate = class.dir().join("gate");
    assert!(
        Command::new("mkfifo")
            .arg(&gate)
            .status()
            .is_ok_and(|status| status.success())
    );
    terminal.type_line("go").wait_for("It runs.");
    prompt_below(&mut terminal, "[cache: ");
    terminal.type_text("/co");
    std::fs::write(&gate, "open\n").unwrap();
    terminal.wait_for("It has ended.");
    terminal.wait_until("the half line", |screen| {
        screen.trim_end().ends_with("s20 >> /co")
    });
    terminal.type_line("st").wait_for("this session   fresh");
}

#[test]
fn a_narrower_terminal_keeps_the_line() {
    let (_class, model, mut terminal) = session(echo);
    terminal.type_text("a request that is longer than the terminal will be");
    terminal.resize(30, 40);
    terminal
        .type_line(" in a moment")
        .wait_for("You said: a request");
    let texts = model.last_request().user_texts().join("\n");
    assert!(
        texts.contains("longer than the terminal will be in a moment"),
        "{texts}"
    );
    terminal.resize(100, 40).type_line("/quit").wait_exit();
}

/// The list of sessions, a switch, and the way back, without a request in between.
#[test]
fn sessions_are_switched_at_the_prompt() {
    let (_class, model, mut terminal) = session(echo);
    terminal.type_line("first").wait_for("You said: first.");
    terminal
        .type_line("/clear")
        .wait_for("the old one is kept: /resume ");
    terminal.type_line("second").wait_for("You said: second.");
    let screen = terminal.screen();
    let id = screen
        .split("/resume ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap();
    terminal
        .type_line("/resume")
        .wait_for("  second (this one)");
    terminal
        .type_line(&format!("/resume {id}"))
        .wait_for("it began with: first");
    terminal.type_line("third").wait_for("You said: third.");
    let requests = model.requests();
    let lead = requests
        .iter()
        .rfind(|request| request.system.starts_with("You are a coding agent"));
    assert_eq!(lead.unwrap().user_texts(), ["first", "third"]);
    terminal.press(Key::CtrlD).wait_exit();
}

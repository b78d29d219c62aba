//! Subagents on a real terminal: several at once, a question of one of them, and Ctrl-C for all.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mock_servers::model::{Fault, MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Key, Terminal};

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);
const QUESTION: &str = "[y]es / [a]lways / [N]o:";

fn job(description: &str) -> Value {
    json!({ "description": description })
}

fn bash(command: &str) -> Reply {
    calls("bash", json!({ "command": command }))
}

/// A session with a model that thinks like this, where these calls need no permission, in a directory with a named pipe
/// that commands can wait at.
fn session(allowed: &[&str], brain: fn(&Request) -> Reply) -> (Class, MockModel, Terminal) {
    let model = MockModel::start(Options::strict(), brain).expect("loopback has a free port");
    let class = Class::new(env!("CARGO_BIN_EXE_s06_subagent"))
        .file(
            ".harness/settings.json",
            json!({"permissions": {"allow": allowed}}).to_string(),
        )
        .model(&model);
    let made = Command::new("mkfifo")
        .arg(class.dir().join("gate"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let mut terminal = class.terminal(100, 40);
    terminal.wait_for("s06 >>");
    (class, model, terminal)
}

/// Tells when processes have opened the pipe for writing, and again when every one of them has gone.
fn watch(dir: &Path) -> Receiver<()> {
    let (sender, receiver) = channel();
    let path = dir.join("gate");
    std::thread::spawn(move || {
        let mut pipe = File::open(path).expect("the pipe exists");
        let _ = sender.send(());
        let _ = pipe.read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    receiver
}

/// Lets the command that reads the pipe go on.
fn open(dir: &Path) {
    File::options()
        .write(true)
        .open(dir.join("gate"))
        .expect("somebody reads the pipe");
}

fn is_subagent(request: &Request) -> bool {
    request.system.starts_with("You are a subagent")
}

#[test]
fn after_ctrl_c_the_lead_knows_that_its_subagents_were_interrupted() {
    let (class, model, mut terminal) = session(&[], |request| {
        if is_subagent(request) {
            return says("a report of a few words, of which the first half arrives");
        }
        match request.user_texts().len() {
            1 => bash("cat gate")
                .and_calls("task", job("a"))
                .and_calls("task", job("b")),
            _ => says("As you wish."),
        }
    });
    terminal.type_line("go").wait_for("> bash  cat gate");
    // Neither answer comes to its end: only requests that do not wait for each other get here.
    model.fault(Fault::Stall, 2);
    open(&class.dir());
    let mut jobs: Vec<String> = model.wait_for_requests(3)[1..]
        .iter()
        .flat_map(|request| request.user_texts())
        .collect();
    jobs.sort();
    assert_eq!(jobs, ["a", "b"]);

    terminal.press(Key::CtrlC).wait_for("(interrupted)\ns06 >>");
    terminal.type_line("never mind").wait_for("As you wish.");
    let results = model.last_request().results();
    assert!(
        results[1..]
            .iter()
            .all(|(failed, text)| *failed && text.starts_with("interrupted")),
        "{results:?}"
    );
}

#[test]
fn ctrl_c_ends_the_commands_of_all_subagents() {
    let (class, _model, mut terminal) = session(&["bash"], |request| {
        if is_subagent(request) {
            return bash("exec 3> gate; sleep 1000 & sleep 1000");
        }
        match request.user_texts().len() {
            1 => calls("task", job("a")).and_calls("task", job("b")),
            _ => says("As you wish."),
        }
    });
    let holders = watch(&class.dir());
    terminal.type_line("go");
    holders.recv_timeout(PATIENCE).expect("a command begins");
    terminal
        .wait_for("task 1 │ > bash")
        .wait_for("task 2 │ > bash")
        .press(Key::CtrlC)
        .wait_for("(interrupted)\ns06 >>");
    holders
        .recv_timeout(PATIENCE)
        .expect("every process of the commands has gone");
    terminal.type_line("never mind").wait_for("As you wish.");
}

#[test]
fn while_one_subagent_asks_the_other_goes_on() {
    let (class, _model, mut terminal) = session(&[], |request| {
        let asks = request.user_texts()[0] == "asks";
        match (is_subagent(request), asks, request.results().len()) {
            (true, true, 0) => bash("touch asked"),
            (true, false, 0) => bash("cat gate"),
            (true, _, _) => says("reported"),
            (false, _, 0) => calls("task", job("asks")).and_calls("task", job("works")),
            (false, _, _) => says("All done."),
        }
    });
    terminal
        .type_line("go")
        .wait_for("task 1 │ run it?")
        .wait_for(QUESTION);
    // The other one comes to its end behind the open question, which holds its lines back.
    open(&class.dir());
    terminal
        .wait_for("task 2 │ [done in round 2")
        .type_line("y")
        .wait_for("All done.");
    assert!(class.dir().join("asked").exists());
}

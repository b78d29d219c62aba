//! The spectacle at a prompt: several agents at once, each line under its name, and the lead has the last word.
//!
//! Invariant: what is half typed stays while they work.

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use testkit::Class;

const TASKS: &str =
    "Create 3 tasks on the board, then spawn alice and bob. Watch them auto-claim and work.";

/// A lead that makes three tasks and a team; teammates that complete what they have claimed.
fn plays(request: &Request) -> Reply {
    let texts = request.user_texts();
    let spawn = |name: &str| json!({"name": name, "role": "developer", "prompt": "Take tasks from the board."});
    let is_mate = request.system.contains("You are a teammate");
    match (is_mate, request.calls().len()) {
        (false, 0) => calls("create_task", json!({"subject": "schema"}))
            .and_calls("create_task", json!({"subject": "api"}))
            .and_calls("create_task", json!({"subject": "docs"})),
        (false, 1) => {
            calls("spawn_teammate", spawn("alice")).and_calls("spawn_teammate", spawn("bob"))
        }
        (false, _) => match texts.join("\n").matches("task done").count() {
            3 => says("Summary: every task is done."),
            done => says(format!("{done} of 3 are done.")),
        },
        (true, done) => {
            let mut claimed = texts.iter().filter(|text| text.contains("<claimed_task>"));
            match claimed.clone().count() {
                0 => says("I am ready."),
                count if count == done => says("A task done."),
                _ => {
                    let note = claimed.next_back().unwrap();
                    let id = note.split("task ").nth(1).unwrap().split(':').next();
                    calls("complete_task", json!({"task_id": id}))
                }
            }
        }
    }
}

#[test]
fn lines_are_told_apart_and_the_lead_has_the_last_word() {
    let model = MockModel::start(Options::strict(), plays).unwrap();
    let class = Class::new(env!("CARGO_BIN_EXE_s18_teams"))
        .git()
        .model(&model);
    let mut terminal = class.terminal(100, 60);
    terminal.wait_for("s18 >>").type_line(TASKS);
    terminal.wait_until("the summary above a prompt", |screen| {
        let below = screen.split_once("Summary: every task is done.");
        below.is_some_and(|(_, below)| below.contains("s18 >>"))
    });
    let screen = terminal.screen();
    let lines: Vec<&str> = screen.lines().collect();
    let of = |name: &str, what: &str| {
        let start = format!("{name} │ ");
        let is_it = |line: &&&str| line.starts_with(&start) && line.contains(what);
        lines.iter().filter(is_it).count()
    };
    let both = |what: &str| of("alice", what) + of("bob", what);
    assert_eq!(both("[claimed 000"), 3, "{screen}");
    assert_eq!(both("> complete_task  000"), 3, "{screen}");
    assert_eq!(both("A task done."), 3, "{screen}");
    let mentions = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!(mentions("A task done."), 3, "only under a name: {screen}");

    let is_idle = |screen: &str, name: &str| {
        let mut lines = screen.lines().map(str::trim_end);
        lines.any(|line| line.starts_with(name) && line.ends_with("  idle"))
    };
    terminal
        .type_line("/team")
        .wait_until("who does what", |screen| {
            is_idle(screen, "alice") && is_idle(screen, "bob")
        });
}

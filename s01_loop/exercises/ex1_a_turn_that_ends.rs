//! Exercise 1 · a turn that ends (10 minutes).
//!
//! A model that has lost its way calls tools for ever, and somebody pays for each request. Let a turn end after 20
//! rounds. A round is a request, a reply with calls, and the answers to all of these calls; the reply that ends a
//! turn by itself is none. The user reads a line that holds the words `20 rounds`. The model must read them as well,
//! with the next request: it has no other way to know why its work broke off. Running out of rounds is no error: the
//! session goes on and its exit code stays 0.
//!
//! Hint: `turn` in `src/main.rs` is all you need to change. Where in it is a round complete?
//!
//! Hint: `History` has a method for what the harness wants the model to know. It also has `replies()`, a number that
//! looks as if it were the one you need; read what it counts before you use it.

use mock_servers::model::{Block, MockModel, Options, Reply, Request, Role, calls, says};
use serde_json::json;
use testkit::Class;

/// A model that makes as many calls as the last prompt says: `work 25` is 25 rounds. Without a number it makes none.
fn busy() -> MockModel {
    let brain = |request: &Request| -> Reply {
        let (mut rounds, mut done) = (0, 0);
        for message in &request.messages {
            for block in &message.blocks {
                match block {
                    Block::Text(text) if message.role == Role::User => {
                        let asked = text.strip_prefix("work ");
                        (rounds, done) = (asked.and_then(|n| n.parse().ok()).unwrap_or(0), 0);
                    }
                    Block::ToolUse { .. } => done += 1,
                    Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => {}
                }
            }
        }
        match done < rounds {
            true => calls("bash", json!({ "command": format!("echo round {}", done + 1) })),
            false => says("I am done."),
        }
    };
    MockModel::start(Options::strict(), brain).unwrap()
}

#[test]
#[ignore = "exercise 1"]
fn a_turn_ends_after_20_rounds_and_says_so() {
    let model = busy();
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop")).model(&model);
    let ran = class.types(&["work 25"]);
    let requests = model.requests().len();
    assert!(
        requests == 20,
        "`work 25` makes the model call a tool 25 times. The turn should have sent 20 requests and ended; \
         it sent {requests}"
    );
    // A turn that ends is no error, and the user reads why.
    ran.succeeds().shows("20 rounds");
}

#[test]
#[ignore = "exercise 1"]
fn the_next_request_says_why_the_last_turn_ended() {
    let model = busy();
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop")).model(&model);
    class.types(&["work 25", "What happened?"]);
    let last = model.last_request();
    let texts = last.user_texts();
    assert!(
        texts.iter().any(|text| text.contains("20 rounds")),
        "the model should read the words `20 rounds` somewhere; the user's side has said only {texts:?}"
    );
    let results = last.results();
    assert_eq!(
        results.last(),
        Some(&(false, "round 20".to_owned())),
        "the last call of the 20th round should have been run and answered"
    );
}

/// The trap: what is counted, and from when?
#[test]
#[ignore = "exercise 1"]
fn each_turn_has_20_rounds_of_its_own() {
    let model = busy();
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop")).model(&model);
    let ran = class.types(&["work 25", "work 15", "work 20"]);
    let ends = ran.stdout.matches("I am done.").count();
    let requests = model.requests().len();
    assert!(
        ends >= 1,
        "`work 15` comes after a turn that used up its 20 rounds; it should have its own 20, and never finished:\n{}",
        ran.stdout
    );
    assert!(
        requests == 20 + 16 + 20,
        "three turns, `work 25`, `work 15`, `work 20`, should send 20 requests, 16 (the last one ends the turn), \
         and 20; together they sent {requests}"
    );
}

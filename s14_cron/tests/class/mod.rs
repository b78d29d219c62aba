//! The lesson as a class sees it: prompts that fire by themselves.

mod session;

use std::fs;

use jiff::{SignedDuration, Timestamp};
use mock_servers::model::{Block, MockModel, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran, assert_pool};

const EVERY: &str = "Schedule a task to print the current date every 2 minutes";
const LIST: &str = "List all cron jobs";
const ONCE: &str = "Create a one-shot reminder in 1 minute to check the build status";
const CANCEL: &str = "Cancel the recurring job and verify with list_crons";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s14_cron")).file("hello.py", "print('hello')\n")
}

/// Types these lines to the rehearsal model.
fn rehearse(lines: &[&str]) -> (MockModel, Ran) {
    let model = MockModel::strict_rehearsal();
    let ran = class().model(&model).types(lines);
    ran.succeeds();
    (model, ran)
}

/// The arguments of the calls of this tool, in order.
fn inputs(model: &MockModel, tool: &str) -> Vec<Value> {
    let request = model.last_request();
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let input = |block: &Block| match block {
        Block::ToolUse { name, input, .. } if name == tool => Some(input.clone()),
        Block::ToolUse { .. } | Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    };
    blocks.filter_map(input).collect()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s14_cron"));
}

/// The class's prompts, one after the other.
#[test]
fn a_prompt_is_scheduled_listed_and_cancelled_and_the_reminder_stays() {
    let (model, ran) = rehearse(&[LIST, EVERY, LIST, ONCE, CANCEL]);
    ran.shows("nothing is scheduled")
        .shows("*/2 * * * *  next ")
        .shows("> bash  date '+%Y-%m-%d %H:%M'")
        .shows(", once, this session only  Remind me to check the build status")
        .shows("Cancelled cron_");
    let scheduled = inputs(&model, "schedule_cron");
    let expected = json!({"cron": "*/2 * * * *", "prompt": "print the current date"});
    assert_eq!(scheduled[0], expected);
    let once = scheduled[1]["cron"].as_str().unwrap();
    let fields: Vec<&str> = once.split(' ').collect();
    let is_moment = fields[..4].iter().all(|field| field.parse::<u32>().is_ok());
    assert!(fields.len() == 5 && is_moment, "{once}");
    let results = model.last_request().results();
    let (_, left) = results.last().unwrap();
    assert!(left.contains("check the build status"), "{left}");
    assert!(!left.contains("print the current date"), "{left}");
}

#[test]
fn schedules_and_reminders_in_other_words() {
    for (words, cron, prompt) in [
        ("Set up a recurring job to read hello.py every hour", "0 * * * *", "read hello.py"),
        ("Summarize hello.py every day at 9:30", "30 9 * * *", "Summarize hello.py"),
        ("On weekdays at 17:00 remind me to go home", "0 17 * * 1-5", "remind me to go home"),
        ("remind me in 10 minutes to stretch", "", "remind me to stretch"),
        ("remind me of the meeting in 3 minutes.", "", "remind me of the meeting"),
    ] {
        let (model, ran) = rehearse(&[words]);
        let made = inputs(&model, "schedule_cron");
        assert_eq!(made.len(), 1, "{words}\n{}", ran.transcript());
        assert_eq!(made[0]["prompt"], prompt);
        if cron.is_empty() {
            assert_eq!(made[0]["recurring"], false, "{words}");
        } else {
            assert_eq!(made[0]["cron"], cron);
        }
    }
    for words in ["stop the recurring job", "cancel all scheduled jobs"] {
        let (model, ran) = rehearse(&[EVERY, "what is scheduled?", words]);
        ran.shows("> list_crons").shows("Cancelled cron_");
        assert_eq!(inputs(&model, "cancel_cron").len(), 1, "{words}");
    }
}

/// A durable job that comes due this many seconds from now; before now when it was missed.
fn stored(prompt: &str, recurring: bool, seconds: i64) -> String {
    let due = Timestamp::now() + SignedDuration::from_secs(seconds);
    let job = json!({"id": "cron_stored", "cron": "*/2 * * * *", "prompt": prompt,
        "recurring": recurring, "next": due.to_string()});
    json!({"version": 1, "jobs": [job]}).to_string()
}

#[test]
fn what_was_missed_is_done_at_the_next_start() {
    let model = MockModel::strict_rehearsal();
    let class = class()
        .file(".harness/cron.json", stored("list the Python files", false, -600))
        .model(&model);
    let ran = class.types(&["Hello"]);
    ran.succeeds().shows("[missed at ").shows("run now: list the Python files]");
    ran.shows("I found 1 Python file: ").shows("Hello! I am the rehearsal model.");
    let left: Value =
        serde_json::from_slice(&fs::read(class.dir().join(".harness/cron.json")).unwrap()).unwrap();
    assert_eq!(left["jobs"], json!([]));
}

#[test]
fn a_scheduled_prompt_is_under_the_policy_as_any_other() {
    let model = MockModel::strict_rehearsal();
    let ran = class()
        .file(".harness/cron.json", stored("run `touch made`", true, -600))
        .model(&model)
        .types(&["n", "Hello"]);
    ran.succeeds().shows("touch made").shows("I did not run `touch made`");
}

#[test]
fn a_wrong_schedule_is_an_answer_for_the_model() {
    let wrong = |cron: &str| json!({"cron": cron, "prompt": "x"});
    let model = MockModel::scripted([
        calls("schedule_cron", wrong("*/90 * * * *"))
            .and_calls("schedule_cron", wrong("0 0 31 2 *"))
            .and_calls("schedule_cron", json!({"cron": "@daily"}))
            .and_calls("schedule_cron", json!({"cron": "@daily", "prompt": " \n"}))
            .and_calls("cancel_cron", json!({"job_id": "../x"})),
        says("All refused."),
    ]);
    class().model(&model).types(&["go"]).succeeds();
    let results = model.last_request().results();
    let reasons = [
        "step must be in range",
        "never comes",
        "prompt",
        "the prompt is empty",
        "there is no job",
    ];
    for (result, reason) in results.iter().zip(reasons) {
        assert!(result.0 && result.1.contains(reason), "{}", result.1);
    }
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
}

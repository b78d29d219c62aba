//! The lesson as a class sees it: prompts that fire by themselves.

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

#[test]
fn the_scheduled_prompts_are_listed() {
    let (_, ran) = rehearse(&[LIST, EVERY, LIST]);
    ran.shows("nothing is scheduled");
    let last = ran.stdout.rsplit("> list_crons").next().unwrap();
    assert!(last.contains("*/2 * * * *  next "), "{}", ran.transcript());
}

#[test]
fn a_reminder_in_a_minute_is_worked_out_from_the_clock() {
    let (model, ran) = rehearse(&[ONCE]);
    ran.shows("> bash  date '+%Y-%m-%d %H:%M'");
    let input = &inputs(&model, "schedule_cron")[0];
    assert_eq!(input["recurring"], false);
    assert_eq!(input["prompt"], "Remind me to check the build status");
    let fields: Vec<&str> = input["cron"].as_str().unwrap().split(' ').collect();
    assert!(
        fields.len() == 5 && fields[..4].iter().all(|field| field.parse::<u32>().is_ok()),
        "{fields:?}"
    );
    ran.shows(", once, this session only  Remind me to check the build status");
}

#[test]
fn the_recurring_job_is_cancelled_and_the_reminder_stays() {
    let (model, ran) = rehearse(&[EVERY, ONCE, CANCEL]);
    ran.shows("Cancelled cron_")
        .shows("3 calls: cancel_cron 1, list_crons 2");
    let results = model.last_request().results();
    let (_, left) = results.last().unwrap();
    assert!(left.contains("check the build status"), "{left}");
    assert!(!left.contains("print the current date"), "{left}");
}

#[test]
fn schedules_in_other_words() {
    for (words, cron, prompt) in [
        (EVERY, "*/2 * * * *", "print the current date"),
        (
            "Every five minutes, list the Python files",
            "*/5 * * * *",
            "list the Python files",
        ),
        (
            "Set up a recurring job to read hello.py every hour",
            "0 * * * *",
            "read hello.py",
        ),
        (
            "Summarize hello.py every day at 9:30",
            "30 9 * * *",
            "Summarize hello.py",
        ),
        (
            "On weekdays at 17:00 remind me to go home",
            "0 17 * * 1-5",
            "remind me to go home",
        ),
    ] {
        let (model, ran) = rehearse(&[words]);
        let expected = json!({"cron": cron, "prompt": prompt});
        assert_eq!(
            inputs(&model, "schedule_cron"),
            [expected],
            "{words}\n{}",
            ran.transcript()
        );
        ran.shows("Scheduled cron_")
            .shows(&format!("this session only  {prompt}"));
    }
}

#[test]
fn reminders_in_other_words() {
    for (words, prompt) in [
        ("remind me in 10 minutes to stretch", "remind me to stretch"),
        (
            "In two minutes, list the Python files",
            "list the Python files",
        ),
        (
            "set a reminder 5 minutes from now: call Ada",
            "Remind me to call Ada",
        ),
        (
            "remind me of the meeting in 3 minutes.",
            "remind me of the meeting",
        ),
    ] {
        let (model, ran) = rehearse(&[words]);
        let made = inputs(&model, "schedule_cron");
        assert!(
            made.len() == 1 && made[0]["recurring"] == false,
            "{words}\n{}",
            ran.transcript()
        );
        assert_eq!(made[0]["prompt"], prompt);
    }
}

#[test]
fn listing_and_cancelling_in_other_words() {
    for words in [
        "what is scheduled?",
        "show the cron jobs",
        "are there any scheduled prompts?",
    ] {
        rehearse(&[EVERY, words])
            .1
            .shows("> list_crons")
            .shows("1 call: list_crons 1");
    }
    for words in [
        "stop the recurring job",
        "cancel all scheduled jobs",
        "Remove the cron job, then list all cron jobs",
    ] {
        let (model, ran) = rehearse(&[EVERY, words]);
        assert_eq!(
            inputs(&model, "cancel_cron").len(),
            1,
            "{words}\n{}",
            ran.transcript()
        );
        ran.shows("Cancelled cron_");
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
        .file(
            ".harness/cron.json",
            stored("list the Python files", false, -600),
        )
        .model(&model);
    let ran = class.types(&["Hello"]);
    ran.succeeds()
        .shows("[missed at ")
        .shows("run now: list the Python files]");
    ran.shows("I found 1 Python file: ")
        .shows("Hello! I am the rehearsal model.");
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
    ran.succeeds()
        .shows("touch made")
        .shows("I did not run `touch made`");
}

#[test]
fn a_due_prompt_wakes_the_terminal_and_keeps_the_half_typed_line() {
    let model = MockModel::scripted([says("Two files."), says("Heard.")]);
    let class = class()
        .file(".harness/cron.json", stored("list the files", true, 2))
        .model(&model);
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s14 >>").type_text("hold the l");
    terminal.wait_for("[scheduled: list the files]");
    terminal.wait_for_below("Two files.", "s14 >> hold the l");
    terminal.type_line("ine").wait_for("Heard.");
    let texts = model.last_request().user_texts();
    assert!(
        texts.contains(&"[Scheduled] list the files".to_owned()),
        "{texts:?}"
    );
    assert_eq!(texts.last().unwrap(), "hold the line");
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

//! Subagents through their tool, with a real client and a model that checks every request.

use std::sync::Arc;

use mock_servers::model::{
    Block, Fault, MockModel, Options, Reply, Request, StopReason, calls, says,
};
use s01_loop::{Output, ToolCall, ToolSpec};
use s02_tools::{Access, Glob, Tool};
use s04_hooks::HookOutput;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::bench::Bench;

fn new_bench(model: &MockModel) -> Bench {
    Bench::new(model, |tools, hooks| (tools, hooks))
}

/// What the lead reads when it hands on this job.
async fn one(bench: &Bench, description: &str) -> Output {
    bench.task(json!({ "description": description })).await
}

/// A tool that ends only when two calls of it run at the same time.
fn meet() -> Tool {
    let barrier = Arc::new(Barrier::new(2));
    Tool::new(ToolSpec::new::<Glob>("meet", "Waits for the other."), move |_| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Output::ok("met")
        }
    })
    .touching(Access::Nothing)
}

#[tokio::test]
async fn a_subagent_knows_its_job_and_cannot_hand_it_on() {
    let model = MockModel::scripted([says("1"), says("2")]);
    let bench = new_bench(&model);
    one(&bench, "The first job.").await;
    one(&bench, "The second job.").await;
    let request = model.last_request();
    assert!(request.system.starts_with("You are a subagent"));
    assert_eq!(request.user_texts(), ["The second job."]);
    let tools = ["bash", "read_file", "write_file", "edit_file", "glob"];
    assert_eq!(request.tool_names(), tools);
}

#[tokio::test]
async fn several_work_side_by_side_and_report_in_the_order_of_the_calls() {
    let model = MockModel::start(Options::strict(), |request: &Request| {
        if request.results().is_empty() {
            calls("meet", json!({"pattern": "*"}))
        } else {
            says(format!("report on {}", request.user_texts()[0]))
        }
    })
    .unwrap();
    let bench = Bench::new(&model, |tools, hooks| (tools.with(meet()), hooks));
    let jobs = ["a", "b"].map(|job| ToolCall::new(job, "task", json!({ "description": job })));
    let batches = bench.lead.batches(jobs.into());
    assert_eq!(batches.len(), 1, "task calls share a batch");
    let mut running = bench.lead.run(batches.concat());
    for report in ["report on a", "report on b"] {
        let (_, output) = running.next().await.unwrap();
        assert_eq!(output, Output::ok(report));
    }
}

#[tokio::test]
async fn however_a_job_ends_the_lead_gets_a_report_or_why_there_is_none() {
    let cut = |reply: Reply| reply.stops_with(StopReason::MaxTokens);
    let rounds = || (0..30).map(|_| calls("glob", json!({"pattern": "*"})));
    let error =
        |why: &str| Output::error(format!("task 1: {why}. What it has changed stays changed."));
    let half = "The first half\n\n[The report was cut off here: it is longer than a reply may be.]";
    let unfinished = "not done after 30 rounds, the most there are; hand on smaller jobs";
    let wordless = "its report was cut off before its first word";
    for (replies, expected) in [
        (vec![Reply::default()], error("ended without a report")),
        (vec![cut(says("The first half"))], Output::ok(half)),
        (vec![cut(Reply::default())], error(wordless)),
        (rounds().collect(), error(unfinished)),
    ] {
        let model = MockModel::scripted(replies);
        assert_eq!(one(&new_bench(&model), "Go.").await, expected);
    }
    let model = MockModel::scripted([says("Well.")]);
    model.fault(Fault::Internal, 1);
    let bench = new_bench(&model);
    let Output { text, is_error, .. } = one(&bench, "a").await;
    let why = "task 1: stopped in round 1: the model's API answered 500";
    assert!(is_error && text.starts_with(why), "{text}");
    assert_eq!(one(&bench, "b").await, Output::ok("Well."), "only that job's end");
}

#[tokio::test]
async fn a_wrong_description_is_named_and_starts_nobody() {
    let model = MockModel::scripted([says("Hi.")]);
    let bench = new_bench(&model);
    for (input, why) in [
        (json!({}), "missing field `description`"),
        (json!({"description": " \n"}), "the description is empty; say what is to be done"),
        (
            json!({"description": 7}),
            "argument `description`: invalid type: integer `7`, expected a string",
        ),
    ] {
        let expected = Output::error(format!("task: {why}"));
        assert_eq!(bench.task(input).await, expected);
    }
    assert_eq!(one(&bench, "Greet.").await, Output::ok("Hi."));
}

#[tokio::test]
async fn a_subagent_cannot_do_what_the_policy_forbids() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "sudo true"}))
            .and_calls("write_file", json!({"path": "../outside.txt", "content": ""}))
            .and_calls("glob", json!({"pattern": "*"})),
        says("It was denied."),
    ]);
    let bench = new_bench(&model);
    assert_eq!(one(&bench, "Try.").await, Output::ok("It was denied."));
    let results = model.last_request().results();
    assert!(results[0].1.starts_with("permission denied: "), "{results:?}");
    let failed: Vec<bool> = results.iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [true, true, false], "every call of the reply is answered");
    let outside = bench.dir.path().parent().unwrap().join("outside.txt");
    assert!(!outside.exists());
    let log = std::fs::read_to_string(bench.dir.path().join(".harness/log.jsonl")).unwrap();
    let entries = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let blocked = entries.map(|entry: Value| entry["blocked"].is_string());
    assert_eq!(blocked.collect::<Vec<_>>(), failed);
}

#[tokio::test]
async fn the_lead_s_hooks_add_to_a_subagent_s_results() {
    let model = MockModel::scripted([calls("glob", json!({"pattern": "*"})), says("Done.")]);
    let bench = Bench::new(&model, |tools, hooks| {
        let adds = async |_| HookOutput::Context("mind the tests".into());
        (tools, hooks.on_post_tool(adds))
    });
    one(&bench, "Look.").await;
    let last = model.last_request();
    let Some(Block::ToolResult { content, .. }) = last.messages[2].blocks.first() else {
        panic!("{:?}", last.messages[2]);
    };
    let added = "<hook-context>\nmind the tests\n</hook-context>";
    assert!(content.ends_with(added), "{content}");
}

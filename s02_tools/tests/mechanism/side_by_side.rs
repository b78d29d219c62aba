//! Several calls of one reply: which run together, which wait, and in what order they come back.

use std::sync::Arc;

use s01_loop::{Output, ToolSpec};
use s02_tools::{Access, Glob, Step, Tool, Toolbox};
use serde_json::json;
use tokio::sync::{Barrier, Notify};

use super::call;

/// A tool that ends only when `count` calls of it run at the same time.
fn meets(name: &str, count: usize, touches: Access) -> Tool {
    let barrier = Arc::new(Barrier::new(count));
    Tool::new(ToolSpec::new::<Glob>(name, ""), move |call| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Output::ok(call.id)
        }
    })
    .touching(touches)
}

#[tokio::test]
async fn neighbours_that_only_read_run_side_by_side_and_come_back_in_order() {
    let tools = Toolbox::new().with(meets("read", 3, Access::Nothing));
    let mut running = tools.run(["a", "b", "c"].map(|id| call(id, "read", json!({}))));
    let mut order = Vec::new();
    while let Some((call, output)) = running.next().await {
        assert_eq!(call.id, output.text);
        order.push(call.id);
    }
    assert_eq!(order, ["a", "b", "c"]);
}

#[test]
fn calls_that_may_change_something_have_a_batch_of_their_own() {
    let tools = Toolbox::new()
        .with(meets("read", 1, Access::Nothing))
        .with(meets("write", 1, Access::FileToWrite))
        .with(meets("task", 1, Access::Harness).side_by_side());
    let names = ["read", "read", "write", "write", "read", "task", "unknown", "task"];
    let batches = tools.batches(names.map(|name| call(name, name, json!({}))).to_vec());
    let names: Vec<Vec<String>> = batches
        .into_iter()
        .map(|batch| batch.into_iter().map(|call| call.name).collect())
        .collect();
    assert_eq!(
        names,
        [
            vec!["read", "read"],
            vec!["write"],
            vec!["write"],
            vec!["read", "task"],
            vec!["unknown"],
            vec!["task"]
        ]
    );
}

#[tokio::test]
async fn a_refused_call_is_answered_in_its_place() {
    let tools = Toolbox::new().with(meets("write", 1, Access::Anything));
    let mut running = tools.run([
        Step::Run(call("a", "write", json!({}))),
        Step::Refuse(call("b", "write", json!({})), "not today".into()),
        Step::Run(call("c", "write", json!({}))),
    ]);
    let mut outputs = Vec::new();
    while let Some((_, output)) = running.next().await {
        outputs.push(output);
    }
    assert_eq!(outputs, [Output::ok("a"), Output::refused("not today"), Output::ok("c")]);
}

#[tokio::test]
async fn dropping_a_wait_loses_no_result() {
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let waits = Tool::new(ToolSpec::new::<Glob>("wait", ""), move |call| {
        let gate = Arc::clone(&opened);
        async move {
            gate.notified().await;
            Output::ok(call.id)
        }
    });
    let mut running = Toolbox::new().with(waits).run([call("a", "wait", json!({}))]);
    tokio::select! {
        biased;
        _ = running.next() => panic!("the gate was closed"),
        () = std::future::ready(()) => {}
    }
    gate.notify_one();
    assert_eq!(running.next().await.unwrap().1, Output::ok("a"));
    assert!(running.next().await.is_none());
}

#[tokio::test]
async fn a_tool_that_panics_is_an_output() {
    let breaks = Tool::blocking::<Glob, _>("breaks", "", |_| panic!("inside a tool"));
    let output =
        Toolbox::new().with(breaks).call(call("a", "breaks", json!({"pattern": "x"}))).await;
    assert!(output.is_error && output.text.starts_with("the tool broke down"), "{}", output.text);
}

//! Exercise 2 · only reading (15 minutes).
//!
//! Most side jobs are searches, and a search should change nothing. Let `task` take `"only_reads": true`: the subagent of
//! that call is offered the tools that only read (here `read_file` and `glob`) and no other, whatever tools it would
//! have otherwise. Without the argument, or with `false`, a job has all tools as before. The model reads in the schema
//! that the argument exists.
//!
//! Hint: a tool says what it touches. A toolbox can be taken apart and put together again.
//!
//! Hint: a tool that may run beside others need not be one that only reads. `task` itself is such a tool.

use mock_servers::model::{MockModel, calls, says};
use s01_loop::{Output, ToolSpec};
use s02_tools::{Access, Glob, Tool};
use serde_json::json;

use super::Bench;

/// A tool that sends something away, and does not mind what goes on beside it.
fn send() -> Tool {
    let spec = ToolSpec::new::<Glob>("send", "Sends something.");
    Tool::new(spec, |_| async { Output::ok("sent") }).touching(Access::Harness).side_by_side()
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_job_that_only_reads_has_the_tools_that_only_read() {
    let model = MockModel::scripted([
        calls("write_file", json!({"path": "a", "content": "x"})),
        says("I could not."),
    ]);
    let bench = Bench::new(&model, |tools, hooks| (tools.with(send()), hooks));
    let input = json!({"description": "Look around.", "only_reads": true});
    bench.task(input).await;
    let request = model.last_request();
    assert_eq!(
        request.tool_names(),
        ["read_file", "glob"],
        "the tools that the subagent was offered"
    );
    let (failed, text) = request.results().remove(0);
    assert!(
        failed && text.starts_with("there is no tool `write_file`"),
        "a call of a tool that was not offered must not run either; write_file answered: {text}"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn it_is_one_job_that_only_reads_and_not_the_next() {
    let model = MockModel::scripted(["1", "2", "3"].map(says));
    let bench = Bench::new(&model, |tools, hooks| (tools, hooks));
    for input in [
        json!({"description": "Look.", "only_reads": true}),
        json!({"description": "Work."}),
        json!({"description": "Work.", "only_reads": false}),
    ] {
        bench.task(input).await;
    }
    let counts = model.requests().into_iter().map(|request| request.tools.len());
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [2, 5, 5],
        "how many tools the three jobs had; only the first has `only_reads`"
    );
    let wrong = json!({"description": "Look.", "only_reads": "yes"});
    let answer = bench.task(wrong).await;
    assert!(
        answer.is_error && answer.text.contains("only_reads"),
        "`\"only_reads\": \"yes\"` is no boolean, and the lead reads: {}",
        answer.text
    );
    let specs = bench.lead.specs();
    let schema = specs[0].input_schema();
    assert_eq!(schema["required"], json!(["description"]), "`only_reads` may be left out");
}

//! Exercise 3 · what it had said (10 minutes).
//!
//! A request fails in round nine, or the rounds are used up: the lead reads that, and nothing of what the subagent had
//! found. Often the subagent has said something on the way. Let the error end with `Its last words: …` and the newest
//! text it has said in this job. One that has said nothing has no last words, and its error stays as it is.
//!
//! Hint: both ends go through `stopped`. What does it have to be given?
//!
//! Hint: the newest reply may hold calls alone. And not every text in a history is the model's.

use std::future::ready;
use std::sync::Arc;

use mock_servers::model::{Fault, MockModel, calls, says};
use s04_hooks::{HookOutput, PreTool};
use s06_subagent::MAX_ROUNDS;
use serde_json::{Value, json};

use super::Bench;

fn everything() -> Value {
    json!({"pattern": "*"})
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_request_that_fails_does_not_take_the_last_words_with_it() {
    let model = MockModel::scripted([
        says("I begin.").and_calls("glob", everything()),
        says("The parser is in lex.rs.").and_calls("glob", everything()),
        calls("read_file", json!({"path": "missing"})),
        says("The next request, which is no longer the subagent's."),
    ]);
    let model = Arc::new(model);
    let failing = Arc::clone(&model);
    let bench = Bench::new(&model, |tools, hooks| {
        // The request after the call of read_file fails.
        let hooks = hooks.on_pre_tool(move |PreTool { call, .. }: PreTool| {
            if call.name == "read_file" {
                failing.fault(Fault::Internal, 1);
            }
            ready(HookOutput::Go)
        });
        (tools, hooks)
    });
    let answer = bench.task(json!({"description": "Find the parser."})).await;
    assert!(answer.is_error && answer.text.contains("stopped in round 4"), "{answer:?}");
    assert!(
        answer.text.ends_with("Its last words: The parser is in lex.rs."),
        "the lead was to read `Its last words: The parser is in lex.rs.` at the end, and reads: {}",
        answer.text
    );
    bench.task(json!({"description": "Be quick."})).await;
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn one_that_is_stopped_has_last_words_if_it_has_said_anything() {
    let silent = || (1..MAX_ROUNDS).map(|_| calls("glob", everything()));
    let first = says("Half is done.").and_calls("glob", everything());
    let second = calls("glob", everything());
    let model =
        MockModel::scripted([first].into_iter().chain(silent()).chain([second]).chain(silent()));
    let bench = Bench::new(&model, |tools, hooks| (tools, hooks));
    let talked = bench.task(json!({"description": "Do it."})).await;
    assert!(
        talked.text.ends_with("Its last words: Half is done."),
        "it had said `Half is done.` in its first round, and the lead reads: {}",
        talked.text
    );
    let silent = bench.task(json!({"description": "Do it without a word."})).await;
    assert!(
        silent.text.ends_with("What it has changed stays changed."),
        "it had said nothing, and the lead reads: {}",
        silent.text
    );
}
